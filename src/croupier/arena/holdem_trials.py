"""Leaks in hold'em: hands are played again with another choice at one decision, and the same cards.

What a bot would have won with it, less what it has won, has a mean that needs no model of the bots: the bots themselves
play on. The opponent's cards and the cards to come are those of the hand, and are as likely as at a table.
"""

from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace as with_fields
from functools import partial
from typing import Final, NamedTuple

import numpy as np
from msgspec.structs import replace

from croupier.arena.baselines.holdem.history import (
    ALL_IN,
    BET,
    CALLS,
    FOLDS,
    GOES_ALL_IN,
    RAISED,
    RAISES,
    SITUATIONS,
    UNBET,
    Choice,
    Decision,
    Situation,
    history_of,
)
from croupier.arena.baselines.holdem.profiles import STREETS
from croupier.arena.baselines.holdem.values import Runouts
from croupier.arena.deals import stream_seed
from croupier.arena.game import Chunk
from croupier.arena.heads_up import DEFAULT_MOVES, NAMES, PlayedHand, Seatings
from croupier.arena.intervals import Interval, sequence_interval
from croupier.arena.leaks import Gain, LeakLine, Trial
from croupier.arena.players import Forfeit
from croupier.arena.tally import Moments
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.legal import FOLD, Legal, Move
from croupier.rooms.holdem.simulation import play_out

MIN_PAIRS: Final = 500
"""The pairs of hands before which no leak is listed: the intervals are valid asymptotically."""

MIN_TRIALS: Final = 200
"""The pairs of hands in which another choice was tried before it is compared."""

ASSUMED_LOSSES: Final = 5
"""The trials that are added to those of every choice, in which the other one loses the most that it has ever lost: what
is lost rarely may not have come yet, and no interval would know."""

ALPHA: Final = 0.05
T_STAR: Final = 1000
"""With the confidence 1 − `ALPHA`, all intervals of a bot hold at once and at any time; see `sequence_interval`."""

STRENGTHS: Final = ("weak", "fair", "good", "strong")
HOLE_LIMITS: Final = (4, 6, 9)
"""Chen's points from which hole cards are fair, good and strong before the flop."""
BOARD_LIMITS: Final = (10, 15, 18)
"""The twentieths of all hands that a hand beats if it is fair, good and strong on the board."""

STREET_TEXTS: Final = ("before the flop", "on the flop", "on the turn", "on the river")
FACING: Final[Mapping[Situation, str]] = {
    UNBET: "",
    BET: " facing a bet",
    RAISED: " facing a raise",
    ALL_IN: " facing an overbet",
}

UNBET_VERBS: Final[Mapping[Choice, str]] = {FOLDS: "folds", CALLS: "checks", RAISES: "bets", GOES_ALL_IN: "overbets"}
VERBS: Final[Mapping[Choice, str]] = {FOLDS: "folds", CALLS: "calls", RAISES: "raises", GOES_ALL_IN: "overbets"}

UNBET_TRIALS: Final[Mapping[Choice, str]] = {CALLS: "a check", RAISES: "a bet of the pot"}
TRIALS: Final[Mapping[Choice, str]] = {FOLDS: "a fold", CALLS: "a call", RAISES: "a raise by the pot"}
"""The choices that are tried in place of others."""

COMPARISONS: Final = (
    STREETS
    * len(STRENGTHS)
    * sum(
        len(trials.keys() - {choice}) * situations
        for verbs, trials, situations in ((UNBET_VERBS, UNBET_TRIALS, 1), (VERBS, TRIALS, SITUATIONS - 1))
        for choice in verbs
    )
)
"""All choices of all classes, each compared with all that are tried."""

type Trials = tuple[Mapping[str, Trial], Mapping[str, Trial]]
"""The trials of each bot, by its choice in words."""


class TriedChoice(NamedTuple):
    """A choice of a seat, in words, and the chips that it wins more with each choice that was tried in its place."""

    seat: int
    choice: str
    gains: Mapping[str, int]


