"""Validation of Games: a valid one has no errors, and each deviation has its clause."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.json import decode, encode

from croupier.conformance.holdem.schema import parse_expiry, parse_game, parse_games, seconds_left, server_time
from croupier.conformance.results import Outcome
from croupier.http.wire import ReceivedResponse
from croupier.rooms.holdem.observed.state_reader import BLANK_TURN
from tests.rooms.holdem.house_fixture import duel


def game(user: str | None = "ann") -> Any:
    house = duel()
    house.play("ann 10, bob 0")
    return house.json_view(user)


def changed(change: Callable[[Any], None]) -> bytes:
    game_object = game()
    change(game_object)
    return encode(game_object)


@pytest.mark.parametrize("user", ["ann", None])
def test_valid_game_has_no_errors(user: str | None) -> None:
    parsed = parse_game(encode(game(user)), "readme")
    assert parsed.errors == []
    assert len(parsed.games) == 1
    assert parse_games(encode([game(user)]), "readme").errors == []


def player(**values: Any) -> Callable[[Any], None]:
    return lambda game_object: game_object["table"][0].update(values)


def part(name: str, **values: Any) -> Callable[[Any], None]:
    return lambda game_object: game_object[name].update(values)


def idle(**values: Any) -> Callable[[Any], None]:
    """Change the Turn of a Game in which no hand is running."""
    return lambda game_object: game_object.update(pots=[{"size": 0, "players": []}], turn=values)


INVALID_GAMES: dict[str, tuple[Callable[[Any], None], str]] = {
    "no table": (lambda game_object: game_object.pop("table"), "5.3"),
    "an amount as text": (player(wealth="20"), "5.7"),
    "an amount as a float": (player(wealth=20.5), "5.7"),
    "a truth as a number": (player(small_blind=1), "5.7"),
    "another state": (player(state="waiting"), "5.7"),
    "no handle": (lambda game_object: game_object["table"][0].pop("handle"), "5.7"),
    "no expiry": (lambda game_object: game_object["turn"].pop("expiry"), "5.10"),
    "a running hand with nobody's turn": (lambda game_object: game_object.update(turn={}), "5.10"),
    "a wrong number in nobody's turn": (idle(playerID=None, bet_so_far="0"), "5.10"),
    "a time in words": (part("turn", expiry="soon"), "5.11"),
    "a ten as 10": (part("cards", hole=["10C", "AS"]), "5.4"),
    "one hole card": (part("cards", hole=["AS"]), "5.5"),
    "a flop of two": (part("cards", flop=["AS", "KS"]), "5.5"),
    "a turn that is no array": (part("cards", turn="AS"), "5.5"),
    "no river": (lambda game_object: game_object["cards"].pop("river"), "5.5"),
    "no pots": (lambda game_object: game_object.update(pots=[]), "5.15"),
    "a pot without a size": (lambda game_object: game_object["pots"][0].pop("size"), "5.13"),
}


@pytest.mark.parametrize("name", INVALID_GAMES)
def test_invalid_game_is_reported_by_its_clause(name: str) -> None:
    change, clause = INVALID_GAMES[name]
    assert f"holdem-{clause}" in {error.clause for error in parse_game(changed(change), "readme").errors}


CHOICES: dict[str, tuple[Callable[[Any], None], Outcome]] = {
    "a key more": (lambda game_object: game_object.update(extra=1), Outcome.CHOICE),
    "null for no hole cards": (part("cards", hole=None), Outcome.NON_STRICT),
    "a time of the example": (part("turn", expiry="2014-09-24 15:14:53.021303798 -0400 EDT"), Outcome.NON_STRICT),
    "another offset": (part("turn", expiry="2014-09-24T15:14:53.021-04:00"), Outcome.NON_STRICT),
    "a GUID in capitals": (
        lambda game_object: game_object.update(gameID=game_object["gameID"].upper()),
        Outcome.CHOICE,
    ),
    "nobody's turn without values": (idle(), Outcome.CHOICE),
    "nobody's turn with nulls": (idle(playerID=None, bet_so_far=0, bet_to_player=0, expiry=None), Outcome.CHOICE),
}


@pytest.mark.parametrize("name", CHOICES)
def test_another_form_that_can_be_read_is_no_failure(name: str) -> None:
    change, outcome = CHOICES[name]
    parsed = parse_game(changed(change), "readme")
    assert [error.outcome for error in parsed.errors] == [outcome]
    assert parsed.games


def test_errors_of_the_documents_example_are_tolerated() -> None:
    def error(game_object: Any) -> None:
        game_object["table"] = [
            {key.replace("_blind", " blind"): value for key, value in each.items()} for each in game_object["table"]
        ]

    parsed = parse_game(b"[" + changed(error) + b"]", "readme")
    assert {error.outcome for error in parsed.errors} == {Outcome.NON_STRICT}
    assert [error.clause for error in parsed.errors] == ["holdem-5.2", "holdem-5.7", "holdem-5.7"]
    assert parsed.games[0].table[0].small_blind


@pytest.mark.parametrize("body", [b"<p>", b'{"gameID": "\xff"}', b"[" * 100_000], ids=["html", "no UTF-8", "deep"])
def test_invalid_json_is_reported(body: bytes) -> None:
    parsed = parse_game(body, "readme")
    assert parsed.games == ()
    assert [error.clause for error in parsed.errors] == ["holdem-1.5"]


def test_what_was_found_is_shown_as_json() -> None:
    (error,) = parse_game(changed(lambda one: one.update(table=None)), "readme").errors
    assert (error.expected, error.actual) == ("an array as table", "null")


def test_list_must_be_an_array() -> None:
    assert [error.clause for error in parse_games(b'{"games": []}', "readme").errors] == ["holdem-5.1"]


def test_dialect_hspe_go_has_last_winners_and_null() -> None:
    game_object = decode(encode(game(None)))
    assert {error.clause for error in parse_game(encode(game_object), "hspe-go").errors} == {"holdem-7.6", "holdem-7.7"}
    game_object["cards"]["hole"] = None
    assert parse_game(encode({**game_object, "last_winners": []}), "hspe-go").errors == []


@pytest.mark.parametrize("is_running", [False, True], ids=["no hand", "a hand"])
def test_null_may_stand_for_no_pots_and_winners_in_the_dialect_hspe_go_alone(is_running: bool) -> None:
    game_object = decode(encode(game(None)))
    game_object["cards"]["hole"] = None
    game_object |= {"pots": None, "last_winners": None}
    if not is_running:
        game_object["turn"] = decode(encode(BLANK_TURN))
    parsed = parse_game(encode(game_object), "hspe-go")
    assert [error.clause for error in parsed.errors] == (["holdem-5.15"] if is_running else [])
    assert (parsed.games[0].pots, parsed.games[0].last_winners) == ([], [])
    assert "holdem-5.3" in {error.clause for error in parse_game(encode(game_object), "readme").errors}


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5),
                    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
                        ["gameID", "table", "turn", "cards", "pots", "playerID", "hole", "flop", "size"]), inner),
                    max_leaves=12))  # fmt: skip
def test_any_json_parses_or_has_errors(game_object: Any) -> None:
    for parsed in (parse_game(encode(game_object), "readme"), parse_games(encode(game_object), "readme")):
        assert parsed.games or parsed.errors or game_object == []


def test_parse_expiry() -> None:
    assert parse_expiry("2014-09-24T19:14:53.021Z") == parse_expiry("2014-09-24 15:14:53.021303798 -0400 EDT").replace(  # type: ignore[union-attr]
        microsecond=21_000
    )
    assert parse_expiry("2014-09-24T19:14:53.021303798Z") is not None
    assert parse_expiry("tomorrow") is None
    assert parse_expiry("2014-09-24T19:14:53") is None
    assert seconds_left("2014-09-24T19:14:53.500Z", datetime(2014, 9, 24, 19, 14, 38, 500_000, UTC)) == 15.0


@pytest.mark.parametrize("zone", ["GMT", "-0000", ""])
def test_date_without_a_time_zone_is_in_utc(zone: str) -> None:
    response = ReceivedResponse(200, {"date": f"Wed, 24 Sep 2014 19:14:38 {zone}".strip()}, b"")
    assert seconds_left("2014-09-24T19:14:53.500Z", server_time(response)) == 15.0
