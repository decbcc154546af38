"""A court: a conversation of one client on a wire, with an end that may break a rule, and the verdicts on it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE, Referee, Verdict
from croupier.core.room import HouseRoom
from croupier.core.session import Drop, Joined, Left, Malformed, Received, Send, TimedOut
from croupier.core.transcript import Transcript, house_settings, make_hall

HANG_UP = b"<the connection is closed>"
"""What stands for a close among the bytes of a house."""

GREETING = b""
"""What a house is given to answer when a client comes, before anything is said."""

type Habit = Callable[[bytes, list[bytes]], Sequence[bytes]]
"""What a house makes of its answers: the client's message and the honest answers in, what it sends out."""


def honest(said: bytes, answers: list[bytes]) -> Sequence[bytes]:
    return answers


def instead(said: bytes, *answers: bytes) -> Habit:
    """Answers one message of the client in its own way."""
    return lambda heard, honest: list(answers) if heard == said else honest


def rewritten(old: bytes, new: bytes) -> Habit:
    """Spells something in its own way."""
    return lambda heard, honest: [answer.replace(old, new) for answer in honest]


def without(missing: bytes) -> Habit:
    """Forgets to say something: an answer that is this or, in a protocol with longer ones, begins with it."""
    return lambda heard, honest: [answer for answer in honest if not answer.startswith(missing)]


def followed(said: bytes, *more: bytes) -> Habit:
    """Adds something to its answer to one message."""
    return lambda heard, honest: [*honest, *more] if heard == said else honest


def before(answer: bytes, *more: bytes) -> Habit:
    """Says something else first, before an answer that begins like this."""
    return lambda heard, honest: [found for a in honest for found in ([*more, a] if a.startswith(answer) else [a])]


class Court:
    """The room's house behind a habit, a client that says its lines, and a referee between them.

    The referee is the room's own for a house that is set like this, unless another one is called.
    """

    def __init__(
        self,
        room: HouseRoom,
        head: Mapping[str, str],
        habit: Habit = honest,
        referee: Referee[Any] | None = None,
        *,
        strict: bool = False,
    ) -> None:
        self.verdicts: list[Verdict] = []
        self.heard = b""
        paper = Transcript("court", "a hearing", (), {**head, "strict": "yes"} if strict else head, ())
        own = house_settings(room, paper)
        self._habit = habit
        self._hall = make_hall(room, paper)
        self._hall.on(Joined(1), 0.0)
        self._referee = referee or room.referee(own, strict)
        self._inward, self._outward, self._ears = (room.codec(strict, own) for _ in range(3))
        self._closed = False
        self._send(habit(GREETING, []))

    def say(self, *lines: bytes) -> None:
        """The client says this; the house answers in its way, and the referee hears both."""
        for line in lines:
            for item in self._inward.feed(line):
                if self._closed:
                    return
                self._judge(Malformed(CLIENT, item) if isinstance(item, Violation) else Received(CLIENT, item))
                self._send(self._habit(self._spelt(item), self._answers(item)))

    def leave(self) -> None:
        """The client hangs up."""
        self._judge(Left(CLIENT))

    def wait(self) -> None:
        """Long enough for the referee's patience to end, and for the client to ask nothing more."""
        if self._referee.deadline is not None:
            self._judge(TimedOut(), self._referee.deadline)

    def clauses(self, side: int) -> list[str]:
        """The clauses that one side broke, in order."""
        return [verdict.violation.clause for verdict in self.verdicts if verdict.end == side]

    def _spelt(self, item: Any) -> bytes:
        """A message as it is on the wire; what is none has no spelling but its fault."""
        return str(item).encode() if isinstance(item, Violation) else self._inward.encode(item)

    def _answers(self, item: Any) -> list[bytes]:
        found = []
        for effect in self._hall.on(Malformed(1, item) if isinstance(item, Violation) else Received(1, item), 0.0):
            match effect:
                case Send(_, message):
                    found.append(self._outward.encode(message))
                case Drop():
                    found.append(HANG_UP)
                case _:
                    pass
        return found

    def _send(self, answers: Sequence[bytes]) -> None:
        for data in answers:
            if data == HANG_UP:
                self._closed = True
                self._judge(Left(HOUSE))
                continue
            self.heard += data
            for item in self._ears.feed(data):
                self._judge(Malformed(HOUSE, item) if isinstance(item, Violation) else Received(HOUSE, item))

    def _judge(self, event: Any, now: float = 0.0) -> None:
        self.verdicts += self._referee.on(event, now)
