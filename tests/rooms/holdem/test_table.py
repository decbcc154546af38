"""A table of hold'em as it is seen while hands are played there: every row of the document's tables."""

from typing import Any

import pytest

from croupier.rooms.holdem.rules import Hand
from croupier.rooms.holdem.table.wording import invalid_bet_reason
from croupier.rooms.holdem.wire import MAX_AMOUNT, ActDone
from tests.rooms.holdem.house_fixture import SHOWDOWN, Parlour, duel, trio

NOBODY = {"playerID": "", "bet_so_far": 0, "bet_to_player": 0, "minimum_raise": 0, "expiry": "0001-01-01T00:00:00Z"}
NO_CARDS = {"hole": [], "flop": None, "turn": None, "river": None}
NO_POT = [{"size": 0, "players": []}]


def board(parlour: Parlour) -> tuple[Any, Any, Any]:
    cards = parlour.sees()["cards"]
    return cards["flop"], cards["turn"], cards["river"]


# Before there is a hand.


def test_an_empty_game_has_no_players_cards_or_chips() -> None:
    """holdem-3.2, holdem-5.12, holdem-5.16"""
    parlour = Parlour()
    game = parlour.table().guid
    assert parlour.sees() == {"gameID": game, "table": [], "turn": NOBODY, "cards": NO_CARDS, "pots": NO_POT}


def test_one_player_alone_waits() -> None:
    """holdem-5.16, holdem-6.1"""
    parlour = Parlour()
    parlour.join("ann")
    shown = parlour.sees("ann")
    ann = {"playerID": parlour.house.guid_of("ann"), "handle": "ann", "state": "active", "wealth": 10_000}
    assert shown["table"] == [{**ann, "bet_so_far": 0, "small_blind": False}]
    assert (shown["turn"], shown["cards"], shown["pots"]) == (NOBODY, NO_CARDS, NO_POT)
    assert parlour.table().deadline is None


# A hand.


def test_the_second_player_begins_the_hand() -> None:
    """holdem-5.3, holdem-5.7, holdem-5.10, holdem-6.1 to holdem-6.4: the whole Game."""
    parlour = duel()
    ann, bob = parlour.house.guid_of("ann"), parlour.house.guid_of("bob")
    shown = {
        "gameID": parlour.table().guid,
        "table": [
            {
                "playerID": ann,
                "handle": "ann",
                "state": "active",
                "wealth": 9990,
                "bet_so_far": 10,
                "small_blind": True,
            },
            {
                "playerID": bob,
                "handle": "bob",
                "state": "active",
                "wealth": 9980,
                "bet_so_far": 20,
                "small_blind": False,
            },
        ],
        "turn": {
            "playerID": ann,
            "bet_so_far": 10,
            "bet_to_player": 20,
            "minimum_raise": 20,
            "expiry": "1970-01-01T00:00:15.000000Z",
        },
        "cards": NO_CARDS,
        "pots": [{"size": 30, "players": [ann, bob]}],
    }
    assert parlour.sees() == shown
    assert parlour.sees("ann") == {**shown, "cards": {**NO_CARDS, "hole": ["AS", "AH"]}}
    assert parlour.sees("bob") == {**shown, "cards": {**NO_CARDS, "hole": ["2C", "2D"]}}
    assert parlour.sees("cat") == shown


def test_the_board_is_null_until_its_cards_are_dealt() -> None:
    """holdem-5.5, holdem-6.5"""
    parlour = duel()
    assert board(parlour) == (None, None, None)
    parlour.play("ann 10, bob 0")
    assert board(parlour) == (["KS", "QH", "9C"], None, None)
    parlour.play("bob 0, ann 0")
    assert board(parlour) == (["KS", "QH", "9C"], ["8D"], None)
    parlour.play("bob 0, ann 0")
    assert board(parlour) == (["KS", "QH", "9C"], ["8D"], ["4H"])
    assert parlour.sees("bob")["cards"]["hole"] == ["2C", "2D"]


