"""Parser of the PROXY protocol, versions 1 and 2 (HAProxy): a proxy's header with the address of its client."""

from collections.abc import Generator
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Final

from croupier.core.session import Address
from croupier.net.client_addresses import IPAddress

V2_SIGNATURE: Final = b"\r\n\r\n\x00\r\nQUIT\n"

V1_PREFIX: Final = b"PROXY "

MAX_V1_HEADER_BYTES: Final = 107
MAX_V2_BODY_BYTES: Final = 520
"""A header has at most 536 bytes, 16 of them before the body. Address blocks take at most 216 bytes; the rest is
optional information (TLVs), which is ignored."""

INET, INET6, UNIX = 1, 2, 3
STREAM: Final = 1
ADDRESS_BLOCK_BYTES: Final = {INET: 12, INET6: 36, UNIX: 216}

type ProxyHeaderParser = Generator[int, bytes, Address | None]
"""Yields the number of bytes that it needs next, and never more than the header has; returns the client's address."""


class ProxyHeaderError(ValueError):
    """The data is not a valid PROXY protocol header."""


def parse_proxy_header() -> ProxyHeaderParser:
    """Parse a header: the client's address, or None if the proxy connects for itself or does not know the client.

    Raises ProxyHeaderError.

    Example:
        >>> header = b"PROXY TCP4 192.0.2.1 192.0.2.9 4711 80\\r\\n"
        >>> parser = parse_proxy_header()
        >>> wanted = next(parser)
        >>> try:
        ...     while True:
        ...         data, header = header[:wanted], header[wanted:]
        ...         wanted = parser.send(data)
        ... except StopIteration as end:
        ...     print(end.value)
        ('192.0.2.1', 4711)
    """
    start = yield len(V2_SIGNATURE)
    if start == V2_SIGNATURE:
        return (yield from _parse_v2())
    if start.startswith(V1_PREFIX):
        return (yield from _parse_v1(start))
    raise ProxyHeaderError(f"found {start!r}; allowed: a header of the PROXY protocol")


def _parse_v1(line: bytes) -> ProxyHeaderParser:
    while not line.endswith(b"\r\n"):
        if len(line) >= MAX_V1_HEADER_BYTES:
            raise ProxyHeaderError(
                f"found a header of {len(line)} bytes without an end; allowed: {MAX_V1_HEADER_BYTES}"
            )
        line += yield 1
    words = line[:-2].decode("latin-1").split(" ")
    if words[1] == "UNKNOWN":
        return None
    if len(words) != 6 or words[1] not in {"TCP4", "TCP6"}:
        raise ProxyHeaderError(
            f"found {line!r}; allowed: PROXY TCP4 or TCP6, two addresses and two ports, or PROXY UNKNOWN"
        )
    family = IPv4Address if words[1] == "TCP4" else IPv6Address
    try:
        client, _ = (family(word) for word in words[2:4])
    except AddressValueError as error:
        raise ProxyHeaderError(f"found {line!r} ({error}); allowed: addresses of {words[1]}") from None
    ports = [int(word) for word in words[4:] if word.isascii() and word.isdigit() and str(int(word)) == word]
    if len(ports) != 2 or max(ports) > 0xFFFF:
        raise ProxyHeaderError(f"found {line!r}; allowed: ports of 0 to 65535")
    return _format_ip(client), ports[0]


def _parse_v2() -> ProxyHeaderParser:
    fixed = yield 4
    version, command = fixed[0] >> 4, fixed[0] & 15
    family, protocol = fixed[1] >> 4, fixed[1] & 15
    length = int.from_bytes(fixed[2:])
    if version != 2 or command > 1 or length > MAX_V2_BODY_BYTES:
        raise ProxyHeaderError(
            f"found {fixed!r} of version 2; allowed: LOCAL or PROXY, at most {MAX_V2_BODY_BYTES} bytes"
        )
    body = (yield length) if length else b""
    if command == 0 or family == 0:
        return None
    if protocol != STREAM or length < ADDRESS_BLOCK_BYTES.get(family, MAX_V2_BODY_BYTES + 1):
        raise ProxyHeaderError(
            f"found family {family}, protocol {protocol}, {length} bytes; allowed: TCP, or UNIX streams"
        )
    if family == UNIX:
        return None
    size = 4 if family == INET else 16
    client = IPv4Address(body[:4]) if family == INET else IPv6Address(body[:16])
    return _format_ip(client), int.from_bytes(body[2 * size : 2 * size + 2])


def _format_ip(address: IPAddress) -> str:
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return str(mapped or address)
