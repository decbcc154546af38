"""The tester as a function: a mutant under test, and the results in the order in which a user is shown them.

No other module of this folder knows the tester.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, NamedTuple
from unittest.mock import patch

from croupier.conformance import run as conformance_run
from croupier.conformance.clients import bench
from croupier.conformance.first_look import FirstLook
from croupier.conformance.holdem import client_bench
from croupier.conformance.oldmaid import player_bench
from croupier.conformance.plan import Plan
from croupier.conformance.report.summary import failure_groups
from croupier.conformance.results import Report, Result
from croupier.conformance.run import check
from croupier.conformance.suite import find_suite
from croupier.core.room import HouseRoom, Room
from croupier.rooms import holdem
from croupier.rooms.oldmaid import ROOM as OLDMAID
from tests.conformance.holdem.faulty_programs import FaultyServer, open_faulty_server
from tests.conformance.house_fixture import opened
from tests.conformance.mutants.mutant_bot import BotProgram, HoldemBotMutation
from tests.conformance.mutants.mutant_house import MutantHouse, StateOf
from tests.conformance.mutants.mutant_player import PlayerProgram, PlayerSetup
from tests.conformance.mutants.mutant_ring_player import RingPlayerProgram
from tests.conformance.mutants.mutant_table import open_mutant_table
from tests.conformance.mutants.mutation import Mutation, Role
from tests.conformance.mutants.simulated_time import run_in_simulated_time

MAX_SIMULATED_SECONDS = 1e6
"""A run that takes longer has lost track of a connection: it would never end."""


class Finding(NamedTuple):
    """A case that fails: its id, the clause that it names, and what was expected and received."""

    case: str
    clause: str
    text: str


class Examination(NamedTuple):
    """What a user is shown, and the error if the tester itself has failed."""

    findings: Sequence[Finding]
    tester_error: str = ""


def examine_server(room: HouseRoom, state_of: StateOf, mutation: Mutation, *, first_only: bool = False) -> Examination:
    """What `croupier check` finds in a house with a mutation."""

    async def run(on_result: Callable[[Result | str], None]) -> Report:
        house = MutantHouse(room, mutation, state_of, {})
        async with opened(house, **({"max_clients": 1} if mutation.is_serial else {})) as port:
            return await _check(room, "server", on_result, first_only=first_only, port=port)

    return _examine(run)


def examine_table(mutation: Mutation, *, first_only: bool = False) -> Examination:
    """What `croupier check` finds in an Old Maid table with a mutation."""

    async def run(on_result: Callable[[Result | str], None]) -> Report:
        async with open_mutant_table(mutation) as (_, port):
            return await _check(OLDMAID, "server", on_result, first_only=first_only, port=port)

    return _examine(run)


def examine_client(room: HouseRoom, setup: PlayerSetup, mutation: Mutation, *, first_only: bool = False) -> Examination:
    """What `croupier check` finds in a player with a mutation."""

    async def run(on_result: Callable[[Result | str], None]) -> Report:
        with patch.object(bench, "ProgramUnderTest", PlayerProgram(room, mutation, setup)):
            return await _check(room, "client", on_result, first_only=first_only, command="mutant")

    return _examine(run)


def examine_oldmaid_player(mutation: Mutation, *, first_only: bool = False) -> Examination:
    """What `croupier check` finds in an Old Maid player with a mutation."""

    async def run(on_result: Callable[[Result | str], None]) -> Report:
        with patch.object(player_bench, "ProgramUnderTest", RingPlayerProgram(mutation)):
            return await _check(OLDMAID, "client", on_result, first_only=first_only, command="mutant")

    return _examine(run)


async def _check(
    room: Room, role: Role, on_result: Callable[[Result | str], None], *, first_only: bool, **target: Any
) -> Report:
    plan = Plan(
        room=room,
        role=role,
        selection=room.name,
        timeout=find_suite(room, role).timeout,
        max_failures=1 if first_only else None,
        **target,
    )
    with (
        patch.object(conformance_run, "first_look", _find_nothing),
        patch.object(conformance_run, "first_look_at_client", _find_nothing),
    ):
        return await check(plan, on_result, 0.0)


async def _find_nothing(*_: object, **__: object) -> FirstLook:
    """A mutant is worth all cases, whatever the first look says."""
    return FirstLook(None)


def examine_holdem_server(faulty: FaultyServer, *, first_only: bool = False) -> Examination:
    """What `croupier check` finds in a faulty hold'em server, whose turns end in real time."""

    async def run(on_result: Callable[[Result | str], None]) -> Report:
        async with open_faulty_server(faulty) as server:
            return await _check(holdem.ROOM, "server", on_result, first_only=first_only, port=server.address[1])

    return _examine(run, run_main=asyncio.run)


def examine_holdem_bot(mutation: HoldemBotMutation, *, first_only: bool = False) -> Examination:
    """What `croupier check` finds in a hold'em bot with a mutation."""

    async def run(on_result: Callable[[Result | str], None]) -> Report:
        with patch.object(client_bench, "ProgramUnderTest", BotProgram(mutation)):
            return await _check(holdem.ROOM, "client", on_result, first_only=first_only, command="mutant")

    return _examine(run)


def _examine(
    run: Callable[[Callable[[Result | str], None]], Coroutine[Any, Any, Report]],
    *,
    run_main: Callable[[Coroutine[Any, Any, Any]], Any] = run_in_simulated_time,
) -> Examination:
    """The failures of a run in the order of its report; of a run that has failed, those that were shown before."""
    shown: list[Result] = []

    async def main() -> tuple[Sequence[Result], str]:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)  # a hang shows it
        try:
            async with asyncio.timeout(MAX_SIMULATED_SECONDS):
                report = await run(lambda result: shown.append(result) if isinstance(result, Result) else None)
                groups = failure_groups(report.results)
                return [*(group.example for group in groups), *(one for group in groups for one in group.results)], ""
        except Exception as error:
            return shown, repr(error)

    results, error = run_main(main())
    return Examination([_finding(result) for result in results if not result.is_good], error)


def _finding(result: Result) -> Finding:
    failure = result.failure
    if failure is None:
        return Finding(result.case, result.clause, result.note)
    return Finding(result.case, failure.clause, f"expected {failure.expected}; actual {failure.actual}")
