"""Tests of the hold'em house: users, games, permissions and deadlines."""

import re
from typing import Any

import pytest

from croupier.core.dealer import FairDealer
from croupier.core.session import TimedOut
from croupier.rooms.holdem.house import House
from croupier.rooms.holdem.wire import ACTION_BET, PLAYER_LEFT, Act, Created, HoldemRequest, Join, Leave, Open, Queued
from tests.rooms.holdem.house_fixture import HouseFixture, refused, seated

GUID = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"


def everything(fixture: HouseFixture) -> list[Any]:
    """Return all views of all users."""
    users = (None, "ann", "bob", "cat", "dan")
    return [fixture.json_view(user, table.guid) for table in fixture.house.games() for user in users]


# Users


def test_a_user_has_one_guid_for_all_their_players() -> None:
    """holdem-2.3, holdem-3.5, holdem-3.6"""
    fixture = HouseFixture(seats=2)
    guid = fixture.house.guid_of("ann")
    assert fixture.house.guid_of("ann") == guid
    assert fixture.house.guid_of("Ann") != guid
    first = fixture.table().guid
    assert fixture.join("ann", game=first) == Created(guid, first)
    fixture.join("bob", game=first)
    assert fixture.join("cat", game=first) == Queued(fixture.house.guid_of("cat"), first)
    assert fixture.table(first).player_guid("cat") == fixture.house.guid_of("cat")
    assert fixture.table(first).player_guid("dan") is None


def test_guids_are_lower_case_uuids_derived_from_the_secret() -> None:
    """holdem-2.3"""
    fixture = HouseFixture()
    guids = [fixture.house.guid_of(str(number)) for number in range(300)]
    assert len({*guids, fixture.table().guid}) == 301
    assert all(re.fullmatch(GUID, guid) for guid in guids)
    other = HouseFixture(seed=2)
    assert other.house.guid_of("0") != guids[0]
    assert HouseFixture().house.guid_of("0") == guids[0]


# Games


def test_there_is_a_game_from_the_start() -> None:
    """holdem-3.2"""
    assert len(HouseFixture().house.games()) == 1


def test_there_is_always_a_game_with_a_free_seat() -> None:
    """holdem-3.2"""
    fixture = HouseFixture(seats=2)
    first = fixture.table().guid
    fixture.join("ann", game=first)
    assert len(fixture.house.games()) == 1
    fixture.join("bob", game=first)
    old, new = fixture.house.games()
    assert (old.guid, old.has_free_seat, new.has_free_seat) == (first, False, True)
    assert (new.guid, new.version) in fixture.versions
    fixture.join("cat", game=first)
    assert len(fixture.house.games()) == 2


def test_opening_a_game_seats_its_creator() -> None:
    """holdem-3.3"""
    fixture = HouseFixture()
    answer = fixture.request(Open("ann"))
    assert isinstance(answer, Created)
    assert answer == Created(fixture.house.guid_of("ann"), answer.game, is_new_game=True)
    assert [table.guid for table in fixture.house.games()][1:] == [answer.game]
    assert fixture.chips(answer.game) == {"ann": 10_000}
    assert fixture.versions == [(answer.game, 2)]


def test_opening_more_games_than_allowed_is_refused() -> None:
    """holdem-3.3"""
    fixture = HouseFixture(games=3)
    fixture.open("ann")
    fixture.open("ann")
    assert refused(fixture.request(Open("ann"))) == (503, "holdem-3.3")
    assert len(fixture.house.games()) == 3


def test_an_abandoned_game_is_removed_if_another_has_a_free_seat() -> None:
    """holdem-3.4"""
    fixture = HouseFixture()
    game = fixture.open("ann")
    fixture.facts.clear()
    table = fixture.table(game)
    assert fixture.leave("ann", game) == PLAYER_LEFT
    assert fixture.house.game(game) is None
    assert fixture.versions == [(game, table.version)]
    assert refused(fixture.request(Join("ann", game))) == (404, "holdem-8.4")


def test_an_abandoned_game_stays_if_it_has_the_only_free_seat() -> None:
    """holdem-3.4"""
    fixture = HouseFixture(seats=2)
    first = fixture.table().guid
    fixture.join("ann", game=first)
    fixture.leave("ann", first)
    assert [table.guid for table in fixture.house.games()] == [first]


def test_a_game_that_no_player_has_joined_yet_stays() -> None:
    """holdem-3.4"""
    fixture = HouseFixture()
    first = fixture.table().guid
    game = fixture.open("ann")
    fixture.leave("ann", game)
    assert [table.guid for table in fixture.house.games()] == [first]


def test_a_game_with_a_queue_stays() -> None:
    """holdem-3.4: both players leave, one after the other, and the queue takes their seats."""
    fixture = HouseFixture(seats=2)
    first = fixture.table().guid
    fixture.join("ann", "bob", "cat", game=first)
    fixture.leave("ann", first)
    fixture.leave("bob", first)
    assert fixture.chips(first) == {"cat": 10_010}
    fixture.leave("cat", first)
    assert fixture.house.game(first) is None


