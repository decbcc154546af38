"""Properties of houses: conformance, settlement of games, promises, and independence of peers."""

from collections.abc import Mapping, Sequence
from hashlib import sha256

from croupier.core.dealer import FAIR_ALGORITHM, SCRIPTED_ALGORITHM
from croupier.core.referee import HOUSE
from croupier.core.room import HouseRoom
from croupier.core.rules import Turn
from croupier.core.session import Closing, Commit, Drop, Joined, Left, Received, Reveal, Send, Settle, TimedOut
from tests.properties.every_room import property_test
from tests.properties.random_session import Step, heads, run_session, steps

type Head = Mapping[str, str]
type Steps = Sequence[Step]


@property_test(150, heads, steps)
def test_house_never_violates_a_clause(room: HouseRoom, head: Head, actions: Steps) -> None:
    """The same sessions also show that it never raises."""
    assert [v for v in run_session(room, head, actions).verdicts if v.party == HOUSE] == []


@property_test(60, heads, steps)
def test_same_seed_sends_the_same_bytes(room: HouseRoom, head: Head, actions: Steps) -> None:
    first, second = run_session(room, head, actions), run_session(room, head, actions)
    assert [first.sent_bytes(peer) for peer in first.peers] == [second.sent_bytes(peer) for peer in second.peers]
    assert [effect.net for effect in first.effects(Settle)] == [effect.net for effect in second.effects(Settle)]
    assert first.effects(Reveal) == second.effects(Reveal)


@property_test(150, heads, steps)
def test_dropped_peer_gets_nothing_more(room: HouseRoom, head: Head, actions: Steps) -> None:
    session = run_session(room, head, actions)
    for peer in session.peers:
        effects = session.effects_for(peer)
        drops = [at for at, effect in enumerate(effects) if isinstance(effect, Drop)]
        assert len(drops) <= 1
        if drops:
            assert [type(effect) for effect in effects[drops[0] + 1 :]] == [Reveal]


@property_test(150, heads, steps)
def test_final_message_is_followed_by_a_drop(room: HouseRoom, head: Head, actions: Steps) -> None:
    for _, effects in run_session(room, head, actions).facts:
        for effect in effects:
            if isinstance(effect, Send) and effect.message in room.final_messages:
                assert Drop(effect.peer) in effects


@property_test(150, heads, steps)
def test_every_game_is_settled_exactly_once(room: HouseRoom, head: Head, actions: Steps) -> None:
    session = run_session(room, head, actions)
    for peer in session.peers:
        (reveal,) = session.effects(Reveal, peer)
        hands = [settle.hand_number for settle in session.effects(Settle, peer)]
        assert hands == list(range(1, reveal.hands + 1))


@property_test(150, heads, steps)
def test_finished_game_pays_according_to_its_rules(room: HouseRoom, head: Head, actions: Steps) -> None:
    for event, effects in run_session(room, head, actions).facts:
        for settle in (effect for effect in effects if isinstance(effect, Settle)):
            if room.rules.turn(settle.state) is Turn.OVER:
                assert settle.net == room.rules.payoff(settle.state)[settle.seat]
            elif isinstance(event, Closing):
                assert settle.net == 0, "a game that the house aborts is void"
            else:
                assert settle.net <= 0, "a game that the peer aborts is forfeited"


@property_test(100, heads, steps)
def test_promise_comes_first_and_is_kept(room: HouseRoom, head: Head, actions: Steps) -> None:
    session = run_session(room, head, actions)
    for peer in session.peers:
        first, *_, last = session.effects_for(peer)
        assert isinstance(first, Commit)
        assert isinstance(last, Reveal)
        assert len(session.effects(Commit, peer)) == len(session.effects(Reveal, peer)) == 1
        assert first.commitment == sha256(last.server_seed).digest()
        assert first.algorithm == last.algorithm in {FAIR_ALGORITHM, SCRIPTED_ALGORITHM}


@property_test(100, heads, steps)
def test_event_affects_only_its_own_peer(room: HouseRoom, head: Head, actions: Steps) -> None:
    for event, effects in run_session(room, head, actions).facts:
        if not isinstance(event, TimedOut | Closing):
            assert {effect.peer for effect in effects} <= {event.peer}


@property_test(100, heads, steps)
def test_peer_gets_the_same_bytes_alone_and_with_others(room: HouseRoom, head: Head, actions: Steps) -> None:
    """Tables are independent of each other."""
    together = run_session(room, head, actions)
    for peer in together.peers:
        own_actions = [step for step in actions if step[0] in {"waits", "halts"} or step[1] == peer]
        assert run_session(room, head, own_actions).sent_bytes(peer) == together.sent_bytes(peer)


@property_test(100, heads, steps)
def test_final_closing_drops_all_peers(room: HouseRoom, head: Head, actions: Steps) -> None:
    session = run_session(room, head, actions)
    events = [event for event, _ in session.facts]
    if Closing(True) in events:
        closed = events.index(Closing(True))
        before = [effect for _, effects in session.facts[: closed + 1] for effect in effects]
        seated = {e.peer for e in events[:closed] if isinstance(e, Joined)}
        left = {e.peer for e in events[:closed] if isinstance(e, Left)}
        assert {effect.peer for effect in before if isinstance(effect, Drop)} >= seated - left


@property_test(100, heads, steps)
def test_house_sends_only_final_messages_before_the_first_message_of_a_peer(
    room: HouseRoom, head: Head, actions: Steps
) -> None:
    senders = set()
    for event, effects in run_session(room, head, actions).facts:
        if isinstance(event, Received) or hasattr(event, "violation"):
            senders.add(event.peer)
        for send in (effect for effect in effects if isinstance(effect, Send)):
            assert send.peer in senders or send.message in room.final_messages
