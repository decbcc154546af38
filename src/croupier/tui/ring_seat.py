"""A person's seat in a ring of Old Maid."""

from croupier.clients.ring import RingClient
from croupier.rooms.oldmaid.ring.player_events import PlayerEvent, PlayerFinished, PlayerResult
from croupier.tui.seats import MessageSeat


class RingSeat(MessageSeat[RingClient]):
    """A seat in a game of Old Maid."""

    errors = (OSError,)

    def __init__(self, client: RingClient) -> None:
        super().__init__(client)
        self._result: PlayerResult | None = None

    async def receive(self) -> PlayerEvent | None:
        """See `Seat.receive`. Raises ConnectionError if no game has begun."""
        if self._result is None:
            event = await self._client.receive()
            self._result = event.result if isinstance(event, PlayerFinished) else None
            return event
        if self._client.player.seat is None:
            raise await self._client.find_other_protocol() or ConnectionError(self._result.reason)
        return None
