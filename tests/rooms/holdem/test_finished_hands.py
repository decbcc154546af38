"""Tests of finished hands: each is encoded once, and decoded on first access."""

import pytest
from msgspec import Raw
from msgspec.json import decode, encode
from msgspec.structs import replace

from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.table.finished_hands import FinishedHand, FinishedHands
from tests.rooms.holdem.house_fixture import HouseFixture


def finished(*numbers: int) -> list[FinishedHand]:
    """Return heads-up hands in which the small blind has folded."""
    hands = []
    for number in numbers:
        hand = Hand([100, 100 + number])
        hand.deal(range(4))
        hand.fold()
        hands.append(FinishedHand("game", number, number, ("ann", "bob"), ("a", "b"), hand, ((0, "found a bet of 7"),)))
    return hands


def test_saved_hands_equal_the_played_hands() -> None:
    first, second = finished(1, 2)
    hands = FinishedHands().with_hand(first, 9).with_hand(second, 9)
    again = FinishedHands(hands.snapshots(), 2)
    assert dict(again) == {1: first, 2: second} == dict(hands)
    assert again.snapshots() == hands.snapshots() == tuple(Raw(each.json) for each in (first, second))
    assert FinishedHand.from_json(first.json) == first


@pytest.mark.parametrize("wrong", [{"players": ("ann",)}, {"guids": ("a", "b", "c")}, {"players": (), "guids": ()}])
def test_a_saved_hand_has_a_player_and_a_guid_for_each_seat(wrong: dict[str, tuple[str, ...]]) -> None:
    (hand,) = finished(1)
    with pytest.raises(ValueError, match="allowed: 2 of each"):
        replace(hand, **wrong)
    data = encode(decode(hand.json) | wrong)
    with pytest.raises(ValueError, match=r"found a malformed snapshot of a hold'em hand: .*allowed: 2 of each"):
        FinishedHand.from_json(data)


def test_a_saved_hand_keeps_the_rules() -> None:
    (hand,) = finished(1)
    data = hand.json.replace(b'"fold"', b"7")
    with pytest.raises(ValueError, match=r"found a malformed snapshot of a hold'em hand: 7 is not allowed here"):
        FinishedHand.from_json(data)


@pytest.mark.parametrize(("most", "left"), [(3, [2, 3, 4]), (1, [4]), (0, [])])
def test_the_oldest_hands_are_dropped_including_saved_ones(most: int, left: list[int]) -> None:
    one, two, three, four = finished(1, 2, 3, 4)
    before = FinishedHands([Raw(each.json) for each in (one, two, three)], 3)
    hands = before.with_hand(four, most)
    assert [*hands] == left
    with pytest.raises(KeyError):
        hands[1]
    assert dict(before) == {1: one, 2: two, 3: three}


def test_a_finished_hand_is_encoded_once() -> None:
    (played,) = finished(1)
    assert played.json is played.json


def test_an_unchanged_table_is_encoded_once() -> None:
    fixture = HouseFixture()
    fixture.join("ann", "bob")
    table = fixture.table()
    before = table.snapshot()
    assert table.snapshot() is before
    fixture.play(f"{fixture.turn()} 10")
    assert bytes(table.snapshot()) != bytes(before)