def test_a_game_emptied_by_timeouts_is_removed() -> None:
    """holdem-3.4, holdem-4.16"""
    fixture = HouseFixture()
    game = fixture.open("ann")
    fixture.join("bob", game=game)
    fixture.wait(15)
    assert fixture.chips(game) == {"bob": 10_010}
    fixture.leave("bob", game)
    assert fixture.house.game(game) is None
    fixture.wait(1000)


def test_a_game_abandoned_during_a_pause_is_removed_with_its_deadline() -> None:
    """holdem-3.4"""
    fixture = HouseFixture(pause_seconds=3.0)
    game = fixture.open("ann")
    fixture.join("bob", game=game)
    fixture.play("ann fold", game)
    fixture.join("cat", game=game)
    for user in ("ann", "bob", "cat"):
        fixture.leave(user, game)
    assert fixture.house.game(game) is None
    assert fixture.versions[-1][0] == game
    fixture.wait(100)
    assert not any(table.playing for table in fixture.house.games())


def test_a_user_may_be_in_many_games_at_once() -> None:
    """holdem-3.8"""
    fixture = HouseFixture()
    games = [fixture.table().guid, fixture.open("ann")]
    fixture.join("ann", game=games[0])
    for game in games:
        fixture.join("bob", game=game)
    holes = [fixture.json_view("ann", game)["cards"]["hole"] for game in games]
    assert [len(hole) for hole in holes] == [2, 2]
    assert holes[0] != holes[1]
    fixture.leave("ann", games[0])
    assert fixture.turn(games[1]) == "ann"


def test_a_player_broke_by_the_hand_started_on_joining_has_joined() -> None:
    """holdem-3.5, holdem-3.13: the blinds are larger than the stacks."""
    fixture = HouseFixture("AS 2C AH 2D KS QH 9C 8D 4H", stack=5)
    fixture.join("ann")
    assert seated(fixture.join("bob"))
    assert fixture.nets == [(5, -5)]
    assert fixture.chips() == {"ann": 10}
    assert refused(fixture.leave("bob")) == (404, "holdem-8.5")


# Refusals


REFUSED: dict[str, tuple[tuple[int, str], Any]] = {
    "an unknown game is joined": ((404, "holdem-8.4"), lambda game, guid: Join("dan", "nonsense")),
    "an act in an unknown game": ((404, "holdem-8.4"), lambda game, guid: Act("ann", "", guid("ann"), ACTION_BET, 20)),
    "an unknown game is left": ((404, "holdem-8.4"), lambda game, guid: Leave("ann", game[:-1], guid("ann"))),
    "an unknown player acts": ((404, "holdem-8.5"), lambda game, guid: Act("ann", game, "x" * 1000, ACTION_BET, 20)),
    "an unknown player leaves": ((404, "holdem-8.5"), lambda game, guid: Leave("ann", game, "\n")),
    "a user acts who is not in the game": ((404, "holdem-8.5"), lambda game, guid: Act("dan", game, guid("dan"), 0)),
    "a user leaves who is not in the game": ((404, "holdem-8.5"), lambda game, guid: Leave("dan", game, guid("dan"))),
    "an act for another": ((403, "holdem-8.8"), lambda game, guid: Act("bob", game, guid("ann"), ACTION_BET, 10)),
    "an act of another user for a player": ((403, "holdem-8.8"), lambda game, guid: Act("dan", game, guid("ann"), 0)),
    "another is removed": ((403, "holdem-8.8"), lambda game, guid: Leave("bob", game, guid("ann"))),
    "a player joins again": ((409, "holdem-3.7"), lambda game, guid: Join("ann", game)),
    "who waits joins again": ((409, "holdem-3.7"), lambda game, guid: Join("cat", game)),
    "an act out of turn": ((403, "holdem-4.13"), lambda game, guid: Act("bob", game, guid("bob"), ACTION_BET, 10)),
    "a fold out of turn": ((403, "holdem-4.13"), lambda game, guid: Act("bob", game, guid("bob"), 0)),
    "an act of who waits": ((403, "holdem-4.13"), lambda game, guid: Act("cat", game, guid("cat"), ACTION_BET, 10)),
}


@pytest.mark.parametrize("dialect", ["readme", "hspe-go"])
@pytest.mark.parametrize("case", REFUSED)
def test_refused_requests_change_nothing(case: str, dialect: str) -> None:
    """holdem-8.1, holdem-8.2, holdem-7.4: ann is to act, bob plays, cat waits for the next hand."""
    expected, made = REFUSED[case]
    fixture = HouseFixture(dialect=dialect)
    fixture.join("ann", "bob", "cat")
    before = everything(fixture)
    versions = [*fixture.versions]
    fixture.now += 1
    request: HoldemRequest = made(fixture.table().guid, fixture.house.guid_of)
    if dialect == "hspe-go" and expected == (403, "holdem-4.13"):
        expected = (409, "holdem-7.4")
    assert refused(fixture.request(request)) == expected
    assert everything(fixture) == before
    assert fixture.versions == versions


