"""A scripted client: runs the script of a test case against a server under test and judges the answers."""

from collections import deque
from collections.abc import Callable, Generator, Sequence
from math import inf
from typing import Any, Final

from msgspec import Struct

from croupier.conformance.channel.delivery import WHOLE, Delivery
from croupier.conformance.conversation import Conversation, Fault
from croupier.conformance.timeouts import extra_wait
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE, Verdict
from croupier.core.session import Closing, Drop, Effect, Event, Joined, Left, Peer, Received, Send, TimedOut

CUT_REASON: Final = "the house has reset the connection in the middle of a message"


class Wait(Struct, frozen=True):
    """Send nothing for some seconds, and listen."""

    seconds: float


class HangUp(Struct, frozen=True):
    """Send these bytes, if any, and disconnect without a goodbye: nobody waits for their answers.

    If it `resets` the connection, the house reads an error in place of the end, and cannot send any more.
    """

    last_bytes: bytes = b""
    resets: bool = False


type ClientAction = bytes | Wait | HangUp
"""The next action of a script: send bytes, wait, or disconnect. The script continues once the house owes no answer."""

type ClientScript = Generator[ClientAction, None, str | None]
"""A script returns None when it has shown what it is about, or else the reason why that did not come up.

It may raise a Violation to accuse the house of something that the judge of a single conversation cannot know, and
Inapplicable if it is not about this house.
"""


class Inapplicable(Exception):
    """A script is not about this house; the text says why."""


