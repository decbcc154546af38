"""The perfect play of seven and a half: when to draw, when to pass, and when to raise."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from croupier.core.bank import Move, State
from croupier.rooms.sevenhalf.rules import BEST, MOST, SevenHalf, score, total
from croupier.strategy.single_player import OnePlayer
from croupier.strategy.solution import Grid, Hand, Record, Solved, Watch, exceptions, signed, usual

BET = 1
"""Bets are counted in starting bets."""


def solve(max_bet: int = BET, watch: Watch = iter) -> Solved:
    """Solve it with this limit on the total bet, in starting bets. Raises ValueError."""
    if not BET <= max_bet <= MOST:
        raise ValueError(f"found a highest bet of {max_bet}; allowed: {BET} to {MOST}")
    solver = OnePlayer(SevenHalf(max_bet))
    start = solver.rules.start(BET)
    decisions = {state: solver.worth(state) for state in watch(solver.decisions(start))}
    reached = solver.reached(start)
    cells: dict[tuple[int, int], list[Hand]] = {}
    for state, worth in decisions.items():
        if "PASS" in worth:
            hand = Hand(_name(state), _best(worth), max(worth.values()) / state.bet, reached.get(state, Fraction(0)))
            cells.setdefault((state.bet, total(_cards(state))), []).append(hand)
    grids, notes = [], []
    for bet in sorted({bet for bet, _ in cells}):
        rows = [_row(halves, cells.get((bet, halves), [])) for halves in range(1, BEST + 1)]
        title = "What to do, by total" if max_bet == BET else f"What to do, by total, with {bet} on the table"
        grids.append(Grid(title, ["Total", "Best", "Worth", "from", "to"], rows))
        for halves in range(1, BEST + 1):
            notes += exceptions(_written(halves), cells.get((bet, halves), []))
    notes = notes or ["No exceptions: it never matters which cards make up the total."]
    notes.append("Worth, from, to: the average in best play, the worst and the best hand, in bets on the table.")
    if max_bet > BET:
        notes.append("RAISE: to the limit, and then a card has to be drawn.")
    records = [_record(state, worth, reached.get(state, Fraction(0))) for state, worth in reversed(decisions.items())]
    value = solver.value(start) / BET
    settings = {"max_bet": max_bet}
    return Solved("Seven and a half", settings, value, "starting bets a game to the client", grids, notes, records)


def _cards(state: State) -> Sequence[str]:
    """The cards of the client; the bank has none while there is something to decide."""
    return tuple(map(str, state.cards))


def _name(state: State) -> str:
    """The cards of a hand without suits, low ones first; s stands for every figure."""
    return "".join(sorted(card[0] if card[0].isdigit() else "s" for card in _cards(state)))


def _written(halves: int) -> str:
    """A total as people write it."""
    return f"{halves / 2:g}"


def _best(worth: Mapping[Move, Fraction]) -> str:
    """The name of the best move."""
    best = max(worth, key=worth.__getitem__)
    return best if isinstance(best, str) else "RAISE"


def _row(halves: int, hands: Sequence[Hand]) -> Sequence[str]:
    """The usual move with a total, and what its hands are worth."""
    best, likely = usual(hands), sum(hand.reached for hand in hands)
    if best is None:
        return [_written(halves), "–", "–", "–", "–"]
    mean = sum((hand.reached * hand.worth for hand in hands), Fraction(0)) / likely
    worths = [hand.worth for hand in hands]
    return [_written(halves), best, *map(signed, (mean, min(worths), max(worths)))]


def _record(state: State, worth: Mapping[Move, Fraction], reached: Fraction) -> Record:
    """A decision, and what every move is worth in starting bets."""
    moves = {"RAISE" if isinstance(move, int) else move: coins / BET for move, coins in worth.items()}
    return {
        "hand": _name(state),
        "total": score(total(_cards(state))),
        "bet": state.bet,
        "best": _best(worth),
        "reached": reached,
        **{name: moves.get(name.upper()) for name in ("draw", "pass", "raise")},
    }
