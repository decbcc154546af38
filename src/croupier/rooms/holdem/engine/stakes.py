"""The stakes of a hand: antes, blinds and straddle, and the limits on what a hand can begin with."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from croupier.core.rules import Seat

MAX_SEATS: Final = 10


class Stakes(Struct, frozen=True, gc=False):
    """The forced bets of a hand, in chips. The defaults are those of the document (holdem, General rules).

    Example:
        >>> from croupier.holdem import Hand
        >>> hand = Hand([1000, 1000], button=0, stakes=Stakes(50, 100, ante=10))
        >>> hand.paid, hand.pot
        ([60, 110], 170)
    """

    small_blind: int = 10
    big_blind: int = 20
    ante: int = 0
    straddle: int = 0
    """A third blind, posted by the seat left of the big blind; heads-up there is none."""

    @property
    def most_forced(self) -> int:
        """The most chips that a player puts in before the first act of a hand."""
        return self.ante + max(self.big_blind, self.straddle)


STAKES: Final = Stakes()
"""The stakes of the document."""

STARTING_STACK: Final = 10_000
"""The chips with which a player sits down (holdem-3.1)."""


def check_start(stacks: Sequence[int], button: Seat, stakes: Stakes) -> None:
    """Validate the stacks, the button and the stakes of a new hand. Raises ValueError if they are invalid."""
    seats = len(stacks)
    small, big = stakes.small_blind, stakes.big_blind
    if not 2 <= seats <= MAX_SEATS or min(stacks) <= 0:
        raise ValueError(f"found the stacks {list(stacks)}; allowed: 2 to {MAX_SEATS} stacks of 1 chip or more")
    if not 0 <= button < seats:
        raise ValueError(f"found the button at seat {button}; allowed: 0 to {seats - 1}")
    if not 0 <= small <= big or big == 0:
        raise ValueError(
            f"found the blinds {small}/{big}; allowed: a big blind of 1 or more, a small one of 0 to {big}"
        )
    if stakes.ante < 0:
        raise ValueError(f"found an ante of {stakes.ante}; allowed: 0 or more")
    if stakes.straddle and stakes.straddle < 2 * big:
        raise ValueError(f"found a straddle of {stakes.straddle}; allowed: 0, or {2 * big} or more")
