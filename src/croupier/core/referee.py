"""Judging: who broke which clause, told from the events of both ends."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from typing import ClassVar, Final, Protocol

from msgspec import Struct

from croupier.core.errors import Violation
from croupier.core.session import Drop, Effect, Event, Garbled, Joined, Left, Peer, Rang, Said, Say

CLIENT: Final[Peer] = 1
HOUSE: Final[Peer] = 0
"""The two ends of a conversation, as a referee calls them."""


class Verdict(Struct, frozen=True):
    """One end broke a clause."""

    side: Peer
    violation: Violation


class Referee[M](Protocol):
    """Judges one conversation from the events of both ends (CLIENT and HOUSE), in the order in which they were seen.

    `alarm` is when a silence becomes a fault; Rang tells it. After a fault of the house nothing more is judged: what
    follows cannot be told from its consequences. Faults of the client are judged on, for the house has to answer them.
    """

    @property
    def alarm(self) -> float | None: ...  # noqa: D102 -- told above

    def on(self, event: Event[M], now: float) -> Sequence[Verdict]: ...  # noqa: D102 -- told above


class Due:
    """An answer that the house owes: the clause that says so, and in words what it may be."""

    __slots__ = ("clause", "told")

    def __init__(self, clause: str, told: str) -> None:
        self.clause = clause
        self.told = told

    def __str__(self) -> str:
        return self.told


class Judge[M, G](ABC):
    """What every referee of a house game does alike. See `Referee`.

    Every message of the client is handled when all answers to the ones before it are there. `patience` is how many
    seconds an answer may take. `game` is the game being played, None between games; `last` the last one that was
    finished, and `finished` counts them. `_close` is the clause by which nothing may follow but the end, once there is
    one. A room says what the house owes for a message (`_handle`), and what an answer means (`_answered`).
    """

    ENDS: ClassVar[tuple[str, str]]
    """The clause that a house breaks when it just hangs up, and what is allowed."""

    def __init__(self, patience: float = 5.0) -> None:
        self.alarm: float | None = None
        self.game: G | None = None
        self.last: G | None = None
        self.finished = 0
        self._patience = patience
        self._unheard: deque[M | Violation] = deque()
        self._due: deque[Due] = deque()
        self._close: str | None = None
        self._over = False

    @property
    @abstractmethod
    def legal(self) -> Sequence[M]:
        """What the client may say now; nothing that changes the game while an answer is due."""

    @property
    def waiting(self) -> bool:
        """Whether the house owes an answer."""
        return bool(self._due or self._unheard)

    def on(self, event: Event[M], now: float) -> Sequence[Verdict]:
        """What was broken, if anything was."""
        if self._over:
            return []
        match event:
            case Said(side, message):
                verdicts = self._house_said(message) if side == HOUSE else self._client_said(message)
            case Garbled(side, violation):
                verdicts = [Verdict(side, violation)]
                if side == CLIENT:
                    verdicts += self._client_said(violation)
            case Left(side):
                verdicts = self._left(side)
            case Rang():
                verdicts = self._silence()
            case _:
                return []
        if any(verdict.side == HOUSE for verdict in verdicts):
            self._over = True
        if self._over or not (self._due or self._close):
            self.alarm = None
        elif self.alarm is None or not isinstance(event, Said | Garbled) or event.peer == HOUSE:
            self.alarm = now + self._patience  # a client that talks on does not lend the house time
        return verdicts

    # The client's part.

    @abstractmethod
    def _handle(self, message: M | Violation) -> list[Verdict]:
        """What the house owes for a message of the client, and whether the client was wrong to send it."""

    def _client_said(self, message: M | Violation) -> list[Verdict]:
        if self._close is None:
            self._unheard.append(message)
        return self._hear()

    def _hear(self) -> list[Verdict]:
        verdicts: list[Verdict] = []
        while self._unheard and not self._due and self._close is None:
            verdicts += self._handle(self._unheard.popleft())
        return verdicts

    # The house's part: what it says has to be what it owes.

    @abstractmethod
    def _answered(self, due: Due, message: M) -> list[Verdict]:
        """What is wrong with an answer, if anything is."""

    @abstractmethod
    def _unasked(self, message: M) -> list[Verdict]:
        """What is wrong with saying something that nobody has asked for, if anything is."""

    def _goodbye(self, message: M) -> bool:  # noqa: ARG002 -- not every protocol has one
        """Whether the house says goodbye of its own accord; if so, the referee expects the end."""
        return False

    def _house_said(self, message: M) -> list[Verdict]:
        if self._close is not None:
            return self._fault(self._close, message, "nothing, only the close of the connection")
        if self._goodbye(message):
            self._due.clear()  # it may cross what the client has said
            self._unheard.clear()
            return []
        if not self._due:
            return self._unasked(message)
        return self._answered(self._due.popleft(), message) or self._hear()

    @staticmethod
    def _fault(clause: str, found: object, allowed: str) -> list[Verdict]:
        return [Verdict(HOUSE, Violation(clause, str(found), allowed))]

    def _end(self, game: G) -> None:
        """The game is over."""
        self.game = None
        self.last = game
        self.finished += 1

    # The end of the conversation, and silence.

    def _left(self, side: Peer) -> list[Verdict]:
        self._over = True
        if side == CLIENT or self._close is not None:
            return []
        if self._due:
            return self._fault(self._due[0].clause, "the end of the conversation", str(self._due[0]))
        clause, allowed = self.ENDS
        return self._fault(clause, "the end of the conversation", allowed)

    def _silence(self) -> list[Verdict]:
        if self._close is not None:
            return self._fault(self._close, "an open connection", "the close of the connection")
        return self._fault(self._due[0].clause, "silence", str(self._due[0])) if self._due else []


class Bench[M]:
    """The tap of a referee at every table of a hall; it hands on each verdict with the peer at whose table it fell."""

    def __init__(self, referee: Callable[[], Referee[M]], told: Callable[[Peer, Verdict], None]) -> None:
        self._referee = referee
        self._told = told
        self._referees: dict[Peer, Referee[M]] = {}

    def __call__(self, event: Event[M], effects: Sequence[Effect[M]], now: float) -> None:
        """Hear the facts of the hall: an event, and what the house does about it."""
        match event:
            case Joined(peer):
                self._referees[peer] = self._referee()
            case Said(peer, message):
                self._hear(peer, Said(CLIENT, message), now)
            case Garbled(peer, violation):
                self._hear(peer, Garbled(CLIENT, violation), now)
            case Left(peer):
                self._hear(peer, Left(CLIENT), now)
                del self._referees[peer]
                return
            case _:
                pass  # the alarm and the closing of the room show in what the house says
        for effect in effects:
            match effect:
                case Say(peer, message):
                    self._hear(peer, Said(HOUSE, message), now)
                case Drop(peer):
                    self._hear(peer, Left(HOUSE), now)
                case _:
                    pass  # a fact, not a deed on the wire

    def _hear(self, peer: Peer, event: Event[M], now: float) -> None:
        for verdict in self._referees[peer].on(event, now):
            self._told(peer, verdict)
