"""The best answer to a strategy: the same as trying all pure strategies, and 0 to gain from an equilibrium."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.core.bots import RandomBot, bot_factory
from croupier.rooms.kuhn.bots import BOT_SPECS, equilibrium_bot
from croupier.rooms.kuhn.rules import KUHN, P_1, P_2
from croupier.strategy.best_response import best_response, exploitability, nash_conv
from croupier.strategy.game_tree import BehaviourStrategy, GameTree
from tests.rooms.kuhn.action_odds import chances
from tests.strategy.games import Matrix, most, worth

TREE = GameTree(KUHN)
VALUE = Fraction(-1, 18)
HABITS = [f"book:{habit}" for habit in BOT_SPECS["book"].examples]


def plays(name: str) -> BehaviourStrategy:
    """What a mind does behind every view of both seats."""
    return {**chances(bot_factory(BOT_SPECS, name)())}


@pytest.mark.parametrize("alpha", [Fraction(0), Fraction(1, 6), Fraction(1, 3)])
def test_nobody_gains_anything_from_the_equilibria_that_kuhn_published(alpha: Fraction) -> None:
    book = {**chances(equilibrium_bot(alpha))}
    assert exploitability(TREE, (book, book)) == 0
    assert best_response(TREE, P_2, TREE.realization_plan(P_1, book)).value == -VALUE
    assert best_response(TREE, P_1, TREE.realization_plan(P_2, book)).value == VALUE


@pytest.mark.parametrize("name", [*HABITS, "random"])
@pytest.mark.parametrize("seat", [P_1, P_2])
def test_the_best_answer_to_a_habit_is_the_best_of_all_pure_strategies(name: str, seat: int) -> None:
    book = plays(name)
    found = best_response(TREE, seat, TREE.realization_plan(1 - seat, book))
    assert found.value == most(KUHN, seat, book)
    pair = (found.strategy, book) if seat == P_1 else (book, found.strategy)
    assert worth(KUHN, KUHN.start(), pair) == (found.value if seat == P_1 else -found.value)


@pytest.mark.parametrize("name", [*HABITS, "random"])
def test_every_habit_gives_something_away(name: str) -> None:
    assert exploitability(TREE, (plays(name), plays(name))) > 0


def test_random_play_gives_away_what_others_have_computed_too() -> None:
    """OpenSpiel: nash_conv of the uniform policy is 0.91666…, and exploitability half of it."""
    random = {**chances(RandomBot())}
    assert exploitability(TREE, (random, random)) == Fraction(11, 24)
    assert nash_conv(TREE, [TREE.realization_plan(seat, random) for seat in (P_1, P_2)]) == Fraction(11, 12)


def test_a_jack_that_bets_too_often_can_be_exploited() -> None:
    book = {**chances(equilibrium_bot(Fraction(1, 3)))}
    bold = {view: row if view.card != "J" or view.history else {"BET": Fraction(1)} for view, row in book.items()}
    assert exploitability(TREE, (bold, book)) > 0


rows = st.lists(st.integers(0, 5), min_size=2, max_size=2).filter(any)


@given(st.lists(rows, min_size=12, max_size=12))
def test_a_plan_is_worth_what_its_strategy_is_and_can_be_read_back(weights: list[list[int]]) -> None:
    strategy: dict[object, dict[str, Fraction]] = {}
    views = [(view, choice) for seat in (P_1, P_2) for view, choice in TREE.info_sets[seat].items()]
    for (view, choice), row in zip(views, weights, strict=True):
        strategy[view] = {move: Fraction(part, sum(row)) for move, part in zip(choice.moves, row, strict=True)}
    plans = [TREE.realization_plan(seat, strategy) for seat in (P_1, P_2)]
    assert TREE.expected_value(plans) == worth(KUHN, KUHN.start(), (strategy, strategy))
    for seat in (P_1, P_2):
        found = TREE.behaviour_strategy(seat, plans[seat], fallback=strategy)
        assert found == {view: strategy[view] for view in TREE.info_sets[seat]}
    assert nash_conv(TREE, plans) >= 0


def test_kuhn_poker_has_six_views_a_seat_and_thirty_ends() -> None:
    assert [len(choices) for choices in TREE.info_sets] == [6, 6]
    assert TREE.sequence_counts == [13, 13]
    assert len(TREE.terminals) == 30


@pytest.mark.parametrize(
    "row", [{}, {"CHK": Fraction(1, 2)}, {"CHK": Fraction(2), "BET": Fraction(-1)}, {"CAL": Fraction(1)}]
)
def test_a_row_that_is_no_distribution_is_refused(row: dict[str, Fraction]) -> None:
    book = {**chances(equilibrium_bot())}
    view = next(iter(TREE.info_sets[P_1]))
    with pytest.raises(ValueError, match="allowed: a distribution over CHK, BET"):
        TREE.realization_plan(P_1, book | {view: row})


class Generous(Matrix):
    """Both win."""

    def payoff(self, state: tuple[int, ...]) -> tuple[int, int]:
        return 1, 1


class Forgetful(Matrix):
    """The first seat moves twice and does not know what it did."""

    def turn(self, state: tuple[int, ...]) -> object:
        return 0 if len(state) < 2 else super().turn(state)


class Crowded(Matrix):
    """Three play."""

    seats = 3


@pytest.mark.parametrize(
    ("game", "told"),
    [
        (Generous, "found an end worth 1 and 1; allowed: one that adds up to 0"),
        (Forgetful, "found 'my turn' after different moves of its own; allowed: a seat that forgets nothing"),
        (Crowded, "found a game of 3; allowed: 2"),
    ],
)
def test_games_that_cannot_be_solved_are_refused(game: type[Matrix], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        GameTree(game([[1, -1], [-1, 1]]))
