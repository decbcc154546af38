"""Counters of a room's connections, messages and games, as plain integers."""

from collections import Counter


class RoomCounters:
    """Counts since the room was opened. The hot path only ever adds to them."""

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
