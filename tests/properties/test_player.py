"""Properties of clients: every bot plays without violations, and no house can make a client raise."""

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
from tests.properties.every_room import every_room, property_test
from tests.properties.inputs import messages, random_violations
from tests.properties.random_session import ROOM_SETTINGS, bot_names
from tests.properties.self_play import SelfPlay

PURSE_SETTINGS = {"kuhn": "coins", "blackjack": "money"}
"""The settings for the coins of a purse."""


def new_client(room: HouseRoom) -> Any:
    return room.player(room.options())


@every_room
@pytest.mark.parametrize("games", [12, pytest.param(4_000, marks=pytest.mark.slow)], ids=["quick", "soak"])
@pytest.mark.parametrize("purse", ["3", "1000000"])
def test_all_pairs_of_bots_play_without_violations(room: HouseRoom, games: int, purse: str) -> None:
    houses = [{"bot": name} for name in bot_names(room)] if "bot" in ROOM_SETTINGS[room.name](room) else [{}]
    for number, (client_bot, house) in enumerate((a, b) for a in bot_names(room) for b in houses):
        head = {"seed": str(number), PURSE_SETTINGS.get(room.name, "seed"): purse, **house}
        self_play = SelfPlay(room, bot_factory(room.bots, client_bot)(), head)
        self_play.play(games)
        assert self_play.won == self_play.paid
        assert not any(isinstance(notice, Violation) for notice in self_play.notices)
        assert not [verdict for verdict in self_play.verdicts if verdict.party == HOUSE]
        assert len(self_play.won) == games or self_play.player.is_exhausted


@every_room
def test_default_bot_is_a_bot_of_the_room(room: HouseRoom) -> None:
    assert room.default_bot in bot_names(room)


def event_lists(room: HouseRoom) -> st.SearchStrategy[list[Any]]:
    """Random events of a client: messages, malformed input, its own decisions (integers), the end of the connection."""
    choice, reply = st.integers(0, 9), messages(room).map(lambda message: Received(HOUSE, message))
    end = st.sampled_from([Left(HOUSE), *(Received(HOUSE, message) for message in room.final_messages), Closing()])
    violation = random_violations(room).map(lambda violation: Malformed(HOUSE, violation))
    exchange = st.tuples(choice, reply)
    event = st.one_of(exchange, exchange, exchange, exchange, st.tuples(reply), st.tuples(violation), st.tuples(end))
    return st.lists(event, max_size=20).map(lambda events: list(chain.from_iterable(events)))


def run_client(room: HouseRoom, events: Sequence[Any]) -> list[tuple[Any, list[Any], Any]]:
    """Run a client; returns each event, its effects, and the legal messages then. An integer is a legal choice."""
    player = new_client(room)
    facts = [(Joined(HOUSE), list(player.on(Joined(HOUSE), 0.0)), ())]
    for number, item in enumerate(events):
        if isinstance(item, int) and not player.legal:
            continue
        event = Submitted(player.legal[item % len(player.legal)]) if isinstance(item, int) else item
        facts.append((event, list(player.on(event, float(number))), tuple(player.legal)))
        if isinstance(event, Left):
            break
    return facts


@property_test(300, event_lists)
def test_client_reports_the_first_violation_and_leaves(room: HouseRoom, events: Sequence[Any]) -> None:
    """Whatever the house sends, the client does not raise: it reports the clause, says goodbye, and closes."""
    closed, farewell_messages = False, new_client(room).FAREWELL_MESSAGES
    for event, effects, legal in run_client(room, events):
        violations = [e.notice for e in effects if isinstance(e, Notify) and isinstance(e.notice, Violation)]
        assert not (closed and violations)
        assert len(violations) <= 1
        if violations and not isinstance(event, Left):
            assert {Send(HOUSE, message) for message in farewell_messages} <= {*effects}
            assert Drop(HOUSE) in effects
        if closed:
            assert effects == ([Notify(event)] if isinstance(event, Left) else [])
        closed = closed or Drop(HOUSE) in effects or isinstance(event, Left)
        if closed:
            assert legal == ()


@property_test(300, event_lists)
def test_malformed_input_is_always_reported(room: HouseRoom, events: Sequence[Any]) -> None:
    closed = False
    for event, effects, _ in run_client(room, events):
        if isinstance(event, Malformed) and not closed:
            assert Notify(event.violation) in effects
        closed = closed or Drop(HOUSE) in effects


@property_test(300, event_lists)
def test_end_of_the_connection_is_notified_exactly_once(room: HouseRoom, events: Sequence[Any]) -> None:
    facts = run_client(room, events)
    notices = [e for _, effects, _ in facts for e in effects if isinstance(e, Notify) and isinstance(e.notice, Left)]
    assert len(notices) == len([event for event, _, _ in facts if isinstance(event, Left)])


@property_test(200, event_lists, messages)
def test_illegal_message_raises_and_changes_nothing(room: HouseRoom, events: Sequence[Any], message: Any) -> None:
    player = new_client(room)
    player.on(Joined(HOUSE), 0.0)
    for event in events:
        if isinstance(event, Received):
            player.on(event, 0.0)
        legal, deadline = player.legal, player.deadline
        if message not in legal and legal:
            with pytest.raises(IllegalMove) as refusal:
                player.on(Submitted(message), 0.0)
            assert refusal.value.allowed == tuple(legal)
            assert (player.legal, player.deadline) == (legal, deadline)
        elif isinstance(event, int) and legal:
            player.on(Submitted(legal[event % len(legal)]), 0.0)


@property_test(400, event_lists, lambda room: st.sampled_from(bot_names(room)))
def test_bots_choose_only_legal_messages(room: HouseRoom, events: Sequence[Any], bot_name: str) -> None:
    """After any events, `decide` returns a legal message or None."""
    bot = bot_factory(room.bots, bot_name)()
    random = FairDealer(derive_server_seed(1, "mind", 1)).luck
    player = new_client(room)
    player.on(Joined(HOUSE), 0.0)
    for event in events:
        message = player.decide(bot, random, 0)
        assert message is None or message in player.legal
        if not isinstance(event, int):
            player.on(event, 0.0)
        elif message is not None:
            player.on(Submitted(message), 0.0)
        if isinstance(event, Left):
            break
    assert player.legal or player.decide(bot, random, 0) is None


@property_test(200, event_lists)
def test_silence_of_the_house_is_a_violation(room: HouseRoom, events: Sequence[Any]) -> None:
    player = new_client(room)
    player.on(Joined(HOUSE), 0.0)
    for event in events:
        if isinstance(event, int) and player.legal:
            player.on(Submitted(player.legal[event % len(player.legal)]), 0.0)
        elif isinstance(event, Received):
            player.on(event, 0.0)
    if player.deadline is not None:
        effects = player.on(TimedOut(), player.deadline)
        assert [type(e.notice) for e in effects if isinstance(e, Notify)] == [Violation]
        assert player.deadline is None
