"""Who loses at Old Maid, and how often, told from very many games that luck plays side by side.

A game is what `exact` makes of it: the couples that every two players share, who has the joker, and who offers. Ten
thousand games are played at once, a pick in each of them at a time. Needs numpy (`pip install 'croupier[solve]'`).
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from croupier.rooms.oldmaid.cards import PAIR_COUNT
from croupier.rooms.oldmaid.odds.exact import ProgressHook

type IntArray = NDArray[np.integer]

GAMES_PER_BATCH: Final = 10_000
"""So many games are played at once."""


def random_generator(*seed: int) -> np.random.Generator:
    """Luck that is made from these numbers, and is the same whenever they are."""
    return np.random.default_rng(seed)


def count_losses(
    players: int, games: int, generator: np.random.Generator, pairs_in: int = PAIR_COUNT, progress: ProgressHook = iter
) -> tuple[int, ...]:
    """How many of these games each seat has lost, seat 0 being the first to draw."""
    lost = np.zeros(players, np.int64)
    portions = [min(GAMES_PER_BATCH, games - begun) for begun in range(0, games, GAMES_PER_BATCH)]
    for portion in progress(portions):
        table = GameBatch(players, portion, generator, pairs_in)
        while table.running_count:
            lost += table.remove_finished()
            table.pick()
    return tuple(lost.tolist())


class GameBatch:
    """Games side by side, as arrays with an entry for each: those that are over are taken away."""

    def __init__(self, players: int, games: int, generator: np.random.Generator, pairs_in: int) -> None:
        self.players, self._generator = players, generator
        seats = np.arange(2 * pairs_in + 1, dtype=np.int8) % players
        holders = generator.permuted(np.broadcast_to(seats, (games, len(seats))), axis=1)
        ones, others = holders[:, 0:-1:2], holders[:, 1::2]
        self.joker = holders[:, -1].astype(np.int64)
        self.offerer = np.full(games, 2 * pairs_in % players)
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
        """How many are not over."""
        return len(self.offerer)

    def remove_finished(self) -> IntArray:
        """Take away the games in which the joker is the last card; how many of them each seat has lost."""
        over = self.hands.sum(axis=1) == 1
        lost = np.bincount(self.joker[over], minlength=self.players)
        if over.any():
            on = ~over
            self.joker, self.offerer = self.joker[on], self.offerer[on]
            self.couples, self.hands = self.couples[on], self.hands[on]
        return lost

    def pick(self) -> None:
        """In every game the next player picks a card and discards a pair if he can, and then offers."""
        players, hands, offerer, joker = self.players, self.hands, self.offerer, self.joker
        game = np.arange(self.running_count)
        picker = self._next_holders[self._holder_bits(), (offerer + 1) % players]
        card = (self._generator.random(self.running_count) * hands[game, offerer]).astype(np.int8)
        up_to = self.couples[game, offerer].cumsum(axis=1, dtype=np.int8)
        partner = (up_to <= card[:, None]).sum(axis=1)
        hands[game, offerer] -= 1
        hands[game, picker] += 1
        maid = partner == players
        joker[maid] = picker[maid]
        pair = partner == picker
        hands[pair, picker[pair]] -= 2
        self._add_couples(np.flatnonzero(~maid), offerer, partner, -1)
        self._add_couples(np.flatnonzero(~maid & ~pair), picker, partner, 1)
        self.offerer = picker
        self._skip_empty_hands()

    def _add_couples(self, games: IntArray, ones: IntArray, others: IntArray, more: int) -> None:
        """In these games two players share so many more couples."""
        couples = self.couples.reshape(-1)
        start, one, other = games * self.players**2, ones[games], others[games]
        couples[start + one * self.players + other] += np.int8(more)
        couples[start + other * self.players + one] += np.int8(more)

    def _skip_empty_hands(self) -> None:
        """An empty hand is passed over."""
        self.offerer = self._next_holders[self._holder_bits(), self.offerer]

    def _holder_bits(self) -> IntArray:
        """Who holds cards, as the bits of a number."""
        return np.packbits(self.hands > 0, axis=1, bitorder="little")[:, 0]


def next_holders(players: int) -> IntArray:
    """The first seat from another one on that has cards, by the bits of those who have, and the other one."""
    table = np.zeros((1 << players, players), np.int64)
    for holding in range(1, 1 << players):
        for seat in range(players):
            steps = next(step for step in range(players) if holding >> (seat + step) % players & 1)
            table[holding, seat] = (seat + steps) % players
    return table
