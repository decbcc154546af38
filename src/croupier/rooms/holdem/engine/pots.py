"""Who can win what: a player who is all in wins from each of the others as much as he has paid himself."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from croupier.core.rules import Seat


class Pot(Struct, frozen=True, gc=False):
    """A main or side pot: its chips, the seats that can win it, and all that have paid into it, folded or not."""

    size: int
    seats: tuple[Seat, ...]
    payers: tuple[Seat, ...]


class Award(Struct, frozen=True, gc=False):
    """Chips that a seat wins of a pot (0 is the main pot), and with what rank; None if nobody else was left."""

    pot: int
    seat: Seat
    chips: int
    rank: int | None


def side_pots(paid: Sequence[int], folded: Sequence[bool], stacks: Sequence[int], *, is_over: bool) -> list[Pot]:
    """The pots, the main pot first, split where a player is all in who has not folded (H7).

    `over` says that nobody bets any more, so that a stack no longer helps to win what its seat has not paid for.
    What only those have paid who are out of the hand is in the last pot that somebody can win.
    """
    seats = range(len(paid))
    live = [seat for seat in seats if not folded[seat]]
    if len(live) == 1:
        return [Pot(sum(paid), tuple(live), tuple(seat for seat in seats if paid[seat]))]
    levels = {paid[seat] for seat in live if is_over or not stacks[seat]}
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
    """The awards of all pots at a showdown, by the ranks of those who have not folded (the lowest wins).

    Each pot's odd chips go to the first of its winners at or after the seat `first`, which is left of the button (H7).
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
