"""MetricsCollector: counters of the rooms as Prometheus metrics."""

from prometheus_client import CollectorRegistry, generate_latest

from croupier.observers.counters import RoomCounters
from croupier.observers.metrics import COUNTERS, MetricsCollector


def scrape(*rooms: tuple[str, RoomCounters, int]) -> list[str]:
    registry = CollectorRegistry()
    registry.register(MetricsCollector(lambda: rooms))
    return [line for line in generate_latest(registry).decode().splitlines() if not line.startswith("#")]


def test_each_counter_is_exported_with_its_room() -> None:
    counts = RoomCounters()
    for number, (name, _) in enumerate(COUNTERS, start=1):
        setattr(counts, name, number)
    lines = scrape(("kuhn", counts, 0))
    for number, (name, _) in enumerate(COUNTERS, start=1):
        assert f'croupier_{name}_total{{room="kuhn"}} {number}.0' in lines


def test_counters_of_a_new_room_are_zero() -> None:
    values = [line.rpartition(" ")[2] for line in scrape(("kuhn", RoomCounters(), 0))]
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
    registry.register(MetricsCollector(lambda: [("kuhn", counts, 0)]))
    counts.games = 9
    assert registry.get_sample_value("croupier_games_total", {"room": "kuhn"}) == 9.0
    counts.games = 10
    assert registry.get_sample_value("croupier_games_total", {"room": "kuhn"}) == 10.0


def test_all_counters_are_exported() -> None:
    """Every slot of RoomCounters is exported."""
    exported = {name for name, _ in COUNTERS} | {"bytes_received", "bytes_sent", "refused"}
    assert exported == set(RoomCounters.__slots__)
