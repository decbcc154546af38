"""What one connection may ask ahead is bounded, and a client that leaves is no fault of the server."""

import asyncio
import re
import ssl
from collections.abc import Callable
from typing import Any

import pytest
import trustme

from croupier.http.connection import HttpConnection
from croupier.http.limits import ConnectionLimits, ServiceLimits
from croupier.http.pipelining import MAX_UNPARSED_BYTES
from croupier.http.server import HttpServer
from croupier.observers.counters import RoomCounters
from tests.http.service_fixture import Web, answer, opened, request
from tests.http.test_connections import Cord
from tests.net.raw_client import Caller, Run


class PausedCord(Cord):
    """A connection without a socket that notes whether it is read."""

    read = True

    def pause_reading(self) -> None:
        self.read = False

    def resume_reading(self) -> None:
        self.read = True


def connected(web: Web) -> tuple[HttpConnection, PausedCord]:
    line, wire = (
        HttpConnection(HttpServer(web.service, ConnectionLimits(), RoomCounters(), room="holdem")),
        PausedCord(),
    )
    line.connection_made(wire)
    return line, wire


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_at_most_one_request_waits_parsed_while_another_is_answered(run: Run, method: str) -> None:
    async def main() -> None:
        with Web() as web:
            line, wire = connected(web)
            game = web.house.games()[0].guid
            line.data_received(request("GET", f"/games/{game}?wait=60"))
            for _ in range(20):
                line.data_received(request(method, f"/games/{game}") * 100)
                assert len(line.pipeline) <= 1
            assert not wire.read
            line.connection_lost(None)
            await asyncio.sleep(0)

    run(main())


def test_a_few_requests_ahead_do_not_stop_the_reading(run: Run) -> None:
    """So that it is noticed when the client leaves."""

    async def main() -> None:
        with Web() as web:
            line, wire = connected(web)
            game = web.house.games()[0].guid
            line.data_received(request("GET", f"/games/{game}?wait=60") + request("GET", "/games/") * 2)
            assert wire.read
            line.data_received(b"x" * MAX_UNPARSED_BYTES)
            assert not wire.read
            await asyncio.sleep(0)
            assert not wire.read, "a long poll that listens for the end does not resume it"
            line.connection_lost(None)
            await asyncio.sleep(0)

    run(main())


@pytest.mark.parametrize(("path", "status"), [("/games/", b"200"), ("/nothing", b"404")])
def test_many_requests_at_once_are_answered_in_order(run: Run, path: str, status: bytes) -> None:
    async def main() -> None:
        async with opened() as found, Caller(found.address) as caller:
            count = 500
            ahead = (request("GET", path) + request("HEAD", "/x?" + "y" * 100)) * count
            saying = asyncio.create_task(caller.say(ahead + request("POST", "/x", Connection="close")))
            heard = re.findall(rb"HTTP/1\.1 (\d+) .*?\r\n\r\n", await caller.rest(), re.DOTALL)
            assert heard == [status, b"404"] * count + [b"404"]
            await saying

    run(main())


def test_requests_asked_ahead_are_answered_after_the_client_has_stopped_talking(run: Run) -> None:
    async def main() -> None:
        async with opened() as found, Caller(found.address) as caller:
            await caller.say(request("POST", "/users/", "ann") + request("GET", "/games/") + request("GET", "/x") * 5)
            caller.stop_talking()
            heard = [(await answer(caller)).status for _ in range(7)]
            assert heard == [201, 200, 404, 404, 404, 404, 404]
            assert await caller.rest() == b""

    run(main())


HOSTS = {
    "none": b"GET /games/ HTTP/1.1\r\n\r\n",
    "two": b"GET /games/ HTTP/1.1\r\nHost: x\r\nhost: x\r\n\r\n",
    "none, with a body": b"POST /games/ HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc",
    "none, in an absolute URL": b"GET http://x/games/ HTTP/1.1\r\n\r\n",
}


@pytest.mark.parametrize("data", HOSTS.values(), ids=HOSTS.keys())
@pytest.mark.parametrize("before", [[], ["/games/"], ["/openapi.json", "/games/", "/nothing"]], ids=len)
def test_a_request_without_one_host_is_400_and_the_end(run: Run, data: bytes, before: list[str]) -> None:
    """holdem-1.1"""

    async def main() -> None:
        async with opened() as found, Caller(found.address) as caller:
            await caller.say(b"".join(request("GET", path) for path in before) + data + request("GET", "/games/"))
            for path in before:
                assert (await answer(caller)).status == (404 if path == "/nothing" else 200)
            got = await answer(caller)
            assert (got.status, got.headers["connection"], got.text[:12]) == (400, "close", "holdem-1.1: ")
            assert await caller.rest() == b""

    run(main())


def test_http_1_0_needs_no_host(run: Run) -> None:
    """holdem-1.1"""

    async def main() -> None:
        async with opened() as found, Caller(found.address) as caller:
            await caller.say(b"GET /games/ HTTP/1.0\r\n\r\n")
            assert (await answer(caller)).status == 200

    run(main())


# Clients that leave.

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


@pytest.mark.parametrize("secure", [False, True], ids=["plain", "TLS"])
@pytest.mark.parametrize("state", STATES.values(), ids=STATES.keys())
def test_a_client_that_leaves_is_no_fault_of_the_server(run: Run, state: Callable[[str], bytes], secure: bool) -> None:
    async def main() -> None:
        log = Entries()
        authority = trustme.CA()
        server, client = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH), ssl.create_default_context()
        authority.issue_cert("127.0.0.1").configure_cert(server)
        authority.configure_trust(client)
        limits = ServiceLimits(heartbeat_seconds=0.01)
        context = server if secure else None
        async with opened(
            context=context, limits=limits, log=log, reception=ConnectionLimits(close_timeout=0.05)
        ) as found:
            guid = found.app.service.house.games()[0].guid
            for leave in ("close", "abort"):
                for changes in (False, True):
                    reader, writer = await asyncio.open_connection(
                        *found.address, ssl=client if secure else None, server_hostname="127.0.0.1" if secure else None
                    )
                    writer.write(state(guid))
                    await writer.drain()
                    if state is STATES["a stream and a request"]:
                        await reader.readuntil(b"\n\n")
                    getattr(writer.transport, leave)()
                    if changes:
                        found.app.service.views.notify_changed([guid])
                    while found.connection_count or found.app.subscriber_count:
                        await asyncio.sleep(0.001)
            assert log.entries == []

    run(main())


class Entries:
    """A log that is kept."""

    def __init__(self) -> None:
        self.entries: list[tuple[str, dict[str, Any]]] = []

    def debug(self, event: str, **facts: Any) -> None:
        pass

    def info(self, event: str, **facts: Any) -> None:
        self.entries.append((event, facts))

    warning = error = info
