"""A Game that contradicts itself is charged to the clause of the contradiction."""

from copy import deepcopy
from typing import Any

import pytest

from croupier.conformance.holdem.inconsistency import find_inconsistency, without_open_points

ANN = {"playerID": "1", "handle": "ann", "state": "active", "wealth": 9990, "bet_so_far": 10, "small_blind": True}
BOB = {"playerID": "2", "handle": "bob", "state": "active", "wealth": 9980, "bet_so_far": 20, "small_blind": False}
TURN = {"playerID": "1", "bet_so_far": 10, "bet_to_player": 20, "minimum_raise": 20, "expiry": "x"}
GAME = {"gameID": "g", "table": [ANN, BOB], "turn": TURN, "cards": {}, "pots": [{"size": 30, "players": ["1", "2"]}]}
SEATED = ("1", "2")


def changed(*path: Any, to: Any) -> dict[str, Any]:
    game: Any = deepcopy(GAME)
    place = game
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = to
    return dict(game)


@pytest.mark.parametrize(
    ("found", "clause"),
    [
        (changed("table", to=[ANN]), "5.8"),
        (changed("table", to=[BOB]), "5.8"),
        (changed("table", to=[BOB, ANN]), "5.3"),
        (changed("table", 0, "state", to="folded"), "5.9"),
        (changed("table", 1, "state", to="called"), "5.9"),
        (changed("table", 0, "bet_so_far", to=15), "5.7"),
        (changed("turn", "bet_so_far", to=15), "5.10"),
        (changed("table", 0, "small_blind", to=False), "5.7"),
        (changed("table", 1, "wealth", to=9981), "5.17"),
        (changed("pots", 0, "size", to=60), "5.17"),
    ],
)
def test_a_contradiction_has_a_clause(found: dict[str, Any], clause: str) -> None:
    fault = find_inconsistency(GAME, found, SEATED, "holdem-3.10")
    assert fault is not None
    assert fault.clause == f"holdem-{clause}"


@pytest.mark.parametrize(
    "found",
    [
        GAME,
        changed("turn", "bet_to_player", to=30),
        changed("turn", to={**TURN, "playerID": "2", "bet_so_far": 20}),
        changed("turn", to={**TURN, "playerID": ""}),
    ],
)
def test_a_game_that_is_only_different_does_not_contradict_itself(found: dict[str, Any]) -> None:
    assert find_inconsistency(GAME, found, SEATED, "holdem-3.10") is None


def test_a_player_who_has_left_is_named_by_the_pots_alone() -> None:
    found = changed("turn", to={**TURN, "playerID": "2", "bet_so_far": 20})
    found["table"] = [BOB]
    assert find_inconsistency({**GAME, "table": [BOB], "pots": "$_"}, found, ("2",), "holdem-3.11") is None


def test_chips_that_are_not_paid_break_the_clause_of_the_payment() -> None:
    found = changed("pots", 0, "size", to=20)
    assert find_inconsistency(GAME, found, SEATED, "holdem-6.11") is None


def test_empty_pots_and_waiting_players_are_left_out() -> None:
    cid = {**BOB, "playerID": "3", "handle": "cid", "bet_so_far": 0}
    found = {**GAME, "table": [ANN, BOB, cid], "pots": [*GAME["pots"], {"size": 0, "players": ["1"]}]}  # type: ignore[misc]
    rest, left_out = without_open_points(GAME, found, ("1", "2", "3"))
    assert rest == GAME
    assert [fault.clause for fault in left_out] == ["holdem-5.19", "holdem-5.20"]
    assert without_open_points(GAME, GAME, SEATED) == (GAME, [])


def test_a_player_who_has_left_is_not_left_out() -> None:
    found = {**GAME, "table": [ANN, BOB, {**BOB, "playerID": "3", "handle": "cid", "bet_so_far": 0}]}
    assert without_open_points(GAME, found, SEATED) == (found, [])