class Collector:
    """Adds up the trials of a bot."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._sums: dict[str, dict[str, list[int]]] = {}

    def add_pair(self, tried_choices: Iterable[TriedChoice]) -> None:
        """Add what was tried in a pair of hands, which is one value of the statistics."""
        sums: Counter[tuple[str, str]] = Counter()
        for _, choice, gains in tried_choices:
            self._counts[choice] += 1
            self._sums.setdefault(choice, {})
            for other, chips in gains.items():
                sums[choice, other] += chips
        for (choice, other), chips in sums.items():
            self._sums[choice].setdefault(other, []).append(chips)

    def trials(self, unit: float) -> Mapping[str, Trial]:
        """The trials, with gains in the unit of the results; `unit` is that of a chip won in a pair."""
        return {
            choice: Trial(count, {other: _gain(sums, unit) for other, sums in self._sums[choice].items()})
            for choice, count in self._counts.items()
        }


def _gain(sums: Sequence[int], unit: float) -> Gain:
    """The gain in pairs of hands with these chips."""
    squares = sum(chips * chips for chips in sums)
    return Gain(len(sums), unit * sum(sums), unit * unit * squares, unit * max(0, -min(sums)))


def try_choices(chunk: Chunk, seatings: Seatings, unit: float) -> Trials:
    """Try other choices at all decisions of the hands of a chunk. `unit` is that of a chip won in a pair of hands.

    The bots are made anew, with random numbers for the trials, and their faults do not count. But if a bot makes one,
    it may need to have seen the hand from its beginning; then there are no trials.
    """
    seed = int.from_bytes(stream_seed(chunk.plan, "trials"))
    trial_chunk = with_fields(chunk, plan=replace(chunk.plan, seed=seed), faults=[])
    collectors = (Collector(), Collector())
    try:
        tried = [[*_try_seating(trial_chunk, seating, hands)] for seating, hands in enumerate(seatings)]
    except Forfeit:
        return {}, {}
    if trial_chunk.faults:
        return {}, {}
    for first, second in zip(*tried, strict=True):
        for bot, collector in enumerate(collectors):
            collector.add_pair(
                [each for each in first if each.seat == bot] + [each for each in second if each.seat != bot]
            )
    return collectors[0].trials(unit), collectors[1].trials(unit)


def _try_seating(chunk: Chunk, seating: int, hands: Sequence[PlayedHand]) -> Iterator[Sequence[TriedChoice]]:
    """The trials of each hand of a seating."""
    players = [chunk.player(seating, index, DEFAULT_MOVES) for index in (0, 1)]
    turns, names = [player.play for player in players], NAMES
    if seating == 1:
        turns, names = turns[::-1], names[::-1]
    finish = partial(play_out, seats=turns, names=names)
    levels = Runouts.of(np.array([cards for cards, _ in hands])).levels
    for nth, played in enumerate(hands):
        yield [*_try_hand(played, [(int(one[nth]), int(other[nth])) for one, other in levels], finish)]


def _try_hand(
    played: PlayedHand, levels: Sequence[Sequence[int]], finish: Callable[[Hand], None]
) -> Iterator[TriedChoice]:
    """Try other choices at each decision of a hand. `levels` are those of both seats on each street."""
    hand = Hand(played.hand.start_stacks, button=played.hand.button, stakes=played.hand.stakes)
    hand.deal_from(played.cards)
    won = played.hand.payoff()
    moves = [entry for entry in played.hand.log if entry[0] != "deal"]
    for decision, entry in zip(history_of(played.hand).decisions, moves, strict=True):
        seat, gains = decision.seat, {}
        names = UNBET_TRIALS if decision.situation == UNBET else TRIALS
        for choice, move in _other_moves(hand.legal, decision.choice).items():
            other = hand.copy()
            other.play(move)
            finish(other)
            gains[names[choice]] = other.payoff()[seat] - won[seat]
        yield TriedChoice(seat, describe(decision, levels[decision.street][seat]), gains)
        hand.play(entry[2] if entry[0] == "bet" else FOLD)


def _other_moves(legal: Legal, chosen: Choice) -> Mapping[Choice, Move]:
    """The moves that are tried in place of a choice."""
    moves: dict[Choice, Move] = {CALLS: legal.call}
    if legal.to_call:
        moves[FOLDS] = FOLD
    if legal.raise_range and legal.can_be_answered:
        pot = legal.pot_sized()
        moves[RAISES] = legal.raise_range[1] if pot is None else pot
    return {choice: move for choice, move in moves.items() if choice != chosen}


def describe(decision: Decision, level: int) -> str:
    """A choice in words; `level` is that of the hand, as in profiles."""
    street, situation = decision.street, decision.situation
    strength = STRENGTHS[bisect(BOARD_LIMITS if street else HOLE_LIMITS, level)]
    verb = (UNBET_VERBS if situation == UNBET else VERBS)[decision.choice]
    facing = " facing the blind" if situation == BET and not street else FACING[situation]
    return f"{verb} with a {strength} hand{facing} {STREET_TEXTS[street]}"


def trial_lines(trials: Mapping[str, Trial], pairs: int) -> Sequence[LeakLine]:
    """The choices in whose place another one wins more, by intervals that hold all at once; the most expensive first.

    `pairs` is the number of pairs of hands. Where several others win more, the one that wins most counts.
    """
    if pairs < MIN_PAIRS:
        return ()
    worst: dict[str, float] = {}
    for trial in trials.values():
        for other, gain in trial.gains.items():
            worst[other] = max(gain.worst, worst.get(other, 0.0))
    lines = []
    for choice, trial in trials.items():
        tried = [(other, gain) for other, gain in trial.gains.items() if gain.pairs >= MIN_TRIALS]
        intervals = ((_interval(gain, worst[other], pairs), other) for other, gain in tried)
        better = [(interval, other) for interval, other in intervals if interval.low > 0]
        if better:
            (mean, low, high), other = max(better)
            lines.append(LeakLine(choice, mean, trial.count / (2 * pairs), better=other, low=low, high=high))
    return sorted(lines, key=lambda line: (-line.cost, line.choice))


def _interval(gain: Gain, worst: float, pairs: int) -> Interval:
    """The interval for what a choice gains in a pair of hands; most pairs have no trial, and gain 0."""
    found = Moments(pairs, gain.total, gain.squares)
    assumed = Moments(0, -ASSUMED_LOSSES * worst, ASSUMED_LOSSES * worst * worst)
    interval, cautious = (
        sequence_interval(moments, ALPHA / COMPARISONS, T_STAR) for moments in (found, found + assumed)
    )
    return interval._replace(low=min(interval.low, cautious.low))
