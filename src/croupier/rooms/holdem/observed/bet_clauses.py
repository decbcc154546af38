"""The clauses that make bets of hold'em valid or invalid."""

from typing import Final

from croupier.core.rules import Seat
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.legal import Legal

INVALID_BET_CLAUSES: Final = frozenset(f"holdem-4.{number}" for number in range(8, 13))
"""The clauses that make a bet invalid."""

KEPT_SEAT_CLAUSE: Final = "holdem-4.7"
"""The clause by which a player whose invalid bet has folded the hand stays in the game."""


def invalid_bet_clause(legal: Legal, chips: int, stack: int) -> str | None:
    """Return the clause that makes a bet invalid (holdem-4.8 to holdem-4.12); None if the bet is valid."""
    if chips in legal:
        return None
    if chips < 0:
        return "holdem-4.8"
    if chips > stack:
        return "holdem-4.9"
    if chips < legal.to_call:
        return "holdem-4.10"
    return "holdem-4.11" if legal.raise_range is not None else "holdem-4.12"


def valid_bet_clause(hand: Hand, chips: int, seat: Seat) -> str:
    """Return the clause that makes a bet valid: that of all-ins, if only they may be so low."""
    if chips < hand.legal.to_call:
        return "holdem-4.10"
    is_short_raise = 0 < chips - hand.legal.to_call < hand.min_raise and chips == hand.stacks[seat]
    return "holdem-4.11" if is_short_raise else "holdem-4.5"
