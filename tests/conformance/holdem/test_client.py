"""Bots under test: ours passes, and what is wrong with the program itself is told."""

import asyncio
import sys
from collections.abc import Sequence
from typing import Any

import pytest

from croupier.conformance.case import Case, select
from croupier.conformance.holdem import check_client, client_cases
from croupier.conformance.program import ProgramError
from croupier.conformance.results import Outcome, Result
from croupier.rooms.holdem.settings import Settings

OURS = (
    f"{sys.executable} -m croupier play holdem {{url}} --user {{user}} --password {{password}} --bot random"
    " --hands 1000"
)
ALL = client_cases()
CALLS = "holdem/4.1/against-one-who-calls"


def check(command: str, cases: Sequence[Case], **more: Any) -> tuple[Result, ...]:
    return asyncio.run(check_client(None, command, cases=cases, **more))


def wrong(results: Sequence[Result]) -> list[Result]:
    return [result for result in results if result.outcome not in {Outcome.PASS, Outcome.SKIP}]


@pytest.mark.parametrize("dialect", ["readme", pytest.param("hspe-go", marks=pytest.mark.slow)])
def test_our_own_bot_passes(dialect: str) -> None:
    chosen = [CALLS, "holdem/4.9/against-two-all-ins", "holdem/1.1/chunked", "holdem/3.17/cut-off-behind-an-act"]
    cases = [case for selection in chosen for case in select(ALL, selection)]
    told: list[Result] = []
    results = check(OURS, cases, settings=Settings(dialect=dialect), on_result=told.append)  # type: ignore[arg-type]
    assert {result.outcome for result in results} == {Outcome.PASS}, results
    assert [result.case for result in results] == chosen
    assert {result.case for result in told} == {*chosen}


@pytest.mark.slow
@pytest.mark.parametrize("bot", ["random", "caller", "maniac", "tight"])
def test_our_own_bots_pass_every_case(bot: str) -> None:
    results = check(OURS.replace("random", bot), ALL)
    assert wrong(results) == []
    assert sum(result.outcome is Outcome.SKIP for result in results) <= 2


def python(text: str) -> str:
    """A program of one line; a comma stands between statements."""
    return f'{sys.executable} -S -c "{text}"'


@pytest.mark.parametrize(
    ("text", "clause", "told"),
    [
        ("raise SystemExit(3)", "holdem-1.1", "it has ended (exit status 3)"),
        ("import os; os.abort()", "holdem-1.1", "SIGABRT"),
        ("import time; time.sleep(60)", "holdem-1.1", "none in 1 s"),
    ],
    ids=["ends", "crashes", "sleeps"],
)
def test_a_program_that_never_asks_is_told(text: str, clause: str, told: str) -> None:
    said: list[bytes] = []
    (result,) = check(python(text), select(ALL, CALLS), timeout=1.0 if "sleep" in text else 10.0, stderr=said.append)
    assert result.failure is not None
    assert result.failure.clause == clause
    assert told in result.failure.actual
    assert len(said) == 1


def test_what_a_program_has_complained_about_is_told() -> None:
    said: list[bytes] = []
    (result,) = check(python("raise ValueError('no table')"), select(ALL, CALLS), stderr=said.append)
    assert result.failure is not None
    assert "no table" in result.failure.actual
    assert b"no table" in said[0]


def test_the_run_ends_after_so_many_failures() -> None:
    results = check(python("raise SystemExit(3)"), select(ALL, "holdem/4"), max_failures=1)
    assert 1 <= len(results) <= 3


def test_a_program_that_is_not_there_cannot_be_tested() -> None:
    with pytest.raises(ProgramError):
        check("/no/such/bot {url}", select(ALL, CALLS))


def test_a_command_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(ValueError, match=r"found \{table\}"):
        check("bot {table}", select(ALL, CALLS))
