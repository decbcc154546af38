"""Tests of the Game object of a table during its hands: every row of the document's tables."""

from typing import Any

import pytest

from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.table.wording import invalid_bet_reason
from croupier.rooms.holdem.wire import MAX_AMOUNT, ActDone
from tests.rooms.holdem.house_fixture import SHOWDOWN, HouseFixture, duel, trio

NO_TURN = {"playerID": "", "bet_so_far": 0, "bet_to_player": 0, "minimum_raise": 0, "expiry": "0001-01-01T00:00:00Z"}
NO_CARDS = {"hole": [], "flop": None, "turn": None, "river": None}
NO_POT = [{"size": 0, "players": []}]


def board(fixture: HouseFixture) -> tuple[Any, Any, Any]:
    cards = fixture.json_view()["cards"]
    return cards["flop"], cards["turn"], cards["river"]


# Without a hand


def test_an_empty_game_has_no_players_cards_or_chips() -> None:
    """holdem-3.2, holdem-5.12, holdem-5.16"""
    fixture = HouseFixture()
    game = fixture.table().guid
    assert fixture.json_view() == {"gameID": game, "table": [], "turn": NO_TURN, "cards": NO_CARDS, "pots": NO_POT}


def test_one_player_alone_waits() -> None:
    """holdem-5.16, holdem-6.1"""
    fixture = HouseFixture()
    fixture.join("ann")
    shown = fixture.json_view("ann")
    ann = {"playerID": fixture.house.guid_of("ann"), "handle": "ann", "state": "active", "wealth": 10_000}
    assert shown["table"] == [{**ann, "bet_so_far": 0, "small_blind": False}]
    assert (shown["turn"], shown["cards"], shown["pots"]) == (NO_TURN, NO_CARDS, NO_POT)
    assert fixture.table().deadline is None


# Hands


