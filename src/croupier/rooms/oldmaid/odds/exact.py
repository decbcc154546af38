"""Who loses at Old Maid, and how often, reckoned for two to four players without playing a single game.

Nobody can tell the cards apart, so a position is no more than this: for every two players, how many *couples* they
share (pairs of which each of them holds one card), who has the joker, and who offers. A pick moves one half of a couple
on to the next player: where he holds the other half, there is a couple less; and so positions with fewer couples are
solved first. Among those with equally many luck may turn in a circle, which makes them a system of linear equations; it
is solved by following luck pick by pick until what has not ended yet does not count any more.

Seats are counted from the offerer, for a ring has no first seat. Needs numpy (`pip install 'croupier[solve]'`).
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

type CountArray = NDArray[np.int64]
type ProbabilityArray = NDArray[np.float64]
type ProgressHook = Callable[[Sequence[int]], Iterable[int]]
"""Hands out portions of the work, and may show how far it has come."""

CONVERGENCE_TOLERANCE: Final = 1e-14
"""Luck is followed until one more pick changes no probability by as much as this."""

POSITIONS_PER_PORTION: Final = 10_000
"""So many positions are one portion of the work."""


def loss_probabilities(players: int, pairs_in: int = PAIR_COUNT, progress: ProgressHook = iter) -> tuple[float, ...]:
    """How often each seat loses, seat 0 being the first to draw, with all cards but a joker in so many pairs.

    What the numbers lack to 1 are games that had not ended when luck was followed no further, and so the most that any
    of them can be too small by; besides that, they are as exact as sums of a few hundred floating-point numbers. Five
    players and 26 pairs have more than a thousand million positions, which is too much for any memory.
    """
    table = PositionSpace(players, pairs_in)
    sizes = [table.position_count(couples) for couples in range(pairs_in + 1)]
    work = [couples for couples, size in enumerate(sizes) for _ in range(1 + size // POSITIONS_PER_PORTION)]
    found = np.zeros(players)
    below: CoupleLevel | None = None
    for couples, _ in groupby(progress(work)):
        level = CoupleLevel(table, couples)
        if below is None:
            level.values[0, range(players), range(players)] = 1
        else:
            level.solve(below)
        found += level.weighted_losses()
        below = level
    return tuple(np.roll(found, table.first_offerer).tolist())


def two_player_loss_probability(pairs_in: int = PAIR_COUNT) -> Fraction:
    """How often player1 loses against player2, as a fraction: he draws the last card as well, and offers first."""
    keeps = [Fraction(1)]  # how often one who offers and has the joker loses, by the number of couples
    for couples in range(1, pairs_in + 1):
        lost = keeps[couples - 2] if couples > 1 else Fraction(1)  # he has offered, and the other one after him
        keeps.append((couples * lost + 1) / (couples + 2))
    found = Fraction(0)
    for couples in range(pairs_in + 1):
        within, odd = divmod(pairs_in - couples, 2)
        if odd:  # player2 has the joker, and one card less in pairs of his own
            ways, lost = multinomial(within + 1, within, couples), 1 - keeps[max(0, couples - 1)]
        else:
            ways, lost = multinomial(within, within, couples), keeps[couples]
        found += ways * 2**couples * lost
    return found / Fraction(comb(2 * pairs_in + 1, pairs_in))


@dataclass(frozen=True)
class PositionSpace:
    """What is the same in all positions of a game: the seats, and the numbers of their couples."""

    players: int
    pairs_in: int

    @property
    def first_offerer(self) -> Seat:
        """Who has drawn the last card, and offers first (O9)."""
        return 2 * self.pairs_in % self.players

    @property
    def hand_sizes(self) -> Sequence[int]:
        """How many cards are dealt to each seat, counted from the one who offers first."""
        seats = [(self.first_offerer + seat) % self.players for seat in range(self.players)]
        return [(2 * self.pairs_in - seat) // self.players + 1 for seat in seats]

    @property
    def seat_pairs(self) -> Sequence[tuple[Seat, Seat]]:
        """Every two seats that may share couples."""
        return tuple(combinations(range(self.players), 2))

    def seat_pair_index(self, one: Seat, other: Seat) -> int:
        """Where in a row of numbers those of two seats stand."""
        return self.seat_pairs.index((min(one, other), max(one, other)))

    def position_count(self, couples: int) -> int:
        """How many positions have so many couples."""
        return comb(couples + len(self.seat_pairs) - 1, couples) * self.players


class CoupleLevel:
    """All positions with equally many couples.

    `rows` has the numbers of couples, one way to spread them over every two seats a row, in lexical order;
    `values[row, joker, seat]` is how often the seat loses then.
    """

    def __init__(self, space: PositionSpace, couples: int) -> None:
        self.space = space
        self.rows = compositions(couples, len(space.seat_pairs))
        self._weights = (space.pairs_in + 1) ** np.arange(len(space.seat_pairs) - 1, -1, -1, dtype=np.int64)
        self._keys = self.rows @ self._weights
        self.hand_sizes = np.zeros((len(self.rows), space.players), np.int64)
        for place, seats in enumerate(space.seat_pairs):
            for seat in seats:
                self.hand_sizes[:, seat] += self.rows[:, place]
        self.values = np.zeros((len(self.rows), space.players, space.players))

    def value_indices(self, rows: CountArray, joker: Seat, by: Seat) -> CountArray:
        """Where in `values`, flat, every seat's chance stands in a position in which the seat `by` offers.

        The rows, the holder of the joker and the chances (one a column) are those of seats that are counted from
        another offerer.
        """
        players = self.space.players
        seats = np.arange(players)
        places = [
            self.space.seat_pair_index((one + by) % players, (other + by) % players)
            for one, other in self.space.seat_pairs
        ]
        row = np.searchsorted(self._keys, rows[:, places] @ self._weights)
        return ((row * players + (joker - by) % players) * players)[:, None] + (seats - by) % players

    def solve(self, below: "CoupleLevel") -> None:
        """Find all values; `below` has those with one couple less."""
        players = self.space.players
        equations = Equations(self.values.shape)
        for joker in range(players):
            hands = self.hand_sizes.copy()
            hands[:, joker] += 1
            picker = 1 + (hands[:, 1:] > 0).argmax(axis=1)
            for by in range(1, players):
                on = np.flatnonzero((picker == by) & (hands[:, 0] == 0))
                equations.couples[0].add(on, joker, np.ones(len(on)), self.value_indices(self.rows[on], joker, by))
                on = np.flatnonzero((picker == by) & (hands[:, 0] > 0))
                self._add_picks(below, equations, on, joker, by)
        self.values = equations.solve()

    def _add_picks(self, below: "CoupleLevel", equations: "Equations", on: CountArray, joker: Seat, by: Seat) -> None:
        """In these rows the seat `by` picks from the offerer, who may hold the joker or not."""
        table, rows = self.space, self.rows[on]
        size = self.hand_sizes[on, 0] + (joker == 0)
        if joker == 0:
            equations.joker.add(on, 0, 1 / size, self.value_indices(rows, by, by))
        for seat in range(1, table.players):
            place = table.seat_pair_index(0, seat)
            some = np.flatnonzero(rows[:, place])
            taken, odds = rows[some], rows[some, place] / size[some]
            taken[:, place] -= 1
            if seat == by:
                chances = below.values.ravel()[below.value_indices(taken, joker, by)]
                equations.immediate[on[some], joker] += odds[:, None] * chances
            else:
                taken[:, table.seat_pair_index(by, seat)] += 1
                moved = equations.couples[seat - 1 - (seat > by)]
                moved.add(on[some], joker, odds, self.value_indices(taken, joker, by))

    def weighted_losses(self) -> ProbabilityArray:
        """How often each seat loses, in games that begin in this level, times how often they do."""
        table = self.space
        pairs_in, sizes = table.pairs_in, table.hand_sizes
        ways = factorial(pairs_in) * 2 ** int(self.rows[0].sum())
        all_ways = factorial(2 * pairs_in + 1) // prod(map(factorial, sizes))
        factorials = np.array([float(factorial(number)) for number in range(pairs_in + 1)])
        found = np.zeros(table.players)
        for held in range(table.players):
            left = np.array(sizes) - self.hand_sizes
            left[:, held] -= 1
            on = np.flatnonzero(((left >= 0) & (left % 2 == 0)).all(axis=1))
            orders = factorials[left[on] // 2].prod(axis=1) * factorials[self.rows[on]].prod(axis=1)
            found += (ways / all_ways / orders) @ self.values[on, held]
        return found


class Equations:
    """How the values of a level depend on each other.

    `at_once` is what is lost after a pick that makes a pair. `couples` are the picks that move half a couple from one
    player to another: as many ways as there are further players. `joker` are those that move the joker, when the
    offerer has it.
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        rows, players, _ = shape
        self.immediate = np.zeros(shape)
        self.couples = [PickTransitions(rows, players, players) for _ in range(max(1, players - 2))]
        self.joker = PickTransitions(rows, 1, players)

    def solve(self) -> ProbabilityArray:
        """The values, from below: what is lost within one pick, within two, and so on."""
        values = self.immediate
        while True:
            after = self.immediate.copy()
            for moved in self.couples:
                after += moved.contribution(values)
            after[:, :1] += self.joker.contribution(values)
            if (after - values).max() < CONVERGENCE_TOLERANCE:
                return after
            values = after


