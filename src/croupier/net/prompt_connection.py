"""Connections that acknowledge at once what arrives, so that a peer that writes in small parts does not wait for it.

A peer that writes a message in two parts, with Nagle's algorithm, sends the second one when the first is acknowledged,
which Linux delays by 40 ms.
"""

import asyncio
import socket
from typing import Final, override

from croupier.core.session import Peer
from croupier.net.connection import Connection, ConnectionOwner

QUICK_ACK: Final = getattr(socket, "TCP_QUICKACK", None)
"""The option of Linux; other systems have none. The kernel leaves this mode again by itself, so it is set each time."""

MIN_DELAY_SECONDS: Final = 0.038
MAX_DELAY_SECONDS: Final = 0.06
"""How long after other data something arrives for which the peer has probably waited until that was acknowledged."""


class Acknowledger:
    """Acknowledges at once what arrives, if it is `prompt`. It becomes so when the peer seems to wait for it.

    To acknowledge at once costs a system call each time, a seventh of the processor time of a quick bot.
    """

    __slots__ = ("_arrived_at", "_is_prompt")

    def __init__(self, *, prompt: bool = False) -> None:
        self._is_prompt = prompt
        self._arrived_at = 0.0

    def on_data(self, transport: asyncio.BaseTransport, now: float) -> None:
        """Something has arrived."""
        if not self._is_prompt:
            delay, self._arrived_at = now - self._arrived_at, now
            self._is_prompt = MIN_DELAY_SECONDS <= delay < MAX_DELAY_SECONDS
        if self._is_prompt:
            acknowledge_at_once(transport)


class PromptConnection(Connection):
    """A connection with an `Acknowledger`."""

    def __init__(self, endpoint: ConnectionOwner, peer: Peer, *, prompt: bool) -> None:
        super().__init__(endpoint, peer)
        self._acknowledger = Acknowledger(prompt=prompt)

    @override
    def data_received(self, data: bytes) -> None:
        self._acknowledger.on_data(self._transport, self._endpoint.clock())
        super().data_received(data)


def acknowledge_at_once(transport: asyncio.BaseTransport) -> None:
    """Acknowledge what has arrived on a transport, and what arrives next, without a delay."""
    sock = transport.get_extra_info("socket")
    if QUICK_ACK is not None and sock is not None and sock.fileno() >= 0:
        sock.setsockopt(socket.IPPROTO_TCP, QUICK_ACK, 1)
