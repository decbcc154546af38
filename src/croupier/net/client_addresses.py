"""Client addresses: the key that limits per address count, and addresses that trusted proxies forward."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

IPV6_PREFIX_BITS: Final = 64
"""The network part of an IPv6 address. One subscriber usually has a whole network of this size."""

type IPAddress = IPv4Address | IPv6Address
type IPNetwork = IPv4Network | IPv6Network


@lru_cache(4096)
def address_key(host: str) -> str:
    """The key for limits per address: an IPv4 address, or the /64 network of an IPv6 address.

    Example:
        >>> address_key("2001:db8::1"), address_key("::ffff:192.0.2.1")
        ('2001:db8::/64', '192.0.2.1')
    """
    if ":" not in host or (found := parse_ip_address(host)) is None:
        return host
    if isinstance(found, IPv4Address):
        return str(found)
    return str(IPv6Network((int(found), IPV6_PREFIX_BITS), strict=False))


def parse_ip_address(text: str) -> IPAddress | None:
    """Parse an IP address; None if it is not one. An IPv4-mapped IPv6 address becomes the IPv4 address."""
    try:
        found = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    if isinstance(found, IPv6Address) and found.ipv4_mapped is not None:
        return found.ipv4_mapped
    return found


class TrustedProxies:
    """Addresses of proxies that are trusted to name the addresses of their clients."""

    def __init__(self, networks: Sequence[IPNetwork] = ()) -> None:
        self._networks = tuple(networks)

    def __bool__(self) -> bool:
        return bool(self._networks)

    def __contains__(self, host: str) -> bool:
        return bool(self._networks) and self._is_trusted(parse_ip_address(host))

    def client_address(self, peer: str, forwarded: Sequence[bytes], x_forwarded_for: Sequence[bytes]) -> str:
        """The client address of a request, from its peer and the values of these two headers.

        It is the right-most address in Forwarded (RFC 7239) or X-Forwarded-For that is not a trusted proxy's: clients
        can forge anything to the left of it. If both headers are present they have to agree, because a proxy that sets
        one passes the other on as the client sent it; if they differ, the peer's address is returned.
        """
        if peer not in self:
            return peer
        found = {
            self._first_untrusted(peer, hops)
            for values, hops in ((forwarded, _forwarded_for(forwarded)), (x_forwarded_for, _hops(x_forwarded_for)))
            if values
        }
        return found.pop() if len(found) == 1 else peer

    def _first_untrusted(self, peer: str, hops: Iterable[str]) -> str:
        """The first address that is not a trusted proxy's; if there is none, the last valid one."""
        known = peer
        for hop in hops:
            if (found := _parse_hop(hop)) is None:
                return known
            known = str(found)
            if not self._is_trusted(found):
                return known
        return known

    def _is_trusted(self, address: IPAddress | None) -> bool:
        return address is not None and any(address in network for network in self._networks)


def parse_trusted_proxies(text: str) -> TrustedProxies:
    """Parse a comma-separated setting of addresses and networks. Raises ValueError for anything else.

    Example:
        >>> "192.0.2.7" in parse_trusted_proxies("192.0.2.0/24, ::1")
        True
    """
    return TrustedProxies(parse_networks("--trusted-proxies", text))


def parse_networks(option: str, text: str) -> Sequence[IPNetwork]:
    """Parse the value of an option: addresses and networks with commas between them. Raises ValueError."""
    networks = []
    for part in text.split(",") if text else ():
        try:
            networks.append(ip_network(part.strip()))
        except ValueError:
            raise ValueError(
                f"found {option} {part.strip()!r}; allowed: addresses and networks as 192.0.2.1,2001:db8::/32"
            ) from None
    return networks


def _hops(values: Sequence[bytes]) -> Iterable[str]:
    """The addresses of X-Forwarded-For, last one first."""
    return reversed(b",".join(values).decode("latin-1").split(","))


def _forwarded_for(values: Sequence[bytes]) -> Iterable[str]:
    """The `for` value of each element of Forwarded, last one first; empty if an element has none."""
    for element in _hops(values):
        pairs = (pair.partition("=") for pair in element.split(";"))
        yield next((value for name, _, value in pairs if name.strip().lower() == "for"), "")


def _parse_hop(hop: str) -> IPAddress | None:
    """Parse the address of a hop, which may have quotes, brackets and a port."""
    text = hop.strip().strip('"')
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    return parse_ip_address(text)
