"""Dialects of hold'em servers are detected, reported once, and undone."""

import asyncio
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from croupier.conformance.diagnosis.cause import dialect_cause
from croupier.conformance.holdem.causes import OBJECT_FOR_GUID, likely_cause
from croupier.conformance.holdem.deviations import deviation
from croupier.conformance.holdem.dialects import (
    BARE_GUID_DIALECT,
    FORM_DIALECTS,
    HSPE_GO_DIALECT,
    POT_OF_EACH_BET_DIALECT,
    STATUS_200_DIALECT,
)
from croupier.conformance.plan import Plan
from croupier.conformance.results import Outcome, Report
from croupier.conformance.run import check
from croupier.core.errors import FoundKind
from croupier.http.wire import ReceivedResponse, SentRequest
from croupier.rooms import ROOMS
from tests.conformance.holdem.faulty_programs import FaultyServer, in_games, open_faulty_server
from tests.rooms.holdem.house_fixture import duel

READ_REQUEST = "GET /games/g"
DIALECTS = (HSPE_GO_DIALECT, *FORM_DIALECTS, POT_OF_EACH_BET_DIALECT, BARE_GUID_DIALECT, STATUS_200_DIALECT)
DIALECTS_BY_CAUSE = {"it " + dialect.description: dialect for dialect in DIALECTS}


def game() -> Any:
    house = duel()
    house.play("ann 10, bob 0")
    return house.json_view("ann")


def recursively(change: Callable[[str, Any], tuple[str, Any]]) -> Callable[[Any], Any]:
    """Return a transform of every key and value, innermost first."""

    def changed(found: Any) -> Any:
        if isinstance(found, dict):
            return dict(change(key, changed(value)) for key, value in found.items())
        return [changed(one) for one in found] if isinstance(found, list) else found

    return changed


def snake(key: str, value: Any) -> tuple[str, Any]:
    return re.sub(r"(?<=[a-z])([A-Z]+)", lambda found: "_" + found[1].lower(), key), value


def pascal(key: str, value: Any) -> tuple[str, Any]:
    return "".join(word[:1].upper() + word[1:] for word in key.split("_")), value


def number(change: Callable[[int], Any]) -> Callable[[str, Any], tuple[str, Any]]:
    return lambda key, value: (key, change(value) if type(value) is int else value)


def truth(change: Callable[[bool], Any]) -> Callable[[str, Any], tuple[str, Any]]:
    return lambda key, value: (key, change(value) if type(value) is bool else value)


def cards(change: Callable[[str], str]) -> Callable[[str, Any], tuple[str, Any]]:
    parts = {"hole", "flop", "turn", "river"}
    return lambda key, value: (key, [*map(change, value)] if key in parts and isinstance(value, list) else value)


SPELLINGS: dict[str, tuple[str, Callable[[str, Any], tuple[str, Any]]]] = {
    "snake case": ("it spells its keys in another way than the document", snake),
    "pascal case": ("it spells its keys in another way than the document", pascal),
    "numbers as text": ("it writes numbers as text", number(str)),
    "numbers as floats": ("it writes numbers with a decimal point", number(float)),
    "truths as numbers": ("it writes booleans in another way than true or false", truth(int)),
    "truths as text": ("it writes booleans in another way than true or false", truth(str)),
    "small letters": ("it writes cards in small letters", cards(str.lower)),
    "the ten as 10": ("it writes the ten as 10", cards(lambda card: card.replace("T", "10"))),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_dialect_is_undone(name: str) -> None:
    cause, change = SPELLINGS[name]
    original = json.loads(json.dumps(game()))
    original["cards"]["hole"] = ["TS", "AC"]
    response = ReceivedResponse(200, {}, json.dumps(recursively(change)(original)).encode())
    assert response.body != json.dumps(original).encode()
    assert json.dumps(json.loads(DIALECTS_BY_CAUSE[cause].read(response, READ_REQUEST).body)) == json.dumps(original)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.description)
def test_valid_response_is_unchanged(dialect: Any) -> None:
    for request, response in (
        (READ_REQUEST, ReceivedResponse(200, {}, json.dumps(game()).encode())),
        ("POST /users/", ReceivedResponse(201, {}, b'"2fd318e4-0947-44b9-8b63-14f5a5824b8b"')),
        (READ_REQUEST, ReceivedResponse(404, {}, b"no such game")),
    ):
        assert dialect.read(response, request) == response


def test_200_becomes_201_for_creating_requests_only() -> None:
    dialect = DIALECTS_BY_CAUSE["it answers 200 where 201 is required"]
    assert dialect.read(ReceivedResponse(200, {}, b""), "POST /games/g/players/p/acts/").status == 201
    assert dialect.read(ReceivedResponse(200, {}, b""), "DELETE /games/g/players/p").status == 200


def test_unquoted_guid_is_quoted() -> None:
    dialect = DIALECTS_BY_CAUSE["it writes GUIDs without quotes"]
    assert dialect.read(ReceivedResponse(201, {}, b"2fd318e4-0947\n"), "POST /users/").body == b'"2fd318e4-0947"'


@given(st.sampled_from(DIALECTS), st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=4),
                           lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
                               ["gameID", "game_id", "wealth", "small_blind", "hole", "flop", "turn"]), inner),
                           max_leaves=10))  # fmt: skip
def test_reading_any_json_is_idempotent(dialect: Any, found: Any) -> None:
    interpreted = dialect.read(ReceivedResponse(200, {}, json.dumps(found).encode()), READ_REQUEST)
    assert dialect.read(interpreted, READ_REQUEST) == interpreted


