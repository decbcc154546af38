"""PROXY protocol headers are read exactly to their end; anything else is refused."""

import asyncio
import random
import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from ipaddress import ip_address
from typing import Any

import pytest
import trustme
from hypothesis import given
from hypothesis import strategies as st

from croupier.core.logger import SilentLogger
from croupier.core.session import Address, Joined
from croupier.net.client_addresses import parse_trusted_proxies
from croupier.net.endpoint import Endpoint, EndpointLimits
from croupier.net.proxy_protocol import (
    MAX_V1_HEADER_BYTES,
    MAX_V2_BODY_BYTES,
    V2_SIGNATURE,
    ProxyHeaderError,
    parse_proxy_header,
)
from tests.net.raw_client import TIMEOUT_SECONDS, RawClient, RecordingSession, Run, WordCodec

LOCAL = parse_trusted_proxies("127.0.0.0/8")


def parse(data: bytes) -> tuple[Address | None, bytes]:
    """The address of a header, and the data after it. Raises ProxyHeaderError, or EOFError for an incomplete header."""
    header = parse_proxy_header()
    wanted = next(header)
    while True:
        if len(data) < wanted:
            raise EOFError
        chunk, data = data[:wanted], data[wanted:]
        try:
            wanted = header.send(chunk)
        except StopIteration as end:
            return end.value, data


def v2_header(command: int, family: int, body: bytes) -> bytes:
    return V2_SIGNATURE + bytes([0x20 | command, family]) + len(body).to_bytes(2) + body


def v2_inet_header(client: str, port: int, more: bytes = b"") -> bytes:
    host = ip_address(client).packed
    family = 0x11 if len(host) == 4 else 0x21
    return v2_header(1, family, host + host + port.to_bytes(2) + (80).to_bytes(2) + more)


HEADERS: dict[str, tuple[bytes, Address | None]] = {
    "v1, IPv4": (b"PROXY TCP4 192.0.2.7 198.51.100.1 40001 1212\r\n", ("192.0.2.7", 40001)),
    "v1, IPv6": (b"PROXY TCP6 2001:DB8::7 2001:db8::1 40001 1212\r\n", ("2001:db8::7", 40001)),
    "v1, IPv4 in IPv6": (b"PROXY TCP6 ::ffff:192.0.2.7 ::1 40001 1212\r\n", ("192.0.2.7", 40001)),
    "v1, unknown": (b"PROXY UNKNOWN\r\n", None),
    "v1, unknown with more": (b"PROXY UNKNOWN ff::1 ff::2 1 2\r\n", None),
    "v2, IPv4": (v2_inet_header("192.0.2.7", 40001), ("192.0.2.7", 40001)),
    "v2, IPv6": (v2_inet_header("2001:db8::7", 40001), ("2001:db8::7", 40001)),
    "v2, more information": (v2_inet_header("192.0.2.7", 40001, b"\x03\x00\x04abcd"), ("192.0.2.7", 40001)),
    "v2, as long as allowed": (v2_inet_header("192.0.2.7", 40001, bytes(536 - 28)), ("192.0.2.7", 40001)),
    "v2, local": (v2_header(0, 0x11, bytes(12)), None),
    "v2, local without addresses": (v2_header(0, 0, b""), None),
    "v2, unspecified": (v2_header(1, 0, b"abc"), None),
    "v2, a socket of Unix": (v2_header(1, 0x31, bytes(216)), None),
}

