"""A hand as PokerKit plays it, the reference reader of the PHH format, although our players may leave out of turn (H6).

PokerKit does not know departures. `find_equivalent` plays a hand without them that ends with the same stacks:

- A player who has left folds at their next turn; at a showdown they muck.
- A player whom our rules do not ask, because all others are all in, checks.
- If one player remains, they call and cards are dealt until the player who has left is to act or can muck.
- If a player who has left would get back chips that they forfeited, or if nobody could win these, the player bets less
  and the difference is moved before the hand: the starting stacks differ from the true ones, the final stacks do not.
- If a blind is short, the first player to match the full blind posts that amount as a negative post, which does not
  change who acts first.
"""

from collections.abc import Iterable, Mapping, Sequence
from heapq import nlargest
from operator import add
from typing import Final

from croupier.core.rules import Seat
from croupier.rooms.holdem.engine.awards import Award
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.seat_sets import HAS_SEVERAL, NEXT_IN_SET, SEAT_BITS, SEATS_IN_SET
from croupier.rooms.holdem.histories.in_turn import InTurnHand
from croupier.rooms.holdem.histories.notation import seat_order

MAX_ATTEMPTS: Final = 4
"""The most attempts to move chips before the hand; three are nearly always enough."""


def find_equivalent(hand: Hand) -> "PokerKitHand | None":
    """Play a hand as PokerKit would, such that a finished hand ends with the same stacks.

    None if there is no such hand. Example: the ante takes the whole stack of the big blind. PokerKit then lets another
    player act first.
    """
    stacks: Sequence[int] = hand.start_stacks
    limits: dict[Seat, int] | None = None
    for _ in range(MAX_ATTEMPTS):
        equivalent = PokerKitHand(hand, stacks, limits)
        equivalent.follow(hand.log)
        if not hand.over:
            return equivalent
        equivalent.finish()
        if equivalent.stacks == hand.stacks and not equivalent.has_unwinnable_chips:
            return equivalent
        if limits is None:
            limit = max(1, *(paid for paid, folded in zip(hand.paid, hand.folded, strict=True) if not folded))
            limits = {seat: limit for seat, paid in enumerate(hand.paid) if paid > limit}
            stacks = [limit if seat in limits and not hand.stacks[seat] else stack for seat, stack in enumerate(stacks)]
        else:
            final = zip(stacks, hand.stacks, equivalent.stacks, strict=True)
            stacks = [stack + real - other for stack, real, other in final]
            if min(stacks) <= 0:
                break
    return None


def full_antes(hand: Hand) -> list[int]:
    """Return the ante of each seat, not limited by the stacks."""
    return [hand.stakes.ante for _ in hand.stacks]


def full_posts(hand: Hand) -> list[int]:
    """Return the blinds and the straddle by seat, not limited by the stacks."""
    posts = [0 for _ in hand.stacks]
    for seat, chips in hand.blinds:
        posts[seat] = chips
    return posts


