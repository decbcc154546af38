"""Best responses against brute force over pure strategies, and exploitability of known strategies."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.core.bots import RandomBot, bot_factory
from croupier.core.rules import Turn
from croupier.rooms.kuhn.bots import BOT_SPECS, equilibrium_bot
from croupier.rooms.kuhn.rules import KUHN, P_1, P_2
from croupier.strategy.best_response import ValueBounds, best_response, exploitability, nash_conv
from croupier.strategy.game_tree import BehaviourStrategy, GameTree, behaviour_strategy, nearest_plan, realization_plan
from tests.rooms.kuhn.action_odds import chances
from tests.strategy.games import (
    MatrixGame,
    best_pure_value,
    expected_value,
    plans_value,
)

TREE = GameTree(KUHN)
VALUE = Fraction(-1, 18)
FIXED_BOTS = [f"book:{argument}" for argument in BOT_SPECS["book"].examples]


def strategy_of(name: str) -> BehaviourStrategy:
    """The behaviour strategy of a bot, for the views of both seats."""
    return {**chances(bot_factory(BOT_SPECS, name)())}


@pytest.mark.parametrize("alpha", [Fraction(0), Fraction(1, 6), Fraction(1, 3)])
def test_kuhns_published_equilibria_have_exploitability_0(alpha: Fraction) -> None:
    book = {**chances(equilibrium_bot(alpha))}
    assert exploitability(TREE, (book, book)) == 0
    assert best_response(TREE, P_2, realization_plan(TREE, P_1, book)).value == -VALUE
    assert best_response(TREE, P_1, realization_plan(TREE, P_2, book)).value == VALUE


@pytest.mark.parametrize("name", [*FIXED_BOTS, "random"])
@pytest.mark.parametrize("seat", [P_1, P_2])
def test_best_response_has_the_value_of_the_best_pure_strategy(name: str, seat: int) -> None:
    book = strategy_of(name)
    found = best_response(TREE, seat, realization_plan(TREE, 1 - seat, book))
    assert found.value == best_pure_value(KUHN, seat, book)
    pair = (found.strategy, book) if seat == P_1 else (book, found.strategy)
    assert expected_value(KUHN, KUHN.start(), pair) == (found.value if seat == P_1 else -found.value)


@pytest.mark.parametrize("name", [*FIXED_BOTS, "random"])
def test_every_fixed_bot_is_exploitable(name: str) -> None:
    assert exploitability(TREE, (strategy_of(name), strategy_of(name))) > 0


def test_exploitability_of_random_play_agrees_with_open_spiel() -> None:
    """OpenSpiel: nash_conv of the uniform policy is 0.91666…, and exploitability half of it."""
    random = {**chances(RandomBot())}
    assert exploitability(TREE, (random, random)) == Fraction(11, 24)
    assert nash_conv(TREE, [realization_plan(TREE, seat, random) for seat in (P_1, P_2)]) == Fraction(11, 12)


def test_strategy_that_bluffs_too_often_is_exploitable() -> None:
    book = {**chances(equilibrium_bot(Fraction(1, 3)))}
    overbetting = {
        view: row if view.card != "J" or view.history else {"BET": Fraction(1)} for view, row in book.items()
    }
    assert exploitability(TREE, (overbetting, book)) > 0


rows = st.lists(st.integers(0, 5), min_size=2, max_size=2).filter(any)


@given(st.lists(rows, min_size=12, max_size=12))
def test_plan_has_the_value_of_its_strategy_and_converts_back(weights: list[list[int]]) -> None:
    strategy: dict[object, dict[str, Fraction]] = {}
    views = [(view, info_set) for seat in (P_1, P_2) for view, info_set in TREE.info_sets[seat].items()]
    for (view, info_set), row in zip(views, weights, strict=True):
        strategy[view] = {move: Fraction(part, sum(row)) for move, part in zip(info_set.moves, row, strict=True)}
    plans = [realization_plan(TREE, seat, strategy) for seat in (P_1, P_2)]
    assert plans_value(TREE, plans) == expected_value(KUHN, KUHN.start(), (strategy, strategy))
    for seat in (P_1, P_2):
        found = behaviour_strategy(TREE, seat, plans[seat], fallback=strategy)
        assert found == {view: strategy[view] for view in TREE.info_sets[seat]}
        rounded = nearest_plan(TREE, seat, [float(weight) for weight in plans[seat]])
        assert [*map(float, rounded)] == pytest.approx([*map(float, plans[seat])], abs=1e-15)
        assert realization_plan(TREE, seat, behaviour_strategy(TREE, seat, rounded)) == rounded
    assert nash_conv(TREE, plans) >= 0


def test_nearest_plan_of_weights_that_are_no_plan_is_one() -> None:
    for weights in ([0.0] * 13, [1.0, *[-1.0, 2.0] * 6]):
        plan = nearest_plan(TREE, P_1, weights)
        assert realization_plan(TREE, P_1, behaviour_strategy(TREE, P_1, plan)) == plan


@pytest.mark.parametrize("row", [{"CHK": Fraction(1, 2)}, {"CHK": Fraction(2), "BET": Fraction(-1)}])
def test_probabilities_that_are_no_distribution_raise_value_error(row: dict[str, Fraction]) -> None:
    strategy = {**strategy_of("random"), next(iter(TREE.info_sets[P_1])): row}
    with pytest.raises(ValueError, match="allowed: none below 0, and 1 in all"):
        realization_plan(TREE, P_1, strategy)


def test_bounds_are_rounded_outwards() -> None:
    third = Fraction(1, 3)
    low, high = ValueBounds(-third, third).as_floats()
    assert Fraction(low) < -third
    assert Fraction(high) > third
    assert ValueBounds(Fraction(1, 4), Fraction(1, 2)).as_floats() == (0.25, 0.5)


def test_kuhn_poker_has_six_info_sets_per_seat_and_thirty_terminals() -> None:
    assert [len(info_sets) for info_sets in TREE.info_sets] == [6, 6]
    assert TREE.sequence_counts == [13, 13]
    assert len(TREE.terminals) == 30


class BothWin(MatrixGame):
    """A game that is not zero-sum."""

    def payoff(self, state: tuple[int, ...]) -> tuple[int, int]:
        return 1, 1


class ImperfectRecall(MatrixGame):
    """A game in which seat 0 moves twice and does not see its first move."""

    def turn(self, state: tuple[int, ...]) -> object:
        return 0 if len(state) < 2 else super().turn(state)


class ThreePlayers(MatrixGame):
    """A game with three seats."""

    seats = 3


class FloatingPayoff(MatrixGame):
    """A game whose payoffs are not exact."""

    def payoff(self, state: tuple[int, ...]) -> tuple[float, float]:
        return 0.1, -0.1


class NoMoves(MatrixGame):
    """A game in which it is the turn of a seat that has no moves."""

    def legal(self, state: tuple[int, ...]) -> tuple[int, ...]:
        return ()


class OddOdds(MatrixGame):
    """A game whose odds do not add up to 1."""

    def turn(self, state: tuple[int, ...]) -> Turn:
        return Turn.OVER if state else Turn.CHANCE

    def odds(self, state: tuple[int, ...]) -> dict[int, Fraction]:
        return {1: Fraction(1, 2), 2: Fraction(1, 3)}


@pytest.mark.parametrize(
    ("game", "message"),
    [
        (FloatingPayoff, "found the payoff 0.1; allowed: an integer or a Fraction"),
        (NoMoves, "found no move at 'my turn'; allowed: at least one where a seat is to move"),
        (OddOdds, "allowed: none below 0, and exactly 1 in all"),
        (BothWin, "found an end worth 1 and 1; allowed: one that adds up to 0"),
        (ImperfectRecall, "found 'my turn' after different moves of its own; allowed: a seat that forgets nothing"),
        (ThreePlayers, "found a game of 3; allowed: 2"),
    ],
)
def test_unsolvable_game_raises_value_error(game: type[MatrixGame], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GameTree(game([[1, -1], [-1, 1]]))