class PickTransitions:
    """One way in which a pick may go, from every position: how likely it is, and where the values are that follow."""

    def __init__(self, rows: int, jokers: int, players: int) -> None:
        self._odds = np.zeros((rows, jokers, 1))
        self._value_indices = np.zeros((rows, jokers, players), np.int64)

    def add(self, rows: CountArray, joker: Seat, odds: ProbabilityArray, value_indices: CountArray) -> None:
        """From these rows, with the joker held by this seat, it is so likely and leads there."""
        self._odds[rows, joker, 0] = odds
        self._value_indices[rows, joker] = value_indices

    def contribution(self, values: ProbabilityArray) -> ProbabilityArray:
        """What these picks add to how often each seat loses."""
        worth: ProbabilityArray = values.ravel().take(self._value_indices)
        worth *= self._odds
        return worth


def multinomial(*parts: int) -> int:
    """In how many ways as many things as these parts have together can be put into them."""
    return factorial(sum(parts)) // prod(map(factorial, parts))


def compositions(number: int, parts: int) -> CountArray:
    """All ways to spread a number over so many parts, one a row, in lexical order."""
    rows, left = np.zeros((1, 0), np.int64), np.array([number])
    for _ in range(parts - 1):
        begun = np.repeat(np.arange(len(left)), left + 1)
        part = np.arange(len(begun)) - (np.cumsum(left + 1) - (left + 1))[begun]
        rows, left = np.column_stack([rows[begun], part]), left[begun] - part
    return np.column_stack([rows, left])
