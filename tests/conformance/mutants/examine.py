"""The tester as a function: a mutant under test, and the results in the order in which a user is shown them.

No other module of this folder knows the tester.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, NamedTuple
from unittest.mock import patch

from croupier.conformance.clients import client
from croupier.conformance.results import Result
from croupier.conformance.run import Plan, check, default_timeout
from croupier.core.room import HouseRoom
from tests.conformance.house_fixture import opened
from tests.conformance.mutants.mutant_house import MutantHouse, StateOf
from tests.conformance.mutants.mutant_player import PlayerProgram, PlayerSetup
from tests.conformance.mutants.mutation import Mutation
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


def examine_server(room: HouseRoom, mutation: Mutation, state_of: StateOf, *, first_only: bool = False) -> Examination:
    """What `croupier check` finds in a house with a mutation."""

    async def run(on_result: Callable[[Result | str], None]) -> Sequence[Result]:
        house = MutantHouse(room, mutation, state_of, {})
        async with opened(house, **({"max_clients": 1} if mutation.is_serial else {})) as port:
            plan = Plan(
                room=room,
                role="server",
                selection=room.name,
                port=port,
                timeout=default_timeout(room, "server"),
                max_failures=1 if first_only else None,
            )
            return (await check(plan, on_result, 0.0)).results

    return _examine(run)


def examine_client(room: HouseRoom, mutation: Mutation, setup: PlayerSetup, *, first_only: bool = False) -> Examination:
    """What `croupier check` finds in a player with a mutation."""

    async def run(on_result: Callable[[Result | str], None]) -> Sequence[Result]:
        plan = Plan(
            room=room,
            role="client",
            selection=room.name,
            command="mutant",
            timeout=default_timeout(room, "client"),
            max_failures=1 if first_only else None,
        )
        with patch.object(client, "ProgramUnderTest", PlayerProgram(room, mutation, setup)):
            return (await check(plan, on_result, 0.0)).results

    return _examine(run)


def _examine(run: Callable[[Callable[[Result | str], None]], Coroutine[Any, Any, Sequence[Result]]]) -> Examination:
    """The results of a run in their order; of a run that has failed, those that were shown before."""
    shown: list[Result] = []

    async def main() -> tuple[Sequence[Result], str]:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)  # a hang shows it
        try:
            async with asyncio.timeout(MAX_SIMULATED_SECONDS):
                return await run(lambda result: shown.append(result) if isinstance(result, Result) else None), ""
        except Exception as error:
            return shown, repr(error)

    results, error = run_in_simulated_time(main())
    return Examination([_finding(result) for result in results if not result.is_good], error)


def _finding(result: Result) -> Finding:
    failure = result.failure
    assert failure is not None, "what fails has a failure"
    return Finding(result.case, failure.clause, f"expected {failure.expected}; came {failure.actual}")
