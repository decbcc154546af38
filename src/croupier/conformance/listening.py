"""Whether a server on this machine listens, and whether it accepts connections."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

LISTEN_STATE: Final = "0A"
"""The state of a listening socket in /proc/net/tcp."""

PROC_NET_FILES: Final = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))


async def is_listening(host: str, port: int) -> bool:
    """Whether a server accepts connections at a port.

    On Linux this does not connect: a connection would be the first client that the server serves.
    """
    try:
        return any(True for _ in _accept_queues(port))
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


def unaccepted_connections(port: int) -> int:
    """The number of connections at a port of this machine that no program has accepted; 0 if that is not known."""
    try:
        return sum(_accept_queues(port))
    except OSError:
        return 0


def _accept_queues(port: int) -> Iterator[int]:
    """Yield the number of unaccepted connections of every socket that listens at a port. Raises OSError."""
    for table in PROC_NET_FILES:
        for line in table.read_text(encoding="ascii").splitlines():
            _, local, _, state, queues, *_ = line.split()
            if state == LISTEN_STATE and int(local.rpartition(":")[2], 16) == port:
                yield int(queues.rpartition(":")[2], 16)
