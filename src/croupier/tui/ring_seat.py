"""A person's seat in a ring of Old Maid."""

from croupier.clients.ring import RingClient, with_advice
from croupier.rooms.oldmaid.ring.player_events import PlayerEvent, PlayerFinished, PlayerResult
from croupier.tui.seats import MessageSeat


class RingSeat(MessageSeat[RingClient]):
    """A seat in a game of Old Maid. `names_flags`: errors may name flags of the command line."""

    errors = (OSError,)

    def __init__(self, client: RingClient, *, names_flags: bool = True) -> None:
        super().__init__(client)
        self._names_flags = names_flags
        self._result: PlayerResult | None = None

    async def receive(self) -> PlayerEvent | None:
        """See `Seat.receive`. Raises ConnectionError if no game has begun."""
        if self._result is None:
            event = await self._client.receive()
            self._result = event.result if isinstance(event, PlayerFinished) else None
            return event
        if self._client.player.seat is None:
            reason = self._result.reason
            raise await self._client.find_other_protocol() or ConnectionError(
                with_advice(reason) if self._names_flags else reason
            )
        return None
