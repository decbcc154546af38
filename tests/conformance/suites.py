"""Runs cases of a suite as the tester does, without a plan."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from croupier.conformance.case import Case
from croupier.conformance.case_runner import CaseRunner
from croupier.conformance.results import Outcome, Result
from croupier.conformance.suite import Bench, Config, Role, find_suite
from croupier.core.room import Room
from croupier.core.session import Address
from croupier.rooms import HOUSE_ROOMS

SERVER_TEST_DATA: Final = {name: find_suite(room, "server").test_data for name, room in HOUSE_ROOMS.items()}
CLIENT_TEST_DATA: Final = {name: find_suite(room, "client").test_data for name, room in HOUSE_ROOMS.items()}


def server_cases(room: Room) -> Sequence[Any]:
    """All cases for the servers of a room."""
    return find_suite(room, "server").cases


def client_cases(room: Room) -> Sequence[Any]:
    """All cases for the clients of a room."""
    return find_suite(room, "client").cases


async def run_bench(
    bench: Bench,
    cases: Sequence[Case],
    address: Address = ("", 0),
    *,
    max_failures: int | None = None,
    on_result: Callable[[Result], None] = lambda _: None,
    on_stderr: Callable[[bytes], None] = lambda _: None,
) -> tuple[Result, ...]:
    """Run cases on a bench; the results are in the order of the cases."""
    try:
        await bench.open(address)
        runner = CaseRunner(bench, on_result, max_failures=max_failures)
        await runner.run(sorted(cases, key=lambda case: case.rank))
    finally:
        await bench.close()
    if not all(result.is_good for result in runner.results.values()):
        on_stderr(runner.stderr)
    return tuple(runner.results[case.id] for case in cases if case.id in runner.results)


async def check_server(room: Room, host: str, port: int, **how: Any) -> tuple[Result, ...]:
    """Run cases against a server."""
    return await _check(room, "server", (host, port), **how)


async def check_client(room: Room, command: str, **how: Any) -> tuple[Result, ...]:
    """Run cases against a client that is started by a command."""
    return await _check(room, "client", command=command, **how)


async def _check(
    room: Room,
    role: Role,
    address: Address = ("", 0),
    *,
    cases: Sequence[Case],
    command: str = "",
    options: Any = None,
    strict: bool = False,
    seed: int = 1,
    timeout: float | None = None,
    detected_dialect: Any = None,
    **more: Any,
) -> tuple[Result, ...]:
    suite = find_suite(room, role)
    config = Config(
        command=command,
        known_options=options,
        strict=strict,
        seed=seed,
        timeout=suite.timeout if timeout is None else timeout,
        dialect=detected_dialect,
    )
    return await run_bench(suite.bench(config), cases, address, **more)


def failed(results: Sequence[Result]) -> list[tuple[str, str, str]]:
    """The failed cases, each with the clause and what was found."""
    return [
        (result.case, result.failure.clause, result.failure.actual) for result in results if result.failure is not None
    ]


def not_passed(results: Sequence[Result]) -> list[Result]:
    """The results of cases that neither passed nor were skipped."""
    return [result for result in results if result.outcome not in {Outcome.PASS, Outcome.SKIP}]
