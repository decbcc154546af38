"""Exact loss probabilities of Old Maid for two to four players.

Cards are picked face down, so a position consists of the number of *couples* that each two players share (pairs of
which each holds one card), the holder of the joker, and the offerer. A pick moves one half of a couple to the next
player. If that player holds the other half, the number of couples drops by one, so positions are solved in levels, by
ascending number of couples. Positions of the same level can be reached from each other, which makes their values a
system of linear equations. It is solved by iteration: pick by pick until the remaining probability is negligible.

Seats are counted from the offerer, because a ring has no first seat. Needs numpy (`pip install 'croupier[solve]'`).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, groupby
from math import comb, factorial, prod
from typing import Final

import numpy as np
from numpy.typing import NDArray

from croupier.core.rules import Seat
from croupier.rooms.oldmaid.cards import PAIR_COUNT
from croupier.rooms.oldmaid.rules import drawn_count, last_drawer, others_in_ring

type CountArray = NDArray[np.int64]
type ProbabilityArray = NDArray[np.float64]
type ProgressHook = Callable[[Sequence[int]], Iterable[int]]
"""Iterates over the portions of the work, and may display progress."""

CONVERGENCE_TOLERANCE: Final = 1e-14
"""The iteration stops when one more pick changes every probability by less than this."""

POSITIONS_PER_PORTION: Final = 10_000
"""The number of positions in one portion of the work, for progress."""


def loss_probabilities(players: int, pairs_in: int = PAIR_COUNT, progress: ProgressHook = iter) -> tuple[float, ...]:
    """The probability that each seat loses; seat 0 draws first. The pack has `pairs_in` pairs and the joker.

    The sum of the probabilities is slightly less than 1: the difference is the probability of games that had not ended
    when the iteration stopped, and bounds the error of each value, apart from the rounding of sums of a few hundred
    floats. Five players and 26 pairs have more than 10⁹ positions, which do not fit into memory.
    """
    space = PositionSpace(players, pairs_in)
    sizes = [space.position_count(couples) for couples in range(pairs_in + 1)]
    work = [couples for couples, size in enumerate(sizes) for _ in range(1 + size // POSITIONS_PER_PORTION)]
    losses = np.zeros(players)
    below: CoupleLevel | None = None
    for couples, _ in groupby(progress(work)):
        level = CoupleLevel(space, couples)
        if below is None:
            level.values[0, range(players), range(players)] = 1
        else:
            level.solve(below)
        losses += level.weighted_losses()
        below = level
    return tuple(np.roll(losses, space.first_offerer).tolist())


def two_player_loss_probability(pairs_in: int = PAIR_COUNT) -> Fraction:
    """The exact probability that player1, who also draws last and offers first, loses against player2.

    >>> two_player_loss_probability(1)
    Fraction(4, 9)
    """
    joker_offerer_loses = [Fraction(1)]  # probability that an offerer with the joker loses, by number of couples
    for couples in range(1, pairs_in + 1):
        lost = joker_offerer_loses[couples - 2] if couples > 1 else Fraction(1)  # after one offer of each player
        joker_offerer_loses.append((couples * lost + 1) / (couples + 2))
    total = Fraction(0)
    for couples in range(pairs_in + 1):
        within, odd = divmod(pairs_in - couples, 2)
        if odd:  # player2 has the joker and one card less in its own pairs
            ways, lost = multinomial(within + 1, within, couples), 1 - joker_offerer_loses[max(0, couples - 1)]
        else:
            ways, lost = multinomial(within, within, couples), joker_offerer_loses[couples]
        total += ways * 2**couples * lost
    return total / Fraction(comb(2 * pairs_in + 1, pairs_in))


@dataclass(frozen=True)
class PositionSpace:
    """The parameters shared by all positions: the number of players and of pairs."""

    players: int
    pairs_in: int

    @property
    def first_offerer(self) -> Seat:
        """The seat that draws last and offers first (O9)."""
        return last_drawer(self.players, self.pairs_in)

    @property
    def hand_sizes(self) -> Sequence[int]:
        """The number of cards dealt to each seat, counted from the first offerer."""
        seats = (self.first_offerer, *others_in_ring(range(self.players), self.first_offerer))
        return [drawn_count(seat, self.players, self.pairs_in) for seat in seats]

    @property
    def seat_pairs(self) -> Sequence[tuple[Seat, Seat]]:
        """All pairs of seats, in the order of the columns of `CoupleLevel.rows`."""
        return tuple(combinations(range(self.players), 2))

    def seat_pair_index(self, one: Seat, other: Seat) -> int:
        """The index of two seats in `seat_pairs`."""
        return self.seat_pairs.index((min(one, other), max(one, other)))

    def position_count(self, couples: int) -> int:
        """The number of positions with a number of couples."""
        return comb(couples + len(self.seat_pairs) - 1, couples) * self.players


class CoupleLevel:
    """All positions with the same number of couples.

    Each row of `rows` is one distribution of the couples over `seat_pairs`; rows are in lexical order.
    `values[row, joker, seat]` is the probability that the seat loses.
    """

    def __init__(self, space: PositionSpace, couples: int) -> None:
        self.space = space
        self.rows = compositions(couples, len(space.seat_pairs))
        self._weights = (space.pairs_in + 1) ** np.arange(len(space.seat_pairs) - 1, -1, -1, dtype=np.int64)
        self._keys = self.rows @ self._weights
        self.hand_sizes = np.zeros((len(self.rows), space.players), np.int64)
        for column, seats in enumerate(space.seat_pairs):
            for seat in seats:
                self.hand_sizes[:, seat] += self.rows[:, column]
        self.values = np.zeros((len(self.rows), space.players, space.players))

    def value_indices(self, rows: CountArray, joker: Seat, offerer: Seat) -> CountArray:
        """The flat indices into `values` of each seat's probability in positions in which `offerer` offers.

        The rows, the joker's holder, `offerer` and the columns of the result count seats from the previous offerer.
        """
        players = self.space.players
        seats = np.arange(players)
        columns = [
            self.space.seat_pair_index((one + offerer) % players, (other + offerer) % players)
            for one, other in self.space.seat_pairs
        ]
        row = np.searchsorted(self._keys, rows[:, columns] @ self._weights)
        return ((row * players + (joker - offerer) % players) * players)[:, None] + (seats - offerer) % players

    def solve(self, below: "CoupleLevel") -> None:
        """Compute `values`; `below` is the solved level with one couple less."""
        players = self.space.players
        equations = Equations(self.values.shape)
        for joker in range(players):
            hands = self.hand_sizes.copy()
            hands[:, joker] += 1
            pickers = 1 + (hands[:, 1:] > 0).argmax(axis=1)
            for picker in range(1, players):
                selected = np.flatnonzero((pickers == picker) & (hands[:, 0] == 0))
                indices = self.value_indices(self.rows[selected], joker, picker)
                equations.couples[0].add(selected, joker, np.ones(len(selected)), indices)
                selected = np.flatnonzero((pickers == picker) & (hands[:, 0] > 0))
                self._add_picks(below, equations, selected, joker, picker)
        self.values = equations.solve()

    def _add_picks(
        self, below: "CoupleLevel", equations: "Equations", selected: CountArray, joker: Seat, picker: Seat
    ) -> None:
        """Add the picks of the seat `picker` from the offerer in the selected rows."""
        space, rows = self.space, self.rows[selected]
        size = self.hand_sizes[selected, 0] + (joker == 0)
        if joker == 0:
            equations.joker.add(selected, 0, 1 / size, self.value_indices(rows, picker, picker))
        for seat in range(1, space.players):
            column = space.seat_pair_index(0, seat)
            possible = np.flatnonzero(rows[:, column])
            after, odds = rows[possible], rows[possible, column] / size[possible]
            after[:, column] -= 1
            if seat == picker:
                values = below.values.ravel()[below.value_indices(after, joker, picker)]
                equations.immediate[selected[possible], joker] += odds[:, None] * values
            else:
                after[:, space.seat_pair_index(picker, seat)] += 1
                transitions = equations.couples[seat - 1 - (seat > picker)]
                transitions.add(selected[possible], joker, odds, self.value_indices(after, joker, picker))

    def weighted_losses(self) -> ProbabilityArray:
        """The probability that a game starts in this level and each seat loses it."""
        space = self.space
        pairs_in, sizes = space.pairs_in, space.hand_sizes
        ways = factorial(pairs_in) * 2 ** int(self.rows[0].sum())
        all_ways = factorial(2 * pairs_in + 1) // prod(map(factorial, sizes))
        factorials = np.array([float(factorial(number)) for number in range(pairs_in + 1)])
        losses = np.zeros(space.players)
        for joker in range(space.players):
            left = np.array(sizes) - self.hand_sizes
            left[:, joker] -= 1
            possible = np.flatnonzero(((left >= 0) & (left % 2 == 0)).all(axis=1))
            orders = factorials[left[possible] // 2].prod(axis=1) * factorials[self.rows[possible]].prod(axis=1)
            losses += (ways / all_ways / orders) @ self.values[possible, joker]
        return losses


class Equations:
    """The linear equations between the values of a level.

    `immediate` has the losses after picks that make a pair. `couples` has the picks that move half a couple to the
    picker, one entry for each third player that may hold the other half. `joker` has the picks of the joker from an
    offerer that holds it.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        rows, players, _ = shape
        self.immediate = np.zeros(shape)
        self.couples = [PickTransitions(rows, players, players) for _ in range(max(1, players - 2))]
        self.joker = PickTransitions(rows, 1, players)

    def solve(self) -> ProbabilityArray:
        """Iterate from below: the probability of losing within one pick, within two, and so on."""
        values = self.immediate
        while True:
            after = self.immediate.copy()
            for transitions in self.couples:
                after += transitions.contribution(values)
            after[:, :1] += self.joker.contribution(values)
            if (after - values).max() < CONVERGENCE_TOLERANCE:
                return after
            values = after


