"""CFR+: regret minimization, which approaches an equilibrium of a two-player zero-sum game round by round.

O. Tammelin, "Solving large imperfect information games using CFR+", 2014. In each round first seat 0, then seat 1
updates its plan against the present plan of the other (alternating updates). At every information set it plays each
move in proportion to its regret: the coins that the move would have won more than the plan, summed over the rounds and
never below 0 (regret matching+). The average of the plans, in which round t counts t times (linear averaging),
approaches an equilibrium. After T rounds its nash_conv is at most 2·(|I₁| + |I₂|)·Δ·√(k/T), with |I| information sets
of a seat, at most k moves and results that differ by at most Δ coins (O. Tammelin, N. Burch, M. Johanson, M. Bowling,
"Solving heads-up limit Texas hold'em", 2015); in practice it falls much faster.

The whole game is compiled to arrays, so that a round is a few operations of numpy for each level of a seat's own moves.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from croupier.core.rules import Seat
from croupier.strategy.best_response import Checkpoint, value_bounds
from croupier.strategy.game_tree import GameTree, InfoSet, nearest_plan
from croupier.strategy.solution import Tracker
from croupier.strategy.zero_sum import Equilibrium

type Floats = NDArray[np.float64]
type Indexes = NDArray[np.intp]

CHECKPOINT_GROWTH = 1.25
"""The number of rounds at a checkpoint, divided by that at the one before."""


class Level(NamedTuple):
    """The information sets of a seat after the same number of its own moves, as arrays.

    `sequences` are those of all their moves, set by set. `first_moves` says where each set begins in them, `set_of` to
    which set each belongs, and `uniform` is the probability of each if all moves of a set have the same. `parents` are
    the sequences that lead to the sets.
    """

    sequences: Indexes
    first_moves: Indexes
    set_of: Indexes
    uniform: Floats
    parents: Indexes

    @classmethod
    def compile(cls, info_sets: Sequence[InfoSet]) -> "Level":
        """The arrays of information sets."""
        sizes = [len(info_set.moves) for info_set in info_sets]
        return cls(
            np.concatenate([info_set.sequences for info_set in info_sets]),
            np.cumsum([0, *sizes[:-1]]),
            np.repeat(np.arange(len(sizes)), sizes),
            np.repeat(1 / np.array(sizes), sizes),
            np.array([info_set.parent_sequence for info_set in info_sets]),
        )

    def probabilities(self, regrets: Floats) -> Floats:
        """The probability of each move: its share of the regrets of its set, or `uniform` where they are all 0."""
        totals = np.add.reduceat(regrets, self.first_moves)[self.set_of]
        return np.divide(regrets, totals, out=self.uniform.copy(), where=totals > 0)


class CfrPlus:
    """A run of CFR+ on a game. `rounds` is the number of rounds so far."""

    def __init__(self, tree: GameTree) -> None:
        self.rounds = 0
        self._levels = tuple(_levels([*info_sets.values()]) for info_sets in tree.info_sets)
        sequences = np.array([*tree.terminals])
        coins = np.array([float(coins) for coins in tree.terminals.values()])
        self._sequences = sequences[:, 0], sequences[:, 1]
        self._coins = coins, -coins
        self._regrets = tuple(np.zeros(count) for count in tree.sequence_counts)
        self._plan_sums = tuple(np.zeros(count) for count in tree.sequence_counts)
        self._plans = [self._regret_matching(seat) for seat in (0, 1)]

    def play_round(self) -> None:
        """Update the plan of each seat, one after the other."""
        self.rounds += 1
        for seat in (0, 1):
            self._add_regrets(seat)
            self._plans[seat] = self._regret_matching(seat)
            self._plan_sums[seat][:] += self.rounds * self._plans[seat]

    def average_plan(self, seat: Seat) -> Floats:
        """The average plan of a seat after at least one round: its weight of each sequence."""
        plan: Floats = self._plan_sums[seat] / self._plan_sums[seat][0]
        return plan

    def checkpoint(self) -> Checkpoint:
        """The bounds of the game's value that the average plans prove now, up to the errors of floating point."""
        low, high = -self._best_response_value(1), self._best_response_value(0)
        return Checkpoint(self.rounds, low, high)

    def _values(self, seat: Seat, opponent_plan: Floats) -> Floats:
        """The coins that a seat wins at the ends right after each of its sequences, against a plan of the other."""
        reached = self._coins[seat] * opponent_plan[self._sequences[1 - seat]]
        return np.bincount(self._sequences[seat], reached, len(self._regrets[seat]))

    def _add_regrets(self, seat: Seat) -> None:
        """Add what each move would have won more than the seat's plan, against the present plan of the other."""
        values = self._values(seat, self._plans[1 - seat])
        for level in reversed(self._levels[seat]):
            won, regrets = values[level.sequences], self._regrets[seat][level.sequences]
            set_values = np.add.reduceat(level.probabilities(regrets) * won, level.first_moves)
            self._regrets[seat][level.sequences] = np.maximum(regrets + won - set_values[level.set_of], 0)
            np.add.at(values, level.parents, set_values)

    def _regret_matching(self, seat: Seat) -> Floats:
        """The plan that plays every move in proportion to its regret, and with equal probabilities if there is none."""
        plan = np.ones(len(self._regrets[seat]))
        for level in self._levels[seat]:
            probabilities = level.probabilities(self._regrets[seat][level.sequences])
            plan[level.sequences] = plan[level.parents][level.set_of] * probabilities
        return plan

    def _best_response_value(self, seat: Seat) -> float:
        """The coins that a best response of a seat to the other's average plan wins."""
        values = self._values(seat, self.average_plan(1 - seat))
        for level in reversed(self._levels[seat]):
            np.add.at(values, level.parents, np.maximum.reduceat(values[level.sequences], level.first_moves))
        return float(values[0])


def solve_with_cfr_plus(
    tree: GameTree,
    rounds: int,
    on_checkpoint: Callable[[Checkpoint], None] = lambda _: None,
    track: Tracker[int] = lambda rounds: rounds,
) -> Equilibrium:
    """Approach an equilibrium in a number of rounds. The bounds of its value are exact.

    `on_checkpoint` is called after the first and the last round, and at growing intervals between. Raises ValueError if
    `rounds` is below 1.
    """
    if rounds < 1:
        raise ValueError(f"found {rounds} rounds; allowed: 1 or more")
    run, next_checkpoint = CfrPlus(tree), 1.0
    for number in track(range(1, rounds + 1)):
        run.play_round()
        if number >= next_checkpoint or number == rounds:
            on_checkpoint(run.checkpoint())
            next_checkpoint = number * CHECKPOINT_GROWTH
    plans = nearest_plan(tree, 0, [*run.average_plan(0)]), nearest_plan(tree, 1, [*run.average_plan(1)])
    return Equilibrium(value_bounds(tree, plans), plans)


def _levels(info_sets: Sequence[InfoSet]) -> list[Level]:
    """The information sets of a seat, by the number of its own moves before them."""
    depths = {0: 0}
    levels: dict[int, list[InfoSet]] = {}
    for info_set in info_sets:
        depth = depths[info_set.parent_sequence]
        levels.setdefault(depth, []).append(info_set)
        depths |= dict.fromkeys(info_set.sequences, depth + 1)
    return [Level.compile(levels[depth]) for depth in sorted(levels)]
