"""Pipelining is bounded, and clients that disconnect cause no errors in the log."""

import asyncio
import re
import ssl
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import trustme

from croupier.http.connection import MAX_UNPARSED_BYTES, HttpConnection
from croupier.http.limits import ConnectionLimits, ServiceLimits
from croupier.http.request_reader import RequestReader
from croupier.http.server import HttpServer
from croupier.observers.counters import RoomCounters
from tests.http.service_fixture import InProcessService, InProcessTransport, answer, opened, request
from tests.net.raw_client import RawClient, Run


def connected(web: InProcessService) -> tuple[HttpConnection, InProcessTransport]:
    connection, transport = (
        HttpConnection(HttpServer(web.service, ConnectionLimits(), RoomCounters(), room="holdem")),
        InProcessTransport(),
    )
    connection.connection_made(transport)
    return connection, transport


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_at_most_one_parsed_request_waits(run: Run, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    async def main() -> None:
        with InProcessService() as web:
            parsed: list[RequestReader] = []
            parse = RequestReader.on_headers_complete
            monkeypatch.setattr(
                RequestReader, "on_headers_complete", lambda reader: (parse(reader), parsed.append(reader))
            )
            connection, transport = connected(web)
            game = web.house.games()[0].guid
            connection.data_received(request("GET", f"/games/{game}?wait=60"))
            for _ in range(20):
                connection.data_received(request(method, f"/games/{game}") * 100)
            assert len(parsed) <= 2
            assert not transport.is_reading
            connection.connection_lost(None)
            await asyncio.sleep(0)

    run(main())


def test_few_pipelined_requests_do_not_pause_reading(run: Run) -> None:
    """Otherwise the server would not notice that the client disconnects."""

    async def main() -> None:
        with InProcessService() as web:
            connection, transport = connected(web)
            game = web.house.games()[0].guid
            connection.data_received(request("GET", f"/games/{game}?wait=60") + request("GET", "/games/") * 2)
            assert transport.is_reading
            connection.data_received(b"x" * MAX_UNPARSED_BYTES)
            assert not transport.is_reading
            await asyncio.sleep(0)
            assert not transport.is_reading, "a long poll that waits for the disconnect does not resume reading"
            connection.connection_lost(None)
            await asyncio.sleep(0)

    run(main())


@pytest.mark.parametrize(("path", "status"), [("/games/", b"200"), ("/nothing", b"404")])
def test_many_pipelined_requests_are_answered_in_order(run: Run, path: str, status: bytes) -> None:
    async def main() -> None:
        async with opened() as server, RawClient(server.address) as caller:
            count = 500
            requests = (request("GET", path) + request("HEAD", "/x?" + "y" * 100)) * count
            sending = asyncio.create_task(caller.send(requests + request("POST", "/x", Connection="close")))
            statuses = re.findall(rb"HTTP/1\.1 (\d+) .*?\r\n\r\n", await caller.read_to_end(), re.DOTALL)
            assert statuses == [status, b"404"] * count + [b"404"]
            await sending

    run(main())


def test_pipelined_requests_are_answered_after_the_client_half_closes(run: Run) -> None:
    async def main() -> None:
        async with opened() as server, RawClient(server.address) as caller:
            await caller.send(request("POST", "/users/", "ann") + request("GET", "/games/") + request("GET", "/x") * 5)
            caller.end_output()
            statuses = [(await answer(caller)).status for _ in range(7)]
            assert statuses == [201, 200, 404, 404, 404, 404, 404]
            assert await caller.read_to_end() == b""

    run(main())


HOSTS = {
    "none": b"GET /games/ HTTP/1.1\r\n\r\n",
    "two": b"GET /games/ HTTP/1.1\r\nHost: x\r\nhost: x\r\n\r\n",
    "none, with a body": b"POST /games/ HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc",
    "none, in an absolute URL": b"GET http://x/games/ HTTP/1.1\r\n\r\n",
}


@pytest.mark.parametrize("data", HOSTS.values(), ids=HOSTS.keys())
@pytest.mark.parametrize("before", [[], ["/games/"], ["/openapi.json", "/games/", "/nothing"]], ids=len)
def test_request_without_exactly_one_host_is_400_and_closes(run: Run, data: bytes, before: list[str]) -> None:
    """holdem-1.1"""

    async def main() -> None:
        async with opened() as server, RawClient(server.address) as caller:
            await caller.send(b"".join(request("GET", path) for path in before) + data + request("GET", "/games/"))
            for path in before:
                assert (await answer(caller)).status == (404 if path == "/nothing" else 200)
            got = await answer(caller)
            assert (got.status, got.headers["connection"], got.text[:12]) == (400, "close", "holdem-1.1: ")
            assert await caller.read_to_end() == b""

    run(main())


def test_http_1_0_needs_no_host(run: Run) -> None:
    """holdem-1.1"""

    async def main() -> None:
        async with opened() as server, RawClient(server.address) as caller:
            await caller.send(b"GET /games/ HTTP/1.0\r\n\r\n")
            assert (await answer(caller)).status == 200

    run(main())


# Clients that disconnect.

STATES: dict[str, Callable[[str], bytes]] = {
    "nothing": lambda game: b"",
    "half a head": lambda game: b"GET /games/ HT",
    "half a body": lambda game: b"POST /users/ HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n12",
    "a stream": lambda game: request("GET", f"/games/{game}/events"),
    "a stream and a request": lambda game: request("GET", f"/games/{game}/events") + request("GET", "/games/"),
    "a stream and many": lambda game: request("GET", f"/games/{game}/events") + request("GET", "/games/") * 1000,
    "a poll": lambda game: request("GET", f"/games/{game}?wait=60"),
    "a poll and a stream": lambda game: (
        request("GET", f"/games/{game}?wait=60") + request("GET", f"/games/{game}/events")
    ),
    "a poll and half a body": lambda game: (
        request("GET", f"/games/{game}?wait=60") + b"POST /users/ HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n12"
    ),
    "a password": lambda game: request("POST", "/games/", "ann") * 3,
    "a description": lambda game: request("GET", "/openapi.json") * 20,
    "no HTTP": lambda game: b"nonsense\r\n\r\n" + b"x" * 1000,
    "no host": lambda game: b"POST /games/ HTTP/1.1\r\n\r\n",
}


@cache
def tls_contexts() -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """The contexts of a server, and of a client that trusts it."""
    authority = trustme.CA()
    server, client = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH), ssl.create_default_context()
    authority.issue_cert("127.0.0.1").configure_cert(server)
    authority.configure_trust(client)
    return server, client


