"""Ports for servers that are started with a port of our choice, such as servers under test."""

import asyncio
import secrets
import socket
from contextlib import ExitStack, suppress
from typing import Final, Self

SERVER_PORTS: Final = range(20_000, 32_768)
"""The ports to choose from: no system assigns one of them to a connection or to a request for any port."""

PORT_TRIES: Final = 100


class ReservedPort:
    """A TCP port on which nothing listens, and which nobody else on this machine reserves until `close`.

    A socket that is bound to it would keep the server from binding it, so the UDP port with the same number is held.
    """

    def __init__(self, number: int, lock: socket.socket) -> None:
        self.number = number
        self._lock = lock

    @classmethod
    async def open(cls, host: str = "127.0.0.1") -> Self:
        """Reserve a random port. Raises OSError if there is none."""
        for _ in range(PORT_TRIES - 1):
            with suppress(OSError):
                return await cls._reserve(host, secrets.choice(SERVER_PORTS))
        return await cls._reserve(host, secrets.choice(SERVER_PORTS))

    @classmethod
    async def _reserve(cls, host: str, number: int) -> Self:
        with ExitStack() as stack:
            lock = stack.enter_context(socket.socket(type=socket.SOCK_DGRAM))
            lock.bind(("127.0.0.1", number))
            server = await asyncio.get_running_loop().create_server(
                asyncio.Protocol, host, number, start_serving=False, reuse_address=False
            )
            server.close()
            await server.wait_closed()
            stack.pop_all()
        return cls(number, lock)

    def close(self) -> None:
        """Give it back."""
        self._lock.close()
