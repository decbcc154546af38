"""A person's seat, which plays through the client of its kind of room, and the seat in a game against a house."""

from abc import ABC, abstractmethod
from contextlib import AbstractAsyncContextManager, suppress
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar, Self

from croupier.clients.game import GameClient
from croupier.clients.identify import OtherProtocol
from croupier.core.errors import IllegalMove, Violation
from croupier.core.presentation import Text, text, verbatim

if TYPE_CHECKING:  # a seat in a game against a house needs no ring
    from croupier.clients.ring import RingClient


class Seat[C: AbstractAsyncContextManager[Any]](ABC):
    """A person's seat, for one connection. Enter it with `async with` to sit down; leaving the context leaves.

    `errors` are the exceptions that end the conversation. Sitting down and leaving may take `timeout_seconds` each,
    None for any time. `can_interrupt` is whether sitting down may be cancelled. `purse` is the coins that the server is
    assumed to give, None if there are none.
    """

    errors: ClassVar[tuple[type[Exception], ...]]
    timeout_seconds: ClassVar[float | None] = None
    can_interrupt: ClassVar[bool] = True
    purse: int | None = None

    def __init__(self, client: C) -> None:
        self._client = client

    async def __aenter__(self) -> Self:
        await self._client.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._client.__aexit__(*error)

    @property
    @abstractmethod
    def player(self) -> Any:
        """The session of the client, once the seat is entered."""

    @abstractmethod
    async def receive(self) -> Any:
        """Wait for the next message or event; None if this connection brings nothing more, and another one may."""

    def receive_nowait(self) -> Any:
        """Return the next message or event if the session has handled it already, else None."""
        return None

    @abstractmethod
    async def submit(self, move: Any) -> Text | None:
        """Send a move. Return the reason why the server did not accept it, None if it did."""

    def now(self) -> float:
        """Return the time of the clock that the deadlines are given in."""
        return monotonic()

    def end_reason(self, error: Exception) -> Text:
        """Return why the conversation has ended, for one of `errors`."""
        return sentence(str(error))


class MessageSeat[C: GameClient | RingClient](Seat[C]):
    """A seat whose client sends a message for each move."""

    @property
    def player(self) -> Any:
        """See `Seat.player`."""
        return self._client.player

    def receive_nowait(self) -> Any:
        """See `Seat.receive_nowait`."""
        return self._client.receive_nowait()

    async def submit(self, move: Any) -> Text | None:
        """See `Seat.submit`. A move that comes too late, after the other end has left, is dropped."""
        with suppress(IllegalMove):
            await self._client.send(move)
        return None


class HouseSeat(MessageSeat[GameClient]):
    """A seat in a game against a house, which is assumed to have the usual settings."""

    errors = (Violation, ConnectionError)

    def __init__(self, client: GameClient) -> None:
        super().__init__(client)
        room = client.room
        self.purse = room.initial_purse(room.settings()) if room.has_purse else None

    async def receive(self) -> Any:
        """See `Seat.receive`: None if the house has closed the connection between two games."""
        try:
            return await self._client.receive()
        except ConnectionError:
            if not self._client.player.is_exhausted:
                raise
            return None

    def end_reason(self, error: Exception) -> Text:
        """See `Seat.end_reason`: a house that closes the connection is said to do so, whatever clause it breaks."""
        if isinstance(error, Violation) and self._client.hangup is None:
            last = self._client.last_received
            return text(
                "The house broke the protocol. {error}; its last message: {last}",
                error=verbatim(str(error)),
                last=verbatim(last) if last else text("none"),
            )
        return sentence(str(error if isinstance(error, OtherProtocol) else self._client.hangup or error))


def sentence(words: str) -> Text:
    """Return a reason as a sentence.

    >>> str(sentence("no house answers"))
    'No house answers.'
    """
    return verbatim(f"{words[:1].upper()}{words[1:].rstrip('.')}.")
