"""Listening sockets: bound here, so that processes can share a port or inherit an open one."""

import asyncio
import socket
import sys
from collections.abc import Iterable
from itertools import chain
from typing import Any, Final

from croupier.core.session import Address
from croupier.net.accepted_sockets import limit_accepted_sockets
from croupier.net.addresses import name_address

LISTEN_BACKLOG: Final = 4096

type BoundSocket = socket.socket
"""A listening socket, for packages that use no sockets themselves."""


_inherited: Final[dict[tuple[str, int], list[BoundSocket]]] = {}


async def bind_sockets(host: str, port: int, *, is_shared: bool = False) -> list[BoundSocket]:
    """Return a socket that listens on each address of `host`; port 0 picks a free port. Raises OSError.

    `is_shared`: more sockets with the same address and this option can be bound, and the system distributes the
    connections to them. Inherited sockets (`inherit_sockets`) are returned instead of new ones.
    """
    if (host, port) in _inherited:
        return _inherited.pop((host, port))
    bound: list[BoundSocket] = []
    with name_address(host, port):
        try:
            for family, kind, protocol, address in await _resolve(host, port):
                # With port 0, all addresses have the port that the system has chosen for the first one.
                target = (address[0], bound[0].getsockname()[1], *address[2:]) if bound else address
                bound.append(_listen(socket.socket(family, kind, protocol), target, is_shared=is_shared))
        except BaseException:
            close_sockets(bound)
            raise
    return bound


async def bind_socket(host: str, port: int) -> BoundSocket:
    """Return a socket that listens on the first address of `host`; port 0 picks a free port. Raises OSError.

    An inherited socket (`inherit_sockets`) is returned instead of a new one.
    """
    if (host, port) in _inherited:
        return _inherited.pop((host, port))[0]
    with name_address(host, port):
        (family, kind, protocol, address), *_ = await _resolve(host, port)
        return _listen(socket.socket(family, kind, protocol), address)


async def _resolve(host: str, port: int) -> list[tuple[int, int, int, Any]]:
    """Return the family, type, protocol and address of each address of a host. Raises OSError."""
    wanted: dict[str, Any] = {"type": socket.SOCK_STREAM}
    try:  # without the thread in which the loop looks up names
        found = socket.getaddrinfo(host or None, port, **wanted, flags=socket.AI_PASSIVE | socket.AI_NUMERICHOST)
    except OSError:
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, port, **wanted, flags=socket.AI_PASSIVE)
    return [*dict.fromkeys((family, kind, protocol, address) for family, kind, protocol, _, address in found)]


def _listen(bound: BoundSocket, address: tuple[object, ...], *, is_shared: bool = False) -> BoundSocket:
    """Bind a socket and listen; it is closed if that fails. Raises OSError."""
    try:
        if sys.platform != "win32":  # there, it would let two servers have one port
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if is_shared:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if bound.family == socket.AF_INET6:
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        bound.bind(address)
        bound.listen(LISTEN_BACKLOG)
        limit_accepted_sockets(bound)
        bound.setblocking(False)
    except BaseException:
        bound.close()
        raise
    return bound


async def bind_groups(host: str, port: int, count: int) -> list[list[BoundSocket]]:
    """Return `count` groups of sockets, each as `bind_sockets` returns them, that share one port.

    The system gives every new connection to one of the groups. Raises OSError, also if the port is shared already.
    """
    probes = await bind_sockets(host, port)
    port = bound_address(probes[0])[1]
    close_sockets(probes)
    groups: list[list[BoundSocket]] = []
    try:
        while len(groups) < count:
            groups.append(await bind_sockets(host, port, is_shared=True))
    except BaseException:
        close_sockets(chain.from_iterable(groups))
        raise
    return groups


def can_share_ports() -> bool:
    """Whether several sockets of this system can listen on one port."""
    return hasattr(socket, "SO_REUSEPORT")


def inherit_sockets(sockets: Iterable[tuple[str, int, Iterable[int]]]) -> None:
    """Use listening sockets that this process was started with: host, port and descriptors. Raises OSError.

    The first call of `bind_sockets` or `bind_socket` with this host and port returns them.
    """
    for host, port, descriptors in sockets:
        _inherited[host, port] = [_inherit(each) for each in descriptors]


def _inherit(descriptor: int) -> BoundSocket:
    inherited = socket.socket(fileno=descriptor)
    inherited.setblocking(False)
    inherited.set_inheritable(False)
    return inherited


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


def close_sockets(sockets: Iterable[BoundSocket]) -> None:
    """Close sockets."""
    for each in sockets:
        each.close()
