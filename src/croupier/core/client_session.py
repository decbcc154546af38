"""A guest of a house: the client's side that every house game has alike; it judges the house as it plays."""

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, Protocol

from croupier.core.errors import IllegalMove, Violation
from croupier.core.referee import CLIENT, HOUSE, Verdict
from croupier.core.rules import Seat
from croupier.core.session import (
    Closing,
    Drop,
    Effect,
    EndOfInput,
    Event,
    Joined,
    Left,
    Malformed,
    Notify,
    Received,
    Send,
    Settle,
    Submitted,
    TimedOut,
)


class ClientReferee[M, G](Protocol):
    """A referee as a guest needs it: it also tells what may be said now, and which games there are."""

    @property
    def deadline(self) -> float | None: ...  # noqa: D102 -- as in Referee

    @property
    def legal(self) -> Sequence[M]:
        """What the client may say now."""
        ...

    @property
    def game(self) -> G | None:
        """The game being played."""
        ...

    @property
    def last_game(self) -> G | None:
        """The last game that was finished."""
        ...

    @property
    def finished_count(self) -> int:
        """How many games were finished."""
        ...

    def on(self, event: Event[M], now: float) -> Sequence[Verdict]: ...  # noqa: D102 -- as in Referee


class FinishedGame(Protocol):
    """A game that is over, as the wire has shown it."""

    @property
    def seat(self) -> Seat:
        """The client's seat."""
        ...

    @property
    def net(self) -> int:
        """What the client has won, in coins."""
        ...


class LegalMessages[M](tuple[M, ...]):
    """What may be said where there is too much of it to list: what is listed, and whatever `also` accepts."""

    accepts: Callable[[object], bool]

    def __new__(cls, listed: Iterable[M], accepts: Callable[[object], bool]) -> "LegalMessages[M]":
        """The listed messages, and the test of the others."""
        self = super().__new__(cls, listed)
        self.accepts = accepts
        return self

    def __contains__(self, message: object) -> bool:
        return super().__contains__(message) or self.accepts(message)


class ClientSession[M, G: FinishedGame]:
    """See `Session`. Chose makes it speak; Tell hands on what the house said, what it broke, and its end.

    `spent` is true when nothing more can be played on this connection, but could be on a new one. `FAREWELL` is what it
    says when it leaves, and `GOODBYE` holds the messages behind which nothing more is said, whoever says them.
    """

    FAREWELL_MESSAGES: ClassVar[Sequence[object]] = ()
    FINAL_MESSAGES: ClassVar[Sequence[object]] = ()

    def __init__(self, referee: ClientReferee[M, G]) -> None:
        self.is_exhausted = False
        self._referee = referee
        self._is_open = False

    @property
    def is_broke(self) -> bool:
        """Whether it is `spent` for want of coins."""
        return self.is_exhausted

    @property
    def deadline(self) -> float | None:
        """When the house's silence becomes a fault."""
        return self._referee.deadline if self._is_open else None

    @property
    def legal(self) -> Sequence[M]:
        """What may be said now."""
        return self._legal_messages() if self._is_open else ()

    @property
    def game(self) -> G | None:
        """The game being played."""
        return self._referee.game

    @property
    def last_game(self) -> G | None:
        """The last game that was finished."""
        return self._referee.last_game

    def on(self, event: Event[M], now: float) -> Sequence[Effect[M]]:
        """What the client's side does about an event. Raises IllegalMove on a Chose that is not `legal`."""
        match event:
            case Joined():
                self._is_open = True
                return []
            case Left():
                return self._on_left(event, now)
            case Submitted(message):
                return self._on_submitted(message, now)
            case _ if not self._is_open:
                return []
            case Received(_, message):
                return self._on_received(message, now)
            case Malformed(_, violation):
                return self._on_violation(violation)
            case TimedOut():
                faults = self._referee.on(event, now)
                return self._on_violation(faults[0].violation) if faults else []
            case Closing():
                return self._close([], self.FAREWELL_MESSAGES)
            case EndOfInput():
                return []

    def _legal_messages(self) -> Sequence[M]:
        """What may be said while the conversation lasts."""
        return self._referee.legal

    def _note_received(self, message: M) -> None:
        """The house has said this, and was right to."""

    def _note_sent(self, message: M) -> None:
        """Our own side has said this."""

    def _violation_messages(self, violation: Violation) -> Sequence[object]:  # noqa: ARG002 -- only some protocols have words for it
        """What is said to a house that has broken a clause."""
        return self.FAREWELL_MESSAGES

    def _on_received(self, message: M, now: float) -> list[Effect[M]]:
        before = self._referee.finished_count
        for verdict in self._referee.on(Received(HOUSE, message), now):
            return self._on_violation(verdict.violation)
        self._note_received(message)
        effects: list[Effect[M]] = [Notify(message), *self._settle_finished(before)]
        return self._close(effects) if message in self.FINAL_MESSAGES else effects

    def _on_submitted(self, message: M, now: float) -> list[Effect[M]]:
        if message not in self.legal:
            raise IllegalMove(message, self.legal)
        before = self._referee.finished_count
        self._referee.on(Received(CLIENT, message), now)
        self._note_sent(message)
        effects: list[Effect[M]] = [Send(HOUSE, message), *self._settle_finished(before)]
        return self._close(effects) if message in self.FINAL_MESSAGES else effects

    def _settle_finished(self, before: int) -> list[Effect[M]]:
        last = self._referee.last_game
        if last is None or self._referee.finished_count == before:
            return []
        return [Settle(HOUSE, self._referee.finished_count, last.seat, last.net, last)]

    def _on_violation(self, violation: Violation) -> list[Effect[M]]:
        """The house broke the protocol: say which clause, and go."""
        return self._close([Notify(violation)], self._violation_messages(violation))

    def _close(self, effects: list[Effect[M]], messages: Sequence[object] = ()) -> list[Effect[M]]:
        self._is_open = False
        return [*effects, *(Send(HOUSE, word) for word in messages), Drop(HOUSE)]  # type: ignore[list-item]  # a room's words are its messages

    def _on_left(self, event: Left, now: float) -> list[Effect[M]]:
        faults = self._referee.on(Left(HOUSE), now) if self._is_open else []
        self._is_open = False
        told: list[Effect[M]] = [Notify(verdict.violation) for verdict in faults]
        return [*told, Notify(event)]
