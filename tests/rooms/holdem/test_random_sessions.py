"""Tests of a hold'em table over several hands: joining and leaving, deadlines, pauses, effects and kept hands."""

from random import Random

import pytest

from croupier.core.session import Commit, HandFinished, Reveal
from croupier.rooms.holdem.table.wording import format_expiry
from tests.rooms.holdem.house_fixture import SHOWDOWN, HouseFixture, duel, trio

NO_TURN = {"playerID": "", "bet_so_far": 0, "bet_to_player": 0, "minimum_raise": 0, "expiry": "0001-01-01T00:00:00Z"}
NO_CARDS = {"hole": [], "flop": None, "turn": None, "river": None}
NO_POT = [{"size": 0, "players": []}]

# Joining and leaving


def test_a_player_joining_during_a_hand_appears_in_the_next() -> None:
    """holdem-3.5, holdem-5.8"""
    fixture = duel()
    version = fixture.table().version
    fixture.join("cat")
    assert fixture.table().version == version
    assert fixture.chips() == {"ann": 9990, "bob": 9980}
    assert fixture.json_view("cat")["cards"]["hole"] == []
    fixture.play("ann fold")
    assert fixture.chips() == {"ann": 9970, "bob": 10_010, "cat": 9990}
    assert len(fixture.json_view("cat")["cards"]["hole"]) == 2


def test_leaving_in_turn_folds_the_hand() -> None:
    """holdem-3.10, holdem-3.11, holdem-5.14"""
    fixture = trio()
    fixture.play("bob 100")
    fixture.leave("cat")
    assert fixture.chips() == {"ann": 9970, "bob": 9910}
    assert fixture.pots() == [(130, "ann bob cat")]
    assert fixture.turn() == "ann"
    fixture.play("ann fold")
    assert fixture.nets[1] == (-20, 30, -10)
    assert fixture.table().player_guid("cat") is None


def test_leaving_out_of_turn_does_not_change_the_deadline() -> None:
    """holdem-3.10, holdem-4.15"""
    fixture = trio()
    before = fixture.json_view()["turn"]
    fixture.wait(5)
    fixture.leave("cat")
    assert fixture.json_view()["turn"] == before
    fixture.wait(9.999)
    assert fixture.turn() == "bob"
    fixture.wait(0.001)
    assert fixture.table().player_guid("bob") is None


def test_the_last_player_wins_and_waits() -> None:
    """holdem-3.11, holdem-6.13"""
    fixture = duel()
    fixture.play("ann 40")
    fixture.leave("ann")
    assert fixture.nets == [(-50, 50)]
    assert fixture.chips() == {"bob": 10_050}


def test_leaving_after_a_fold_does_not_change_the_hand() -> None:
    """holdem-3.11"""
    fixture = trio()
    fixture.play("bob fold")
    turn = fixture.json_view()["turn"]
    fixture.leave("bob")
    assert fixture.json_view()["turn"] == turn
    assert fixture.chips() == {"ann": 9970, "cat": 9990}


def test_a_player_rejoining_during_a_hand_has_no_part_in_it() -> None:
    """holdem-3.14, holdem-5.6, holdem-5.8"""
    fixture = trio()
    assert len(fixture.json_view("bob")["cards"]["hole"]) == 2
    fixture.leave("bob")
    fixture.join("bob")
    assert fixture.chips() == {"ann": 9970, "cat": 9990}
    assert fixture.json_view("bob")["cards"] == NO_CARDS
    fixture.play("cat fold")
    assert sorted(fixture.chips()) == ["ann", "bob", "cat"]
    assert fixture.chips() == {"ann": 9990, "bob": 9980, "cat": 9990}


def test_leaving_before_the_first_hand_is_invisible() -> None:
    """holdem-3.12"""
    fixture = duel()
    fixture.join("cat")
    version = fixture.table().version
    fixture.leave("cat")
    assert fixture.table().version == version
    fixture.play("ann fold")
    assert fixture.chips() == {"ann": 9970, "bob": 10_000}


def test_a_player_waiting_alone_can_leave() -> None:
    """holdem-3.12"""
    fixture = HouseFixture()
    fixture.join("ann")
    fixture.leave("ann")
    assert fixture.chips() == {}


def test_the_queue_is_seated_when_the_next_hand_begins() -> None:
    """holdem-3.9"""
    fixture = HouseFixture(seats=2)
    game = fixture.table().guid
    fixture.join("ann", "bob", "cat", "dan", game=game)
    fixture.leave("bob", game)
    assert fixture.chips(game) == {"ann": 10_020 - 20, "cat": 10_000 - 10}
    fixture.leave("ann", game)
    assert sorted(fixture.chips(game)) == ["cat", "dan"]


