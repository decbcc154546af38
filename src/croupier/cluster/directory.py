"""Which node owns which house, and which houses a node should claim or hand over. No clock and no socket."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from croupier.cluster.lease import HOLDEM, Membership, preferred_owner


class Ownership(Struct, frozen=True):
    """The owner of a house, and the revision of its key: 0 if it has no key yet."""

    owner: str | None = None
    revision: int = 0


class Directory:
    """The owners of the `houses` houses of a room, as the keys of the bus say.

    A key that names an owner is a hint: the journal alone decides who can write. Only nodes that serve `room` can own a
    house. With `is_movable`, houses move to their preferred owners; otherwise only when their owner drains.
    """

    def __init__(self, houses: int, membership: Membership, room: str = HOLDEM, *, is_movable: bool = True) -> None:
        self.houses = houses
        self.node = membership.node
        self._room = room
        self._is_movable = is_movable
        self._membership = membership
        self._owned: dict[int, Ownership] = dict.fromkeys(range(1, houses + 1), Ownership())
        self._free_since: dict[int, float] = {}
        self._nodes: frozenset[str] = frozenset()
        self._nodes_since = 0.0

    def observe(self, house: int, owner: str, revision: int) -> None:
        """Note the owner of a house. An older revision than the known one changes nothing."""
        if house in self._owned and revision > self._owned[house].revision:
            self._owned[house] = Ownership(owner, revision)
            self._free_since.pop(house, None)

    def forget_revisions(self) -> None:
        """Let the next key of every house count, whatever its revision: the bus may have lost its keys."""
        self._owned = {house: Ownership(known.owner, 0) for house, known in self._owned.items()}

    def ownership(self, house: int) -> Ownership:
        """Return the owner of a house and the revision of its key."""
        return self._owned[house]

    def live_owner(self, house: int, now: float) -> str | None:
        """Return the owner of a house, None if there is none that is alive."""
        owner = self._owned[house].owner
        return owner if owner is not None and self._membership.is_live(owner, now, self._room) else None

    def own_houses(self) -> frozenset[int]:
        """Return the houses that this node owns."""
        return frozenset(house for house, owned in self._owned.items() if owned.owner == self.node)

    def owners(self, now: float) -> Mapping[str, int]:
        """Return the nodes that are alive and own houses, with one of their houses each."""
        live = self._membership.live(now, self._room)
        return {
            owned.owner: house
            for house, owned in self._owned.items()
            if owned.owner is not None and owned.owner in live
        }

    def claims(self, now: float) -> Sequence[int]:
        """Return the houses that this node should claim now: those whose owners are gone, if it may judge that."""
        node, ready = self.node, self._membership.ready(now, self._room)
        if node not in ready or not self._membership.may_judge(now):
            return []
        claims = []
        for house, owned in self._owned.items():
            if owned.owner is not None and not self._membership.is_gone(owned.owner, now, self._room):
                self._free_since.pop(house, None)
                continue
            since = self._free_since.setdefault(house, now)
            if preferred_owner(house, ready) == node or now - since >= self._membership.timing.wait:
                claims.append(house)
        return claims

    def moves(self, now: float) -> Sequence[tuple[int, str]]:
        """Return the houses that this node should hand over now, and to whom.

        A draining node hands over all of its houses. Others move one at a time, and only while the nodes stay the same,
        so that a short absence moves nothing twice.
        """
        node, live = self.node, self._membership.live(now, self._room)
        ready = self._membership.ready(now, self._room)
        if live != self._nodes:
            self._nodes, self._nodes_since = live, now
        if not ready or not self._membership.may_judge(now):
            return []
        preferred = [(house, preferred_owner(house, ready)) for house in sorted(self.own_houses())]
        moves = [(house, owner) for house, owner in preferred if owner != node]
        if node not in ready:
            return moves
        is_settled = self._is_movable and now - self._nodes_since >= self._membership.timing.settle
        return moves[:1] if is_settled else []
