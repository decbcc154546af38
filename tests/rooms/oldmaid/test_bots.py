"""The minds that pick a card, each alone and in a player's place."""

from collections import Counter

import pytest

from croupier.core.bots import mind_named
from croupier.core.dealer import Fair, derive
from croupier.rooms.oldmaid.bots import STYLES
from croupier.rooms.oldmaid.rules import View

VIEW = View((0, 5), (), (), 4)


def luck(number: int = 1):
    return Fair(derive(number, "oldmaid", 1)).luck


@pytest.mark.parametrize("name", STYLES)
def test_every_mind_picks_one_of_the_cards(name: str) -> None:
    mind, drawn = mind_named(STYLES, name)(), luck()
    for cards in range(1, 54):
        assert mind.choose(VIEW, range(cards), drawn) in range(cards)


def test_random_picks_each_card_as_often_as_any_other() -> None:
    mind, drawn = mind_named(STYLES, "random")(), luck()
    found = Counter(mind.choose(VIEW, range(4), drawn) for _ in range(4000))
    assert all(abs(found[position] - 1000) < 5 * 27.4 for position in range(4)), found  # five standard deviations


def test_first_and_last_pick_at_the_ends() -> None:
    assert mind_named(STYLES, "first")().choose(VIEW, range(4), luck()) == 0
    assert mind_named(STYLES, "last")().choose(VIEW, range(4), luck()) == 3


def test_an_unknown_mind_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(ValueError, match="found the mind 'best'; allowed: random, first, last"):
        mind_named(STYLES, "best")
