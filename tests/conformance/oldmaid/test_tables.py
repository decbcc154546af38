"""Tables under test: ours does everything right, and every rogue is found under the clause that it breaks."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import pytest

from croupier.conformance.case import select
from croupier.conformance.oldmaid.server import MAX_CONCURRENT_CASES, check_server, server_cases
from croupier.conformance.program import free_port
from croupier.conformance.results import Outcome, Report, Result
from croupier.conformance.run import Plan, check
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.session import Event, Received
from croupier.rooms.oldmaid import ROOM
from croupier.rooms.oldmaid.player import Options
from croupier.rooms.oldmaid.rules import MAX_PLAYERS
from croupier.rooms.oldmaid.wire import Join, Wire
from tests.conformance.oldmaid.faulty_tables import ROGUES, Effects, Habit, Rogue, opened
from tests.sampling import sampled

HONEST = Rogue("honest", frozenset(), "oldmaid")


class Strict(Wire):
    """Reads without tolerances."""

    def __init__(self, role: Literal["table", "player"]) -> None:
        super().__init__(role, strict=True)


def tried(rogue: Rogue, selection: str, *, timeout: float = 0.5, **how: Any) -> Sequence[Result]:
    """What comes of the cases at the table of a rogue."""

    async def run() -> Sequence[Result]:
        async with opened(rogue) as (host, port):
            cases = select(server_cases(ROOM), selection)
            return await check_server(ROOM, host, port, cases=cases, timeout=timeout, **how)

    return asyncio.run(run())


def failed(results: Sequence[Result]) -> list[tuple[str, str, str]]:
    """The cases that failed, with the clause and what was found."""
    return [
        (result.case, result.failure.clause, result.failure.actual) for result in results if result.failure is not None
    ]


@pytest.mark.parametrize("rogue", sampled(ROGUES, 3), ids=lambda rogue: rogue.name)
def test_a_rogue_is_found_under_the_clause_that_it_breaks(rogue: Rogue) -> None:
    found = failed(tried(rogue, rogue.selection))
    assert {clause for _, clause, _ in found} & rogue.clauses, found


def test_nothing_is_said_of_an_honest_table() -> None:
    results = tried(HONEST, "oldmaid", timeout=5.0)
    assert failed(results) == []
    assert len(results) >= 150
    assert sum(result.outcome is Outcome.PASS for result in results) >= 150
    assert {result.outcome for result in results} == {Outcome.PASS, Outcome.CHOICE, Outcome.SKIP}


@pytest.mark.parametrize("players", [2, 3, 8])
def test_nothing_is_said_of_an_honest_table_however_many_it_plays_with(players: int) -> None:
    selections = ("oldmaid/3", "oldmaid/9") if players < 8 else ("oldmaid/3.3", "oldmaid/6.8", "oldmaid/9.2")
    for selection in selections:
        assert failed(tried(replace(HONEST, players=players), selection, timeout=5.0)) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("players", [2, 3, 4, 5, 8])
def test_nothing_is_said_of_an_honest_table_whatever_luck_brings(players: int, seed: int) -> None:
    results = tried(replace(HONEST, players=players), "oldmaid", seed=seed, strict=bool(seed % 2), timeout=5.0)
    assert failed(results) == []


def test_a_table_on_njaal_is_judged_by_its_dialect_and_told_from_the_document() -> None:
    njaal = replace(HONEST, settings={"dialect": "njaal"})
    assert [result.outcome for result in tried(njaal, "oldmaid/3.3/form")] == [Outcome.NON_STRICT]
    assert [result.outcome for result in tried(njaal, "oldmaid/3.3/form", strict=True)] == [Outcome.FAIL]
    for selection in ("oldmaid/10", "oldmaid/3.3/order", "oldmaid/6.8"):
        outcomes = {result.outcome for result in tried(njaal, selection, options=Options("x", dialect="njaal"))}
        assert outcomes == {Outcome.PASS}


def checked(rogue: Rogue, selection: str) -> Report:
    """What comes of a whole run at the table of a rogue."""

    async def run() -> Report:
        async with opened(rogue) as (host, port):
            plan = Plan(room=ROOM, role="server", selection=selection, host=host, port=port, timeout=5.0)
            return await check(plan, lambda _: None, 0.0)

    return asyncio.run(run())


def named_once(name: str, words: str, selection: str, others: int) -> None:
    """But for so many `others`, which pass at no table."""
    rogue = next(rogue for rogue in ROGUES if rogue.name == name)
    report = checked(rogue, selection)
    results = [result for result in report.results if (name, result.case) not in AMBIGUOUS]
    wrong = [result.failure for result in results if result.failure is not None]
    assert report.dialect == f"the server departs from the protocol all along: it {words}"
    assert [failure.cause for failure in wrong] == [f"it {words}"]
    assert sum(result.outcome is Outcome.PASS for result in results) >= len(results) - 2 - others


AMBIGUOUS = {
    ("printed-quotes", f"oldmaid/{case}")
    for case in ("3.7/brackets", "8.3/printed-quotes-before-joining", "8.3/printed-quotes-in-turn")
}
"""Where a text has quotes in it, nobody can tell which of them end it."""

DIALECTS = [
    ("capital-suits", "writes suits in capitals"),
    ("python-dictionaries", "prints its messages as Python does, and that is no JSON: json.dumps makes it JSON"),
    ("printed-quotes", "uses the quotes of the printed document, where JSON has plain ones"),
    ("length-before", "sends a length before its messages: nothing frames them"),
    ("capital-results", "writes its results in capitals"),
    ("ten-is-t", "writes the ten as T"),
    ("values-are-numbers", "writes values as numbers, where they are strings"),
    ("old-maid-is-joker", 'has another name for the old maid than ["joker", "maid"]'),
    ("no-message", 'answers a discard without the message "ok"'),
]


@pytest.mark.parametrize(("name", "words"), sampled(DIALECTS, 3), ids=[name for name, _ in DIALECTS])
def test_a_dialect_is_named_once_and_the_run_goes_on_in_it(name: str, words: str) -> None:
    named_once(name, words, "oldmaid/4" if name != "no-message" else "oldmaid/5", 0)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "words"), DIALECTS)
def test_a_dialect_is_named_once_in_a_run_of_all_cases(name: str, words: str) -> None:
    named_once(name, words, "oldmaid", 9)


def test_a_strict_table_is_as_right_as_a_tolerant_one() -> None:
    strict = replace(HONEST, wire=Strict)
    results = [result for number in ("2.6", "2.7", "2.8", "3.5") for result in tried(strict, f"oldmaid/{number}")]
    assert {result.outcome for result in results} <= {Outcome.CHOICE, Outcome.PASS}
    assert "is refused" in " ".join(result.note for result in results)


def test_a_failure_shows_what_was_said_and_by_whom() -> None:
    rogue = next(rogue for rogue in ROGUES if rogue.name == "python-dictionaries")
    result = next(result for result in tried(rogue, rogue.selection) if result.failure is not None)
    assert result.failure is not None
    assert "Python" in result.failure.cause
    assert b"'result': 'ok'" in result.failure.got
    assert 0 < len(result.dialogue) <= 6
    assert {line.side for line in result.dialogue} == {CLIENT, HOUSE}
    assert str(result.dialogue[0].message).startswith("p1-")
    assert " → table: " in str(result.dialogue[0].message)


def test_a_silent_table_costs_no_patience_for_every_case() -> None:
    rogue = next(rogue for rogue in ROGUES if rogue.name == "never-answers")
    results = tried(rogue, "oldmaid", timeout=0.5)
    assert failed(results)[0][1] == "oldmaid-3.10"
    assert sum(result.outcome is Outcome.SKIP and "no game begins" in result.note for result in results) > 100


def test_a_table_that_is_only_slow_to_begin_is_tried_again() -> None:
    joins = 0

    def sleepy() -> Habit:
        def on(event: Event[Any], effects: Effects) -> Effects:
            nonlocal joins
            joins += isinstance(event, Received) and isinstance(event.message, Join)
            return effects if joins > MAX_PLAYERS else []

        return on

    told: list[Result] = []
    results = tried(replace(HONEST, habit=sleepy), "oldmaid/3.1", on_result=told.append)
    assert [result.outcome for result in told] == [Outcome.FAIL, Outcome.PASS]
    assert [result.outcome for result in results] == [Outcome.PASS]


def test_behind_so_many_failures_no_more_cases_are_begun() -> None:
    rogue = next(rogue for rogue in ROGUES if rogue.name == "capital-suits")
    results = tried(rogue, "oldmaid/4", max_failures=2)
    assert 2 <= len(failed(results)) < 2 + MAX_CONCURRENT_CASES
    assert len(results) < len(select(server_cases(ROOM), "oldmaid/4"))


def test_where_nobody_answers_nothing_can_be_tested() -> None:
    async def run() -> None:
        port = await free_port()
        with pytest.raises(ConnectionError, match="no table answers"):
            await check_server(ROOM, "127.0.0.1", port, cases=server_cases(ROOM), timeout=1.0)

    asyncio.run(run())
