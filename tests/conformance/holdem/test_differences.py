"""Differences between an expected Game and a response."""

from typing import Any

import pytest

from croupier.conformance.holdem.differences import Difference, differences, wrong_blinds_of_two

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
    [
        game_of_two(ANN, 10, 20),
        game_of_two(ANN, 20, 10),
        game_of_two(BOB, 10, 20),
        {"table": []},
        {"table": [{**game_of_two(BOB, 20, 10)["table"][0], "wealth": 970}, game_of_two(BOB, 20, 10)["table"][1]]},
    ],
    ids=["right", "swapped chips", "wrong key", "nobody", "the next hand"],
)
def test_other_games_have_no_reversed_blinds(found: dict[str, Any]) -> None:
    assert wrong_blinds_of_two(game_of_two(ANN, 10, 20), found) is None


@pytest.mark.parametrize(("found", "is_right"), [(["2", "1"], True), (["2", "3"], False), (["2"], False)])
def test_the_players_of_a_pot_have_no_order(found: list[str], *, is_right: bool) -> None:
    expected = {"pots": [{"size": 30, "players": ["$ann", "$bob"]}]}
    pots = {"pots": [{"size": 30, "players": found}]}
    assert is_right is not any(differences(expected, pots, {"ann": "1", "bob": "2"}))
