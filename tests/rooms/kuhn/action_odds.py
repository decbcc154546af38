"""Exact action probabilities of a bot, by enumerating all values of its random source."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from croupier.core.bots import Bot
from croupier.rooms.kuhn.rules import BETTING_TREE, CARDS, View
from tests.rooms.dial import Dial


def row(mind: Bot[Any, Any], view: View, legal: Sequence[str]) -> Mapping[str, Fraction]:
    """The probability of each action at a view, by trying every random number."""
    found = dict.fromkeys(legal, Fraction(0))
    first = Dial(0)
    mind.choose(view, legal, first)
    for number in range(first.bound):
        found[mind.choose(view, legal, Dial(number))] += Fraction(1, first.bound)
    return found


def chances(mind: Bot[Any, Any]) -> Mapping[View, Mapping[str, Fraction]]:
    """The action probabilities at each of the twelve information sets."""
    return {
        View(card, history): row(mind, View(card, history), legal)
        for card in CARDS
        for history, (_, legal) in BETTING_TREE.items()
    }
