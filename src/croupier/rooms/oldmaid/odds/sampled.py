"""Sampled loss probabilities of Old Maid: simulates many games at once with numpy arrays.

A position is represented as in `exact`: the number of couples that each two players share, the holder of the joker, and
the offerer. Ten thousand games are simulated at once, one pick per step. Needs numpy (`pip install 'croupier[solve]'`).
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from croupier.rooms.oldmaid.cards import PAIR_COUNT
from croupier.rooms.oldmaid.odds.exact import ProgressHook
from croupier.rooms.oldmaid.rules import last_drawer

type IntArray = NDArray[np.integer]

GAMES_PER_BATCH: Final = 10_000
"""The number of games simulated at once."""


def random_generator(*seed: int) -> np.random.Generator:
    """A random generator; equal seeds give equal sequences."""
    return np.random.default_rng(seed)


def count_losses(
    players: int, games: int, generator: np.random.Generator, pairs_in: int = PAIR_COUNT, progress: ProgressHook = iter
) -> tuple[int, ...]:
    """Simulate games. Returns the number that each seat lost; seat 0 draws first."""
    losses = np.zeros(players, np.int64)
    sizes = [min(GAMES_PER_BATCH, games - start) for start in range(0, games, GAMES_PER_BATCH)]
    for size in progress(sizes):
        batch = GameBatch(players, size, generator, pairs_in)
        while batch.running_count:
            losses += batch.remove_finished()
            batch.pick()
    return tuple(losses.tolist())


class GameBatch:
    """Many games as arrays with one entry per running game; finished games are removed."""

    def __init__(self, players: int, games: int, generator: np.random.Generator, pairs_in: int) -> None:
        self.players, self._generator = players, generator
        seats = np.arange(2 * pairs_in + 1, dtype=np.int8) % players
        holders = generator.permuted(np.broadcast_to(seats, (games, len(seats))), axis=1)
        ones, others = holders[:, 0:-1:2], holders[:, 1::2]
        self.joker = holders[:, -1].astype(np.int64)
        self.offerer = np.full(games, last_drawer(players, pairs_in))
        self.couples = np.zeros((games, players, players), np.int8)
        for one in range(players):
            for other in range(one):
                shared = ((ones == one) & (others == other)) | ((ones == other) & (others == one))
                self.couples[:, one, other] = self.couples[:, other, one] = shared.sum(axis=1)
        self.hands = self.couples.sum(axis=2, dtype=np.int8)
        self.hands[np.arange(games), self.joker] += 1
        self._next_holders = next_holders(players)
        self._skip_empty_hands()

    @property
    def running_count(self) -> int:
        """The number of running games."""
        return len(self.offerer)

    def remove_finished(self) -> IntArray:
        """Remove the games in which only the joker is left. Returns how many of them each seat lost."""
        over = self.hands.sum(axis=1) == 1
        losses = np.bincount(self.joker[over], minlength=self.players)
        if over.any():
            running = ~over
            self.joker, self.offerer = self.joker[running], self.offerer[running]
            self.couples, self.hands = self.couples[running], self.hands[running]
        return losses

    def pick(self) -> None:
        """In each game the next player picks a card, discards the pair it makes, if any, and becomes the offerer."""
        players, hands, offerer, joker = self.players, self.hands, self.offerer, self.joker
        game = np.arange(self.running_count)
        picker = self._next_holders[self._holder_bits(), (offerer + 1) % players]
        card = (self._generator.random(self.running_count) * hands[game, offerer]).astype(np.int8)
        up_to = self.couples[game, offerer].cumsum(axis=1, dtype=np.int8)
        partner = (up_to <= card[:, None]).sum(axis=1)
        hands[game, offerer] -= 1
        hands[game, picker] += 1
        is_joker = partner == players
        joker[is_joker] = picker[is_joker]
        is_pair = partner == picker
        hands[is_pair, picker[is_pair]] -= 2
        self._add_couples(np.flatnonzero(~is_joker), offerer, partner, -1)
        self._add_couples(np.flatnonzero(~is_joker & ~is_pair), picker, partner, 1)
        self.offerer = picker
        self._skip_empty_hands()

    def _add_couples(self, games: IntArray, ones: IntArray, others: IntArray, change: int) -> None:
        """Change the number of couples that two players share in some games."""
        couples = self.couples.reshape(-1)
        start, one, other = games * self.players**2, ones[games], others[games]
        couples[start + one * self.players + other] += np.int8(change)
        couples[start + other * self.players + one] += np.int8(change)

    def _skip_empty_hands(self) -> None:
        """Move the offer past empty hands."""
        self.offerer = self._next_holders[self._holder_bits(), self.offerer]

    def _holder_bits(self) -> IntArray:
        """The seats with cards in each game, as a bit mask."""
        return np.packbits(self.hands > 0, axis=1, bitorder="little")[:, 0]


def next_holders(players: int) -> IntArray:
    """The first seat with cards at or after a seat, indexed by the bit mask of seats with cards and the seat."""
    table = np.zeros((1 << players, players), np.int64)
    for holding in range(1, 1 << players):
        for seat in range(players):
            steps = next(step for step in range(players) if holding >> (seat + step) % players & 1)
            table[holding, seat] = (seat + steps) % players
    return table
