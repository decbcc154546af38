"""Accepted connections have bounded receive buffers, and are closed by the kernel when their client has vanished."""

import asyncio
import socket
import sys

import pytest

from croupier.http.limits import ConnectionLimits
from croupier.http.server import HttpServer
from croupier.net.accepted_sockets import OPTIONS, RECEIVE_BUFFER_BYTES
from croupier.net.client_addresses import parse_trusted_proxies
from croupier.net.endpoint import EndpointLimits
from croupier.net.listening_socket import bind_socket
from croupier.observers.counters import RoomCounters
from tests.net.raw_client import RawClient, RecordingSession, Run, opened


def check_options(accepted: socket.socket) -> None:
    """A Linux kernel doubles the size of a buffer."""
    for level, name, value in OPTIONS:
        found = accepted.getsockopt(level, getattr(socket, name))
        if name == "SO_RCVBUF":
            assert found <= 2 * RECEIVE_BUFFER_BYTES
        else:
            assert found == value, name


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems lack some of the options")


@pytest.mark.parametrize("proxies", ["", "192.0.2.0/24"])
def test_connections_of_an_endpoint_have_the_options(run: Run, proxies: str) -> None:
    async def main() -> None:
        limits = EndpointLimits(trusted_proxies=parse_trusted_proxies(proxies))
        async with opened(RecordingSession(), limits=limits) as (endpoint, address), RawClient(address) as client:
            await client.exchange(b"here\n", b"here\n")
            (connection,) = endpoint.connections.values()
            check_options(connection._transport.get_extra_info("socket"))

    run(main())


def test_connections_over_http_have_the_options(run: Run) -> None:
    async def main() -> None:
        server = HttpServer(None, ConnectionLimits(), RoomCounters())  # type: ignore[arg-type]  # it is not asked
        address = await server.listen("127.0.0.1", 0)
        async with RawClient(address):
            while not server.connections:
                await asyncio.sleep(0)
            check_options(next(iter(server.connections)).transport.get_extra_info("socket"))
        server.close()
        await server.drain(0.0)

    run(main())


def test_sockets_of_the_web_app_have_the_options(run: Run) -> None:
    async def main() -> None:
        with await bind_socket("127.0.0.1", 0) as bound:
            check_options(bound)
            async with RawClient(bound.getsockname()):
                accepted, _ = await asyncio.get_running_loop().sock_accept(bound)
                with accepted:
                    check_options(accepted)

    run(main())
