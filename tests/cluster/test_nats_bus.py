"""The bus over a real NATS server."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from bench.nats_server import NatsServer

from croupier.cluster import nats_bus
from croupier.cluster.bus import Bus, BusUnavailable
from croupier.cluster.nats_bus import NatsBus, connect_nats
from croupier.core.logger import SilentLogger
from tests.cluster.bus_contract import CHECKS, Connect
from tests.net.raw_client import Run

SECONDS = 60.0


@pytest.fixture
def server(tmp_path: Path) -> Iterator[NatsServer]:
    with NatsServer(tmp_path) as running:
        yield running


@asynccontextmanager
async def connections(server: NatsServer) -> AsyncIterator[Connect]:
    opened: list[NatsBus] = []

    async def connect() -> Bus:
        opened.append(await connect_nats(server.url, SilentLogger()))
        return opened[-1]

    try:
        yield connect
    finally:
        for bus in opened:
            await bus.close()


def test_nats_bus_keeps_the_contract(run: Run, server: NatsServer) -> None:
    async def main() -> None:
        async with connections(server) as connect:
            for check in CHECKS:
                await check(connect)

    run(main())


def test_after_a_restart_everything_works_again_and_keys_are_kept(run: Run, server: NatsServer) -> None:
    async def main() -> None:
        async with connections(server) as connect:
            bus, other = await connect(), await connect()

            async def handler(body: bytes) -> bytes:
                return body

            await bus.serve("tests.echo", handler)
            revision = await bus.compare_and_set("node.ada", b"1", 0)
            await asyncio.to_thread(server.stop)
            begin = asyncio.get_running_loop().time()
            with pytest.raises(BusUnavailable):
                await other.request("tests.echo", b"", 1.0)  # its time limit counts if the loss is not noticed yet
            with pytest.raises(BusUnavailable):
                await other.compare_and_set("node.ada", b"2", revision)
            assert asyncio.get_running_loop().time() - begin < SECONDS, "neither waits for the server"
            await asyncio.to_thread(server.start)
            await _retry(lambda: other.compare_and_set("node.ada", b"2", revision))
            assert await _retry(lambda: other.request("tests.echo", b"hello", SECONDS)) == b"hello"
            assert (await anext(other.watch("node.>"))).value == b"2"

    run(main())


@pytest.mark.parametrize("error", [RuntimeError("the handler is closed"), AttributeError("no transport"), None])
def test_a_connection_that_is_lost_during_a_write_makes_the_bus_unavailable(
    run: Run, server: NatsServer, monkeypatch: pytest.MonkeyPatch, error: Exception | None
) -> None:
    async def main() -> None:
        async def fail(*_: object) -> None:
            if error is not None:
                raise error
            await asyncio.Event().wait()

        async with connections(server) as connect:
            bus = await connect()
            monkeypatch.setattr("nats.aio.client.Client.publish", fail)
            with pytest.raises(BusUnavailable, match=str(error or "TimeoutError")):
                await bus.publish("tests.echo", b"")

    run(main())


def test_a_bus_that_cannot_be_reached_is_named_without_its_password(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nats_bus, "CONNECT_SECONDS", 0.2)

    async def main() -> None:
        with pytest.raises(BusUnavailable, match=r"^cannot reach the bus at nats://127\.0\.0\.1:1: "):
            await connect_nats("nats://user:secret@127.0.0.1:1", SilentLogger())

    run(main())


async def _retry[T](step: Callable[[], Awaitable[T]]) -> T:
    """Repeat a step until the connection is back."""
    async with asyncio.timeout(SECONDS):
        while True:
            try:
                return await step()
            except BusUnavailable:
                await asyncio.sleep(0.02)
