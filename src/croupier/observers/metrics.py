"""Exports the counters of the rooms, of the store and of the event loop to Prometheus."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf
from typing import Protocol

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

from croupier.core.histogram import Histogram
from croupier.observers.counters import RoomCounters

COUNTERS = (
    ("connections", "Connections that were accepted."),
    ("games", "Games that were finished, forfeited or void."),
    ("messages_received", "Messages from peers."),
    ("messages_sent", "Messages to peers."),
    ("violations", "Messages from peers that break the protocol."),
    ("overflows", "Peers dropped because they did not read what they were sent."),
    ("undeliverable", "Messages to peers that were not connected."),
    ("observer_failures", "Failures of observers: the dealer's record, the conversation log."),
)
"""Counters and their descriptions; the metric is called `croupier_NAME_total`."""


class StoreFigures(Protocol):
    """The figures of a store."""

    @property
    def pending_count(self) -> int:
        """The number of facts that wait to be written."""
        ...

    @property
    def commit_times(self) -> Mapping[str, Histogram]:
        """How long commits took, by the place where they were made."""
        ...


class MetricsCollector(Collector):
    """Collects the counters of every room, of the store and of the event loop on each scrape.

    `rooms` returns (name, counters, open connections), `store` the store, or None if none is open. `loop_lags` are the
    delays of timers.
    """

    def __init__(
        self,
        rooms: Callable[[], Sequence[tuple[str, RoomCounters, int]]],
        store: Callable[[], StoreFigures | None],
        loop_lags: Histogram,
    ) -> None:
        self._rooms = rooms
        self._store = store
        self._loop_lags = loop_lags

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics."""
        yield from self._collect_rooms()
        yield from self._collect_store()
        lags = HistogramMetricFamily("croupier_loop_lag_seconds", "Delays of the event loop's timers.")
        _add_histogram(lags, [], self._loop_lags)
        yield lags

    def _collect_rooms(self) -> Iterator[Metric]:
        """Yield the metrics that are labelled with the room."""
        rooms = self._rooms()
        for name, description in COUNTERS:
            family = CounterMetricFamily(f"croupier_{name}", description, labels=["room"])
            for room, counts, _ in rooms:
                family.add_metric([room], getattr(counts, name))
            yield family
        traffic = CounterMetricFamily(
            "croupier_traffic_bytes", "Bytes on the wire, by direction.", labels=["room", "direction"]
        )
        refused = CounterMetricFamily(
            "croupier_refused", "Connections that were refused, by reason.", labels=["room", "reason"]
        )
        connections = GaugeMetricFamily("croupier_connected", "Connections that are open now.", labels=["room"])
        for room, counts, connected in rooms:
            traffic.add_metric([room, "received"], counts.bytes_received)
            traffic.add_metric([room, "sent"], counts.bytes_sent)
            for reason, number in sorted(counts.refused.items()):
                refused.add_metric([room, reason], number)
            connections.add_metric([room], connected)
        yield from (traffic, refused, connections)

    def _collect_store(self) -> Iterator[Metric]:
        pending = GaugeMetricFamily("croupier_store_pending", "Facts that wait to be written to the store.")
        commits = HistogramMetricFamily(
            "croupier_store_commit_seconds", "Times of the store's commits, until they are on disk.", labels=["place"]
        )
        if (store := self._store()) is not None:
            pending.add_metric([], store.pending_count)
            for place, times in store.commit_times.items():
                _add_histogram(commits, [place], times)
        yield from (pending, commits)


def _add_histogram(family: HistogramMetricFamily, labels: Sequence[str], histogram: Histogram) -> None:
    buckets = [("+Inf" if bound == inf else f"{bound:g}", float(count)) for bound, count in histogram.cumulative()]
    family.add_metric(labels, buckets, histogram.seconds)
