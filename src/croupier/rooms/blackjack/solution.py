"""The perfect play of blackjack: hit, stand or surrender, by the hand and the bank's card."""

from collections.abc import Mapping
from fractions import Fraction

from croupier.core.bank import BankMove, BankState
from croupier.rooms.blackjack.rules import HIT, RANK_VALUES, STAND, SURRENDER, Blackjack, hand_total
from croupier.strategy.single_player import SinglePlayerSolver
from croupier.strategy.solution import (
    DecisionTracker,
    Grid,
    HandAdvice,
    Solution,
    SolutionRecord,
    describe_exceptions,
    usual_move,
)

EVEN_BET = 2
"""An even bet: a surrender gives half of it back."""

MOVE_LETTERS: Mapping[BankMove, str] = {HIT: "H", STAND: "S", SURRENDER: "R"}
MOVE_NAMES: Mapping[BankMove, str] = {HIT: "hit", STAND: "stand", SURRENDER: "surrender"}

UP_CARD_RANKS = "23456789TA"
"""The bank's card; T stands for every card that counts 10."""


def solve(decks: int = 1, track: DecisionTracker = iter) -> Solution:
    """Solve it for a shoe of so many decks. Raises ValueError."""
    if decks < 1:
        raise ValueError(f"found {decks} decks; allowed: 1 or more")
    solver = SinglePlayerSolver(Blackjack(decks))
    start = solver.rules.start(EVEN_BET)
    decisions = {state: solver.move_values(state) for state in track(solver.reachable_decisions(start))}
    reached = solver.decision_probabilities(start)
    cells: dict[tuple[bool, int, str], list[HandAdvice]] = {}
    for state, worth in decisions.items():
        cards, up = _hand_and_up_card(state)
        has = hand_total(cards)
        best = max(worth, key=worth.__getitem__)
        found = HandAdvice(cards, MOVE_LETTERS[best], worth[best] / EVEN_BET, reached.get(state, Fraction(0)))
        cells.setdefault((has.is_soft, has.total, up), []).append(found)
    grids, notes = [], ["H hit, S stand, R surrender; * with exceptions; T is every card that counts 10."]
    for soft, name in ((False, "Hard"), (True, "Soft")):
        rows = []
        for total in sorted({total for kind, total, _ in cells if kind == soft}):
            row = [str(total)]
            for up in UP_CARD_RANKS:
                odd = describe_exceptions(f"{name} {total} against {up}", cells[soft, total, up])
                row.append(f"{usual_move(cells[soft, total, up]) or '–'}{'*' if odd else ''}")
                notes += odd
            rows.append(row)
        grids.append(Grid(f"{name} totals, by the bank's card", ["", *UP_CARD_RANKS], rows))
    records = [_record(state, worth, reached.get(state, Fraction(0))) for state, worth in reversed(decisions.items())]
    value = solver.value(start) / EVEN_BET
    return Solution("Blackjack", {"decks": decks}, value, "bets a round to the client", grids, notes, records)


def _hand_and_up_card(state: BankState) -> tuple[str, str]:
    """The ranks of the client's cards, low ones first, and of the bank's, which is the third that is dealt."""
    ranks = ["T" if RANK_VALUES[str(card)[0]] == 10 else str(card)[0] for card in state.cards]
    return "".join(sorted(ranks[:2] + ranks[3:], key=RANK_VALUES.__getitem__)), ranks[2]


def _record(state: BankState, worth: Mapping[BankMove, Fraction], reached: Fraction) -> SolutionRecord:
    """A decision, and what every move is worth in bets."""
    cards, up = _hand_and_up_card(state)
    has = hand_total(cards)
    return {
        "hand": cards,
        "total": has.total,
        "soft": has.is_soft,
        "up": up,
        "best": MOVE_NAMES[max(worth, key=worth.__getitem__)],
        "reached": reached,
        **{MOVE_NAMES[move]: coins / EVEN_BET for move, coins in worth.items()},
    }
