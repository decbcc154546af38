"""Listening on this machine: for the programs under test, and by them."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from itertools import takewhile
from pathlib import Path
from typing import Final, NamedTuple

from croupier.net.endpoint import Endpoint

HOST: Final = "127.0.0.1"
"""The address at which the tester listens for programs that it has started."""

LISTEN_STATE: Final = "0A"
"""The state of a listening socket in /proc/net/tcp."""
NO_INODE: Final = "0"
MAX_READINGS: Final = 5
"""How often the list of sockets is read until a connection is in it."""

PROC_NET_FILES: Final = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))


@asynccontextmanager
async def open_port(endpoint: Endpoint) -> AsyncIterator[int]:
    """Let an endpoint listen on a free port inside the block, and yield the port; the endpoint is closed after it."""
    listening = asyncio.ensure_future(endpoint.listen(HOST, 0))
    try:
        _, port = await asyncio.shield(listening)  # cancelled half-way, asyncio would not close the socket
        yield port
    finally:
        if not listening.done():
            await asyncio.wait({listening})
        await endpoint.close()


async def is_listening(host: str, port: int) -> bool:
    """Whether a server accepts connections at a port.

    On Linux this does not connect: a connection would be the first client that the server serves.
    """
    try:
        return any(local == port for local in _listening_ports())
    except OSError:  # not Linux
        pass
    return await connect_error(host, port) is None


async def connect_error(host: str, port: int) -> OSError | None:
    """Connect to a server and hang up; return the error if it takes no connection."""
    try:
        _, writer = await asyncio.open_connection(host, port)
    except OSError as error:
        return error
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return None


def is_accepted(port: int, client_port: int) -> bool:
    """Whether the program at a port of this machine has accepted the connection from another port, if that is known.

    The kernel makes connections by itself, and gives them an inode when the program accepts them. It makes up the list
    while it is read, so a row may be missing or stand there twice when other connections begin or end.
    """
    for _ in range(MAX_READINGS):
        try:
            inodes = {each.inode for each in _sockets() if (each.local, each.remote) == (port, client_port)}
        except OSError:
            return True
        if inodes:
            return inodes != {NO_INODE}
    return True


class TcpSocket(NamedTuple):
    """A row of /proc/net/tcp: local port, remote port, state and inode."""

    local: int
    remote: int
    state: str
    inode: str


def _listening_ports() -> Iterator[int]:
    """Yield the ports on which something listens. Raises OSError.

    The kernel lists listening sockets first, and makes up the list while it is read: the rest may be long.
    """
    for table in PROC_NET_FILES:
        yield from (each.local for each in takewhile(lambda each: each.state == LISTEN_STATE, _rows(table)))


def _sockets() -> Iterator[TcpSocket]:
    """Yield every TCP socket. Raises OSError."""
    for table in PROC_NET_FILES:
        yield from _rows(table)


def _rows(table: Path) -> Iterator[TcpSocket]:
    with table.open(encoding="ascii") as file:
        next(file)
        for line in file:
            _, local, remote, state, _, _, _, _, _, inode, *_ = line.split()
            yield TcpSocket(int(local.rpartition(":")[2], 16), int(remote.rpartition(":")[2], 16), state, inode)
