"""Tries a table of Old Maid, case by case, with players of ours."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from itertools import islice
from random import Random
from typing import Any, Final, cast

from croupier.conformance.case import Case
from croupier.conformance.conversation import Line
from croupier.conformance.oldmaid.cases import dealing, ending, framing, games, joining, lobby, requests
from croupier.conformance.oldmaid.cases.requests import TableCase
from croupier.conformance.oldmaid.dialect import Spelling, named
from croupier.conformance.oldmaid.dialects import SPELLINGS
from croupier.conformance.oldmaid.findings import Broken, Chosen, Refused, Tolerated, Unseen, result
from croupier.conformance.oldmaid.scripted_player import Patience
from croupier.conformance.oldmaid.shrink import shortened
from croupier.conformance.oldmaid.tables import Scene, Tables, drained
from croupier.conformance.oldmaid.untestable import untested
from croupier.conformance.results import Outcome, Result
from croupier.core.room import Room
from croupier.rooms.oldmaid.wire import Dialect

AT_ONCE: Final = 3
"""So many cases are played at the same time."""

MOST: Final = 1.0
"""A dialogue is made shorter for so many seconds at most."""


def server_cases(room: Room) -> tuple[TableCase, ...]:  # noqa: ARG001 -- as for every room
    """Every case for a table."""
    parts = (joining, lobby, dealing, ending, framing, requests, games)
    return (*(case for part in parts for case in part.cases()), *lobby.last())


def untestable(room: Room) -> Mapping[str, str]:
    """The clauses that no case for a table tests, each with the reason."""
    return untested(server_cases(room), "player")


def dialect(cause: str) -> Spelling | None:
    """The spelling that a cause names, None where it is another cause."""
    return named(cause, SPELLINGS)


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
    told: Callable[[Result], None] = lambda _: None,
    spelling: Spelling | None = None,
) -> tuple[Result, ...]:
    """Play the cases at a table, a few at a time; `told` hears each result at once. They are in the order of the cases.

    An answer may take `timeout` seconds. Behind `max_failures` failures no more cases are begun. `options` are those of
    a player: its dialect is the one that the table is expected to speak. What the table says is read by the `spelling`,
    if there is one. Raises ConnectionError when nobody answers there at all.
    """
    dialect = cast(Dialect, getattr(options, "dialect", "document"))
    tables = Tables((host, port), dialect=dialect, strict=strict, patience=Patience(timeout), spelling=spelling)
    results: dict[int, Result] = {}
    remaining = iter(enumerate(cases))

    async def work(most: int = len(cases)) -> None:
        for number, case in islice(remaining, most):
            assert isinstance(case, TableCase), f"{case.id} is no case for a table"
            failed = sum(one.outcome is Outcome.FAIL for one in results.values())
            if max_failures is not None and failed >= max_failures:
                return
            results[number] = await _tried(tables, case, seed, first=not number)
            told(results[number])

    await work(1)  # it finds out how many the table plays with, and whether it is there
    if results and not results[0].good and not tables.patience.rewarded:  # it may only be slow to begin
        tables.patience.first, tables.barren = timeout, ""
        again = await _tried(tables, cast(TableCase, cases[0]), seed, first=False)
        if again.outcome is not results[0].outcome:
            results[0] = again
            told(again)
    async with asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(work())
    return tuple(results[number] for number in sorted(results))


async def _tried(tables: Tables, case: TableCase, seed: int, *, first: bool) -> Result:
    """Play a case. Raises ConnectionError if nobody answers to the `first` one; later on it is a fault."""
    clock = asyncio.get_running_loop().time
    begun = clock()
    scene = Scene(tables, Random(f"{seed} {case.id}"), alone=case.alone)  # noqa: S311 -- luck that can be had again
    error: Exception | None = None
    try:
        async with tables.lobby if case.alone else nullcontext():
            begun = clock()
            try:
                await case.play(scene)
            finally:
                await drained(scene)
    except (Broken, Chosen, Refused, Tolerated, Unseen) as found:
        error = found
    except ConnectionError as gone:
        if first:
            raise
        error = Broken(case.clause, str(gone), "a table that still takes connections")
    dialogue: Sequence[Line] = scene.dialogue
    if isinstance(error, Broken) and not error.cause and not case.free and tables.spare > 0:
        started = clock()
        error, dialogue = await shortened(scene, error, min(MOST, tables.spare))
        tables.spare -= clock() - started
    return result(case, error, dialogue, clock() - begun, strict=tables.strict, free=case.free)
