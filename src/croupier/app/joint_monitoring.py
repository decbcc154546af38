"""Monitoring of a server of several processes: the supervisor asks its workers, and adds up what they answer."""

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

import msgspec
from prometheus_client import CollectorRegistry, Metric, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

from croupier.app.health import (
    LIVENESS_PATH,
    METRICS_PATH,
    PATHS,
    READINESS_PATH,
    MonitoringApp,
    render_metrics,
    report_alive,
)
from croupier.app.readiness import NOT_OPEN, Readiness, render_report
from croupier.cluster.bus import Bus, BusUnavailable
from croupier.http.messages import Answer, Application, Request, Response, run_later

ANSWER_SECONDS: Final = 5.0
"""A worker that takes longer does not run."""

OWN_PREFIX: Final = "croupier_"
"""Metrics with other names describe a process. They are not added up, but labelled with the worker."""

MERGES: Final[Mapping[str, Callable[[Iterable[float]], float]]] = {
    "croupier_build_info": max,
    "croupier_closing": max,
    "croupier_cluster_bus_up": min,
    "croupier_cluster_houses": max,
    "croupier_cluster_nodes": max,
    "croupier_room_ready": min,
    "croupier_store_up": min,
}
"""How the values of several workers become one. Those of all other metrics are added up."""

_decode_reasons: Final = msgspec.json.Decoder(dict[str, str | None]).decode


def monitoring_subject(number: int, path: str) -> str:
    """The subject of requests for what a worker contributes to a path of the monitoring."""
    return f"worker.{number}.{path.strip('/')}"


async def serve_figures(bus: Bus, number: int, readiness: Readiness) -> None:
    """Let a worker answer what the supervisor asks for each path of the monitoring."""

    async def alive(_: bytes) -> bytes:
        return b""

    async def ready(_: bytes) -> bytes:
        return msgspec.json.encode(readiness.reasons())

    async def metrics(_: bytes) -> bytes:
        return generate_latest()

    for path, answer in ((LIVENESS_PATH, alive), (READINESS_PATH, ready), (METRICS_PATH, metrics)):
        await bus.serve(monitoring_subject(number, path), answer)


class JointMonitoringApp(Application):
    """The application of the metrics port of a supervisor. See `MonitoringApp`.

    `workers` returns the numbers of the workers whose rooms are open, by their slots. /healthz is 503 if one of them
    does not answer.
    """

    def __init__(
        self,
        bus: Bus,
        workers: Callable[[], Mapping[int, int]],
        room_names: Sequence[str],
        is_closing: Callable[[], bool],
    ) -> None:
        self._bus = bus
        self._workers = workers
        self._names = room_names
        self._is_closing = is_closing

    def open(self, request: Request) -> Answer:
        """Answer a request when all workers have answered."""
        return run_later(self._answer(request))

    async def _answer(self, request: Request) -> Response:
        slots = self._workers() if request.path in PATHS else {}
        asked = [self._ask(number, request.path) for number in slots.values()]
        answers = dict(zip(slots, await asyncio.gather(*asked), strict=True))
        present = {slot + 1: answer for slot, answer in answers.items() if answer is not None}
        silent = [slot + 1 for slot, answer in answers.items() if answer is None]
        registry = CollectorRegistry()
        if request.path == METRICS_PATH:
            registry.register(MergedMetrics({worker: text.decode() for worker, text in present.items()}))
        found = [_decode_reasons(answer) for answer in present.values()] if request.path == READINESS_PATH else []
        reasons = joint_reasons(self._names, found, silent)
        report = partial(render_report, is_closing=self._is_closing())
        report_liveness = partial(report, {"server": silence(silent)}) if silent else report_alive
        app = MonitoringApp(partial(render_metrics, registry=registry), partial(report, reasons), report_liveness)
        return app.open(request)

    async def _ask(self, number: int, path: str) -> bytes | None:
        """Ask a worker; None if it does not answer."""
        try:
            return await self._bus.request(monitoring_subject(number, path), b"", ANSWER_SECONDS)
        except BusUnavailable:
            return None


def silence(workers: Collection[int]) -> str:
    """The reason why a server is down if these workers do not answer.

    >>> silence([2, 3])
    'no answer from worker 2, 3'
    """
    return f"no answer from worker {', '.join(map(str, workers))}"


def joint_reasons(
    room_names: Sequence[str], answers: Sequence[Mapping[str, str | None]], silent: Collection[int]
) -> Mapping[str, str | None]:
    """For each room, return the reason why no games can be played in it now, None if they can.

    `answers` has the reasons of the rooms of each worker, and `silent` the workers that do not answer. A server can be
    used if each room is open, and none of its processes is down.
    """
    if silent:
        return dict.fromkeys(room_names, silence(silent))
    found = {name: [answer[name] for answer in answers if name in answer] for name in room_names}
    return {
        name: next((each for each in reasons if each is not None), None) if reasons else NOT_OPEN
        for name, reasons in found.items()
    }


class MergedMetrics(Collector):
    """The metrics of all workers as those of one server. `texts` are their metrics in Prometheus' text format."""

    def __init__(self, texts: Mapping[int, str]) -> None:
        self._texts = texts

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics."""
        merged: dict[str, Metric] = {}
        samples: dict[str, dict[tuple[str, tuple[tuple[str, str], ...]], list[float]]] = {}
        for worker, text in self._texts.items():
            for family in text_string_to_metric_families(text):
                name = family.name
                merged.setdefault(name, Metric(name, family.documentation, family.type))
                values = samples.setdefault(name, {})
                for sample in family.samples:
                    labels = sample.labels
                    if not name.startswith(OWN_PREFIX):
                        labels = {**labels, "worker": str(worker)}
                    values.setdefault((sample.name, tuple(labels.items())), []).append(sample.value)
        for name, metric in merged.items():
            merge = MERGES.get(name, sum)
            metric.samples = [
                Sample(sample, dict(labels), merge(values)) for (sample, labels), values in samples[name].items()
            ]
            yield metric
