"""Streams that keep what has arrived before a reset."""

import asyncio
from collections.abc import Iterable
from random import randrange
from ssl import SSLContext
from typing import SupportsIndex

from croupier.net.prompt_connection import acknowledge_at_once


class ReceivedStream(asyncio.StreamReader):
    """As `asyncio.StreamReader`, but a reset ends the data like a close: it does not discard what was not read yet.

    `was_reset`: the connection was reset, so the last bytes that the peer has sent may be missing.
    """

    was_reset = False
    _connected: asyncio.BaseTransport

    def set_transport(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.StreamReader`."""
        self._connected = transport
        super().set_transport(transport)

    def feed_data(self, data: Iterable[SupportsIndex]) -> None:
        """See `asyncio.StreamReader`. What has arrived is acknowledged at once, for servers that write in parts."""
        acknowledge_at_once(self._connected)
        super().feed_data(data)

    def set_exception(self, exc: Exception) -> None:
        """See `asyncio.StreamReader`."""
        if isinstance(exc, ConnectionError):
            self.was_reset = True
            self.feed_eof()
        else:
            super().set_exception(exc)


type Streams = tuple[ReceivedStream, asyncio.StreamWriter]


async def open_streams(host: str, port: int, *, ssl: SSLContext | None = None, local_host: str = "") -> Streams:
    """As `asyncio.open_connection`, from `local_host` unless that is empty. Raises OSError."""
    loop = asyncio.get_running_loop()
    reader = ReceivedStream()
    transport, protocol = await loop.create_connection(
        lambda: asyncio.StreamReaderProtocol(reader),
        host,
        port,
        ssl=ssl,
        local_addr=(local_host, 0) if local_host else None,
    )
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)


def random_loopback_host() -> str:
    """Return another loopback address than the usual one, from which a peer may connect."""
    return ".".join(["127", *(str(randrange(2, 255)) for _ in range(3))])  # noqa: S311 -- any address
