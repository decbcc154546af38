"""MetricsCollector: figures of the rooms, of the store and of the event loop as Prometheus metrics."""

import re
from pathlib import Path

import pytest
from prometheus_client import REGISTRY, CollectorRegistry, Metric, generate_latest

from croupier.core.histogram import BOUNDS_SECONDS, Histogram
from croupier.observers.counters import ClusterCounters, RoomCounters
from croupier.observers.metrics import (
    CLUSTER_COUNTERS,
    CLUSTER_METRICS,
    FAMILY_TYPES,
    METRICS,
    ROOM_COUNTERS,
    MetricInfo,
    MetricsCollector,
)
from croupier.version import __version__
from tests.sampling import in_one_test

METRICS_PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"


class Room:
    """An open room."""

    def __init__(self, connection_count: int = 0, trouble: str | None = None) -> None:
        self.counts = RoomCounters()
        self.connection_count = connection_count
        self.unavailable_reason = trouble


class FakeStore:
    """A store with a full queue."""

    def __init__(self, outage: str | None = None) -> None:
        self.outage = outage
        self.pending_count = 7
        self.commit_times = {"loop": Histogram(), "thread": Histogram()}


class FakeNode:
    """A node that has two of its cluster's three houses."""

    def __init__(self) -> None:
        self.counts = ClusterCounters()
        self.total_houses = 3
        self.open_houses = 2
        self.live_nodes = 4
        self.is_bus_up = True


def make_registry(
    store: FakeStore | None = None,
    sync_times: Histogram | None = None,
    node: FakeNode | None = None,
    *,
    is_closing: bool = False,
    **rooms: Room,
) -> CollectorRegistry:
    registry = CollectorRegistry()
    collector = MetricsCollector(
        rooms, lambda: is_closing, lambda: store, Histogram(), sync_times, cluster=lambda: node
    )
    registry.register(collector)
    return registry


def scrape(store: FakeStore | None = None, *, is_closing: bool = False, **rooms: Room) -> list[str]:
    text = generate_latest(make_registry(store, is_closing=is_closing, **rooms)).decode()
    return [line for line in text.splitlines() if not line.startswith("#")]


def counter_names() -> list[str]:
    return [info.name.removeprefix("croupier_").removesuffix("_total") for info in ROOM_COUNTERS]


def test_each_counter_is_exported_with_its_room() -> None:
    room = Room()
    for number, name in enumerate(counter_names(), start=1):
        setattr(room.counts, name, number)
    lines = scrape(kuhn=room)
    for number, name in enumerate(counter_names(), start=1):
        assert f'croupier_{name}_total{{room="kuhn"}} {number}.0' in lines


def test_counters_of_a_new_room_are_zero() -> None:
    lines = [line for line in scrape(kuhn=Room()) if "_total" in line]
    assert len(lines) == len(ROOM_COUNTERS) + 2
    assert {line.rpartition(" ")[2] for line in lines} == {"0.0"}


def test_bytes_by_direction_and_refusals_by_reason() -> None:
    room = Room(connection_count=7)
    room.counts.bytes_received, room.counts.bytes_sent = 3, 5
    room.counts.refused["full"] += 2
    lines = scrape(kuhn=room)
    assert 'croupier_traffic_bytes_total{direction="received",room="kuhn"} 3.0' in lines
    assert 'croupier_traffic_bytes_total{direction="sent",room="kuhn"} 5.0' in lines
    assert 'croupier_refused_total{reason="full",room="kuhn"} 2.0' in lines
    assert 'croupier_connected{room="kuhn"} 7.0' in lines


def test_rooms_have_separate_metrics() -> None:
    one, other = Room(), Room(trouble="the disk is full")
    one.counts.games, other.counts.games = 1, 2
    lines = scrape(kuhn=one, other=other)
    assert 'croupier_games_total{room="kuhn"} 1.0' in lines
    assert 'croupier_games_total{room="other"} 2.0' in lines
    assert 'croupier_room_ready{room="kuhn"} 1.0' in lines
    assert 'croupier_room_ready{room="other"} 0.0' in lines


