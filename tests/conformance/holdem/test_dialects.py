"""A server that departs from the document all along is told so once, and then read as what it means."""

import asyncio
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.conformance.holdem.dialects import DIALECTS, dialect_from_cause
from croupier.conformance.holdem.http_client import ReceivedResponse
from croupier.conformance.results import Outcome, Report
from croupier.conformance.run import Plan, check
from croupier.rooms import ROOMS
from tests.conformance.holdem.faulty_programs import Rogue, everywhere, opened
from tests.rooms.holdem.house_fixture import duel

LOOK = "GET /games/g"
NAMES = {"it " + habit.description: habit for habit in DIALECTS}


def game() -> Any:
    parlour = duel()
    parlour.play("ann 10, bob 0")
    return parlour.json_view("ann")


def everything(change: Callable[[str, Any], tuple[str, Any]]) -> Callable[[Any], Any]:
    """Change every key and value, inner ones first."""

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


SPELT: dict[str, tuple[str, Callable[[str, Any], tuple[str, Any]]]] = {
    "snake case": ("it spells its keys otherwise than the document", snake),
    "pascal case": ("it spells its keys otherwise than the document", pascal),
    "numbers as text": ("it writes numbers as text", number(str)),
    "numbers as floats": ("it writes numbers with a decimal point", number(float)),
    "truths as numbers": ("it writes a truth as something else than true or false", truth(int)),
    "truths as text": ("it writes a truth as something else than true or false", truth(str)),
    "small letters": ("it writes cards in small letters", cards(str.lower)),
    "the ten as 10": ("it writes the ten as 10", cards(lambda card: card.replace("T", "10"))),
}


@pytest.mark.parametrize("name", SPELT)
def test_what_a_habit_means_is_what_the_document_has(name: str) -> None:
    cause, change = SPELT[name]
    told = json.loads(json.dumps(game()))
    told["cards"]["hole"] = ["TS", "AC"]
    came = ReceivedResponse(200, {}, json.dumps(everything(change)(told)).encode())
    assert came.body != json.dumps(told).encode()
    assert json.dumps(json.loads(NAMES[cause].read(LOOK, came).body)) == json.dumps(told)


@pytest.mark.parametrize("habit", DIALECTS, ids=lambda habit: habit.description)
def test_what_is_right_is_left_as_it_is(habit: Any) -> None:
    for asked, answer in (
        (LOOK, ReceivedResponse(200, {}, json.dumps(game()).encode())),
        ("POST /users/", ReceivedResponse(201, {}, b'"2fd318e4-0947-44b9-8b63-14f5a5824b8b"')),
        (LOOK, ReceivedResponse(404, {}, b"no such game")),
    ):
        assert habit.read(asked, answer) == answer


def test_a_success_of_200_is_one_where_something_was_made() -> None:
    habit = NAMES["it answers 200 where 201 is due"]
    assert habit.read("POST /games/g/players/p/acts/", ReceivedResponse(200, {}, b"")).status == 201
    assert habit.read("DELETE /games/g/players/p", ReceivedResponse(200, {}, b"")).status == 200


def test_a_guid_without_quotes_is_one() -> None:
    habit = NAMES["it writes the GUID without quotes: that is no JSON"]
    assert habit.read("POST /users/", ReceivedResponse(201, {}, b"2fd318e4-0947\n")).body == b'"2fd318e4-0947"'


@given(st.sampled_from(DIALECTS), st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=4),
                           lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
                               ["gameID", "game_id", "wealth", "small_blind", "hole", "flop", "turn"]), inner),
                           max_leaves=10))  # fmt: skip
def test_any_json_is_read_by_every_habit(habit: Any, found: Any) -> None:
    meant = habit.read(LOOK, ReceivedResponse(200, {}, json.dumps(found).encode()))
    assert habit.read(LOOK, meant) == meant


def test_two_habits_are_named_in_one_sentence() -> None:
    both = DIALECTS[1] + DIALECTS[2]
    found = dialect_from_cause(f"it {both.description}")
    assert found is not None
    assert found.object_transforms == both.object_transforms
    assert dialect_from_cause("it answers with something that is no JSON") is None


def report(rogue: Rogue, selection: str, dialect: str = "readme") -> Report:
    """What the tester reports of a server that it does not know."""

    async def main() -> Report:
        async with opened(rogue, 1, dialect) as found:
            host, port = found.address
            plan = Plan(room=ROOMS["holdem"], role="server", selection=selection, host=host, port=port, timeout=20)
            return await check(plan, lambda _: None, 0.0)

    return asyncio.run(main())


def failures(found: Report) -> list[str]:
    return [result.case for result in found.results if result.outcome is Outcome.FAIL]


def test_the_dialect_of_the_published_server_is_detected_and_named_once() -> None:
    found = report(Rogue(frozenset()), "holdem/3", dialect="hspe-go")
    assert found.dialect.endswith("all along: it speaks dialect hspe-go, that of the published server")
    assert len(failures(found)) == 1
    assert sum(result.outcome is Outcome.PASS for result in found.results) >= 15


def test_one_status_of_the_published_server_is_not_its_dialect() -> None:
    rogue = Rogue(frozenset(), lambda reply: reply._replace(status=409) if reply.status == 403 else reply)
    found = report(rogue, "holdem/4.13")
    assert found.dialect == ""
    assert failures(found)


def test_keys_that_are_spelt_otherwise_are_one_failure_and_the_rest_is_tested() -> None:
    def change(found: Any) -> Any:
        return everything(snake)(found) | {"pots": found["pots"] * 2}

    found = report(Rogue(frozenset(), everywhere(change)), "holdem/5")
    assert found.dialect.endswith("it spells its keys otherwise than the document")
    clauses = [result.failure.clause for result in found.results if result.failure]
    assert clauses.count("holdem-5.3") == 1, "the dialect"
    assert "holdem-5.15" in clauses, "and what else is wrong"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "told"),
    [
        (everywhere(everything(number(str))), "it writes numbers as text"),
        (everywhere(everything(number(float))), "it writes numbers with a decimal point"),
        (lambda reply: reply._replace(status=200) if reply.status == 201 else reply, "it answers 200 where 201 is due"),
        (
            everywhere(lambda found: everything(number(str))(everything(snake)(found))),
            "it spells its keys otherwise than the document, and it writes numbers as text",
        ),
    ],
    ids=["text", "floats", "200", "both"],
)
def test_a_habit_is_one_failure(change: Any, told: str) -> None:
    found = report(Rogue(frozenset(), change), "holdem")
    assert told in found.dialect
    assert len(failures(found)) == told.count("it ")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["small letters", "truths as numbers"])
def test_what_shows_in_few_cases_is_a_cause_and_no_dialect(name: str) -> None:
    cause, change = SPELT[name]
    found = report(Rogue(frozenset(), everywhere(everything(change))), "holdem")
    assert found.dialect == ""
    assert {result.failure.cause for result in found.results if result.failure} == {cause}