BAD: dict[str, bytes] = {
    "no header": b"STRT P_1ACTN BET",
    "HTTP": b"GET / HTTP/1.1\r\n\r\n",
    "another family": b"PROXY UDP4 192.0.2.7 192.0.2.1 1 2\r\n",
    "no family": b"PROXY \r\n       \r\n",
    "addresses of another family": b"PROXY TCP4 ::1 ::1 1 2\r\n",
    "a name": b"PROXY TCP4 localhost 192.0.2.1 1 2\r\n",
    "a port too large": b"PROXY TCP4 192.0.2.7 192.0.2.1 65536 2\r\n",
    "a negative port": b"PROXY TCP4 192.0.2.7 192.0.2.1 -1 2\r\n",
    "a port with a zero before it": b"PROXY TCP4 192.0.2.7 192.0.2.1 01 2\r\n",
    "a port in other digits": "PROXY TCP4 192.0.2.7 192.0.2.1 \u00b9 2\r\n".encode("latin-1"),
    "a word too many": b"PROXY TCP4 192.0.2.7 192.0.2.1 1 2 3\r\n",
    "two spaces": b"PROXY TCP4  192.0.2.7 192.0.2.1 1 2\r\n",
    "no end": b"PROXY TCP4 " + b"1" * MAX_V1_HEADER_BYTES,
    "another version": V2_SIGNATURE + b"\x31\x11\x00\x0c" + bytes(12),
    "another command": v2_header(2, 0x11, bytes(12)),
    "datagrams": v2_header(1, 0x12, bytes(12)),
    "too short": v2_header(1, 0x11, bytes(11)),
    "too short for IPv6": v2_header(1, 0x21, bytes(35)),
    "a family that is none": v2_header(1, 0x41, bytes(216)),
    "too long": v2_header(1, 0x11, bytes(MAX_V2_BODY_BYTES + 1)),
}


@pytest.mark.parametrize(("header", "address"), HEADERS.values(), ids=HEADERS.keys())
def test_header_contains_the_client_address(header: bytes, address: Address | None) -> None:
    assert parse(header + b"STRT") == (address, b"STRT")
    for end in range(len(header)):
        with pytest.raises(EOFError):
            parse(header[:end])


@pytest.mark.parametrize("header", BAD.values(), ids=BAD.keys())
def test_malformed_header_is_refused(header: bytes) -> None:
    with pytest.raises(ProxyHeaderError, match="; allowed: "):
        parse(header)


def fuzz(data: bytes) -> None:
    for prefix in (b"", b"PROXY ", b"PROXY TCP4 ", V2_SIGNATURE, V2_SIGNATURE + b"\x21\x11"):
        with suppress(ProxyHeaderError, EOFError):
            address, rest = parse(prefix + data)
            assert (prefix + data).endswith(rest)
            if address is not None:
                assert ip_address(address[0])
                assert 0 <= address[1] <= 65535


@given(st.binary(max_size=300))
def test_any_bytes_are_parsed_or_refused(data: bytes) -> None:
    fuzz(data)


