"""A game of two with hidden cards as its players see it: what each can tell apart, and what it may do there.

This is the sequence form (D. Koller, N. Megiddo, B. von Stengel, "Efficient computation of equilibria for extensive
two-person games", 1996): a strategy is a weight for every sequence of a seat's own moves, and what a game is worth is
linear in the weights of either seat.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from croupier.core.rules import Rules, Seat, Turn

type BehaviourStrategy = Mapping[Hashable, Mapping[Any, Fraction]]
"""For every view of a seat, the probability of each move."""

type RealizationPlan = tuple[Fraction, ...]
"""For every sequence of a seat's moves, the empty one first, the probability that it plays them all when it can."""


class InfoSet(NamedTuple):
    """An information set: the sequence that leads to it, the number of the first move's sequence, and the moves."""

    parent_sequence: int
    first_sequence: int
    moves: tuple[Any, ...]

    @property
    def sequences(self) -> range:
        """The sequences that its moves lead to."""
        return range(self.first_sequence, self.first_sequence + len(self.moves))


class GameTree:
    """All information sets and ends of a game of two.

    `choices` has the information sets of each seat by its view, earlier ones first; `sizes` is how many sequences each
    seat has; `ends` is what the first seat wins at the ends with these two sequences, times the probability of chance's
    moves.
    """

    def __init__(self, rules: Rules[Any, Any]) -> None:
        """Walk through a whole game.

        Raises ValueError if it is not one of two seats, if it does not add up to 0, or if a seat forgets what it did.
        """
        if rules.seats != 2:
            raise ValueError(f"found a game of {rules.seats}; allowed: 2")
        self.info_sets: tuple[dict[Hashable, InfoSet], dict[Hashable, InfoSet]] = ({}, {})
        self.sequence_counts = [1, 1]
        self.terminals: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
        self._rules = rules
        self._walk(rules.start(), (0, 0), Fraction(1))

    def _walk(self, state: Any, sequences: tuple[int, int], chance: Fraction) -> None:
        rules, turn = self._rules, self._rules.turn(state)
        if turn is Turn.OVER:
            first, second = rules.payoff(state)
            if first + second:
                raise ValueError(f"found an end worth {first} and {second}; allowed: one that adds up to 0")
            self.terminals[sequences] += chance * first
        elif turn is Turn.CHANCE:
            for move, odds in rules.odds(state).items():
                self._walk(rules.play(state, move), sequences, chance * odds)
        else:
            assert isinstance(turn, int)
            choice = self._info_set(turn, rules.view(state, turn), sequences[turn], rules.legal(state))
            for sequence, move in zip(choice.sequences, choice.moves, strict=True):
                after = (sequence, sequences[1]) if turn == 0 else (sequences[0], sequence)
                self._walk(rules.play(state, move), after, chance)

    def _info_set(self, seat: Seat, view: Hashable, before: int, legal: object) -> InfoSet:
        """The information set behind this view, which may be known already."""
        assert isinstance(legal, Iterable), "only moves that can be listed can be solved"
        new = InfoSet(before, self.sequence_counts[seat], tuple(legal))
        known = self.info_sets[seat].setdefault(view, new)
        if known is new:
            self.sequence_counts[seat] += len(new.moves)
        elif (known.parent_sequence, known.moves) != (before, new.moves):
            raise ValueError(f"found {view!r} after different moves of its own; allowed: a seat that forgets nothing")
        return known

    def realization_plan(self, seat: Seat, strategy: BehaviourStrategy) -> RealizationPlan:
        """A strategy as a plan. Raises ValueError on a row that is no distribution over the moves of its view."""
        weights = [Fraction(1)] * self.sequence_counts[seat]
        for view, choice in self.info_sets[seat].items():
            row = strategy.get(view, {})
            if sum(row.values()) != 1 or min(row.values()) < 0 or not row.keys() <= {*choice.moves}:
                allowed = f"a distribution over {', '.join(map(str, choice.moves))}"
                raise ValueError(f"{view}: found the probabilities {row}; allowed: {allowed}")
            for sequence, move in zip(choice.sequences, choice.moves, strict=True):
                weights[sequence] = weights[choice.parent_sequence] * row.get(move, 0)
        return tuple(weights)

    def behaviour_strategy(self, seat: Seat, plan: RealizationPlan, fallback: BehaviourStrategy) -> BehaviourStrategy:
        """A plan as a strategy; at views that the plan itself avoids, what another strategy does."""
        found: dict[Hashable, Mapping[Any, Fraction]] = {}
        for view, choice in self.info_sets[seat].items():
            if whole := plan[choice.parent_sequence]:
                moves = zip(choice.sequences, choice.moves, strict=True)
                found[view] = {move: plan[sequence] / whole for sequence, move in moves}
            else:
                found[view] = fallback[view]
        return found

    def expected_value(self, plans: Sequence[RealizationPlan]) -> Fraction:
        """What the first seat wins on average when both keep to their plans."""
        ends = self.terminals.items()
        return sum((coins * plans[0][one] * plans[1][other] for (one, other), coins in ends), Fraction(0))
