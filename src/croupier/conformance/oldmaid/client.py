"""Tries a player of Old Maid, case by case: it is started anew for each, and the table and all others are ours."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

from croupier.conformance.case import Case
from croupier.conformance.oldmaid import player_replay
from croupier.conformance.oldmaid.cases import rings
from croupier.conformance.oldmaid.dialect import JsonDialect, dialect_from_cause
from croupier.conformance.oldmaid.dialects import DIALECTS
from croupier.conformance.oldmaid.endpoints import ProgramEndpoints, StartProgram
from croupier.conformance.oldmaid.outcomes import (
    Failed,
    ImplementationChoice,
    NonStrict,
    NotReached,
    Unimplemented,
    case_result,
)
from croupier.conformance.oldmaid.player_context import PlayerCase, PlayerContext
from croupier.conformance.oldmaid.untestable import untested_clauses
from croupier.conformance.program import ProgramUnderTest
from croupier.conformance.results import Outcome, Result
from croupier.core.room import Room
from croupier.rooms.oldmaid.wire import Dialect

MAX_CONCURRENT_PROGRAMS: Final = 2
"""So many programs run at the same time."""


def client_cases(room: Room) -> tuple[PlayerCase, ...]:  # noqa: ARG001 -- as for every room
    """Every case for a player."""
    return (*player_replay.cases(), *rings.cases())


def untestable(room: Room) -> Mapping[str, str]:
    """The clauses that no case for a player tests, each with the reason."""
    return untested_clauses(client_cases(room), "table")


def dialect(cause: str) -> JsonDialect | None:
    """The spelling that a cause names, None where it is another cause."""
    return dialect_from_cause(cause, DIALECTS)


async def check_client(
    room: Room,  # noqa: ARG001 -- as for every room
    command: str,
    *,
    cases: Sequence[Case],
    settings: Any = None,
    strict: bool = False,
    seed: int = 0,
    timeout: float = 5.0,
    max_failures: int | None = None,
    on_result: Callable[[Result], None] = lambda _: None,
    on_stderr: Callable[[bytes], None] = lambda _: None,
    detected_dialect: JsonDialect | None = None,
) -> tuple[Result, ...]:
    """Test a player: start its command once for every case, `{host}`, `{port}` and `{nick}` filled in.

    What it has to say it has `timeout` seconds for. Of the `settings` of the table the dialect counts. `told` hears
    every result as it comes, and `stderr` what a program has written there behind a failure. The results are in the
    order of the cases; behind `max_failures` failures no more are begun. What it says is read by the `spelling`, if
    there is one. Raises ValueError on a command that makes no
    sense, and ProgramError when there is no such program.
    """

    async def start(values: Mapping[str, object]) -> ProgramUnderTest:
        return await ProgramUnderTest.start(command, values)

    return await run_cases(
        start,
        cases=cases,
        strict=strict,
        seed=seed,
        timeout=timeout,
        max_failures=max_failures,
        on_result=on_result,
        on_stderr=on_stderr,
        dialect=cast(Dialect, getattr(settings, "dialect", "document")),
        detected_dialect=detected_dialect,
    )


async def run_cases(
    start: StartProgram,
    *,
    cases: Sequence[Case],
    strict: bool = False,
    seed: int = 0,
    timeout: float = 5.0,
    max_failures: int | None = None,
    on_result: Callable[[Result], None] = lambda _: None,
    on_stderr: Callable[[bytes], None] = lambda _: None,
    dialect: Dialect = "document",
    detected_dialect: JsonDialect | None = None,
) -> tuple[Result, ...]:
    """As `check_client` does, with whatever starts the player."""
    results: dict[int, Result] = {}
    waiting = iter(enumerate(cases))

    async def work() -> None:
        for number, case in waiting:
            failed = sum(one.outcome is Outcome.FAIL for one in results.values())
            if max_failures is not None and failed >= max_failures:
                return
            assert isinstance(case, PlayerCase), f"{case.id} is no case for a player"
            harbour = ProgramEndpoints(dialect=dialect, detected_dialect=detected_dialect)
            tried = PlayerContext(all_endpoints=[harbour], start=start, seed=seed, timeout=timeout, strict=strict)
            results[number] = await _run_case(tried, case, on_stderr)
            on_result(results[number])

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(MAX_CONCURRENT_PROGRAMS):
                group.create_task(work())
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return tuple(results[number] for number in sorted(results))


async def _run_case(context: PlayerContext, case: PlayerCase, stderr: Callable[[bytes], None]) -> Result:
    """Play a case."""
    clock = asyncio.get_running_loop().time
    begun = clock()
    error: Exception | None = None
    try:
        await case.play(context)
    except (Failed, ImplementationChoice, Unimplemented, NonStrict, NotReached) as ending:
        error = ending
    found = case_result(
        case,
        error,
        context.endpoints.dialogue,
        clock() - begun,
        strict=context.strict,
        failure_is_choice=case.failure_is_choice,
    )
    if found.outcome is Outcome.FAIL and context.programs:
        stderr(context.programs[-1].stderr)
    return found
