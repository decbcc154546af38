"""Hands of hold'em that are over: as they were played, and as they are kept until somebody asks for them."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Self

from msgspec import Raw, Struct

from croupier.core.rules import Seat
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.table.persistence import KeptHand
from croupier.rooms.holdem.wire import Guid


class Played(Struct, frozen=True, dict=True):
    """A hand that is over, the `number`-th of its table and the `deal`-th of the house; or one that is void.

    `players` and `guids` are by its seats.

    `faults` says who was folded for an invalid bet, and why (ruling H5).
    """

    table: Guid
    number: int
    deal: int
    players: tuple[str, ...]
    guids: tuple[Guid, ...]
    hand: Hand
    faults: tuple[tuple[Seat, str], ...]

    @cached_property
    def record(self) -> bytes:
        """The hand as JSON, written once: it is over."""
        return self.kept().to_json()

    def kept(self) -> KeptHand:
        """The hand as it is kept."""
        hand = Raw(self.hand.to_json())
        return KeptHand(self.table, self.number, self.deal, self.players, self.guids, hand, self.faults)

    @classmethod
    def of(cls, kept: KeptHand) -> Self:
        """The hand that was kept. Raises ValueError."""
        hand = Hand.from_json(bytes(kept.hand))
        return cls(kept.table, kept.number, kept.deal, kept.players, kept.guids, hand, kept.faults)


class Hands(Mapping[int, Played]):
    """The last hands of a table, by their numbers. Those that were kept are read when somebody asks for them."""

    __slots__ = ("_hands",)

    def __init__(self, kept: Sequence[Raw] = (), last: int = 0) -> None:
        self._hands: dict[int, Played | Raw] = dict(enumerate(kept, start=last - len(kept) + 1))

    def __getitem__(self, number: int) -> Played:
        found = self._hands[number]
        if isinstance(found, Raw):
            found = self._hands[number] = Played.of(KeptHand.from_json(bytes(found)))
        return found

    def __iter__(self) -> Iterator[int]:
        return iter(self._hands)

    def __len__(self) -> int:
        return len(self._hands)

    def add(self, played: Played, most: int) -> None:
        """One more; the oldest are forgotten when they are more than so many."""
        hands = self._hands
        hands[played.number] = played
        while len(hands) > most:
            del hands[next(iter(hands))]

    def kept(self) -> tuple[Raw, ...]:
        """All of them as they are kept, the oldest first; what was written before is not written again."""
        return tuple(found if isinstance(found, Raw) else Raw(found.record) for found in self._hands.values())
