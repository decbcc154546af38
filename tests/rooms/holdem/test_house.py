"""The house of hold'em: its games, and who may do what there."""

import re
from typing import Any

import pytest

from croupier.core.session import TimedOut
from croupier.rooms.holdem.wire import ACTION_BET, PLAYER_LEFT, Act, Created, HoldemRequest, Join, Leave, Open, Queued
from tests.rooms.holdem.house_fixture import Parlour, refused, seated

GUID = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"


def everything(parlour: Parlour) -> list[Any]:
    """All that anybody can see."""
    users = (None, "ann", "bob", "cat", "dan")
    return [parlour.sees(user, table.guid) for table in parlour.house.games() for user in users]


# Users.


def test_a_user_has_one_guid_for_all_their_players() -> None:
    """holdem-2.3, holdem-3.5, holdem-3.6"""
    parlour = Parlour(seats=2)
    guid = parlour.house.guid_of("ann")
    assert parlour.house.guid_of("ann") == guid
    assert parlour.house.guid_of("Ann") != guid
    first = parlour.table().guid
    assert parlour.join("ann", game=first) == Created(guid, first)
    parlour.join("bob", game=first)
    assert parlour.join("cat", game=first) == Queued(parlour.house.guid_of("cat"), first)
    assert parlour.table(first).player_guid("cat") == parlour.house.guid_of("cat")
    assert parlour.table(first).player_guid("dan") is None


def test_guids_are_lower_case_uuids_derived_from_the_secret() -> None:
    """holdem-2.3"""
    parlour = Parlour()
    guids = [parlour.house.guid_of(str(number)) for number in range(300)]
    assert len({*guids, parlour.table().guid}) == 301
    assert all(re.fullmatch(GUID, guid) for guid in guids)
    other = Parlour(seed=2)
    assert other.house.guid_of("0") != guids[0]
    assert Parlour().house.guid_of("0") == guids[0]


# Games.


def test_there_is_a_game_from_the_start() -> None:
    """holdem-3.2"""
    assert len(Parlour().house.games()) == 1


def test_there_is_always_a_game_with_a_free_seat() -> None:
    """holdem-3.2"""
    parlour = Parlour(seats=2)
    first = parlour.table().guid
    parlour.join("ann", game=first)
    assert len(parlour.house.games()) == 1
    parlour.join("bob", game=first)
    old, new = parlour.house.games()
    assert (old.guid, old.has_free_seat, new.has_free_seat) == (first, False, True)
    assert (new.guid, new.version) in parlour.versions
    parlour.join("cat", game=first)
    assert len(parlour.house.games()) == 2


def test_opening_a_game_seats_its_creator() -> None:
    """holdem-3.3"""
    parlour = Parlour()
    answer = parlour.ask(Open("ann"))
    assert isinstance(answer, Created)
    assert answer == Created(parlour.house.guid_of("ann"), answer.game, is_new_game=True)
    assert [table.guid for table in parlour.house.games()][1:] == [answer.game]
    assert parlour.chips(answer.game) == {"ann": 10_000}
    assert parlour.versions == [(answer.game, 2)]


def test_opening_more_games_than_allowed_is_refused() -> None:
    """holdem-3.3"""
    parlour = Parlour(games=3)
    parlour.open("ann")
    parlour.open("ann")
    assert refused(parlour.ask(Open("ann"))) == (503, "holdem-3.3")
    assert len(parlour.house.games()) == 3


def test_an_abandoned_game_is_removed_if_another_has_a_free_seat() -> None:
    """holdem-3.4"""
    parlour = Parlour()
    game = parlour.open("ann")
    parlour.facts.clear()
    table = parlour.table(game)
    assert parlour.leave("ann", game) == PLAYER_LEFT
    assert parlour.house.game(game) is None
    assert parlour.versions == [(game, table.version)]
    assert refused(parlour.ask(Join("ann", game))) == (404, "holdem-8.4")


def test_an_abandoned_game_stays_if_it_has_the_only_free_seat() -> None:
    """holdem-3.4"""
    parlour = Parlour(seats=2)
    first = parlour.table().guid
    parlour.join("ann", game=first)
    parlour.leave("ann", first)
    assert [table.guid for table in parlour.house.games()] == [first]


def test_a_game_that_no_player_has_joined_yet_stays() -> None:
    """holdem-3.4"""
    parlour = Parlour()
    first = parlour.table().guid
    game = parlour.open("ann")
    parlour.leave("ann", game)
    assert [table.guid for table in parlour.house.games()] == [first]


