"""The corrections of the baseline for pairs of hands, with the profiles of both bots."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from croupier.arena.baselines.holdem.history import history_of
from croupier.arena.baselines.holdem.profiles import LevelDecision, Profile, learn, rounds_of
from croupier.arena.baselines.holdem.values import CardLuck, Runouts
from croupier.arena.heads_up import Seatings
from croupier.rooms.holdem.engine.hand import Hand

BASELINE: Final = "holdem-profiles-1"
"""The id of the baseline; another baseline needs another id."""


class Baseline:
    """Corrections for two bots whose play is learned from the hands of a pilot, which must not count for a result."""

    def __init__(self, pilot: Seatings) -> None:
        profiles = learn_profiles(pilot)
        stakes = pilot[0][0].hand.stakes
        blinds = (stakes.small_blind / stakes.big_blind, 1.0)
        self._rounds = (rounds_of(profiles, blinds), rounds_of((profiles[1], profiles[0]), blinds))

    def corrections(self, seatings: Seatings, seed: bytes) -> Sequence[float]:
        """For each pair of hands, the chips to add to what the first bot wins in both together. Their mean is 0.

        Some of the cards that could have come are drawn with `seed`. The hands of a duplicate share them, so that luck
        which cancels out goes on to do so.
        """
        random = np.random.Generator(np.random.PCG64(int.from_bytes(seed)))
        sums = []
        for first, second in zip(*seatings, strict=True):
            luck = CardLuck(first.cards, random)
            total = self._correction(luck, first.hand, seating=0)
            if second.cards != first.cards:
                luck = CardLuck(second.cards, random)
            sums.append(total - self._correction(luck, second.hand, seating=1))
        return sums

    def _correction(self, luck: CardLuck, hand: Hand, *, seating: int) -> float:
        """The chips to add to what seat 0 wins in a hand."""
        paid = history_of(hand).paid
        return sum(luck.corrections(paid, self._rounds[seating], hand.stakes.big_blind, hand.start_stacks[0]))


def learn_profiles(pilot: Seatings) -> tuple[Profile, Profile]:
    """The profiles of both bots."""
    decisions: tuple[list[LevelDecision], list[LevelDecision]] = ([], [])
    for seating, played in enumerate(pilot):
        levels = Runouts.of(np.array([cards for cards, _ in played])).levels
        for nth, (_, hand) in enumerate(played):
            for decision in history_of(hand).decisions:
                level = int(levels[decision.street][decision.seat][nth])
                decisions[decision.seat ^ seating].append(LevelDecision(decision, level))
    return learn(decisions[0]), learn(decisions[1])
