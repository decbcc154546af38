"""Differences between an expected Game and a response."""

from typing import Any

import pytest

from croupier.conformance.holdem.differences import Difference, wrong_blinds_of_two

ANN, BOB = "ann", "bob"


def game_of_two(small: str, *bets: int) -> dict[str, Any]:
    """A Game in which a player has the small blind, and ann and bob have bet these chips."""
    return {
        "table": [
            {"handle": name, "wealth": 1000 - bet, "bet_so_far": bet, "small_blind": name == small}
            for name, bet in zip((ANN, BOB), bets, strict=True)
        ]
    }


def test_reversed_blinds_are_described_by_who_has_posted_them() -> None:
    assert wrong_blinds_of_two(game_of_two(ANN, 10, 20), game_of_two(BOB, 20, 10)) == Difference(
        "table",
        "ann has posted the small blind, and bob the big blind",
        "bob has posted the small blind, and ann the big blind",
    )


@pytest.mark.parametrize(
    "found",
    [game_of_two(ANN, 10, 20), game_of_two(ANN, 20, 10), game_of_two(BOB, 10, 20), {"table": []}],
    ids=["right", "swapped chips", "wrong key", "nobody"],
)
def test_other_games_have_no_reversed_blinds(found: dict[str, Any]) -> None:
    assert wrong_blinds_of_two(game_of_two(ANN, 10, 20), found) is None
