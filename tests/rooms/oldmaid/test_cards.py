"""The pack of Old Maid: numbers, wire forms and names of cards."""

from itertools import combinations

import pytest

from croupier.rooms.oldmaid.cards import (
    CARD_NAMES,
    CARD_NUMBERS,
    JOKER,
    PACK,
    PAIR_COUNT,
    WIRE_CARDS,
    WIRE_JOKER,
    is_pair,
    to_wire,
)
from tests.sampling import in_one_test

BLACK, RED = {"spades", "clubs"}, {"diamonds", "hearts"}


def test_there_are_53_different_cards_and_the_last_is_the_old_maid() -> None:
    assert len(PACK) == len({*CARD_NAMES}) == len({*WIRE_CARDS}) == 53
    assert (JOKER, to_wire(JOKER), CARD_NAMES[JOKER]) == (52, ("joker", "maid"), "joker maid")


def test_two_cards_pair_if_their_value_is_the_same_and_both_are_black_or_both_are_red() -> None:
    found = set()
    for a, b in combinations(range(53), 2):
        (value, suit), (other_value, other_suit) = to_wire(a), to_wire(b)
        same = (
            value == other_value and ({suit, other_suit} in (BLACK, RED)) and WIRE_JOKER not in (to_wire(a), to_wire(b))
        )
        assert is_pair(a, b) == is_pair(b, a) == same
        if same:
            found.add((a, b))
    assert len(found) == PAIR_COUNT == 26
    assert len({card for pair in found for card in pair}) == 52


@in_one_test
@pytest.mark.parametrize("card", range(53))
def test_nothing_pairs_with_itself(card: int) -> None:
    assert not is_pair(card, card)


def test_wire_cards_are_distinct() -> None:
    assert [CARD_NUMBERS[to_wire(card)] for card in range(53)] == [*range(53)]
    assert ("10", "hearts") in CARD_NUMBERS


def test_deck_file_names_match_the_wire_and_allow_t_for_ten() -> None:
    """O5, G5"""
    found = PACK.parse_decks("3 spades\njoker maid\n10 hearts\n\nT clubs\nA DIAMONDS\n")
    expected = [[to_wire(card) for card in deck] for deck in found]
    assert expected == [
        [("3", "spades"), ("joker", "maid"), ("10", "hearts")],
        [("10", "clubs"), ("A", "diamonds")],
    ]
