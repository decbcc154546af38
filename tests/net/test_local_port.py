"""A session that connects from the port it listens on can be connected to at the same address."""

import asyncio
import socket
from typing import Any

import pytest

from croupier.core.logger import SilentLogger
from croupier.core.session import Joined, Left, Received
from croupier.net.endpoint import Endpoint, EndpointLimits
from croupier.net.outgoing import LocalAddressError, outgoing_addresses
from tests.net.raw_client import TIMEOUT_SECONDS, RawClient, RecordingSession, Run, WordCodec, opened
from tests.ports import closed_port

TABLE = 0


def has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


HOSTS = ["127.0.0.1", *(["::1"] if has_ipv6() else [])]


@pytest.mark.parametrize("host", HOSTS)
def test_session_that_connects_from_its_port_can_be_connected_to_there(run: Run, host: str) -> None:
    async def main() -> None:
        table, session = RecordingSession(), RecordingSession()
        remote, endpoint = Endpoint(table, WordCodec, SilentLogger()), Endpoint(session, WordCodec, SilentLogger())
        own = await endpoint.listen(host, 0)
        await endpoint.connect(TABLE, await remote.listen(host, 0), local_address=own)
        (joined,) = await table.wait_for(Joined)
        assert joined.address == own
        assert [event.peer for event in session.events_of(Joined)] == [TABLE]
        await remote.connect(TABLE, joined.address)
        assert [event.peer for event in await session.wait_for(Joined, 2)] == [TABLE, 1]
        await close(remote, endpoint)

    run(main())


async def close(*endpoints: Endpoint) -> None:
    for endpoint in endpoints:
        endpoint.halt(final=True)
    async with asyncio.timeout(TIMEOUT_SECONDS):
        for endpoint in endpoints:
            await endpoint.wait_drained()


def test_listening_port_cannot_be_listened_on_again(run: Run) -> None:
    async def main() -> None:
        async with opened(RecordingSession()) as (_, remote), opened(RecordingSession()) as (endpoint, own):
            await endpoint.connect(TABLE, remote, local_address=own)
            second = Endpoint(RecordingSession(), WordCodec, SilentLogger())
            with pytest.raises(OSError, match="in use"):
                await second.listen(*own)

    run(main())


def test_port_of_another_socket_cannot_be_connected_from(run: Run) -> None:
    async def main() -> None:
        session = RecordingSession()
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            async with opened(RecordingSession()) as (_, remote), opened(session) as (endpoint, _):
                with pytest.raises(LocalAddressError, match="in use"):
                    await endpoint.connect(TABLE, remote, local_address=other.getsockname())
                assert session.events == []

    run(main())


def test_second_connection_between_the_same_ports_is_refused(run: Run) -> None:
    async def main() -> None:
        async with opened(RecordingSession()) as (_, remote), opened(RecordingSession()) as (endpoint, own):
            await endpoint.connect(TABLE, remote, local_address=own)
            with pytest.raises(LocalAddressError):
                await endpoint.connect(TABLE, remote, local_address=own)
            await endpoint.connect(TABLE - 1, remote, local_address=(own[0], 0))
            assert endpoint.connection_count == 2

    run(main())


def test_refused_connection_from_a_local_port_is_left(run: Run) -> None:
    async def main() -> None:
        session = RecordingSession()
        async with opened(session) as (endpoint, own):
            await endpoint.connect(TABLE, ("127.0.0.1", closed_port()), local_address=own)
            (left,) = session.events_of(Left)
            assert left.peer == TABLE
            assert "refused" in left.reason.lower() or "connect call failed" in left.reason.lower()

    run(main())


def test_timed_out_connection_from_a_local_port_closes_its_socket(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        session = RecordingSession()
        loop = asyncio.get_running_loop()
        stuck: list[Any] = []

        async def never_connect(sock: socket.socket, address: object) -> None:
            stuck.append(sock)
            await loop.create_future()

        endpoint = Endpoint(session, WordCodec, SilentLogger(), limits=EndpointLimits(connect_timeout=0.3))
        own = await endpoint.listen("127.0.0.1", 0)
        monkeypatch.setattr(endpoint, "_loop", Loop(loop, never_connect))
        await endpoint.connect(TABLE, ("127.0.0.1", 9), local_address=own)
        assert session.events == [Left(TABLE, "no answer within 0.3 seconds")]
        assert [sock.fileno() for sock in stuck] == [-1]
        await close(endpoint)

    run(main())


class Loop:
    """An event loop with another `sock_connect`."""

    def __init__(self, loop: asyncio.AbstractEventLoop, sock_connect: Any) -> None:
        self._loop = loop
        self.sock_connect = sock_connect

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loop, name)


def test_loopback_is_reached_from_loopback(run: Run) -> None:
    async def main() -> None:
        assert await outgoing_addresses(("127.0.0.1", 9)) == ["127.0.0.1"]
        assert "127.0.0.1" in await outgoing_addresses(("localhost", 9))

    run(main())


def test_port_that_connects_still_accepts_connections(run: Run) -> None:
    async def main() -> None:
        session = RecordingSession(lambda event, _: [])
        async with opened(session) as (endpoint, own), opened(RecordingSession()) as (_, remote):
            await endpoint.connect(TABLE, remote, local_address=own)
            async with RawClient(own) as caller:
                await caller.send(b"hello\n")
                assert await session.wait_for(Received) == [Received(1, "hello")]

    run(main())
