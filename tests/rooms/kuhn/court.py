"""A court for Kuhn poker: a conversation on a wire, with an end that may break a rule, and the verdicts on it."""

from collections.abc import Callable, Mapping, Sequence

from croupier.core.errors import Violation
from croupier.core.judge import CLIENT, HOUSE, Verdict
from croupier.core.talk import Drop, Garbled, Joined, Left, Rang, Said, Say
from croupier.core.transcript import Transcript, hall
from croupier.rooms.kuhn import ROOM
from croupier.rooms.kuhn.referee import Referee
from croupier.rooms.kuhn.wire import Wire

HANG_UP = b"<the connection is closed>"
"""What stands for a close among the bytes of a house."""

GREETING = b""
"""What a house is given to answer when a client comes, before anything is said."""

type Habit = Callable[[bytes, list[bytes]], Sequence[bytes]]
"""What a house makes of its answers: the client's message and the honest answers in, what it sends out."""


def honest(said: bytes, answers: list[bytes]) -> Sequence[bytes]:
    return answers


class Court:
    """Our house behind a habit, a client that says its lines, and a referee between them."""

    def __init__(
        self, head: Mapping[str, str], habit: Habit = honest, coins: int | None = None, *, strict: bool = False
    ) -> None:
        self.verdicts: list[Verdict] = []
        self.heard = b""
        self._habit = habit
        self._hall = hall(ROOM, Transcript("court", "a hearing", (), head, ()))
        self._hall.on(Joined(1), 0.0)
        self._referee = Referee(coins)
        self._inward, self._outward, self._ears = Wire(strict=strict), Wire(strict=strict), Wire(strict=strict)
        self._closed = False
        self._send(habit(GREETING, []))

    def say(self, *lines: bytes) -> None:
        """The client says this; the house answers in its way, and the referee hears both."""
        for line in lines:
            for item in self._inward.feed(line):
                if self._closed:
                    return
                self._judge(Garbled(CLIENT, item) if isinstance(item, Violation) else Said(CLIENT, item))
                event = Garbled(1, item) if isinstance(item, Violation) else Said(1, item)
                self._send(self._habit(str(item).encode(), self._answers(event)))

    def leave(self) -> None:
        self._judge(Left(CLIENT))

    def wait(self) -> None:
        """Long enough for the referee's patience to end, and for the client to ask nothing more."""
        if self._referee.alarm is not None:
            self._judge(Rang(), self._referee.alarm)

    def _answers(self, event: Said | Garbled) -> list[bytes]:
        found = []
        for effect in self._hall.on(event, 0.0):
            match effect:
                case Say(_, message):
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
                self._judge(Garbled(HOUSE, item) if isinstance(item, Violation) else Said(HOUSE, item))

    def _judge(self, event: object, now: float = 0.0) -> None:
        self.verdicts += self._referee.on(event, now)

    def clauses(self, side: int) -> list[str]:
        """The clauses that one side broke, in order."""
        return [verdict.violation.clause for verdict in self.verdicts if verdict.side == side]
