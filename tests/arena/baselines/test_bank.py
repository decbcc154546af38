"""Adjusted results at a bank have the mean of plain results, exactly, and nearly no variance."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import permutations
from math import sqrt
from typing import Any

import pytest

from croupier.arena.bank import BankGame, BlackjackGame, SevenHalfGame
from croupier.arena.plan import Plan
from croupier.arena.play import play_chunk
from croupier.arena.tally import Tally, merge
from croupier.core.bank import SIMULATED_BET, BankMove, BankState
from croupier.core.bots import RandomBot
from croupier.rooms.blackjack.rules import Blackjack
from croupier.rooms.sevenhalf.rules import SevenHalf


class SmallSevenHalf(SevenHalfGame):
    rules = SevenHalf(max_bet=2 * SIMULATED_BET, cards=("2o", "3o", "4o", "5o", "6o", "7o"))


class SmallBlackjack(BlackjackGame):
    rules = Blackjack(cards=("AH", "4H", "6D", "7S", "9H", "TD", "KC"))


class Fixed:
    """A player that follows a rule, and is not known."""

    is_known = False

    def __init__(self, rule: Callable[[BankState, Sequence[BankMove]], BankMove]) -> None:
        self.choose = rule


class Branches:
    """A known player that draws each of its moves in turn: `weights` multiplies the probabilities of a run."""

    is_known = True

    def __init__(self) -> None:
        self._path: list[tuple[int, int]] = []

    def start(self) -> None:
        self._depth, self.weight = 0, Fraction(1)

    def policy(self, view: BankState, legal: Sequence[BankMove]) -> Any:
        return RandomBot().policy(view, legal)

    def draw(self, moves: Sequence[BankMove]) -> BankMove:
        if self._depth == len(self._path):
            self._path.append((0, len(moves)))
        number = self._path[self._depth][0]
        self._depth += 1
        self.weight /= len(moves)
        return moves[number]

    def next_run(self) -> bool:
        """Go to the next sequence of draws; False after the last."""
        while self._path and self._path[-1][0] + 1 == self._path[-1][1]:
            self._path.pop()
        if self._path:
            number, count = self._path[-1]
            self._path[-1] = (number + 1, count)
        return bool(self._path)


@pytest.mark.parametrize("game", [SmallSevenHalf(), SmallBlackjack()], ids=["sevenhalf", "blackjack"])
@pytest.mark.parametrize("number", [0, 1, 2])
def test_the_means_over_all_orders_of_the_shoe_are_equal(game: BankGame, number: int) -> None:
    rules: Sequence[Callable[[BankState, Sequence[BankMove]], BankMove]] = [
        lambda _, legal: legal[0],
        lambda view, legal: legal[-1] if len(view.cards) > 2 else legal[0],
        lambda view, legal: legal[len(view.cards) % len(legal)],
    ]
    player: Any = Fixed(rules[number])
    hands = [game._play_adjusted(player, iter(order), {}) for order in permutations(game.rules.shoe)]
    plain = Fraction(sum(Fraction(hand.plain) for hand in hands), len(hands))
    adjusted = sum(hand.adjusted for hand in hands) / len(hands)
    assert adjusted == pytest.approx(float(plain), abs=1e-9)


@pytest.mark.parametrize("game", [SmallSevenHalf(), SmallBlackjack()], ids=["sevenhalf", "blackjack"])
def test_known_probabilities_shift_nothing_either(game: BankGame) -> None:
    plain = adjusted = 0.0
    player: Any = Branches()
    for order in permutations(game.rules.shoe):
        while True:
            player.start()
            hand = game._play_adjusted(player, iter(order), {})
            plain += float(player.weight) * hand.plain
            adjusted += float(player.weight) * hand.adjusted
            if not player.next_run():
                break
    assert adjusted == pytest.approx(plain, rel=1e-9)


def play(room: str, *bots: str, pairs: int = 2000, **settings: Any) -> Tally:
    plan = Plan(room, bots, pairs=pairs, seed=1, **settings)
    return merge([play_chunk(plan, (0, 1), chunk) for chunk in range(plan.chunks)])


@pytest.mark.extended
@pytest.mark.parametrize(("room", "factor"), [("sevenhalf", 5000), ("blackjack", 250)])
def test_the_variance_against_the_book_falls_as_in_the_documentation(room: str, factor: int) -> None:
    plain = play(room, "exact", "book").plain
    both = play(room, "exact", "book", duplicate=True, adjust="any")
    assert both.adjusted is not None
    assert plain.variance / both.adjusted.variance > factor
    assert abs(both.adjusted.mean - both.plain.mean) < 4 * (both.plain.variance / both.pairs) ** 0.5


@pytest.mark.extended
@pytest.mark.parametrize("room", ["sevenhalf", "blackjack"])
def test_adjustment_shifts_no_mean_of_100_000_hands(room: str) -> None:
    tally = play(room, "book", "random", pairs=50_000, adjust="any")
    assert tally.adjusted is not None
    deviation = sqrt(tally.plain.variance / tally.pairs) + sqrt(tally.adjusted.variance / tally.pairs)
    assert abs(tally.plain.mean - tally.adjusted.mean) <= 3 * deviation


@pytest.mark.extended
@pytest.mark.parametrize("room", ["sevenhalf", "blackjack"])
def test_best_play_has_no_leaks_and_the_value_of_the_game_in_every_hand(room: str) -> None:
    tally = play(room, "exact", "exact", pairs=500, adjust="any")
    assert tally.adjusted is not None
    assert (tally.leaks, tally.adjusted.squares) == (({}, {}), 0.0)


@pytest.mark.extended
def test_the_leaks_at_a_bank_add_up_to_the_adjusted_difference() -> None:
    tally = play("blackjack", "exact", "book:12", pairs=400, adjust="any")
    assert tally.adjusted is not None
    lost = sum(leak.cost for leak in tally.leaks[1].values())
    assert lost / tally.pairs == pytest.approx(tally.adjusted.mean)
    assert "stands with 12 against 10" in tally.leaks[1]
    assert play("sevenhalf", "exact", "book:4", pairs=100, adjust="any").leaks[1].keys() >= {"passes with 4 points"}
