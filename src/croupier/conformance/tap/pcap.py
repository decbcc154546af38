"""Writes a capture file (pcap) of tapped conversations for Wireshark."""

import time
from collections.abc import Callable
from contextlib import suppress
from ipaddress import IPv4Address
from struct import Struct as Layout
from struct import unpack
from typing import BinaryIO, Final

from croupier.conformance.tap.connection import BytesRelayed, ConnectionEnded, ConnectionOpened, SideClosed, TapEvent
from croupier.core.referee import CLIENT, HOUSE, OTHER_END
from croupier.core.session import Address, Peer

FILE_HEADER: Final = Layout("<IHHiIII")
"""Magic number, version 2.4, time zone, accuracy, snapshot length, link type (libpcap, savefile(5))."""

MAGIC: Final = 0xA1B2C3D4
RAW_IP_LINK_TYPE: Final = 101
MAX_PACKET_BYTES: Final = 65_535

PACKET_HEADER: Final = Layout("<IIII")
"""Seconds and microseconds since 1970, captured length, original length."""

IP_HEADER: Final = Layout(">BBHHHBBH4s4s")
"""RFC 791, 3.1, without options."""

TCP_HEADER: Final = Layout(">HHIIBBHHH")
"""RFC 9293, 3.1, without options."""

FIN, SYN, PSH, ACK = 1, 2, 8, 16
WINDOW_BYTES: Final = 65_535
MAX_SEGMENT_BYTES: Final = 1460
"""The maximum segment size of TCP over Ethernet."""

PLACEHOLDER_HOSTS: Final = {CLIENT: "198.51.100.1", HOUSE: "198.51.100.2"}
"""The address of an end that has a host name or an IPv6 address (RFC 5737)."""


def checksum(data: bytes) -> int:
    """The checksum of IP and TCP (RFC 1071): the complement of the ones' complement sum of 16-bit words.

    Example:
        >>> hex(checksum(bytes.fromhex("0001f203f4f5f6f7")))
        '0x220d'
    """
    padded = data + bytes(len(data) % 2)
    total: int = sum(unpack(f">{len(padded) // 2}H", padded))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


class Capture:
    """Writes a capture of the conversations with a house, each as a TCP connection synthesized from the relayed bytes.

    `clock` returns the time in seconds since 1970.
    """

    def __init__(self, file: BinaryIO, house: Address, clock: Callable[[], float] = time.time) -> None:
        self._file = file
        self._house = house
        self._clock = clock
        self._offset: float | None = None  # from the time of an event to that of the clock
        self._streams: dict[int, _Stream] = {}
        self._file.write(FILE_HEADER.pack(MAGIC, 2, 4, 0, 0, MAX_PACKET_BYTES, RAW_IP_LINK_TYPE))

    def __call__(self, event: TapEvent) -> None:
        """Write the packets of an event; the other end acknowledges data and a close. Raises OSError."""
        connection, at = event.connection, event.at
        if isinstance(event, ConnectionOpened):
            self._streams[connection.number] = _Stream(connection.address, self._house)
        stream = self._streams[connection.number]
        match event:
            case ConnectionOpened():
                self._write(at, stream.packet(CLIENT, SYN), stream.packet(HOUSE, SYN | ACK), stream.packet(CLIENT, ACK))
            case BytesRelayed(side=side, data=data):
                for begin in range(0, len(data), MAX_SEGMENT_BYTES):
                    piece = data[begin : begin + MAX_SEGMENT_BYTES]
                    self._write(at, stream.packet(side, PSH | ACK, piece), stream.packet(OTHER_END[side], ACK))
            case SideClosed(side=side) if connection.has_reached_target or side != HOUSE:
                self._write(at, stream.packet(side, FIN | ACK), stream.packet(OTHER_END[side], ACK))
            case ConnectionEnded():
                del self._streams[connection.number]
                self._file.flush()
            case _:
                pass

    def _write(self, at: float, *packets: bytes) -> None:
        if self._offset is None:
            self._offset = self._clock() - at
        seconds, fraction = divmod(at + self._offset, 1)
        for packet in packets:
            self._file.write(PACKET_HEADER.pack(int(seconds), int(fraction * 1e6), len(packet), len(packet)) + packet)


class _Stream:
    """The addresses and sequence numbers of a connection."""

    def __init__(self, client: Address | None, house: Address) -> None:
        ends = {CLIENT: client or ("", 0), HOUSE: house}
        self._hosts = {side: _host(side, address[0]) for side, address in ends.items()}
        self._ports = {side: address[1] for side, address in ends.items()}
        self._sent = {CLIENT: 0, HOUSE: 0}

    def packet(self, side: Peer, flags: int, data: bytes = b"") -> bytes:
        """The next packet of an end."""
        other = OTHER_END[side]
        here, there = self._hosts[side], self._hosts[other]
        sent, acknowledged = self._sent[side], self._sent[other] if flags & ACK else 0
        self._sent[side] += len(data) + bool(flags & (SYN | FIN))
        self._sent[side] &= 0xFFFFFFFF
        ports = self._ports[side], self._ports[other]
        offset = TCP_HEADER.size // 4 << 4

        def segment(check: int) -> bytes:
            return TCP_HEADER.pack(*ports, sent, acknowledged, offset, flags, WINDOW_BYTES, check, 0) + data

        pseudo = here + there + bytes((0, 6)) + (TCP_HEADER.size + len(data)).to_bytes(2)
        body = segment(checksum(pseudo + segment(0)))

        def header(check: int) -> bytes:
            return IP_HEADER.pack(0x45, 0, IP_HEADER.size + len(body), 0, 0x4000, 64, 6, check, here, there)

        return header(checksum(header(0))) + body


def _host(side: Peer, host: str) -> bytes:
    with suppress(ValueError):
        return IPv4Address(host).packed
    return IPv4Address(PLACEHOLDER_HOSTS[side]).packed
