"""Tests an Old Maid table, case by case, with scripted players."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from itertools import islice
from random import Random
from typing import Any, Final, cast

from croupier.conformance.case import Case
from croupier.conformance.conversation import DialogueLine
from croupier.conformance.oldmaid.cases import dealing, ending, framing, games, joining, lobby, requests
from croupier.conformance.oldmaid.cases.requests import TableCase
from croupier.conformance.oldmaid.dialect import JsonDialect
from croupier.conformance.oldmaid.outcomes import (
    Failed,
    ImplementationChoice,
    NonStrict,
    NotReached,
    Unimplemented,
    case_result,
)
from croupier.conformance.oldmaid.scripted_player import AdaptiveTimeout
from croupier.conformance.oldmaid.shrink import shrink
from croupier.conformance.oldmaid.table_context import TableContext, TableUnderTest, close_context
from croupier.conformance.oldmaid.untestable import untested_clauses
from croupier.conformance.results import Outcome, Result
from croupier.core.room import Room
from croupier.rooms.oldmaid.wire import Dialect

MAX_CONCURRENT_CASES: Final = 3

MAX_SHRINK_SECONDS: Final = 1.0
"""The time limit for shrinking one dialogue."""


def server_cases(room: Room) -> tuple[TableCase, ...]:  # noqa: ARG001 -- the interface of all rooms
    """Return all cases for tables."""
    parts = (joining, lobby, dealing, ending, framing, requests, games)
    return (*(case for part in parts for case in part.cases()), *lobby.slow_cases())


def untestable(room: Room) -> Mapping[str, str]:
    """Return the clauses that no case for a table tests, each with the reason."""
    return untested_clauses(server_cases(room), "player")


async def check_server(
    room: Room,  # noqa: ARG001 -- the interface of all rooms
    host: str,
    port: int,
    *,
    cases: Sequence[Case],
    options: Any = None,
    strict: bool = False,
    seed: int = 0,
    timeout: float = 5.0,
    max_failures: int | None = None,
    on_result: Callable[[Result], None] = lambda _: None,
    detected_dialect: JsonDialect | None = None,
) -> tuple[Result, ...]:
    """Run cases at a table, a few at a time; return the results in the order of the cases.

    An answer may take `timeout` seconds. `on_result` receives each result as soon as it is known. After `max_failures`
    failures no more cases start. `options.dialect` is the dialect that the table is expected to speak. The table's
    messages are read by `detected_dialect` if there is one.

    Raises ConnectionError if no connection to the table succeeds.
    """
    dialect = cast(Dialect, getattr(options, "dialect", "document"))
    table = TableUnderTest(
        (host, port),
        dialect=dialect,
        strict=strict,
        timeout=AdaptiveTimeout(timeout),
        detected_dialect=detected_dialect,
    )
    results: dict[int, Result] = {}
    remaining = iter(enumerate(cases))

    async def work(max_cases: int = len(cases)) -> None:
        for number, case in islice(remaining, max_cases):
            assert isinstance(case, TableCase), f"{case.id} is no case for a table"
            failed = sum(one.outcome is Outcome.FAIL for one in results.values())
            if max_failures is not None and failed >= max_failures:
                return
            results[number] = await _run_case(table, case, seed, first=not number)
            on_result(results[number])

    await work(1)  # learns the table size, and whether the table is reachable
    if results and not results[0].is_good and not table.timeout.has_answered:  # it may only be slow to start
        table.timeout.first_seconds, table.no_game_reason = timeout, ""
        second_result = await _run_case(table, cast(TableCase, cases[0]), seed, first=False)
        if second_result.outcome is not results[0].outcome:
            results[0] = second_result
            on_result(second_result)
    async with asyncio.TaskGroup() as group:
        for _ in range(MAX_CONCURRENT_CASES):
            group.create_task(work())
    return tuple(results[number] for number in sorted(results))


async def _run_case(table: TableUnderTest, case: TableCase, seed: int, *, first: bool) -> Result:
    """Run a case. Raises ConnectionError if the table is unreachable in the `first` case; later it is a failure."""
    clock = asyncio.get_running_loop().time
    started_at = clock()
    context = TableContext(table, Random(f"{seed} {case.id}"), holds_lobby=case.needs_whole_lobby)  # noqa: S311 -- reproducible
    error: Exception | None = None
    try:
        async with table.lobby if case.needs_whole_lobby else nullcontext():
            started_at = clock()
            try:
                await case.play(context)
            finally:
                await close_context(context)
    except (Failed, ImplementationChoice, Unimplemented, NonStrict, NotReached) as outcome:
        error = outcome
    except ConnectionError as lost:
        if first:
            raise
        error = Failed(case.clause, str(lost), "a table that still takes connections")
    dialogue: Sequence[DialogueLine] = context.dialogue
    if isinstance(error, Failed) and not error.cause and not case.failure_is_choice and table.shrink_seconds_left > 0:
        started = clock()
        error, dialogue = await shrink(context, error, min(MAX_SHRINK_SECONDS, table.shrink_seconds_left))
        table.shrink_seconds_left -= clock() - started
    return case_result(
        case, error, dialogue, clock() - started_at, strict=table.strict, failure_is_choice=case.failure_is_choice
    )
