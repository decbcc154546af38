"""Exports the figures of the rooms, of the store, of the cluster and of the event loop to Prometheus.

`METRICS` is the list of all metrics; docs/metrics.md is generated from it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf
from typing import Any, Final, Literal, Protocol

from msgspec import Struct
from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

from croupier.core.histogram import Histogram
from croupier.observers.counters import ClusterCounters, RoomFigures
from croupier.version import __version__

FAMILY_TYPES: Final = {"counter": CounterMetricFamily, "gauge": GaugeMetricFamily, "histogram": HistogramMetricFamily}


class MetricInfo(Struct, frozen=True):
    """A metric: its name as Prometheus stores it, its type, the unit of its values, its meaning and its labels."""

    name: str
    type: Literal["counter", "gauge", "histogram"]
    unit: str
    meaning: str
    labels: tuple[str, ...] = ()


ROOM: Final = ("room",)

ROOM_COUNTERS: Final = (
    MetricInfo("croupier_connections_total", "counter", "connections", "Connections that were accepted.", ROOM),
    MetricInfo("croupier_games_total", "counter", "games", "Games that were finished, forfeited or void.", ROOM),
    MetricInfo("croupier_messages_received_total", "counter", "messages", "Messages from clients.", ROOM),
    MetricInfo("croupier_messages_sent_total", "counter", "messages", "Messages to clients.", ROOM),
    MetricInfo("croupier_violations_total", "counter", "messages", "Messages that could not be parsed.", ROOM),
    MetricInfo(
        "croupier_overflows_total", "counter", "clients", "Clients disconnected because they did not read.", ROOM
    ),
    MetricInfo(
        "croupier_undeliverable_total",
        "counter",
        "messages",
        "Messages to clients that were not connected: a bug of the server.",
        ROOM,
    ),
    MetricInfo(
        "croupier_observer_failures_total",
        "counter",
        "failures",
        "Failures of the dealer's record, the conversation log or another observer.",
        ROOM,
    ),
)
"""`croupier_NAME_total` is the attribute NAME of `RoomCounters`."""

CLUSTER_COUNTERS: Final = (
    MetricInfo(
        "croupier_cluster_takeovers_total",
        "counter",
        "houses",
        "Houses that this node has taken over because their owner was gone.",
    ),
    MetricInfo(
        "croupier_cluster_renewals_failed_total",
        "counter",
        "renewals",
        "Renewals of the lease that the bus has not acknowledged.",
    ),
    MetricInfo(
        "croupier_cluster_fenced_total",
        "counter",
        "times",
        "How often this node stopped its houses because its lease had lapsed, or another process had its name.",
    ),
)
"""`croupier_cluster_NAME_total` is the attribute NAME of `ClusterCounters`."""

CLUSTER_METRICS: Final = (
    *CLUSTER_COUNTERS,
    MetricInfo(
        "croupier_cluster_houses",
        "gauge",
        "houses",
        "The houses in the whole cluster: those of hold'em (--houses), and the table of Old Maid.",
    ),
    MetricInfo("croupier_cluster_houses_open", "gauge", "houses", "The houses that run at this node."),
    MetricInfo("croupier_cluster_nodes", "gauge", "nodes", "The nodes that are alive, as this one sees them."),
    MetricInfo("croupier_cluster_bus_up", "gauge", "0 or 1", "Whether this node is connected to the bus."),
    MetricInfo(
        "croupier_cluster_forwarded_total",
        "counter",
        "requests",
        "Requests that this node has sent to other nodes, by outcome: answered; undelivered, so that nothing was done; "
        "lost, without an answer.",
        ("outcome",),
    ),
    MetricInfo(
        "croupier_cluster_forward_seconds",
        "histogram",
        "seconds",
        "From sending a request to another node until its answer came.",
    ),
)

METRICS: Final = (
    *ROOM_COUNTERS,
    MetricInfo(
        "croupier_traffic_bytes_total", "counter", "bytes", "Bytes, by direction: received, sent.", (*ROOM, "direction")
    ),
    MetricInfo(
        "croupier_refused_total",
        "counter",
        "connections",
        "Connections that were refused, by reason: connections, per_address, closing, store, account, cluster, proxy.",
        (*ROOM, "reason"),
    ),
    MetricInfo("croupier_connected", "gauge", "connections", "Connections that are open now.", ROOM),
    MetricInfo("croupier_room_ready", "gauge", "0 or 1", "Whether the room can be played in now.", ROOM),
    MetricInfo(
        "croupier_command_seconds",
        "histogram",
        "seconds",
        "Hold'em: from the arrival of a command, such as an act, until its answer is known and durable.",
        ROOM,
    ),
    MetricInfo("croupier_closing", "gauge", "0 or 1", "Whether the server is shutting down."),
    MetricInfo("croupier_build_info", "gauge", "1", "The version of the server.", ("version",)),
    MetricInfo(
        "croupier_loop_lag_seconds",
        "histogram",
        "seconds",
        "How late the event loop runs its timers, measured ten times a second; clients wait this long, too.",
    ),
    MetricInfo("croupier_store_up", "gauge", "0 or 1", "Whether the store can be written to."),
    MetricInfo("croupier_store_pending", "gauge", "facts", "The queue: facts that wait to be written to the store."),
    MetricInfo(
        "croupier_store_commit_seconds",
        "histogram",
        "seconds",
        "How long commits took until they were on disk, by place: loop or thread (SQLite), server (PostgreSQL).",
        ("place",),
    ),
    MetricInfo(
        "croupier_deals_sync_seconds",
        "histogram",
        "seconds",
        "How long fsync took for the file of the dealer's record (--deals) in durable rooms.",
    ),
    *CLUSTER_METRICS,
)
"""All metrics of the server.

