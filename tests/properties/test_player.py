"""The laws of the player: it plays with any mind without a fault, and survives any house."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import pytest
from hypothesis import strategies as st

from croupier.core.bots import bot_factory
from croupier.core.dealer import FairDealer, derive_server_seed
from croupier.core.errors import IllegalMove, Violation
from croupier.core.referee import HOUSE
from croupier.core.room import HouseRoom
from croupier.core.session import Closing, Drop, Joined, Left, Malformed, Notify, Received, Send, Submitted, TimedOut
from tests.properties.every_room import every_room, law
from tests.properties.inputs import garbles, messages
from tests.properties.random_session import OWN, styles
from tests.properties.self_play import Bout

PURSE = {"kuhn": "coins", "blackjack": "money"}
"""The settings that fill a purse."""


def guest(room: HouseRoom) -> Any:
    return room.player(room.options(), False)


@every_room
@pytest.mark.parametrize("games", [40, pytest.param(4_000, marks=pytest.mark.slow)], ids=["quick", "soak"])
@pytest.mark.parametrize("purse", ["3", "1000000"])
def test_every_mind_plays_every_mind_of_the_house_without_a_fault(room: HouseRoom, games: int, purse: str) -> None:
    houses = [{"bot": name} for name in styles(room)] if "bot" in OWN[room.name](room) else [{}]
    for number, (own, house) in enumerate((a, b) for a in styles(room) for b in houses):
        head = {"seed": str(number), PURSE.get(room.name, "seed"): purse, **house}
        bout = Bout(room, bot_factory(room.bots, own)(), head)
        bout.play(games)
        assert bout.won == bout.paid
        assert not any(isinstance(news, Violation) for news in bout.told)
        assert not [verdict for verdict in bout.verdicts if verdict.end == HOUSE]
        assert len(bout.won) == games or bout.player.is_exhausted


@every_room
def test_the_mind_of_a_room_is_one_of_its_styles(room: HouseRoom) -> None:
    assert room.default_bot in styles(room)


def happenings(room: HouseRoom) -> st.SearchStrategy[list[Any]]:
    """What may happen to a player: any message, garbage, its own decisions, the end of the house."""
    choice, answer = st.integers(0, 9), messages(room).map(lambda message: Received(HOUSE, message))
    end = st.sampled_from([Left(HOUSE), *(Received(HOUSE, word) for word in room.final_messages), Closing()])
    garble = garbles(room).map(lambda violation: Malformed(HOUSE, violation))
    exchange = st.tuples(choice, answer)
    event = st.one_of(exchange, exchange, exchange, exchange, st.tuples(answer), st.tuples(garble), st.tuples(end))
    return st.lists(event, max_size=20).map(lambda events: list(chain.from_iterable(events)))


def hear(room: HouseRoom, happening: Sequence[Any]) -> list[tuple[Any, list[Any], Any]]:
    """What a player does about it: each event with its effects, and what is legal then. A number is a legal choice."""
    player = guest(room)
    facts = [(Joined(HOUSE), list(player.on(Joined(HOUSE), 0.0)), ())]
    for number, what in enumerate(happening):
        if isinstance(what, int) and not player.legal:
            continue
        event = Submitted(player.legal[what % len(player.legal)]) if isinstance(what, int) else what
        facts.append((event, list(player.on(event, float(number))), tuple(player.legal)))
        if isinstance(event, Left):
            break
    return facts


@law(300, happenings)
def test_a_house_is_told_off_once_and_then_left(room: HouseRoom, happening: Sequence[Any]) -> None:
    """Whatever it says, the player does not raise: it tells us which clause was broken, says goodbye, and is closed."""
    closed, farewell = False, guest(room).FAREWELL
    for event, effects, legal in hear(room, happening):
        violations = [e.notice for e in effects if isinstance(e, Notify) and isinstance(e.notice, Violation)]
        assert not (closed and violations)
        assert len(violations) <= 1
        if violations and not isinstance(event, Left):
            assert {Send(HOUSE, word) for word in farewell} <= {*effects}
            assert Drop(HOUSE) in effects
        if closed:
            assert effects == ([Notify(event)] if isinstance(event, Left) else [])
        closed = closed or Drop(HOUSE) in effects or isinstance(event, Left)
        if closed:
            assert legal == ()


@law(300, happenings)
def test_garbage_is_always_a_fault_of_the_house(room: HouseRoom, happening: Sequence[Any]) -> None:
    closed = False
    for event, effects, _ in hear(room, happening):
        if isinstance(event, Malformed) and not closed:
            assert Notify(event.violation) in effects
        closed = closed or Drop(HOUSE) in effects


@law(300, happenings)
def test_its_end_is_told_exactly_once(room: HouseRoom, happening: Sequence[Any]) -> None:
    facts = hear(room, happening)
    told = [e for _, effects, _ in facts for e in effects if isinstance(e, Notify) and isinstance(e.notice, Left)]
    assert len(told) == len([event for event, _, _ in facts if isinstance(event, Left)])


@law(200, happenings, messages)
def test_what_is_not_legal_is_refused_and_changes_nothing(
    room: HouseRoom, happening: Sequence[Any], message: Any
) -> None:
    player = guest(room)
    player.on(Joined(HOUSE), 0.0)
    for event in happening:
        if isinstance(event, Received):
            player.on(event, 0.0)
        legal, alarm = player.legal, player.alarm
        if message not in legal and legal:
            with pytest.raises(IllegalMove) as refusal:
                player.on(Submitted(message), 0.0)
            assert refusal.value.allowed == tuple(legal)
            assert (player.legal, player.alarm) == (legal, alarm)
        elif isinstance(event, int) and legal:
            player.on(Submitted(legal[event % len(legal)]), 0.0)


@law(400, happenings, lambda room: st.sampled_from(styles(room)))
def test_a_mind_only_ever_says_what_is_legal(room: HouseRoom, happening: Sequence[Any], style: str) -> None:
    """Whatever the house has done, `decide` answers one of `legal`, or None."""
    mind = bot_factory(room.bots, style)()
    luck = FairDealer(derive_server_seed(1, "mind", 1)).luck
    player = guest(room)
    player.on(Joined(HOUSE), 0.0)
    for event in happening:
        choice = player.decide(mind, luck, 0)
        assert choice is None or choice in player.legal
        if not isinstance(event, int):
            player.on(event, 0.0)
        elif choice is not None:
            player.on(Submitted(choice), 0.0)
        if isinstance(event, Left):
            break
    assert player.legal or player.decide(mind, luck, 0) is None


@law(200, happenings)
def test_a_house_that_owes_an_answer_and_stays_silent_is_found_out(room: HouseRoom, happening: Sequence[Any]) -> None:
    player = guest(room)
    player.on(Joined(HOUSE), 0.0)
    for event in happening:
        if isinstance(event, int) and player.legal:
            player.on(Submitted(player.legal[event % len(player.legal)]), 0.0)
        elif isinstance(event, Received):
            player.on(event, 0.0)
    if player.alarm is not None:
        effects = player.on(TimedOut(), player.alarm)
        assert [type(e.notice) for e in effects if isinstance(e, Notify)] == [Violation]
        assert player.alarm is None
