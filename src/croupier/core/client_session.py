"""A guest of a house: the client's side that every house game has alike; it judges the house as it plays."""

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, Protocol

from croupier.core.errors import IllegalMove, Violation
from croupier.core.referee import CLIENT, HOUSE, Verdict
from croupier.core.rules import Seat
from croupier.core.session import (
    Ceased,
    Chose,
    Drop,
    Effect,
    Event,
    Garbled,
    Halted,
    Joined,
    Left,
    Rang,
    Said,
    Say,
    Settle,
    Tell,
)


class Watch[M, G](Protocol):
    """A referee as a guest needs it: it also tells what may be said now, and which games there are."""

    @property
    def alarm(self) -> float | None: ...  # noqa: D102 -- as in Referee

    @property
    def legal(self) -> Sequence[M]:
        """What the client may say now."""
        ...

    @property
    def game(self) -> G | None:
        """The game being played."""
        ...

    @property
    def last(self) -> G | None:
        """The last game that was finished."""
        ...

    @property
    def finished(self) -> int:
        """How many games were finished."""
        ...

    def on(self, event: Event[M], now: float) -> Sequence[Verdict]: ...  # noqa: D102 -- as in Referee


class Finished(Protocol):
    """A game that is over, as the wire has shown it."""

    @property
    def seat(self) -> Seat:
        """The client's seat."""
        ...

    @property
    def net(self) -> int:
        """What the client has won, in coins."""
        ...


class Offer[M](tuple[M, ...]):
    """What may be said where there is too much of it to list: what is listed, and whatever `also` accepts."""

    also: Callable[[object], bool]

    def __new__(cls, listed: Iterable[M], also: Callable[[object], bool]) -> "Offer[M]":
        """The listed messages, and the test of the others."""
        self = super().__new__(cls, listed)
        self.also = also
        return self

    def __contains__(self, message: object) -> bool:
        return super().__contains__(message) or self.also(message)


class Guest[M, G: Finished]:
    """See `Session`. Chose makes it speak; Tell hands on what the house said, what it broke, and its end.

    `spent` is true when nothing more can be played on this connection, but could be on a new one. `FAREWELL` is what it
    says when it leaves, and `GOODBYE` holds the messages behind which nothing more is said, whoever says them.
    """

    FAREWELL: ClassVar[Sequence[object]] = ()
    GOODBYE: ClassVar[Sequence[object]] = ()

    def __init__(self, referee: Watch[M, G]) -> None:
        self.spent = False
        self._referee = referee
        self._open = False

    @property
    def broke(self) -> bool:
        """Whether it is `spent` for want of coins."""
        return self.spent

    @property
    def alarm(self) -> float | None:
        """When the house's silence becomes a fault."""
        return self._referee.alarm if self._open else None

    @property
    def legal(self) -> Sequence[M]:
        """What may be said now."""
        return self._offer() if self._open else ()

    @property
    def game(self) -> G | None:
        """The game being played."""
        return self._referee.game

    @property
    def last(self) -> G | None:
        """The last game that was finished."""
        return self._referee.last

    def on(self, event: Event[M], now: float) -> Sequence[Effect[M]]:
        """What the client's side does about an event. Raises IllegalMove on a Chose that is not `legal`."""
        match event:
            case Joined():
                self._open = True
                return []
            case Left():
                return self._left(event, now)
            case Chose(message):
                return self._chose(message, now)
            case _ if not self._open:
                return []
            case Said(_, message):
                return self._heard(message, now)
            case Garbled(_, violation):
                return self._broken(violation)
            case Rang():
                faults = self._referee.on(event, now)
                return self._broken(faults[0].violation) if faults else []
            case Halted():
                return self._close([], self.FAREWELL)
            case Ceased():
                return []

    def _offer(self) -> Sequence[M]:
        """What may be said while the conversation lasts."""
        return self._referee.legal

    def _noted(self, message: M) -> None:
        """The house has said this, and was right to."""

    def _asked(self, message: M) -> None:
        """Our own side has said this."""

    def _complaint(self, violation: Violation) -> Sequence[object]:  # noqa: ARG002 -- only some protocols have words for it
        """What is said to a house that has broken a clause."""
        return self.FAREWELL

    def _heard(self, message: M, now: float) -> list[Effect[M]]:
        before = self._referee.finished
        for verdict in self._referee.on(Said(HOUSE, message), now):
            return self._broken(verdict.violation)
        self._noted(message)
        effects: list[Effect[M]] = [Tell(message), *self._settled(before)]
        return self._close(effects) if message in self.GOODBYE else effects

    def _chose(self, message: M, now: float) -> list[Effect[M]]:
        if message not in self.legal:
            raise IllegalMove(message, self.legal)
        before = self._referee.finished
        self._referee.on(Said(CLIENT, message), now)
        self._asked(message)
        effects: list[Effect[M]] = [Say(HOUSE, message), *self._settled(before)]
        return self._close(effects) if message in self.GOODBYE else effects

    def _settled(self, before: int) -> list[Effect[M]]:
        last = self._referee.last
        if last is None or self._referee.finished == before:
            return []
        return [Settle(HOUSE, self._referee.finished, last.seat, last.net, last)]

    def _broken(self, violation: Violation) -> list[Effect[M]]:
        """The house broke the protocol: say which clause, and go."""
        return self._close([Tell(violation)], self._complaint(violation))

    def _close(self, effects: list[Effect[M]], words: Sequence[object] = ()) -> list[Effect[M]]:
        self._open = False
        return [*effects, *(Say(HOUSE, word) for word in words), Drop(HOUSE)]  # type: ignore[list-item]  # a room's words are its messages

    def _left(self, event: Left, now: float) -> list[Effect[M]]:
        faults = self._referee.on(Left(HOUSE), now) if self._open else []
        self._open = False
        told: list[Effect[M]] = [Tell(verdict.violation) for verdict in faults]
        return [*told, Tell(event)]
