"""The sequence form of a two-player zero-sum game with hidden cards: information sets, plans and terminals.

See D. Koller, N. Megiddo, B. von Stengel, "Efficient computation of equilibria for extensive two-person games", 1996.
A strategy is a weight for every sequence of a seat's own moves, and the expected value is linear in the weights of
either seat.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from croupier.core.rules import Rules, Seat, Turn

type BehaviourStrategy = Mapping[Hashable, Mapping[Any, Fraction]]
"""For every view of a seat, the probability of each move."""

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
    these sequences, weighted with the probability of chance's moves.
    """

    def __init__(self, rules: Rules[Any, Any]) -> None:
        """Build the tree of a game.

        Raises ValueError if the game has not two seats, if it is not zero-sum, or if a seat lacks perfect recall.
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
            info_set = self._info_set(turn, rules.view(state, turn), sequences[turn], rules.legal(state))
            for sequence, move in zip(info_set.sequences, info_set.moves, strict=True):
                after = (sequence, sequences[1]) if turn == 0 else (sequences[0], sequence)
                self._walk(rules.play(state, move), after, chance)

    def _info_set(self, seat: Seat, view: Hashable, parent_sequence: int, legal: object) -> InfoSet:
        """The information set of a view, added if it is new."""
        assert isinstance(legal, Iterable), "the solver needs finite lists of moves"
        new = InfoSet(parent_sequence, self.sequence_counts[seat], tuple(legal))
        known = self.info_sets[seat].setdefault(view, new)
        if known is new:
            self.sequence_counts[seat] += len(new.moves)
        elif (known.parent_sequence, known.moves) != (parent_sequence, new.moves):
            raise ValueError(f"found {view!r} after different moves of its own; allowed: a seat that forgets nothing")
        return known
