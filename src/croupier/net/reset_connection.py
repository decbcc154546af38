"""Resetting a connection: the other side reads an error in place of the end."""

import asyncio
import socket
import struct
from contextlib import suppress
from typing import Final

NO_LINGER: Final = struct.pack("ii", 1, 0)
"""The value of SO_LINGER with which a socket is reset when it is closed."""


def reset_connection(transport: asyncio.WriteTransport) -> None:
    """Reset a connection. What the other side has not read yet may be lost."""
    open_socket = transport.get_extra_info("socket")
    if open_socket is not None:
        with suppress(OSError):  # it is closed
            open_socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
    transport.abort()
