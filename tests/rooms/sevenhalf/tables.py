"""A test table: one client at our house, with bytes as input and output."""

from croupier.core.bank import BankMove, BankState
from croupier.core.errors import Violation
from croupier.core.session import Closing, Drop, Event, Joined, Left, Malformed, Received, Send, Settle, TimedOut
from croupier.core.transcript import Transcript, house_settings, make_hall
from croupier.rooms.sevenhalf import ROOM
from croupier.rooms.sevenhalf.rules import SEVENHALF, SevenHalf


class Table:
    """One client at our house. `settled` has its net of each game, `states` the final states."""

    def __init__(self, deck: str = "", **head: str) -> None:
        transcript = Transcript("table", "a table", (), head | ({"deck": deck} if deck else {}), ())
        own = house_settings(ROOM, transcript)
        strict = head.get("strict") == "yes"
        self.settled: list[int] = []
        self.states: list[BankState] = []
        self.dropped = False
        self.now = 0.0
        self._hall = make_hall(ROOM, transcript)
        self._codec = ROOM.codec(strict, own)
        self._on(Joined(1))

    def send(self, *data: bytes) -> bytes:
        """Send bytes; return all bytes that the house answers."""
        answer = b""
        for item in self._codec.feed(b"".join(data)):
            answer += self._on(Malformed(1, item) if isinstance(item, Violation) else Received(1, item))
        return answer

    def wait(self, seconds: float) -> bytes:
        """Advance the clock, with a TimedOut if the deadline has passed."""
        self.now += seconds
        if self._hall.deadline is not None and self._hall.deadline <= self.now:
            return self._on(TimedOut())
        return b""

    def close(self, *, final: bool = False) -> bytes:
        return self._on(Closing(final))

    def disconnect(self) -> bytes:
        return self._on(Left(1))

    def _on(self, event: Event) -> bytes:
        answer = b""
        for effect in self._hall.on(event, self.now):
            match effect:
                case Send(_, message):
                    assert not self.dropped, "a dropped client must not get messages"
                    answer += self._codec.encode(message)
                case Settle(_, _, _, net, state):
                    self.settled.append(net)
                    self.states.append(state)
                case Drop():
                    assert not self.dropped, "a client must not be dropped twice"
                    self.dropped = True
                case _:
                    pass
        return answer


def state_after(*moves: BankMove, rules: SevenHalf = SEVENHALF, bet: int = 100) -> BankState:
    """The state of a game after these moves."""
    state = rules.start(bet)
    for move in moves:
        state = rules.play(state, move)
    return state
