"""The laws of the house: whatever happens at its tables, it keeps its word, its books and its promises."""

from collections.abc import Mapping, Sequence
from hashlib import sha256

from croupier.core.dealer import FAIR_ALGORITHM, SCRIPTED_ALGORITHM
from croupier.core.referee import HOUSE
from croupier.core.room import HouseRoom
from croupier.core.rules import Turn
from croupier.core.session import Closing, Commit, Drop, Joined, Left, Received, Reveal, Send, Settle, TimedOut
from tests.properties.every_room import law
from tests.properties.random_session import Step, evening, heads, steps

type Head = Mapping[str, str]
type Steps = Sequence[Step]


@law(150, heads, steps)
def test_the_house_never_breaks_a_clause(room: HouseRoom, head: Head, happening: Steps) -> None:
    """And, for it is the same evening, it never raises."""
    assert [v for v in evening(room, head, happening).verdicts if v.end == HOUSE] == []


@law(60, heads, steps)
def test_the_same_seed_tells_everybody_the_same_bytes(room: HouseRoom, head: Head, happening: Steps) -> None:
    first, second = evening(room, head, happening), evening(room, head, happening)
    assert [first.heard(guest) for guest in first.guests] == [second.heard(guest) for guest in second.guests]
    assert [effect.net for effect in first.effects(Settle)] == [effect.net for effect in second.effects(Settle)]
    assert first.effects(Reveal) == second.effects(Reveal)


@law(150, heads, steps)
def test_who_was_dropped_is_told_nothing_more(room: HouseRoom, head: Head, happening: Steps) -> None:
    night = evening(room, head, happening)
    for guest in night.guests:
        about = night.about(guest)
        drops = [at for at, effect in enumerate(about) if isinstance(effect, Drop)]
        assert len(drops) <= 1
        if drops:
            assert [type(effect) for effect in about[drops[0] + 1 :]] == [Reveal]


@law(150, heads, steps)
def test_whoever_is_told_goodbye_is_dropped_at_once(room: HouseRoom, head: Head, happening: Steps) -> None:
    for _, effects in evening(room, head, happening).facts:
        for effect in effects:
            if isinstance(effect, Send) and effect.message in room.final_messages:
                assert Drop(effect.peer) in effects


@law(150, heads, steps)
def test_every_game_is_settled_exactly_once(room: HouseRoom, head: Head, happening: Steps) -> None:
    night = evening(room, head, happening)
    for guest in night.guests:
        (reveal,) = night.effects(Reveal, guest)
        hands = [settle.hand for settle in night.effects(Settle, guest)]
        assert hands == list(range(1, reveal.hands + 1))


@law(150, heads, steps)
def test_a_game_that_was_played_out_pays_what_its_rules_say(room: HouseRoom, head: Head, happening: Steps) -> None:
    for event, effects in evening(room, head, happening).facts:
        for settle in (effect for effect in effects if isinstance(effect, Settle)):
            if room.rules.turn(settle.state) is Turn.OVER:
                assert settle.net == room.rules.payoff(settle.state)[settle.seat]
            elif isinstance(event, Closing):
                assert settle.net == 0, "a game that the house breaks off is void"
            else:
                assert settle.net <= 0, "a game that the peer breaks off is forfeited"


@law(100, heads, steps)
def test_a_promise_comes_before_everything_and_is_kept(room: HouseRoom, head: Head, happening: Steps) -> None:
    night = evening(room, head, happening)
    for guest in night.guests:
        first, *_, last = night.about(guest)
        assert isinstance(first, Commit)
        assert isinstance(last, Reveal)
        assert len(night.effects(Commit, guest)) == len(night.effects(Reveal, guest)) == 1
        assert first.commitment == sha256(last.server_seed).digest()
        assert first.algorithm == last.algorithm in {FAIR_ALGORITHM, SCRIPTED_ALGORITHM}


@law(100, heads, steps)
def test_an_event_concerns_nobody_but_its_own_peer(room: HouseRoom, head: Head, happening: Steps) -> None:
    for event, effects in evening(room, head, happening).facts:
        if not isinstance(event, TimedOut | Closing):
            assert {effect.peer for effect in effects} <= {event.peer}


@law(100, heads, steps)
def test_a_peer_alone_hears_what_it_hears_in_company(room: HouseRoom, head: Head, happening: Steps) -> None:
    """No table learns anything from another one."""
    company = evening(room, head, happening)
    for guest in company.guests:
        own = [step for step in happening if step[0] in {"waits", "halts"} or step[1] == guest]
        assert evening(room, head, own).heard(guest) == company.heard(guest)


@law(100, heads, steps)
def test_the_room_is_empty_after_it_was_closed_for_good(room: HouseRoom, head: Head, happening: Steps) -> None:
    night = evening(room, head, happening)
    events = [event for event, _ in night.facts]
    if Closing(True) in events:
        closed = events.index(Closing(True))
        before = [effect for _, effects in night.facts[: closed + 1] for effect in effects]
        seated = {e.peer for e in events[:closed] if isinstance(e, Joined)}
        left = {e.peer for e in events[:closed] if isinstance(e, Left)}
        assert {effect.peer for effect in before if isinstance(effect, Drop)} >= seated - left


@law(100, heads, steps)
def test_nothing_is_said_before_the_peer_has_spoken_except_goodbye(
    room: HouseRoom, head: Head, happening: Steps
) -> None:
    spoken = set()
    for event, effects in evening(room, head, happening).facts:
        if isinstance(event, Received) or hasattr(event, "violation"):
            spoken.add(event.peer)
        for say in (effect for effect in effects if isinstance(effect, Send)):
            assert say.peer in spoken or say.message in room.final_messages