def test_counters_are_read_on_each_scrape() -> None:
    room = Room()
    registry = make_registry(kuhn=room)
    for games in (9, 10):
        room.counts.games = games
        assert registry.get_sample_value("croupier_games_total", {"room": "kuhn"}) == games


def test_all_counters_are_exported() -> None:
    """Every slot of RoomCounters is exported."""
    exported = {*counter_names(), "bytes_received", "bytes_sent", "refused", "command_times"}
    assert exported == set(vars(RoomCounters()))


def test_only_rooms_with_commands_export_their_times() -> None:
    holdem = Room()
    holdem.counts.command_times = Histogram()
    holdem.counts.command_times.observe(0.003)
    lines = [line for line in scrape(kuhn=Room(), holdem=holdem) if "command_seconds" in line]
    assert 'croupier_command_seconds_bucket{le="0.005",room="holdem"} 1.0' in lines
    assert all('room="holdem"' in line for line in lines)


@pytest.mark.parametrize("is_closing", [False, True])
def test_shutdown_and_version_are_exported(is_closing: bool) -> None:
    lines = scrape(is_closing=is_closing)
    assert f"croupier_closing {float(is_closing)}" in lines
    assert f'croupier_build_info{{version="{__version__}"}} 1.0' in lines


def test_store_that_is_down_is_exported() -> None:
    assert "croupier_store_up 1.0" in scrape(FakeStore())
    assert "croupier_store_up 0.0" in scrape(FakeStore("the disk is full"))


def test_store_exports_its_queue_and_the_times_of_its_commits() -> None:
    store = FakeStore()
    for seconds in (0.00004, 0.00004, 0.003, 60.0):
        store.commit_times["loop"].observe(seconds)
    lines = scrape(store)
    assert "croupier_store_pending 7.0" in lines
    for le, count in (("1e-05", 0), ("5e-05", 2), ("0.002", 2), ("0.005", 3), ("5", 3), ("+Inf", 4)):
        assert f'croupier_store_commit_seconds_bucket{{le="{le}",place="loop"}} {count}.0' in lines
    assert 'croupier_store_commit_seconds_count{place="loop"} 4.0' in lines
    assert 'croupier_store_commit_seconds_count{place="thread"} 0.0' in lines
    assert 'croupier_store_commit_seconds_sum{place="loop"} 60.00308' in lines


def test_server_without_a_store_exports_no_figures_of_one() -> None:
    assert [line for line in scrape() if "store" in line] == []


def test_lag_of_the_loop_and_fsyncs_of_the_record_are_exported() -> None:
    lags, syncs, registry = Histogram(), Histogram(), CollectorRegistry()
    registry.register(MetricsCollector({}, lambda: False, lambda: None, lags, syncs))
    lags.observe(0.25)
    syncs.observe(0.001)
    assert registry.get_sample_value("croupier_loop_lag_seconds_sum") == 0.25
    assert registry.get_sample_value("croupier_loop_lag_seconds_bucket", {"le": "0.2"}) == 0.0
    assert registry.get_sample_value("croupier_loop_lag_seconds_bucket", {"le": "0.5"}) == 1.0
    assert registry.get_sample_value("croupier_deals_sync_seconds_bucket", {"le": "0.001"}) == 1.0


def test_figures_of_a_node_are_exported() -> None:
    node = FakeNode()
    for number, info in enumerate(CLUSTER_COUNTERS, start=1):
        setattr(node.counts, info.name.removeprefix("croupier_cluster_").removesuffix("_total"), number)
    node.counts.forwarded["lost"] += 5
    node.counts.forward_times.observe(0.003)
    registry = make_registry(node=node)
    found = {info.name: registry.get_sample_value(info.name) for info in CLUSTER_METRICS}
    assert [found[info.name] for info in CLUSTER_COUNTERS] == [1, 2, 3]
    assert [found[f"croupier_cluster_{name}"] for name in ("houses", "houses_open", "nodes", "bus_up")] == [3, 2, 4, 1]
    outcomes = [{"outcome": outcome} for outcome in ("answered", "undelivered", "lost")]
    assert [registry.get_sample_value("croupier_cluster_forwarded_total", each) for each in outcomes] == [0, 0, 5]
    assert registry.get_sample_value("croupier_cluster_forward_seconds_bucket", {"le": "0.005"}) == 1


