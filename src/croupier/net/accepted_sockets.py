"""Socket options of accepted connections, which bound what dead and flooding clients cost in the kernel."""

import socket
from contextlib import suppress
from typing import Final

RECEIVE_BUFFER_BYTES: Final = 65_536
"""Approximate size of the kernel's receive buffer, and so of one read; no message is larger."""

KEEPALIVE_IDLE_SECONDS: Final = 60
KEEPALIVE_INTERVAL_SECONDS: Final = 15
KEEPALIVE_PROBES: Final = 4
UNACKNOWLEDGED_MILLISECONDS: Final = 120_000
"""A client that has vanished without a word is disconnected after two minutes, also while it should receive data."""

OPTIONS: Final = (
    (socket.SOL_SOCKET, "SO_RCVBUF", RECEIVE_BUFFER_BYTES),
    (socket.SOL_SOCKET, "SO_KEEPALIVE", 1),
    (socket.IPPROTO_TCP, "TCP_KEEPIDLE", KEEPALIVE_IDLE_SECONDS),
    (socket.IPPROTO_TCP, "TCP_KEEPINTVL", KEEPALIVE_INTERVAL_SECONDS),
    (socket.IPPROTO_TCP, "TCP_KEEPCNT", KEEPALIVE_PROBES),
    (socket.IPPROTO_TCP, "TCP_USER_TIMEOUT", UNACKNOWLEDGED_MILLISECONDS),
)
"""Levels, names and values; not every system has all of them."""


def limit_accepted_sockets(listening: socket.socket) -> None:
    """Set the options of a listening socket, from which accepted ones inherit them."""
    for level, name, value in OPTIONS:
        if (option := getattr(socket, name, None)) is not None:
            with suppress(OSError):  # macOS sets some of them on connected sockets only
                listening.setsockopt(level, option, value)
