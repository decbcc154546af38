"""Tells Prometheus what was counted at the tables."""

from collections.abc import Callable, Iterator, Sequence

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from croupier.observers.counters import RoomCounters

COUNTERS = (
    ("connections", "Connections that were seated."),
    ("games", "Games that were finished, forfeited or void."),
    ("messages_received", "Messages from peers."),
    ("messages_sent", "Messages to peers."),
    ("violations", "Messages from peers that could not be understood."),
    ("overflows", "Peers dropped because they did not read what they were sent."),
    ("undeliverable", "Messages to peers that were not there."),
    ("observer_failures", "Failures of what only observes: the dealer's record, the conversation log."),
)
"""Counters by name: `croupier_NAME_total`."""


class MetricsCollector(Collector):
    """Reads the counts of every room when it is scraped. `rooms` answers (name, counts, peers seated now)."""

    def __init__(self, rooms: Callable[[], Sequence[tuple[str, RoomCounters, int]]]) -> None:
        self._rooms = rooms

    def collect(self) -> Iterator[Metric]:
        """All metrics, labelled with the room."""
        rooms = self._rooms()
        for name, told in COUNTERS:
            family = CounterMetricFamily(f"croupier_{name}", told, labels=["room"])
            for room, counts, _ in rooms:
                family.add_metric([room], getattr(counts, name))
            yield family
        traffic = CounterMetricFamily(
            "croupier_traffic_bytes", "Bytes on the wire, by direction.", labels=["room", "direction"]
        )
        refused = CounterMetricFamily(
            "croupier_refused", "Connections that were refused, by reason.", labels=["room", "reason"]
        )
        seated = GaugeMetricFamily("croupier_connected", "Connections that are seated now.", labels=["room"])
        for room, counts, connected in rooms:
            traffic.add_metric([room, "received"], counts.bytes_received)
            traffic.add_metric([room, "sent"], counts.bytes_sent)
            for reason, number in sorted(counts.refused.items()):
                refused.add_metric([room, reason], number)
            seated.add_metric([room], connected)
        yield from (traffic, refused, seated)
