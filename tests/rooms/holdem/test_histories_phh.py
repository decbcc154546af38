"""Tests of the PHH format: writing, reading, and malformed files."""

import tomllib
from datetime import UTC, datetime, timedelta, timezone
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.core.rules import Turn
from croupier.rooms.holdem.cards import parse_cards
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.log import HandLogEntry
from croupier.rooms.holdem.engine.stakes import Stakes
from croupier.rooms.holdem.histories import from_phh, to_phh
from tests.rooms.holdem.random_hands import begin, end, exchanged, steps

seeds = st.integers(0, 2**32 - 1)


def three() -> Hand:
    """Ann has the button, Ben and Cho the blinds; Ben wins at the showdown."""
    hand = Hand([1_000, 500, 2_000])
    hand.deal(parse_cards("AsTc2hAd9d7s"))
    hand.bet(60)
    hand.bet(50)
    hand.fold()
    hand.deal(parse_cards("2c3d4h"))
    hand.bet(0)
    hand.bet(100)
    hand.bet(100)
    hand.deal(parse_cards("7c"))
    hand.bet(0)
    hand.bet(0)
    hand.deal(parse_cards("8c"))
    hand.bet(0)
    hand.bet(0)
    return hand


THREE = """variant = "NT"
antes = [0, 0, 0]
blinds_or_straddles = [10, 20, 0]
min_bet = 20
starting_stacks = [500, 2000, 1000]
actions = [
  "d dh p1 AsAd",
  "d dh p2 Tc9d",
  "d dh p3 2h7s",
  "p3 cbr 60",
  "p1 cc",
  "p2 f",
  "d db 2c3d4h",
  "p1 cc",
  "p3 cbr 100",
  "p1 cc",
  "d db 7c",
  "p1 cc",
  "p3 cc",
  "d db 8c",
  "p1 cc",
  "p3 cc",
  "p1 sm AsAd",
  "p3 sm 2h7s",
]
venue = "croupier"
time = 12:59:30
time_zone = "UTC"
day = 24
month = 9
year = 2014
hand = 7
seats = [2, 3, 1]
seat_count = 3
table = "blue"
players = [
  "Ben",
  "Cho",
  "Ann",
]
finishing_stacks = [340, 1980, 1180]
winnings = [0, 0, 340]
"""


def moves(hand: Hand) -> list[HandLogEntry]:
    """Return the actions of the players and the board."""
    return [entry for entry in hand.log if entry[0] != "deal" or entry[1] is None]


def test_players_are_written_from_the_left_of_the_button() -> None:
    begun = datetime(2014, 9, 24, 14, 59, 30, 999, timezone(timedelta(hours=2)))
    text = to_phh(three(), players=["Ann", "Ben", "Cho"], table="blue", number=7, started_at=begun)
    assert text == THREE


def test_unknown_details_of_a_hand_are_omitted() -> None:
    assert {"time", "day", "hand", "table", "players"}.isdisjoint(tomllib.loads(to_phh(three())))


def test_a_hand_round_trips() -> None:
    assert from_phh(THREE) == three()


@given(seeds, st.sampled_from([0.0, 0.05]))
def test_random_hands_round_trip(seed: int, leaving: float) -> None:
    luck = Random(seed)
    hand = end(begin(luck), luck, leaving)
    read = from_phh(to_phh(hand))
    assert moves(read) == moves(hand)
    assert (read.stacks, read.awards, read.showdown_order, read.button) == (
        hand.stacks,
        hand.awards,
        hand.showdown_order,
        hand.button,
    )
    if not hand.cards_due and not any(entry[0] == "leave" for entry in hand.log[: 2 * len(hand.stacks)]):
        assert read.holes == hand.holes


@given(seeds)
def test_hands_with_hidden_cards_round_trip_with_the_same_stacks(seed: int) -> None:
    luck = Random(seed)
    hand = end(begin(luck), luck, 0.05)
    read = from_phh(to_phh(hand, open_seats=hand.showdown_order))
    assert moves(read) == moves(hand)
    assert read.stacks == hand.stacks


@given(seeds, st.randoms(use_true_random=False))
def test_unfinished_hands_round_trip(seed: int, chance: Random) -> None:
    luck = Random(seed)
    for hand in steps(begin(luck), luck):
        if hand.street == 0 and hand.turn is Turn.CHANCE:
            continue
        if chance.random() < 0.2:
            read = from_phh(to_phh(hand))
            assert read.log == hand.log
            assert read.turn == hand.turn


