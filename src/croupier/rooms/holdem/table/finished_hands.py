"""Hands of hold'em that are over: as they were played, and as they are kept until somebody asks for them."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Self

from msgspec import Raw, Struct

from croupier.core.rules import Seat
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.table.persistence import HandSnapshot
from croupier.rooms.holdem.wire import Guid


class FinishedHand(Struct, frozen=True, dict=True):
    """A hand that is over, the `number`-th of its table and the `deal`-th of the house; or one that is void.

    `players` and `guids` are by its seats.

    `faults` says who was folded for an invalid bet, and why (ruling H5).
    """

    table: Guid
    table_hand_number: int
    hand_number: int
    players: tuple[str, ...]
    guids: tuple[Guid, ...]
    hand: Hand
    faults: tuple[tuple[Seat, str], ...]

    @cached_property
    def json(self) -> bytes:
        """The hand as JSON, written once: it is over."""
        return self.snapshot().to_json()

    def snapshot(self) -> HandSnapshot:
        """The hand as it is kept."""
        hand = Raw(self.hand.to_json())
        return HandSnapshot(
            self.table, self.table_hand_number, self.hand_number, self.players, self.guids, hand, self.faults
        )

    @classmethod
    def from_snapshot(cls, snapshot: HandSnapshot) -> Self:
        """The hand that was kept. Raises ValueError."""
        hand = Hand.from_json(bytes(snapshot.hand))
        return cls(
            snapshot.table, snapshot.number, snapshot.deal, snapshot.players, snapshot.guids, hand, snapshot.faults
        )


class FinishedHands(Mapping[int, FinishedHand]):
    """The last hands of a table, by their numbers. Those that were kept are read when somebody asks for them."""

    __slots__ = ("_hands",)

    def __init__(self, snapshots: Sequence[Raw] = (), last: int = 0) -> None:
        self._hands: dict[int, FinishedHand | Raw] = dict(enumerate(snapshots, start=last - len(snapshots) + 1))

    def __getitem__(self, number: int) -> FinishedHand:
        found = self._hands[number]
        if isinstance(found, Raw):
            found = self._hands[number] = FinishedHand.from_snapshot(HandSnapshot.from_json(bytes(found)))
        return found

    def __iter__(self) -> Iterator[int]:
        return iter(self._hands)

    def __len__(self) -> int:
        return len(self._hands)

    def add(self, hand: FinishedHand, max_hands: int) -> None:
        """One more; the oldest are forgotten when they are more than so many."""
        hands = self._hands
        hands[hand.table_hand_number] = hand
        while len(hands) > max_hands:
            del hands[next(iter(hands))]

    def snapshots(self) -> tuple[Raw, ...]:
        """All of them as they are kept, the oldest first; what was written before is not written again."""
        return tuple(found if isinstance(found, Raw) else Raw(found.json) for found in self._hands.values())
