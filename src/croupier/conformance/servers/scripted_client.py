"""A probe is a client with a script: it says what a case wants said, however it is cut, and judges what it hears."""

from collections import deque
from collections.abc import Callable, Generator, Sequence, Set
from math import inf
from typing import Any, Final

from msgspec import Struct

from croupier.conformance.conversation import Conversation, Fault
from croupier.conformance.stall import extra_wait
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE, Verdict
from croupier.core.session import Closing, Drop, Effect, Event, Joined, Left, Peer, Received, Send, TimedOut


class Chunking(Struct, frozen=True):
    """How bytes are sent: `size` at a time, 0 for all at once, with `pause` seconds between two pieces."""

    chunk_bytes: int = 0
    pause_seconds: float = 0.0


UNCHUNKED: Final = Chunking()


class Wait(Struct, frozen=True):
    """Say nothing for so many seconds, and listen."""

    seconds: float


class HangUp(Struct, frozen=True):
    """Close the connection, without a goodbye."""


type ClientAction = bytes | Wait | HangUp
"""What a script does next: it says these bytes, waits, or hangs up. It goes on when the house owes nothing."""

type ClientScript = Generator[ClientAction, None, str | None]
"""A script ends with None when it has shown what it was to show, and with what did not come up otherwise.

It may accuse the house by raising a Violation, of what no judge of one conversation can know.
"""


class RawCodec:
    """The codec of a wire on which every byte counts: it hands on what it is given."""

    tolerated: Set[str] = frozenset()

    def feed(self, data: bytes) -> Sequence[bytes]:
        """What has come, as one message."""
        return (data,)

    def encode(self, message: bytes) -> bytes:
        """What is said, as it is."""
        return message


