"""What a house of hold'em bounds: the games of one user, games that nobody joins, and lists of games."""

from typing import Any

import pytest

from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.table.persistence import RULES_LIMITED_GAMES, HouseInput
from croupier.rooms.holdem.wire import ACTION_BET, PLAYER_LEFT, Act, Close, Created, HoldemRequest, Join, Open
from tests.rooms.holdem.house_fixture import Parlour, duel, refused, seated

HOUR = 3600.0


def games(parlour: Parlour) -> list[str]:
    return [table.guid for table in parlour.house.games()]


# Games of a user.


def test_a_user_may_be_in_a_limited_number_of_games() -> None:
    """holdem-9.11"""
    parlour = Parlour(games_per_user=3)
    first, *_ = [parlour.open("ann") for _ in range(3)]
    assert refused(parlour.ask(Open("ann"))) == (403, "holdem-9.11")
    assert refused(parlour.join("ann")) == (403, "holdem-9.11")
    assert refused(parlour.join("ann", game=first)) == (409, "holdem-3.7")
    parlour.leave("ann", first)
    assert seated(parlour.join("ann"))
    assert isinstance(parlour.ask(Open("bob")), Created)


def test_queued_games_count_towards_the_limit() -> None:
    """holdem-9.11"""
    parlour = Parlour(games_per_user=1, seats=2)
    game = games(parlour)[0]
    parlour.join("ann", "bob", "cat", game=game)
    assert refused(parlour.ask(Open("cat"))) == (403, "holdem-9.11")
    parlour.leave("cat", game)
    parlour.open("cat")


def test_lost_seats_do_not_count_towards_the_limit() -> None:
    """holdem-9.11: by a time-out, and by the last chip."""
    parlour = duel(games_per_user=1)
    parlour.play("ann 9990, bob 9980")
    assert parlour.chips() == {"ann": 20_000}
    parlour.open("bob")
    parlour = duel(games_per_user=1)
    parlour.wait(15)
    parlour.open("ann")


def test_the_limit_of_games_per_user_can_be_disabled() -> None:
    parlour = Parlour(games_per_user=0)
    assert len({parlour.open("ann") for _ in range(100)}) == 100


def test_one_user_cannot_fill_the_house() -> None:
    """holdem-3.3, holdem-9.11"""
    parlour = Parlour(games=50)
    for _ in range(200):
        parlour.ask(Open("ann"))
    assert len(games(parlour)) == 1 + Settings().games_per_user
    assert isinstance(parlour.ask(Open("bob")), Created)


# Accounts that are closed.


def test_closing_an_account_leaves_all_seats_and_queues() -> None:
    """holdem-9.13"""
    parlour = Parlour(seats=2)
    lobby = games(parlour)[0]
    own = parlour.open("ann")
    parlour.join("bob", "cat", "ann", game=lobby)
    parlour.join("dan", game=own)
    parlour.play("ann 10, dan 0, dan 40", own)
    assert parlour.turn(own) == "ann"
    assert parlour.ask(Close("ann")) == PLAYER_LEFT
    assert parlour.chips(own) == {"dan": 10_020}
    assert parlour.nets[-1] == (-20, 20)
    assert not parlour.house.has_player("ann")
    assert parlour.house.game(lobby) is not None
    assert len(parlour.table(lobby)) == 2


def test_closing_an_account_without_games_changes_nothing() -> None:
    parlour = duel()
    before = parlour.house.snapshot()
    assert parlour.ask(Close("eve")) == PLAYER_LEFT
    assert parlour.house.snapshot() == before


def test_closing_an_account_removes_the_games_it_opened() -> None:
    """holdem-9.13"""
    parlour = Parlour(games=100, games_per_user=0)
    for _ in range(99):
        parlour.open("ann")
    assert refused(parlour.ask(Open("bob"))) == (503, "holdem-3.3")
    parlour.ask(Close("ann"))
    assert len(games(parlour)) == 1
    parlour.open("bob")


# Games that nobody joins.


def lobbies(**settings: Any) -> tuple[Parlour, list[str]]:
    """A house with a game that nobody has joined, and another with a free seat."""
    parlour = Parlour(seats=2, **settings)
    first = games(parlour)[0]
    parlour.join("ann", "bob", game=first)
    second = games(parlour)[1]
    assert len(parlour.table(second)) == 0
    return parlour, [first, second]


def test_a_game_empty_for_an_hour_is_removed_if_another_has_a_free_seat() -> None:
    """holdem-3.4"""
    parlour, (first, second) = lobbies()
    parlour.leave("bob", first)
    parlour.wait(HOUR - 1)
    assert games(parlour) == [first, second]
    parlour.wait(1)
    assert games(parlour) == [first]
    assert parlour.versions[-1][0] == second


def test_the_only_game_with_a_free_seat_expires_when_another_has_one() -> None:
    """holdem-3.2, holdem-3.4"""
    parlour, (first, second) = lobbies(turn_seconds=10 * HOUR)
    parlour.wait(2 * HOUR)
    assert games(parlour) == [first, second]
    parlour.leave("bob", first)
    assert games(parlour) == [first]


def test_a_game_that_is_joined_in_time_stays() -> None:
    """holdem-3.4"""
    parlour, (first, second) = lobbies(turn_seconds=10 * HOUR)
    parlour.leave("bob", first)
    parlour.wait(HOUR / 2)
    parlour.join("bob", game=second)
    parlour.wait(2 * HOUR)
    assert games(parlour) == [first, second]


def test_the_only_free_game_stays_if_joined_after_its_expiry() -> None:
    parlour, (first, second) = lobbies(turn_seconds=10 * HOUR)
    parlour.wait(2 * HOUR)
    parlour.join("cat", game=second)
    parlour.leave("bob", first)
    parlour.wait(2 * HOUR)
    assert games(parlour) == [first, second]


