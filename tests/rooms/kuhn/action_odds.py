"""What a mind does, exactly: how often it chooses which action, counted over every draw that it could be given."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from croupier.core.bots import Bot
from croupier.rooms.kuhn.rules import BETTING_TREE, CARDS, View


class Dial:
    """Luck that answers what it is set to, and remembers out of how many."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.bound = 1

    def below(self, bound: int) -> int:
        self.bound = bound
        return self.number


def row(mind: Bot[Any, Any], view: View, legal: Sequence[str]) -> Mapping[str, Fraction]:
    """The probability of each action behind a view, by trying every number that luck may draw."""
    found = dict.fromkeys(legal, Fraction(0))
    first = Dial(0)
    mind.choose(view, legal, first)
    for number in range(first.bound):
        found[mind.choose(view, legal, Dial(number))] += Fraction(1, first.bound)
    return found


def chances(mind: Bot[Any, Any]) -> Mapping[View, Mapping[str, Fraction]]:
    """The row of each of the twelve information sets."""
    return {
        View(card, history): row(mind, View(card, history), legal)
        for card in CARDS
        for history, (_, legal) in BETTING_TREE.items()
    }