def test_a_game_with_a_queue_stays() -> None:
    """holdem-3.4: the two who play leave, one after the other, and the queue takes their seats."""
    parlour = Parlour(seats=2)
    first = parlour.table().guid
    parlour.join("ann", "bob", "cat", game=first)
    parlour.leave("ann", first)
    parlour.leave("bob", first)
    assert parlour.chips(first) == {"cat": 10_010}
    parlour.leave("cat", first)
    assert parlour.house.game(first) is None


def test_a_game_emptied_by_timeouts_is_removed() -> None:
    """holdem-3.4, holdem-4.16"""
    parlour = Parlour()
    game = parlour.open("ann")
    parlour.join("bob", game=game)
    parlour.wait(15)
    assert parlour.chips(game) == {"bob": 10_010}
    parlour.leave("bob", game)
    assert parlour.house.game(game) is None
    parlour.wait(1000)


def test_a_game_abandoned_during_a_pause_is_removed_with_its_deadline() -> None:
    """holdem-3.4"""
    parlour = Parlour(pause_seconds=3.0)
    game = parlour.open("ann")
    parlour.join("bob", game=game)
    parlour.play("ann fold", game)
    parlour.join("cat", game=game)
    for user in ("ann", "bob", "cat"):
        parlour.leave(user, game)
    assert parlour.house.game(game) is None
    assert parlour.versions[-1][0] == game
    parlour.wait(100)
    assert not any(table.playing for table in parlour.house.games())


def test_a_user_may_be_in_many_games_at_once() -> None:
    """holdem-3.8"""
    parlour = Parlour()
    games = [parlour.table().guid, parlour.open("ann")]
    parlour.join("ann", game=games[0])
    for game in games:
        parlour.join("bob", game=game)
    holes = [parlour.sees("ann", game)["cards"]["hole"] for game in games]
    assert [len(hole) for hole in holes] == [2, 2]
    assert holes[0] != holes[1]
    parlour.leave("ann", games[0])
    assert parlour.turn(games[1]) == "ann"


def test_a_player_broke_by_the_hand_started_on_joining_has_joined() -> None:
    """holdem-3.5, holdem-3.13: the blinds are larger than the stacks."""
    parlour = Parlour("AS 2C AH 2D KS QH 9C 8D 4H", stack=5)
    parlour.join("ann")
    assert seated(parlour.join("bob"))
    assert parlour.nets == [(5, -5)]
    assert parlour.chips() == {"ann": 10}
    assert refused(parlour.leave("bob")) == (404, "holdem-8.5")


# Refusals.


