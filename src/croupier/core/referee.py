"""Judging: who broke which clause, told from the events of both ends."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from typing import ClassVar, Final, Protocol

from msgspec import Struct

from croupier.core.errors import Violation
from croupier.core.session import Drop, Effect, Event, Joined, Left, Malformed, Peer, Received, Send, TimedOut

CLIENT: Final[Peer] = 1
HOUSE: Final[Peer] = 0
"""The two ends of a conversation, as a referee calls them."""


class Verdict(Struct, frozen=True):
    """One end broke a clause."""

    end: Peer
    violation: Violation


class Referee[M](Protocol):
    """Judges one conversation from the events of both ends (CLIENT and HOUSE), in the order in which they were seen.

    `alarm` is when a silence becomes a fault; Rang tells it. After a fault of the house nothing more is judged: what
    follows cannot be told from its consequences. Faults of the client are judged on, for the house has to answer them.
    """

    @property
    def deadline(self) -> float | None: ...  # noqa: D102 -- told above

    def on(self, event: Event[M], now: float) -> Sequence[Verdict]: ...  # noqa: D102 -- told above


class ExpectedReply:
    """An answer that the house owes: the clause that says so, and in words what it may be."""

    __slots__ = ("clause", "description")

    def __init__(self, clause: str, description: str) -> None:
        self.clause = clause
        self.description = description

    def __str__(self) -> str:
        return self.description


class BaseReferee[M, G](ABC):
    """What every referee of a house game does alike. See `Referee`.

    Every message of the client is handled when all answers to the ones before it are there. `patience` is how many
    seconds an answer may take. `game` is the game being played, None between games; `last` the last one that was
    finished, and `finished` counts them. `_close` is the clause by which nothing may follow but the end, once there is
    one. A room says what the house owes for a message (`_handle`), and what an answer means (`_answered`).
    """

    HANG_UP_CLAUSE: ClassVar[tuple[str, str]]
    """The clause that a house breaks when it just hangs up, and what is allowed."""

    def __init__(self, patience: float = 5.0) -> None:
        self.deadline: float | None = None
        self.game: G | None = None
        self.last_game: G | None = None
        self.finished_count = 0
        self._reply_timeout = patience
        self._pending_messages: deque[M | Violation] = deque()
        self._expected_replies: deque[ExpectedReply] = deque()
        self._close_clause: str | None = None
        self._is_over = False

    @property
    @abstractmethod
    def legal(self) -> Sequence[M]:
        """What the client may say now; nothing that changes the game while an answer is due."""

    @property
    def is_waiting(self) -> bool:
        """Whether the house owes an answer."""
        return bool(self._expected_replies or self._pending_messages)

    def on(self, event: Event[M], now: float) -> Sequence[Verdict]:
        """What was broken, if anything was."""
        if self._is_over:
            return []
        match event:
            case Received(side, message):
                verdicts = self._on_house_message(message) if side == HOUSE else self._on_client_message(message)
            case Malformed(side, violation):
                verdicts = [Verdict(side, violation)]
                if side == CLIENT:
                    verdicts += self._on_client_message(violation)
            case Left(side):
                verdicts = self._on_left(side)
            case TimedOut():
                verdicts = self._on_timed_out()
            case _:
                return []
        if any(verdict.end == HOUSE for verdict in verdicts):
            self._is_over = True
        if self._is_over or not (self._expected_replies or self._close_clause):
            self.deadline = None
        elif self.deadline is None or not isinstance(event, Received | Malformed) or event.peer == HOUSE:
            self.deadline = now + self._reply_timeout  # a client that talks on does not lend the house time
        return verdicts

    # The client's part.

    @abstractmethod
    def _handle(self, message: M | Violation) -> list[Verdict]:
        """What the house owes for a message of the client, and whether the client was wrong to send it."""

    def _on_client_message(self, message: M | Violation) -> list[Verdict]:
        if self._close_clause is None:
            self._pending_messages.append(message)
        return self._handle_pending()

    def _handle_pending(self) -> list[Verdict]:
        verdicts: list[Verdict] = []
        while self._pending_messages and not self._expected_replies and self._close_clause is None:
            verdicts += self._handle(self._pending_messages.popleft())
        return verdicts

    # The house's part: what it says has to be what it owes.

    @abstractmethod
    def _check_reply(self, expected: ExpectedReply, message: M) -> list[Verdict]:
        """What is wrong with an answer, if anything is."""

    @abstractmethod
    def _check_unsolicited(self, message: M) -> list[Verdict]:
        """What is wrong with saying something that nobody has asked for, if anything is."""

    def _accept_goodbye(self, message: M) -> bool:  # noqa: ARG002 -- not every protocol has one
        """Whether the house says goodbye of its own accord; if so, the referee expects the end."""
        return False

    def _on_house_message(self, message: M) -> list[Verdict]:
        if self._close_clause is not None:
            return self._house_fault(self._close_clause, message, "nothing, only the close of the connection")
        if self._accept_goodbye(message):
            self._expected_replies.clear()  # it may cross what the client has said
            self._pending_messages.clear()
            return []
        if not self._expected_replies:
            return self._check_unsolicited(message)
        return self._check_reply(self._expected_replies.popleft(), message) or self._handle_pending()

    @staticmethod
    def _house_fault(clause: str, found: object, allowed: str) -> list[Verdict]:
        return [Verdict(HOUSE, Violation(clause, str(found), allowed))]

    def _end_game(self, game: G) -> None:
        """The game is over."""
        self.game = None
        self.last_game = game
        self.finished_count += 1

    # The end of the conversation, and silence.

    def _on_left(self, side: Peer) -> list[Verdict]:
        self._is_over = True
        if side == CLIENT or self._close_clause is not None:
            return []
        if self._expected_replies:
            return self._house_fault(
                self._expected_replies[0].clause, "the end of the conversation", str(self._expected_replies[0])
            )
        clause, allowed = self.HANG_UP_CLAUSE
        return self._house_fault(clause, "the end of the conversation", allowed)

    def _on_timed_out(self) -> list[Verdict]:
        if self._close_clause is not None:
            return self._house_fault(self._close_clause, "an open connection", "the close of the connection")
        return (
            self._house_fault(self._expected_replies[0].clause, "silence", str(self._expected_replies[0]))
            if self._expected_replies
            else []
        )


class RefereeObserver[M]:
    """The tap of a referee at every table of a hall; it hands on each verdict with the peer at whose table it fell."""

    def __init__(self, make_referee: Callable[[], Referee[M]], on_verdict: Callable[[Peer, Verdict], None]) -> None:
        self._make_referee = make_referee
        self._on_verdict = on_verdict
        self._referees: dict[Peer, Referee[M]] = {}

    def __call__(self, event: Event[M], effects: Sequence[Effect[M]], now: float) -> None:
        """Hear the facts of the hall: an event, and what the house does about it."""
        match event:
            case Joined(peer):
                self._referees[peer] = self._make_referee()
            case Received(peer, message):
                self._observe(peer, Received(CLIENT, message), now)
            case Malformed(peer, violation):
                self._observe(peer, Malformed(CLIENT, violation), now)
            case Left(peer):
                self._observe(peer, Left(CLIENT), now)
                del self._referees[peer]
                return
            case _:
                pass  # the alarm and the closing of the room show in what the house says
        for effect in effects:
            match effect:
                case Send(peer, message):
                    self._observe(peer, Received(HOUSE, message), now)
                case Drop(peer):
                    self._observe(peer, Left(HOUSE), now)
                case _:
                    pass  # a fact, not a deed on the wire

    def _observe(self, peer: Peer, event: Event[M], now: float) -> None:
        for verdict in self._referees[peer].on(event, now):
            self._on_verdict(peer, verdict)
