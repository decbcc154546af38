"""An evening at a house: peers come, talk and go, time passes, the room may close; and all that came of it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from croupier.core.errors import Violation
from croupier.core.referee import RefereeObserver, Verdict
from croupier.core.room import HouseRoom
from croupier.core.session import Closing, Effect, Event, Joined, Left, Malformed, Peer, Received, Send, TimedOut
from croupier.core.transcript import Transcript, house_settings, make_hall
from tests.properties.inputs import bursts, garbles, messages

type Step = tuple[Any, ...]
"""A deed, who did it, and what: ("says", peer, message), ("bursts", peer, items), ("waits", seconds) and so on."""

GUESTS = 3


def steps(room: HouseRoom) -> SearchStrategy[list[Step]]:
    """What happens in an evening; not much of it is polite."""
    guests = st.integers(1, GUESTS)
    talk = st.tuples(st.just("says"), guests, messages(room))
    burst = st.tuples(st.just("bursts"), guests, bursts(room))
    garble = st.tuples(st.just("garbles"), guests, garbles(room))
    leave = st.tuples(st.just("leaves"), guests)
    wait = st.tuples(st.just("waits"), st.sampled_from([0.0, 0.5, 3.0, 11.0, 40.0]))
    halt = st.tuples(st.just("halts"), st.booleans())
    step = st.one_of(talk, talk, talk, burst, burst, garble, wait, leave, talk, st.one_of(wait, halt))
    return st.lists(step, max_size=40)


OWN: Mapping[str, Callable[[HouseRoom], Mapping[str, Sequence[str]]]] = {
    "kuhn": lambda room: {"coins": ["0", "1", "2", "10"], "bot": styles(room)},
    "sevenhalf": lambda room: {
        "bet": ["1", "100", "218959114"],
        "max_bet": ["1073741823", "218959115"],
        "once": ["yes"],
        "dialect": ["document", "lenient"],
    },
    "blackjack": lambda room: {
        "money": ["0", "1", "1000", "2147483647"],
        "decks": ["1", "2"],
        "ten": ["T", "X", "10"],
        "dialect": ["document", "char8"],
    },
}
"""What may be set about each house, besides its luck and its patience."""


def heads(room: HouseRoom) -> SearchStrategy[dict[str, str]]:
    """How a house may be set: its luck, its patience, and whatever the room has of its own."""
    own = {name: st.sampled_from(values) for name, values in OWN[room.name](room).items()}
    shared = {"seed": st.integers(0, 99).map(str), "idle": st.just("30")}
    return st.fixed_dictionaries(shared, optional={**own, "move": st.just("10")})


def styles(room: HouseRoom) -> list[str]:
    """The minds of the room: those that need no argument, and those that are given as examples."""
    found = []
    for name, style in room.bots.items():
        found += [f"{name}:{example}" for example in style.examples]
        with suppress(TypeError):
            style.make()
            found.append(name)
    return found


@dataclass
class Evening:
    """The facts of an evening: every event with the effects it had, and what the referees found."""

    room: HouseRoom
    head: Mapping[str, str]
    facts: list[tuple[Event[Any], tuple[Effect[Any], ...]]] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    referee: Callable[[], Any] | None = None

    def __post_init__(self) -> None:
        paper = Transcript("law", "a law", (), self.head, ())
        self._hall, own = make_hall(self.room, paper), house_settings(self.room, paper)
        self._bench = RefereeObserver(
            self.referee or partial(self.room.referee, own, False), lambda _, verdict: self.verdicts.append(verdict)
        )
        self._now = 0.0
        self._seated: set[Peer] = set()
        self._gone: set[Peer] = set()
        self._closed = False

    def spend(self, happening: Iterable[Step]) -> None:
        """Let it all happen, and then everybody leaves."""
        for step in happening:
            match step:
                case "waits", seconds:
                    self._now += seconds
                    self._on(TimedOut())
                case "halts", final:
                    self._closed = True
                    self._on(Closing(final))
                case deed, guest, *what if self._welcome(guest):
                    self._deed(deed, guest, *what)
                case _:
                    pass
        for guest in sorted(self._seated):
            self._deed("leaves", guest)

    def effects(self, kind: type, peer: Peer | None = None) -> list[Any]:
        """All effects of a kind, of one peer or of all of them."""
        return [
            effect
            for _, effects in self.facts
            for effect in effects
            if isinstance(effect, kind) and peer in (None, effect.peer)
        ]

    def heard(self, peer: Peer) -> bytes:
        """All bytes that a peer was sent."""
        codec = self.room.codec(False, None)
        return b"".join(codec.encode(say.message) for say in self.effects(Send, peer))

    def about(self, peer: Peer) -> list[Effect[Any]]:
        """Everything that was done about one peer, in order."""
        return [effect for _, effects in self.facts for effect in effects if effect.peer == peer]

    @property
    def guests(self) -> list[Peer]:
        return sorted(self._gone)

    def _welcome(self, guest: Peer) -> bool:
        """Whether the peer is at a table; it comes with the first thing it does, unless the room is closing."""
        if guest not in self._seated and guest not in self._gone and not self._closed:
            self._seated.add(guest)
            self._on(Joined(guest, ("192.0.2.1", guest)))
        return guest in self._seated

    def _deed(self, deed: str, guest: Peer, what: Any = None) -> None:
        match deed:
            case "leaves":
                self._seated.remove(guest)
                self._gone.add(guest)
                self._on(Left(guest))
            case "bursts":
                for item in what:
                    self._on(Malformed(guest, item) if isinstance(item, Violation) else Received(guest, item))
            case "says":
                self._on(Received(guest, what))
            case _:
                self._on(Malformed(guest, what))

    def _on(self, event: Event[Any]) -> None:
        effects = tuple(self._hall.on(event, self._now))
        self.facts.append((event, effects))
        self._bench(event, effects, self._now)


def evening(
    room: HouseRoom, head: Mapping[str, str], happening: Sequence[Step], referee: Callable[[], Any] | None = None
) -> Evening:
    """An evening from beginning to end, under the room's own referee or another one."""
    found = Evening(room, head, referee=referee)
    found.spend(happening)
    return found
