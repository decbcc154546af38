"""A card room for programs and people.

`croupier.connect("kuhn", host, port)` is a conversation with a house as typed messages; see the README.
"""

from typing import TYPE_CHECKING, Any

from croupier.version import __version__

if TYPE_CHECKING:
    from croupier.clients.game import connect

__all__ = ["__version__", "connect"]


def __getattr__(name: str) -> Any:
    """Import what a program asks for only when it does: `croupier --help` has no need of an event loop."""
    if name == "connect":
        from croupier.clients.game import connect

        return connect
    raise AttributeError(f"module 'croupier' has no attribute {name!r}")
