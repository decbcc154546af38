"""A client session that is connected to the endpoint of its room through memory."""

from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import Any, Protocol

from croupier.core.client_session import ClientSession
from croupier.core.errors import Violation
from croupier.core.logger import SilentLogger
from croupier.core.referee import HOUSE
from croupier.core.session import Address, Closing, Effect, Event, Left, Malformed, Notify, Received, Submitted
from croupier.net.endpoint import Endpoint, EndpointLimits
from croupier.net.local_connection import connect_local
from croupier.web.frames import FrameCodec
from croupier.web.rooms import HouseEntry


class ConnectionObserver(Protocol):
    """Follows a connection. `data` are the bytes of a message, `clause` is the clause that it follows, if known."""

    def received(self, message: Any, data: bytes, clause: str | None) -> None: ...  # noqa: D102 -- see the class
    def sent(self, message: Any, data: bytes, clause: str | None) -> None: ...  # noqa: D102 -- see the class

    def violated(self, violation: Violation) -> None:
        """The house has broken a clause."""
        ...

    def left(self) -> None:
        """The connection has ended."""
        ...


class HouseConnection:
    """A connection to a house. It is the session of its own endpoint: a client session, and what an observer sees.

    All bytes pass through both codecs, and the room's endpoint treats it as any client with this `address` and
    `certificate`: it counts, may be refused, and its games are recorded.
    """

    def __init__(
        self,
        entry: HouseEntry,
        address: Address | None,
        certificate: dict[str, Any] | None,
        observer: ConnectionObserver,
    ) -> None:
        self.player: ClientSession[Any, Any] = entry.make_player()
        self._observer: ConnectionObserver | None = observer
        self._received: deque[bytes] = deque()
        codec = FrameCodec(entry.make_codec(), self._on_sent, self._received)
        self._endpoint = Endpoint(
            self, lambda: codec, SilentLogger(), limits=EndpointLimits(), clock=entry.endpoint.clock
        )
        self._connect = partial(connect_local, self._endpoint, HOUSE, entry.endpoint, address, certificate)

    def open(self) -> None:
        """Connect to the house; everything it sends arrives later."""
        self._connect()

    def submit(self, message: Any) -> None:
        """Send a message. Raises IllegalMove if the session does not allow it."""
        self._endpoint.handle_and_flush(Submitted(message))

    def close(self) -> None:
        """Leave the house; the observer is not called any more."""
        self._endpoint.handle_and_flush(Closing())
        self._observer = None

    # The session of the endpoint.

    @property
    def deadline(self) -> float | None:
        """See `Session`."""
        return self.player.deadline

    def on(self, event: Event[Any], now: float) -> Sequence[Effect[Any]]:
        """Let the client session handle an event; then call the observer."""
        owed = self.player.clause if self.player.is_waiting else None
        effects = self.player.on(event, now)
        observer = self._observer
        if observer is None:
            return effects
        match event:
            case Received(_, message):
                observer.received(message, self._received.popleft(), owed or self.player.clause)
            case Malformed():
                self._received.popleft()
            case Left():
                observer.left()
            case _:
                pass
        for effect in effects:
            if isinstance(effect, Notify) and isinstance(effect.notice, Violation):
                observer.violated(effect.notice)
        return effects

    def _on_sent(self, message: Any, data: bytes) -> None:
        if self._observer is not None:
            self._observer.sent(message, data, self.player.clause)
