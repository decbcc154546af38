"""Tries a table of Old Maid, case by case, with players of ours."""

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
from croupier.conformance.oldmaid.dialect import JsonDialect, dialect_from_cause
from croupier.conformance.oldmaid.dialects import DIALECTS
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
"""So many cases are played at the same time."""

MAX_SHRINK_SECONDS: Final = 1.0
"""A dialogue is made shorter for so many seconds at most."""


def server_cases(room: Room) -> tuple[TableCase, ...]:  # noqa: ARG001 -- as for every room
    """Every case for a table."""
    parts = (joining, lobby, dealing, ending, framing, requests, games)
    return (*(case for part in parts for case in part.cases()), *lobby.slow_cases())


def untestable(room: Room) -> Mapping[str, str]:
    """The clauses that no case for a table tests, each with the reason."""
    return untested_clauses(server_cases(room), "player")


def dialect(cause: str) -> JsonDialect | None:
    """The spelling that a cause names, None where it is another cause."""
    return dialect_from_cause(cause, DIALECTS)


async def check_server(
    room: Room,  # noqa: ARG001 -- as for every room
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
    """Play the cases at a table, a few at a time; `told` hears each result at once. They are in the order of the cases.

    An answer may take `timeout` seconds. Behind `max_failures` failures no more cases are begun. `options` are those of
    a player: its dialect is the one that the table is expected to speak. What the table says is read by the `spelling`,
    if there is one. Raises ConnectionError when nobody answers there at all.
    """
    dialect = cast(Dialect, getattr(options, "dialect", "document"))
    tables = TableUnderTest(
        (host, port),
        dialect=dialect,
        strict=strict,
        timeout=AdaptiveTimeout(timeout),
        detected_dialect=detected_dialect,
    )
    results: dict[int, Result] = {}
    remaining = iter(enumerate(cases))

    async def work(most: int = len(cases)) -> None:
        for number, case in islice(remaining, most):
            assert isinstance(case, TableCase), f"{case.id} is no case for a table"
            failed = sum(one.outcome is Outcome.FAIL for one in results.values())
            if max_failures is not None and failed >= max_failures:
                return
            results[number] = await _run_case(tables, case, seed, first=not number)
            on_result(results[number])

    await work(1)  # it finds out how many the table plays with, and whether it is there
    if results and not results[0].is_good and not tables.timeout.has_answered:  # it may only be slow to begin
        tables.timeout.first_seconds, tables.no_game_reason = timeout, ""
        again = await _run_case(tables, cast(TableCase, cases[0]), seed, first=False)
        if again.outcome is not results[0].outcome:
            results[0] = again
            on_result(again)
    async with asyncio.TaskGroup() as group:
        for _ in range(MAX_CONCURRENT_CASES):
            group.create_task(work())
    return tuple(results[number] for number in sorted(results))


async def _run_case(table: TableUnderTest, case: TableCase, seed: int, *, first: bool) -> Result:
    """Play a case. Raises ConnectionError if nobody answers to the `first` one; later on it is a fault."""
    clock = asyncio.get_running_loop().time
    begun = clock()
    scene = TableContext(table, Random(f"{seed} {case.id}"), holds_lobby=case.needs_whole_lobby)  # noqa: S311 -- luck that can be had again
    error: Exception | None = None
    try:
        async with table.lobby if case.needs_whole_lobby else nullcontext():
            begun = clock()
            try:
                await case.play(scene)
            finally:
                await close_context(scene)
    except (Failed, ImplementationChoice, Unimplemented, NonStrict, NotReached) as found:
        error = found
    except ConnectionError as gone:
        if first:
            raise
        error = Failed(case.clause, str(gone), "a table that still takes connections")
    dialogue: Sequence[DialogueLine] = scene.dialogue
    if isinstance(error, Failed) and not error.cause and not case.failure_is_choice and table.shrink_seconds_left > 0:
        started = clock()
        error, dialogue = await shrink(scene, error, min(MAX_SHRINK_SECONDS, table.shrink_seconds_left))
        table.shrink_seconds_left -= clock() - started
    return case_result(
        case, error, dialogue, clock() - begun, strict=table.strict, failure_is_choice=case.failure_is_choice
    )
