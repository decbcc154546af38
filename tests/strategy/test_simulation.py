"""Simulated rounds of optimal play agree with its computed value."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import sqrt
from random import Random

import pytest

from croupier.core.bank import BankMove, BankRules, BankState
from croupier.core.dealer import FairDealer
from croupier.core.rules import Turn
from croupier.rooms.blackjack.rules import BLACKJACK, Blackjack
from croupier.rooms.sevenhalf.rules import SevenHalf
from croupier.strategy.single_player import SinglePlayerSolver
from tests.sampling import sampled

MAX_STANDARD_ERRORS = 3
"""The maximum deviation of a mean from the value, in standard errors."""


class SimulatedTable:
    """A client with optimal play; each decision is solved once."""

    def __init__(self, rules: BankRules, bet: int) -> None:
        self.rules, self.bet = rules, bet
        self.solver = SinglePlayerSolver(rules)
        self.cards = rules.cards * rules.decks
        self.best_moves: dict[object, BankMove] = {}
        self.kind = {card: number for number, kind in enumerate(self.solver.card_kinds) for card in kind}

    def play_round(self, draw: Callable[[], str]) -> int:
        """The net of one round with cards from `draw`."""
        rules, kind = self.rules, self.kind
        state: BankState = rules.start(self.bet)
        while (turn := state.node.turn) is not Turn.OVER:
            if turn is Turn.CHANCE:
                state = rules.play(state, draw())
                continue
            position = state.node, state.bet, tuple(sorted([kind[card] for card in state.cards]))
            move = self.best_moves.get(position)
            if move is None:
                move = self.best_moves[position] = self.solver.best_move(state)
            state = rules.play(state, move)
        return rules.payoff(state)[0]

    def check_mean(self, nets: Iterator[int]) -> None:
        """Check that the mean of the nets agrees with the value, up to random error."""
        games, total, squares = 0, 0, 0
        for net in nets:
            games += 1
            total += net
            squares += net * net
        mean = total / games
        error = sqrt((squares / games - mean * mean) / (games - 1))
        deviation = (mean - float(self.solver.value(self.rules.start(self.bet)))) / error
        assert abs(deviation) < MAX_STANDARD_ERRORS, (
            f"{games} rounds won {mean / self.bet} ± {error / self.bet}, {deviation} standard errors away"
        )


def rounds_from_dealer(table: SimulatedTable, games: int) -> Iterator[int]:
    """The nets of rounds from decks of the fair dealer."""
    dealer = FairDealer(bytes(32))
    for _ in range(games):
        deck = dealer.next_deck(len(table.cards))
        yield table.play_round(lambda deck=deck: table.cards[next(deck)])  # type: ignore[misc]  # bound at once


def rounds_from_python(table: SimulatedTable, games: int, seed: int) -> Iterator[int]:
    """The nets of rounds from decks shuffled with Python's random numbers, an independent source."""
    cards, random = [*table.cards], Random(seed).random
    size = len(cards)
    top = 0

    def draw() -> str:
        nonlocal top
        other = top + int(random() * (size - top))
        card = cards[other]
        cards[other] = cards[top]
        cards[top] = card
        top += 1
        return card

    for _ in range(games):
        top = 0
        yield table.play_round(draw)


TABLES = {
    "blackjack": lambda: SimulatedTable(BLACKJACK, 2),
    "blackjack with 6 decks": lambda: SimulatedTable(Blackjack(6), 2),
    "seven and a half": lambda: SimulatedTable(SevenHalf(1), 1),
    "seven and a half with raises": lambda: SimulatedTable(SevenHalf(10), 1),
}


@pytest.mark.extended
@pytest.mark.parametrize("name", sampled(TABLES, 2))
def test_mean_of_rounds_from_the_dealer_agrees_with_the_value(name: str) -> None:
    table = TABLES[name]()
    table.check_mean(rounds_from_dealer(table, 20_000))


@pytest.mark.extended
@pytest.mark.parametrize("name", sampled(TABLES, 4))
def test_mean_of_rounds_from_pythons_random_agrees_with_the_value(name: str) -> None:
    table = TABLES[name]()
    table.check_mean(rounds_from_python(table, 20_000, 1))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["blackjack", "seven and a half"])
def test_mean_of_ten_million_rounds_agrees_with_the_value(name: str) -> None:
    table = TABLES[name]()
    table.check_mean(rounds_from_python(table, 10_000_000, 1))


@pytest.mark.extended
def test_value_is_the_mean_over_all_initial_deals() -> None:
    """The mean over all initial deals, weighted by their number, is the value of the start."""
    solver = SinglePlayerSolver(BLACKJACK)
    total, deals = Fraction(0), 52 * 51 * 50
    for first in solver.card_kinds:
        for second in solver.card_kinds:
            for up in solver.card_kinds:
                cards = first[0], next(card for card in second if card != first[0])
                last = next(card for card in up if card not in cards)
                count = len(first) * (len(second) - (second is first))
                count *= len(up) - (up is first) - (up is second)
                state = BLACKJACK.start(2)
                for card in (*cards, last):
                    state = BLACKJACK.play(state, card)
                total += Fraction(count, deals) * max(solver.move_values(state).values())
    assert total == solver.value(BLACKJACK.start(2))
