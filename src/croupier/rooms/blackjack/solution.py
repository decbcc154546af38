"""Exact solution of blackjack: hit, stand or surrender, by the hand and the bank's card."""

from collections.abc import Mapping
from fractions import Fraction

from croupier.core.bank import BankMove, BankState
from croupier.rooms.blackjack.rules import HIT, RANK_VALUES, STAND, SURRENDER, Blackjack, hand_total
from croupier.strategy.single_player import SinglePlayerSolver
from croupier.strategy.solution import (
    Grid,
    HandAdvice,
    Solution,
    SolutionRecord,
    Tracker,
    describe_exceptions,
    usual_move,
)

EVEN_BET = 2
"""The solved bet; it is even, so that a surrender returns exactly half of it."""

MOVE_LETTERS: Mapping[BankMove, str] = {HIT: "H", STAND: "S", SURRENDER: "R"}
MOVE_NAMES: Mapping[BankMove, str] = {HIT: "hit", STAND: "stand", SURRENDER: "surrender"}

UP_CARD_RANKS = "23456789TA"
"""The bank's card; T stands for every card that counts 10."""


def solve(decks: int = 1, track: Tracker[BankState] = iter) -> Solution:
    """Solve the game for a shoe of `decks`. Raises ValueError if `decks` is less than 1.

    Example:
        >>> solution = solve(decks=1)
        >>> print(f"{float(solution.value):.4f} {solution.unit}")
        0.0419 bets a round to the client
    """
    if decks < 1:
        raise ValueError(f"found {decks} decks; allowed: 1 or more")
    solver = SinglePlayerSolver(Blackjack(decks))
    start = solver.rules.start(EVEN_BET)
    decisions = {state: solver.move_values(state) for state in track(solver.reachable_decisions(start))}
    reached = solver.decision_probabilities(start)
    cells: dict[tuple[bool, int, str], list[HandAdvice]] = {}
    for state, values in decisions.items():
        cards, up = _hand_and_up_card(state)
        held = hand_total(cards)
        best = max(values, key=values.__getitem__)
        advice = HandAdvice(cards, MOVE_LETTERS[best], values[best] / EVEN_BET, reached.get(state, Fraction(0)))
        cells.setdefault((held.is_soft, held.total, up), []).append(advice)
    grids, notes = [], ["H hit, S stand, R surrender; * with exceptions; T is every card that counts 10."]
    for soft, name in ((False, "Hard"), (True, "Soft")):
        rows = []
        for total in sorted({total for kind, total, _ in cells if kind == soft}):
            row = [str(total)]
            for up in UP_CARD_RANKS:
                exceptions = describe_exceptions(f"{name} {total} against {up}", cells[soft, total, up])
                row.append(f"{usual_move(cells[soft, total, up]) or '–'}{'*' if exceptions else ''}")
                notes += exceptions
            rows.append(row)
        grids.append(Grid(f"{name} totals, by the bank's card", ["", *UP_CARD_RANKS], rows))
    records = [_record(state, values, reached.get(state, Fraction(0))) for state, values in reversed(decisions.items())]
    value = solver.value(start) / EVEN_BET
    return Solution("Blackjack", {"decks": decks}, value, "bets a round to the client", grids, notes, records)


def _hand_and_up_card(state: BankState) -> tuple[str, str]:
    """The sorted ranks of the client's cards, and the rank of the bank's, which is the third card of the deal."""
    ranks = ["T" if RANK_VALUES[str(card)[0]] == 10 else str(card)[0] for card in state.cards]
    return "".join(sorted(ranks[:2] + ranks[3:], key=RANK_VALUES.__getitem__)), ranks[2]


def _record(state: BankState, values: Mapping[BankMove, Fraction], reached: Fraction) -> SolutionRecord:
    """A decision with the expected value of each move, in bets."""
    cards, up = _hand_and_up_card(state)
    held = hand_total(cards)
    return {
        "hand": cards,
        "total": held.total,
        "soft": held.is_soft,
        "up": up,
        "best": MOVE_NAMES[max(values, key=values.__getitem__)],
        "reached": reached,
        **{MOVE_NAMES[move]: coins / EVEN_BET for move, coins in values.items()},
    }
