"""Bots for seven and a half: random, a threshold, scripts, and exact optimal play."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache, lru_cache
from math import gcd
from typing import Final

from msgspec.structs import replace

from croupier.core.bank import BankMove, BankNode, BankState, client_cards
from croupier.core.bots import BotSpec, RandomBot, ScriptedBot
from croupier.core.dealer import Luck
from croupier.rooms.sevenhalf.rules import LENIENT_RULES, TARGET_HALVES, SevenHalf, total
from croupier.strategy.shoe import reachable_nodes
from croupier.strategy.single_player import SinglePlayerSolver


class ThresholdBot:
    """Draws until its total reaches a threshold in halves of a point (10 is 5 points), then passes. It never raises."""

    def __init__(self, halves: int = 10) -> None:
        self._halves = halves

    def choose(self, view: BankState, legal: Sequence[BankMove], luck: Luck) -> BankMove:  # noqa: ARG002 -- deterministic
        """PASS at the threshold or above, if it is legal; otherwise DRAW."""
        return "PASS" if total(client_cards(view)) >= self._halves and "PASS" in legal else "DRAW"


def _parse_halves(argument: str) -> int:
    """Parse a threshold in points, 0.5 to 7.5, into halves of a point. Raises ValueError."""
    halves = 2 * Fraction(argument)
    if halves.denominator != 1 or not 1 <= halves <= TARGET_HALVES:
        raise ValueError(f"found {argument!r}; allowed: 0.5 to 7.5 in steps of 0.5")
    return int(halves)


class OptimalBot:
    """Plays optimally, counting every card dealt. It raises by the largest legal amount (see `SinglePlayerSolver`)."""

    def choose(self, view: BankState, legal: Sequence[BankMove], luck: Luck) -> BankMove:  # noqa: ARG002 -- deterministic
        """The legal move with the highest expected value."""
        highest = max((move for move in legal if isinstance(move, int)), default=0)
        unit = gcd(view.bet, highest)
        state = replace(view, bet=view.bet // unit)
        move = _solver((view.bet + highest) // unit, lenient=view.node in lenient_nodes()).best_move(state)
        return move * unit if isinstance(move, int) else move


@cache
def lenient_nodes() -> frozenset[BankNode]:
    """The nodes that a game in the dialect `lenient` can reach."""
    return frozenset(reachable_nodes(LENIENT_RULES.start_node))


@lru_cache(maxsize=8)
def _solver(max_bet: int, *, lenient: bool) -> SinglePlayerSolver:
    return SinglePlayerSolver(SevenHalf(max_bet, lenient=lenient))


def _parse_moves(argument: str) -> tuple[BankMove, ...]:
    """Parse the commands of a script; a number is an ANTE. Raises ValueError."""
    words = [word.strip().upper() for word in argument.split(",")]
    moves = tuple(int(word) if word.isdecimal() else word for word in words)
    if not all(move in {"DRAW", "PASS"} or isinstance(move, int) for move in moves):
        raise ValueError(f"found {argument!r}; allowed: DRAW, PASS, and numbers to raise by, with commas between")
    return moves


BOT_SPECS: Final[Mapping[str, BotSpec[BankState, BankMove]]] = {
    "exact": BotSpec("best play to the last card", OptimalBot),
    "random": BotSpec("every legal command with the same probability", RandomBot),
    "book": BotSpec("stands at a threshold in points, 5 by default", ThresholdBot, _parse_halves, ("4", "5.5", "6")),
    "script": BotSpec(
        "these commands in turn, again and again", ScriptedBot, _parse_moves, ("DRAW,DRAW,PASS",), is_stateful=True
    ),
}
"""Every bot by its name on the command line."""
