"""A table of our house, to be spoken to in bytes, and what comes of it."""

from croupier.core.bank import BankState
from croupier.core.errors import Violation
from croupier.core.session import Closing, Drop, Event, Joined, Left, Malformed, Received, Send, Settle, TimedOut
from croupier.core.transcript import Transcript, house_settings, make_hall
from croupier.rooms.sevenhalf import ROOM


class Table:
    """One client at our house. `settled` holds what it has won game by game, `states` where the rules ended."""

    def __init__(self, deck: str = "", **head: str) -> None:
        paper = Transcript("table", "a table", (), head | ({"deck": deck} if deck else {}), ())
        own = house_settings(ROOM, paper)
        strict = head.get("strict") == "yes"
        self.settled: list[int] = []
        self.states: list[BankState] = []
        self.dropped = False
        self.now = 0.0
        self._hall = make_hall(ROOM, paper)
        self._codec = ROOM.codec(strict, own)
        self._on(Joined(1))

    def says(self, *data: bytes) -> bytes:
        """All that the house answers."""
        answer = b""
        for item in self._codec.feed(b"".join(data)):
            answer += self._on(Malformed(1, item) if isinstance(item, Violation) else Received(1, item))
        return answer

    def waits(self, seconds: float) -> bytes:
        """Let time pass; the alarm rings when it is due."""
        self.now += seconds
        if self._hall.deadline is not None and self._hall.deadline <= self.now:
            return self._on(TimedOut())
        return b""

    def closes(self, *, final: bool = False) -> bytes:
        return self._on(Closing(final))

    def leaves(self) -> bytes:
        return self._on(Left(1))

    def _on(self, event: Event) -> bytes:
        answer = b""
        for effect in self._hall.on(event, self.now):
            match effect:
                case Send(_, message):
                    assert not self.dropped, "nothing is said to a client that was dropped"
                    answer += self._codec.encode(message)
                case Settle(_, _, _, net, state):
                    self.settled.append(net)
                    self.states.append(state)
                case Drop():
                    assert not self.dropped, "nobody is dropped twice"
                    self.dropped = True
                case _:
                    pass
        return answer
