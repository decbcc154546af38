"""Rounds that are dealt and played agree with what best play is worth."""

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

ERRORS = 3
"""How many standard errors the mean may be away from the value."""


class Table:
    """One client that plays best, asked once for every decision."""

    def __init__(self, rules: BankRules, bet: int) -> None:
        self.rules, self.bet = rules, bet
        self.solver = SinglePlayerSolver(rules)
        self.cards = rules.cards * rules.decks
        self.best: dict[object, BankMove] = {}
        self.kind = {card: number for number, kind in enumerate(self.solver.card_kinds) for card in kind}

    def round(self, draw: Callable[[], str]) -> int:
        """What one round wins, from cards that are drawn one by one."""
        rules, kind = self.rules, self.kind
        state: BankState = rules.start(self.bet)
        while (turn := state.node.turn) is not Turn.OVER:
            if turn is Turn.CHANCE:
                state = rules.play(state, draw())
                continue
            spot = state.node, state.bet, tuple(sorted([kind[card] for card in state.cards]))
            move = self.best.get(spot)
            if move is None:
                move = self.best[spot] = self.solver.best_move(state)
            state = rules.play(state, move)
        return rules.payoff(state)[0]

    def agrees(self, nets: Iterator[int]) -> None:
        """The mean is as far from the value as luck allows."""
        games, total, squares = 0, 0, 0
        for net in nets:
            games += 1
            total += net
            squares += net * net
        mean = total / games
        error = sqrt((squares / games - mean * mean) / (games - 1))
        away = (mean - float(self.solver.value(self.rules.start(self.bet)))) / error
        assert abs(away) < ERRORS, f"{games} rounds won {mean / self.bet} ± {error / self.bet}, {away} errors away"


def dealt(table: Table, games: int) -> Iterator[int]:
    """Rounds from the decks of the house's own dealer."""
    dealer = FairDealer(bytes(32))
    for _ in range(games):
        deck = dealer.next_deck(len(table.cards))
        yield table.round(lambda deck=deck: table.cards[next(deck)])  # type: ignore[misc]  # bound at once


def lucky(table: Table, games: int, seed: int) -> Iterator[int]:
    """Rounds from decks that Python shuffles, as deep as they are drawn: another luck than the dealer's."""
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
        yield table.round(draw)


TABLES = {
    "blackjack": lambda: Table(BLACKJACK, 2),
    "blackjack with 6 decks": lambda: Table(Blackjack(6), 2),
    "seven and a half": lambda: Table(SevenHalf(1), 1),
    "seven and a half with raises": lambda: Table(SevenHalf(10), 1),
}


@pytest.mark.parametrize("name", sampled(TABLES, 2))
def test_rounds_from_the_dealer_win_what_best_play_is_worth(name: str) -> None:
    table = TABLES[name]()
    table.agrees(dealt(table, 20_000))


@pytest.mark.parametrize("name", sampled(TABLES, 4))
def test_rounds_from_another_luck_win_what_best_play_is_worth(name: str) -> None:
    table = TABLES[name]()
    table.agrees(lucky(table, 20_000, 1))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["blackjack", "seven and a half"])
def test_ten_million_rounds_win_what_best_play_is_worth(name: str) -> None:
    table = TABLES[name]()
    table.agrees(lucky(table, 10_000_000, 1))


def test_the_value_is_what_the_mean_of_all_openings_is() -> None:
    """The same number twice: from the start, and from the hands that are dealt."""
    solver = SinglePlayerSolver(BLACKJACK)
    found, whole = Fraction(0), 52 * 51 * 50
    for first in solver.card_kinds:
        for second in solver.card_kinds:
            for up in solver.card_kinds:
                cards = first[0], next(card for card in second if card != first[0])
                last = next(card for card in up if card not in cards)
                ways = len(first) * (len(second) - (second is first))
                ways *= len(up) - (up is first) - (up is second)
                state = BLACKJACK.start(2)
                for card in (*cards, last):
                    state = BLACKJACK.play(state, card)
                found += Fraction(ways, whole) * max(solver.move_values(state).values())
    assert found == solver.value(BLACKJACK.start(2))
