"""Random sessions with a house: peers join, send and leave, time passes, and the room may close."""

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
from tests.properties.inputs import bursts, messages, random_violations

type Step = tuple[Any, ...]
"""An action with its peer and value: ("says", peer, message), ("bursts", peer, items), ("waits", seconds) and so on."""

PEER_COUNT = 3


def steps(room: HouseRoom) -> SearchStrategy[list[Step]]:
    """Random actions, many of them violations of the protocol."""
    peer_numbers = st.integers(1, PEER_COUNT)
    message = st.tuples(st.just("says"), peer_numbers, messages(room))
    burst = st.tuples(st.just("bursts"), peer_numbers, bursts(room))
    violation = st.tuples(st.just("garbles"), peer_numbers, random_violations(room))
    leave = st.tuples(st.just("leaves"), peer_numbers)
    wait = st.tuples(st.just("waits"), st.sampled_from([0.0, 0.5, 3.0, 11.0, 40.0]))
    close = st.tuples(st.just("halts"), st.booleans())
    step = st.one_of(message, message, message, burst, burst, violation, wait, leave, message, st.one_of(wait, close))
    return st.lists(step, max_size=40)


ROOM_SETTINGS: Mapping[str, Callable[[HouseRoom], Mapping[str, Sequence[str]]]] = {
    "kuhn": lambda room: {"coins": ["0", "1", "2", "10"], "bot": bot_names(room)},
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
"""The values of each house's settings to try, besides the seed and the timeouts."""


def heads(room: HouseRoom) -> SearchStrategy[dict[str, str]]:
    """Random heads of transcripts: a seed, timeouts, and settings of the room."""
    settings = {name: st.sampled_from(values) for name, values in ROOM_SETTINGS[room.name](room).items()}
    shared = {"seed": st.integers(0, 99).map(str), "idle": st.just("30")}
    return st.fixed_dictionaries(shared, optional={**settings, "move": st.just("10")})


def bot_names(room: HouseRoom) -> list[str]:
    """The names of the room's bots, with example arguments where they take one."""
    result = []
    for name, spec in room.bots.items():
        result += [f"{name}:{example}" for example in spec.examples]
        with suppress(TypeError):
            spec.make()
            result.append(name)
    return result


@dataclass
class RandomSession:
    """A recorded session: every event with its effects, and the verdicts of the referees."""

    room: HouseRoom
    head: Mapping[str, str]
    facts: list[tuple[Event[Any], tuple[Effect[Any], ...]]] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    referee: Callable[[], Any] | None = None

    def __post_init__(self) -> None:
        transcript = Transcript("sample", "a sample", (), self.head, ())
        self._hall, settings = make_hall(self.room, transcript), house_settings(self.room, transcript)
        self._observer = RefereeObserver(
            self.referee or partial(self.room.referee, settings, False),
            lambda _, verdict: self.verdicts.append(verdict),
        )
        self._now = 0.0
        self._connected: set[Peer] = set()
        self._left: set[Peer] = set()
        self._is_closing = False

    def run(self, actions: Iterable[Step]) -> None:
        """Perform all actions, then disconnect all peers."""
        for step in actions:
            match step:
                case "waits", seconds:
                    self._now += seconds
                    self._on(TimedOut())
                case "halts", final:
                    self._is_closing = True
                    self._on(Closing(final))
                case action, peer, *value if self._ensure_joined(peer):
                    self._perform(action, peer, *value)
                case _:
                    pass
        for peer in sorted(self._connected):
            self._perform("leaves", peer)

    def effects(self, kind: type, peer: Peer | None = None) -> list[Any]:
        """All effects of a type, for one peer or for all peers."""
        return [
            effect
            for _, effects in self.facts
            for effect in effects
            if isinstance(effect, kind) and peer in (None, effect.peer)
        ]

    def sent_bytes(self, peer: Peer) -> bytes:
        """All bytes sent to a peer."""
        codec = self.room.codec(False, None)
        return b"".join(codec.encode(send.message) for send in self.effects(Send, peer))

    def effects_for(self, peer: Peer) -> list[Effect[Any]]:
        """All effects for one peer, in order."""
        return [effect for _, effects in self.facts for effect in effects if effect.peer == peer]

    @property
    def peers(self) -> list[Peer]:
        return sorted(self._left)

    def _ensure_joined(self, peer: Peer) -> bool:
        """Whether the peer is connected; it joins before its first action, unless the room is closing."""
        if peer not in self._connected and peer not in self._left and not self._is_closing:
            self._connected.add(peer)
            self._on(Joined(peer, ("192.0.2.1", peer)))
        return peer in self._connected

    def _perform(self, action: str, peer: Peer, value: Any = None) -> None:
        match action:
            case "leaves":
                self._connected.remove(peer)
                self._left.add(peer)
                self._on(Left(peer))
            case "bursts":
                for item in value:
                    self._on(Malformed(peer, item) if isinstance(item, Violation) else Received(peer, item))
            case "says":
                self._on(Received(peer, value))
            case _:
                self._on(Malformed(peer, value))

    def _on(self, event: Event[Any]) -> None:
        effects = tuple(self._hall.on(event, self._now))
        self.facts.append((event, effects))
        self._observer(event, effects, self._now)


def run_session(
    room: HouseRoom, head: Mapping[str, str], actions: Sequence[Step], referee: Callable[[], Any] | None = None
) -> RandomSession:
    """Run a session to its end, with the room's own referee or another one."""
    result = RandomSession(room, head, referee=referee)
    result.run(actions)
    return result
