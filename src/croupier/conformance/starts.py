"""Starts of a server, and whether it deals other cards after each of them."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Final

from croupier.conformance.diagnosis.cause import Cause
from croupier.conformance.plan import Plan
from croupier.conformance.program import ProgramError, ProgramUnderTest
from croupier.conformance.results import Failure
from croupier.conformance.server_process import START_TIMEOUT_SECONDS, ServerProcess
from croupier.conformance.suite import Config, TargetGone

MIN_SAME_CARDS: Final = 20
"""Fewer cards may come again by luck: each comes with a probability of at most 1/2, in Kuhn poker."""

SECONDS_BETWEEN_STARTS: Final = 1.1
"""The time from one start to the next: the seed may be the time in whole seconds."""

SETS_ORDER: Final = re.compile("seed|deck", re.IGNORECASE)
"""What names an option of a server that may choose its cards (ruling G5)."""

SAME_SEED: Final = Cause("it deals the same cards whenever it is started: its random numbers have the same seed")


@asynccontextmanager
async def started_server(plan: Plan, command: str, **values: Path) -> AsyncIterator[ServerProcess]:
    """Start the server of a plan by a command, with `values` for its placeholders. Raises ProgramError."""

    def start(port: int, _: int) -> Awaitable[ProgramUnderTest]:
        return ProgramUnderTest.start(command, {"host": plan.host, "port": port, **values})

    async with ServerProcess(start, plan.timeout + START_TIMEOUT_SECONDS, plan.host) as server:
        await server.open()
        yield server


async def find_same_deal(plan: Plan, config: Config, clause: str) -> Failure | None:
    """Return the failure of a server that deals the same cards whenever it is started; None if it does not.

    A server whose command or environment mentions a seed or a deck may do so.
    """
    environment = (text for flag, text in pairwise(plan.arguments) if flag == "--env")
    if any(map(SETS_ORDER.search, (plan.command, *environment))):
        return None
    clock = asyncio.get_running_loop().time
    started_at = clock()
    first = await _first_cards(plan, config)
    if len(first) < MIN_SAME_CARDS:
        return None
    await asyncio.sleep(max(0.0, started_at + SECONDS_BETWEEN_STARTS - clock()))
    if await _first_cards(plan, config) != first:
        return None
    shown = " ".join(first[:MIN_SAME_CARDS])
    failure = Failure(clause, "other cards whenever it is started", f"after two starts {shown}, and so on")
    return failure.explained(SAME_SEED)


async def _first_cards(plan: Plan, config: Config) -> Sequence[str]:
    """Start the server, and return the cards that it deals first; none if it ends."""
    try:
        async with started_server(plan, plan.command) as server:
            bench = plan.suite.bench(replace(config, server=server))
            try:
                await bench.open(server.address)
                return await bench.first_cards()
            finally:
                await bench.close()
    except (ProgramError, TargetGone, ConnectionError):
        return ()
