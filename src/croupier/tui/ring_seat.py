"""A person's seat in a ring of Old Maid."""

from contextlib import suppress
from typing import Any

from croupier.clients.ring import RingClient, with_advice
from croupier.core.errors import IllegalMove
from croupier.core.presentation import Text
from croupier.rooms.oldmaid.ring.player_events import PlayerEvent, PlayerFinished, PlayerResult
from croupier.tui.seats import Seat


class RingSeat(Seat):
    """A seat in a game of Old Maid."""

    errors = (OSError,)

    def __init__(self, client: RingClient) -> None:
        super().__init__(client)
        self._client = client
        self._result: PlayerResult | None = None

    @property
    def player(self) -> Any:
        """The session of the player."""
        return self._client.player

    async def receive(self) -> PlayerEvent | None:
        """See `Seat.receive`. Raises ConnectionError if no game has begun."""
        if self._result is None:
            event = await self._client.receive()
            self._result = event.result if isinstance(event, PlayerFinished) else None
            return event
        if self._client.player.seat is None:
            raise await self._client.find_other_protocol() or ConnectionError(with_advice(self._result.reason))
        return None

    def receive_nowait(self) -> PlayerEvent | None:
        """See `Seat.receive_nowait`."""
        return self._client.receive_nowait()

    async def submit(self, move: Any) -> Text | None:
        """See `Seat.submit`."""
        with suppress(IllegalMove):  # the neighbour that offered its hand has left
            await self._client.send(move)
        return None