REFUSED: dict[str, tuple[tuple[int, str], Any]] = {
    "an unknown game is joined": ((404, "holdem-8.4"), lambda game, guid: Join("dan", "nonsense")),
    "an act in an unknown game": ((404, "holdem-8.4"), lambda game, guid: Act("ann", "", guid("ann"), ACTION_BET, 20)),
    "an unknown game is left": ((404, "holdem-8.4"), lambda game, guid: Leave("ann", game[:-1], guid("ann"))),
    "an unknown player acts": ((404, "holdem-8.5"), lambda game, guid: Act("ann", game, "x" * 1000, ACTION_BET, 20)),
    "an unknown player leaves": ((404, "holdem-8.5"), lambda game, guid: Leave("ann", game, "\n")),
    "a user acts who is not in the game": ((404, "holdem-8.5"), lambda game, guid: Act("dan", game, guid("dan"), 0)),
    "a user leaves who is not in the game": ((404, "holdem-8.5"), lambda game, guid: Leave("dan", game, guid("dan"))),
    "an act for another": ((403, "holdem-8.8"), lambda game, guid: Act("bob", game, guid("ann"), ACTION_BET, 10)),
    "an act of a stranger for a player": ((403, "holdem-8.8"), lambda game, guid: Act("dan", game, guid("ann"), 0)),
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
    parlour = Parlour(dialect=dialect)
    parlour.join("ann", "bob", "cat")
    before = everything(parlour)
    versions = [*parlour.versions]
    parlour.now += 1
    request: HoldemRequest = made(parlour.table().guid, parlour.house.guid_of)
    if dialect == "hspe-go" and expected == (403, "holdem-4.13"):
        expected = (409, "holdem-7.4")
    assert refused(parlour.ask(request)) == expected
    assert everything(parlour) == before
    assert parlour.versions == versions


def test_a_turn_allows_one_act() -> None:
    """holdem-4.14"""
    parlour = Parlour()
    parlour.join("ann", "bob")
    parlour.play("ann 10")
    assert refused(parlour.bet("ann", 10)) == (403, "holdem-4.13")


def test_queued_players_cannot_act_and_can_leave() -> None:
    """holdem-3.6, holdem-3.7, holdem-3.12, holdem-4.13"""
    parlour = Parlour(seats=2)
    game = parlour.table().guid
    assert [seated(parlour.join(user, game=game)) for user in ("ann", "bob", "cat")] == [True, True, False]
    assert refused(parlour.bet("cat", 10, game)) == (403, "holdem-4.13")
    assert refused(parlour.join("cat", game=game)) == (409, "holdem-3.7")
    assert parlour.leave("cat", game) == PLAYER_LEFT
    assert refused(parlour.leave("cat", game)) == (404, "holdem-8.5")
    parlour.leave("ann", game)
    assert parlour.chips(game) == {"bob": 10_010}


def test_a_player_who_left_may_rejoin_with_new_chips() -> None:
    """holdem-3.14"""
    parlour = Parlour()
    parlour.join("ann", "bob")
    assert parlour.leave("ann") == PLAYER_LEFT
    assert refused(parlour.leave("ann")) == (404, "holdem-8.5")
    assert refused(parlour.bet("ann", 10)) == (404, "holdem-8.5")
    assert seated(parlour.join("ann"))
    wealth = {player.handle: player.wealth + player.bet_so_far for player in parlour.view().table}
    assert wealth == {"ann": 10_000, "bob": 10_010}


def test_no_player_is_to_act_between_hands() -> None:
    """holdem-4.13"""
    parlour = Parlour(pause_seconds=2.0)
    parlour.join("ann", "bob")
    parlour.play("ann fold")
    for user in ("ann", "bob"):
        assert refused(parlour.bet(user, 0)) == (403, "holdem-4.13")


# Time.


def test_an_act_just_before_the_deadline_counts() -> None:
    """holdem-4.15"""
    parlour = Parlour()
    parlour.join("ann", "bob")
    parlour.now = 14.999
    parlour.play("ann 10")


@pytest.mark.parametrize("now", [15.0, 15.001, 1000.0])
def test_an_act_at_the_deadline_is_too_late_even_without_a_timeout_event(now: float) -> None:
    """holdem-4.16"""
    parlour = Parlour()
    parlour.join("ann", "bob")
    parlour.now = now
    assert refused(parlour.bet("ann", 10)) == (404, "holdem-8.5")
    assert parlour.chips() == {"bob": 10_010}


def test_refused_requests_do_not_extend_the_turn() -> None:
    """holdem-4.15"""
    parlour = Parlour()
    parlour.join("ann", "bob")
    for second in range(1, 15):
        parlour.now = float(second)
        parlour.bet("bob", 5)
        parlour.ask(Join("ann", parlour.table().guid))
    parlour.wait(1)
    assert parlour.chips() == {"bob": 10_010}


def test_a_timeout_event_before_the_deadline_changes_nothing() -> None:
    parlour = Parlour()
    parlour.join("ann", "bob")
    assert parlour.house.on(TimedOut(), 14.9) == []
    assert parlour.turn() == "ann"


def test_every_table_has_its_own_deadline() -> None:
    """holdem-4.15"""
    parlour = Parlour()
    games = [parlour.open(user) for user in ("ann", "bob", "cat")]
    for game in games:
        parlour.join("dan", game=game)
        parlour.wait(4)
    assert [parlour.turn(game) for game in games] == ["ann", "bob", "cat"]
    parlour.play("bob 10", games[1])
    parlour.wait(3)
    assert [sorted(parlour.chips(game)) for game in games] == [["dan"], ["bob", "dan"], ["cat", "dan"]]
    parlour.wait(8)
    assert [sorted(parlour.chips(game)) for game in games] == [["dan"], ["bob", "dan"], ["dan"]]
    parlour.wait(4)
    assert sorted(parlour.chips(games[1])) == ["bob"]


def test_superseded_deadlines_are_discarded() -> None:
    parlour = Parlour(pause_seconds=0.001)
    parlour.join("ann", "bob")
    for _ in range(500):
        parlour.fold(parlour.turn())
        parlour.wait(0.001)
    assert len(parlour.house._check_heap) < 100
