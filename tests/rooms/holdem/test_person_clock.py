"""People keep their seats when their time is over: a time bank, checks and folds, and an end to being away."""

import pytest

from croupier.rooms.holdem.table.person_clock import (
    AWAY_TURN_SECONDS,
    MAX_MISSED_BLINDS,
    SHOWDOWN_SECONDS,
    TIME_BANK_SECONDS,
    TIME_BANK_SECONDS_PER_HAND,
    PersonClock,
)
from croupier.rooms.holdem.wire import ACT_DONE, ActDone, ComeBack, Created, Join, RequestRefused
from tests.rooms.holdem.house_fixture import HouseFixture

TURN_SECONDS = 15.0


def seated(fixture: HouseFixture, *names: str, people: str) -> str:
    """Seat players at the first table; those of `people` are people. Return the game."""
    game = fixture.house.games()[0].guid
    for name in names:
        assert isinstance(fixture.request(Join(name, game, is_person=name in people.split())), Created)
    return game


def turn_seconds(fixture: HouseFixture) -> float:
    deadline = fixture.house.games()[0].deadline
    assert deadline is not None
    return deadline - fixture.now


def bob_calls_until_ann_is_to_act(fixture: HouseFixture) -> None:
    while fixture.turn() != "ann":
        turn = fixture.view().turn
        fixture.bet("bob", turn.bet_to_player - turn.bet_so_far)


def test_a_person_has_a_time_bank_and_a_program_has_none() -> None:
    fixture = HouseFixture()
    seated(fixture, "ann", "bob", people="ann")
    assert fixture.turn() == "ann"
    assert turn_seconds(fixture) == TURN_SECONDS + TIME_BANK_SECONDS
    fixture.now += TURN_SECONDS + 10
    fixture.bet("ann", 10)
    assert (fixture.turn(), turn_seconds(fixture)) == ("bob", TURN_SECONDS)
    fixture.bet("bob", 0)
    fixture.bet("bob", 0)
    assert (fixture.turn(), turn_seconds(fixture)) == ("ann", TURN_SECONDS + TIME_BANK_SECONDS - 10)


def test_a_person_whose_time_is_over_checks_or_folds_and_keeps_the_seat() -> None:
    fixture = HouseFixture()
    seated(fixture, "ann", "bob", people="ann bob")
    fixture.bet("ann", 10)
    assert fixture.turn() == "bob"
    fixture.wait(TURN_SECONDS + TIME_BANK_SECONDS)
    assert fixture.view().cards.flop is not None  # the big blind has checked
    fixture.bet("bob", 20)
    fixture.wait(TURN_SECONDS + TIME_BANK_SECONDS)
    assert fixture.view().cards.flop is None  # the small blind has folded, and the next hand has begun
    assert len(fixture.house.games()[0].seats.participants) == 2


def test_a_program_whose_time_is_over_still_loses_the_seat() -> None:
    fixture = HouseFixture()
    seated(fixture, "ann", "bob", people="bob")
    fixture.wait(TURN_SECONDS)
    assert [*fixture.house.users] == ["bob"]


def test_a_person_is_away_after_two_turns_until_they_come_back() -> None:
    fixture = HouseFixture()
    game = seated(fixture, "ann", "bob", people="ann")
    table = fixture.house.games()[0]
    for _ in range(2):
        bob_calls_until_ann_is_to_act(fixture)
        fixture.wait(turn_seconds(fixture))
    ann = fixture.house.guid_of("ann")
    assert ann in table.shown.away
    bob_calls_until_ann_is_to_act(fixture)
    assert turn_seconds(fixture) == AWAY_TURN_SECONDS
    assert fixture.request(ComeBack("ann", game, ann)) == ACT_DONE
    assert ann not in table.shown.away
    assert isinstance(fixture.request(ComeBack("bob", game, fixture.house.guid_of("bob"))), ActDone)
    assert isinstance(fixture.request(ComeBack("bob", game, ann)), RequestRefused)


@pytest.mark.parametrize(
    ("people", "pause_seconds", "expected"), [("", 0.0, None), ("ann", 0.0, SHOWDOWN_SECONDS), ("ann bob", 5.0, 5.0)]
)
def test_people_see_the_cards_of_a_showdown(people: str, pause_seconds: float, expected: float | None) -> None:
    fixture = HouseFixture(pause_seconds=pause_seconds)
    seated(fixture, "ann", "bob", people=people)
    for user in ("ann", "bob", *["bob", "ann"] * 3):
        turn = fixture.view().turn
        fixture.bet(user, turn.bet_to_player - turn.bet_so_far)
    table = fixture.house.games()[0]
    assert table.hand is not None
    if expected is None:
        assert not table.hand.over  # the next hand has begun
    else:
        assert len(table.hand.showdown_order) == 2
        assert turn_seconds(fixture) == expected
        fixture.wait(expected)
        assert not table.hand.over


def test_a_hand_without_a_showdown_is_not_shown_to_people() -> None:
    fixture = HouseFixture()
    seated(fixture, "ann", "bob", people="ann bob")
    fixture.fold("ann")
    assert fixture.view().cards.flop is None
    assert fixture.turn() == "bob"


def test_people_who_stay_away_lose_their_seats() -> None:
    fixture = HouseFixture(stack=100_000)
    seated(fixture, "ann", "bob", people="ann bob")
    fixture.wait(1000)
    assert len(fixture.house.users) == 1
    assert len(fixture.nets) > MAX_MISSED_BLINDS


def test_the_clock_of_a_person_survives_a_restart() -> None:
    fixture = HouseFixture()
    seated(fixture, "ann", "bob", people="ann")
    fixture.now += TURN_SECONDS + 20
    fixture.bet("ann", 10)
    before = fixture.house.games()[0].seats.by_user("ann")
    fixture.restart()
    after = fixture.house.games()[0].seats.by_user("ann")
    assert before is not None
    assert after is not None
    assert before.person == after.person == PersonClock(bank=TIME_BANK_SECONDS - 20)


@pytest.mark.parametrize(("bank", "left", "expected"), [(60, 70, 60), (60, 60, 60), (60, 25, 25), (60, -1, 0)])
def test_the_time_bank_pays_only_for_what_a_turn_takes_too_long(bank: float, left: float, expected: float) -> None:
    clock = PersonClock(bank)
    clock.act(left)
    assert clock.bank == expected


def test_the_time_bank_grows_with_hands_up_to_its_maximum() -> None:
    clock = PersonClock(bank=TIME_BANK_SECONDS - 7)
    clock.begin_hand(is_big_blind=True)
    assert clock.bank == TIME_BANK_SECONDS - 7 + TIME_BANK_SECONDS_PER_HAND
    clock.begin_hand(is_big_blind=True)
    assert (clock.bank, clock.missed_blinds) == (TIME_BANK_SECONDS, 0)
    for _ in range(2):
        clock.time_out()
    for _ in range(MAX_MISSED_BLINDS):
        assert not clock.has_left
        clock.begin_hand(is_big_blind=True)
    assert clock.has_left
