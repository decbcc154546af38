"""A room that closes in the very moment in which somebody comes does not leave him waiting for ever."""

import asyncio
import socket
from contextlib import suppress
from typing import Any

import pytest

from croupier.core.session import Effect, Event, Joined, Received
from croupier.logs import silent_logger
from croupier.net.endpoint import Endpoint, EndpointLimits
from tests.net.raw_client import PATIENCE, Caller, Notes, Run, Words


@pytest.mark.parametrize("first", [True, False], ids=["comes-first", "comes-last"])
def test_who_comes_while_the_room_closes_hears_the_end(run: Run, first: bool) -> None:
    def close(event: Event[Any], now: float) -> list[Effect[Any]]:
        if isinstance(event, Received):
            board.halt(final=True)
        return []

    async def main() -> None:
        nonlocal board
        session = Notes(close)
        board = Endpoint(session, Words, silent_logger(), limits=EndpointLimits(close_timeout=0.1))
        address = await board.listen("127.0.0.1", 0)
        async with Caller(address) as caller, Caller(address) as other:
            await session.hears(Joined, 2)
            with socket.socket() as late:
                # Both in one turn of the loop: the kernel answers the call before anybody takes it.
                if first:
                    late.connect(address)
                caller.socket.send(b"close\n")
                if not first:
                    late.connect(address)
                late.setblocking(False)
                with suppress(ConnectionResetError):  # nobody has taken it
                    async with asyncio.timeout(PATIENCE):
                        assert await asyncio.get_running_loop().sock_recv(late, 1) == b""
            assert await other.rest() == b""
        async with asyncio.timeout(PATIENCE):
            await board.wait_drained()

    board: Endpoint
    run(main())
