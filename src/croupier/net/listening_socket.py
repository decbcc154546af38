"""Listening sockets for servers that do not open their own."""

import asyncio
import socket
import sys

from croupier.core.session import Address
from croupier.net.addresses import name_address

type BoundSocket = socket.socket
"""A listening socket, for packages that use no sockets themselves."""


async def bind_socket(host: str, port: int) -> BoundSocket:
    """Return a socket that listens on the first address of `host`; port 0 picks a free port. Raises OSError."""
    with name_address(host, port):
        found = await asyncio.get_running_loop().getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        family, kind, protocol, _, address = found[0]
        bound = socket.socket(family, kind, protocol)
        try:
            if sys.platform != "win32":  # there, it would let two servers have one port
                bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(address)
            bound.listen(4096)
        except BaseException:
            bound.close()
            raise
        bound.setblocking(False)
        return bound


async def free_port(host: str, port: int) -> int:
    """Return `port` if nothing listens there, else 0, which stands for any free port."""
    try:
        (await bind_socket(host, port)).close()
    except OSError:
        return 0
    return port


def bound_address(bound: BoundSocket) -> Address:
    """Return the host and the port of a bound socket."""
    address: Address = bound.getsockname()[:2]
    return address
