"""What best play is worth, found by trying everything: nothing is known here but the questions that rules answer."""

from collections.abc import Iterator, Mapping
from fractions import Fraction

from croupier.core.bank import BankMove, BankRules, BankState, RaiseChoices
from croupier.core.rules import Turn


class Brute:
    """Tries every move, every raise and every card, in every order."""

    def __init__(self, rules: BankRules) -> None:
        self.rules = rules
        self.known: dict[BankState, Fraction] = {}

    def value(self, state: BankState) -> Fraction:
        if state not in self.known:
            turn = self.rules.turn(state)
            if turn is Turn.OVER:
                found = Fraction(self.rules.payoff(state)[0])
            elif turn is Turn.CHANCE:
                odds = self.rules.odds(state)
                assert sum(odds.values()) == 1, "the shoe must not run out"
                found = sum(
                    (each * self.value(self.rules.play(state, card)) for card, each in odds.items()), Fraction(0)
                )
            else:
                found = max(self.worth(state).values())
            self.known[state] = found
        return self.known[state]

    def worth(self, state: BankState) -> Mapping[BankMove, Fraction]:
        return {move: self.value(self.rules.play(state, move)) for move in self.moves(state)}

    def moves(self, state: BankState) -> Iterator[BankMove]:
        """All that is legal; of raises, every single one."""
        legal = self.rules.legal(state)
        yield from (move for move in legal if isinstance(move, str))
        if isinstance(legal, RaiseChoices):
            assert isinstance(legal[-1], int)
            yield from range(1, legal[-1] + 1)

    def decisions(self) -> list[BankState]:
        """Every decision that was met so far, in every order of its cards."""
        return [state for state in self.known if not isinstance(self.rules.turn(state), Turn)]
