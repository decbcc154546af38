"""What a server provides to a room that it opens, and what it uses of one that is open."""

import ssl
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, NamedTuple, Protocol

from croupier.core.logger import Logger
from croupier.core.session import Observer, Peer
from croupier.net.count_limit import ConnectionCounts
from croupier.observers.counters import RoomFigures
from croupier.recording.promises import Promises
from croupier.recording.shared_store import SharedStore

if TYPE_CHECKING:  # OpenTelemetry is optional
    from opentelemetry.trace import Tracer

    from croupier.cluster.node import Node


class RoomContext(NamedTuple):
    """What the server provides to a room: log, observers, TLS context, shared store, dealer's promises, tracer, node.

    On `exits` a room puts what is closed last, after everything else that uses the room, such as the web app.
    If other processes open the room as well, `counts` counts the connections of all of them, and each has numbers of
    its own from `first_peer` on. `node` is that of a room that is divided among nodes.
    """

    log: Logger
    observers: Sequence[Observer]
    tls_context: ssl.SSLContext | None
    shared_store: SharedStore
    exits: AsyncExitStack
    promises: Promises | None = None
    counts: ConnectionCounts | None = None
    first_peer: Peer = 1
    tracer: "Tracer | None" = None
    node: "Node | None" = None


class OpenRoom(RoomFigures, Protocol):
    """A room that is open."""

    def stop_accepting(self) -> None:
        """Accept no more connections; those that are open go on."""
        ...

    def halt(self, *, final: bool) -> None:
        """Start no new games; if `final`, also void the running games and disconnect all clients."""
        ...

    async def wait_drained(self) -> None:
        """Wait until no game is running, and after the final halt until all clients are disconnected."""
        ...