def test_the_next_hand_begins_immediately() -> None:
    """holdem-5.18, holdem-6.2, holdem-6.14: ann has won, bob has the button."""
    parlour = duel(f"{SHOWDOWN} / 3C 4C 5C 6C")
    parlour.play("ann 10, bob 0, bob 0, ann 0, bob 0, ann 0, bob 0, ann 0")
    assert parlour.nets == [(20, -20)]
    assert parlour.chips() == {"ann": 10_000, "bob": 9970}
    assert [player.small_blind for player in parlour.view().table] == [False, True]
    assert parlour.turn() == "bob"
    assert parlour.sees("bob")["cards"]["hole"] == ["3C", "5C"]


def test_a_player_is_active_until_he_has_acted_and_again_after_a_raise() -> None:
    """holdem-5.9"""
    parlour = trio()
    assert parlour.states() == {"ann": "active", "bob": "active", "cat": "active"}
    parlour.play("bob 20")
    assert parlour.states() == {"ann": "active", "bob": "called", "cat": "active"}
    parlour.play("cat 50")
    assert parlour.states() == {"ann": "active", "bob": "active", "cat": "called"}
    parlour.play("ann 40")
    assert parlour.states() == {"ann": "called", "bob": "active", "cat": "called"}
    parlour.play("bob fold")
    assert parlour.states() == {"ann": "active", "bob": "folded", "cat": "active"}
    assert board(parlour)[0]
    parlour.play("cat 0")
    assert parlour.states() == {"ann": "active", "bob": "folded", "cat": "called"}
    parlour.play("ann 20")
    assert parlour.states() == {"ann": "called", "bob": "folded", "cat": "active"}


def test_the_big_blind_is_active_until_it_has_used_its_option() -> None:
    """holdem-5.9, holdem-6.6"""
    parlour = trio()
    parlour.play("bob 20, cat 10")
    assert parlour.states() == {"ann": "active", "bob": "called", "cat": "called"}
    assert parlour.turn() == "ann"
    parlour.play("ann 40")
    assert parlour.states() == {"ann": "called", "bob": "active", "cat": "active"}


def test_a_player_who_is_all_in_has_called() -> None:
    """holdem-5.9"""
    parlour = trio()
    parlour.play("bob 100, cat 9990")
    assert parlour.states() == {"ann": "active", "bob": "active", "cat": "called"}
    parlour.play("ann fold")
    assert parlour.states() == {"ann": "folded", "bob": "active", "cat": "called"}


def test_a_bet_is_what_is_added_now_and_bet_to_player_is_the_total() -> None:
    """holdem-4.5, holdem-5.10"""
    parlour = duel()
    parlour.play("ann 50")
    turn = parlour.sees()["turn"]
    assert (turn["bet_so_far"], turn["bet_to_player"], turn["minimum_raise"]) == (20, 60, 40)
    parlour.play("bob 140")
    turn = parlour.sees()["turn"]
    assert (turn["bet_so_far"], turn["bet_to_player"], turn["minimum_raise"]) == (60, 160, 100)
    parlour.play("ann 100")
    turn = parlour.sees()["turn"]
    assert (turn["bet_so_far"], turn["bet_to_player"], turn["minimum_raise"]) == (0, 0, 20)


def test_bets_are_in_the_pot_at_once() -> None:
    """holdem-5.13, holdem-5.14: also those of who has folded."""
    parlour = trio()
    assert parlour.pots() == [(30, "ann cat")]
    parlour.play("bob 60")
    assert parlour.pots() == [(90, "ann bob cat")]
    parlour.play("cat fold")
    assert parlour.pots() == [(90, "ann bob cat")]


def test_an_all_in_player_creates_a_side_pot() -> None:
    """holdem-5.15, holdem-6.12"""
    parlour = trio(stack=1000)
    parlour.play("bob 100, cat 990, ann fold")
    assert parlour.pots() == [(1120, "ann bob cat")]
    parlour = trio(stack=1000)
    assert parlour.chips() == {"ann": 970, "bob": 1010, "cat": 990}
    parlour.play("bob 1010, cat 990")
    assert parlour.pots() == [(2020, "ann bob cat"), (10, "bob")]


def test_an_ante_is_in_the_pot_but_not_a_bet() -> None:
    """holdem-6.17"""
    parlour = duel(ante=5)
    assert parlour.pots() == [(40, "ann bob")]
    assert [player.bet_so_far for player in parlour.view().table] == [10, 20]
    assert parlour.chips() == {"ann": 9985, "bob": 9975}


