"""Loss probabilities of Old Maid with small packs by brute force, over all deals and picks of the rules."""

from collections import defaultdict
from collections.abc import Hashable

import numpy as np

from croupier.core.rules import Turn
from tests.rooms.oldmaid.ring_game import OldMaid, RingGame


class Chain:
    """The Markov chain of all states of a game: all hands and the offerer, without the reduction to couples."""

    def __init__(self, players: int, pairs_in: int) -> None:
        self.rules = OldMaid(players, pairs_in)
        self.states: dict[Hashable, RingGame] = {}
        self.next: dict[Hashable, dict[Hashable, float]] = {}
        start = self.rules.start()
        self.start = key(start)
        self.states[self.start] = start
        row = [start]
        while row:
            found = []
            for state in row:
                after: dict[Hashable, float] = defaultdict(float)
                for move, chance in self.rules.odds(state).items():
                    follower = self.rules.play(state, move)
                    after[key(follower)] += float(chance)
                    if key(follower) not in self.states:
                        self.states[key(follower)] = follower
                        found.append(follower)
                self.next[key(state)] = after
            row = found

    def loses(self) -> list[float]:
        """The loss probability of each seat, from linear equations with one unknown per state."""
        number = {state: at for at, state in enumerate(self.states)}
        left, right = np.eye(len(number)), np.zeros((len(number), self.rules.seats))
        for state, at in number.items():
            for follower, chance in self.next[state].items():
                left[at, number[follower]] -= chance
            if self.rules.turn(self.states[state]) is Turn.OVER:
                right[at] = [-net for net in self.rules.payoff(self.states[state])]
        found: list[float] = np.linalg.solve(left, right)[number[self.start]].tolist()
        return found

    def endless(self) -> int:
        """The number of states from which no end can be reached."""
        back = defaultdict(list)
        for state, after in self.next.items():
            for follower in after:
                back[follower].append(state)
        ends = [state for state in self.states if self.rules.turn(self.states[state]) is Turn.OVER]
        reached = {*ends}
        while ends:
            for state in back[ends.pop()]:
                if state not in reached:
                    reached.add(state)
                    ends.append(state)
        return len(self.states) - len(reached)


def key(state: RingGame) -> Hashable:
    """A key for equivalent states, which ignores the order of hands."""
    return state.drawn_count, state.offerer, state.turn, tuple(frozenset(hand) for hand in state.hands)
