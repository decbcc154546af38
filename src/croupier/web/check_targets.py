"""Which servers a visitor may have tested: a tester that connects to any address would be a port scanner."""

import asyncio
from collections.abc import Sequence, Set
from typing import Final

from msgspec import Struct

from croupier.clients.server_url import room_address
from croupier.core.presentation import Refused, text, verbatim
from croupier.core.room import Room
from croupier.core.session import Address
from croupier.net.addresses import format_address
from croupier.net.client_addresses import IPAddress, IPNetwork, parse_ip_address
from croupier.net.pinned_tls import pinned_tls_context
from croupier.rooms.oldmaid import ROOM as OLDMAID

RESOLVE_TIMEOUT_SECONDS: Final = 5.0

ADDRESS_INVALID: Final = text("This is not an address: a host and a port are needed, such as 127.0.0.1:1212.")
HOST_UNKNOWN: Final = text("There is no host of the name {host}.")
ADDRESS_FORBIDDEN: Final = text(
    "The address {address} cannot be checked from your browser: only servers on your own computer, and those that "
    "this server allows, can be."
)
TLS_UNSUPPORTED: Final = text("This protocol is tested without TLS.")
AUTHORITY_INVALID: Final = text(
    "The certificate authority is not a certificate in the PEM format, which begins with -----BEGIN CERTIFICATE-----."
)


class CheckTarget(Struct, frozen=True):
    """A server to be tested. It is reached with TLS if there is an `authority`; see `pinned_tls_context`."""

    address: Address
    authority: str | None = None

    @property
    def arguments(self) -> Sequence[str]:
        """The arguments of `croupier.conformance.live` after the room."""
        host, port = self.address
        return [host, str(port), *([] if self.authority is None else [self.authority])]

    def __str__(self) -> str:
        return format_address(self.address) + ("" if self.authority is None else " (TLS)")


class TargetRefused(Refused):
    """The visitor may not have this target tested."""


class TargetRules(Struct, frozen=True):
    """What everybody may have tested: networks, and the ports of this server's rooms."""

    networks: Sequence[IPNetwork]
    room_ports: Set[int]


class Asker(Struct, frozen=True):
    """The addresses of a visitor, and of this server as the visitor has reached it; None if they are unknown."""

    client: IPAddress | None
    server: IPAddress | None

    def may_check(self, address: IPAddress, port: int, rules: TargetRules) -> bool:
        """Whether the visitor may have the server at an address tested.

        Loopback addresses are the visitor's own only if the visitor is on this machine. This server's rooms are open
        to everybody already.
        """
        is_own = address == self.client or (address.is_loopback and self.client is not None and self.client.is_loopback)
        is_room = port in rules.room_ports and (address.is_loopback or address == self.server)
        return is_own or is_room or any(address in network for network in rules.networks)


def check_tls(room: Room, authority: str) -> None:
    """Raise TargetRefused if a server of a room cannot be tested with TLS and this certificate authority."""
    if room is OLDMAID:
        raise TargetRefused(TLS_UNSUPPORTED)
    try:
        pinned_tls_context(authority)
    except ValueError:  # of characters that are not ASCII, too
        raise TargetRefused(AUTHORITY_INVALID) from None


async def resolve_target(target: str, room: Room, asker: Asker, rules: TargetRules) -> tuple[Address, bool]:
    """Return the address of a target and whether it is an https URL; see `room_address`. Raises TargetRefused.

    A name is resolved here once, and the tester gets the address: the name could point elsewhere a moment later.
    """
    try:
        (host, port), is_https = room_address(room, target.strip())
    except ValueError:
        raise TargetRefused(ADDRESS_INVALID) from None
    try:
        async with asyncio.timeout(RESOLVE_TIMEOUT_SECONDS):
            found = await asyncio.get_running_loop().getaddrinfo(host, port)
    except (OSError, ValueError):  # a TimeoutError is an OSError, and names of an impossible form are ValueErrors
        raise TargetRefused(HOST_UNKNOWN.fill(host=verbatim(host))) from None
    addresses = [parse_ip_address(str(entry[-1][0])) for entry in found]
    for address in addresses:
        if address is not None and asker.may_check(address, port, rules):
            return (str(address), port), is_https
    shown = next((str(address) for address in addresses if address is not None), host)
    raise TargetRefused(ADDRESS_FORBIDDEN.fill(address=verbatim(format_address((shown, port)))))
