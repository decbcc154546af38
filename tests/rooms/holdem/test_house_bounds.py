"""Tests of the limits of a hold'em house: games per user, empty games, and lists of games."""

from typing import Any

import pytest

from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.table.persistence import RULES_LIMITED_GAMES, HouseInput
from croupier.rooms.holdem.wire import ACTION_BET, PLAYER_LEFT, Act, Close, Created, HoldemRequest, Join, Open
from tests.rooms.holdem.house_fixture import HouseFixture, duel, refused, seated

HOUR = 3600.0


def games(fixture: HouseFixture) -> list[str]:
    return [table.guid for table in fixture.house.games()]


# Games per user


def test_a_user_may_be_in_a_limited_number_of_games() -> None:
    """holdem-9.11"""
    fixture = HouseFixture(games_per_user=3)
    first, *_ = [fixture.open("ann") for _ in range(3)]
    assert refused(fixture.request(Open("ann"))) == (403, "holdem-9.11")
    assert refused(fixture.join("ann")) == (403, "holdem-9.11")
    assert refused(fixture.join("ann", game=first)) == (409, "holdem-3.7")
    fixture.leave("ann", first)
    assert seated(fixture.join("ann"))
    assert isinstance(fixture.request(Open("bob")), Created)


def test_queued_games_count_towards_the_limit() -> None:
    """holdem-9.11"""
    fixture = HouseFixture(games_per_user=1, seats=2)
    game = games(fixture)[0]
    fixture.join("ann", "bob", "cat", game=game)
    assert refused(fixture.request(Open("cat"))) == (403, "holdem-9.11")
    fixture.leave("cat", game)
    fixture.open("cat")


def test_lost_seats_do_not_count_towards_the_limit() -> None:
    """holdem-9.11: seats lost by a timeout and by losing the last chip."""
    fixture = duel(games_per_user=1)
    fixture.play("ann 9990, bob 9980")
    assert fixture.chips() == {"ann": 20_000}
    fixture.open("bob")
    fixture = duel(games_per_user=1)
    fixture.wait(15)
    fixture.open("ann")


def test_the_limit_of_games_per_user_can_be_disabled() -> None:
    fixture = HouseFixture(games_per_user=0)
    assert len({fixture.open("ann") for _ in range(100)}) == 100


def test_one_user_cannot_fill_the_house() -> None:
    """holdem-3.3, holdem-9.11"""
    fixture = HouseFixture(games=50)
    for _ in range(200):
        fixture.request(Open("ann"))
    assert len(games(fixture)) == 1 + Settings().games_per_user
    assert isinstance(fixture.request(Open("bob")), Created)


# Closed accounts


def test_closing_an_account_leaves_all_seats_and_queues() -> None:
    """holdem-9.13"""
    fixture = HouseFixture(seats=2)
    lobby = games(fixture)[0]
    own = fixture.open("ann")
    fixture.join("bob", "cat", "ann", game=lobby)
    fixture.join("dan", game=own)
    fixture.play("ann 10, dan 0, dan 40", own)
    assert fixture.turn(own) == "ann"
    assert fixture.request(Close("ann")) == PLAYER_LEFT
    assert fixture.chips(own) == {"dan": 10_020}
    assert fixture.nets[-1] == (-20, 20)
    assert "ann" not in fixture.house.users
    assert fixture.house.game(lobby) is not None
    assert len(fixture.table(lobby).seats.participants) == 2


def test_closing_an_account_without_games_changes_nothing() -> None:
    fixture = duel()
    before = fixture.house.snapshot()
    assert fixture.request(Close("eve")) == PLAYER_LEFT
    assert fixture.house.snapshot() == before


def test_closing_an_account_removes_the_games_it_opened() -> None:
    """holdem-9.13"""
    fixture = HouseFixture(games=100, games_per_user=0)
    for _ in range(99):
        fixture.open("ann")
    assert refused(fixture.request(Open("bob"))) == (503, "holdem-3.3")
    fixture.request(Close("ann"))
    assert len(games(fixture)) == 1
    fixture.open("bob")


# Empty games


def house_with_empty_game(**settings: Any) -> tuple[HouseFixture, list[str]]:
    """Return a house with a full game, and an empty one that has the only free seats."""
    fixture = HouseFixture(seats=2, **settings)
    first = games(fixture)[0]
    fixture.join("ann", "bob", game=first)
    second = games(fixture)[1]
    assert not fixture.table(second).seats.participants
    return fixture, [first, second]


def test_a_game_empty_for_an_hour_is_removed_if_another_has_a_free_seat() -> None:
    """holdem-3.4"""
    fixture, (first, second) = house_with_empty_game()
    fixture.leave("bob", first)
    fixture.wait(HOUR - 1)
    assert games(fixture) == [first, second]
    fixture.wait(1)
    assert games(fixture) == [first]
    assert fixture.versions[-1][0] == second


