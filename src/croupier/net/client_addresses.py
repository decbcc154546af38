"""Whose address counts as whose: one subscriber of IPv6 has a network of them, and a proxy speaks for others."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

IPV6_PREFIX_BITS: Final = 64
"""The bits of an IPv6 address that name a network; whoever has one address of it has all."""

type IPAddress = IPv4Address | IPv6Address


@lru_cache(4096)
def address_key(host: str) -> str:
    """What limits per address count: an IPv4 address, or the network of an IPv6 address."""
    if ":" not in host or (found := parse_address(host)) is None:
        return host
    if isinstance(found, IPv4Address):
        return str(found)
    return str(IPv6Network((int(found), IPV6_PREFIX_BITS), strict=False))


def parse_address(text: str) -> IPAddress | None:
    """An address; an IPv4 address that is written as an IPv6 one is that. None for anything else."""
    try:
        found = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    if isinstance(found, IPv6Address) and found.ipv4_mapped is not None:
        return found.ipv4_mapped
    return found


class TrustedProxies:
    """The addresses whose word about the addresses of their clients is taken."""

    def __init__(self, networks: Sequence[IPv4Network | IPv6Network] = ()) -> None:
        self._networks = tuple(networks)

    def __bool__(self) -> bool:
        return bool(self._networks)

    def __contains__(self, host: str) -> bool:
        return bool(self._networks) and self._is_trusted(parse_address(host))

    def client_address(self, peer: str, forwarded: Sequence[bytes], x_forwarded_for: Sequence[bytes]) -> str:
        """The address from which a request comes, by its peer and the values of its headers of these names.

        It is the right-most one in Forwarded (RFC 7239) or X-Forwarded-For that is no trusted proxy's: what stands to
        the left of it is anybody's word. Where both headers are there they have to agree, for a proxy that sets one of
        them passes the other one on as the client has sent it; else the peer counts.
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
        """The first address that no trusted proxy has; the last one that is known, where there is none."""
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
    """Those of a setting: addresses and networks with commas between them. Raises ValueError."""
    networks = []
    for part in text.split(",") if text else ():
        try:
            networks.append(ip_network(part.strip()))
        except ValueError:
            raise ValueError(
                f"found --trusted-proxies {part.strip()!r}; allowed: addresses and networks as 192.0.2.1,2001:db8::/32"
            ) from None
    return TrustedProxies(networks)


def _hops(values: Sequence[bytes]) -> Iterable[str]:
    """The addresses of X-Forwarded-For, the last one first."""
    return reversed(b",".join(values).decode("latin-1").split(","))


def _forwarded_for(values: Sequence[bytes]) -> Iterable[str]:
    """The `for` of every element of Forwarded, the last one first; empty where an element has none."""
    for element in _hops(values):
        pairs = (pair.partition("=") for pair in element.split(";"))
        yield next((value for name, _, value in pairs if name.strip().lower() == "for"), "")


def _parse_hop(hop: str) -> IPAddress | None:
    """The address of a hop, which may have quotes, brackets and a port."""
    text = hop.strip().strip('"')
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    return parse_address(text)
