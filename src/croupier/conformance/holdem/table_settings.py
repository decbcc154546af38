"""The settings of a server's tables, which its first hands show: blinds, ante, straddle, stack, seats and times."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from croupier.rooms.holdem.engine.stakes import MAX_SEATS, STAKES, STARTING_STACK, Stakes
from croupier.rooms.holdem.wire import Game, Guid

TURN_SECONDS: Final = 15.0
"""The time limit of a turn (holdem-4.15)."""


MIN_BLINDS: Final = 5
"""Stacks of fewer blinds are often all-in before the first act, and such hands are over before anybody sees them."""


class TableSettings(Struct, frozen=True):
    """The settings of all tables of a server, as far as they are known; unknown ones are those of the document.

    A server that `needs_content_type` refuses acts without one, although it should not look at it (holdem-1.7).
    """

    stakes: Stakes = STAKES
    stack: int = STARTING_STACK
    seats: int = MAX_SEATS
    turn_seconds: float = TURN_SECONDS
    pause_seconds: float = 0.0
    needs_content_type: bool = False

    @property
    def is_shallow(self) -> bool:
        """Whether many hands may end unseen."""
        stakes = self.stakes
        return self.stack < MIN_BLINDS * (stakes.ante + max(stakes.big_blind, stakes.straddle))

    @property
    def description(self) -> str:
        """The forced bets and the stack, for people: `blinds of 5/10, an ante of 1 and 1000 chips`."""
        ante, straddle = self.stakes.ante, self.stakes.straddle
        more = f", an ante of {ante}" * bool(ante) + f", a straddle of {straddle}" * bool(straddle)
        return f"blinds of {self.stakes.small_blind}/{self.stakes.big_blind}{more} and {self.stack} chips"


def stakes_of_two(shown: Game, following: Game | None) -> Stakes | None:
    """Return the blinds and the ante of a hand of two before the first act; None if the bets show no blinds.

    `following` is the hand after it, if the player to act has folded.
    """
    bets = sorted(player.bet_so_far for player in shown.table)
    surplus = sum(pot.size for pot in shown.pots) - sum(bets)
    if len(bets) != 2 or not 0 <= bets[0] <= bets[1] or not bets[1] or surplus < 0:
        return None
    ante, is_odd = divmod(surplus, 2)
    if is_odd or (following is not None and _takes_no_ante(shown, following)):
        ante = 0
    if surplus != 2 * ante and not 0 < bets[0] < bets[1]:
        return None
    is_short = any(player.bet_so_far == bets[1] and not player.wealth for player in shown.table)
    return Stakes(bets[0], max(bets[1], shown.turn.bet_to_player) if is_short else bets[1], ante)


def _takes_no_ante(shown: Game, following: Game) -> bool:
    """Whether a player who has folded has lost the bet only, and begins the next hand with all other chips."""
    chips = {player.player_id: player.wealth + player.bet_so_far for player in following.table}
    folded = [player for player in shown.table if player.player_id == shown.turn.player_id]
    return any(chips.get(player.player_id) == player.wealth for player in folded)


def settings_of_unseen_hands(alone: Game, shown: Game) -> TableSettings | None:
    """Return settings whose blinds take all chips if two players have played hands without an act; None if not.

    The game was shown before the second player joined, and when it was nobody's turn after that.
    """
    stacks = [player.wealth for player in alone.table]
    chips = [player.wealth for player in shown.table]
    if len(stacks) != 1 or sum(chips) != 2 * stacks[0] or {*chips} == {*stacks}:
        return None
    return TableSettings(Stakes(stacks[0], stacks[0]), stacks[0])


def straddle_of(shown: Game, stakes: Stakes) -> int:
    """Return the straddle of a hand of three or more before the first act, 0 if there is none."""
    small_blinds = [seat for seat, player in enumerate(shown.table) if player.small_blind]
    if len(small_blinds) != 1 or len(shown.table) < 3:
        return 0
    places = [(small_blinds[0] + place) % len(shown.table) for place in range(len(shown.table))]
    _, big_blind, third, *others = (shown.table[place].bet_so_far for place in places)
    is_straddle = big_blind == stakes.big_blind and third >= 2 * big_blind and not any(others)
    return third if is_straddle and shown.turn.bet_to_player == third else 0


def count_seats(joined: Sequence[Guid], dealt: Sequence[Guid]) -> int | None:
    """Return how many seats a table has if not all who have joined, in this order, are dealt in; else None."""
    first = joined[: len(dealt)]
    return len(dealt) if len(first) < len(joined) and {*first} == {*dealt} else None
