"""A person's seat against a house: a client of the room's own endpoint, connected through memory."""

from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from croupier.core.client_session import ClientSession
from croupier.core.errors import Violation
from croupier.core.logger import SilentLogger
from croupier.core.presentation import TableView, Text, text
from croupier.core.referee import HOUSE
from croupier.core.session import Address, Closing, Effect, Event, Left, Malformed, Notify, Received, Submitted
from croupier.net.endpoint import Endpoint, EndpointLimits
from croupier.net.local_connection import connect_local
from croupier.web.feed import RenderTable
from croupier.web.frames import FrameCodec
from croupier.web.rooms import HouseEntry
from croupier.web.seats import Seat

REPLY_TIMEOUT_SECONDS: Final = 86_400.0
"""The house is part of this server, and may wait for its store: its silence is never a fault."""


def house_fault(violation: Violation) -> Text:
    """Return why the games of a seat have ended: the house has broken a clause."""
    return text("The house has broken {clause}: found {found}.", clause=violation.clause, found=violation.found)


class HouseSeat(Seat):
    """A seat against a house, through a connection of its own to the room's endpoint; see `HouseConnection`.

    The house keeps what is staked in a running game that the person leaves.
    """

    def __init__(
        self,
        entry: HouseEntry,
        address: Address | None,
        certificate: dict[str, Any] | None,
        render: RenderTable,
    ) -> None:
        self._entry = entry
        self._client = address, certificate
        self._format = entry.room.message_formatter(entry.settings)
        self._presenter = entry.room.load_extra("presenter")()
        self._connect()
        super().__init__(render)

    def close(self, reason: Text) -> None:
        """Close the connection."""
        if not self.is_over:
            self._connection.close()
            self._end(reason)

    def _connect(self) -> None:
        self._connection = HouseConnection(self._entry, *self._client, self)
        first = self._presenter.sit(self._connection.player, self._entry.purse)
        self._connection.open()
        if first is not None:
            self._make_move(first)

    def _rejoin(self) -> None:
        self._connection.close()
        self._connect()
        self._changed()

    def _make_move(self, move: Any) -> None:
        self._connection.submit(move)
        self._presenter.sent(move)
        self._changed()

    @property
    def _is_waiting(self) -> bool:
        return self._connection.player.is_waiting

    def _view(self) -> TableView:
        return self._presenter.table(self._entry.endpoint.clock())

    # The connection. `data` are the bytes of a message, `clause` is the clause that it follows, if known.

    def received(self, message: Any, data: bytes, clause: str | None) -> None:
        """Show a message of the house."""
        self._add_frame("house", self._format(message), data, clause or "")
        self._presenter.received(message)
        self._changed()

    def sent(self, message: Any, data: bytes, clause: str | None) -> None:
        """Show a message of the person."""
        self._add_frame("you", self._format(message), data, clause or "")

    def violated(self, violation: Violation) -> None:
        """End the games: the house has broken a clause."""
        self._end(house_fault(violation))

    def left(self) -> None:
        """End the games, unless a new connection can continue them."""
        if self._connection.player.is_exhausted:
            self._changed()
        elif not self._is_ended:
            self._end(self.close_reason)


class HouseConnection:
    """A connection to a house. It is the session of its own endpoint: a client session, and what its seat sees.

    All bytes pass through both codecs, and the room's endpoint treats it as any client with this `address` and
    `certificate`: it counts, may be refused, and its games are recorded.
    """

    def __init__(
        self,
        entry: HouseEntry,
        address: Address | None,
        certificate: dict[str, Any] | None,
        seat: HouseSeat,
    ) -> None:
        options = entry.client_options()
        player = entry.room.player(options, reply_timeout=REPLY_TIMEOUT_SECONDS)
        assert isinstance(player, ClientSession), "the clients of all houses are"
        self.player: ClientSession[Any, Any] = player
        self._seat: HouseSeat | None = seat
        self._received: deque[bytes] = deque()
        codec = FrameCodec(entry.room.codec(False, options), self._on_sent, self._received)
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
        """Leave the house; the seat is not informed any more."""
        self._endpoint.handle_and_flush(Closing())
        self._seat = None

    # The session of the endpoint.

    @property
    def deadline(self) -> float | None:
        """See `Session`."""
        return self.player.deadline

    def on(self, event: Event[Any], now: float) -> Sequence[Effect[Any]]:
        """Let the client session handle an event; then inform the seat."""
        owed = self.player.clause if self.player.is_waiting else None
        effects = self.player.on(event, now)
        seat = self._seat
        if seat is None:
            return effects
        match event:
            case Received(_, message):
                seat.received(message, self._received.popleft(), owed or self.player.clause)
            case Malformed():
                self._received.popleft()
            case Left():
                seat.left()
            case _:
                pass
        for effect in effects:
            if isinstance(effect, Notify) and isinstance(effect.notice, Violation):
                seat.violated(effect.notice)
        return effects

    def _on_sent(self, message: Any, data: bytes) -> None:
        if self._seat is not None:
            self._seat.sent(message, data, self.player.clause)