def split_pots(found: Any) -> Any:
    """Show a side pot of one chip for the last player of a pot, as long as nobody is all-in."""
    *others, last = found["pots"]
    if len(last["players"]) < 2 or any(player["wealth"] == 0 for player in found["table"]):
        return found
    side_pot = {"size": 1, "players": last["players"][-1:]}
    return found | {"pots": [*others, last | {"size": last["size"] - 1}, side_pot]}


def test_pots_that_no_all_in_divides_are_joined() -> None:
    original = json.loads(json.dumps(game()))
    split = split_pots(original)
    everybody, payers = original["table"], [{"size": 30, "players": original["pots"][0]["players"]}] * 2
    all_in = split | {"table": [player | {"wealth": 0} for player in everybody]}
    all_in_and_out = split | {"table": [player | {"wealth": 0, "state": "folded"} for player in everybody]}
    for shown, pots in (
        (split, original["pots"]),
        (all_in_and_out, original["pots"]),
        (all_in, split["pots"]),
        (original | {"pots": payers}, payers),
    ):
        response = ReceivedResponse(200, {}, json.dumps(shown).encode())
        assert json.loads(POT_OF_EACH_BET_DIALECT.read(response, READ_REQUEST).body) == shown | {"pots": pots}


def test_two_dialects_are_one_cause() -> None:
    combined = DIALECTS[1] + DIALECTS[2]
    found = dialect_cause(DIALECTS[1:3])
    assert str(found) == f"it {combined.description}"
    assert found.dialect.transforms == combined.transforms


def test_the_end_of_a_connection_is_not_explained_by_the_answer_before_it() -> None:
    exchange = SentRequest("POST", "/games/"), ReceivedResponse(201, {}, b'{"gameID": ""}')
    found = deviation("holdem-8.2", "status 401", "b''", exchange=exchange)
    assert likely_cause(found) == OBJECT_FOR_GUID
    assert likely_cause(replace(found, kind=FoundKind.CLOSED)) is None


def test_a_refusal_is_not_explained_by_an_object_in_place_of_a_guid() -> None:
    exchange = SentRequest("POST", "/games/"), ReceivedResponse(401, {}, b'{"error": "credentials"}')
    assert likely_cause(deviation("holdem-2.7", "the header WWW-Authenticate", "none", exchange=exchange)) is None


def report(faulty: FaultyServer, selection: str, dialect: str = "readme") -> Report:
    """Run the tester against a server; return its report."""

    async def main() -> Report:
        async with open_faulty_server(faulty, 1, dialect) as found:
            host, port = found.address
            plan = Plan(room=ROOMS["holdem"], role="server", selection=selection, host=host, port=port, timeout=20)
            return await check(plan, lambda _: None, 0.0)

    return asyncio.run(main())


def failures(found: Report) -> list[str]:
    return [result.case for result in found.results if result.outcome is Outcome.FAIL]


@pytest.mark.extended
def test_the_dialect_of_the_published_server_is_detected_and_named_once() -> None:
    found = report(FaultyServer(frozenset()), "holdem/3", dialect="hspe-go")
    assert found.dialect.endswith("all along: it speaks dialect hspe-go, that of the published server")
    assert len(failures(found)) == 1
    assert sum(result.outcome is Outcome.PASS for result in found.results) >= 15


@pytest.mark.extended
def test_one_status_of_the_published_server_is_not_its_dialect() -> None:
    faulty = FaultyServer(frozenset(), lambda reply: reply._replace(status=409) if reply.status == 403 else reply)
    found = report(faulty, "holdem/4.13")
    assert found.dialect == ""
    assert failures(found)


@pytest.mark.extended
def test_misspelt_keys_are_one_failure_and_the_rest_is_tested() -> None:
    def change(found: Any) -> Any:
        return recursively(snake)(found) | {"pots": found["pots"] * 2}

    found = report(FaultyServer(frozenset(), in_games(change)), "holdem/5")
    assert found.dialect.endswith("it spells its keys in another way than the document")
    clauses = [result.failure.clause for result in found.results if result.failure]
    assert clauses.count("holdem-5.3") == 1, "the dialect"
    assert "holdem-5.15" in clauses, "and what else is wrong"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "original"),
    [
        (in_games(recursively(number(str))), "it writes numbers as text"),
        (in_games(recursively(number(float))), "it writes numbers with a decimal point"),
        (
            lambda reply: reply._replace(status=200) if reply.status == 201 else reply,
            "it answers 200 where 201 is required",
        ),
        (
            in_games(split_pots),
            "it shows a pot for each amount that players have bet, not only where a player is all-in",
        ),
        (
            in_games(lambda found: recursively(number(str))(recursively(snake)(found))),
            "it spells its keys in another way than the document, and it writes numbers as text",
        ),
    ],
    ids=["text", "floats", "200", "pots", "both"],
)
def test_dialect_is_one_failure(change: Any, original: str) -> None:
    found = report(FaultyServer(frozenset(), change), "holdem")
    assert original in found.dialect
    assert len(failures(found)) == original.count("it ")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["small letters", "truths as numbers"])
def test_rare_misspelling_is_a_cause_not_a_dialect(name: str) -> None:
    cause, change = SPELLINGS[name]
    found = report(FaultyServer(frozenset(), in_games(recursively(change))), "holdem")
    assert found.dialect == ""
    assert {str(result.failure.cause) for result in found.results if result.failure} == {cause}


@pytest.mark.parametrize("body", [b'{"gameID": "\xff"}', b"[" * 2000 + b"]" * 2000, b"[" * 100_000])
def test_body_that_cannot_be_read_is_unchanged(body: bytes) -> None:
    response = ReceivedResponse(200, {}, body)
    assert [dialect.read(response, READ_REQUEST) for dialect in DIALECTS] == [response] * len(DIALECTS)
