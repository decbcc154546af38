"""The cards of displayed games: those of a round whose betting is not over."""

from collections import Counter

import pytest

from croupier.rooms.holdem.cards import CARD_NUMBERS
from croupier.rooms.holdem.engine.stakes import STAKES
from croupier.rooms.holdem.observed.cards import follow_board
from croupier.rooms.holdem.observed.hand import ObservedAction, ObservedHand

PLAYERS = ("button", "small", "big", "first")
FLOP = [CARD_NUMBERS[card] for card in ("2C", "7D", "9S")]
FULL_RAISE: tuple[ObservedAction, ...] = (
    ("bet", 3, 20),
    ("bet", 0, 60),
    ("bet", 1, 90),
    ("fold", 2, 0),
    ("bet", 3, 80),
)
SHORT_ALL_IN: tuple[ObservedAction, ...] = (*FULL_RAISE[:2], ("bet", 1, 60), ("fold", 2, 0), ("bet", 3, 50))
OPTION: tuple[ObservedAction, ...] = (("bet", 3, 20), ("bet", 0, 20), ("bet", 1, 10))


@pytest.mark.parametrize(
    ("small_stack", "actions", "clause"),
    [(1000, FULL_RAISE, "holdem-6.7"), (70, SHORT_ALL_IN, "holdem-6.9"), (1000, OPTION, "holdem-6.6")],
    ids=["a full raise", "a short all-in", "the option"],
)
def test_a_flop_that_comes_too_early_breaks_the_clause_of_the_missing_act(
    small_stack: int, actions: tuple[ObservedAction, ...], clause: str
) -> None:
    observed = ObservedHand(PLAYERS, (1000, small_stack, 1000, 1000), 0, STAKES)
    observed.actions = [*actions]
    observed.update()
    violation = follow_board(observed, FLOP, Counter())
    assert violation is not None
    assert violation.clause == clause