class ScriptedClient:
    """The client's side of one conversation with a house under test. See `Session`; its messages are bytes.

    `judges` hear all of it. The first is the one that the script sees; it ends when the house is at fault for all of
    them, when the script ends (then it says `goodbye` and hangs up), or when the house has left. `owes` tells of a
    referee whether the house owes an answer; the script goes on when it does not. Before that the house has `hush`
    seconds to answer what wants no answer, and `grace` seconds to say more than it was asked. `wire` is everything that
    was sent and heard, in order, `said` what the script has said, and `slowest` the longest time in seconds that an
    answer has taken. `lasted` is how many seconds the conversation took until the house left.

    `came_to` is what the script has ended with, once it has; `unreachable` why there was no connection, empty where
    there was one.
    """

    def __init__(
        self,
        conversations: Sequence[Conversation],
        script: ClientScript,
        *,
        delivery: Chunking = UNCHUNKED,
        goodbye: bytes = b"",
        owes_answer: Callable[[Any], bool] = lambda referee: referee.alarm is not None,
        quiet_seconds: float = 0.0,
        grace_seconds: float = 0.0,
    ) -> None:
        self.is_over = False
        self.has_joined = False
        self.house_has_left = False
        self.connect_error = ""
        self.skip_reason: str | None = "the conversation was over before it came to that"
        self.wire_log: list[tuple[Peer, bytes]] = []
        self.sent: list[bytes] = []
        self.slowest_seconds = 0.0
        self.duration_seconds = 0.0
        self.conversations = tuple(conversations)
        self._script = script
        self._delivery = delivery
        self._goodbye = goodbye
        self._owes = owes_answer
        self._hush = quiet_seconds
        self._grace = grace_seconds
        self._rested = False
        self._answered = True
        self._accused: Fault | None = None
        self._blamed: dict[Conversation, Fault] = {}
        self._pieces: deque[bytes] = deque()
        self._due = -inf
        self._asked: float | None = None
        self._stall_seconds = 0.0
        self._began = 0.0

    @property
    def conversation(self) -> Conversation:
        """The conversation that the script sees."""
        return self.conversations[0]

    @property
    def deadline(self) -> float | None:
        """When a piece is to be sent, the script goes on, or a silence becomes a fault."""
        if self.is_over or not self.has_joined:
            return None
        alarms = [judge.deadline + self._stall_seconds for judge in self._living if judge.deadline is not None]
        if self._due > -inf:
            alarms.append(self._due)
        return min(alarms, default=None)

    @property
    def fault(self) -> Fault | None:
        """The first fault of the house, where every judge has found one; the first judge's."""
        if self._accused is not None:
            return self._accused
        return self._blamed[self.conversation] if len(self._blamed) == len(self.conversations) else None

    @property
    def _living(self) -> Sequence[Conversation]:
        return [judge for judge in self.conversations if judge not in self._blamed]

    def on(self, event: Event[bytes], now: float) -> Sequence[Effect[bytes]]:
        """What the probe does about an event."""
        if self.is_over:
            return []
        match event:
            case Joined():
                self.has_joined = True
                self._began = now
            case Received(_, data):
                self.wire_log.append((HOUSE, data))
                self._stall_seconds = 0.0
                for judge in self._living:
                    self._note(judge, judge.on_data(HOUSE, data, now))
            case Left(_, reason):
                return self._left(reason, now)
            case TimedOut():
                self._rang(now)
            case Closing():
                return self._end()
            case _:
                raise AssertionError(f"{event} is nothing that happens to a probe")
        return self._go_on(now)

    def accuse(self, violation: Violation) -> None:
        """Accuse the house of what no judge of one conversation can know."""
        self._accused = Fault(Verdict(HOUSE, violation), len(self.conversation.lines))

    def _note(self, judge: Conversation, faults: Sequence[Fault]) -> None:
        """Keep the first fault that a judge finds with the house."""
        for fault in faults:
            if fault.verdict.end == HOUSE:
                self._blamed.setdefault(judge, fault)

    def _rang(self, now: float) -> None:
        """A silence is a fault when the patience of a judge has ended, and the tester was awake."""
        for judge in self._living:
            late = -1.0 if judge.deadline is None else now - (judge.deadline + self._stall_seconds)
            if more := extra_wait(late):
                self._stall_seconds += late + more
            elif late >= 0.0:
                self._note(judge, judge.on_timeout(now))

    def _left(self, reason: str, now: float) -> Sequence[Effect[bytes]]:
        if not self.has_joined:
            self.connect_error = reason or "no connection"
        else:
            self.house_has_left = True
            self.duration_seconds = now - self._began
            for judge in self._living:
                self._note(judge, judge.on_disconnect(HOUSE, now))
            if self.fault is None and not self._pieces and self._next_action() is not None:
                self.skip_reason = "the house has ended the conversation"
        return self._end()

    def _go_on(self, now: float) -> Sequence[Effect[bytes]]:
        """Send what is to be sent and do what the script wants done, until there is something to wait for."""
        effects: list[Effect[bytes]] = []
        self._timed(now)
        while not self.is_over:
            if self.fault is not None:
                effects += self._end()
            elif self._due > now:
                break
            elif self._pieces:
                effects += self._send(now)
            elif self._waiting(now):
                break
            else:
                effects += self._next(now)
        return effects

    def _timed(self, now: float) -> None:
        """Keep the time that the house takes to answer."""
        if self._asked is not None and not self._owing():
            self.slowest_seconds = max(self.slowest_seconds, now - self._asked)
            self._asked = None

    def _owing(self) -> bool:
        """Whether the house owes an answer in every account of the conversation that is left."""
        return all(self._owes(judge.referee) for judge in self._living)

    def _waiting(self, now: float) -> bool:
        """Whether the script has to wait: for an answer, or in case that there is more to come."""
        if self._owing():
            self._due = -inf
            return True
        self._due = -inf
        if self._rested:
            return False
        self._rested = True
        seconds = self._grace if self._answered else self._hush
        if seconds:
            self._due = now + seconds
        return seconds > 0

    def _send(self, now: float) -> Sequence[Effect[bytes]]:
        piece = self._pieces.popleft()
        self.wire_log.append((CLIENT, piece))
        self._stall_seconds = 0.0
        for judge in self._living:
            self._note(judge, judge.on_data(CLIENT, piece, now))
        self._due = now + self._delivery.pause_seconds if self._pieces else -inf
        self._rested = False
        self._answered = self._owing()
        if self._asked is None and self._answered:
            self._asked = now
        return [Send(HOUSE, piece)]

    def _next(self, now: float) -> Sequence[Effect[bytes]]:
        match deed := self._next_action():
            case None:
                return self._end(self._goodbye)
            case Wait(seconds):
                self._due = now + seconds
            case HangUp():
                self.skip_reason = None
                return self._end()
            case _:
                self.sent.append(deed)
                size = self._delivery.chunk_bytes or len(deed)
                self._pieces += (deed[at : at + size] for at in range(0, len(deed), size or 1))
        return []

    def _next_action(self) -> ClientAction | None:
        """What the script does next, None at its end."""
        try:
            return next(self._script)
        except StopIteration as end:
            self.skip_reason = end.value
        except Violation as violation:
            self.accuse(violation)
        return None

    def _end(self, goodbye: bytes = b"") -> Sequence[Effect[bytes]]:
        self.is_over = True
        self._script.close()
        if not self.has_joined or self.house_has_left:
            return []
        return [*([Send(HOUSE, goodbye)] if goodbye else []), Drop(HOUSE)]


def first_house_fault(conversation: Conversation) -> Fault | None:
    """The first fault of the house in a conversation."""
    return next((fault for fault in conversation.faults if fault.verdict.end == HOUSE), None)
