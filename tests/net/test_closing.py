"""A client that connects just as the room closes is not left waiting."""

import asyncio
import socket
from contextlib import suppress
from typing import Any

import pytest

from croupier.core.logger import SilentLogger
from croupier.core.session import Effect, Event, Joined, Received
from croupier.net.endpoint import Endpoint, EndpointLimits
from tests.net.raw_client import TIMEOUT_SECONDS, RawClient, RecordingSession, Run, WordCodec


@pytest.mark.parametrize("connects_first", [True, False], ids=["connects-first", "closes-first"])
def test_client_that_connects_while_the_room_closes_is_disconnected(run: Run, connects_first: bool) -> None:
    def close(event: Event[Any], now: float) -> list[Effect[Any]]:
        if isinstance(event, Received):
            endpoint.halt(final=True)
        return []

    async def main() -> None:
        nonlocal endpoint
        session = RecordingSession(close)
        endpoint = Endpoint(session, WordCodec, SilentLogger(), limits=EndpointLimits(close_timeout=0.1))
        address = await endpoint.listen("127.0.0.1", 0)
        async with RawClient(address) as caller, RawClient(address) as other:
            await session.wait_for(Joined, 2)
            with socket.socket() as late:
                # Both in one turn of the loop: the kernel completes the connection before the server accepts it.
                if connects_first:
                    late.connect(address)
                caller.socket.send(b"close\n")
                if not connects_first:
                    late.connect(address)
                late.setblocking(False)
                with suppress(ConnectionResetError):  # it was never accepted
                    async with asyncio.timeout(TIMEOUT_SECONDS):
                        assert await asyncio.get_running_loop().sock_recv(late, 1) == b""
            assert await other.read_to_end() == b""
        async with asyncio.timeout(TIMEOUT_SECONDS):
            await endpoint.wait_drained()

    endpoint: Endpoint
    run(main())