def test_a_broke_player_makes_room_for_a_queued_one() -> None:
    """holdem-3.9, holdem-3.13"""
    fixture = HouseFixture(SHOWDOWN, seats=2)
    game = fixture.table().guid
    fixture.join("ann", "bob", "cat", game=game)
    fixture.play("ann 9990, bob 9980", game)
    assert {player.handle: player.wealth + player.bet_so_far for player in fixture.view(None, game).table} == {
        "ann": 20_000,
        "cat": 10_000,
    }


def test_hole_cards_stay_visible_to_their_player_after_a_fold() -> None:
    """holdem-5.6"""
    fixture = trio()
    hole = fixture.json_view("bob")["cards"]["hole"]
    fixture.play("bob fold")
    assert fixture.json_view("bob")["cards"]["hole"] == hole
    fixture.leave("bob")
    assert fixture.json_view("bob")["cards"]["hole"] == []


# Deadlines


def test_every_turn_has_the_full_turn_time() -> None:
    """holdem-4.15, holdem-5.11"""
    fixture = duel(epoch=1411589693.021)
    assert fixture.json_view()["turn"]["expiry"] == "2014-09-24T20:15:08.021000Z"
    fixture.wait(10.5)
    fixture.play("ann 10")
    assert fixture.json_view()["turn"]["expiry"] == "2014-09-24T20:15:18.521000Z"
    fixture.wait(14.9)
    assert fixture.turn() == "bob"


def test_a_player_who_times_out_is_removed_with_their_chips() -> None:
    """holdem-4.16"""
    fixture = trio()
    fixture.wait(15)
    assert fixture.chips() == {"ann": 9970, "cat": 9990}
    assert fixture.turn() == "cat"
    assert fixture.json_view()["turn"]["expiry"] == "1970-01-01T00:00:30.000000Z"
    fixture.wait(15)
    assert fixture.chips() == {"ann": 10_000}
    assert fixture.table().deadline is None
    assert fixture.nets == [(-10, 10), (10, 0, -10)]


def test_a_player_alone_has_no_deadline() -> None:
    fixture = HouseFixture()
    fixture.join("ann")
    fixture.wait(1000)
    assert fixture.chips() == {"ann": 10_000}


@pytest.mark.parametrize(
    ("microseconds", "text"),
    [
        (0, "1970-01-01T00:00:00.000000Z"),
        (999_999, "1970-01-01T00:00:00.999999Z"),
        (1_000_000, "1970-01-01T00:00:01.000000Z"),
        (951_782_400_500_000, "2000-02-29T00:00:00.500000Z"),
        (4_102_444_799_999_000, "2099-12-31T23:59:59.999000Z"),
    ],
)
def test_an_expiry_has_six_decimals(microseconds: int, text: str) -> None:
    """holdem-5.11"""
    assert format_expiry(microseconds) == text


@pytest.mark.parametrize("seed", range(3))
def test_no_two_turns_of_a_table_have_the_same_expiry(seed: int) -> None:
    """holdem-5.11: also for turns that begin at the same time, and for turns after a restart."""
    fixture = HouseFixture(seed=seed, stack=400)
    fixture.join("ann", "bob", "cat")
    luck, ends = Random(seed), list[str]()
    for step in range(300):
        ends.append(fixture.json_view()["turn"]["expiry"])
        user, turn = fixture.turn(), fixture.view().turn
        if luck.random() < 0.1:
            fixture.fold(user)
        else:
            fixture.bet(user, turn.bet_to_player - turn.bet_so_far)
        fixture.now += luck.choice([0.0, 0.0, 0.0, 0.0000004])
        if step % 50 == 0:
            fixture.restart()
        if len(fixture.chips()) < 2:
            fixture.join(*{"ann", "bob", "cat"} - {*fixture.chips()})
    assert len({*ends}) == len(ends)
    assert ends == sorted(ends)


def test_a_turn_keeps_its_expiry_when_another_player_leaves() -> None:
    """holdem-5.11"""
    fixture = trio()
    before = fixture.json_view()["turn"]
    fixture.leave("ann")
    assert fixture.json_view()["turn"] == before


# Between hands


def test_the_end_of_the_hand_is_shown_during_a_pause() -> None:
    """holdem-5.18, holdem-4.13"""
    fixture = duel(pause_seconds=3.0)
    fixture.play("ann 10, bob 0, bob 20, ann 20, bob 0, ann 0, bob 0, ann 0")
    shown = fixture.json_view("bob")
    assert [(one["handle"], one["state"], one["wealth"], one["bet_so_far"]) for one in shown["table"]] == [
        ("ann", "called", 10_040, 0),
        ("bob", "called", 9960, 0),
    ]
    assert [one["small_blind"] for one in shown["table"]] == [True, False]
    assert (shown["turn"], shown["pots"]) == (NO_TURN, NO_POT)
    assert shown["cards"] == {"hole": ["2C", "2D"], "flop": ["KS", "QH", "9C"], "turn": ["8D"], "river": ["4H"]}
    fixture.wait(2.9)
    assert fixture.json_view("bob") == shown
    fixture.wait(0.1)
    assert fixture.turn() == "bob"


