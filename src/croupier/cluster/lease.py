"""Leases of nodes: which nodes live, and whether this one may still write. No clock, no socket: `now` is an argument.

Every node renews a key; the others see the renewals through a watch, and judge by their own clocks. So clocks need not
agree, and only their rates matter.
"""

from collections.abc import Collection
from hashlib import sha256
from math import inf
from typing import Final, Literal, NamedTuple

from msgspec import Struct


class Timing(NamedTuple):
    """The times of a cluster, in seconds; the same for all of its nodes.

    A node renews its lease every `renew`. One that has renewed nothing for `lease` counts as dead, and stops writing
    before the others know. A node judges others only if its own renewal came back within `judge`: its watch might have
    ended silently. A free house is claimed by its preferred owner at once, by others `wait` later. Houses move to their
    preferred owners when the nodes have been the same for `settle`. All of that is looked at every `check`.
    """

    renew: float = 0.5
    lease: float = 3.0
    judge: float = 1.5
    wait: float = 1.0
    settle: float = 2.0
    check: float = 0.1


type NodeState = Literal["ready", "draining", "stopped"]
"""What a node says of itself: it takes houses; it takes no more; it has ended in order."""


HOLDEM: Final = "holdem"
"""The room of nodes that do not name theirs."""


class SeenNode(Struct):
    """The last renewal of a node that was observed, when, and the rooms that the node serves."""

    revision: int
    state: NodeState
    at: float
    rooms: Collection[str] = (HOLDEM,)


class Membership:
    """The nodes of a cluster as one of them, `node`, sees them. All times are of its monotonic clock, in seconds."""

    def __init__(self, node: str, timing: Timing = Timing()) -> None:
        self.node = node
        self.timing = timing
        self._seen: dict[str, SeenNode] = {}
        self._renewed_at: float | None = None  # when the last renewal that was acknowledged was sent
        self._renewed_revision = 0
        self._own_seen_at: float | None = None
        self._came_back_at = -inf  # when the last renewal was sent that has come back through the watch

    def observe(
        self, node: str, state: NodeState, revision: int, now: float, rooms: Collection[str] = (HOLDEM,)
    ) -> None:
        """Note a renewal that came through the watch, own ones included. One that is known already proves nothing.

        A smaller revision is a renewal, too: a bus that has lost its keys counts from the beginning again.
        """
        seen = self._seen.get(node)
        if seen is not None and revision == seen.revision:
            return
        self._seen[node] = SeenNode(revision, state, now, rooms)
        if node == self.node:
            self._own_seen_at = now
            self._note_return(revision)

    def watch_restarted(self, now: float) -> None:
        """Note that renewals may have been missed: every node gets a full lease again, and is judged later."""
        self._own_seen_at = None
        self._came_back_at = -inf
        for seen in self._seen.values():
            seen.at = now

    def renewed(self, sent_at: float, revision: int) -> None:
        """Note that the own renewal that was sent at this time has been acknowledged."""
        self._renewed_at, self._renewed_revision = sent_at, revision
        own = self._seen.get(self.node)
        if own is not None:
            self._note_return(own.revision)

    def _note_return(self, seen_revision: int) -> None:
        """Note when the last own renewal was sent if it has come back: it may come before it is acknowledged."""
        if seen_revision == self._renewed_revision and self._renewed_at is not None and self._own_seen_at is not None:
            self._came_back_at = self._renewed_at

    def forget_renewals(self) -> None:
        """Note that this node has stopped writing, and has to renew its lease before it writes again."""
        self._renewed_at = None

    def live(self, now: float, room: str | None = None) -> frozenset[str]:
        """Return the nodes whose leases have not lapsed, only those that serve a room if it is given."""
        return frozenset(node for node in self._seen if self.is_live(node, now, room))

    def is_live(self, node: str, now: float, room: str | None = None) -> bool:
        """Return whether the lease of a node has not lapsed, and it serves the room if one is given."""
        seen = self._seen.get(node)
        if seen is None or seen.state == "stopped" or (room is not None and room not in seen.rooms):
            return False
        return now - seen.at < self.timing.lease

    def is_gone(self, node: str, now: float, room: str) -> bool:
        """Return whether a node does not serve a room any more, and does not write.

        A lease has lapsed for certain when an own renewal that was sent afterwards has come back: the watch yields
        changes in their order, so there was no renewal before.
        """
        seen = self._seen.get(node)
        if seen is None or seen.state == "stopped" or room not in seen.rooms:
            return True
        return not self.is_live(node, now) and self._came_back_at - seen.at >= self.timing.lease

    def ready(self, now: float, room: str | None = None) -> frozenset[str]:
        """Return the live nodes that take houses, only those that serve a room if it is given."""
        return frozenset(node for node in self.live(now, room) if self._seen[node].state == "ready")

    def may_judge(self, now: float) -> bool:
        """Whether the watch works, so that silence of others is theirs."""
        return self._own_seen_at is not None and now - self._own_seen_at < self.timing.judge

    def may_write(self, now: float) -> bool:
        """Whether the own lease has not lapsed: it counts from when the renewal was sent, so it ends here first."""
        return self._renewed_at is not None and now - self._renewed_at < self.timing.lease

    def is_suspect(self, now: float) -> bool:
        """Whether a renewal is overdue."""
        return self._renewed_at is None or now - self._renewed_at >= 2 * self.timing.renew


def preferred_owner(house: int, nodes: Collection[str]) -> str:
    """Return the node that should own a house: a rendezvous hash, so that few houses move when the nodes change.

    >>> preferred_owner(1, {"ada", "bea"}) in {"ada", "bea"}
    True
    """
    return max(nodes, key=lambda node: sha256(f"{house}/{node}".encode()).digest())
