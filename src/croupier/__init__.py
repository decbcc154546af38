"""A card room for programs and people: servers, clients, bots, solvers and a conformance tester for five games.

The public API is this module, one module for each room (`croupier.kuhn`, `croupier.sevenhalf`, `croupier.blackjack`,
`croupier.holdem` and `croupier.oldmaid`), and `croupier.environments`. Everything else may change between releases.

Example:
    >>> import croupier
    >>> croupier.rank(croupier.holdem.parse_cards("AsAhAdAc2s"))  # 1 is the best hand, 7462 the worst
    22
    >>> [*croupier.ROOMS]
    ['kuhn', 'sevenhalf', 'blackjack', 'holdem', 'oldmaid']
    >>> croupier.__version__.count(".")
    2
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from croupier.version import __version__

if TYPE_CHECKING:
    from croupier import blackjack, environments, holdem, kuhn, oldmaid, sevenhalf
    from croupier.api import play, solve
    from croupier.clients.game import connect
    from croupier.clients.identify import OtherProtocol
    from croupier.clients.luck import make_luck
    from croupier.core.bots import Bot, MixedBot
    from croupier.core.dealer import Luck
    from croupier.core.errors import IllegalMove, Violation
    from croupier.core.room import Room
    from croupier.core.rules import Rules, Turn
    from croupier.rooms import ROOMS, find_room
    from croupier.rooms.holdem.engine.equity import equity
    from croupier.rooms.holdem.engine.ranks import rank
    from croupier.simulation import MatchResult, match, simulate

__all__ = [
    "ROOMS",
    "Bot",
    "IllegalMove",
    "Luck",
    "MatchResult",
    "MixedBot",
    "OtherProtocol",
    "Room",
    "Rules",
    "Turn",
    "Violation",
    "__version__",
    "blackjack",
    "connect",
    "environments",
    "equity",
    "find_room",
    "holdem",
    "kuhn",
    "make_luck",
    "match",
    "oldmaid",
    "play",
    "rank",
    "sevenhalf",
    "simulate",
    "solve",
]

_MODULES = {
    "ROOMS": "croupier.rooms",
    "Bot": "croupier.core.bots",
    "IllegalMove": "croupier.core.errors",
    "Luck": "croupier.core.dealer",
    "MatchResult": "croupier.simulation",
    "MixedBot": "croupier.core.bots",
    "OtherProtocol": "croupier.clients.identify",
    "Room": "croupier.core.room",
    "Rules": "croupier.core.rules",
    "Turn": "croupier.core.rules",
    "Violation": "croupier.core.errors",
    "connect": "croupier.clients.game",
    "equity": "croupier.rooms.holdem.engine.equity",
    "find_room": "croupier.rooms",
    "make_luck": "croupier.clients.luck",
    "match": "croupier.simulation",
    "play": "croupier.api",
    "rank": "croupier.rooms.holdem.engine.ranks",
    "simulate": "croupier.simulation",
    "solve": "croupier.api",
}
_PUBLIC_MODULES = {"blackjack", "environments", "holdem", "kuhn", "oldmaid", "sevenhalf"}


def __getattr__(name: str) -> Any:
    """Import a public name on first use, so that `croupier --help` does not load an event loop."""
    if name in _PUBLIC_MODULES:
        return import_module(f"croupier.{name}")
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module 'croupier' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, also those that are not imported yet."""
    return __all__
