"""The rules of `examples/`, which show how to describe a game of one's own."""

import doctest

import pytest
from examples import leduc
from examples.leduc import RULES, State, play_moves

from croupier.core.errors import IllegalMove
from croupier.core.rules import Turn


def test_examples_in_the_documentation_of_leduc_poker_are_right() -> None:
    found = doctest.testmod(leduc)
    assert found.attempted
    assert not found.failed


@pytest.mark.parametrize(
    ("moves", "payoff"),
    [
        ("Q K raise fold", (1, -1)),
        ("Q K check raise fold", (-1, 1)),
        ("Q K raise raise fold", (-3, 3)),
        ("Q K check check J check check", (-1, 1)),
        ("Q K raise call Q check check", (3, -3)),
        ("J J raise raise call Q raise raise call", (0, 0)),
        ("J K check raise raise call J check raise raise call", (13, -13)),
        ("J K raise call J raise raise fold", (-7, 7)),
        ("J K raise call J check raise fold", (-3, 3)),
    ],
)
def test_leduc_poker_pays_the_chips_that_the_loser_has_put_in(moves: str, payoff: tuple[int, int]) -> None:
    state = play_moves(RULES.start(), *moves.split())
    assert RULES.turn(state) is Turn.OVER
    assert RULES.legal(state) == ()
    assert RULES.odds(state) == {}
    assert RULES.payoff(state) == payoff


def test_odds_of_leduc_poker_add_up_to_1() -> None:
    def visit(state: State) -> None:
        if RULES.turn(state) is Turn.CHANCE:
            odds = RULES.odds(state)
            assert sum(odds.values()) == 1
            assert tuple(odds) == RULES.legal(state)
        for move in RULES.legal(state):
            visit(RULES.play(state, move))

    visit(RULES.start())


def test_a_third_raise_is_not_legal_in_leduc_poker() -> None:
    state = play_moves(RULES.start(), "Q", "K", "raise", "raise")
    with pytest.raises(IllegalMove, match="raise is not allowed here; allowed: fold, call"):
        RULES.play(state, "raise")