@pytest.mark.parametrize("secure", [False, True], ids=["plain", "TLS"])
@pytest.mark.parametrize("state", STATES.values(), ids=STATES.keys())
def test_client_that_disconnects_causes_no_log_entry(run: Run, state: Callable[[str], bytes], secure: bool) -> None:
    async def main() -> None:
        log = RecordedLog()
        context, client = tls_contexts() if secure else (None, None)
        limits = ServiceLimits(heartbeat_seconds=0.01)
        async with opened(
            context=context, limits=limits, log=log, connection_limits=ConnectionLimits(close_timeout=0.05)
        ) as server:
            guid = server.house_service.house.games()[0].guid
            for close_method in ("close", "abort"):
                for changes in (False, True):
                    reader, writer = await asyncio.open_connection(
                        *server.address, ssl=client, server_hostname="127.0.0.1" if secure else None
                    )
                    writer.write(state(guid))
                    await writer.drain()
                    if state is STATES["a stream and a request"]:
                        await reader.readuntil(b"\n\n")
                    getattr(writer.transport, close_method)()
                    if changes:
                        server.service.views.notify_all()
                    while server.connection_count or server.subscriber_count:
                        await asyncio.sleep(0.001)
            assert log.entries == []

    run(main())


class RecordedLog:
    """Records log entries above level debug."""

    def __init__(self) -> None:
        self.entries: list[tuple[str, dict[str, Any]]] = []

    def debug(self, event: str, **facts: Any) -> None:
        pass

    def info(self, event: str, **facts: Any) -> None:
        self.entries.append((event, facts))

    warning = error = info
