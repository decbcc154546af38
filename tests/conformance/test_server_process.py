"""Tests of servers that the tester starts, and starts again."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from shlex import join

import pytest

from croupier.conformance.diagnosis.cause import Cause
from croupier.conformance.program import ProgramError, ProgramUnderTest
from croupier.conformance.server_process import MAX_STARTS, MAX_STDERR_BYTES, ServerProcess
from tests.net.raw_client import TIMEOUT_SECONDS, Run

MORTAL = """
import os, socket, sys
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("listening", sys.argv[1], file=sys.stderr, flush=True)
connection, _ = server.accept()
connection.recv(1)
os._exit(7)
"""


def starter(script: str) -> Callable[[int, int], Awaitable[ProgramUnderTest]]:
    command = join([sys.executable, "-S", "-c", script, "{port}", "{seed}"])
    return lambda port, seed: ProgramUnderTest.start(command, {"port": port, "seed": seed})


async def end(server: ServerProcess) -> None:
    """Let a mortal server end."""
    _, writer = await asyncio.open_connection(*server.address)
    writer.write(b"x")
    assert await server.has_ended(TIMEOUT_SECONDS)
    writer.close()


def test_a_server_is_started_again_on_a_new_port_once_it_has_ended(run: Run) -> None:
    async def main() -> None:
        ports = []
        async with ServerProcess(starter(MORTAL), TIMEOUT_SECONDS) as server:
            for _ in range(3):
                assert await server.open()
                assert not await server.open(), "it runs"
                assert server.program.end_description == ""
                ports.append(server.address[1])
                await end(server)
                assert server.program.end_description == "exit status 7"
        assert len({*ports}) == 3, "an old port is in TIME_WAIT"
        assert server.stderr.decode().split() == [word for each in ports for word in ("listening", str(each))]

    run(main())


SLOW_END = MORTAL.replace(
    "os._exit(7)", "server.close(); connection.close(); import time; time.sleep(0.4); os._exit(7)"
)


def test_a_server_that_listens_no_longer_has_the_time_to_end(run: Run) -> None:
    """As one whose end a busy machine is slow to report."""

    async def main() -> None:
        async with ServerProcess(starter(SLOW_END), TIMEOUT_SECONDS) as server:
            await server.open()
            assert not await server.has_ended(0.0), "it listens"
            reader, writer = await asyncio.open_connection(*server.address)
            writer.write(b"x")
            assert await reader.read() == b""
            assert await server.has_ended(0.0)
            assert server.program.end_description == "exit status 7"
            writer.close()

    run(main())


def test_a_server_that_ends_slowly_with_each_client_has_the_time_again(run: Run) -> None:
    async def main() -> None:
        script = MORTAL.replace("os._exit(7)", "import time; time.sleep(0.2); os._exit(7)")
        async with ServerProcess(starter(script), TIMEOUT_SECONDS) as server:
            await server.open()
            await end(server)
            await server.restart()
            server.leaving_cause = Cause("it ends when a client leaves")
            _, writer = await asyncio.open_connection(*await server.address_for_client())
            writer.write(b"x")
            first_port = server.address[1]
            assert (await server.address_for_client())[1] != first_port
            writer.close()

    run(main())


def test_a_server_is_stopped_with_its_block(run: Run) -> None:
    async def main() -> None:
        async with ServerProcess(starter(MORTAL), TIMEOUT_SECONDS) as server:
            await server.open()
        assert server.program.status is not None

    run(main())


def test_a_server_that_ends_instead_of_listening_is_started_again(run: Run) -> None:
    async def main() -> None:
        script = "import sys; sys.exit(sys.argv[2])"
        async with ServerProcess(starter(script), TIMEOUT_SECONDS) as server:
            with pytest.raises(ProgramError, match="has ended"):
                await server.open(5)
        assert server.stderr == b"5\n" * MAX_STARTS

    run(main())


def test_the_output_over_all_restarts_is_bounded(run: Run) -> None:
    async def main() -> None:
        script = MORTAL.replace("os._exit", "sys.stderr.write('x' * 3000); sys.stderr.flush(); os._exit")
        async with ServerProcess(starter(script), TIMEOUT_SECONDS) as server:
            for _ in range(4):
                await server.open()
                await end(server)
        assert MAX_STDERR_BYTES < len(server.stderr) < 4000 + MAX_STDERR_BYTES

    run(main())
