"""Tests of bots: our bots pass, and broken programs are reported."""

import asyncio
import sys
from collections.abc import Sequence
from typing import Any

import pytest

from croupier.conformance.case import Case, select
from croupier.conformance.program import ProgramError
from croupier.conformance.results import Outcome, Result
from croupier.rooms.holdem import ROOM
from croupier.rooms.holdem.settings import Settings
from tests.conformance.suites import check_client, client_cases, not_passed

OUR_BOT = (
    f"{sys.executable} -m croupier play holdem {{url}} --user {{user}} --password {{password}} --bot random"
    " --hands 1000"
)
ALL = client_cases(ROOM)
CALLS = "holdem/4.1/against-one-who-calls"


def check(command: str, cases: Sequence[Case], **options: Any) -> tuple[Result, ...]:
    return asyncio.run(check_client(ROOM, command, cases=cases, **options))


@pytest.mark.parametrize("dialect", ["readme", pytest.param("hspe-go", marks=pytest.mark.slow)])
def test_our_own_bot_passes(dialect: str) -> None:
    chosen = [CALLS, "holdem/4.9/against-two-all-ins", "holdem/1.1/chunked", "holdem/3.17/cut-off-behind-an-act"]
    cases = [case for selection in chosen for case in select(ALL, selection)]
    expected: list[Result] = []
    results = check(OUR_BOT, cases, options=Settings(dialect=dialect), on_result=expected.append)  # type: ignore[arg-type]
    assert {result.outcome for result in results} == {Outcome.PASS}, results
    assert [result.case for result in results] == chosen
    assert {result.case for result in expected} == {*chosen}


def test_a_bot_may_choose_its_own_name() -> None:
    own = OUR_BOT.replace("{user}", "own-name").replace("{password}", "own")
    assert {result.outcome for result in check(own, select(ALL, CALLS))} == {Outcome.PASS}


@pytest.mark.slow
@pytest.mark.parametrize("bot", ["random", "caller", "maniac", "tight"])
def test_our_own_bots_pass_every_case(bot: str) -> None:
    results = check(OUR_BOT.replace("random", bot), ALL)
    assert not_passed(results) == []
    assert sum(result.outcome is Outcome.SKIP for result in results) <= 2


def python(text: str) -> str:
    """Return the command of a Python program given as one line."""
    return f'{sys.executable} -S -c "{text}"'


@pytest.mark.parametrize(
    ("text", "clause", "expected"),
    [
        ("raise SystemExit(3)", "holdem-1.1", "it has ended (exit status 3)"),
        ("import os; os.abort()", "holdem-1.1", "SIGABRT"),
        (
            "import signal; signal.raise_signal(signal.SIGXCPU)",
            "holdem-1.1",
            "it has ended (SIGXCPU: it has used more processor time than allowed)",
        ),
        ("import time; time.sleep(60)", "holdem-1.1", "none in 1 s"),
    ],
    ids=["ends", "crashes", "exceeds a limit", "sleeps"],
)
def test_program_without_requests_fails(text: str, clause: str, expected: str) -> None:
    stderr_chunks: list[bytes] = []
    (result,) = check(
        python(text), select(ALL, CALLS), timeout=1.0 if "sleep" in text else 10.0, on_stderr=stderr_chunks.append
    )
    assert result.failure is not None
    assert result.failure.clause == clause
    assert expected in result.failure.actual
    assert len(stderr_chunks) == 1


def test_stderr_is_reported() -> None:
    stderr_chunks: list[bytes] = []
    (result,) = check(python("raise ValueError('no table')"), select(ALL, CALLS), on_stderr=stderr_chunks.append)
    assert result.failure is not None
    assert "no table" in result.failure.actual
    assert b"no table" in stderr_chunks[0]


def test_run_stops_after_max_failures() -> None:
    results = check(python("raise SystemExit(3)"), select(ALL, "holdem/4"), max_failures=1)
    assert 1 <= len(results) <= 3


def test_missing_program_raises() -> None:
    with pytest.raises(ProgramError):
        check("/no/such/bot {url}", select(ALL, CALLS))


def test_unknown_placeholder_raises() -> None:
    with pytest.raises(ValueError, match=r"found \{table\}"):
        check("bot {table}", select(ALL, CALLS))
