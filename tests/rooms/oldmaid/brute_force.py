"""Who loses with small packs, by brute force: every deal and every pick, as the questions of the rules have it."""

from collections import defaultdict
from collections.abc import Hashable

import numpy as np

from croupier.core.rules import Turn
from croupier.rooms.oldmaid.rules import OldMaid, RingGame


class Chain:
    """All states that a game can be in, which knows nothing of couples: who holds which card, and who offers."""

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
        """How often each seat loses: a system of linear equations with an unknown for every state."""
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
        """From how many states there is no way to an end."""
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
    """What is the same in states that luck treats alike: the order of a hand is not looked at."""
    return state.drawn_count, state.offerer, state.turn, tuple(frozenset(hand) for hand in state.hands)