@given(seeds)
def test_hidden_cards_are_nowhere_in_the_text(seed: int) -> None:
    luck = Random(seed)
    hand = end(begin(luck), luck, 0.05)
    hidden = [seat for seat, hole in enumerate(hand.holes) if seat not in hand.showdown_order and len(hole) == 2]
    if len(hidden) < 2:
        return
    one, other = luck.sample(hidden, 2)
    swapped = exchanged(hand, one, other)
    assert to_phh(swapped, open_seats=hand.showdown_order) == to_phh(hand, open_seats=hand.showdown_order)
    assert to_phh(swapped, open_seats={*hand.showdown_order, one}) != to_phh(
        hand, open_seats={*hand.showdown_order, one}
    )


def test_a_hand_without_phh_equivalent_is_written_as_played() -> None:
    """The ante takes the whole stack of the big blind, so that PokerKit would let the small blind act first."""
    log: list[HandLogEntry] = [
        *[("deal", None, (card,)) for card in (36, 28, 1, 41, 35, 12, 17, 49, 33, 38)],
        *[("bet", 2, 2), ("fold", 3), ("bet", 4, 2), ("bet", 0, 2)],
        *[("deal", None, (6, 27, 16)), ("bet", 0, 0), ("bet", 2, 0), ("bet", 4, 2), ("fold", 0)],
        *[("bet", 2, 162), ("bet", 4, 160), ("deal", None, (40,)), ("bet", 2, 0), ("bet", 4, 70), ("bet", 2, 24)],
        ("deal", None, (21,)),
    ]
    hand = Hand([53, 2, 195, 103, 241], button=4, stakes=Stakes(0, 2, ante=7)).replay(log)
    assert hand.stacks == [44, 10, 398, 96, 46]
    read = from_phh(to_phh(hand))
    assert (read.log, read.stacks) == (hand.log, hand.stacks)
    assert to_phh(hand, open_seats=hand.showdown_order)


@given(st.lists(st.text(), min_size=3, max_size=3), st.text(min_size=1))
def test_names_with_any_characters_are_written(names: list[str], table: str) -> None:
    fields = tomllib.loads(to_phh(three(), players=names, table=table).replace("\ud800", ""))
    assert fields["players"] == [names[1], names[2], names[0]]
    assert fields["table"] == table


def test_lone_surrogates_in_names_are_replaced() -> None:
    text = to_phh(three(), players=["a\ud800", "b", "c"])
    assert tomllib.loads(text)["players"][2] == "a\ufffd"
    assert text.encode()


def test_a_departure_is_a_fold_with_a_comment() -> None:
    hand = three().replay(three().log[:7])
    hand.leave(1)
    text = to_phh(hand)
    assert '"p1 f # leaves"' in text
    assert "_actions" not in text
    assert from_phh(text).log == hand.log


def foreign(**changed: str) -> str:
    """Return a file of another program, with some fields changed."""
    fields = {
        "variant": "'NT'",
        "antes": "[0, 0]",
        "blinds_or_straddles": "[1, 2]",
        "min_bet": "2",
        "starting_stacks": "[200, 200.0]",
        "actions": "['d dh p1 ????', 'd dh p2 AcAd', 'p2 cbr 6', 'p1 f']",
    }
    return "\n".join(f"{name} = {value}" for name, value in (fields | changed).items())


def test_heads_up_blinds_are_listed_in_reverse() -> None:
    hand = from_phh(foreign())
    assert (hand.button, hand.small_blind, hand.stakes) == (1, 1, Stakes(1, 2))
    assert hand.stacks == [198, 202]
    assert hand.holes[1] == list(parse_cards("AcAd"))


def test_a_player_who_mucks_does_not_win() -> None:
    deal = "'d dh p1 ????', 'd dh p2 3c2d', 'p2 cc', 'p1 cc', 'd db AhKhQh'"
    checks = "'p1 cc', 'p2 cc', 'd db 8s', 'p1 cc', 'p2 cc', 'd db 7s', 'p1 cc', 'p2 cc', 'p1 sm', 'p2 sm 3c2d'"
    with pytest.raises(ValueError, match="a showdown decided by unknown cards"):  # the board plays
        from_phh(foreign(actions=f"[{deal}, {checks}]"))
    hand = from_phh(foreign(actions=f"[{deal}, {checks}]".replace("3c2d", "JcJd")))
    assert hand.stacks == [198, 202]


def test_a_player_whom_nobody_can_answer_may_check_or_fold() -> None:
    three = {"antes": "[0, 0, 0]", "blinds_or_straddles": "[10, 20, 0]", "starting_stacks": "[90, 90, 15]"}
    deal = "'d dh p1 2c3c', 'd dh p2 4c5c', 'd dh p3 AcAd', 'p3 cc', 'p1 f'"
    board = "'d db 2d8h9h', 'd db Jh', 'd db Ks', 'p3 sm AcAd', 'p2 sm'"
    checked = from_phh(foreign(**three, actions=f"[{deal}, 'p2 cc', {board}]"))
    assert checked.stacks == [80, 75, 40]
    folded = from_phh(foreign(**three, actions=f"[{deal}, 'p2 f']"))
    assert folded.stacks == checked.stacks


