"""Tests of the ACPC match state format."""

import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from croupier.core.rules import Turn
from croupier.rooms.holdem.cards import parse_cards
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.stakes import Stakes
from croupier.rooms.holdem.histories import from_acpc, to_acpc
from croupier.rooms.holdem.histories.notation import seat_order
from tests.rooms.holdem.random_hands import begin, end, steps

seeds = st.integers(0, 2**32 - 1)
DEEP = (20_000, 20_000)


def heads_up() -> Hand:
    """Return a heads-up hand; seat 0 has the button and the small blind, and so position 1."""
    hand = Hand(DEEP, stakes=Stakes(50, 100))
    hand.deal(parse_cards("9s3h8h3c"))
    return hand


def test_a_line_has_position_hand_number_betting_and_known_cards() -> None:
    hand = heads_up()
    assert to_acpc(hand, 0, 30) == "MATCHSTATE:1:30::|9s8h"
    hand.bet(250)
    hand.bet(200)
    assert to_acpc(hand, 1, 30) == "MATCHSTATE:0:30:r300c:3h3c|"
    hand.deal(parse_cards("8c8d5c"))
    assert to_acpc(hand, 0, 30) == "MATCHSTATE:1:30:r300c/:|9s8h/8c8d5c"
    hand.bet(0)
    hand.bet(600)
    assert to_acpc(hand, 0, 30) == "MATCHSTATE:1:30:r300c/cr900:|9s8h/8c8d5c"
    hand.fold()
    assert to_acpc(hand, 0, 30) == "MATCHSTATE:1:30:r300c/cr900f:|9s8h/8c8d5c"


def test_showdown_hands_are_in_the_line_of_every_viewer() -> None:
    hand = heads_up()
    hand.bet(19_950)
    hand.bet(19_900)
    hand.deal(parse_cards("8c8d5c"))
    hand.deal(parse_cards("2c"))
    hand.deal(parse_cards("2d"))
    for viewer, position in ((0, 1), (1, 0)):
        assert to_acpc(hand, viewer, 4) == f"MATCHSTATE:{position}:4:r20000c///:3h3c|9s8h/8c8d5c/2c/2d"


@pytest.mark.parametrize(
    ("line", "turn", "bets"),
    [
        ("MATCHSTATE:0:0::TdAs|\r\n", 1, [100, 50]),
        ("MATCHSTATE:0:0:r300:TdAs|", 0, [100, 300]),
        ("MATCHSTATE:0:0:r300r900:TdAs|", 1, [900, 300]),
        ("MATCHSTATE:1:0:r300r900c/:|8c4h/8s2d2h", 0, [0, 0]),
        ("MATCHSTATE:1:0:r300r900c/cr1800:|8c4h/8s2d2h", 0, [0, 900]),
        ("MATCHSTATE:1:0:cc/cc/cc/c:|8c4h/8s2d2h/7c/7d", 1, [0, 0]),
    ],
)
def test_heads_up_lines_are_parsed(line: str, turn: int, bets: list[int]) -> None:
    hand = from_acpc(line, DEEP, Stakes(50, 100))
    assert (hand.turn, hand.bets) == (turn, bets)
    position = int(line.split(":")[1])
    assert to_acpc(hand, position) == line.rstrip()


@pytest.mark.parametrize(
    ("line", "turn"),
    [
        ("MATCHSTATE:0:0::JdTc||", 2),
        ("MATCHSTATE:2:7:cc:||JsTs", 1),
        ("MATCHSTATE:2:7:r400fc/:||JsTs/AsAcAd", 1),
        ("MATCHSTATE:1:7:r400cc/ccr1000ff:|9h9c|/AsAcAd", Turn.OVER),
    ],
)
def test_three_player_lines_are_parsed(line: str, turn: object) -> None:
    hand = from_acpc(line, [20_000] * 3, Stakes(50, 100))
    assert hand.turn == turn
    assert to_acpc(hand, int(line.split(":")[1]), 7).replace(":7:", ":0:") == line.replace(":7:", ":0:")


def told_by_position(hand: Hand) -> list[int]:
    """Return the starting stacks by position."""
    fresh = hand.replay(())
    return [fresh.stacks[seat] + fresh.paid[seat] for seat in seat_order(len(hand.stacks), hand.button)]


@given(seeds, st.randoms(use_true_random=False))
def test_lines_of_every_position_round_trip(seed: int, chance: Random) -> None:
    luck = Random(seed)
    start = begin(luck)
    if start.stakes.ante:
        start = Hand(told_by_position(start), button=start.button, stakes=replace(start.stakes, ante=0))
    seats = seat_order(len(start.stacks), start.button)
    stacks = told_by_position(start)
    for hand in steps(start, luck):
        if (hand.turn is Turn.CHANCE and (hand.street == 0 or hand.cards_due in (1, 2))) or chance.random() < 0.5:
            continue
        viewer = chance.choice(seats)
        read = from_acpc(to_acpc(hand, viewer, 3), stacks, hand.stakes)
        assert [read.stacks[at] for at in range(len(seats))] == [hand.stacks[seat] for seat in seats]
        assert read.board == hand.board
        for seat in {viewer, *hand.showdown_order}:
            assert read.holes[seats.index(seat)] == hand.holes[seat]
        assert read.turn == (seats.index(hand.turn) if isinstance(hand.turn, int) else hand.turn)


