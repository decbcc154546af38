"""The form of a Game: what the page has is without a slip, and every departure has its clause."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.json import decode, encode

from croupier.conformance.holdem.schema import parse_expiry, parse_game, parse_games, seconds_left
from croupier.conformance.results import Outcome
from tests.rooms.holdem.house_fixture import duel


def game(user: str | None = "ann") -> Any:
    parlour = duel()
    parlour.play("ann 10, bob 0")
    return parlour.json_view(user)


def changed(change: Callable[[Any], None]) -> bytes:
    found = game()
    change(found)
    return encode(found)


@pytest.mark.parametrize("user", ["ann", None])
def test_a_game_of_the_page_has_no_slip(user: str | None) -> None:
    shown = parse_game(encode(game(user)), "readme")
    assert shown.errors == []
    assert len(shown.games) == 1
    assert parse_games(encode([game(user)]), "readme").errors == []


def player(**more: Any) -> Callable[[Any], None]:
    return lambda found: found["table"][0].update(more)


def part(name: str, **more: Any) -> Callable[[Any], None]:
    return lambda found: found[name].update(more)


SLIPS: dict[str, tuple[Callable[[Any], None], str]] = {
    "no table": (lambda found: found.pop("table"), "5.3"),
    "an amount as text": (player(wealth="20"), "5.7"),
    "an amount as a float": (player(wealth=20.5), "5.7"),
    "a truth as a number": (player(small_blind=1), "5.7"),
    "another state": (player(state="waiting"), "5.7"),
    "no handle": (lambda found: found["table"][0].pop("handle"), "5.7"),
    "no expiry": (lambda found: found["turn"].pop("expiry"), "5.10"),
    "a time in words": (part("turn", expiry="soon"), "5.11"),
    "a ten as 10": (part("cards", hole=["10C", "AS"]), "5.4"),
    "one hole card": (part("cards", hole=["AS"]), "5.5"),
    "a flop of two": (part("cards", flop=["AS", "KS"]), "5.5"),
    "a turn that is no array": (part("cards", turn="AS"), "5.5"),
    "no river": (lambda found: found["cards"].pop("river"), "5.5"),
    "no pots": (lambda found: found.update(pots=[]), "5.15"),
    "a pot without a size": (lambda found: found["pots"][0].pop("size"), "5.13"),
}


@pytest.mark.parametrize("name", SLIPS)
def test_every_slip_has_its_clause(name: str) -> None:
    change, clause = SLIPS[name]
    assert f"holdem-{clause}" in {slip.clause for slip in parse_game(changed(change), "readme").errors}


CHOICES: dict[str, tuple[Callable[[Any], None], Outcome]] = {
    "a key more": (lambda found: found.update(extra=1), Outcome.CHOICE),
    "null for no hole cards": (part("cards", hole=None), Outcome.CHOICE),
    "a time of the example": (part("turn", expiry="2014-09-24 15:14:53.021303798 -0400 EDT"), Outcome.CHOICE),
    "another offset": (part("turn", expiry="2014-09-24T15:14:53.021-04:00"), Outcome.CHOICE),
    "a GUID in capitals": (lambda found: found.update(gameID=found["gameID"].upper()), Outcome.CHOICE),
}


@pytest.mark.parametrize("name", CHOICES)
def test_what_the_document_leaves_open_is_a_choice(name: str) -> None:
    change, outcome = CHOICES[name]
    shown = parse_game(changed(change), "readme")
    assert [slip.outcome for slip in shown.errors] == [outcome]
    assert shown.games


def test_the_slips_of_the_documents_example_are_tolerated() -> None:
    def slip(found: Any) -> None:
        found["table"] = [
            {key.replace("_blind", " blind"): value for key, value in each.items()} for each in found["table"]
        ]

    shown = parse_game(b"[" + changed(slip) + b"]", "readme")
    assert {slip.outcome for slip in shown.errors} == {Outcome.NON_STRICT}
    assert [slip.clause for slip in shown.errors] == ["holdem-5.2", "holdem-5.7", "holdem-5.7"]
    assert shown.games[0].table[0].small_blind


def test_what_is_no_json_is_no_game() -> None:
    shown = parse_game(b"<p>", "readme")
    assert shown.games == ()
    assert [slip.clause for slip in shown.errors] == ["holdem-1.5"]


def test_a_list_has_to_be_an_array() -> None:
    assert [slip.clause for slip in parse_games(b'{"games": []}', "readme").errors] == ["holdem-5.1"]


def test_dialect_hspe_go_has_last_winners_and_null() -> None:
    found = decode(encode(game(None)))
    assert {slip.clause for slip in parse_game(encode(found), "hspe-go").errors} == {"holdem-7.6", "holdem-7.7"}
    found["cards"]["hole"] = None
    assert parse_game(encode({**found, "last_winners": []}), "hspe-go").errors == []


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5),
                    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
                        ["gameID", "table", "turn", "cards", "pots", "playerID", "hole", "flop", "size"]), inner),
                    max_leaves=12))  # fmt: skip
def test_any_json_is_a_game_or_has_a_slip(found: Any) -> None:
    for shown in (parse_game(encode(found), "readme"), parse_games(encode(found), "readme")):
        assert shown.games or shown.errors or found == []


def test_a_time_is_read_as_it_is_written() -> None:
    assert parse_expiry("2014-09-24T19:14:53.021Z") == parse_expiry("2014-09-24 15:14:53.021303798 -0400 EDT").replace(  # type: ignore[union-attr]
        microsecond=21_000
    )
    assert parse_expiry("2014-09-24T19:14:53.021303798Z") is not None
    assert parse_expiry("tomorrow") is None
    assert parse_expiry("2014-09-24T19:14:53") is None
    assert seconds_left("2014-09-24T19:14:53.500Z", datetime(2014, 9, 24, 19, 14, 38, 500_000, UTC)) == 15.0
