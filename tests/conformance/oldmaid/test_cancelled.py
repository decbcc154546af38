"""A case of Old Maid that is cancelled leaves no socket open, at whichever await it was; nor does our own client."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

import pytest

from croupier.clients.ring import join_table
from croupier.conformance.case import select
from croupier.conformance.oldmaid.player_bench import PlayerBench
from croupier.conformance.suite import Bench, Config
from croupier.rooms.oldmaid import ROOM
from tests.conformance.cancelling import count_left_open
from tests.conformance.mutants.mutant_table import open_mutant_table
from tests.conformance.mutants.mutation import Mutation
from tests.conformance.oldmaid.players import our_player, start_as_task
from tests.conformance.suites import client_cases, server_cases

HONEST = Mutation(room="oldmaid", role="server", operator="none", state="always", what="", clauses=frozenset())


async def with_bench(bench: Bench, run: Callable[[], Awaitable[object]]) -> None:
    """Run something, and then close the bench."""
    try:
        await run()
    finally:
        await bench.close()


@pytest.mark.parametrize("case_id", ["oldmaid/1.2/two", "oldmaid/7.2/offered"])
def test_a_cancelled_player_case_leaves_no_socket_open(case_id: str) -> None:
    (case,) = select(client_cases(ROOM), case_id)

    async def attempt() -> None:
        bench = PlayerBench(Config(), start_as_task(our_player))
        await with_bench(bench, lambda: bench.attempt(case, 0))

    assert asyncio.run(count_left_open(attempt)) == {}


def test_a_cancelled_table_case_leaves_no_socket_open() -> None:
    (case,) = select(server_cases(ROOM), "oldmaid/4.4/last-card")

    async def main() -> Mapping[int, int]:
        async with open_mutant_table(HONEST) as (_, port):

            async def attempt() -> None:
                bench = ROOM.load_extra("server_tests").bench(Config())
                await bench.open(("127.0.0.1", port))
                await with_bench(bench, lambda: bench.attempt(case, 0))

            return await count_left_open(attempt)

    assert asyncio.run(main()) == {}


def test_a_cancelled_client_leaves_no_socket_open() -> None:
    async def main() -> Mapping[int, int]:
        async with open_mutant_table(HONEST) as (_, port):

            async def play() -> None:
                async with join_table("127.0.0.1", port) as ring:
                    await ring.receive()

            return await count_left_open(play)

    assert asyncio.run(main()) == {}
