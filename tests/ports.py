"""Ports on which nothing listens."""

import os
import random
import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from functools import cache
from itertools import cycle, islice

PORTS = range(10_000, 20_000)
"""No system assigns one of them to a connection, and the tester none to a program under test."""


@cache
def own_ports() -> Iterator[int]:
    """The ports that fall to this worker of pytest-xdist, again and again from a random one on."""
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    size = len(PORTS) // int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    return islice(cycle(PORTS[number * size : (number + 1) * size]), random.randrange(size), None)


def closed_port(count: int = 1) -> int:
    """The first of `count` successive ports without listeners, which no other test uses."""
    while True:
        ports = [*islice(own_ports(), count)]
        with ExitStack() as sockets, suppress(OSError):
            for port in ports:
                sockets.enter_context(socket.socket()).bind(("127.0.0.1", port))
            if ports[-1] - ports[0] == count - 1:
                return ports[0]
