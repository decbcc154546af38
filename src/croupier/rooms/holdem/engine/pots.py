"""Main pots, side pots and how they are awarded.

A player who is all in can win from each opponent at most as many chips as they put in themselves.
"""

from collections.abc import Mapping, Sequence

from croupier.core.rules import Seat
from croupier.rooms.holdem.engine.awards import Award, Pot


def side_pots(paid: Sequence[int], folded: Sequence[bool], stacks: Sequence[int], *, is_over: bool) -> list[Pot]:
    """Return the pots, main pot first, with one split at each all-in of a player who has not folded (H7).

    While betting goes on (`is_over` is false), a seat with chips left can still win a pot it has not fully paid for;
    once the betting is over it cannot. Chips that only folded players have paid belong to the last pot that a
    remaining player can win.

    Example:
        Seat 0 is all in for 50; seats 1 and 2 have put in 100 each.

        >>> for pot in side_pots([50, 100, 100], [False, False, False], [0, 100, 100], is_over=True):
        ...     print(pot.size, pot.seats)
        150 (0, 1, 2)
        100 (1, 2)
    """
    seats = range(len(paid))
    live = [seat for seat in seats if not folded[seat]]
    levels = {paid[seat] for seat in live if is_over or not stacks[seat]}
    if len(live) == 1 or not levels:
        return [Pot(sum(paid), tuple(live), tuple([seat for seat in seats if paid[seat]]))]
    pots: list[Pot] = []
    below = 0
    for level in sorted({*levels, max(paid)}):
        payers = tuple(seat for seat in seats if paid[seat] > below)
        size = sum(min(paid[seat], level) - below for seat in payers)
        winners = tuple(seat for seat in live if paid[seat] >= level or (stacks[seat] and not is_over))
        if winners:
            pots.append(Pot(size, winners, payers))
        else:
            pots[-1] = Pot(pots[-1].size + size, pots[-1].seats, pots[-1].payers)
        below = level
    return pots


def award_pots(pots: Sequence[Pot], ranks: Mapping[Seat, int], first: Seat, seats: int) -> list[Award]:
    """Award all pots at a showdown, given the ranks of the seats that have not folded (the lowest rank wins).

    `first` is the seat left of the button, `seats` the number of seats. The odd chips of each pot go to its first
    winner clockwise from `first` (H7).
    """
    awards = []
    for number, pot in enumerate(pots):
        best = min(ranks[seat] for seat in pot.seats)
        winners = sorted((seat for seat in pot.seats if ranks[seat] == best), key=lambda seat: (seat - first) % seats)
        chips, odd = divmod(pot.size, len(winners))
        for seat in winners:
            awards.append(Award(number, seat, chips + odd, best))
            odd = 0
    return awards
