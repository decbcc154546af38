"""Yardstick: a bare uvloop echo server, the upper limit for servers on the same machine."""

import asyncio
import signal
from typing import cast

import uvloop


class Echo(asyncio.Protocol):
    """Writes back what it reads, with no framing."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport to write to."""
        self.transport = cast(asyncio.Transport, transport)  # uvloop's class is not a subclass

    def data_received(self, data: bytes) -> None:
        """Write the data back."""
        self.transport.write(data)


async def serve() -> None:
    """Echo on a free port until SIGTERM or SIGINT."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    for signum in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signum, ended.set)
    server = await loop.create_server(Echo, "127.0.0.1", 0, backlog=4096)
    host, port = server.sockets[0].getsockname()
    print(f"echo {host}:{port}", flush=True)
    await ended.wait()
    server.close()


if __name__ == "__main__":
    uvloop.run(serve())
