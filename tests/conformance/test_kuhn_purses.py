"""Purses of Kuhn poker that were emptied: a wrong payment is named, and right ones are not."""

from collections.abc import Callable, Sequence
from random import Random

import pytest

from croupier.conformance.servers.kuhn_purses import find_wrong_payment
from croupier.rooms.kuhn.referee import WireGame
from croupier.rooms.kuhn.rules import BETTING_TREE, CARDS, TERMINAL_HISTORIES, BettingHistory

COINS = 10


def random_game(luck: Random) -> WireGame:
    """A game whose client has the lower card in two of three games, so that its purse gets empty."""
    history: BettingHistory = ()
    while history not in TERMINAL_HISTORIES:
        history = (*history, luck.choice(BETTING_TREE[history][1]))
    own, other = sorted(luck.sample(CARDS, 2), key=CARDS.index, reverse=luck.random() < 1 / 3)
    return WireGame(luck.randrange(2), own, history, other)


def emptied(luck: Random, extra: Callable[[WireGame], int]) -> Sequence[WireGame]:
    """The games that empty a purse, if `extra` coins are paid too many after each; a purse never has less than none."""
    coins, games = COINS, []
    while coins > 0:
        game = random_game(luck)
        if game.net < -coins:
            continue
        games.append(game)
        coins = max(0, coins + game.net + extra(game))
    return games


def purses(seed: int, extra: Callable[[WireGame], int] = lambda game: 0) -> Sequence[Sequence[WireGame]]:
    luck = Random(seed)
    return [emptied(luck, extra) for _ in range(6)]


def test_right_payments_are_not_accused() -> None:
    assert all(find_wrong_payment(purses(seed)) is None for seed in range(50))


def test_a_house_that_keeps_accounts_is_not_accused() -> None:
    assert find_wrong_payment([*purses(1), []]) is None


def test_purses_that_differ_for_no_reason_are_not_accused() -> None:
    games = purses(2)
    assert find_wrong_payment([*games, [*games[0], *games[1]], [*games[2], *games[3], *games[4]]]) is None


@pytest.mark.parametrize(
    ("extra", "clause"),
    [
        (lambda game: -2 if (game.seat, game.history) == (0, ("BET", "FLD")) else 0, "kuhn-5.3"),
        (
            lambda game: 2 if game.history == ("CHK", "BET", "CAL") and game.seat == 0 and game.net < 0 else 0,
            "kuhn-5.2",
        ),
        (lambda game: -1 if (game.seat, game.history, game.net) == (1, ("CHK", "CHK"), 1) else 0, "kuhn-5.1"),
        (lambda game: -1 if game.seat == 1 else 0, "kuhn-7.2"),
        (lambda game: -1 if game.seat == 0 and game.history[0] == "BET" else 0, "kuhn-7.3"),
    ],
)
def test_a_wrong_payment_is_named(extra: Callable[[WireGame], int], clause: str) -> None:
    found = find_wrong_payment(purses(3, extra))
    assert found is not None
    assert found.clause == clause
