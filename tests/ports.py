"""Ports on which nothing listens."""

import random
import socket
from contextlib import ExitStack, suppress

from croupier.conformance.program import SERVER_PORTS


def closed_port(count: int = 1) -> int:
    """The first of `count` successive ports without listeners, none of which the system assigns to another program."""
    while True:
        first = random.choice(SERVER_PORTS[:-count])
        with ExitStack() as sockets, suppress(OSError):
            for port in range(first, first + count):
                sockets.enter_context(socket.socket()).bind(("127.0.0.1", port))
            return first
