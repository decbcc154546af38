"""The sequence form of a two-player zero-sum game with hidden cards: information sets, plans and terminals.

See D. Koller, N. Megiddo, B. von Stengel, "Efficient computation of equilibria for extensive two-person games", 1996.
A strategy is a weight for every sequence of a seat's own moves, and the expected value is linear in the weights of
either seat.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from croupier.core.rules import Rules, Seat, Turn

type BehaviourStrategy = Mapping[Hashable, Mapping[Any, Fraction]]
"""For every view of a seat, the probability of each move."""

FLOAT_PARTS = 2**53
"""The number of equal parts into which a floating-point number divides 1."""

type RealizationPlan = tuple[Fraction, ...]
"""A weight for every sequence of a seat's moves, the empty one first: the product of the probabilities of its moves."""


class InfoSet(NamedTuple):
    """An information set: the sequence that leads to it, the sequence of its first move, and its moves.

    Sequences are indexes into a realization plan; those of the moves are consecutive.
    """

    parent_sequence: int
    first_sequence: int
    moves: tuple[Any, ...]

    @property
    def sequences(self) -> range:
        """The sequences of its moves."""
        return range(self.first_sequence, self.first_sequence + len(self.moves))


class GameTree:
    """All information sets and terminals of a two-player zero-sum game.

    `info_sets` maps the views of each seat to its information sets, earlier ones first. `sequence_counts` is the number
    of sequences of each seat. `terminals` maps pairs of sequences to the coins that seat 0 wins at the terminals with
    these sequences, weighted with the probability of chance's moves. `state_count` is the number of states.
    """

    def __init__(self, rules: Rules[Any, Any]) -> None:
        """Build the tree of a game.

        Raises ValueError if the game has not two seats, if it is not zero-sum, if a seat lacks perfect recall, and if
        the rules contradict themselves.
        """
        if rules.seats != 2:
            raise ValueError(f"found a game of {rules.seats}; allowed: 2")
        self.info_sets: tuple[dict[Hashable, InfoSet], dict[Hashable, InfoSet]] = ({}, {})
        self.sequence_counts = [1, 1]
        self.terminals: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
        self.state_count = 0
        self._rules = rules
        self._walk(rules.start(), (0, 0), Fraction(1))

    def _walk(self, state: Any, sequences: tuple[int, int], chance: Fraction) -> None:
        self.state_count += 1
        rules, turn = self._rules, self._rules.turn(state)
        if turn is Turn.OVER:
            first, second = rules.payoff(state)
            if not isinstance(first, int | Fraction):
                raise ValueError(f"found the payoff {first!r}; allowed: an integer or a Fraction")
            if first + second:
                raise ValueError(f"found an end worth {first} and {second}; allowed: one that adds up to 0")
            self.terminals[sequences] += chance * first
        elif turn is Turn.CHANCE:
            odds = rules.odds(state)
            if sum(odds.values()) != 1 or min(odds.values()) < 0:
                raise ValueError(f"found the odds {dict(odds)}; allowed: none below 0, and exactly 1 in all")
            for move, probability in odds.items():
                self._walk(rules.play(state, move), sequences, chance * probability)
        else:
            assert isinstance(turn, int)
            info_set = self._info_set(turn, rules.view(state, turn), sequences[turn], rules.legal(state))
            for sequence, move in zip(info_set.sequences, info_set.moves, strict=True):
                after = (sequence, sequences[1]) if turn == 0 else (sequences[0], sequence)
                self._walk(rules.play(state, move), after, chance)

    def _info_set(self, seat: Seat, view: Hashable, parent_sequence: int, legal: object) -> InfoSet:
        """The information set of a view, added if it is new."""
        assert isinstance(legal, Iterable), "the solver needs finite lists of moves"
        new = InfoSet(parent_sequence, self.sequence_counts[seat], tuple(legal))
        if not new.moves:
            raise ValueError(f"found no move at {view!r}; allowed: at least one where a seat is to move")
        known = self.info_sets[seat].setdefault(view, new)
        if known is new:
            self.sequence_counts[seat] += len(new.moves)
        elif (known.parent_sequence, known.moves) != (parent_sequence, new.moves):
            raise ValueError(f"found {view!r} after different moves of its own; allowed: a seat that forgets nothing")
        return known


def realization_plan(tree: GameTree, seat: Seat, strategy: BehaviourStrategy) -> RealizationPlan:
    """The plan of a seat that plays a strategy. Moves that a row leaves out have the probability 0.

    Raises ValueError if the probabilities of a view are negative or do not add up to 1.
    """
    weights = [Fraction(1)] * tree.sequence_counts[seat]
    for view, info_set in tree.info_sets[seat].items():
        row = [strategy[view].get(move, Fraction(0)) for move in info_set.moves]
        if sum(row) != 1 or min(row) < 0:
            raise ValueError(f"{view}: found the probabilities {strategy[view]}; allowed: none below 0, and 1 in all")
        for sequence, probability in zip(info_set.sequences, row, strict=True):
            weights[sequence] = weights[info_set.parent_sequence] * probability
    return tuple(weights)


def behaviour_strategy(
    tree: GameTree, seat: Seat, plan: RealizationPlan, fallback: BehaviourStrategy | None = None
) -> BehaviourStrategy:
    """The strategy of a seat that plays a plan.

    Views that the plan never reaches get the row of `fallback`, or equal probabilities without one.
    """
    strategy: dict[Hashable, Mapping[Any, Fraction]] = {}
    for view, info_set in tree.info_sets[seat].items():
        if weight := plan[info_set.parent_sequence]:
            moves = zip(info_set.sequences, info_set.moves, strict=True)
            strategy[view] = {move: plan[sequence] / weight for sequence, move in moves}
        elif fallback is not None:
            strategy[view] = fallback[view]
        else:
            strategy[view] = dict.fromkeys(info_set.moves, Fraction(1, len(info_set.moves)))
    return strategy


def nearest_plan(tree: GameTree, seat: Seat, weights: Sequence[float]) -> RealizationPlan:
    """The plan of a seat with about these weights, which may have rounding errors.

    Every probability is a multiple of 2⁻⁵³, so that sums of products of them stay fast.
    """
    plan = [Fraction(1)] * tree.sequence_counts[seat]
    for info_set in tree.info_sets[seat].values():
        row = [max(weights[sequence], 0.0) for sequence in info_set.sequences]
        total = sum(row)
        shares = [weight / total for weight in row] if total > 0 else [1 / len(row)] * len(row)
        parts = [int(share * FLOAT_PARTS) for share in shares]
        parts[parts.index(max(parts))] += FLOAT_PARTS - sum(parts)
        for sequence, part in zip(info_set.sequences, parts, strict=True):
            plan[sequence] = plan[info_set.parent_sequence] * Fraction(part, FLOAT_PARTS)
    return tuple(plan)
