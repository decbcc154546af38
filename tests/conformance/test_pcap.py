"""A capture file is what Wireshark expects: records, addresses, sequence numbers and checksums."""

import io
import struct
from collections.abc import Iterator
from ipaddress import IPv4Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.conformance.conversation import Conversation
from croupier.conformance.tap.connection import (
    BytesRelayed,
    ConnectionEnded,
    ConnectionOpened,
    SideClosed,
    TappedConnection,
)
from croupier.conformance.tap.pcap import MAX_SEGMENT_BYTES, Capture, checksum
from croupier.core.referee import CLIENT, HOUSE
from croupier.rooms.kuhn import ROOM

CLIENTS = ("127.0.0.1", 40_001)
HOUSES = ("192.0.2.9", 1212)
FIN, SYN, PSH, ACK = 1, 2, 8, 16


def packets(data: bytes) -> Iterator[tuple[float, bytes]]:
    """The packets of a capture of raw IP, each with its time, read as the format's own description has it."""
    assert struct.unpack("<IHHiIII", data[:24]) == (0xA1B2C3D4, 2, 4, 0, 0, 65_535, 101)
    at = 24
    while at < len(data):
        seconds, micros, length, original = struct.unpack_from("<IIII", data, at)
        assert micros < 1_000_000
        assert length == original
        at += 16 + length
        yield seconds + micros / 1e6, data[at - length : at]


def folded(data: bytes) -> int:
    """The sum of 16-bit words in ones' complement: all ones where the checksum among them is right (RFC 1071)."""
    total = sum(int.from_bytes(data[at : at + 2].ljust(2, b"\0")) for at in range(0, len(data), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def test_the_checksum_is_that_of_the_standard_example() -> None:
    assert checksum(bytes.fromhex("0001f203f4f5f6f7")) == 0x220D  # RFC 1071, 3: the sum is ddf2
    assert checksum(b"\xff") == 0x00FF


def talk(said: list[tuple[int, bytes]], client: tuple[str, int] | None = CLIENTS) -> bytes:
    file = io.BytesIO()
    capture = Capture(file, HOUSES, clock=lambda: 1000.25)
    connection = TappedConnection(1, client, Conversation(ROOM), 0.25)
    connection.has_reached_target = True
    capture(ConnectionOpened(connection, 0.25))
    for side, data in said:
        capture(BytesRelayed(connection, 0.5, side, data, (), ()))
    for side in (CLIENT, HOUSE):
        capture(SideClosed(connection, 0.75, side, "", ()))
    capture(ConnectionEnded(connection, 0.75))
    return file.getvalue()


@given(
    st.lists(
        st.tuples(st.sampled_from([CLIENT, HOUSE]), st.binary(min_size=1, max_size=3 * MAX_SEGMENT_BYTES)), max_size=6
    )
)
def test_every_packet_follows_the_one_before_and_all_bytes_are_there(said: list[tuple[int, bytes]]) -> None:
    streams = {40_001: b"", 1212: b""}
    following: dict[int, int] = {}
    for _, packet in packets(talk(said)):
        assert folded(packet[:20]) == 0xFFFF
        assert packet[0] == 0x45
        assert int.from_bytes(packet[2:4]) == len(packet) <= 1500
        assert packet[9] == 6
        segment = packet[20:]
        assert folded(packet[12:20] + bytes((0, 6)) + len(segment).to_bytes(2) + segment) == 0xFFFF
        here, there, sequence, answered, offset, flags, window = struct.unpack_from(">HHIIBBH", segment)
        host, other = IPv4Address(packet[12:16]), IPv4Address(packet[16:20])
        ends = {40_001: IPv4Address("127.0.0.1"), 1212: IPv4Address("192.0.2.9")}
        assert (host, other) == (ends[here], ends[there])
        assert (offset, window) == (5 << 4, 65_535)
        assert sequence == following.setdefault(here, 0)
        assert not flags & ACK or answered == following[there]
        data = segment[20:]
        assert bool(data) == bool(flags & PSH)
        streams[here] += data
        following[here] += len(data) + bool(flags & (SYN | FIN))
    assert streams == {
        40_001: b"".join(data for side, data in said if side == CLIENT),
        1212: b"".join(data for side, data in said if side == HOUSE),
    }


def test_a_connection_begins_and_ends_as_tcp_does() -> None:
    found = [*packets(talk([(CLIENT, b"STRT P_1")]))]
    assert [packet[33] for _, packet in found] == [
        *(SYN, SYN | ACK, ACK, PSH | ACK, ACK),
        *(FIN | ACK, ACK, FIN | ACK, ACK),
    ]
    assert [at for at, _ in found] == [1000.25] * 3 + [1000.5] * 2 + [1000.75] * 4


@pytest.mark.parametrize("client", [None, ("::1", 5), ("localhost", 5)])
def test_an_end_without_an_ipv4_address_has_one_for_documentation(client: tuple[str, int] | None) -> None:
    _, packet = next(packets(talk([], client)))
    assert IPv4Address(packet[12:16]) == IPv4Address("198.51.100.1")
