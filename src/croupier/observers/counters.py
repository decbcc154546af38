"""Counters of a room's connections, messages and games, and of a node of a cluster, as plain integers."""

from collections import Counter
from typing import Literal, Protocol

from croupier.core.histogram import Histogram


class RoomCounters:
    """Counts since the room was opened. The hot path only ever adds to them.

    `command_times` is how long commands took until they were durable, None in rooms without commands.
    """

    def __init__(self) -> None:
        self.connections = 0
        self.messages_received = 0
        self.messages_sent = 0
        self.bytes_received = 0
        self.bytes_sent = 0
        self.violations = 0
        self.games = 0
        self.overflows = 0
        self.undeliverable = 0
        self.observer_failures = 0
        self.refused: Counter[str] = Counter()
        self.command_times: Histogram | None = None


class RoomFigures(Protocol):
    """The figures of an open room."""

    @property
    def counts(self) -> RoomCounters:
        """Counters since the room was opened."""
        ...

    @property
    def connection_count(self) -> int:
        """The number of clients that are connected now."""
        ...

    @property
    def unavailable_reason(self) -> str | None:
        """The reason why no games can be played now, or None if they can."""
        ...


type ForwardOutcome = Literal["answered", "undelivered", "lost"]
"""What became of a request that was sent to another node: the node answered; it was not the owner of the house, or was
not reached, so that nothing was done; or no answer came, and it may have been carried out."""


class ClusterCounters:
    """Counts of a node since its start.

    `takeovers` are houses that it has claimed from other nodes, `renewals_failed` renewals of its lease that were not
    acknowledged, and `fenced` how often it stopped because its lease had lapsed, or another process had its name.
    `forwarded` are the requests that it has sent to other nodes, and `forward_times` how long answers took.
    """

    def __init__(self) -> None:
        self.takeovers = 0
        self.renewals_failed = 0
        self.fenced = 0
        self.forwarded: Counter[ForwardOutcome] = Counter({"answered": 0, "undelivered": 0, "lost": 0})
        self.forward_times = Histogram()