def test_the_expiry_of_empty_games_can_be_disabled() -> None:
    parlour, found = lobbies(empty_seconds=0.0)
    parlour.leave("bob", found[0])
    parlour.wait(1000 * HOUR)
    assert games(parlour) == found


def test_an_idle_house_has_only_one_deadline() -> None:
    """A house whose only game nobody joins has nothing to be woken for."""
    parlour = Parlour()
    parlour.wait(HOUR)
    assert len(games(parlour)) == 1
    assert parlour.house.deadline is None
    assert parlour.facts == []


@pytest.mark.parametrize("hours", [0.5, 1.5])
def test_a_restored_house_expires_the_same_games(hours: float) -> None:
    parlour, (first, second) = lobbies(turn_seconds=10 * HOUR)
    before = parlour.house
    parlour.wait(hours * HOUR)
    parlour.interrupt()
    for heard in (HouseInput(2 * HOUR), HouseInput(2.5 * HOUR, Close("bob")), HouseInput(9 * HOUR)):
        assert parlour.house.apply(heard) == before.apply(heard)
        assert parlour.house.snapshot() == before.snapshot()
    assert games(parlour) == [first]
    assert second


# Journals.


def journal(parlour: Parlour, *, rules: int) -> list[bytes]:
    """What a house hears in which ann opens thirty games and joins a bob who comes to each."""
    heard = [HouseInput(0.0, opened=True, rules=rules)]
    parlour.house.apply(heard[0])

    def say(now: float, request: HoldemRequest) -> None:
        heard.append(HouseInput(now, request))
        parlour.house.apply(heard[-1])

    for number in range(30):
        say(float(number), Open("ann"))
    for table in parlour.house.games():
        say(100.0, Join("bob", table.guid))
        say(100.0, Act("ann", table.guid, parlour.house.guid_of("ann"), ACTION_BET, 10))
    say(3 * HOUR, Join("cat", games(parlour)[0]))
    return [each.to_json() for each in heard]


def test_journals_of_the_former_rules_replay_under_those_rules() -> None:
    """A journal of a version without bounds is read as it was written."""
    parlour = Parlour(turn_seconds=10 * HOUR)
    facts = journal(parlour, rules=1)
    assert len(games(parlour)) == 31
    assert b'"rules"' not in b"".join(facts)
    again = Parlour(turn_seconds=10 * HOUR)
    for fact in facts:
        again.house.apply(HouseInput.from_json(fact))
    assert again.house.snapshot() == parlour.house.snapshot()


def test_a_journal_of_the_former_rules_continues_under_the_current_rules() -> None:
    parlour = Parlour(turn_seconds=10 * HOUR)
    for fact in journal(parlour, rules=1):
        parlour.house.apply(HouseInput.from_json(fact))
    parlour.now = 4 * HOUR
    parlour.house.apply(HouseInput(parlour.now, opened=True, rules=RULES_LIMITED_GAMES))
    assert refused(parlour.ask(Open("ann"))) == (403, "holdem-9.11")
    parlour.ask(Close("ann"))
    parlour.ask(Close("bob"))
    assert len(games(parlour)) == 1


def test_replaying_a_journal_with_limits_restores_the_house() -> None:
    parlour = Parlour(turn_seconds=10 * HOUR)
    facts = journal(parlour, rules=RULES_LIMITED_GAMES)
    assert len(games(parlour)) == 21
    facts += [HouseInput(5 * HOUR, Close("ann")).to_json(), HouseInput(6 * HOUR).to_json()]
    parlour.house.apply(HouseInput.from_json(facts[-2]))
    parlour.house.apply(HouseInput.from_json(facts[-1]))
    again = Parlour(turn_seconds=10 * HOUR)
    for fact in facts:
        again.house.apply(HouseInput.from_json(fact))
    assert again.house.snapshot() == parlour.house.snapshot()


# Lists.


def test_a_list_shows_own_games_then_free_games_then_others() -> None:
    """holdem-9.12"""
    parlour = Parlour(seats=2, listed=4)
    full = [parlour.open(user) for user in ("ann", "bob", "cat", "dan")]
    for game in full:
        parlour.join("eve", game=game)
    lobby = games(parlour)[0]
    assert [table.guid for table in parlour.house.list_tables(None)] == [lobby, *full[:3]]
    assert [table.guid for table in parlour.house.list_tables("dan")] == [full[3], lobby, *full[:2]]
    assert {table.guid for table in parlour.house.list_tables("eve")} == {*full}


def test_pages_of_games_are_in_the_order_of_creation() -> None:
    """holdem-9.12"""
    parlour = Parlour(games_per_user=0)
    made = [games(parlour)[0], *(parlour.open("ann") for _ in range(9))]
    found, number, more = list[str](), 0, True
    while more:
        page, more = parlour.house.tables_after(number, 4)
        assert len(page) == (4 if more else 2)
        found += [table.guid for table in page]
        number = page[-1].number
        parlour.interrupt()
        for gone in found[1:2]:  # a page that was seen may change while the next one is asked for
            if parlour.house.game(gone) is not None:
                parlour.leave("ann", gone)
    assert found == made
    assert parlour.house.tables_after(number, 4) == ([], False)


def test_a_page_has_at_most_as_many_games_as_a_list() -> None:
    """holdem-9.12"""
    parlour = Parlour(games_per_user=0, listed=3)
    for _ in range(5):
        parlour.open("ann")
    page, more = parlour.house.tables_after(0, 1000)
    assert len(page) == 3
    assert more
