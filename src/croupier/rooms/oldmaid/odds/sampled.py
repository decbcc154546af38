"""Who loses at Old Maid, and how often, told from very many games that luck plays side by side.

A game is what `exact` makes of it: the couples that every two players share, who has the joker, and who offers. Ten
thousand games are played at once, a pick in each of them at a time. Needs numpy (`pip install 'croupier[solve]'`).
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from croupier.rooms.oldmaid.cards import PAIRS
from croupier.rooms.oldmaid.odds.exact import Watch

type Numbers = NDArray[np.integer]

SIDE_BY_SIDE: Final = 10_000
"""So many games are played at once."""


def luck(*seed: int) -> np.random.Generator:
    """Luck that is made from these numbers, and is the same whenever they are."""
    return np.random.default_rng(seed)


def losses(
    players: int, games: int, chance: np.random.Generator, pairs_in: int = PAIRS, watch: Watch = iter
) -> tuple[int, ...]:
    """How many of these games each seat has lost, seat 0 being the first to draw."""
    lost = np.zeros(players, np.int64)
    portions = [min(SIDE_BY_SIDE, games - begun) for begun in range(0, games, SIDE_BY_SIDE)]
    for portion in watch(portions):
        table = Tables(players, portion, chance, pairs_in)
        while table.games:
            lost += table.over()
            table.pick()
    return tuple(lost.tolist())


class Tables:
    """Games side by side, as arrays with an entry for each: those that are over are taken away."""

    def __init__(self, players: int, games: int, chance: np.random.Generator, pairs_in: int) -> None:
        self.players, self._chance = players, chance
        seats = np.arange(2 * pairs_in + 1, dtype=np.int8) % players
        holders = chance.permuted(np.broadcast_to(seats, (games, len(seats))), axis=1)
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
        self._after = following(players)
        self._pass_on()

    @property
    def games(self) -> int:
        """How many are not over."""
        return len(self.offerer)

    def over(self) -> Numbers:
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
        game = np.arange(self.games)
        picker = self._after[self._holding(), (offerer + 1) % players]
        card = (self._chance.random(self.games) * hands[game, offerer]).astype(np.int8)
        up_to = self.couples[game, offerer].cumsum(axis=1, dtype=np.int8)
        partner = (up_to <= card[:, None]).sum(axis=1)
        hands[game, offerer] -= 1
        hands[game, picker] += 1
        maid = partner == players
        joker[maid] = picker[maid]
        pair = partner == picker
        hands[pair, picker[pair]] -= 2
        self._share(np.flatnonzero(~maid), offerer, partner, -1)
        self._share(np.flatnonzero(~maid & ~pair), picker, partner, 1)
        self.offerer = picker
        self._pass_on()

    def _share(self, games: Numbers, ones: Numbers, others: Numbers, more: int) -> None:
        """In these games two players share so many more couples."""
        couples = self.couples.reshape(-1)
        start, one, other = games * self.players**2, ones[games], others[games]
        couples[start + one * self.players + other] += np.int8(more)
        couples[start + other * self.players + one] += np.int8(more)

    def _pass_on(self) -> None:
        """An empty hand is passed over."""
        self.offerer = self._after[self._holding(), self.offerer]

    def _holding(self) -> Numbers:
        """Who holds cards, as the bits of a number."""
        return np.packbits(self.hands > 0, axis=1, bitorder="little")[:, 0]


def following(players: int) -> Numbers:
    """The first seat from another one on that has cards, by the bits of those who have, and the other one."""
    table = np.zeros((1 << players, players), np.int64)
    for holding in range(1, 1 << players):
        for seat in range(players):
            steps = next(step for step in range(players) if holding >> (seat + step) % players & 1)
            table[holding, seat] = (seat + steps) % players
    return table
