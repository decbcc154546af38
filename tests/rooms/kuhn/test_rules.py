"""Rules of Kuhn poker: size of the tree, tables, and exact value."""

from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import permutations, product

import pytest

from croupier.core.bots import bot_factory
from croupier.core.rules import Turn
from croupier.rooms.kuhn.bots import BOT_SPECS, equilibrium_bot
from croupier.rooms.kuhn.rules import (
    BETTING_TREE,
    CARDS,
    KUHN,
    P_1,
    P_2,
    PACK,
    TERMINAL_HISTORIES,
    KuhnState,
    View,
    beats,
)
from tests.rooms.kuhn.action_odds import chances

DEALS = tuple(permutations(CARDS, 2))

VALUE = Fraction(-1, 18)
"""The value of the game to P_1 (Kuhn 1950)."""

ALPHAS = [Fraction(0), Fraction(1, 9), Fraction(1, 6), Fraction(2, 7), Fraction(1, 3)]

type Plan = Mapping[View, Mapping[str, Fraction]]


def states() -> Iterator[KuhnState]:
    row = [KUHN.start()]
    while row:
        yield from row
        row = [KUHN.play(state, move) for state in row for move in KUHN.legal(state)]


def expected_value(state: KuhnState, plans: tuple[Plan, Plan]) -> Fraction:
    """The expected value for P_1 when both seats follow their plans."""
    turn = KUHN.turn(state)
    if turn is Turn.OVER:
        return Fraction(KUHN.payoff(state)[P_1])
    row = KUHN.odds(state) if turn is Turn.CHANCE else plans[turn][KUHN.view(state, turn)]
    return sum(
        (chance * expected_value(KUHN.play(state, move), plans) for move, chance in row.items() if chance), Fraction(0)
    )


def pure_plans(seat: int) -> Iterator[Plan]:
    """All 64 pure strategies of a seat."""
    views = [
        (View(card, history), acts) for card in CARDS for history, (who, acts) in BETTING_TREE.items() if who == seat
    ]
    for choice in product(*(actions for _, actions in views)):
        yield {view: {action: Fraction(1)} for (view, _), action in zip(views, choice, strict=True)}


def test_there_are_58_states() -> None:
    assert len(set(states())) == len(list(states())) == 58


def test_there_are_30_ways_in_which_a_game_can_end() -> None:
    ends = [state for state in states() if KUHN.turn(state) is Turn.OVER]
    assert len(ends) == 30
    assert {(end.cards, end.history) for end in ends} == set(product(DEALS, TERMINAL_HISTORIES))


def test_each_seat_has_six_information_sets() -> None:
    seen = {(state.turn, state.views[state.turn]) for state in states() if state.turn in {P_1, P_2}}
    assert Counter(seat for seat, _ in seen) == {P_1: 6, P_2: 6}


def test_the_six_deals_are_equally_likely() -> None:
    found = {}
    for first in CARDS:
        for second, odds in KUHN.odds(KUHN.play(KUHN.start(), first)).items():
            found[first, second] = KUHN.odds(KUHN.start())[first] * odds
    assert found == dict.fromkeys(DEALS, Fraction(1, 6))


@pytest.mark.parametrize("deal", DEALS)
def test_the_payoffs_are_those_of_the_document(deal: tuple[str, str]) -> None:
    high = 1 if "JQK".index(deal[P_1]) > "JQK".index(deal[P_2]) else -1
    wins = {"CHK CHK": high, "CHK BET CAL": 2 * high, "CHK BET FLD": -1, "BET CAL": 2 * high, "BET FLD": 1}
    for history, net in wins.items():
        state = KUHN.start()
        for move in (*deal, *history.split()):
            state = KUHN.play(state, move)
        assert KUHN.turn(state) is Turn.OVER
        assert KUHN.payoff(state) == (net, -net)


def test_the_cards_rank_jack_queen_king() -> None:
    assert [(a, b) for a in CARDS for b in CARDS if beats(a, b)] == [("Q", "J"), ("K", "J"), ("K", "Q")]
    assert PACK.names == CARDS


def test_state_repr_lists_cards_and_actions() -> None:
    assert repr(KUHN.start()) == "<start>"
    assert repr(KUHN.play(KUHN.play(KUHN.play(KUHN.start(), "Q"), "K"), "BET")) == "<Q K BET>"


def test_before_the_deal_a_seat_sees_no_card() -> None:
    dealt = KUHN.play(KUHN.start(), "Q")
    assert KUHN.view(KUHN.start(), P_1) == KUHN.view(dealt, P_2) == View(None, ())
    assert KUHN.view(dealt, P_1) == View("Q", ())


@pytest.mark.parametrize("alpha", ALPHAS)
def test_equilibrium_value_is_one_eighteenth_to_p_2(alpha: Fraction) -> None:
    first, second = chances(equilibrium_bot(alpha)), chances(equilibrium_bot())
    assert expected_value(KUHN.start(), (first, second)) == VALUE


@pytest.mark.parametrize("alpha", ALPHAS)
def test_nothing_p_2_does_gains_more_than_one_eighteenth_from_the_equilibrium(alpha: Fraction) -> None:
    first = chances(equilibrium_bot(alpha))
    assert max(-expected_value(KUHN.start(), (first, plan)) for plan in pure_plans(P_2)) == -VALUE


def test_nothing_p_1_does_loses_less_than_one_eighteenth_to_the_equilibrium() -> None:
    second = chances(equilibrium_bot())
    assert max(expected_value(KUHN.start(), (plan, second)) for plan in pure_plans(P_1)) == VALUE


def test_outside_of_its_family_p_1_can_be_exploited() -> None:
    """Betting a jack too often, or a king too rarely, has a cost (this checks the brute force above)."""
    plan = dict(chances(equilibrium_bot(Fraction(1, 3))))
    plan[View("J", ())] = {"CHK": Fraction(1, 2), "BET": Fraction(1, 2)}
    assert max(-expected_value(KUHN.start(), (plan, other)) for other in pure_plans(P_2)) > -VALUE


HABITS = [f"book:{habit}" for habit in BOT_SPECS["book"].examples]


@pytest.mark.parametrize("style", [*HABITS, "random", "equilibrium"])
def test_no_habit_bot_beats_the_equilibrium(style: str) -> None:
    book, exact = chances(bot_factory(BOT_SPECS, style)()), chances(equilibrium_bot())
    assert expected_value(KUHN.start(), (book, exact)) <= VALUE
    assert expected_value(KUHN.start(), (exact, book)) >= VALUE


@pytest.mark.parametrize("style", [*HABITS, "random"])
def test_every_habit_bot_is_exploitable(style: str) -> None:
    book = chances(bot_factory(BOT_SPECS, style)())
    best = max(expected_value(KUHN.start(), (plan, book)) for plan in pure_plans(P_1))
    other = max(-expected_value(KUHN.start(), (book, plan)) for plan in pure_plans(P_2))
    assert best + other > 0
