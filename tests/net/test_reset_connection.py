"""A connection that is reset ends with an error on the other side, and not as one that is closed."""

import asyncio

import pytest

from croupier.net.reset_connection import reset_connection


def test_the_other_side_reads_an_error() -> None:
    async def read_after_reset() -> None:
        accepted: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Queue()
        server = await asyncio.start_server(lambda *streams: accepted.put_nowait(streams), "127.0.0.1", 0)
        async with server:
            _, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            reader, other_writer = await accepted.get()
            reset_connection(writer.transport)
            with pytest.raises(ConnectionResetError):
                await reader.read()
            other_writer.close()

    asyncio.run(read_after_reset())
