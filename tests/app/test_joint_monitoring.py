"""A supervisor answers for all workers: sums of metrics, the worst state of rooms."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from croupier.app import joint_monitoring
from croupier.app.joint_monitoring import JointMonitoringApp, MergedMetrics, serve_figures
from croupier.app.readiness import Readiness
from croupier.cluster.local_bus import LocalBus
from croupier.cluster.local_hub import LocalHub
from croupier.http.messages import Request, Response, settle
from tests.net.raw_client import Run

ONE = """
# HELP croupier_games_total Games.
# TYPE croupier_games_total counter
croupier_games_total{room="kuhn"} 3.0
croupier_games_total{room="holdem"} 1.0
# HELP croupier_room_ready Ready.
# TYPE croupier_room_ready gauge
croupier_room_ready{room="kuhn"} 1.0
# HELP croupier_loop_lag_seconds Lag.
# TYPE croupier_loop_lag_seconds histogram
croupier_loop_lag_seconds_bucket{le="0.1"} 4.0
croupier_loop_lag_seconds_bucket{le="+Inf"} 5.0
croupier_loop_lag_seconds_count 5.0
croupier_loop_lag_seconds_sum 0.5
# HELP process_open_fds Descriptors.
# TYPE process_open_fds gauge
process_open_fds 20.0
"""

TWO = """
# HELP croupier_games_total Games.
# TYPE croupier_games_total counter
croupier_games_total{room="kuhn"} 4.0
# HELP croupier_room_ready Ready.
# TYPE croupier_room_ready gauge
croupier_room_ready{room="kuhn"} 0.0
# HELP croupier_loop_lag_seconds Lag.
# TYPE croupier_loop_lag_seconds histogram
croupier_loop_lag_seconds_bucket{le="0.1"} 1.0
croupier_loop_lag_seconds_bucket{le="+Inf"} 1.0
croupier_loop_lag_seconds_count 1.0
croupier_loop_lag_seconds_sum 0.25
# HELP process_open_fds Descriptors.
# TYPE process_open_fds gauge
process_open_fds 10.0
"""


def test_metrics_of_workers_are_added_up() -> None:
    samples = {
        (sample.name, *sample.labels.values()): sample.value
        for metric in MergedMetrics({1: ONE, 2: TWO}).collect()
        for sample in metric.samples
    }
    assert samples == {
        ("croupier_games_total", "kuhn"): 7,
        ("croupier_games_total", "holdem"): 1,
        ("croupier_room_ready", "kuhn"): 0,
        ("croupier_loop_lag_seconds_bucket", "0.1"): 5,
        ("croupier_loop_lag_seconds_bucket", "+Inf"): 6,
        ("croupier_loop_lag_seconds_count",): 6,
        ("croupier_loop_lag_seconds_sum",): 0.75,
        ("process_open_fds", "1"): 20,
        ("process_open_fds", "2"): 10,
    }


def _request(method: str, path: str) -> Request:
    return Request(method, path, b"", [], {}, "127.0.0.1", is_complete=True)


class Room:
    """A room that is up or down."""

    def __init__(self, reason: str | None = None) -> None:
        self.unavailable_reason = reason


@asynccontextmanager
async def monitored(*workers: Mapping[str, Room], names: Sequence[str] = ("kuhn", "holdem")) -> Any:
    """What a supervisor of these workers answers, and their connections; they have room for more."""
    hub = LocalHub()
    own, *buses = [await LocalBus.open(await hub.attach()) for _ in range(len(workers) + 1)]
    for number, (bus, rooms) in enumerate(zip(buses, workers, strict=True)):
        await serve_figures(bus, number, Readiness([*rooms], rooms))
        await bus.compare_and_set(f"flushed.{number}", b"", 0)
    app = JointMonitoringApp(own, lambda: {slot: slot for slot in range(len(workers))}, names, lambda: False)

    async def get(path: str) -> tuple[int, Any]:
        response: Response = await settle(app.open(_request("GET", path)))
        if path in {"/healthz", "/readyz"}:
            assert (b"cache-control", b"no-store") in response.headers
            assert (b"content-length", b"%d" % len(response.body)) in response.headers
            assert (await settle(app.open(_request("POST", path)))).status == 405
        return response.status, json.loads(response.body) if response.body[:1] == b"{" else response.body

    yield get, buses
    hub.close()
    await asyncio.wait([bus.lost for bus in (own, *buses)])


def test_room_is_ready_if_no_worker_has_it_down(run: Run) -> None:
    async def main() -> None:
        async with monitored({"kuhn": Room(), "holdem": Room()}, {"kuhn": Room()}) as (get, _):
            ok = {"status": "ok"}
            assert await get("/readyz") == (200, {"status": "ok", "rooms": {"kuhn": ok, "holdem": ok}})
            assert await get("/healthz") == (200, {"status": "ok"})
            status, text = await get("/metrics")
            assert (status, b'worker="2"' in text) == (200, True)
            assert (await get("/other"))[0] == 404
        async with monitored({"kuhn": Room()}, {"kuhn": Room("the disk is full")}) as (get, _):
            rooms = {"kuhn": "the disk is full", "holdem": "the room is not open yet"}
            down = {name: {"status": "down", "reason": reason} for name, reason in rooms.items()}
            assert await get("/readyz") == (503, {"status": "down", "rooms": down})

    run(main())


def test_worker_that_does_not_answer_makes_the_server_unhealthy(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joint_monitoring, "ANSWER_SECONDS", 0.05)

    async def main() -> None:
        async with monitored({"kuhn": Room(), "holdem": Room()}, {"kuhn": Room()}) as (get, buses):
            await buses[1].close()
            for path in ("/healthz", "/readyz"):
                status, body = await get(path)
                assert status == 503
                assert body["status"] == "down"
                assert "no answer from worker 2" in json.dumps(body)
            assert (await get("/metrics"))[0] == 200

    run(main())
