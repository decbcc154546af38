"""How mypyc compiles the engine: `make wheel-compiled` builds a wheel in which these modules are machine code."""

from typing import TYPE_CHECKING, Final

COMPILED: Final = (
    "croupier.rooms.holdem.cards",
    "croupier.rooms.holdem.engine.hand",
    "croupier.rooms.holdem.engine.play",
    "croupier.rooms.holdem.engine.pots",
    "croupier.rooms.holdem.engine.ranks",
    "croupier.rooms.holdem.engine.seat_sets",
    "croupier.rooms.holdem.engine.streets",
)
"""The modules that are compiled. None may define a Struct: mypyc ignores `frozen` and the like without a warning."""

if TYPE_CHECKING:
    from mypy_extensions import mypyc_attr as mypyc_attr  # noqa: PLC0414 -- an export
else:  # mypyc reads the decorator in the source; nothing calls it in a compiled class

    def mypyc_attr(**_options):
        """Return a decorator that leaves a class as it is."""
        return lambda cls: cls
