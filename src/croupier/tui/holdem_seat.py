"""A person's seat at a table of hold'em."""

from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import Any, Final

from croupier.clients.game_watcher import GameWatcher
from croupier.clients.holdem_api import ApiRequest, HoldemApi, Refusal
from croupier.clients.holdem_seat import HoldemSeat
from croupier.core.errors import IllegalMove, Violation
from croupier.core.presentation import Text, text, verbatim
from croupier.rooms.holdem.wire import Act, Game
from croupier.tui.seats import Seat, sentence

MAX_CLOCK_SKEW_SECONDS: Final = 2.0
"""Larger differences to the server's clock are corrected. Its Date header has a resolution of one second."""


class HoldemPlace[C: HoldemSeat | GameWatcher](Seat[C]):
    """A place at a table of hold'em. `clock` returns the server's time in seconds since the epoch."""

    errors = (Violation, ConnectionError, Refusal)
    timeout_seconds = 3.0

    def __init__(self, client: C, clock: Callable[[], float]) -> None:
        super().__init__(client)
        self._clock = clock

    def now(self) -> float:
        """See `Seat.now`."""
        return self._clock()

    def end_reason(self, error: Exception) -> Text:
        """See `Seat.end_reason`."""
        reason = verbatim(str(error))
        match error:
            case Violation():
                return text("The server broke the protocol. {reason}", reason=reason)
            case Refusal():
                return text("The server refused the request: {reason}", reason=reason)
            case _:
                return text("The server is gone: {reason}", reason=sentence(str(error)))


class HoldemTableSeat(HoldemPlace[HoldemSeat]):
    """A seat at a table of hold'em. A person who leaves while joining joins first: the seat has to be given up."""

    can_interrupt = False

    @property
    def player(self) -> Any:
        """See `Seat.player`."""
        return self._client.player

    async def receive(self) -> Game | None:
        """See `Seat.receive`: None once the seat is lost."""
        return await self._client.next_game()

    async def submit(self, move: Act) -> Text | None:
        """See `Seat.submit`: the act may come too late."""
        try:
            refusal = await self._client.make_move(move)
        except IllegalMove as error:
            refusal = str(error)
        return None if refusal is None else text("The server answers: {reason}.", reason=verbatim(refusal))


async def clock_offset(api: HoldemApi, clock: Callable[[], float]) -> float:
    """Return the seconds by which the server's clock is ahead of `clock`; 0.0 if the difference is small or unknown."""
    try:
        reply = await api.exchange.request(ApiRequest("GET", "/games/"))
        date = parsedate_to_datetime(reply.headers["date"])
    except (ConnectionError, KeyError, ValueError):
        return 0.0
    offset = date.timestamp() + 0.5 - clock()
    return offset if abs(offset) > MAX_CLOCK_SKEW_SECONDS else 0.0
