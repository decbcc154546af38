"""Yardstick: a bare uvloop echo server, the upper limit for servers on the same machine.

python echo.py [PROCESSES]        several processes share the port
"""

import asyncio
import signal
import socket
import subprocess
import sys
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


def listen(port: int) -> socket.socket:
    """Return a socket on a port that others may share."""
    bound = socket.socket()
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    bound.bind(("127.0.0.1", port))
    bound.listen(4096)
    return bound


async def serve(bound: socket.socket) -> None:
    """Echo until SIGTERM or SIGINT."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    for signum in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signum, ended.set)
    server = await loop.create_server(Echo, sock=bound)
    await ended.wait()
    server.close()


def main() -> None:
    """Start the other processes, print the address and echo."""
    words = sys.argv[1:]
    if words[:1] == ["--port"]:  # one of the others
        uvloop.run(serve(listen(int(words[1]))))
        return
    bound = listen(0)
    host, port = bound.getsockname()
    count = int(words[0]) if words else 1
    others = [subprocess.Popen([sys.executable, __file__, "--port", str(port)]) for _ in range(count - 1)]
    print(f"echo {host}:{port}", flush=True)
    uvloop.run(serve(bound))
    for other in others:
        other.terminate()
        other.wait()


if __name__ == "__main__":
    main()
