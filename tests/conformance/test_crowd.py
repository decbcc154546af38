"""Tests of cases that run at the same time at one server, and of what is believed of their failures."""

import asyncio
import sys
from collections.abc import Sequence
from shlex import join
from typing import Any

from croupier.conformance.case import Case
from croupier.conformance.case_runner import CaseRunner
from croupier.conformance.crowd import CROWD_CAUSE
from croupier.conformance.program import ProgramUnderTest
from croupier.conformance.report.summary import failure_groups
from croupier.conformance.results import Failure, Outcome, Result
from croupier.conformance.server_process import ServerProcess
from croupier.conformance.suite import Attempt, Bench
from croupier.core.errors import FoundKind
from tests.net.raw_client import TIMEOUT_SECONDS, Run

CROWD_CLAUSE = "kuhn-1.2"


def new_cases(count: int) -> Sequence[Case]:
    return [Case(clause=f"kuhn-2.{number}", slug="case", title="") for number in range(1, count + 1)]


def outcomes(results: dict[str, Result]) -> list[Outcome]:
    return [result.outcome for result in results.values()]


class CrowdedBench(Bench):
    """A bench for three cases at once, all of which fail in one way: always, or only in company."""

    lanes = 3
    crowd_clause = CROWD_CLAUSE

    def __init__(self, kind: FoundKind, *, fails_alone: bool) -> None:
        self.tries: list[tuple[str, int]] = []
        self._failure = Failure("kuhn-4.1", "an answer", "none", kind=kind)
        self._fails_alone = fails_alone
        self._running = 0

    async def attempt(self, case: Any, number: int, *, is_patient: bool = False) -> Attempt:
        self._running += 1
        for _ in range(3):
            await asyncio.sleep(0)
        company = self._running
        self.tries.append((case.section, company))
        for _ in range(3):
            await asyncio.sleep(0)
        self._running -= 1
        if company > 1 or self._fails_alone:
            return Attempt(Outcome.FAIL, failure=self._failure)
        return Attempt(Outcome.PASS)


def run_cases(bench: Bench, count: int) -> dict[str, Result]:
    async def main() -> dict[str, Result]:
        runner = CaseRunner(bench)
        await runner.run(new_cases(count))
        return runner.results

    return asyncio.run(main())


def test_a_close_that_only_other_cases_provoke_is_no_failure() -> None:
    bench = CrowdedBench(FoundKind.CLOSED, fails_alone=False)
    assert outcomes(run_cases(bench, 5)) == [Outcome.PASS] * 5
    assert bench.tries == [
        *((f"2.{number}", 3) for number in (1, 2, 3)),
        *((f"2.{number}", 1) for number in (1, 2, 3, 4, 5)),
    ], "cases that disturb each other run one after the other"


def test_a_close_is_believed_once_one_has_been_seen_alone() -> None:
    bench = CrowdedBench(FoundKind.CLOSED, fails_alone=True)
    assert outcomes(run_cases(bench, 6)) == [Outcome.FAIL] * 6
    assert bench.tries[:9] == [
        *((f"2.{number}", 3) for number in (1, 2, 3)),
        *((f"2.{number}", 1) for number in (1, 2, 3)),
        *((f"2.{number}", 3) for number in (4, 5, 6)),
    ]


def test_a_wrong_message_is_believed_at_any_time() -> None:
    bench = CrowdedBench(FoundKind.MESSAGE, fails_alone=True)
    assert outcomes(run_cases(bench, 3)) == [Outcome.FAIL] * 3
    assert bench.tries[:3] == [(f"2.{number}", 3) for number in (1, 2, 3)]


def test_what_is_wrong_only_in_company_is_a_mix_up_of_games() -> None:
    bench = CrowdedBench(FoundKind.MESSAGE, fails_alone=False)
    results = run_cases(bench, 3)
    assert outcomes(results) == [Outcome.FAIL] * 3
    assert bench.tries[3:5] == [("2.2", 1), ("2.2", 1)], "once more alone, and then in turn with a copy"
    groups = failure_groups(results.values())
    assert [(str(group.cause), len(group.results)) for group in groups] == [(str(CROWD_CAUSE), 2), ("None", 1)]


FRAGILE = """
import os, socket, sys
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
clients = [server.accept()[0]]
while True:
    clients[0].sendall(b"hello")
    server.settimeout(0.2)
    try:
        server.accept()
    except TimeoutError:
        clients[0].close()
        server.settimeout(None)
        clients = [server.accept()[0]]
    else:
        os._exit(3)
"""


class GreetedBench(Bench):
    """A bench for two cases at once, each of which waits for a greeting and for the close."""

    lanes = 2
    crowd_clause = CROWD_CLAUSE

    async def attempt(self, case: Any, number: int, *, is_patient: bool = False) -> Attempt:
        reader, writer = await asyncio.open_connection(*self.address)
        try:
            if await reader.read() == b"hello":
                return Attempt(Outcome.PASS)
        except ConnectionError:
            pass
        finally:
            writer.close()
        failure = Failure(case.clause, "a greeting", "the close", kind=FoundKind.CLOSED)
        return Attempt(Outcome.FAIL, failure=failure)

    async def open(self, address: tuple[str, int]) -> None:
        self.address = address


async def run_at_program(bench: Any, count: int, script: str) -> dict[str, Result]:
    """Run cases at a server that is started by a script, and again whenever it has ended."""
    command = join([sys.executable, "-S", "-c", script, "{port}"])

    async def start(port: int, _: int) -> ProgramUnderTest:
        return await ProgramUnderTest.start(command, {"port": port})

    async with ServerProcess(start, TIMEOUT_SECONDS) as server:
        await server.open()
        await bench.open(server.address)
        runner = CaseRunner(bench, server=server)
        await runner.run(new_cases(count))
    return runner.results


def test_a_server_that_ends_only_with_several_clients_is_blamed_for_that(run: Run) -> None:
    results = run(run_at_program(GreetedBench(), 3, FRAGILE))
    assert sorted(outcomes(results)) == [Outcome.FAIL, Outcome.PASS, Outcome.PASS]
    (failure,) = (result.failure for result in results.values() if result.failure is not None)
    assert failure.clause == CROWD_CLAUSE
    assert failure.cause is not None
    assert failure.cause.text == "it has ended (exit status 3) while several cases ran, and alone none of them ends it"
