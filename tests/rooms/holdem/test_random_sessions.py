"""A table of hold'em in the course of an evening: who comes and goes, time, pauses, and what is told and kept."""

from random import Random

import pytest

from croupier.core.session import Commit, HandFinished, Reveal
from croupier.rooms.holdem.table.wording import format_expiry, to_microseconds
from tests.rooms.holdem.house_fixture import SHOWDOWN, Parlour, duel, trio

NOBODY = {"playerID": "", "bet_so_far": 0, "bet_to_player": 0, "minimum_raise": 0, "expiry": "0001-01-01T00:00:00Z"}
NO_CARDS = {"hole": [], "flop": None, "turn": None, "river": None}
NO_POT = [{"size": 0, "players": []}]

# Coming and going.


def test_a_player_joining_during_a_hand_appears_in_the_next() -> None:
    """holdem-3.5, holdem-5.8"""
    parlour = duel()
    version = parlour.table().version
    parlour.join("cat")
    assert parlour.table().version == version
    assert parlour.chips() == {"ann": 9990, "bob": 9980}
    assert parlour.sees("cat")["cards"]["hole"] == []
    parlour.play("ann fold")
    assert parlour.chips() == {"ann": 9970, "bob": 10_010, "cat": 9990}
    assert len(parlour.sees("cat")["cards"]["hole"]) == 2


def test_leaving_in_turn_folds_the_hand() -> None:
    """holdem-3.10, holdem-3.11, holdem-5.14"""
    parlour = trio()
    parlour.play("bob 100")
    parlour.leave("cat")
    assert parlour.chips() == {"ann": 9970, "bob": 9910}
    assert parlour.pots() == [(130, "ann bob cat")]
    assert parlour.turn() == "ann"
    parlour.play("ann fold")
    assert parlour.nets[1] == (-20, 30, -10)
    assert parlour.table().player_guid("cat") is None


def test_leaving_out_of_turn_does_not_change_the_deadline() -> None:
    """holdem-3.10, holdem-4.15"""
    parlour = trio()
    before = parlour.sees()["turn"]
    parlour.wait(5)
    parlour.leave("cat")
    assert parlour.sees()["turn"] == before
    parlour.wait(9.999)
    assert parlour.turn() == "bob"
    parlour.wait(0.001)
    assert parlour.table().player_guid("bob") is None


def test_the_last_player_wins_and_waits() -> None:
    """holdem-3.11, holdem-6.13"""
    parlour = duel()
    parlour.play("ann 40")
    parlour.leave("ann")
    assert parlour.nets == [(-50, 50)]
    assert parlour.chips() == {"bob": 10_050}


def test_leaving_after_a_fold_does_not_change_the_hand() -> None:
    """holdem-3.11"""
    parlour = trio()
    parlour.play("bob fold")
    turn = parlour.sees()["turn"]
    parlour.leave("bob")
    assert parlour.sees()["turn"] == turn
    assert parlour.chips() == {"ann": 9970, "cat": 9990}


def test_a_player_rejoining_during_a_hand_has_no_part_in_it() -> None:
    """holdem-3.14, holdem-5.6, holdem-5.8"""
    parlour = trio()
    assert len(parlour.sees("bob")["cards"]["hole"]) == 2
    parlour.leave("bob")
    parlour.join("bob")
    assert parlour.chips() == {"ann": 9970, "cat": 9990}
    assert parlour.sees("bob")["cards"] == NO_CARDS
    parlour.play("cat fold")
    assert sorted(parlour.chips()) == ["ann", "bob", "cat"]
    assert parlour.chips() == {"ann": 9990, "bob": 9980, "cat": 9990}


def test_leaving_before_the_first_hand_is_invisible() -> None:
    """holdem-3.12"""
    parlour = duel()
    parlour.join("cat")
    version = parlour.table().version
    parlour.leave("cat")
    assert parlour.table().version == version
    parlour.play("ann fold")
    assert parlour.chips() == {"ann": 9970, "bob": 10_000}


def test_a_player_waiting_alone_can_leave() -> None:
    """holdem-3.12"""
    parlour = Parlour()
    parlour.join("ann")
    parlour.leave("ann")
    assert parlour.chips() == {}


def test_the_queue_is_seated_when_the_next_hand_begins() -> None:
    """holdem-3.9"""
    parlour = Parlour(seats=2)
    game = parlour.table().guid
    parlour.join("ann", "bob", "cat", "dan", game=game)
    parlour.leave("bob", game)
    assert parlour.chips(game) == {"ann": 10_020 - 20, "cat": 10_000 - 10}
    parlour.leave("ann", game)
    assert sorted(parlour.chips(game)) == ["cat", "dan"]


