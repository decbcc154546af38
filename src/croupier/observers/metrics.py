"""Exports the counters of the rooms to Prometheus."""

from collections.abc import Callable, Iterator, Sequence

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

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


class MetricsCollector(Collector):
    """Collects the counters of every room on each scrape. `rooms` returns (name, counters, open connections)."""

    def __init__(self, rooms: Callable[[], Sequence[tuple[str, RoomCounters, int]]]) -> None:
        self._rooms = rooms

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics, labelled with the room."""
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
