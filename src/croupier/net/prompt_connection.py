"""Connections that acknowledge at once what arrives, so that a peer that writes in small parts does not wait for it.

A peer that writes a message in two parts, with Nagle's algorithm, sends the second one when the first is acknowledged,
which Linux delays by 40 ms.
"""

import asyncio
import socket
from typing import Final, override

from croupier.net.connection import Connection

QUICK_ACK: Final = getattr(socket, "TCP_QUICKACK", None)
"""The option of Linux; other systems have none. The kernel leaves this mode again by itself, so it is set each time."""


class PromptConnection(Connection):
    """A connection that acknowledges at once what arrives."""

    @override
    def data_received(self, data: bytes) -> None:
        acknowledge_at_once(self._transport)
        super().data_received(data)


def acknowledge_at_once(transport: asyncio.BaseTransport) -> None:
    """Acknowledge what has arrived on a transport, and what arrives next, without a delay."""
    sock = transport.get_extra_info("socket")
    if QUICK_ACK is not None and sock is not None and sock.fileno() >= 0:
        sock.setsockopt(socket.IPPROTO_TCP, QUICK_ACK, 1)
