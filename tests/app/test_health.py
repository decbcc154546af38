"""Liveness and readiness: the status of every room, on the port of the metrics."""

import gzip
import json
import threading
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
from msgspec import structs

from croupier.app.health import MonitoringApp, render_metrics
from croupier.app.readiness import Readiness
from croupier.core.session import Address
from croupier.http.limits import MONITORING_LIMITS, ConnectionLimits
from croupier.http.messages import Request, Response
from croupier.http.server import HttpServer
from croupier.observers.counters import RoomCounters
from tests.http.service_fixture import answer, request
from tests.net.raw_client import RawClient, Run


class Room:
    def __init__(self, trouble: str | None = None) -> None:
        self.unavailable_reason = trouble


def test_status_is_ok_if_every_room_is() -> None:
    status, body = Readiness(["kuhn", "holdem"], {"kuhn": Room(), "holdem": Room()}).report()
    assert status == 200
    assert json.loads(body) == {"status": "ok", "rooms": {"kuhn": {"status": "ok"}, "holdem": {"status": "ok"}}}


@pytest.mark.parametrize(
    ("rooms", "reason"),
    [({"kuhn": Room(), "holdem": Room("no space")}, "no space"), ({"kuhn": Room()}, "the room is not open yet")],
)
def test_room_that_is_down_reports_its_reason(rooms: dict[str, Room], reason: str) -> None:
    status, body = Readiness(["kuhn", "holdem"], rooms).report()
    assert status == 503
    expected = {"kuhn": {"status": "ok"}, "holdem": {"status": "down", "reason": reason}}
    assert json.loads(body) == {"status": "down", "rooms": expected}


def test_server_that_is_closing_is_not_ready() -> None:
    readiness = Readiness(["kuhn"], {"kuhn": Room()})
    readiness.is_closing = True
    status, body = readiness.report()
    assert status == 503
    assert json.loads(body) == {"status": "closing", "rooms": {"kuhn": {"status": "ok"}}}


def test_server_is_alive_while_its_store_is_down(run: Run) -> None:
    async def main() -> None:
        async with monitoring(room=Room("no space")) as server, RawClient(server) as caller:
            for path, status in (("/healthz", 200), ("/readyz", 503)):
                await caller.send(request("GET", path))
                assert (await answer(caller)).status == status

    run(main())


def metrics(request: Request) -> Response:
    return Response(200, [(b"content-length", b"7")], b"metrics")


@pytest.mark.parametrize("encodings", ["", "br, GZIP;q=0.5", "gzipped"])
def test_metrics_are_rendered_as_the_client_accepts_them(encodings: str) -> None:
    def ask(query: bytes, accept: str) -> tuple[str, str]:
        headers = [(b"accept", accept.encode("latin-1")), (b"accept-encoding", encodings.encode())]
        response = render_metrics(Request("GET", "/metrics", query, headers, dict(headers), ""))
        found = dict(response.headers)
        is_compressed = found.get(b"content-encoding") == b"gzip"
        assert is_compressed == ("GZIP" in encodings)
        body = gzip.decompress(response.body) if is_compressed else response.body
        return found[b"content-type"].decode(), body.decode()

    content_type, text = ask(b"", "text/plain;\u00e4")
    assert content_type.startswith("text/plain; ")
    assert "# TYPE python_info gauge" in text
    content_type, text = ask(b"name[]=python_info", "application/openmetrics-text")
    assert content_type.startswith("application/openmetrics-text; ")
    assert {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")} == {"python_info"}
    assert text.endswith("# EOF\n")


@pytest.mark.parametrize(
    ("method", "path", "status", "length"),
    [
        ("GET", "/healthz", 200, 16),
        ("HEAD", "/healthz", 200, 0),
        ("POST", "/healthz", 405, None),
        ("GET", "/readyz", 200, 49),
        ("HEAD", "/readyz", 200, 0),
        ("POST", "/readyz", 405, None),
        ("GET", "/metrics", 200, 7),
        ("POST", "/metrics", 405, None),
        ("GET", "/", 404, None),
        ("GET", "/healthz/", 404, None),
    ],
)
def test_metrics_and_health_are_served_on_one_port(
    run: Run, method: str, path: str, status: int, length: int | None
) -> None:
    async def main() -> None:
        async with monitoring() as server, RawClient(server) as caller:
            for _ in range(2):
                await caller.send(request(method, path, Accept="text/plain", X_Odd="\u00e4"))
                got = await answer(caller, head=method == "HEAD")
                assert got.status == status
                assert length is None or len(got.body) == length

    run(main())


def test_incomplete_requests_use_no_thread_and_time_out(run: Run) -> None:
    async def main() -> None:
        before = {*threading.enumerate()}
        limits = structs.replace(MONITORING_LIMITS, max_connections=10, request_timeout=0.0)
        async with monitoring(limits) as address:
            callers = [RawClient(address) for _ in range(30)]
            for caller in callers:
                await caller.__aenter__()
                with suppress(ConnectionError):
                    await caller.send(b"GET /metrics HTTP/1.1\r\n")
            assert {*threading.enumerate()} <= before
            statuses = Counter([(await answer(caller)).status for caller in callers])
            assert statuses == {503: 20, 408: 10}
            for caller in callers:
                assert await caller.read_to_end() == b""
                caller.close()

    run(main())


@asynccontextmanager
async def monitoring(limits: ConnectionLimits = MONITORING_LIMITS, room: Room | None = None) -> AsyncIterator[Address]:
    readiness = Readiness(["kuhn"], {"kuhn": room or Room()})
    server = HttpServer(MonitoringApp(metrics, readiness.report), limits, RoomCounters())
    yield await server.listen("127.0.0.1", 0)
    server.close()
    await server.drain(1.0)