def test_server_that_is_no_node_exports_no_figures_of_a_cluster() -> None:
    assert [line for line in scrape(FakeStore()) if "cluster" in line] == []


def test_all_counters_of_a_node_are_exported() -> None:
    """Every slot of ClusterCounters is exported."""
    names = {info.name.removeprefix("croupier_cluster_").removesuffix("_total") for info in CLUSTER_COUNTERS}
    assert {*names, "forwarded", "forward_times"} == set(vars(ClusterCounters()))


@pytest.mark.parametrize("seconds", [0.0, *BOUNDS_SECONDS])
def test_duration_is_counted_in_the_bucket_of_the_next_bound(seconds: float) -> None:
    histogram = Histogram()
    histogram.observe(seconds)
    assert [count for bound, count in histogram.cumulative() if bound < seconds] == [0] * sum(
        bound < seconds for bound in BOUNDS_SECONDS
    )
    assert {count for bound, count in histogram.cumulative() if bound >= seconds} == {1}
    assert (sum(histogram.counts), histogram.seconds) == (1, seconds)


def exported_metrics() -> list[Metric]:
    """All metrics of a node with a store, hold'em and a dealer's record, each with a sample."""
    room = Room()
    room.counts.refused["full"] += 1
    room.counts.command_times = Histogram()
    return [*make_registry(FakeStore(), Histogram(), FakeNode(), holdem=room).collect(), *REGISTRY.collect()]


def full_name(metric: Metric) -> str:
    return f"{metric.name}_total" if metric.type == "counter" else metric.name


def documented_rows() -> dict[str, list[str]]:
    """The rows of the tables of docs/metrics.md by the name of the metric: type, unit, labels, meaning."""
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", METRICS_PAGE.read_text("utf-8"), re.MULTILINE)
    assert len({name for name, _ in rows}) == len(rows)
    return {name: cells.split(" | ") for name, cells in rows}


def test_exactly_the_exported_metrics_are_documented_with_type_and_labels() -> None:
    documented = {
        name: (kind, sorted(re.findall(r"`(\w+)`", labels))) for name, (kind, _, labels, _) in documented_rows().items()
    }
    exported = {}
    for metric in exported_metrics():
        labels = {label for sample in metric.samples for label in sample.labels} - {"le"}
        exported[full_name(metric)] = (metric.type, sorted(labels))
    assert documented == exported


def test_every_documented_metric_has_a_unit_and_a_meaning() -> None:
    for name, (_, unit, _, meaning) in documented_rows().items():
        assert unit.strip(), name
        assert meaning.endswith("."), name


@in_one_test
@pytest.mark.parametrize("info", METRICS, ids=lambda info: info.name)
def test_names_follow_the_conventions_of_prometheus(info: MetricInfo) -> None:
    """The rules of `promtool check metrics`, and base units at the end of the name."""
    assert re.fullmatch(r"croupier(_[a-z]+)+", info.name)
    assert info.name.endswith("_total") == (info.type == "counter")
    assert not info.name.endswith(("_count", "_sum", "_bucket"))
    assert not {*info.name.split("_")} & {"ms", "milliseconds", "minutes", "kb", "percent", *FAMILY_TYPES}
    assert info.meaning.endswith(".")
    assert not {*info.labels} & {"le", "quantile", "job", "instance"}
    for unit in ("seconds", "bytes"):
        assert (info.unit == unit) == info.name.removesuffix("_total").endswith(f"_{unit}")
