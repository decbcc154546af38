"""Small two-player games for the solver tests, and brute-force evaluation."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from croupier.core.rules import Rules, Seat, Turn
from croupier.rooms.kuhn.rules import BETTING_TREE, SHOWDOWN, TERMINAL_HISTORIES
from croupier.strategy.game_tree import BehaviourStrategy, GameTree, RealizationPlan


class MatrixGame:
    """A matrix game: both seats choose at once, and seat 0 wins the coins in the table."""

    seats = 2

    def __init__(self, table: Sequence[Sequence[int | Fraction]]) -> None:
        self.table = table

    def start(self) -> tuple[int, ...]:
        return ()

    def turn(self, state: tuple[int, ...]) -> Seat | Turn:
        return Turn.OVER if len(state) == 2 else len(state)

    def legal(self, state: tuple[int, ...]) -> Sequence[int]:
        return [range(len(self.table)), range(len(self.table[0])), ()][len(state)]

    def odds(self, state: tuple[int, ...]) -> Mapping[int, Fraction]:
        return {}

    def play(self, state: tuple[int, ...], move: int) -> tuple[int, ...]:
        return (*state, move)

    def payoff(self, state: tuple[int, ...]) -> tuple[int | Fraction, int | Fraction]:
        row, column = state
        return self.table[row][column], -self.table[row][column]

    def view(self, state: tuple[int, ...], seat: Seat) -> str:
        return "my turn"


class KuhnWithCards:
    """Kuhn poker with another number of cards and the same betting."""

    seats = 2

    def __init__(self, cards: int) -> None:
        self.cards = range(cards)

    def start(self) -> tuple[Any, ...]:
        return ((), ())

    def turn(self, state: tuple[Any, ...]) -> Seat | Turn:
        dealt, history = state
        if len(dealt) < 2:
            return Turn.CHANCE
        return BETTING_TREE[history][0] if history in BETTING_TREE else Turn.OVER

    def legal(self, state: tuple[Any, ...]) -> Sequence[Any]:
        dealt, history = state
        if len(dealt) < 2:
            return [card for card in self.cards if card not in dealt]
        return BETTING_TREE[history][1] if history in BETTING_TREE else ()

    def odds(self, state: tuple[Any, ...]) -> Mapping[Any, Fraction]:
        legal = self.legal(state) if len(state[0]) < 2 else ()
        return {card: Fraction(1, len(legal)) for card in legal}

    def play(self, state: tuple[Any, ...], move: Any) -> tuple[Any, ...]:
        dealt, history = state
        return ((*dealt, move), history) if len(dealt) < 2 else (dealt, (*history, move))

    def payoff(self, state: tuple[Any, ...]) -> tuple[int, int]:
        (mine, other), history = state
        winner, coins = TERMINAL_HISTORIES[history]
        wins = mine > other if winner == SHOWDOWN else winner == 0
        return (coins, -coins) if wins else (-coins, coins)

    def view(self, state: tuple[Any, ...], seat: Seat) -> tuple[Any, ...]:
        dealt, history = state
        return (dealt[seat] if seat < len(dealt) else None, history)


def expected_value(rules: Rules[Any, Any], state: Any, strategies: Sequence[BehaviourStrategy]) -> Fraction:
    """The coins that seat 0 wins on average with these strategies, computed by walking the whole tree."""
    turn = rules.turn(state)
    if turn is Turn.OVER:
        return Fraction(rules.payoff(state)[0])
    row: Mapping[Any, Fraction]
    row = rules.odds(state) if isinstance(turn, Turn) else strategies[turn][rules.view(state, turn)]
    return sum(
        (p * expected_value(rules, rules.play(state, move), strategies) for move, p in row.items() if p), Fraction(0)
    )


def best_pure_value(rules: Rules[Any, Any], seat: Seat, other: BehaviourStrategy) -> Fraction:
    """The highest value of all pure strategies of a seat against a strategy of the other, by trying them all."""
    views: dict[Any, Sequence[Any]] = {}

    def visit(state: Any) -> None:
        turn = rules.turn(state)
        if turn is not Turn.OVER:
            legal: Any = rules.legal(state)
            if turn == seat:
                views[rules.view(state, seat)] = legal
            for move in legal:
                visit(rules.play(state, move))

    visit(rules.start())
    found = []
    for moves in product(*views.values()):
        pure = {view: {move: Fraction(1)} for view, move in zip(views, moves, strict=True)}
        value = expected_value(rules, rules.start(), (pure, other) if seat == 0 else (other, pure))
        found.append(value if seat == 0 else -value)
    return max(found)


def plans_value(tree: GameTree, plans: Sequence[RealizationPlan]) -> Fraction:
    """The coins that seat 0 wins on average if both seats play these plans."""
    terminals = tree.terminals.items()
    return sum((coins * plans[0][one] * plans[1][other] for (one, other), coins in terminals), Fraction(0))
