"""Referees: they check a conversation against the protocol, from the events of both ends."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Container, Mapping, Sequence
from enum import IntEnum
from typing import Any, ClassVar, Final, Protocol

from msgspec import Struct

from croupier.core.errors import FoundKind, Violation
from croupier.core.session import Drop, Effect, Event, Joined, Left, Malformed, Peer, Received, Send, TimedOut


class End(IntEnum):
    """The two ends of a conversation of one client with a house."""

    HOUSE = 0
    CLIENT = 1

    __repr__ = int.__repr__  # in logs, an end is a peer like any other


CLIENT: Final[Peer] = End.CLIENT
HOUSE: Final[Peer] = End.HOUSE

OTHER_END: Final[Mapping[Peer, Peer]] = {CLIENT: HOUSE, HOUSE: CLIENT}

type Party = Peer | str
"""HOUSE, the server or table of a room; CLIENT, if it has only one; where players meet, the name of a player."""


class Sent[M](Struct, frozen=True, gc=False):
    """A party has sent a message to another. A Violation stands for bytes that the receiver's codec cannot parse."""

    sender: Party
    receiver: Party
    message: M | Violation


class Disconnected(Struct, frozen=True, gc=False):
    """A party has closed its connection to another one, or has noticed that it has none."""

    party: Party
    other: Party


type Observation[M] = Sent[M] | Disconnected | TimedOut
"""What a referee observes. TimedOut follows when its `deadline` has passed."""


class Verdict(Struct, frozen=True):
    """A violation, and the party that committed it.

    `message` is what it has sent in violation, if that may not be the oldest of its messages that are not handled.
    """

    party: Party
    violation: Violation
    message: Any = None


class Referee[M, G](Protocol):
    """Checks the conversations of one table from what all parties send, in the order in which it was sent.

    `deadline` is the time at which silence becomes a violation; the caller then sends TimedOut. `legal` is what the
    party whose turn it is may do now. `game` is the game in progress, None between games; `last_game` is the last
    finished game, None before the first; `finished_count` is the number of finished games. After a violation by the
    house nothing more is checked if further violations could be its consequences. After a violation by a client
    checking continues, because the house has to answer it.
    """

    @property
    def deadline(self) -> float | None: ...  # noqa: D102 -- see the class

    @property
    def legal(self) -> Container[M]: ...  # noqa: D102 -- see the class

    @property
    def game(self) -> G | None: ...  # noqa: D102 -- see the class

    @property
    def last_game(self) -> G | None: ...  # noqa: D102 -- see the class

    @property
    def finished_count(self) -> int: ...  # noqa: D102 -- see the class

    def on(self, event: Observation[M], now: float) -> Sequence[Verdict]: ...  # noqa: D102 -- see the class


class ExpectedReply:
    """A reply that the house owes: the clause that requires it, and a description of the allowed replies.

    `messages` are the allowed replies, empty if there are too many to list; `kind` is then the type of all of them.
    """

    __slots__ = ("clause", "description", "kind", "messages")

    def __init__(
        self, clause: str, description: str, messages: tuple[object, ...] = (), *, kind: type[object] | None = None
    ) -> None:
        self.clause = clause
        self.description = description
        self.messages = messages
        self.kind = kind

    def has_kind_of(self, message: object) -> bool:
        """Whether a message has the type of an allowed reply."""
        return type(message) is self.kind or any(type(message) is type(each) for each in self.messages)

    def __str__(self) -> str:
        return self.description