def test_the_second_player_begins_the_hand() -> None:
    """holdem-5.3, holdem-5.7, holdem-5.10, holdem-6.1 to holdem-6.4: the whole Game."""
    fixture = duel()
    ann, bob = fixture.house.guid_of("ann"), fixture.house.guid_of("bob")
    shown = {
        "gameID": fixture.table().guid,
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
    assert fixture.json_view() == shown
    assert fixture.json_view("ann") == {**shown, "cards": {**NO_CARDS, "hole": ["AS", "AH"]}}
    assert fixture.json_view("bob") == {**shown, "cards": {**NO_CARDS, "hole": ["2C", "2D"]}}
    assert fixture.json_view("cat") == shown


def test_the_board_is_null_until_its_cards_are_dealt() -> None:
    """holdem-5.5, holdem-6.5"""
    fixture = duel()
    assert board(fixture) == (None, None, None)
    fixture.play("ann 10, bob 0")
    assert board(fixture) == (["KS", "QH", "9C"], None, None)
    fixture.play("bob 0, ann 0")
    assert board(fixture) == (["KS", "QH", "9C"], ["8D"], None)
    fixture.play("bob 0, ann 0")
    assert board(fixture) == (["KS", "QH", "9C"], ["8D"], ["4H"])
    assert fixture.json_view("bob")["cards"]["hole"] == ["2C", "2D"]


def test_the_next_hand_begins_immediately() -> None:
    """holdem-5.18, holdem-6.2, holdem-6.14: ann has won, bob has the button."""
    fixture = duel(f"{SHOWDOWN} / 3C 4C 5C 6C")
    fixture.play("ann 10, bob 0, bob 0, ann 0, bob 0, ann 0, bob 0, ann 0")
    assert fixture.nets == [(20, -20)]
    assert fixture.chips() == {"ann": 10_000, "bob": 9970}
    assert [player.small_blind for player in fixture.view().table] == [False, True]
    assert fixture.turn() == "bob"
    assert fixture.json_view("bob")["cards"]["hole"] == ["3C", "5C"]


def test_a_player_is_active_until_he_has_acted_and_again_after_a_raise() -> None:
    """holdem-5.9"""
    fixture = trio()
    assert fixture.states() == {"ann": "active", "bob": "active", "cat": "active"}
    fixture.play("bob 20")
    assert fixture.states() == {"ann": "active", "bob": "called", "cat": "active"}
    fixture.play("cat 50")
    assert fixture.states() == {"ann": "active", "bob": "active", "cat": "called"}
    fixture.play("ann 40")
    assert fixture.states() == {"ann": "called", "bob": "active", "cat": "called"}
    fixture.play("bob fold")
    assert fixture.states() == {"ann": "active", "bob": "folded", "cat": "active"}
    assert board(fixture)[0]
    fixture.play("cat 0")
    assert fixture.states() == {"ann": "active", "bob": "folded", "cat": "called"}
    fixture.play("ann 20")
    assert fixture.states() == {"ann": "called", "bob": "folded", "cat": "active"}


def test_the_big_blind_is_active_until_it_has_used_its_option() -> None:
    """holdem-5.9, holdem-6.6"""
    fixture = trio()
    fixture.play("bob 20, cat 10")
    assert fixture.states() == {"ann": "active", "bob": "called", "cat": "called"}
    assert fixture.turn() == "ann"
    fixture.play("ann 40")
    assert fixture.states() == {"ann": "called", "bob": "active", "cat": "active"}


def test_a_player_who_is_all_in_has_called() -> None:
    """holdem-5.9"""
    fixture = trio()
    fixture.play("bob 100, cat 9990")
    assert fixture.states() == {"ann": "active", "bob": "active", "cat": "called"}
    fixture.play("ann fold")
    assert fixture.states() == {"ann": "folded", "bob": "active", "cat": "called"}


def test_a_bet_is_what_is_added_now_and_bet_to_player_is_the_total() -> None:
    """holdem-4.5, holdem-5.10"""
    fixture = duel()
    fixture.play("ann 50")
    turn = fixture.json_view()["turn"]
    assert (turn["bet_so_far"], turn["bet_to_player"], turn["minimum_raise"]) == (20, 60, 40)
    fixture.play("bob 140")
    turn = fixture.json_view()["turn"]
    assert (turn["bet_so_far"], turn["bet_to_player"], turn["minimum_raise"]) == (60, 160, 100)
    fixture.play("ann 100")
    turn = fixture.json_view()["turn"]
    assert (turn["bet_so_far"], turn["bet_to_player"], turn["minimum_raise"]) == (0, 0, 20)


def test_bets_are_in_the_pot_at_once() -> None:
    """holdem-5.13, holdem-5.14: also the bets of folded players."""
    fixture = trio()
    assert fixture.pots() == [(30, "ann cat")]
    fixture.play("bob 60")
    assert fixture.pots() == [(90, "ann bob cat")]
    fixture.play("cat fold")
    assert fixture.pots() == [(90, "ann bob cat")]


def test_an_all_in_player_creates_a_side_pot() -> None:
    """holdem-5.15, holdem-6.12"""
    fixture = trio(stack=1000)
    fixture.play("bob 100, cat 990, ann fold")
    assert fixture.pots() == [(1120, "ann bob cat")]
    fixture = trio(stack=1000)
    assert fixture.chips() == {"ann": 970, "bob": 1010, "cat": 990}
    fixture.play("bob 1010, cat 990")
    assert fixture.pots() == [(2020, "ann bob cat"), (10, "bob")]


def test_an_ante_is_in_the_pot_but_not_a_bet() -> None:
    """holdem-6.17"""
    fixture = duel(ante=5)
    assert fixture.pots() == [(40, "ann bob")]
    assert [player.bet_so_far for player in fixture.view().table] == [10, 20]
    assert fixture.chips() == {"ann": 9985, "bob": 9975}


def test_a_straddle_is_a_third_blind() -> None:
    """holdem-6.17"""
    fixture = duel(straddle=40)
    assert fixture.json_view()["turn"]["bet_to_player"] == 20
    fixture.join("cat")
    fixture.play("ann fold")
    assert fixture.turn() == "cat"
    assert fixture.json_view()["turn"]["bet_to_player"] == 40
    assert [player.bet_so_far for player in fixture.view().table] == [20, 40, 10]


def test_an_all_in_deals_the_whole_board() -> None:
    """holdem-6.14, holdem-3.13: bob has no chips left and is removed."""
    fixture = duel(pause_seconds=5.0)
    fixture.play("ann 9990, bob 9980")
    assert board(fixture) == (["KS", "QH", "9C"], ["8D"], ["4H"])
    assert fixture.chips() == {"ann": 20_000}
    assert fixture.nets == [(10_000, -10_000)]
    assert fixture.table().player_guid("bob") is None


# Invalid bets


@pytest.mark.parametrize(
    ("chips", "reason"),
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
def test_an_invalid_bet_folds_the_hand(chips: int, reason: str) -> None:
    """holdem-4.7 to holdem-4.11: the player stays in the game."""
    fixture = duel()
    assert fixture.bet("ann", chips) == ActDone(reason)
    assert fixture.nets == [(-10, 10)]
    assert fixture.chips() == {"ann": 9970, "bob": 10_000}
    assert fixture.table().hands[1].faults == ((0, reason),)


@pytest.mark.parametrize("chips", [10, 30, 31, 9989, 9990])
def test_a_valid_bet_does_not_fold_the_hand(chips: int) -> None:
    """holdem-4.5"""
    fixture = duel()
    assert fixture.bet("ann", chips) == ActDone()
    assert fixture.nets == []


def test_a_bet_below_the_big_blind_is_invalid() -> None:
    """holdem-4.11"""
    fixture = duel()
    fixture.play("ann 10, bob 0")
    assert fixture.bet("bob", 19) == ActDone("found 19; allowed: 0 to check, 20 to 9980 to raise")
    assert fixture.nets == [(20, -20)]


def test_a_bet_that_no_player_can_answer_counts_as_a_call() -> None:
    """holdem-6.11: bob, who has acted before cat's short all-in, may not raise, but nobody is left to call it."""
    fixture = trio(stack=400)
    fixture.play("bob 300")
    assert fixture.chips() == {"ann": 370, "bob": 110, "cat": 390}
    fixture.play("cat 390, ann fold")
    assert fixture.bet("bob", 110) == ActDone()


def test_a_bet_below_the_call_is_told_what_counts_as_a_call() -> None:
    """holdem-4.10, holdem-6.11"""
    fixture = trio(stack=400)
    fixture.play("bob 300, cat 390, ann fold")
    allowed = "100 to call, or more up to 110, which counts as a call"
    assert fixture.bet("bob", 99) == ActDone(f"found 99; allowed: {allowed}")


def test_an_all_in_short_of_a_full_raise_is_valid() -> None:
    """holdem-4.10, holdem-4.11"""
    fixture = trio(stack=400)
    fixture.play("bob 380, cat 390, ann 370")
    assert fixture.states()["bob"] == "active"
    assert fixture.turn() == "bob"


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
