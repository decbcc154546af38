"""The dialogue of a case is what was on the wire, in both directions and in both roles."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from croupier.conformance.case import select
from croupier.conformance.holdem.context import HoldemContext
from croupier.conformance.holdem.endpoint import ServerUnderTest
from croupier.conformance.report.summary import dialogue
from croupier.conformance.results import Outcome, Result
from croupier.conformance.suite import Config
from croupier.core.referee import CLIENT, HOUSE
from croupier.rooms.holdem import ROOM
from tests.conformance.holdem.faulty_programs import FaultyServer, open_faulty_server
from tests.conformance.suites import server_cases

OUR_SERVER = FaultyServer(frozenset())


@asynccontextmanager
async def recording_relay(port: int) -> AsyncIterator[tuple[int, list[tuple[int, bytearray]]]]:
    """A relay in front of a server. Yields its port and what each end of each connection has sent."""
    streams: list[tuple[int, bytearray]] = []

    async def copy(side: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        data = bytearray()
        streams.append((side, data))
        while piece := await reader.read(65536):
            data += piece
            writer.write(piece)
        writer.close()

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server_reader, server_writer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(copy(CLIENT, reader, server_writer), copy(HOUSE, server_reader, writer))

    async with await asyncio.start_server(relay, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1], streams


def test_the_dialogue_is_every_byte_that_was_on_the_wire() -> None:
    async def main() -> None:
        async with open_faulty_server(OUR_SERVER) as server, recording_relay(server.address[1]) as (port, streams):
            context = HoldemContext(ServerUnderTest(("127.0.0.1", port), Config()))
            for case in select(server_cases(ROOM), "holdem/1.8"):
                if case.play is not None:
                    await case.play(context)
            await context.close()
            for side in (CLIENT, HOUSE):
                shown = [line.data for line in context.lines if line.side == side]
                sent = b"".join(bytes(data) for each, data in streams if each == side)
                assert all(data in sent for data in shown)
                assert sum(map(len, shown)) == len(sent)

    asyncio.run(main())


def test_a_dialogue_is_shown_as_lines_of_http() -> None:
    async def main() -> HoldemContext:
        async with open_faulty_server(OUR_SERVER) as server:
            context = HoldemContext(ServerUnderTest(server.address, Config()))
            await context.register("ann")
            await context.close()
            return context

    lines = tuple(asyncio.run(main()).lines)
    request, response = dialogue(Result("holdem/2.2/x", "", "holdem-2.2", Outcome.PASS, dialogue=lines))
    assert request.text.startswith("POST /users/ HTTP/1.1\nHost: 127.0.0.1:")
    assert "\nAuthorization: Basic " in request.text
    assert response.text.startswith("HTTP/1.1 201 Created\n")
    assert "\ncontent-type: application/json\n" in response.text
    assert request.hex == response.hex == ""
