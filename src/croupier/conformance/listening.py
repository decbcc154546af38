"""Whether a server on this machine listens, and whether it accepts connections."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

LISTEN_STATE: Final = "0A"
"""The state of a listening socket in /proc/net/tcp."""
NO_INODE: Final = "0"

PROC_NET_FILES: Final = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))


async def is_listening(host: str, port: int) -> bool:
    """Whether a server accepts connections at a port.

    On Linux this does not connect: a connection would be the first client that the server serves.
    """
    try:
        return any(local == port and state == LISTEN_STATE for local, _, state, _ in _sockets())
    except OSError:  # not Linux
        pass
    try:
        _, writer = await asyncio.open_connection(host, port)
    except OSError:
        return False
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return True


def is_accepted(port: int, client_port: int) -> bool:
    """Whether the program at a port of this machine has accepted the connection from another port, if that is known.

    The kernel makes connections by itself, and gives them an inode when the program accepts them.
    """
    try:
        found = [inode for local, remote, _, inode in _sockets() if (local, remote) == (port, client_port)]
    except OSError:
        return True
    return found != [NO_INODE]


def _sockets() -> Iterator[tuple[int, int, str, str]]:
    """Yield the local port, the remote port, the state and the inode of every TCP socket. Raises OSError."""
    for table in PROC_NET_FILES:
        for line in table.read_text(encoding="ascii").splitlines()[1:]:
            _, local, remote, state, _, _, _, _, _, inode, *_ = line.split()
            yield int(local.rpartition(":")[2], 16), int(remote.rpartition(":")[2], 16), state, inode