@pytest.mark.slow
def test_many_mutated_headers_are_parsed_or_refused() -> None:

    rng = random.Random(1)
    whole = [header for header, _ in HEADERS.values()]
    for _ in range(50_000):
        data = bytearray(rng.choice(whole))
        for _ in range(rng.randint(1, 4)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        with suppress(ProxyHeaderError, EOFError):
            parse(bytes(data) + bytes(rng.randrange(64)))


@asynccontextmanager
async def behind_a_proxy(session: Any, tls: ssl.SSLContext | None = None, **limits: Any) -> AsyncIterator[Any]:
    """An endpoint that trusts proxies on this machine, and its address."""
    settings = EndpointLimits(**({"trusted_proxies": LOCAL, "close_timeout": 0.2} | limits))

    endpoint = Endpoint(session, WordCodec, SilentLogger(), limits=settings, refusal=["full"])
    address = await endpoint.listen("127.0.0.1", 0, tls)
    try:
        yield endpoint, address
    finally:
        endpoint.halt(final=False)
        await asyncio.sleep(0)
        endpoint.halt(final=True)
        async with asyncio.timeout(TIMEOUT_SECONDS):
            await endpoint.wait_drained()


async def answer_to(address: Address, data: bytes) -> bytes:
    """The answer to data, after which the client ends its output."""
    async with RawClient(address) as caller:
        with suppress(OSError):
            await caller.send(data)
            caller.end_output()
            return await caller.read_to_end()
        return b""


@pytest.mark.parametrize(("header", "client"), HEADERS.values(), ids=HEADERS.keys())
def test_room_behind_a_proxy_gets_the_client_address(run: Run, header: bytes, client: Address | None) -> None:
    async def main() -> None:
        session = RecordingSession()
        async with behind_a_proxy(session) as (_, address):
            assert await answer_to(address, header + b"hello\n") == b"hello\n"
        (joined,) = session.events_of(Joined)
        assert joined.address is not None
        assert joined.address == client or (client is None and joined.address[0] == "127.0.0.1")

    run(main())


def test_header_in_single_bytes_is_read(run: Run) -> None:
    async def main() -> None:
        session = RecordingSession()
        async with behind_a_proxy(session) as (_, address), RawClient(address) as caller:
            for byte in HEADERS["v1, IPv6"][0] + b"hello\n":
                await caller.send(bytes([byte]))
                await asyncio.sleep(0)
            assert await caller.receive(6) == b"hello\n"
        assert [joined.address for joined in session.events_of(Joined)] == [("2001:db8::7", 40001)]

    run(main())


@pytest.mark.parametrize("data", [*BAD.values(), b"PROXY TCP4", b""], ids=[*BAD.keys(), "half a header", "nothing"])
def test_trusted_proxy_without_a_header_is_refused(run: Run, data: bytes) -> None:
    async def main() -> None:
        session = RecordingSession()
        async with behind_a_proxy(session) as (endpoint, address):
            assert await answer_to(address, data) == b""
            assert dict(endpoint.counts.refused) == {"proxy": 1}
        assert not session.events_of(Joined)

    run(main())


def test_trusted_proxy_that_sends_nothing_times_out(run: Run) -> None:
    async def main() -> None:
        async with behind_a_proxy(RecordingSession(), proxy_header_timeout=0.05) as (endpoint, address):
            async with RawClient(address) as caller:
                assert await caller.read_to_end() == b""
            assert dict(endpoint.counts.refused) == {"proxy": 1}

    run(main())


def test_connections_without_a_header_are_limited_and_closed_with_the_room(run: Run) -> None:
    async def main() -> None:
        async with AsyncExitStack() as stack:
            async with behind_a_proxy(RecordingSession(), max_lingering_connections=2) as (endpoint, address):
                unresponsive = [await stack.enter_async_context(RawClient(address)) for _ in range(2)]
                assert await answer_to(address, v2_inet_header("192.0.2.7", 1)) == b""
                assert dict(endpoint.counts.refused) == {"proxy": 1}
            for caller in unresponsive:
                with suppress(ConnectionError):
                    assert await caller.read_to_end() == b""

    run(main())


def test_header_of_an_untrusted_peer_is_not_read(run: Run) -> None:
    async def main() -> None:
        session = RecordingSession()
        async with behind_a_proxy(session, trusted_proxies=parse_trusted_proxies("192.0.2.1")) as (_, address):
            assert await answer_to(address, b"PROXY TCP4 192.0.2.7 192.0.2.1 1 2\nhello\n") != b"hello\n"
        assert [joined.address[0] for joined in session.events_of(Joined)] == ["127.0.0.1"]

    run(main())


def test_clients_behind_a_proxy_are_counted_by_their_own_address(run: Run) -> None:
    async def main() -> None:
        session = RecordingSession()
        async with (
            behind_a_proxy(session, max_connections_per_address=2) as (endpoint, address),
            AsyncExitStack() as stack,
        ):

            async def greet(client: str) -> bytes:
                caller = await stack.enter_async_context(RawClient(address))
                await caller.send(v2_inet_header(client, 1) + b"hello\n")
                return await caller.receive(5)

            for network in ("2001:db8::", "2001:db8:0:1::"):
                assert [await greet(f"{network}{number}") for number in range(3)] == [b"hello", b"hello", b"full\n"]
            assert await greet("192.0.2.7") == b"hello"
            assert dict(endpoint.counts.refused) == {"per_address": 2}

    run(main())


def test_tls_begins_after_the_header(run: Run) -> None:
    authority = trustme.CA()
    server, client = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH), ssl.create_default_context()
    authority.issue_cert("localhost").configure_cert(server)
    authority.configure_trust(client)

    async def main() -> None:
        session = RecordingSession()
        async with behind_a_proxy(session, server) as (_, address):
            reader, writer = await asyncio.open_connection(*address)
            writer.write(HEADERS["v2, more information"][0])
            await writer.start_tls(client, server_hostname="localhost")
            writer.write(b"hello\n")
            assert await reader.readline() == b"hello\n"
            writer.close()
        assert [joined.address for joined in session.events_of(Joined)] == [("192.0.2.7", 40001)]

    run(main())
