"""Tests of the runner of cases with a server of its own: which case has ended it, and which fail only after others."""

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from croupier.conformance.report.summary import facts, failure_groups, repeat_command
from croupier.conformance.results import Failure, Outcome
from croupier.conformance.suite import Attempt, Bench
from croupier.core.errors import FoundKind
from tests.conformance.sample_report import REPORT, quoted
from tests.conformance.test_crowd import outcomes, run_at_program
from tests.net.raw_client import Run

MORTAL = """
import os, socket, sys
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    if server.accept()[0].recv(3) == b"end":
        os._exit(3)
"""


class DoubtfulBench(Bench):
    """A bench that ends the server in its first tries; the first time it may be the tester's own fault."""

    def __init__(self, ends: int) -> None:
        self.tries = 0
        self._ends = ends

    @property
    def may_have_ended_server(self) -> bool:
        return self.tries == 1

    async def attempt(self, case: Any, number: int, *, is_patient: bool = False) -> Attempt:
        self.tries += 1
        if self.tries > self._ends:
            return Attempt(Outcome.PASS)
        reader, writer = await asyncio.open_connection(*self.address)
        writer.write(b"end")
        await reader.read()
        writer.close()
        return Attempt(Outcome.FAIL, failure=Failure(case.clause, "an answer", "the close", kind=FoundKind.CLOSED))

    async def open(self, address: tuple[str, int]) -> None:
        self.address = address


@pytest.mark.parametrize(("ends", "outcome"), [(1, Outcome.PASS), (2, Outcome.FAIL)])
def test_a_case_that_may_not_have_ended_the_server_is_tried_again(run: Run, ends: int, outcome: Outcome) -> None:
    bench = DoubtfulBench(ends)
    assert outcomes(run(run_at_program(bench, 1, MORTAL))) == [outcome]
    assert bench.tries == 2


LATE_MORTAL = MORTAL.replace("os._exit(3)", "import time; time.sleep(0.05); os._exit(3)")


class LateBench(Bench):
    """A bench whose case `fatal` ends the server a moment after its first tries; the others wait for that."""

    def __init__(self, fatal: str, ends: int) -> None:
        self._fatal = fatal
        self._ends_left = ends

    async def attempt(self, case: Any, number: int, *, is_patient: bool = False) -> Attempt:
        reader, writer = await asyncio.open_connection(*self.address)
        try:
            if case.section == self._fatal:
                writer.write(b"end" if self._ends_left else b"not")
                self._ends_left -= self._ends_left > 0
                return Attempt(Outcome.PASS)
            async with asyncio.timeout(0.2):
                await reader.read()
        except TimeoutError:
            return Attempt(Outcome.PASS)
        except ConnectionError:
            pass
        finally:
            writer.close()
        failure = Failure(case.clause, "a server that goes on", "the close", kind=FoundKind.CLOSED)
        return Attempt(Outcome.FAIL, failure=failure)

    async def open(self, address: tuple[str, int]) -> None:
        self.address = address


@pytest.mark.parametrize("fatal", ["2.1", "2.2", "2.3"])
def test_a_server_that_ends_after_a_case_is_blamed_for_that_case(run: Run, fatal: str) -> None:
    results = run(run_at_program(LateBench(fatal, ends=9), 3, LATE_MORTAL))
    assert {result.clause for result in results.values() if result.outcome is Outcome.FAIL} == {f"kuhn-{fatal}"}
    failure = results[f"kuhn/{fatal}/case"].failure
    assert failure is not None
    assert failure.cause is not None
    assert failure.cause.text == "it has ended (exit status 3)"


def test_an_end_that_does_not_come_again_is_reported_where_it_was_seen(run: Run) -> None:
    results = run(run_at_program(LateBench("2.1", ends=1), 2, LATE_MORTAL))
    assert outcomes(results) == [Outcome.PASS, Outcome.FAIL]
    failure = results["kuhn/2.2/case"].failure
    assert failure is not None
    assert failure.cause is not None
    assert failure.cause.text == "it has ended (exit status 3) once, and not when this case was tried again"


class KeepingBench(Bench):
    """A bench whose case 2.1 leaves something behind at the server, after which 2.2 fails; 2.3 fails anyway."""

    async def attempt(self, case: Any, number: int, *, is_patient: bool = False) -> Attempt:
        self.is_changed |= case.section == "2.1"
        if case.section == "2.3" or (case.section == "2.2" and self.is_changed):
            return Attempt(Outcome.FAIL, failure=Failure(case.clause, "an answer", "another one"))
        return Attempt(Outcome.PASS)

    async def open(self, address: tuple[str, int]) -> None:
        self.is_changed = False


def test_what_fails_only_after_other_cases_is_found_and_reported_last(run: Run) -> None:
    results = run(run_at_program(KeepingBench(), 3, MORTAL))
    assert outcomes(results) == [Outcome.PASS, Outcome.FAIL, Outcome.FAIL]
    assert [result.passes_alone for result in results.values()] == [False, True, False]
    assert [group.clause for group in failure_groups(results.values())] == ["kuhn-2.3", "kuhn-2.2"]


def test_a_failure_after_other_cases_says_so_and_is_repeated_with_them() -> None:
    result = quoted("kuhn/4.3/check")
    assert result.failure is not None
    result = replace(result, failure=replace(result.failure, cause=None), passes_alone=True)
    assert dict(facts(result))["alone"].startswith("it passes at a server that has just started")
    assert repeat_command(REPORT, result) == "croupier check kuhn 127.0.0.1:1212 --seed 7"
