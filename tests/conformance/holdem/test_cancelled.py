"""A case of hold'em that is cancelled leaves no socket open, at whichever await it was."""

import asyncio
from collections.abc import Mapping
from unittest.mock import patch

import pytest

from croupier.conformance.case import select
from croupier.conformance.holdem import client_bench
from croupier.conformance.suite import Config
from croupier.rooms.holdem import ROOM
from tests.conformance.cancelling import count_left_open
from tests.conformance.holdem.faulty_programs import FaultyServer, clause_names, open_faulty_server
from tests.conformance.mutants.mutant_bot import BotProgram, HoldemBotMutation
from tests.conformance.suites import client_cases, server_cases
from tests.sampling import extended

HONEST = HoldemBotMutation(operator="none", state="always", what="", clauses=frozenset())


def test_a_cancelled_case_for_bots_leaves_no_socket_open() -> None:
    (case,) = select(client_cases(ROOM), "holdem/4.1/against-one-who-calls")

    async def attempt() -> None:
        await ROOM.load_extra("client_tests").bench(Config(command="bot")).attempt(case, 0)

    with patch.object(client_bench, "ProgramUnderTest", BotProgram(HONEST)):
        assert asyncio.run(count_left_open(attempt)) == {}


@pytest.mark.parametrize("case_id", extended(["holdem/3.5/joining-a-free-seat", "holdem/1.8/many-at-once"], 2))
def test_a_cancelled_case_for_servers_leaves_no_socket_open(case_id: str) -> None:
    (case,) = select(server_cases(ROOM), case_id)

    async def main() -> Mapping[int, int]:
        async with open_faulty_server(FaultyServer(clause_names("1.1"))) as server:

            async def attempt() -> None:
                bench = ROOM.load_extra("server_tests").bench(Config())
                await bench.open(server.address)
                try:
                    await bench.attempt(case, 0)
                finally:
                    await bench.close()

            return await count_left_open(attempt)

    assert asyncio.run(main()) == {}
