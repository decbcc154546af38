"""Profiles: how often a bot folds, calls and raises in hold'em, by what it faces and how strong its cards are.

A profile is learned from the hands of a pilot, which count for nothing else. The value of a state is then what the two
bots would win on average if they played by their profiles.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from croupier.arena.baselines.holdem.history import (
    ALL_IN,
    BET,
    CHOICES,
    FOLDS,
    RAISED,
    RAISES,
    SITUATIONS,
    UNBET,
    Decision,
)
from croupier.arena.baselines.holdem.strengths import CARDS, Array
from croupier.core.rules import Seat
from croupier.rooms.holdem.bots import chen_points
from croupier.rooms.holdem.engine.streets import STREET_NAMES

STREETS: Final = len(STREET_NAMES)
LEVELS: Final = 20
"""Strengths are rounded down to twentieths. Before the flop a level is a number of Chen's points."""

HOLE_LEVELS: Final = np.array(
    [
        [min(max(chen_points((one, other)), 0), LEVELS - 1) if one != other else 0 for other in range(CARDS)]
        for one in range(CARDS)
    ]
)
"""The level before the flop of two hole cards."""

USUAL_CHOICES: Final = np.array([[0.01, 1, 0.1, 0.001], [0.3, 1, 0.1, 0.001], [0.3, 1, 0.1, 0.001], [0.5, 0.5, 0, 0]])
"""The weights of the choices in each situation, as a fraction of one decision: what is assumed of an unknown bot."""
STREET_WEIGHT: Final = 2.0
"""The weight, in decisions, of how a bot plays a street with any cards, against how it plays with these."""
ALL_STREETS_WEIGHT: Final = 5.0
"""The weight, in decisions, of how a bot plays these cards on any street after the flop, against on this street."""
USUAL_RAISE: Final = 0.75
MAX_RAISES: Final = 4
"""The bets and raises of a street, with the blind; after them the bots are assumed to call."""


class Profile(NamedTuple):
    """The frequencies of choices, by street, situation, level and choice; and the mean size of raises before and after
    the flop, as a fraction of the pot after the call.
    """

    choices: Array
    raises: tuple[float, float]


class LevelDecision(NamedTuple):
    """A decision of a bot, and the level of its cards in it."""

    decision: Decision
    level: int


def levels_of(strengths: Array) -> Array:
    """The levels of strengths from 0 to 1."""
    levels: Array = np.minimum((strengths * LEVELS).astype(np.int64), LEVELS - 1)
    return levels


def learn(decisions: Sequence[LevelDecision]) -> Profile:
    """The profile of a bot by its decisions. Where it made few, they are filled up with similar ones."""
    counts = np.zeros((STREETS, SITUATIONS, LEVELS, CHOICES))
    sizes: tuple[list[float], list[float]] = ([], [])
    for decision, level in decisions:
        counts[decision.street, decision.situation, level, decision.choice] += 1
        if decision.choice == RAISES:
            sizes[decision.street > 0].append(decision.size)
    by_street = _frequencies(counts.sum(axis=2, keepdims=True) + USUAL_CHOICES[:, None])
    later = counts[1:].sum(axis=0)
    similar = _frequencies(
        later + STREET_WEIGHT * _frequencies(later.sum(axis=1, keepdims=True) + USUAL_CHOICES[:, None])
    )
    choices = counts + STREET_WEIGHT * by_street
    choices[1:] = counts[1:] + ALL_STREETS_WEIGHT * similar
    before, after = (sum(some) / len(some) if some else USUAL_RAISE for some in sizes)
    return Profile(_frequencies(choices), (before, after))


def _frequencies(counts: Array) -> Array:
    frequencies: Array = counts / counts.sum(axis=-1, keepdims=True)
    return frequencies


class Rounds(NamedTuple):
    """What a betting round is worth for seat 0, by street and the levels of both seats.

    The unit is what each seat has put in before the round (before the flop: the big blind). `folds` is what seat 0 wins
    on average by folds, `stakes` what each seat has at stake on average after the round (0 after a fold), and `all_ins`
    the probability that the rest of both stacks is at stake.
    """

    folds: Array
    stakes: Array
    all_ins: Array


def rounds_of(profiles: tuple[Profile, Profile], blinds: tuple[float, float]) -> Rounds:
    """The rounds between two profiles; seat 0 has the button. `blinds` are those of the seats, in big blinds."""
    shape = STREETS, LEVELS, LEVELS
    rounds = Rounds(np.zeros(shape), np.zeros(shape), np.zeros(shape))
    for street in range(STREETS):
        _BettingRound(profiles, street, rounds).play(blinds)
    return rounds


class _BettingRound:
    """Adds up the ends of the betting tree of a street, for all levels of both seats at once."""

    def __init__(self, profiles: tuple[Profile, Profile], street: int, rounds: Rounds) -> None:
        first, second = (profile.choices[street] for profile in profiles)
        self._choices = (first[:, :, None], second[:, None])
        self._sizes = [profile.raises[street > 0] for profile in profiles]
        self._before = min(street, 1)  # what each seat has put in before
        self._folds, self._stakes, self._all_ins = (values[street] for values in rounds)

    def play(self, blinds: tuple[float, float]) -> None:
        """Begin: with the blinds and the button before the flop, else with the other seat."""
        if self._before:
            self._act(1, (0.0, 0.0), 0, np.ones(1), is_last=False)
        else:
            self._act(0, blinds, 1, np.ones(1), is_last=False)

    def _act(self, seat: Seat, bets: tuple[float, float], raises: int, weight: Array, *, is_last: bool) -> None:
        """Add the ends after the decision of a seat. `is_last` is whether a check or call ends the round."""
        most = max(bets)
        situation = UNBET if bets[seat] == most else BET if raises == 1 else RAISED
        fold, call, raise_, all_in = (weight * self._choices[seat][situation][..., choice] for choice in range(CHOICES))
        if situation == UNBET:
            fold, call = np.zeros(1), call + fold
        if raises >= MAX_RAISES:
            call, raise_, all_in = call + raise_ + all_in, np.zeros(1), np.zeros(1)
        self._folds += (-fold if seat == 0 else fold) * (self._before + bets[seat])
        if is_last:
            self._stakes += call * (self._before + most)
        else:
            self._act(1 - seat, (most, most), raises, call, is_last=True)
        if raises < MAX_RAISES:
            answers = self._choices[1 - seat][ALL_IN][..., FOLDS]
            self._all_ins += all_in * (1 - answers)
            self._folds += (all_in if seat == 0 else -all_in) * answers * (self._before + bets[1 - seat])
            raised = most + self._sizes[seat] * 2 * (self._before + most)
            bets_after = (raised, bets[1]) if seat == 0 else (bets[0], raised)
            self._act(1 - seat, bets_after, raises + 1, raise_, is_last=True)