def test_a_broke_player_makes_room_for_a_queued_one() -> None:
    """holdem-3.9, holdem-3.13"""
    parlour = Parlour(SHOWDOWN, seats=2)
    game = parlour.table().guid
    parlour.join("ann", "bob", "cat", game=game)
    parlour.play("ann 9990, bob 9980", game)
    assert {player.handle: player.wealth + player.bet_so_far for player in parlour.view(None, game).table} == {
        "ann": 20_000,
        "cat": 10_000,
    }


def test_hole_cards_stay_visible_to_their_player_after_a_fold() -> None:
    """holdem-5.6"""
    parlour = trio()
    hole = parlour.sees("bob")["cards"]["hole"]
    parlour.play("bob fold")
    assert parlour.sees("bob")["cards"]["hole"] == hole
    parlour.leave("bob")
    assert parlour.sees("bob")["cards"]["hole"] == []


# Time.


def test_every_turn_has_the_full_turn_time() -> None:
    """holdem-4.15, holdem-5.11"""
    parlour = duel(epoch=1411589693.021)
    assert parlour.sees()["turn"]["expiry"] == "2014-09-24T20:15:08.021000Z"
    parlour.wait(10.5)
    parlour.play("ann 10")
    assert parlour.sees()["turn"]["expiry"] == "2014-09-24T20:15:18.521000Z"
    parlour.wait(14.9)
    assert parlour.turn() == "bob"


def test_a_player_who_times_out_is_removed_with_their_chips() -> None:
    """holdem-4.16"""
    parlour = trio()
    parlour.wait(15)
    assert parlour.chips() == {"ann": 9970, "cat": 9990}
    assert parlour.turn() == "cat"
    assert parlour.sees()["turn"]["expiry"] == "1970-01-01T00:00:30.000000Z"
    parlour.wait(15)
    assert parlour.chips() == {"ann": 10_000}
    assert parlour.table().deadline is None
    assert parlour.nets == [(-10, 10), (10, 0, -10)]


def test_a_player_alone_has_no_deadline() -> None:
    parlour = Parlour()
    parlour.join("ann")
    parlour.wait(1000)
    assert parlour.chips() == {"ann": 10_000}


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "1970-01-01T00:00:00.000000Z"),
        (0.9999994, "1970-01-01T00:00:00.999999Z"),
        (0.9999996, "1970-01-01T00:00:01.000000Z"),
        (951782400.5, "2000-02-29T00:00:00.500000Z"),
        (4102444799.999, "2099-12-31T23:59:59.999000Z"),
    ],
)
def test_an_expiry_has_six_decimals(seconds: float, text: str) -> None:
    """holdem-5.11"""
    assert format_expiry(to_microseconds(seconds)) == text


@pytest.mark.parametrize("seed", range(3))
def test_no_two_turns_of_a_table_have_the_same_expiry(seed: int) -> None:
    """holdem-5.11: also of turns that begin at the same time, and of those after an interruption."""
    parlour = Parlour(seed=seed, stack=400)
    parlour.join("ann", "bob", "cat")
    luck, ends = Random(seed), list[str]()
    for step in range(300):
        ends.append(parlour.sees()["turn"]["expiry"])
        user, turn = parlour.turn(), parlour.view().turn
        if luck.random() < 0.1:
            parlour.fold(user)
        else:
            parlour.bet(user, turn.bet_to_player - turn.bet_so_far)
        parlour.now += luck.choice([0.0, 0.0, 0.0, 0.0000004])
        if step % 50 == 0:
            parlour.interrupt()
        if len(parlour.chips()) < 2:
            parlour.join(*{"ann", "bob", "cat"} - {*parlour.chips()})
    assert len({*ends}) == len(ends)
    assert ends == sorted(ends)


def test_a_turn_keeps_its_expiry_when_another_player_leaves() -> None:
    """holdem-5.11"""
    parlour = trio()
    before = parlour.sees()["turn"]
    parlour.leave("ann")
    assert parlour.sees()["turn"] == before


# Between hands.


def test_the_end_of_the_hand_is_shown_during_a_pause() -> None:
    """holdem-5.18, holdem-4.13"""
    parlour = duel(pause_seconds=3.0)
    parlour.play("ann 10, bob 0, bob 20, ann 20, bob 0, ann 0, bob 0, ann 0")
    shown = parlour.sees("bob")
    assert [(one["handle"], one["state"], one["wealth"], one["bet_so_far"]) for one in shown["table"]] == [
        ("ann", "called", 10_040, 0),
        ("bob", "called", 9960, 0),
    ]
    assert [one["small_blind"] for one in shown["table"]] == [True, False]
    assert (shown["turn"], shown["pots"]) == (NOBODY, NO_POT)
    assert shown["cards"] == {"hole": ["2C", "2D"], "flop": ["KS", "QH", "9C"], "turn": ["8D"], "river": ["4H"]}
    parlour.wait(2.9)
    assert parlour.sees("bob") == shown
    parlour.wait(0.1)
    assert parlour.turn() == "bob"


