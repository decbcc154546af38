"""One end of a Unix socket pair that carries frames between two processes of this machine."""

import asyncio
import socket
from collections.abc import Callable
from typing import Final, cast

LENGTH_BYTES: Final = 4
"""Every frame begins with its length, big-endian."""


class FrameLink(asyncio.Protocol):
    """Sends frames, and calls `on_frame` with each one that arrives and `on_closed` at the end."""

    def __init__(self, on_frame: Callable[[bytes], None], on_closed: Callable[[], None]) -> None:
        self._on_frame = on_frame
        self._on_closed = on_closed
        self._buffer = bytearray()
        self._transport: asyncio.Transport

    async def open_pair(self) -> int:
        """Open a socket pair; return the descriptor of the other end, which the caller closes. Raises OSError."""
        own, other = socket.socketpair(socket.AF_UNIX)
        try:
            await self._open(own)
        except BaseException:
            other.close()
            raise
        return other.detach()

    async def open(self, descriptor: int) -> None:
        """Open the end of a socket pair with this descriptor. Raises OSError."""
        await self._open(socket.socket(fileno=descriptor))

    async def _open(self, end: socket.socket) -> None:
        end.setblocking(False)
        end.set_inheritable(False)
        await asyncio.get_running_loop().create_unix_connection(lambda: self, sock=end)

    @property
    def unsent_bytes(self) -> int:
        """The number of bytes that the other end has not read yet, without those in the buffers of the system."""
        return self._transport.get_write_buffer_size()

    def send(self, frame: bytes) -> None:
        """Send a frame; it is lost if the connection has ended."""
        if not self._transport.is_closing():
            self._transport.write(len(frame).to_bytes(LENGTH_BYTES) + frame)

    def abort(self) -> None:
        """Close the connection at once."""
        self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Note the transport."""
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Call `on_frame` with every frame that is complete."""
        buffer, start = self._buffer, 0
        buffer += data
        while len(buffer) >= start + LENGTH_BYTES:
            end = start + LENGTH_BYTES + int.from_bytes(buffer[start : start + LENGTH_BYTES])
            if len(buffer) < end:
                break
            self._on_frame(bytes(buffer[start + LENGTH_BYTES : end]))
            start = end
        del buffer[:start]

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 -- as in asyncio.Protocol
        """Call `on_closed`."""
        self._on_closed()