Those of the store need a store, that of the dealer's record --deals, those of the cluster --bus or --workers.
"""

_INFO: Final = {info.name: info for info in METRICS}


class StoreFigures(Protocol):
    """The figures of a store."""

    @property
    def outage(self) -> str | None:
        """The reason why nothing can be written now, None if the store is writable."""
        ...

    @property
    def pending_count(self) -> int:
        """The number of facts that wait to be written."""
        ...

    @property
    def commit_times(self) -> Mapping[str, Histogram]:
        """How long commits took, by the place where they were made."""
        ...


class ClusterFigures(Protocol):
    """The figures of a node of a cluster."""

    @property
    def counts(self) -> ClusterCounters:
        """Counters since the start."""
        ...

    @property
    def total_houses(self) -> int:
        """The number of houses in the cluster."""
        ...

    @property
    def open_houses(self) -> int:
        """The number of houses that run here."""
        ...

    @property
    def live_nodes(self) -> int:
        """The number of nodes that are alive."""
        ...

    @property
    def is_bus_up(self) -> bool:
        """Whether the bus is connected."""
        ...


class MetricsCollector(Collector):
    """Collects all metrics on each scrape.

    `rooms` are the open rooms by name; `is_closing` returns whether the server is shutting down; `store` returns the
    store, or None if none is open, and `cluster` the figures of this server as a node, None if it is not one.
    `loop_lags` are the delays of timers, `sync_times` the durations of fsync for the dealer's record, None without one.
    """

    def __init__(
        self,
        rooms: Mapping[str, RoomFigures],
        is_closing: Callable[[], bool],
        store: Callable[[], StoreFigures | None],
        loop_lags: Histogram,
        sync_times: Histogram | None = None,
        *,
        cluster: Callable[[], ClusterFigures | None] = lambda: None,
    ) -> None:
        self._rooms = rooms
        self._is_closing = is_closing
        self._store = store
        self._loop_lags = loop_lags
        self._sync_times = sync_times
        self._cluster = cluster

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics."""
        yield from self._collect_rooms()
        yield from self._collect_server()
        if (store := self._store()) is not None:
            yield from self._collect_store(store)
        if self._sync_times is not None:
            yield _histogram("croupier_deals_sync_seconds", {(): self._sync_times})
        if (cluster := self._cluster()) is not None:
            yield from self._collect_cluster(cluster)

    def _collect_rooms(self) -> Iterator[Metric]:
        """Yield the metrics that are labelled with the room."""
        counts = {name: room.counts for name, room in self._rooms.items()}
        for info in ROOM_COUNTERS:
            attribute = info.name.removeprefix("croupier_").removesuffix("_total")
            yield _family(info.name, {(name,): getattr(each, attribute) for name, each in counts.items()})
        traffic: dict[Labels, float] = {(name, "received"): each.bytes_received for name, each in counts.items()}
        traffic |= {(name, "sent"): each.bytes_sent for name, each in counts.items()}
        yield _family("croupier_traffic_bytes_total", traffic)
        refused: dict[Labels, float] = {
            (name, reason): number for name, each in counts.items() for reason, number in sorted(each.refused.items())
        }
        yield _family("croupier_refused_total", refused)
        rooms = self._rooms.items()
        yield _family("croupier_connected", {(name,): room.connection_count for name, room in rooms})
        yield _family("croupier_room_ready", {(name,): room.unavailable_reason is None for name, room in rooms})
        times: dict[Labels, Histogram] = {
            (name,): each.command_times for name, each in counts.items() if each.command_times is not None
        }
        yield _histogram("croupier_command_seconds", times)

    def _collect_server(self) -> Iterator[Metric]:
        yield _family("croupier_closing", {(): self._is_closing()})
        yield _family("croupier_build_info", {(__version__,): 1})
        yield _histogram("croupier_loop_lag_seconds", {(): self._loop_lags})

    def _collect_store(self, store: StoreFigures) -> Iterator[Metric]:
        yield _family("croupier_store_up", {(): store.outage is None})
        yield _family("croupier_store_pending", {(): store.pending_count})
        yield _histogram(
            "croupier_store_commit_seconds", {(place,): each for place, each in store.commit_times.items()}
        )

    def _collect_cluster(self, cluster: ClusterFigures) -> Iterator[Metric]:
        counts = cluster.counts
        for info in CLUSTER_COUNTERS:
            attribute = info.name.removeprefix("croupier_cluster_").removesuffix("_total")
            yield _family(info.name, {(): getattr(counts, attribute)})
        yield _family("croupier_cluster_houses", {(): cluster.total_houses})
        yield _family("croupier_cluster_houses_open", {(): cluster.open_houses})
        yield _family("croupier_cluster_nodes", {(): cluster.live_nodes})
        yield _family("croupier_cluster_bus_up", {(): cluster.is_bus_up})
        forwarded: dict[Labels, float] = {(outcome,): number for outcome, number in counts.forwarded.items()}
        yield _family("croupier_cluster_forwarded_total", forwarded)
        yield _histogram("croupier_cluster_forward_seconds", {(): counts.forward_times})


type Labels = tuple[str, ...]


def _family(name: str, values: Mapping[Labels, float]) -> Metric:
    """Return a metric with its values by their labels."""
    return _with_samples(name, {labels: (value,) for labels, value in values.items()})


def _histogram(name: str, histograms: Mapping[Labels, Histogram]) -> Metric:
    """Return a metric with its histograms by their labels."""
    return _with_samples(name, {labels: (_buckets(each), each.seconds) for labels, each in histograms.items()})


def _with_samples(name: str, samples: Mapping[Labels, tuple[object, ...]]) -> Metric:
    info = _INFO[name]
    family: Any = FAMILY_TYPES[info.type](name.removesuffix("_total"), info.meaning, labels=info.labels)
    for labels, sample in samples.items():
        family.add_metric(labels, *sample)
    metric: Metric = family
    return metric


def _buckets(histogram: Histogram) -> Sequence[tuple[str, float]]:
    return [("+Inf" if bound == inf else f"{bound:g}", float(count)) for bound, count in histogram.cumulative()]