def test_folded_players_stay_folded_during_a_pause() -> None:
    """holdem-5.18"""
    parlour = duel(pause_seconds=3.0)
    parlour.play("ann fold")
    assert parlour.states() == {"ann": "folded", "bob": "called"}
    assert parlour.chips() == {"ann": 9990, "bob": 10_010}


def test_players_join_and_leave_during_a_pause() -> None:
    """holdem-3.5, holdem-3.10, holdem-5.8"""
    parlour = duel(pause_seconds=3.0)
    parlour.play("ann fold")
    parlour.join("cat", "dan")
    assert parlour.chips() == {"ann": 9990, "bob": 10_010}
    parlour.leave("bob")
    parlour.leave("dan")
    assert parlour.chips() == {"ann": 9990}
    parlour.wait(3)
    assert parlour.chips() == {"ann": 9970, "cat": 9990}


def test_a_pause_with_one_player_left_clears_the_table() -> None:
    """holdem-5.16"""
    parlour = duel(pause_seconds=3.0)
    parlour.play("ann fold")
    parlour.leave("ann")
    assert parlour.chips() == {"bob": 10_010}
    assert parlour.states() == {"bob": "called"}
    parlour.wait(3)
    assert parlour.states() == {"bob": "active"}
    parlour.wait(100)
    assert parlour.table().deadline is None
    assert parlour.chips() == {"bob": 10_010}


# Facts and hands.


def test_every_hand_is_committed_before_and_revealed_after() -> None:
    parlour = duel()
    parlour.play("ann fold, bob fold")
    told = [fact for fact in parlour.facts if isinstance(fact, Commit | HandFinished | Reveal)]
    numbers = [(type(fact), fact.hand_number if isinstance(fact, HandFinished) else fact.peer) for fact in told]
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
    parlour = duel(history=3)
    for _ in range(3):
        parlour.play("ann fold, bob fold")
    assert list(parlour.table().hands) == [4, 5, 6]
    played = parlour.table().hands[4]
    assert (played.hand_number, played.players) == (4, ("ann", "bob"))
    assert played.guids == (parlour.house.guid_of("ann"), parlour.house.guid_of("bob"))
    assert played.hand.payoff() == (10, -10)


def test_no_hands_are_kept_with_history_0() -> None:
    parlour = duel(history=0)
    parlour.play("ann fold")
    assert parlour.table().hands == {}


def test_hands_without_decisions_do_not_block_the_house() -> None:
    """Two who are always all-in and always share the pot: the board plays."""
    parlour = Parlour("2C 2D 3C 3D AS KS QS JS TS", stack=5)
    parlour.join("ann", "bob")
    played = len(parlour.nets)
    assert played == 64
    assert set(parlour.nets) == {(0, 0)}
    assert parlour.house.deadline is not None
    assert parlour.now < parlour.house.deadline < 1
    parlour.wait(parlour.house.deadline)
    assert len(parlour.nets) == 2 * played


# The other dialect.


def test_dialect_hspe_go_has_null_hole_cards_and_last_winners() -> None:
    """holdem-7.6 to holdem-7.8"""
    parlour = duel(dialect="hspe-go")
    assert parlour.sees()["cards"]["hole"] is None
    assert parlour.sees("ann")["cards"]["hole"] == ["AS", "AH"]
    assert parlour.sees()["last_winners"] == []
    parlour.play("ann 10, bob 0, bob 0, ann 0, bob 0, ann 0, bob 0, ann 0")
    winner = {"PlayerID": parlour.house.guid_of("ann"), "Hand": ["AS", "AH", "KS", "QH", "9C"]}
    assert parlour.sees()["last_winners"] == [winner]
    assert list(parlour.sees()) == ["gameID", "table", "turn", "cards", "pots", "last_winners"]
    parlour.play("bob 30")
    assert parlour.sees()["last_winners"] == [winner]
    parlour.play("ann fold")
    assert parlour.sees()["last_winners"] == []


def test_players_sharing_a_pot_are_both_winners_in_seat_order() -> None:
    """holdem-7.8"""
    parlour = duel("2C 2D 3C 3D AS KS QS JS TS", dialect="hspe-go")
    parlour.play("ann 10, bob 0, bob 0, ann 0, bob 0, ann 0, bob 0, ann 0")
    assert [winner["PlayerID"] for winner in parlour.sees()["last_winners"]] == [
        parlour.house.guid_of("ann"),
        parlour.house.guid_of("bob"),
    ]
    assert {tuple(winner["Hand"]) for winner in parlour.sees()["last_winners"]} == {("AS", "KS", "QS", "JS", "TS")}
