"""Bots for Kuhn poker: random, the exact equilibrium, scripts, and simple habits of beginners."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import product
from typing import Final

from croupier.core.bots import Bot, BotSpec, PolicyBot, RandomBot, ScriptedBot, script_parser
from croupier.rooms.kuhn.rules import ACTION_COST, BETTING_TREE, CARDS, BettingHistory, KuhnAction, Rank, View

type KuhnBot = Bot[View, KuhnAction]

DEFAULT_ALPHA: Final = Fraction(1, 3)
"""The probability that P_1 bets a jack in the default equilibrium: the largest that the family allows."""


def equilibrium_bot(alpha: Fraction = DEFAULT_ALPHA) -> PolicyBot[View, KuhnAction]:
    """Return a bot that plays an exact equilibrium (H. W. Kuhn, "Simplified two-person poker", 1950).

    P_1 has a family of equilibrium strategies with one parameter, 0 ≤ alpha ≤ 1/3: it bets a jack with probability
    alpha and a king with 3·alpha, and calls with a queen with probability alpha + 1/3. P_2 has a single equilibrium
    strategy: it bets a jack after a check, and calls with a queen, each with probability 1/3. The game is worth −1/18
    to P_1. Raises ValueError if alpha is out of range.
    """
    if not 0 <= alpha <= Fraction(1, 3):
        raise ValueError(f"found alpha = {alpha}; allowed: 0 to 1/3")
    third = Fraction(1, 3)
    aggression: dict[tuple[Rank, BettingHistory], Fraction] = {
        ("J", ()): alpha,
        ("Q", ()): Fraction(0),
        ("K", ()): 3 * alpha,
        ("J", ("CHK", "BET")): Fraction(0),
        ("Q", ("CHK", "BET")): alpha + third,
        ("K", ("CHK", "BET")): Fraction(1),
        ("J", ("CHK",)): third,
        ("Q", ("CHK",)): Fraction(0),
        ("K", ("CHK",)): Fraction(1),
        ("J", ("BET",)): Fraction(0),
        ("Q", ("BET",)): third,
        ("K", ("BET",)): Fraction(1),
    }
    return _policy_bot(lambda card, history: aggression[card, history])


def _policy_bot(aggression: Callable[[Rank, BettingHistory], Fraction | bool]) -> PolicyBot[View, KuhnAction]:
    """A bot that puts a coin in (BET or CAL) with the given probability at each of the twelve information sets."""
    table: dict[View, Mapping[KuhnAction, Fraction]] = {}
    for card, (history, (_, actions)) in product(CARDS, BETTING_TREE.items()):
        chance = Fraction(aggression(card, history))
        row: Mapping[KuhnAction, Fraction]
        row = {"CHK": 1 - chance, "BET": chance} if "BET" in actions else {"FLD": 1 - chance, "CAL": chance}
        table[View(card, history)] = row
    return PolicyBot(table)


HABITS: Final[Mapping[str, Callable[[Rank, BettingHistory], bool]]] = {
    "king-only": lambda card, _: card == "K",
    "no-jack": lambda card, _: card != "J",
    "always-bet": lambda *_: True,
    "never-bet": lambda *_: False,
    "check-call": lambda _, history: "BET" in history,
}
"""Simple habits of beginners: whether they put a coin in, by BET or CAL, at a card and a history."""


def habit_bot(habit: str = "king-only") -> KuhnBot:
    """Return a bot that always follows a habit of `HABITS`. Raises ValueError for an unknown one."""
    if habit not in HABITS:
        raise ValueError(f"found {habit!r}; allowed: {', '.join(HABITS)}")
    return _policy_bot(HABITS[habit])


BOT_SPECS: Final[Mapping[str, BotSpec[View, KuhnAction]]] = {
    "equilibrium": BotSpec(
        "the exact equilibrium; the argument is alpha, 1/3 by default", equilibrium_bot, Fraction, ("1/6",)
    ),
    "random": BotSpec("every legal action with the same probability", RandomBot),
    "book": BotSpec("always the same habit, king-only by default", habit_bot, str, tuple(HABITS)),
    "script": BotSpec(
        "these actions in turn, again and again",
        ScriptedBot,
        script_parser(ACTION_COST),
        ("CHK,BET,CAL",),
        is_stateful=True,
    ),
}
"""Every bot by its name on the command line."""
