"""Tests of the Open Hand History format."""

from datetime import UTC, datetime
from random import Random
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from croupier.rooms.holdem.cards import parse_cards
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.stakes import Stakes
from croupier.rooms.holdem.histories import to_ohh
from tests.rooms.holdem.random_hands import begin, end, exchanged

seeds = st.integers(0, 2**32 - 1)


def ohh_of(hand: Hand, **more: Any) -> Any:
    """Return the decoded `ohh` object of a hand."""
    document = msgspec.json.decode(to_ohh(hand, **more))
    assert [*document] == ["ohh"]
    return document["ohh"]


def three() -> Hand:
    """Seat 0 has the button, and raises; seat 1 calls it all in, and loses to a pair of nines."""
    hand = Hand([1_000, 60, 2_000])
    hand.deal(parse_cards("AsTc9hAd9d9s"))
    hand.bet(80)
    hand.bet(50)
    hand.fold()
    hand.deal(parse_cards("2c3d4h"))
    hand.deal(parse_cards("7c"))
    hand.deal(parse_cards("8c"))
    return hand


def test_a_document_lists_the_hand_round_by_round() -> None:
    history = ohh_of(
        three(), players=["Ann", "Ben", "Cho"], table="blue", number=7, started_at=datetime(2014, 9, 24, 15, tzinfo=UTC)
    )
    assert history == {
        "spec_version": "1.4.7",
        "site_name": "croupier",
        "network_name": "croupier",
        "internal_version": "1.4.7",
        "tournament": False,
        "game_number": "7",
        "start_date_utc": "2014-09-24T15:00:00Z",
        "table_name": "blue",
        "game_type": "Holdem",
        "bet_limit": {"bet_type": "NL", "bet_cap": 0},
        "table_size": 3,
        "currency": "PPC",
        "dealer_seat": 1,
        "small_blind_amount": 10,
        "big_blind_amount": 20,
        "ante_amount": 0,
        "flags": ["Observed"],
        "players": [
            {"id": 0, "seat": 1, "name": "Ann", "starting_stack": 1000},
            {"id": 1, "seat": 2, "name": "Ben", "starting_stack": 60},
            {"id": 2, "seat": 3, "name": "Cho", "starting_stack": 2000},
        ],
        "rounds": [
            {
                "id": 0,
                "street": "Preflop",
                "cards": [],
                "actions": [
                    {"action_number": 0, "player_id": 1, "action": "Post SB", "amount": 10, "is_allin": False},
                    {"action_number": 1, "player_id": 2, "action": "Post BB", "amount": 20, "is_allin": False},
                    {"action_number": 2, "player_id": 1, "action": "Dealt Cards", "cards": ["As", "Ad"]},
                    {"action_number": 3, "player_id": 2, "action": "Dealt Cards", "cards": ["Tc", "9d"]},
                    {"action_number": 4, "player_id": 0, "action": "Dealt Cards", "cards": ["9h", "9s"]},
                    {"action_number": 5, "player_id": 0, "action": "Raise", "amount": 80, "is_allin": False},
                    {"action_number": 6, "player_id": 1, "action": "Call", "amount": 50, "is_allin": True},
                    {"action_number": 7, "player_id": 2, "action": "Fold"},
                ],
            },
            {"id": 1, "street": "Flop", "cards": ["2c", "3d", "4h"], "actions": []},
            {"id": 2, "street": "Turn", "cards": ["7c"], "actions": []},
            {"id": 3, "street": "River", "cards": ["8c"], "actions": []},
            {
                "id": 4,
                "street": "Showdown",
                "cards": [],
                "actions": [
                    {"action_number": 0, "player_id": 0, "action": "Shows Cards", "cards": ["9h", "9s"]},
                    {"action_number": 1, "player_id": 1, "action": "Shows Cards", "cards": ["As", "Ad"]},
                ],
            },
        ],
        "pots": [{"number": 0, "amount": 140, "player_wins": [{"player_id": 1, "win_amount": 140}], "rake": 0}],
    }


def test_a_document_of_an_open_seat_has_its_hole_cards() -> None:
    history = ohh_of(three(), open_seats=[2])
    dealt = [action for action in history["rounds"][0]["actions"] if action["action"] == "Dealt Cards"]
    assert [action.get("cards") for action in dealt] == [None, ["Tc", "9d"], None]


def test_antes_straddle_bet_and_departure_are_written() -> None:
    hand = Hand([1_000, 3, 1_000, 1_000], stakes=Stakes(ante=5, straddle=40))
    hand.deal(parse_cards("AhAdAsAcKhKdKsKc"))
    hand.bet(40)
    hand.bet(20)
    hand.bet(0)
    hand.deal(parse_cards("2c3d4h"))
    hand.bet(0)
    hand.leave(0)
    hand.bet(100)
    history = ohh_of(hand)
    names = [[(one["player_id"], one["action"]) for one in part["actions"]] for part in history["rounds"]]
    antes = [(1, "Post Ante"), (2, "Post Ante"), (3, "Post Ante"), (0, "Post Ante")]
    assert names[0][:6] == [*antes, (2, "Post BB"), (3, "Straddle")]
    assert names[0][10:] == [(0, "Call"), (2, "Call"), (3, "Check")]
    assert names[1] == [(2, "Check"), (0, "Fold"), (0, "Stands Up"), (3, "Bet")]
    assert history["start_date_utc"] == "1970-01-01T00:00:00Z"
    assert history["pots"] == []


@given(seeds)
def test_written_chips_equal_the_played_chips(seed: int) -> None:
    luck = Random(seed)
    hand = end(begin(luck), luck, 0.02)
    history = ohh_of(hand)
    stacks = [player["starting_stack"] for player in history["players"]]
    for part in history["rounds"]:
        for number, action in enumerate(part["actions"]):
            assert action["action_number"] == number
            stacks[action["player_id"]] -= action.get("amount", 0)
            assert action.get("is_allin", False) == ("amount" in action and stacks[action["player_id"]] == 0)
    for pot in history["pots"]:
        assert pot["amount"] == sum(win["win_amount"] for win in pot["player_wins"])
        for win in pot["player_wins"]:
            stacks[win["player_id"]] += win["win_amount"]
    uncalled = [true - found for true, found in zip(hand.stacks, stacks, strict=True)]
    assert min(uncalled) >= 0
    assert sum(map(bool, uncalled)) <= len(history["rounds"])
    board = [card for part in history["rounds"] for card in part["cards"]]
    assert len(board) == len(hand.board)
    assert [part["id"] for part in history["rounds"]] == [*range(len(history["rounds"]))]


@given(seeds)
def test_hidden_cards_are_nowhere_in_the_text(seed: int) -> None:
    luck = Random(seed)
    hand = end(begin(luck), luck, 0.05)
    hidden = [seat for seat, hole in enumerate(hand.holes) if seat not in hand.showdown_order and len(hole) == 2]
    if len(hidden) < 2:
        return
    one, other = luck.sample(hidden, 2)
    swapped = exchanged(hand, one, other)
    assert to_ohh(swapped, open_seats=hand.showdown_order) == to_ohh(hand, open_seats=hand.showdown_order)