class PickTransitions:
    """One kind of pick from all positions of a level: its probability, and the indices of the values after it."""

    def __init__(self, rows: int, jokers: int, players: int) -> None:
        self._odds = np.zeros((rows, jokers, 1))
        self._value_indices = np.zeros((rows, jokers, players), np.int64)

    def add(self, rows: CountArray, joker: Seat, odds: ProbabilityArray, value_indices: CountArray) -> None:
        """Set the probabilities and the indices of the next values for some rows and a holder of the joker."""
        self._odds[rows, joker, 0] = odds
        self._value_indices[rows, joker] = value_indices

    def contribution(self, values: ProbabilityArray) -> ProbabilityArray:
        """The probability of each seat to lose after these picks, times the probability of the picks."""
        weighted: ProbabilityArray = values.ravel().take(self._value_indices)
        weighted *= self._odds
        return weighted


def multinomial(*parts: int) -> int:
    """The multinomial coefficient: the number of ways to divide sum(parts) things into parts of these sizes.

    >>> multinomial(2, 1)
    3
    """
    return factorial(sum(parts)) // prod(map(factorial, parts))


def compositions(number: int, parts: int) -> CountArray:
    """All compositions of a number into `parts` parts of 0 or more, one per row, in lexical order."""
    rows, left = np.zeros((1, 0), np.int64), np.array([number])
    for _ in range(parts - 1):
        prefix = np.repeat(np.arange(len(left)), left + 1)
        part = np.arange(len(prefix)) - (np.cumsum(left + 1) - (left + 1))[prefix]
        rows, left = np.column_stack([rows[prefix], part]), left[prefix] - part
    return np.column_stack([rows, left])