class PokerKitHand(InTurnHand):
    """A hand by the conventions of PokerKit.

    Players are also asked when no opponent can answer any more, if they can lose more than their current bet. After
    short blinds only the chips actually posted must be matched. The unmatched part of a bet is also returned to a
    player who has folded. A seat in `limits` puts in at most that many chips during the hand; with `limits`, nobody
    posts more than they really did, whatever their stack.
    """

    def __init__(self, hand: Hand, stacks: Sequence[int], limits: Mapping[Seat, int] | None) -> None:
        fresh = hand.replay(())
        caller = _first_caller(hand, fresh) if max(fresh.bets) < fresh.to_match else None
        self._limits = limits or {}
        self._max_posts = [*stacks]
        if limits is not None:
            self._max_posts = [min(paid, limits.get(seat, paid)) for seat, paid in enumerate(fresh.paid)]
        self.mucked_seats: list[Seat] | None = None
        """The seats that muck at the showdown; None without a showdown."""
        super().__init__(hand, stacks)
        self.antes = full_antes(hand)
        """The antes by seat, as a file lists them."""
        self.posts = full_posts(hand)
        """The blinds and the straddle by seat, as a file lists them."""
        if limits is not None:
            self.antes = [paid - bet for paid, bet in zip(self.paid, self.bets, strict=True)]
            self.posts = self.bets[:]
        if caller is not None:
            self._max_posts[caller] = self._limits.get(caller, stacks[caller])
            self._post([(caller, fresh.to_match - self.bets[caller])])
            self.posts[caller] = -self.bets[caller]
        if self._largest_post() != self._last_blind and self.stacks[self._last_blind]:
            # of several posts of this size, the first turn must follow the last blind
            self.posts = [post if seat == self._last_blind else -abs(post) for seat, post in enumerate(self.posts)]
        self.to_match = max(self.bets)
        self.posted_bets = self.bets[:]
        """The blinds and the straddle by seat, as far as the stacks allowed."""

    def _post(self, forced: Iterable[tuple[Seat, int]]) -> None:
        super()._post([(seat, min(chips, self._max_posts[seat] - self.paid[seat])) for seat, chips in forced])

    def _largest_post(self) -> Seat:
        """Return the seat with the largest post, the last of several; a negative post is smaller than none."""
        return max(
            reversed(seat_order(len(self.posts), self.button)),
            key=lambda seat: self.bets[seat] if self.posts[seat] > 0 else -self.bets[seat],
        )

    @property
    def live_seats(self) -> tuple[Seat, ...]:
        """The seats that have neither folded nor mucked."""
        return SEATS_IN_SET[self.live]

    @property
    def has_unwinnable_chips(self) -> bool:
        """Whether a seat that is out has put in more than any that can win."""
        return max(self.paid) > max(self.paid[seat] for seat in self.live_seats)

    # Betting

    def _open_round(self) -> None:
        if self.street:
            super()._open_round()
            return
        _, second = nlargest(2, map(add, self.bets, self.stacks))
        seats = range(len(self.stacks))
        self.to_act = sum(SEAT_BITS[seat] for seat in seats if self.stacks[seat] and self.bets[seat] < second)
        self._continue_betting(NEXT_IN_SET[self.to_act][self._largest_post()])

    def _continue_betting(self, seat: Seat) -> None:
        if self.to_act and HAS_SEVERAL[self.live]:
            self.turn = seat
        else:
            self._close_round()

    def put_in(self, total: int) -> None:
        """Raise to a total number of chips; call if that exceeds the limit, or fold if even a call does."""
        assert isinstance(self.turn, int), "only a seat to act is asked"
        seat, paid = self.turn, self.paid[self.turn]
        limit = self._limits.get(seat, self.start_stacks[seat])
        chips, call = total - paid, self.legal.call
        is_raise = all(total > played for other, played in enumerate(self._played) if other != seat)
        if is_raise and call < chips <= limit - paid and chips in self.legal and self._can_be_answered(seat):
            self.bet(chips)
        elif paid + call > limit:
            self.fold()
        else:
            self.call()

    def _can_be_answered(self, seat: Seat) -> bool:
        """Return whether an opponent of a seat has the chips for more than a call."""
        others = (other for other in self.live_seats if other != seat)
        return any(self.bets[other] + self.stacks[other] > self.to_match for other in others)

    def _return_uncalled(self) -> None:
        live, self.live = self.live, (1 << len(self.stacks)) - 1
        super()._return_uncalled()
        self.live = live
        self._can_act &= live

    # The end

    def finish(self) -> None:
        """Play the hand to its end, which may come later than the end of the real hand."""
        while not self.over:
            self._end_round()
            if self.cards_due:
                self.deal(self.unseen[: self.cards_due])
            self._fold_out()

    def _showdown_awards(self) -> list[Award]:
        self.mucked_seats = [seat for seat in self.live_seats if self._folds[seat]]
        self.live -= sum(SEAT_BITS[seat] for seat in self.mucked_seats)
        if HAS_SEVERAL[self.live]:
            return super()._showdown_awards()
        return [Award(0, self.live_seats[0], self.pot, None)]


def _first_caller(hand: Hand, fresh: Hand) -> Seat | None:
    """Return the first seat to match the full blind, None if there is none; `fresh` is the hand after the blinds."""
    bets = fresh.bets[:]
    for entry in hand.log:
        match entry:
            case ("deal", seat, _) if seat is None:
                return None
            case ("bet", seat, chips):
                bets[seat] += chips
                if bets[seat] >= fresh.to_match:
                    return seat
            case _:
                pass
    return None
