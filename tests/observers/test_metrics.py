"""MetricsCollector: counters of the rooms, of the store and of the event loop as Prometheus metrics."""

import re
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from croupier.core.histogram import BOUNDS_SECONDS, Histogram
from croupier.observers.counters import RoomCounters
from croupier.observers.metrics import COUNTERS, MetricsCollector

OPERATING = Path(__file__).parents[2] / "docs" / "operating.md"


class FakeStore:
    """A store with a full queue."""

    def __init__(self) -> None:
        self.pending_count = 7
        self.commit_times = {"loop": Histogram(), "thread": Histogram()}


def make_collector(*rooms: tuple[str, RoomCounters, int], store: FakeStore | None = None) -> MetricsCollector:
    return MetricsCollector(lambda: rooms, lambda: store, Histogram())


def scrape(*rooms: tuple[str, RoomCounters, int], store: FakeStore | None = None) -> list[str]:
    registry = CollectorRegistry()
    registry.register(make_collector(*rooms, store=store))
    return [line for line in generate_latest(registry).decode().splitlines() if not line.startswith("#")]


def test_each_counter_is_exported_with_its_room() -> None:
    counts = RoomCounters()
    for number, (name, _) in enumerate(COUNTERS, start=1):
        setattr(counts, name, number)
    lines = scrape(("kuhn", counts, 0))
    for number, (name, _) in enumerate(COUNTERS, start=1):
        assert f'croupier_{name}_total{{room="kuhn"}} {number}.0' in lines


def test_counters_of_a_new_room_are_zero() -> None:
    values = [line.rpartition(" ")[2] for line in scrape(("kuhn", RoomCounters(), 0)) if 'room="kuhn"' in line]
    assert values
    assert set(values) == {"0.0"}


def test_bytes_by_direction_and_refusals_by_reason() -> None:
    counts = RoomCounters()
    counts.bytes_received, counts.bytes_sent = 3, 5
    counts.refused["full"] += 2
    lines = scrape(("kuhn", counts, 7))
    assert 'croupier_traffic_bytes_total{direction="received",room="kuhn"} 3.0' in lines
    assert 'croupier_traffic_bytes_total{direction="sent",room="kuhn"} 5.0' in lines
    assert 'croupier_refused_total{reason="full",room="kuhn"} 2.0' in lines
    assert 'croupier_connected{room="kuhn"} 7.0' in lines


def test_rooms_have_separate_metrics() -> None:
    one, other = RoomCounters(), RoomCounters()
    one.games, other.games = 1, 2
    lines = scrape(("kuhn", one, 0), ("other", other, 0))
    assert 'croupier_games_total{room="kuhn"} 1.0' in lines
    assert 'croupier_games_total{room="other"} 2.0' in lines


def test_counters_are_read_on_each_scrape() -> None:
    counts, registry = RoomCounters(), CollectorRegistry()
    registry.register(make_collector(("kuhn", counts, 0)))
    counts.games = 9
    assert registry.get_sample_value("croupier_games_total", {"room": "kuhn"}) == 9.0
    counts.games = 10
    assert registry.get_sample_value("croupier_games_total", {"room": "kuhn"}) == 10.0


def test_all_counters_are_exported() -> None:
    """Every slot of RoomCounters is exported."""
    exported = {name for name, _ in COUNTERS} | {"bytes_received", "bytes_sent", "refused"}
    assert exported == set(vars(RoomCounters()))


def test_store_exports_its_queue_and_the_times_of_its_commits() -> None:
    store = FakeStore()
    for seconds in (0.00004, 0.00004, 0.003, 60.0):
        store.commit_times["loop"].observe(seconds)
    lines = scrape(store=store)
    assert "croupier_store_pending 7.0" in lines
    for le, count in (("1e-05", 0), ("5e-05", 2), ("0.002", 2), ("0.005", 3), ("5", 3), ("+Inf", 4)):
        assert f'croupier_store_commit_seconds_bucket{{le="{le}",place="loop"}} {count}.0' in lines
    assert 'croupier_store_commit_seconds_count{place="loop"} 4.0' in lines
    assert 'croupier_store_commit_seconds_count{place="thread"} 0.0' in lines
    assert 'croupier_store_commit_seconds_sum{place="loop"} 60.00308' in lines


def test_server_without_a_store_exports_no_figures_of_one() -> None:
    assert [line for line in scrape() if "store" in line] == []


def test_lag_of_the_loop_is_exported() -> None:
    lags, registry = Histogram(), CollectorRegistry()
    registry.register(MetricsCollector(list, lambda: None, lags))
    lags.observe(0.25)
    assert registry.get_sample_value("croupier_loop_lag_seconds_sum") == 0.25
    assert registry.get_sample_value("croupier_loop_lag_seconds_bucket", {"le": "0.2"}) == 0.0
    assert registry.get_sample_value("croupier_loop_lag_seconds_bucket", {"le": "0.5"}) == 1.0


@pytest.mark.parametrize("seconds", [0.0, *BOUNDS_SECONDS])
def test_duration_is_counted_in_the_bucket_of_the_next_bound(seconds: float) -> None:
    histogram = Histogram()
    histogram.observe(seconds)
    assert [count for bound, count in histogram.cumulative() if bound < seconds] == [0] * sum(
        bound < seconds for bound in BOUNDS_SECONDS
    )
    assert {count for bound, count in histogram.cumulative() if bound >= seconds} == {1}
    assert (sum(histogram.counts), histogram.seconds) == (1, seconds)


def test_every_metric_is_documented() -> None:
    registry = CollectorRegistry()
    registry.register(make_collector(("kuhn", RoomCounters(), 0), store=FakeStore()))
    exported = {f"{family.name}_total" if family.type == "counter" else family.name for family in registry.collect()}
    table = OPERATING.read_text("utf-8").partition("| Metric | Meaning |")[2].partition("\n\n")[0]
    assert {*re.findall(r"`(croupier_\w+)", table)} == exported