@given(seeds)
def test_hands_with_departures_are_formatted_for_every_viewer(seed: int) -> None:
    luck = Random(seed)
    hand = end(begin(luck), luck, 0.1)
    if not hand.stakes.ante:
        for viewer in range(len(hand.stacks)):
            assert re.fullmatch(r"MATCHSTATE:\d:0:[cfr/0-9]*:[2-9TJQKAcdhs|]*(/[^/]*){0,3}", to_acpc(hand, viewer))


def test_a_player_who_left_folds_at_their_next_turn() -> None:
    hand = Hand([1_000] * 3)
    hand.deal(parse_cards("AhAdAsKhKdKs"))
    hand.leave(2)  # the big blind, out of turn
    hand.bet(20)
    assert to_acpc(hand, 0) == "MATCHSTATE:2:0:c:||AsKs"
    hand.bet(10)
    assert to_acpc(hand, 0) == "MATCHSTATE:2:0:ccf:||AsKs"


def test_the_last_player_checks_until_the_departed_player_folds() -> None:
    hand = Hand([1_000, 1_000, 100])
    hand.deal(parse_cards("AhAdAsKhKdKs"))
    hand.bet(100)
    hand.bet(90)
    hand.bet(80)
    hand.leave(0)
    hand.deal(parse_cards("2c3c4c"))
    assert to_acpc(hand, 1) == "MATCHSTATE:0:0:r100cc/:AhKh||/2c3c4c"
    hand.deal(parse_cards("5d"))
    assert to_acpc(hand, 1) == "MATCHSTATE:0:0:r100cc/cf/:AhKh||/2c3c4c/5d"


def test_a_check_that_no_opponent_can_answer_is_parsed() -> None:
    hand = from_acpc("MATCHSTATE:0:0:c///:AhAd|9h8s/2c3d4h/7d/Jc", [5, 100])
    assert hand.stacks == [10, 95]


def test_hands_with_antes_are_refused() -> None:
    with pytest.raises(ValueError, match="found an ante of 1; allowed: 0"):
        to_acpc(Hand([100, 100], stakes=Stakes(ante=1)), 0)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "found ''; allowed: MATCHSTATE:"),
        ("MATCHSTATE:0:0:r:AhAd|", "found the betting 'r'"),
        ("MATCHSTATE:2:0::AhAd|", "found position 2; allowed: 0 to 1"),
        ("MATCHSTATE:0:0::AhAd", "found the hole cards 'AhAd'"),
        ("MATCHSTATE:0:0::AhAdAc|", "found the hole cards"),
        ("MATCHSTATE:0:0::AhAd|/2c3c", "found the board '/2c3c'"),
        ("MATCHSTATE:0:0::AhAd|/2c3c4c", "found 3 cards on the board; allowed: 0"),
        ("MATCHSTATE:0:0:cc/:AhAd|", "a deal of"),
        ("MATCHSTATE:0:0:c/:AhAd|/2c3c4c", "a deal of"),
        ("MATCHSTATE:0:0:r150:AhAd|", "100 is not allowed here"),
        ("MATCHSTATE:0:0:ccr300:AhAd|", "found 'r300' while no player is to act"),
        ("MATCHSTATE:0:0:fr300:AhAd|", "found 'r300' while no player is to act"),
        ("MATCHSTATE:0:0::AhAh|", "a deal of"),
        ("MATCHSTATE:0:0::AhXx|", "found the card 'XX'"),
    ],
)
def test_malformed_input_is_refused_with_the_reason(line: str, message: str) -> None:
    with pytest.raises(ValueError) as refused:  # noqa: PT011 -- the text is compared below
        from_acpc(line, DEEP, Stakes(50, 100))
    assert message in str(refused.value)


@given(st.data())
def test_a_damaged_line_raises_value_error_or_is_a_hand(data: st.DataObject) -> None:
    line = "MATCHSTATE:1:30:cr300c/r600c/cc/r1200c:9s8h|3h3c/8c8d5c/2c/2d"
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(line)))
        until = data.draw(st.integers(at, min(len(line), at + 3)))
        line = line[:at] + data.draw(st.sampled_from(["", "c", "f", "r", "/", "|", ":", "9", "Ah"])) + line[until:]
    try:
        hand = from_acpc(line, DEEP, Stakes(50, 100))
    except ValueError:
        return
    assert sum(hand.stacks) + (0 if hand.turn is Turn.OVER else sum(hand.paid)) == sum(DEEP)