def test_comments_empty_actions_and_spaces_are_ignored() -> None:
    written = "['', '# shuffled', ' d  dh p1 ????', 'd dh p2 AcAd # slowly', 'p2 cbr 6', 'p1  f # sadly']"
    assert from_phh(foreign(actions=written)) == from_phh(foreign())


def test_board_cards_may_be_dealt_one_by_one() -> None:
    written = "['d dh p1 ??', 'd dh p2 Ac', 'd dh p1 ??', 'd dh p2 Ad', 'p2 cbr 6', 'p1 f']"
    assert from_phh(foreign(actions=written)) == from_phh(foreign())


def test_seats_of_a_file_are_preserved() -> None:
    assert from_phh(foreign(seats="[5, 2]")).button == 0
    assert from_phh(foreign(seats="[2, 5]")).button == 1
    assert from_phh(foreign(seats="['a', 'b']")).button == 1


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"variant": "'PO'"}, "found the variant 'PO'; allowed: 'NT'"),
        ({"antes": "[0, 2]"}, "found the antes [0, 2]; allowed: the same ante for every player"),
        ({"antes": "[0]"}, "found antes = [0]; allowed: a list of 2 numbers"),
        ({"antes": "[true, true]"}, "found True in antes; allowed: whole numbers"),
        ({"starting_stacks": "[inf, 1]"}, "found inf in starting_stacks"),
        ({"starting_stacks": "[0.5, 1]"}, "found 0.5 in starting_stacks"),
        ({"starting_stacks": "[0, 1]"}, "found the stacks [0, 1]"),
        ({"starting_stacks": "[1]", "antes": "[0]", "blinds_or_straddles": "[1]"}, "found the blinds [1]"),
        ({"starting_stacks": "3"}, "found starting_stacks = 3"),
        ({"actions": "3"}, "found actions = 3; allowed: a list of actions"),
        ({"actions": "['p1 f']"}, "action 1, 'p1 f': found p1; allowed: p2, whose turn it is"),
        ({"actions": "['p2 cbr 3']"}, "action 1, 'p2 cbr 3': 2 is not allowed here; allowed: fold, 1, 3"),
        ({"actions": "['p2 cbr many']"}, "action 1, 'p2 cbr many': "),
        ({"actions": "['p2 sd']"}, "found an unknown action"),
        ({"actions": "['p3 f']"}, "found the player 'p3'"),
        ({"actions": "['p2 f', 'p1 cc', 'p1 cbr 9']"}, "action 3, 'p1 cbr 9': found a raise while no player is to act"),
        ({"actions": "['p2 f', 'p2 cc']"}, "action 2, 'p2 cc': found p2, who has folded"),
        ({"actions": "['p2 cc', 'd db AcKcQc']"}, "action 2"),
        ({"actions": "['d dh p1 AcAc', 'd dh p2 ????']"}, "a deal of"),
        ({"actions": "['d dh p1 AcXx']"}, "found the card 'XX'"),
        ({"actions": "['d dh p1 AcKcQc']"}, "found 3 hole cards of p1; allowed: two"),
        ({"actions": f"{'[' * 3_000}{']' * 3_000}"}, "found arrays nested too deeply"),
    ],
)
def test_malformed_input_is_refused_with_the_reason(changed: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError) as refused:  # noqa: PT011 -- the text is compared below
        from_phh(foreign(**changed))
    assert message in str(refused.value)


def test_a_file_without_fields_is_refused() -> None:
    with pytest.raises(ValueError, match="found the variant None"):
        from_phh("")


@given(st.data())
def test_a_damaged_file_raises_value_error_or_is_a_hand(data: st.DataObject) -> None:
    luck = Random(data.draw(seeds))
    text = to_phh(end(begin(luck), luck, 0.02))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        until = data.draw(st.integers(at, min(len(text), at + 12)))
        text = (
            text[:at]
            + data.draw(st.sampled_from(["", "p2", "9", "-", "'", '"', "[", "]", "?", "1e99", "f", "\n"]))
            + text[until:]
        )
    try:
        hand = from_phh(text)
    except ValueError:
        return
    assert sum(hand.stacks) + (0 if hand.turn is Turn.OVER else sum(hand.paid)) == sum(hand.start_stacks)


@given(st.text())
def test_arbitrary_text_raises_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"found|Expected|\(at (line|end)"):
        from_phh(text)


def test_times_are_written_in_utc() -> None:
    assert "time = 00:00:00\n" in to_phh(three(), started_at=datetime(2026, 1, 1, tzinfo=UTC))
