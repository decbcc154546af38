"""Values of optimal play by exhaustive search, with no knowledge of a game beyond its rules."""

from collections.abc import Iterator, Mapping
from fractions import Fraction

from croupier.core.bank import BankMove, BankRules, BankState, RaiseChoices
from croupier.core.rules import Turn


class BruteForce:
    """Tries every move, every raise and every card, in every order."""

    def __init__(self, rules: BankRules) -> None:
        self.rules = rules
        self.values: dict[BankState, Fraction] = {}

    def value(self, state: BankState) -> Fraction:
        if state not in self.values:
            turn = self.rules.turn(state)
            if turn is Turn.OVER:
                value_here = Fraction(self.rules.payoff(state)[0])
            elif turn is Turn.CHANCE:
                odds = self.rules.odds(state)
                assert sum(odds.values()) == 1, "the shoe must not run out"
                value_here = sum(
                    (each * self.value(self.rules.play(state, card)) for card, each in odds.items()), Fraction(0)
                )
            else:
                value_here = max(self.move_values(state).values())
            self.values[state] = value_here
        return self.values[state]

    def move_values(self, state: BankState) -> Mapping[BankMove, Fraction]:
        return {move: self.value(self.rules.play(state, move)) for move in self.moves(state)}

    def moves(self, state: BankState) -> Iterator[BankMove]:
        """All legal moves, including every single raise."""
        legal = self.rules.legal(state)
        yield from (move for move in legal if isinstance(move, str))
        if isinstance(legal, RaiseChoices):
            assert isinstance(legal[-1], int)
            yield from range(1, legal[-1] + 1)

    def decisions(self) -> list[BankState]:
        """All decisions evaluated so far, for every order of the cards."""
        return [state for state in self.values if not isinstance(self.rules.turn(state), Turn)]
