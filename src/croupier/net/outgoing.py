"""Outgoing connections: from a local address of one's choice, and one that only shows that there is a server."""

import asyncio
import socket
from collections.abc import Iterable
from contextlib import suppress

from croupier.core.errors import AddressError
from croupier.core.session import Address
from croupier.net.addresses import connect_error_reason, format_address


class LocalAddressError(Exception):
    """The operating system does not allow connections from this local address. The session received no event."""


async def connect_from(
    local: Address, address: Address, listening: Iterable[socket.socket], loop: asyncio.AbstractEventLoop
) -> socket.socket:
    """A socket connected to an address from a local one, which may be that of sockets that are `listening`.

    Raises LocalAddressError, and OSError if there is no connection.
    """
    family, _, _, _, local_sockaddr = (await loop.getaddrinfo(*local, type=socket.SOCK_STREAM))[0]
    _, _, _, _, sockaddr = (await loop.getaddrinfo(*address, family=family, type=socket.SOCK_STREAM))[0]
    connected = socket.socket(family, socket.SOCK_STREAM)
    connected.setblocking(False)
    try:
        if local[1]:
            # The listening socket had the port to itself when it was bound; only now is it shared.
            for sock in (connected, *listening):
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            connected.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        connected.bind(local_sockaddr)
        await loop.sock_connect(connected, sockaddr)
    except (OSError, AttributeError) as error:  # Windows has no SO_REUSEPORT
        connected.close()
        if isinstance(error, ConnectionError):
            raise
        raise LocalAddressError(str(error)) from error
    except asyncio.CancelledError:
        connected.close()
        raise
    return connected


async def outgoing_addresses(address: Address) -> list[str]:
    """The addresses of this machine from which an address is reached, one for each family. Raises OSError."""
    by_family: dict[int, str] = {}
    for family, _, _, _, sockaddr in await asyncio.get_running_loop().getaddrinfo(*address, type=socket.SOCK_STREAM):
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect(sockaddr)  # this sends no packet
            by_family.setdefault(family, probe.getsockname()[0])
    return [*by_family.values()]


def check_server(address: Address, seconds: float) -> None:
    """Connect to a server once. Raises AddressError if none accepts the connection in time."""
    try:
        socket.create_connection(address, seconds).close()
    except (OSError, UnicodeError) as error:  # a name that no resolver takes is no OSError
        raise AddressError(f"no server answers at {format_address(address)}: {connect_error_reason(error)}") from error
