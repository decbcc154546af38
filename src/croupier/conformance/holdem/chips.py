"""The chips of transcripts at a server with other stakes and stacks than those of the document."""

import re
from typing import Final

from msgspec.structs import replace

from croupier.rooms.holdem.engine.stakes import STAKES, STARTING_STACK, Stakes

AMOUNT_PATTERN: Final = re.compile(
    r'("(?:wealth|[Bb]et_?[Aa]mount|bet_so_far|bet_to_player|minimum_raise|size)": )(\d+)(?=[,}\s])'
)
"""An amount of chips in the text of a transcript, without negative ones and other forms of numbers."""

MAX_SCALED_CHIPS: Final = 10 * STARTING_STACK
"""Higher amounts are higher than every stack, here and there."""


def scale_text(text: str, stakes: Stakes, stack: int) -> str | None:
    """Return a line of a transcript with its amounts at these stakes; None if some are not possible there."""
    amounts = [int(amount) for _, amount in AMOUNT_PATTERN.findall(text)]
    scaled = [scale(amount, stakes, stack) for amount in amounts]
    if None in scaled:
        return None
    rest = iter(scaled)
    return AMOUNT_PATTERN.sub(lambda match: f"{match[1]}{next(rest)}", text)


def scale(chips: int, stakes: Stakes, stack: int) -> int | None:
    """Return an amount at these stakes: whole stacks stay stacks, and the rest is counted in blinds.

    An odd amount has no counterpart at higher blinds: the odd chip of a shared pot does not grow with them.

    >>> scale(9990, Stakes(5, 10), 1000)
    995
    """
    if (replace(stakes, straddle=0), stack) == (STAKES, STARTING_STACK) or chips > MAX_SCALED_CHIPS:
        return chips
    stacks = (chips + STARTING_STACK // 2) // STARTING_STACK
    blinds, is_odd = divmod((chips - stacks * STARTING_STACK) * stakes.big_blind, STAKES.big_blind)
    is_odd |= chips % 2 and stakes.big_blind > STAKES.big_blind
    is_impossible = is_odd or stakes.ante or 2 * stakes.small_blind != stakes.big_blind or 2 * abs(blinds) > stack
    return None if is_impossible else stacks * stack + blinds
