"""Tests an Old Maid player: starts it once per case; the table and all other players are the tester's."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

from croupier.conformance.case import Case
from croupier.conformance.oldmaid import player_replay
from croupier.conformance.oldmaid.cases import rings
from croupier.conformance.oldmaid.dialect import JsonDialect
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


def client_cases(room: Room) -> tuple[PlayerCase, ...]:  # noqa: ARG001 -- the interface of all rooms
    """Return all cases for players."""
    return (*player_replay.cases(), *rings.cases())


def untestable(room: Room) -> Mapping[str, str]:
    """Return the clauses that no case for a player tests, each with the reason."""
    return untested_clauses(client_cases(room), "table")


async def check_client(
    room: Room,  # noqa: ARG001 -- the interface of all rooms
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
    """Test a player: start its command once per case, with `{host}`, `{port}` and `{nick}` filled in.

    The player has `timeout` seconds for each message. Of the table's `settings` only the dialect counts. `on_result`
    receives each result as soon as it is known, and `on_stderr` the program's standard error after a failure. The
    results are in the order of `cases`; after `max_failures` failures no more cases start. The player's messages are
    read by `detected_dialect` if there is one.

    Raises ValueError if the command is malformed, and ProgramError if the program does not exist.
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
    """As `check_client`, with a function that starts the player."""
    results: dict[int, Result] = {}
    waiting = iter(enumerate(cases))

    async def work() -> None:
        for number, case in waiting:
            failed = sum(one.outcome is Outcome.FAIL for one in results.values())
            if max_failures is not None and failed >= max_failures:
                return
            assert isinstance(case, PlayerCase), f"{case.id} is no case for a player"
            endpoints = ProgramEndpoints(dialect=dialect, detected_dialect=detected_dialect)
            context = PlayerContext(all_endpoints=[endpoints], start=start, seed=seed, timeout=timeout, strict=strict)
            results[number] = await _run_case(context, case, on_stderr)
            on_result(results[number])

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(MAX_CONCURRENT_PROGRAMS):
                group.create_task(work())
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return tuple(results[number] for number in sorted(results))


async def _run_case(context: PlayerContext, case: PlayerCase, stderr: Callable[[bytes], None]) -> Result:
    """Run a case."""
    clock = asyncio.get_running_loop().time
    started = clock()
    error: Exception | None = None
    try:
        await case.play(context)
    except (Failed, ImplementationChoice, Unimplemented, NonStrict, NotReached) as outcome:
        error = outcome
    result = case_result(
        case,
        error,
        context.endpoints.dialogue,
        clock() - started,
        strict=context.strict,
        failure_is_choice=case.failure_is_choice,
    )
    if result.outcome is Outcome.FAIL and context.programs:
        stderr(context.programs[-1].stderr)
    return result