def test_a_straddle_is_a_third_blind() -> None:
    """holdem-6.17"""
    parlour = duel(straddle=40)
    assert parlour.sees()["turn"]["bet_to_player"] == 20
    parlour.join("cat")
    parlour.play("ann fold")
    assert parlour.turn() == "cat"
    assert parlour.sees()["turn"]["bet_to_player"] == 40
    assert [player.bet_so_far for player in parlour.view().table] == [20, 40, 10]


def test_an_all_in_deals_the_whole_board() -> None:
    """holdem-6.14, holdem-3.13: bob has nothing left and is gone."""
    parlour = duel(pause_seconds=5.0)
    parlour.play("ann 9990, bob 9980")
    assert board(parlour) == (["KS", "QH", "9C"], ["8D"], ["4H"])
    assert parlour.chips() == {"ann": 20_000}
    assert parlour.nets == [(10_000, -10_000)]
    assert parlour.table().player_guid("bob") is None


# Invalid bets.


@pytest.mark.parametrize(
    ("chips", "told"),
    [
        (-1, "found -1; allowed: 10 to call, 30 to 9990 to raise"),
        (0, "found 0; allowed: 10 to call, 30 to 9990 to raise"),
        (9, "found 9; allowed: 10 to call, 30 to 9990 to raise"),
        (11, "found 11; allowed: 10 to call, 30 to 9990 to raise"),
        (29, "found 29; allowed: 10 to call, 30 to 9990 to raise"),
        (9991, "found 9991; allowed: 10 to call, 30 to 9990 to raise"),
        (MAX_AMOUNT, "found a number of 19 digits or more; allowed: 10 to call, 30 to 9990 to raise"),
        (-MAX_AMOUNT, "found a number of 19 digits or more; allowed: 10 to call, 30 to 9990 to raise"),
    ],
)
def test_an_invalid_bet_folds_the_hand(chips: int, told: str) -> None:
    """holdem-4.7 to holdem-4.11: and he stays in the game."""
    parlour = duel()
    assert parlour.bet("ann", chips) == ActDone(told)
    assert parlour.nets == [(-10, 10)]
    assert parlour.chips() == {"ann": 9970, "bob": 10_000}
    assert parlour.table().hands[1].faults == ((0, told),)


@pytest.mark.parametrize("chips", [10, 30, 31, 9989, 9990])
def test_a_valid_bet_does_not_fold_the_hand(chips: int) -> None:
    """holdem-4.5"""
    parlour = duel()
    assert parlour.bet("ann", chips) == ActDone()
    assert parlour.nets == []


def test_a_bet_below_the_big_blind_is_invalid() -> None:
    """holdem-4.11"""
    parlour = duel()
    parlour.play("ann 10, bob 0")
    assert parlour.bet("bob", 19) == ActDone("found 19; allowed: 0 to check, 20 to 9980 to raise")
    assert parlour.nets == [(20, -20)]


def test_a_raise_is_invalid_if_the_betting_is_not_reopened() -> None:
    """holdem-4.12, holdem-6.9: cat's all-in is no full raise, so that bob, who has acted, may not raise."""
    parlour = trio(stack=400)
    parlour.play("bob 300")
    assert parlour.chips() == {"ann": 370, "bob": 110, "cat": 390}
    parlour.play("cat 390, ann fold")
    assert parlour.bet("bob", 110) == ActDone("found 110; allowed: 100 to call")


def test_an_all_in_short_of_a_full_raise_is_valid() -> None:
    """holdem-4.10, holdem-4.11"""
    parlour = trio(stack=400)
    parlour.play("bob 380, cat 390, ann 370")
    assert parlour.states()["bob"] == "active"
    assert parlour.turn() == "bob"


def test_the_reason_has_one_number_if_only_one_is_allowed() -> None:
    hand = Hand([45, 100])
    hand.deal(range(4))
    assert invalid_bet_reason(36, hand.legal) == "found 36; allowed: 10 to call, 30 to 35 to raise"
    hand = Hand([35, 100])
    hand.deal(range(4))
    assert invalid_bet_reason(36, hand.legal) == "found 36; allowed: 10 to call, 25 to raise"
    hand = Hand([15, 100])
    hand.deal(range(4))
    assert invalid_bet_reason(36, hand.legal) == "found 36; allowed: 5 to call"
