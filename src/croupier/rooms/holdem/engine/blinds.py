"""Blinds, antes and straddles: default values, limits and validation."""

from collections.abc import Sequence
from typing import Final

from croupier.core.rules import Seat

MAX_SEATS: Final = 10
BLINDS: Final = (10, 20)
"""The small and the big blind (holdem, General rules)."""


def check_forced_bets(stacks: Sequence[int], button: Seat, blinds: tuple[int, int], ante: int, straddle: int) -> None:
    """Validate the stacks, the button and the forced bets of a new hand. Raises ValueError if they are invalid."""
    seats = len(stacks)
    small, big = blinds
    if not 2 <= seats <= MAX_SEATS or min(stacks) <= 0:
        raise ValueError(f"found the stacks {list(stacks)}; allowed: 2 to {MAX_SEATS} stacks of 1 chip or more")
    if not 0 <= button < seats:
        raise ValueError(f"found the button at seat {button}; allowed: 0 to {seats - 1}")
    if not 0 <= small <= big or big == 0:
        raise ValueError(
            f"found the blinds {small}/{big}; allowed: a big blind of 1 or more, a small one of 0 to {big}"
        )
    if ante < 0:
        raise ValueError(f"found an ante of {ante}; allowed: 0 or more")
    if straddle and straddle < 2 * big:
        raise ValueError(f"found a straddle of {straddle}; allowed: 0, or {2 * big} or more")
