"""A conversation of one client with a house that may be faulty, checked by a referee."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE, Disconnected, Referee, Sent, Verdict
from croupier.core.room import HouseRoom
from croupier.core.session import Drop, Joined, Malformed, Received, Send, TimedOut
from croupier.core.transcript import Transcript, house_settings, make_hall

HANG_UP = b"<the connection is closed>"
"""Stands for a close among the frames of a house."""

GREETING = b""
"""The client message that a mutation receives when the client connects."""

type Habit = Callable[[bytes, list[bytes]], Sequence[bytes]]
"""A mutation of a house: maps the client's message and the correct answers to the frames that it sends."""


def honest(said: bytes, answers: list[bytes]) -> Sequence[bytes]:
    return answers


def instead(said: bytes, *answers: bytes) -> Habit:
    """Replace the answers to one message of the client."""
    return lambda heard, honest: list(answers) if heard == said else honest


def rewritten(old: bytes, new: bytes) -> Habit:
    """Replace bytes in all answers."""
    return lambda heard, honest: [answer.replace(old, new) for answer in honest]


def without(missing: bytes) -> Habit:
    """Drop all answers that start with some bytes."""
    return lambda heard, honest: [answer for answer in honest if not answer.startswith(missing)]


def followed(said: bytes, *more: bytes) -> Habit:
    """Append frames to the answers to one message."""
    return lambda heard, honest: [*honest, *more] if heard == said else honest


def before(answer: bytes, *more: bytes) -> Habit:
    """Send frames before each answer that starts with some bytes."""
    return lambda heard, honest: [frames for a in honest for frames in ([*more, a] if a.startswith(answer) else [a])]


class RefereedConversation:
    """The room's house with a mutation, a scripted client, and a referee that checks both.

    By default the referee is the room's own, configured like the house.
    """

    def __init__(
        self,
        room: HouseRoom,
        head: Mapping[str, str],
        habit: Habit = honest,
        referee: Referee[Any, Any] | None = None,
        *,
        strict: bool = False,
    ) -> None:
        self.verdicts: list[Verdict] = []
        self.received = b""
        transcript = Transcript("conversation", "a conversation", (), {**head, "strict": "yes"} if strict else head, ())
        own = house_settings(room, transcript)
        self._habit = habit
        self._hall = make_hall(room, transcript)
        self._hall.on(Joined(1), 0.0)
        self._referee = referee or room.referee(own, strict)
        self._house_decoder, self._house_encoder, self._client_codec = (room.codec(strict, own) for _ in range(3))
        self._closed = False
        self._send(habit(GREETING, []))

    def send(self, *lines: bytes) -> None:
        """Send frames of the client; the referee checks them and the answers of the house."""
        for line in lines:
            for item in self._house_decoder.feed(line):
                if self._closed:
                    return
                self._judge(Sent(CLIENT, HOUSE, item))
                self._send(self._habit(self._encode(item), self._answers(item)))

    def disconnect(self) -> None:
        """Disconnect the client."""
        self._judge(Disconnected(CLIENT, HOUSE))

    def wait(self) -> None:
        """Let the referee's timeout expire, if it has one."""
        if self._referee.deadline is not None:
            self._judge(TimedOut(), self._referee.deadline)

    def clauses(self, side: int) -> list[str]:
        """The clauses that one end broke, in order."""
        return [verdict.violation.clause for verdict in self.verdicts if verdict.party == side]

    def _encode(self, item: Any) -> bytes:
        """The frame of a message, or the text of a violation."""
        return str(item).encode() if isinstance(item, Violation) else self._house_decoder.encode(item)

    def _answers(self, item: Any) -> list[bytes]:
        frames = []
        for effect in self._hall.on(Malformed(1, item) if isinstance(item, Violation) else Received(1, item), 0.0):
            match effect:
                case Send(_, message):
                    frames.append(self._house_encoder.encode(message))
                case Drop():
                    frames.append(HANG_UP)
                case _:
                    pass
        return frames

    def _send(self, answers: Sequence[bytes]) -> None:
        for data in answers:
            if data == HANG_UP:
                self._closed = True
                self._judge(Disconnected(HOUSE, CLIENT))
                continue
            self.received += data
            for item in self._client_codec.feed(data):
                self._judge(Sent(HOUSE, CLIENT, item))

    def _judge(self, event: Any, now: float = 0.0) -> None:
        self.verdicts += self._referee.on(event, now)
