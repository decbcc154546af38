"""What a hand has in its pots, and what its players win."""

from msgspec import Struct

from croupier.core.rules import Seat


class Pot(Struct, frozen=True, gc=False):
    """A main or side pot: its chips, the seats that can win it, and the seats that paid into it, folded or not."""

    size: int
    seats: tuple[Seat, ...]
    payers: tuple[Seat, ...]


class Award(Struct, frozen=True, gc=False):
    """Chips that a seat wins from a pot (0 is the main pot). `rank` is None if all other players have folded."""

    pot: int
    seat: Seat
    chips: int
    rank: int | None
