"""Exact solution of seven and a half: when to draw, pass and raise."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from croupier.core.bank import BankMove, BankState
from croupier.rooms.sevenhalf.rules import MAX_TOTAL_BET, TARGET_HALVES, SevenHalf, score, total
from croupier.strategy.single_player import SinglePlayerSolver
from croupier.strategy.solution import (
    Grid,
    HandAdvice,
    Solution,
    SolutionRecord,
    Tracker,
    describe_exceptions,
    format_signed,
    usual_move,
)

STARTING_BET = 1
"""Bets are counted in starting bets."""


def solve(max_bet: int = STARTING_BET, track: Tracker[BankState] = iter) -> Solution:
    """Solve the game with a limit on the total bet, in starting bets. Raises ValueError if it is out of range.

    Example:
        >>> solution = solve(max_bet=2)
        >>> print(f"{float(solution.value):.4f} {solution.unit}")
        -0.0505 starting bets a game to the client
    """
    if not STARTING_BET <= max_bet <= MAX_TOTAL_BET:
        raise ValueError(f"found a highest bet of {max_bet}; allowed: {STARTING_BET} to {MAX_TOTAL_BET}")
    solver = SinglePlayerSolver(SevenHalf(max_bet))
    start = solver.rules.start(STARTING_BET)
    decisions = {state: solver.move_values(state) for state in track(solver.reachable_decisions(start))}
    reached = solver.decision_probabilities(start)
    cells: dict[tuple[int, int], list[HandAdvice]] = {}
    for state, values in decisions.items():
        if "PASS" in values:
            hand = HandAdvice(
                _hand_name(state), _best_move(values), max(values.values()) / state.bet, reached.get(state, Fraction(0))
            )
            cells.setdefault((state.bet, total(_cards(state))), []).append(hand)
    grids, notes = [], []
    for bet in sorted({bet for bet, _ in cells}):
        rows = [_row(halves, cells.get((bet, halves), [])) for halves in range(1, TARGET_HALVES + 1)]
        title = "What to do, by total" if max_bet == STARTING_BET else f"What to do, by total, with {bet} on the table"
        grids.append(Grid(title, ["Total", "Best", "Worth", "from", "to"], rows))
        for halves in range(1, TARGET_HALVES + 1):
            notes += describe_exceptions(_format_total(halves), cells.get((bet, halves), []))
    notes = notes or ["No exceptions: it never matters which cards make up the total."]
    notes.append("Worth, from, to: the average in best play, the worst and the best hand, in bets on the table.")
    if max_bet > STARTING_BET:
        notes.append("RAISE: to the limit, and then a card has to be drawn.")
    records = [_record(state, values, reached.get(state, Fraction(0))) for state, values in reversed(decisions.items())]
    value = solver.value(start) / STARTING_BET
    settings = {"max_bet": max_bet}
    return Solution("Seven and a half", settings, value, "starting bets a game to the client", grids, notes, records)


def _cards(state: BankState) -> Sequence[str]:
    """The client's cards; the bank has none while the client has to decide."""
    return tuple(map(str, state.cards))


def _hand_name(state: BankState) -> str:
    """The sorted ranks of a hand; s stands for every figure."""
    return "".join(sorted(card[0] if card[0].isdigit() else "s" for card in _cards(state)))


def _format_total(halves: int) -> str:
    return f"{halves / 2:g}"


def _best_move(values: Mapping[BankMove, Fraction]) -> str:
    best = max(values, key=values.__getitem__)
    return best if isinstance(best, str) else "RAISE"


def _row(halves: int, hands: Sequence[HandAdvice]) -> Sequence[str]:
    """The usual move at a total, and the mean, lowest and highest value of its hands."""
    best, probability = usual_move(hands), sum(hand.reach_probability for hand in hands)
    if best is None:
        return [_format_total(halves), "–", "–", "–", "–"]
    mean = sum((hand.reach_probability * hand.expected_value for hand in hands), Fraction(0)) / probability
    values = [hand.expected_value for hand in hands]
    return [_format_total(halves), best, *map(format_signed, (mean, min(values), max(values)))]


def _record(state: BankState, values: Mapping[BankMove, Fraction], reached: Fraction) -> SolutionRecord:
    """A decision with the expected value of each move, in starting bets."""
    moves = {"RAISE" if isinstance(move, int) else move: coins / STARTING_BET for move, coins in values.items()}
    return {
        "hand": _hand_name(state),
        "total": score(total(_cards(state))),
        "bet": state.bet,
        "best": _best_move(values),
        "reached": reached,
        **{name: moves.get(name.upper()) for name in ("draw", "pass", "raise")},
    }