class ScriptedClient:
    """The client's side of one conversation with a house under test. See `Session`; its messages are bytes.

    `conversation` judges the bytes. It ends when the house is at `fault`, when the script ends (then the client sends
    `goodbye` and disconnects), or when the house has left.

    `owes_answer` decides by the referee whether the house owes an answer; the script waits until it does not. The house
    has `quiet_seconds` to answer a message that requires no answer, and `grace_seconds` to send more than it was asked
    for. It connects from `local_host`, unless that is empty.

    `wire_log` is everything that was sent and received, in order, and `sent` the messages of the script.
    `slowest_seconds` is the longest time that an answer has taken, `duration_seconds` the time until the house left;
    `was_reset`: it has reset the connection. `resets`: the script has ended with a reset of the connection.
    `skip_reason` is the return value of the script, or says why the case does not apply, unless it `applies`.
    `connect_error` is the reason why there was no connection, empty if there was one. `error` is an exception of the
    script or of a judge, with which the conversation ends.
    """

    def __init__(
        self,
        conversation: Conversation,
        script: ClientScript,
        *,
        delivery: Delivery = WHOLE,
        goodbye: bytes = b"",
        owes_answer: Callable[[Any], bool] = lambda referee: referee.deadline is not None,
        quiet_seconds: float = 0.0,
        grace_seconds: float = 0.0,
    ) -> None:
        self.is_over = False
        self.has_joined = False
        self.house_has_left = False
        self.was_reset = False
        self.resets = False
        self.connect_error = ""
        self.error: Exception | None = None
        self.skip_reason: str | None = "the conversation was over before it came to that"
        self.applies = True
        self.local_host = ""
        self.wire_log: list[tuple[Peer, bytes]] = []
        self.sent: list[bytes] = []
        self.slowest_seconds = 0.0
        self.duration_seconds = 0.0
        self.conversation = conversation
        conversation.sender = CLIENT
        self.fault: Fault | None = None
        self.is_accused = False
        """Whether the fault is one that the judge of a single conversation cannot know: a replay does not show it."""
        self._script = script
        self._delivery = delivery
        self._goodbye = goodbye
        self._owes_answer = owes_answer
        self._quiet_seconds = quiet_seconds
        self._grace_seconds = grace_seconds
        self._has_paused = False
        self._expects_answer = True
        self._chunks: deque[bytes] = deque()
        self._due_at = -inf
        self._asked_at: float | None = None
        self._stall_seconds = 0.0
        self._started_at = 0.0

    @property
    def deadline(self) -> float | None:
        """When a chunk is due, the script continues, or a silence becomes a fault."""
        if self.is_over or not self.has_joined:
            return None
        deadlines = [] if self._answer_deadline is None else [self._answer_deadline]
        if self._due_at > -inf:
            deadlines.append(self._due_at)
        return min(deadlines, default=None)

    @property
    def _answer_deadline(self) -> float | None:
        """When a silence becomes a fault; later if the tester itself was stalled."""
        deadline = self.conversation.deadline
        return None if deadline is None else deadline + self._stall_seconds

    def on(self, event: Event[bytes], now: float) -> Sequence[Effect[bytes]]:
        """Process an event; return its effects."""
        if self.is_over:
            return []
        try:
            return self._process(event, now)
        except Exception as error:  # the bench raises it
            self.error = error
            return self._end()

    def _process(self, event: Event[bytes], now: float) -> Sequence[Effect[bytes]]:
        match event:
            case Joined():
                self.has_joined, self.connect_error = True, ""
                self._started_at = now
            case Received(_, data):
                self.wire_log.append((HOUSE, data))
                self._stall_seconds = 0.0
                self._keep_fault(self.conversation.on_data(HOUSE, data, now))
            case Left() as left:
                return self._on_left(left, now)
            case TimedOut():
                self._on_timeout(now)
            case Closing():
                return self._end()
            case _:
                raise AssertionError(f"{event} never happens to a scripted client")
        return self._go_on(now)

    def accuse(self, violation: Violation) -> None:
        """Record a violation that the judge of a single conversation cannot know."""
        self.is_accused = True
        self.fault = Fault(Verdict(HOUSE, violation), len(self.conversation.lines))

    def _keep_fault(self, faults: Sequence[Fault]) -> None:
        """Keep the first fault of the house."""
        self.fault = self.fault or next((fault for fault in faults if fault.verdict.party == HOUSE), None)

    def _on_timeout(self, now: float) -> None:
        """Report a silence to the judge, unless the tester itself was stalled."""
        late = -1.0 if self._answer_deadline is None else now - self._answer_deadline
        if more := extra_wait(late):
            self._stall_seconds += late + more
        elif late >= 0.0:
            self._keep_fault(self.conversation.on_timeout(now))

    def _on_left(self, left: Left, now: float) -> Sequence[Effect[bytes]]:
        if not self.has_joined:
            self.connect_error = left.reason or "no connection"
            return []  # it may connect again
        self.house_has_left = True
        self.was_reset = left.was_reset
        self.duration_seconds = now - self._started_at
        self._keep_fault(self.conversation.on_disconnect(HOUSE, now, was_reset=left.was_reset))
        if self.conversation.is_house_cut:
            self.skip_reason = CUT_REASON
        elif self.fault is None and not self._chunks and self._next_action() is not None:
            self.skip_reason = "the house has ended the conversation"
        return self._end()

    def _go_on(self, now: float) -> Sequence[Effect[bytes]]:
        """Send what is due and advance the script until there is something to wait for."""
        effects: list[Effect[bytes]] = []
        self._measure_answer(now)
        while not self.is_over:
            if self.fault is not None:
                effects += self._end()
            elif self._due_at > now:
                break
            elif self._chunks:
                effects += self._send(self._chunks.popleft(), now)
            elif self._must_wait(now):
                break
            else:
                effects += self._next(now)
        return effects

    def _measure_answer(self, now: float) -> None:
        """Measure how long the house takes to answer."""
        if self._asked_at is not None and self.fault is None and not self._is_answer_owed():
            self.slowest_seconds = max(self.slowest_seconds, now - self._asked_at)
            self._asked_at = None

    def _is_answer_owed(self) -> bool:
        return self._owes_answer(self.conversation.referee)

    def _must_wait(self, now: float) -> bool:
        """Whether the script has to wait: for an answer, or in case that the house sends more."""
        if self._is_answer_owed():
            self._due_at = -inf
            return True
        self._due_at = -inf
        if self._has_paused:
            return False
        self._has_paused = True
        seconds = self._grace_seconds if self._expects_answer else self._quiet_seconds
        if seconds:
            self._due_at = now + seconds
        return seconds > 0

    def _send(self, chunk: bytes, now: float) -> Sequence[Effect[bytes]]:
        self.wire_log.append((CLIENT, chunk))
        self._stall_seconds = 0.0
        self._keep_fault(self.conversation.on_data(CLIENT, chunk, now))
        self._due_at = now + self._delivery.gap_seconds if self._chunks else -inf
        self._has_paused = False
        self._expects_answer = self._is_answer_owed()
        if self._asked_at is None and self._expects_answer:
            self._asked_at = now
        return [Send(HOUSE, chunk)]

    def _next(self, now: float) -> Sequence[Effect[bytes]]:
        match action := self._next_action():
            case None:
                return self._end(self._goodbye)
            case Wait(seconds):
                self._due_at = now + seconds
            case HangUp(last_bytes, resets):
                self.skip_reason, self.resets = None, resets
                return [*(self._send(last_bytes, now) if last_bytes else ()), *self._end()]
            case _:
                self.sent.append(action)
                self._chunks += self._delivery.split(action)
        return []

    def _next_action(self) -> ClientAction | None:
        """Return the next action of the script, None at its end."""
        try:
            return next(self._script)
        except StopIteration as end:
            self.skip_reason = end.value
        except Inapplicable as error:
            self.skip_reason = str(error)
            self.applies = False
        except Violation as violation:
            self.accuse(violation)
        return None

    def _end(self, goodbye: bytes = b"") -> Sequence[Effect[bytes]]:
        self.is_over = True
        self._script.close()
        if not self.has_joined or self.house_has_left or self.resets:
            return []
        return [*([Send(HOUSE, goodbye)] if goodbye else []), Drop(HOUSE)]