def test_folded_players_stay_folded_during_a_pause() -> None:
    """holdem-5.18"""
    fixture = duel(pause_seconds=3.0)
    fixture.play("ann fold")
    assert fixture.states() == {"ann": "folded", "bob": "called"}
    assert fixture.chips() == {"ann": 9990, "bob": 10_010}


def test_players_join_and_leave_during_a_pause() -> None:
    """holdem-3.5, holdem-3.10, holdem-5.8"""
    fixture = duel(pause_seconds=3.0)
    fixture.play("ann fold")
    fixture.join("cat", "dan")
    assert fixture.chips() == {"ann": 9990, "bob": 10_010}
    fixture.leave("bob")
    fixture.leave("dan")
    assert fixture.chips() == {"ann": 9990}
    fixture.wait(3)
    assert fixture.chips() == {"ann": 9970, "cat": 9990}


def test_a_pause_with_one_player_left_clears_the_table() -> None:
    """holdem-5.16"""
    fixture = duel(pause_seconds=3.0)
    fixture.play("ann fold")
    fixture.leave("ann")
    assert fixture.chips() == {"bob": 10_010}
    assert fixture.states() == {"bob": "called"}
    fixture.wait(3)
    assert fixture.states() == {"bob": "active"}
    fixture.wait(100)
    assert fixture.table().deadline is None
    assert fixture.chips() == {"bob": 10_010}


# Effects and kept hands


def test_every_hand_is_committed_before_and_revealed_after() -> None:
    fixture = duel()
    fixture.play("ann fold, bob fold")
    facts = [fact for fact in fixture.facts if isinstance(fact, Commit | HandFinished | Reveal)]
    numbers = [(type(fact), fact.hand_number if isinstance(fact, HandFinished) else fact.peer) for fact in facts]
    assert numbers == [
        (Commit, 1),
        (HandFinished, 1),
        (Reveal, 1),
        (Commit, 2),
        (HandFinished, 2),
        (Reveal, 2),
        (Commit, 3),
    ]


def test_finished_hands_are_kept_and_the_oldest_dropped() -> None:
    """holdem-9.7"""
    fixture = duel(history=3)
    for _ in range(3):
        fixture.play("ann fold, bob fold")
    assert list(fixture.table().hands) == [4, 5, 6]
    played = fixture.table().hands[4]
    assert (played.hand_number, played.players) == (4, ("ann", "bob"))
    assert played.guids == (fixture.house.guid_of("ann"), fixture.house.guid_of("bob"))
    assert played.hand.payoff() == (10, -10)


def test_no_hands_are_kept_with_history_0() -> None:
    fixture = duel(history=0)
    fixture.play("ann fold")
    assert fixture.table().hands == {}


def test_hands_without_decisions_do_not_block_the_house() -> None:
    """Two players are all-in in every hand and share every pot, because the board plays."""
    fixture = HouseFixture("2C 2D 3C 3D AS KS QS JS TS", stack=5)
    fixture.join("ann", "bob")
    played = len(fixture.nets)
    assert played == 64
    assert set(fixture.nets) == {(0, 0)}
    assert fixture.house.deadline is not None
    assert fixture.now < fixture.house.deadline < 1
    fixture.wait(fixture.house.deadline)
    assert len(fixture.nets) == 2 * played


# Dialect hspe-go


def test_dialect_hspe_go_has_null_hole_cards_and_last_winners() -> None:
    """holdem-7.6 to holdem-7.8"""
    fixture = duel(dialect="hspe-go")
    assert fixture.json_view()["cards"]["hole"] is None
    assert fixture.json_view("ann")["cards"]["hole"] == ["AS", "AH"]
    assert fixture.json_view()["last_winners"] == []
    fixture.play("ann 10, bob 0, bob 0, ann 0, bob 0, ann 0, bob 0, ann 0")
    winner = {"PlayerID": fixture.house.guid_of("ann"), "Hand": ["AS", "AH", "KS", "QH", "9C"]}
    assert fixture.json_view()["last_winners"] == [winner]
    assert list(fixture.json_view()) == ["gameID", "table", "turn", "cards", "pots", "last_winners"]
    fixture.play("bob 30")
    assert fixture.json_view()["last_winners"] == [winner]
    fixture.play("ann fold")
    assert fixture.json_view()["last_winners"] == []


def test_players_sharing_a_pot_are_both_winners_in_seat_order() -> None:
    """holdem-7.8"""
    fixture = duel("2C 2D 3C 3D AS KS QS JS TS", dialect="hspe-go")
    fixture.play("ann 10, bob 0, bob 0, ann 0, bob 0, ann 0, bob 0, ann 0")
    assert [winner["PlayerID"] for winner in fixture.json_view()["last_winners"]] == [
        fixture.house.guid_of("ann"),
        fixture.house.guid_of("bob"),
    ]
    assert {tuple(winner["Hand"]) for winner in fixture.json_view()["last_winners"]} == {("AS", "KS", "QS", "JS", "TS")}
