"""Connections that acknowledge at once: a peer that writes in two parts does not wait for it."""

import asyncio
import socket
from asyncio import StreamReader, StreamWriter
from collections.abc import Sequence
from contextlib import closing

import pytest

from croupier.net.prompt_connection import QUICK_ACK, Acknowledger, acknowledge_at_once
from croupier.net.streams import open_streams

pytestmark = pytest.mark.skipif(QUICK_ACK is None, reason="this system has no TCP_QUICKACK")


async def answer_in_two_parts(reader: StreamReader, writer: StreamWriter) -> None:
    writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 0)
    while await reader.read(1):
        writer.write(b"a")
        await asyncio.sleep(0)
        writer.write(b"b")
    writer.close()


async def ask_often() -> None:
    assert QUICK_ACK is not None
    async with await asyncio.start_server(answer_in_two_parts, "127.0.0.1", 0) as server:
        reader, writer = await open_streams(*server.sockets[0].getsockname())
        with closing(writer):
            sock = writer.get_extra_info("socket")
            for _ in range(20):
                writer.write(b"?")
                assert await reader.readexactly(1) == b"a"
                assert sock.getsockopt(socket.IPPROTO_TCP, QUICK_ACK) == 1
                assert await reader.readexactly(1) == b"b"


def test_what_has_arrived_is_acknowledged_at_once() -> None:
    asyncio.run(ask_often())


def test_a_transport_without_a_socket_is_left_as_it_is() -> None:
    acknowledge_at_once(asyncio.Transport())


class Spy(asyncio.Transport):
    """A transport that counts how often what has arrived is acknowledged at once."""

    count = 0

    def get_extra_info(self, name: str, default: object = None) -> object:
        self.count += 1
        return None


@pytest.mark.parametrize(
    ("times", "count"),
    [
        ([1.0, 1.0001, 1.001, 1.02, 1.2, 3.0], 0),  # fast answers, or slow ones
        ([1.0, 1.041, 1.042, 1.2, 1.3], 4),  # the second part has waited for an acknowledgement
    ],
    ids=["of no delay", "of a delay"],
)
def test_a_peer_that_has_waited_for_an_acknowledgement_gets_it_at_once(times: Sequence[float], count: int) -> None:
    transport, acknowledger = Spy(), Acknowledger()
    for now in times:
        acknowledger.on_data(transport, now)
    assert transport.count == count


def test_the_tester_acknowledges_at_once_from_the_beginning() -> None:
    transport, acknowledger = Spy(), Acknowledger(prompt=True)
    acknowledger.on_data(transport, 1.0)
    assert transport.count == 1