class BaseReferee[M, G](ABC):
    """The base class of the referees of house games. See `Referee`.

    A message of the client is handled after all replies to the messages before it have arrived. `reply_timeout` is the
    time in seconds that a reply may take. `game` is the game in progress, None between games; `last_game` is the last
    finished game, and `finished_count` the number of them. Once the house has to close the connection, `_close_clause`
    is the clause that requires it, and `_close_texts` are what is found and what is allowed where it does not.
    `_silence_clause` is the clause that forbids an answer to the last message of the client, None if another clause
    does. A room implements `_handle` (the replies that the house owes for a message),
    `_check_reply` and `_check_unsolicited`.
    """

    HANG_UP_CLAUSE: ClassVar[tuple[str, str]]
    """The clause that a house breaks by closing the connection without a reason, and the allowed behaviour."""

    def __init__(self, reply_timeout: float = 5.0) -> None:
        self.deadline: float | None = None
        self.game: G | None = None
        self.last_game: G | None = None
        self.finished_count = 0
        self._reply_timeout = reply_timeout
        self._pending_messages: deque[M | Violation] = deque()
        self._expected_replies: deque[ExpectedReply] = deque()
        self._close_clause: str | None = None
        self._close_texts = ("an open connection", "the close of the connection")
        self._silence_clause: str | None = None
        self._is_over = False

    @property
    @abstractmethod
    def legal(self) -> Sequence[M]:
        """The messages that the client may send now; none that changes the game while a reply is due."""

    @property
    def unhandled_count(self) -> int:
        """The number of messages of the client that wait for the replies to earlier ones."""
        return len(self._pending_messages)

    @property
    def is_waiting(self) -> bool:
        """Whether the house owes a reply."""
        return bool(self._expected_replies or self._pending_messages)

    @property
    def pending(self) -> ExpectedReply | None:
        """The reply that the house owes first, None if it owes none."""
        return self._expected_replies[0] if self._expected_replies else None

    @property
    def clause(self) -> str | None:
        """The clause about what the house owes now: a reply, silence or the end of the connection; None for nothing."""
        pending = self.pending
        return self._close_clause or (self._silence_clause if pending is None else pending.clause)

    def on(self, event: Observation[M], now: float) -> Sequence[Verdict]:
        """Check an event, and return the violations that it shows."""
        if self._is_over:
            return []
        match event:
            case Sent(sender, _, message) if sender == CLIENT:
                verdicts = [Verdict(CLIENT, message)] if isinstance(message, Violation) else []
                verdicts += self._on_client_message(message)
            case Sent(message=message):
                verdicts = (
                    [Verdict(HOUSE, message)] if isinstance(message, Violation) else self._on_house_message(message)
                )
            case Disconnected(party):
                verdicts = self._on_disconnected(party)
            case TimedOut():
                verdicts = self._on_timed_out()
        if any(verdict.party == HOUSE for verdict in verdicts):
            self._is_over = True
        if self._is_over or not (self._expected_replies or self._close_clause):
            self.deadline = None
        elif self.deadline is None or not isinstance(event, Sent) or event.sender == HOUSE:
            self.deadline = (
                now + self._reply_timeout
            )  # further messages of the client do not extend the time of the house
        return verdicts

    # Messages of the client.

    @abstractmethod
    def _handle(self, message: M | Violation) -> list[Verdict]:
        """Check a message of the client, and add the replies that the house owes for it to `_expected_replies`."""

    def _on_client_message(self, message: M | Violation) -> list[Verdict]:
        if self._close_clause is None:
            self._pending_messages.append(message)
        return self._handle_pending()

    def _handle_pending(self) -> list[Verdict]:
        verdicts: list[Verdict] = []
        while self._pending_messages and not self._expected_replies and self._close_clause is None:
            self._silence_clause = None
            verdicts += self._handle(self._pending_messages.popleft())
        return verdicts

    # Messages of the house: each must be the reply that it owes.

    @abstractmethod
    def _check_reply(self, expected: ExpectedReply, message: M) -> list[Verdict]:
        """Check a reply."""

    @abstractmethod
    def _check_unsolicited(self, message: M) -> list[Verdict]:
        """Check a message of the house while no reply is due."""

    def _accept_goodbye(self, message: M) -> bool:  # noqa: ARG002 -- only some protocols have one
        """Whether this is an unsolicited goodbye of the house; if so, the referee expects the close."""
        return False

    def _on_house_message(self, message: M) -> list[Verdict]:
        if self._close_clause is not None:
            return self._house_fault(self._close_clause, message, "nothing, only the close of the connection")
        if self._accept_goodbye(message):
            found, allowed = self._close_texts
            self._close_texts = (f"{message}, and {found}", f"{self.pending or 'nothing'}, or {allowed}")
            self._expected_replies.clear()  # it may have crossed messages of the client
            self._pending_messages.clear()
            return []
        if not self._expected_replies:
            return self._check_unsolicited(message)
        return self._check_reply(self._expected_replies.popleft(), message) or self._handle_pending()

    @staticmethod
    def _house_fault(
        clause: str,
        found: object,
        allowed: str,
        *wanted: object,
        kind: FoundKind = FoundKind.MESSAGE,
    ) -> list[Verdict]:
        return [Verdict(HOUSE, Violation(clause, str(found), allowed, kind=kind, wanted=wanted))]

    def _end_game(self, game: G) -> None:
        self.game = None
        self.last_game = game
        self.finished_count += 1

    # The end of the connection, and silence.

    def _on_disconnected(self, party: Party) -> list[Verdict]:
        self._is_over = True
        if party == CLIENT or self._close_clause is not None:
            return []
        if self._expected_replies:
            due = self._expected_replies[0]
            return self._fault_of_close(due.clause, str(due), *due.messages)
        return self._fault_of_close(*self.HANG_UP_CLAUSE)

    def _fault_of_close(self, clause: str, allowed: str, *wanted: object) -> list[Verdict]:
        return self._house_fault(clause, "the end of the conversation", allowed, *wanted, kind=FoundKind.CLOSED)

    def _on_timed_out(self) -> list[Verdict]:
        if self._close_clause is not None:
            return self._house_fault(self._close_clause, *self._close_texts, kind=FoundKind.STILL_OPEN)
        if not self._expected_replies:
            return []
        due = self._expected_replies[0]
        return self._house_fault(due.clause, "silence", str(due), *due.messages, kind=FoundKind.SILENCE)


class RefereeObserver[M]:
    """An observer of a hall: a referee at every table, whose verdicts go to `on_verdict` with the table's peer."""

    name = "--referee"

    def __init__(
        self, make_referee: Callable[[], Referee[M, Any]], on_verdict: Callable[[Peer, Verdict], None]
    ) -> None:
        self._make_referee = make_referee
        self._on_verdict = on_verdict
        self._referees: dict[Peer, Referee[M, Any]] = {}

    def __call__(self, event: Event[M], effects: Sequence[Effect[M]], now: float) -> None:
        """Observe an event and its effects."""
        match event:
            case Joined(peer):
                self._referees[peer] = self._make_referee()
            case Received(peer, message):
                self._observe(peer, Sent(CLIENT, HOUSE, message), now)
            case Malformed(peer, violation):
                self._observe(peer, Sent(CLIENT, HOUSE, violation), now)
            case Left(peer):
                self._observe(peer, Disconnected(CLIENT, HOUSE), now)
                del self._referees[peer]
                return
            case _:
                pass  # TimedOut and Closing are visible in what the house sends
        for effect in effects:
            match effect:
                case Send(peer, message):
                    self._observe(peer, Sent(HOUSE, CLIENT, message), now)
                case Drop(peer):
                    self._observe(peer, Disconnected(HOUSE, CLIENT), now)
                case _:
                    pass  # not visible on the wire

    def _observe(self, peer: Peer, event: Observation[M], now: float) -> None:
        for verdict in self._referees[peer].on(event, now):
            self._on_verdict(peer, verdict)