def test_a_turn_allows_one_act() -> None:
    """holdem-4.14"""
    fixture = HouseFixture()
    fixture.join("ann", "bob")
    fixture.play("ann 10")
    assert refused(fixture.bet("ann", 10)) == (403, "holdem-4.13")


def test_queued_players_cannot_act_and_can_leave() -> None:
    """holdem-3.6, holdem-3.7, holdem-3.12, holdem-4.13"""
    fixture = HouseFixture(seats=2)
    game = fixture.table().guid
    assert [seated(fixture.join(user, game=game)) for user in ("ann", "bob", "cat")] == [True, True, False]
    assert refused(fixture.bet("cat", 10, game)) == (403, "holdem-4.13")
    assert refused(fixture.join("cat", game=game)) == (409, "holdem-3.7")
    assert fixture.leave("cat", game) == PLAYER_LEFT
    assert refused(fixture.leave("cat", game)) == (404, "holdem-8.5")
    fixture.leave("ann", game)
    assert fixture.chips(game) == {"bob": 10_010}


def test_a_player_who_left_may_rejoin_with_new_chips() -> None:
    """holdem-3.14"""
    fixture = HouseFixture()
    fixture.join("ann", "bob")
    assert fixture.leave("ann") == PLAYER_LEFT
    assert refused(fixture.leave("ann")) == (404, "holdem-8.5")
    assert refused(fixture.bet("ann", 10)) == (404, "holdem-8.5")
    assert seated(fixture.join("ann"))
    wealth = {player.handle: player.wealth + player.bet_so_far for player in fixture.view().table}
    assert wealth == {"ann": 10_000, "bob": 10_010}


def test_no_player_is_to_act_between_hands() -> None:
    """holdem-4.13"""
    fixture = HouseFixture(pause_seconds=2.0)
    fixture.join("ann", "bob")
    fixture.play("ann fold")
    for user in ("ann", "bob"):
        assert refused(fixture.bet(user, 0)) == (403, "holdem-4.13")


# Deadlines


def test_an_act_just_before_the_deadline_counts() -> None:
    """holdem-4.15"""
    fixture = HouseFixture()
    fixture.join("ann", "bob")
    fixture.now = 14.999
    fixture.play("ann 10")


@pytest.mark.parametrize("now", [15.0, 15.001, 1000.0])
def test_an_act_at_the_deadline_is_too_late_even_without_a_timeout_event(now: float) -> None:
    """holdem-4.16"""
    fixture = HouseFixture()
    fixture.join("ann", "bob")
    fixture.now = now
    assert refused(fixture.bet("ann", 10)) == (404, "holdem-8.5")
    assert fixture.chips() == {"bob": 10_010}


def test_refused_requests_do_not_extend_the_turn() -> None:
    """holdem-4.15"""
    fixture = HouseFixture()
    fixture.join("ann", "bob")
    for second in range(1, 15):
        fixture.now = float(second)
        fixture.bet("bob", 5)
        fixture.request(Join("ann", fixture.table().guid))
    fixture.wait(1)
    assert fixture.chips() == {"bob": 10_010}


def test_a_timeout_event_before_the_deadline_changes_nothing() -> None:
    fixture = HouseFixture()
    fixture.join("ann", "bob")
    assert fixture.house.on(TimedOut(), 14.9) == []
    assert fixture.turn() == "ann"


def test_every_table_has_its_own_deadline() -> None:
    """holdem-4.15"""
    fixture = HouseFixture()
    games = [fixture.open(user) for user in ("ann", "bob", "cat")]
    for game in games:
        fixture.join("dan", game=game)
        fixture.wait(4)
    assert [fixture.turn(game) for game in games] == ["ann", "bob", "cat"]
    fixture.play("bob 10", games[1])
    fixture.wait(3)
    assert [sorted(fixture.chips(game)) for game in games] == [["dan"], ["bob", "dan"], ["cat", "dan"]]
    fixture.wait(8)
    assert [sorted(fixture.chips(game)) for game in games] == [["dan"], ["bob", "dan"], ["dan"]]
    fixture.wait(4)
    assert sorted(fixture.chips(games[1])) == ["bob"]


def test_superseded_deadlines_are_discarded() -> None:
    fixture = HouseFixture(pause_seconds=0.001)
    fixture.join("ann", "bob")
    for _ in range(500):
        fixture.fold(fixture.turn())
        fixture.wait(0.001)
    assert len(fixture.house._alarms._heap) < 100


def test_stacks_are_reset_before_every_hand() -> None:
    fixture = HouseFixture(stack=1000)
    dealer = FairDealer(bytes(32))
    fixture.house = House(fixture.settings, lambda _: dealer, bytes(32), resets_stacks=True)
    fixture.join("ann", "bob")
    fixture.play("ann fold")
    assert fixture.nets == [(-10, 10)]
    assert fixture.chips() == {"ann": 980, "bob": 990}
    fixture.play("bob 990, ann 980")
    assert {abs(net) for net in fixture.nets[-1]} == {1000}
    assert fixture.chips() == {"ann": 990, "bob": 980}