def test_the_only_game_with_a_free_seat_expires_when_another_has_one() -> None:
    """holdem-3.2, holdem-3.4"""
    fixture, (first, second) = house_with_empty_game(turn_seconds=10 * HOUR)
    fixture.wait(2 * HOUR)
    assert games(fixture) == [first, second]
    fixture.leave("bob", first)
    assert games(fixture) == [first]


def test_a_game_that_is_joined_in_time_stays() -> None:
    """holdem-3.4"""
    fixture, (first, second) = house_with_empty_game(turn_seconds=10 * HOUR)
    fixture.leave("bob", first)
    fixture.wait(HOUR / 2)
    fixture.join("bob", game=second)
    fixture.wait(2 * HOUR)
    assert games(fixture) == [first, second]


def test_the_only_free_game_stays_if_joined_after_its_expiry() -> None:
    fixture, (first, second) = house_with_empty_game(turn_seconds=10 * HOUR)
    fixture.wait(2 * HOUR)
    fixture.join("cat", game=second)
    fixture.leave("bob", first)
    fixture.wait(2 * HOUR)
    assert games(fixture) == [first, second]


def test_the_expiry_of_empty_games_can_be_disabled() -> None:
    fixture, found = house_with_empty_game(empty_seconds=0.0)
    fixture.leave("bob", found[0])
    fixture.wait(1000 * HOUR)
    assert games(fixture) == found


def test_an_idle_house_has_only_one_deadline() -> None:
    """After the expiry of its only game, an empty house has no deadline."""
    fixture = HouseFixture()
    fixture.wait(HOUR)
    assert len(games(fixture)) == 1
    assert fixture.house.deadline is None
    assert fixture.facts == []


@pytest.mark.parametrize("hours", [0.5, 1.5])
def test_a_restored_house_expires_the_same_games(hours: float) -> None:
    fixture, (first, second) = house_with_empty_game(turn_seconds=10 * HOUR)
    before = fixture.house
    fixture.wait(hours * HOUR)
    fixture.restart()
    for house_input in (HouseInput(2 * HOUR), HouseInput(2.5 * HOUR, Close("bob")), HouseInput(9 * HOUR)):
        assert fixture.house.apply(house_input) == before.apply(house_input)
        assert fixture.house.snapshot() == before.snapshot()
    assert games(fixture) == [first]
    assert second


# Journals


def journal(fixture: HouseFixture, *, rules: int) -> list[bytes]:
    """Return the journal of a house in which ann opens thirty games, and bob joins and plays in each."""
    inputs = [HouseInput(0.0, opened=True, rules=rules)]
    fixture.house.apply(inputs[0])

    def send(now: float, request: HoldemRequest) -> None:
        inputs.append(HouseInput(now, request))
        fixture.house.apply(inputs[-1])

    for number in range(30):
        send(float(number), Open("ann"))
    for table in fixture.house.games():
        send(100.0, Join("bob", table.guid))
        send(100.0, Act("ann", table.guid, fixture.house.guid_of("ann"), ACTION_BET, 10))
    send(3 * HOUR, Join("cat", games(fixture)[0]))
    return [each.to_json() for each in inputs]


def test_journals_of_the_former_rules_replay_under_those_rules() -> None:
    """A journal of a version without limits is replayed without limits."""
    fixture = HouseFixture(turn_seconds=10 * HOUR)
    entries = journal(fixture, rules=1)
    assert len(games(fixture)) == 31
    assert b'"rules"' not in b"".join(entries)
    again = HouseFixture(turn_seconds=10 * HOUR)
    for entry in entries:
        again.house.apply(HouseInput.from_json(entry))
    assert again.house.snapshot() == fixture.house.snapshot()


def test_a_journal_of_the_former_rules_continues_under_the_current_rules() -> None:
    fixture = HouseFixture(turn_seconds=10 * HOUR)
    for entry in journal(fixture, rules=1):
        fixture.house.apply(HouseInput.from_json(entry))
    fixture.now = 4 * HOUR
    fixture.house.apply(HouseInput(fixture.now, opened=True, rules=RULES_LIMITED_GAMES))
    assert refused(fixture.request(Open("ann"))) == (403, "holdem-9.11")
    fixture.request(Close("ann"))
    fixture.request(Close("bob"))
    assert len(games(fixture)) == 1


def test_replaying_a_journal_with_limits_restores_the_house() -> None:
    fixture = HouseFixture(turn_seconds=10 * HOUR)
    entries = journal(fixture, rules=RULES_LIMITED_GAMES)
    assert len(games(fixture)) == 21
    entries += [HouseInput(5 * HOUR, Close("ann")).to_json(), HouseInput(6 * HOUR).to_json()]
    fixture.house.apply(HouseInput.from_json(entries[-2]))
    fixture.house.apply(HouseInput.from_json(entries[-1]))
    again = HouseFixture(turn_seconds=10 * HOUR)
    for entry in entries:
        again.house.apply(HouseInput.from_json(entry))
    assert again.house.snapshot() == fixture.house.snapshot()
