"""Finished hands of a table, decoded from their saved JSON only when they are read."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Self

from msgspec import Raw, field

from croupier.core.rules import Seat
from croupier.core.stored import Stored
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.wire import Guid


class FinishedHand(Stored, frozen=True, dict=True):
    """A finished or voided hand, or in a snapshot of its table a running one.

    `table_hand_number` counts the finished hands of its table, `hand_number` the hands of the house, both from 1.
    `players` and `guids` are by seat. `faults` are the seats folded for an invalid bet, with the reason (ruling H5).
    """

    MALFORMED = "a malformed snapshot of a hold'em hand"

    table: Guid
    table_hand_number: int = field(name="number")
    hand_number: int = field(name="deal")
    players: tuple[str, ...]
    guids: tuple[Guid, ...]
    hand: Hand
    faults: tuple[tuple[Seat, str], ...]

    def __post_init__(self) -> None:
        counts, seats = (len(self.players), len(self.guids)), len(self.hand.stacks)
        if counts != (seats, seats):
            raise ValueError(f"found {counts[0]} players with {counts[1]} GUIDs in a hand; allowed: {seats} of each")

    @cached_property
    def json(self) -> bytes:
        """The hand as JSON, encoded once."""
        return self.to_json()


class FinishedHands(Mapping[int, FinishedHand]):
    """The last finished hands of a table by number. Saved hands are decoded on first access.

    The mapping never changes: a view of the table keeps the one that it was made with.
    """

    def __init__(self, snapshots: Sequence[Raw] = (), last: int = 0) -> None:
        self._hands: dict[int, FinishedHand | Raw] = dict(enumerate(snapshots, start=last - len(snapshots) + 1))

    def __getitem__(self, number: int) -> FinishedHand:
        hand = self._hands[number]
        if isinstance(hand, Raw):
            hand = self._hands[number] = FinishedHand.from_json(bytes(hand))
        return hand

    def __iter__(self) -> Iterator[int]:
        return iter(self._hands)

    def __len__(self) -> int:
        return len(self._hands)

    def with_hand(self, hand: FinishedHand, max_hands: int) -> Self:
        """Return these hands and a new one, without the oldest ones beyond `max_hands`."""
        hands = {**self._hands, hand.table_hand_number: hand}
        while len(hands) > max_hands:
            del hands[next(iter(hands))]
        more = type(self)()
        more._hands = hands
        return more

    def snapshots(self) -> tuple[Raw, ...]:
        """Return all hands as JSON, oldest first. Each hand is encoded only once."""
        return tuple(hand if isinstance(hand, Raw) else Raw(hand.json) for hand in self._hands.values())
