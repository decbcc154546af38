"""The baseline of games against the bank: the exact value of every state with best play.

All corrections of chance telescope: what remains of a result is the value before the first card and, for each decision,
the value after it minus the value before it (A. Zinkevich et al., "Optimal unbiased estimators for evaluating agent
performance", 2006). A bot that plays best has the value of the game in every hand.
"""

from typing import Final

from croupier.core.bank import BankRules, BankState
from croupier.strategy.single_player import Position, SinglePlayerSolver

BASELINE: Final = "bank-best-1"
"""The id of the baseline; another baseline needs another id."""


class BankValues:
    """The values of the states of a game, in coins, with best play of the client."""

    def __init__(self, rules: BankRules) -> None:
        self._solver = SinglePlayerSolver(rules)
        self._values: dict[Position, float] = {}

    def value(self, state: BankState) -> float:
        """The coins that the client wins on average from a state."""
        position = self._solver.position(state)
        value = self._values.get(position)
        if value is None:
            value = self._values[position] = float(self._solver.value(state))
        return value
