"""Values of heads-up hold'em hands by two profiles, and the corrections for luck that follow from them.

Every correction is the mean value over the cards that could have come, minus the value with the cards that came. Its
mean is 0 for whatever profiles: the cards that could have come are enumerated (turn and river) or drawn anew with the
same probabilities (hole cards and flop).
"""

from collections.abc import Sequence
from functools import cache, cached_property
from itertools import permutations
from typing import Final, NamedTuple, Self

import numpy as np

from croupier.arena.baselines.holdem.profiles import HOLE_LEVELS, STREETS, Rounds, levels_of
from croupier.arena.baselines.holdem.strengths import CARDS, Array, board_streets, evaluate
from croupier.arena.heads_up import DEAL_CARDS, SEATS
from croupier.rooms.holdem.cards import Card
from croupier.rooms.holdem.engine.streets import BOARD_CARDS, FLOP_CARDS

FLOP, TURN, RIVER = range(1, STREETS)

RANDOM_DEALS: Final = 500
"""The deals that are drawn for the mean value of a deal."""
RANDOM_BOARDS: Final = 300
"""The boards that are drawn for the mean value of two hands before the flop."""


class Runouts(NamedTuple):
    """Whole deals: by street, the levels of the cards of both seats; and the outcomes of showdowns for seat 0.

    An outcome is 1 (won), 0 (the pot is split) or -1 (lost).
    """

    levels: Sequence[tuple[Array, Array]]
    outcomes: Array

    @classmethod
    def of(cls, deals: Array) -> Self:
        """Evaluate deals: rows of nine cards, first the hole cards, dealt in turn to seats 0 and 1, then the board."""
        holes = [(deals[:, seat], deals[:, SEATS + seat]) for seat in range(SEATS)]
        levels = [(HOLE_LEVELS[holes[0]], HOLE_LEVELS[holes[1]])]
        outcomes = np.zeros(len(deals))
        for street in board_streets(deals[:, 2 * SEATS :]):
            (ranks, strengths), (other_ranks, other_strengths) = (evaluate(street, *hole) for hole in holes)
            levels.append((levels_of(strengths), levels_of(other_strengths)))
            outcomes = np.sign(other_ranks - ranks)
        return cls(levels, outcomes)

    def only(self, rows: Array) -> "Runouts":
        """Some of the deals."""
        return Runouts([(one[rows], other[rows]) for one, other in self.levels], self.outcomes[rows])


def values_of(runouts: Runouts, rounds: Rounds, street: int, paid: int, stack: int) -> Array:
    """The chips that seat 0 wins on each of the runouts from the beginning of a street.

    Both seats have put in `paid` chips (before the flop: the big blind) and had `stack` before. When bets would exceed
    the stacks, the rest of the stacks is at stake.
    """
    stakes = np.full(len(runouts.outcomes), float(paid))
    pots, total = stakes, np.zeros(len(stakes))
    for later in range(street, STREETS):
        at = later, *runouts.levels[later]
        room = stack / pots
        can_bet = room > 1
        won = np.clip(rounds.folds[at], -room, room) + rounds.all_ins[at] * room * runouts.outcomes
        growth = np.where(can_bet, np.minimum(rounds.stakes[at], room), 1)
        total = total + np.where(can_bet, stakes * won, 0)
        stakes = stakes * growth
        pots = pots * np.maximum(growth, 1)
    values: Array = total + stakes * runouts.outcomes
    return values


class CardLuck:
    """The luck of the cards of one deal: nine cards, of which a hand may have used fewer."""

    def __init__(self, cards: Sequence[Card], random: np.random.Generator) -> None:
        self._cards = np.array(cards)
        self._random_deals = Runouts.of(random.random((RANDOM_DEALS, CARDS)).argsort(axis=1)[:, :DEAL_CARDS])
        holes = self._cards[: 2 * SEATS]
        unseen = np.setdiff1d(np.arange(CARDS), holes)
        order = random.random((RANDOM_BOARDS, len(unseen))).argsort(axis=1)
        self._random_boards = Runouts.of(_rows(holes, unseen[order[:, :BOARD_CARDS]]))

    @cached_property
    def _runouts(self) -> tuple[Runouts, Array]:
        """All turns and rivers after the flop; the cards of both, by row."""
        known = self._cards[: 2 * SEATS + FLOP_CARDS]
        unseen = np.setdiff1d(np.arange(CARDS), known)
        cards = unseen[_ordered_pairs(len(unseen))]
        return Runouts.of(_rows(known, cards)), cards

    def corrections(self, paid: Sequence[int], rounds: Rounds, big_blind: int, stack: int) -> Sequence[float]:
        """The corrections for the hole cards, the flop, the turn and the river: chips to add to what seat 0 wins.

        `paid` has the chips of each seat in the pot before each street that was dealt.
        """
        dealt = values_of(self._random_boards, rounds, 0, big_blind, stack)
        corrections = [values_of(self._random_deals, rounds, 0, big_blind, stack).mean() - dealt.mean()]
        if len(paid) > FLOP:
            runouts, cards = self._runouts
            expected = values_of(self._random_boards, rounds, FLOP, paid[FLOP], stack)
            corrections.append(expected.mean() - values_of(runouts, rounds, FLOP, paid[FLOP], stack).mean())
        if len(paid) > TURN:
            is_turn = cards[:, 0] == self._cards[-2]
            values = values_of(runouts, rounds, TURN, paid[TURN], stack)
            corrections.append(values.mean() - values[is_turn].mean())
        if len(paid) > RIVER:
            rivers = values_of(runouts.only(is_turn), rounds, RIVER, paid[RIVER], stack)
            corrections.append(rivers.mean() - rivers[cards[is_turn, 1] == self._cards[-1]].mean())
        return [float(chips) for chips in corrections]


def _rows(first: Array, others: Array) -> Array:
    """Rows that begin with the same cards."""
    return np.concatenate([np.broadcast_to(first, (len(others), len(first))), others], axis=1)


@cache
def _ordered_pairs(count: int) -> Array:
    return np.array([*permutations(range(count), 2)])
