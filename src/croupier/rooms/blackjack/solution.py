"""The perfect play of blackjack: hit, stand or surrender, by the hand and the bank's card."""

from collections.abc import Mapping
from fractions import Fraction

from croupier.core.bank import Move, State
from croupier.rooms.blackjack.rules import HIT, STAND, SURRENDER, VALUE, Blackjack, hand
from croupier.strategy.single_player import OnePlayer
from croupier.strategy.solution import Grid, Hand, Record, Solved, Watch, exceptions, usual

BET = 2
"""An even bet: a surrender gives half of it back."""

LETTERS: Mapping[Move, str] = {HIT: "H", STAND: "S", SURRENDER: "R"}
NAMES: Mapping[Move, str] = {HIT: "hit", STAND: "stand", SURRENDER: "surrender"}

UP = "23456789TA"
"""The bank's card; T stands for every card that counts 10."""


def solve(decks: int = 1, watch: Watch = iter) -> Solved:
    """Solve it for a shoe of so many decks. Raises ValueError."""
    if decks < 1:
        raise ValueError(f"found {decks} decks; allowed: 1 or more")
    solver = OnePlayer(Blackjack(decks))
    start = solver.rules.start(BET)
    decisions = {state: solver.worth(state) for state in watch(solver.decisions(start))}
    reached = solver.reached(start)
    cells: dict[tuple[bool, int, str], list[Hand]] = {}
    for state, worth in decisions.items():
        cards, up = _dealt(state)
        has = hand(cards)
        best = max(worth, key=worth.__getitem__)
        found = Hand(cards, LETTERS[best], worth[best] / BET, reached.get(state, Fraction(0)))
        cells.setdefault((has.soft, has.total, up), []).append(found)
    grids, notes = [], ["H hit, S stand, R surrender; * with exceptions; T is every card that counts 10."]
    for soft, name in ((False, "Hard"), (True, "Soft")):
        rows = []
        for total in sorted({total for kind, total, _ in cells if kind == soft}):
            row = [str(total)]
            for up in UP:
                odd = exceptions(f"{name} {total} against {up}", cells[soft, total, up])
                row.append(f"{usual(cells[soft, total, up]) or '–'}{'*' if odd else ''}")
                notes += odd
            rows.append(row)
        grids.append(Grid(f"{name} totals, by the bank's card", ["", *UP], rows))
    records = [_record(state, worth, reached.get(state, Fraction(0))) for state, worth in reversed(decisions.items())]
    value = solver.value(start) / BET
    return Solved("Blackjack", {"decks": decks}, value, "bets a round to the client", grids, notes, records)


def _dealt(state: State) -> tuple[str, str]:
    """The ranks of the client's cards, low ones first, and of the bank's, which is the third that is dealt."""
    ranks = ["T" if VALUE[str(card)[0]] == 10 else str(card)[0] for card in state.cards]
    return "".join(sorted(ranks[:2] + ranks[3:], key=VALUE.__getitem__)), ranks[2]


def _record(state: State, worth: Mapping[Move, Fraction], reached: Fraction) -> Record:
    """A decision, and what every move is worth in bets."""
    cards, up = _dealt(state)
    has = hand(cards)
    return {
        "hand": cards,
        "total": has.total,
        "soft": has.soft,
        "up": up,
        "best": NAMES[max(worth, key=worth.__getitem__)],
        "reached": reached,
        **{NAMES[move]: coins / BET for move, coins in worth.items()},
    }
