"""What a player sees when it is his turn: his cards, the board, everybody's chips, and what he may do."""

from typing import Self

from msgspec import Struct

from croupier.core.rules import Seat
from croupier.rooms.holdem.cards import Card
from croupier.rooms.holdem.engine.legal import FOLD, NO_MOVES, Legal, Move
from croupier.rooms.holdem.rules import Hand


class VisiblePlayer(Struct, frozen=True, gc=False):
    """Somebody at the table. `stack` is what he has behind, `bet` what he has put in during this betting round."""

    name: str
    stack: int
    bet: int
    folded: bool
    small_blind: bool


class View(Struct, frozen=True, kw_only=True):
    """All that one player may know of a hand. Chips are ints, cards are numbers (`cards.CARDS` has their names).

    `players` are those dealt in, clockwise, and `me` says which of them sees this. `pot` is all that has been put in,
    with the bets of this round; `to_match` is the bet of this round to be matched, and `min_raise` the least raise on
    top of it. `legal` is what he may do now, nothing while it is not his turn.
    """

    hole: tuple[Card, ...]
    board: tuple[Card, ...]
    players: tuple[VisiblePlayer, ...]
    me: Seat
    pot: int
    to_match: int
    min_raise: int
    big_blind: int
    legal: Legal

    @property
    def stack(self) -> int:
        """His chips behind."""
        return self.players[self.me].stack

    @property
    def bet(self) -> int:
        """The chips that he has put in during this betting round."""
        return self.players[self.me].bet

    @property
    def call(self) -> int:
        """The chips that call: 0 where there is nothing to call, all he has where that is not enough."""
        return min(max(0, self.to_match - self.bet), self.stack)

    @property
    def check_or_fold(self) -> Move:
        """How to put in nothing."""
        return FOLD if self.call else 0

    @property
    def rivals(self) -> tuple[VisiblePlayer, ...]:
        """Everybody else who is still in the hand."""
        return tuple(one for seat, one in enumerate(self.players) if seat != self.me and not one.folded)

    @property
    def pot_before_round(self) -> int:
        """The part of the pot that was put in before this betting round."""
        return self.pot - sum(one.bet for one in self.players)

    def raise_by_percent(self, percent: int) -> Move:
        """A raise by so many hundredths of the pot as it is after a call, or the nearest to it; the call if none is."""
        if len(self.legal) < 3 or self.legal.raise_range is None:
            return self.call
        low, high = self.legal.raise_range
        return max(low, min(high, self.call + (self.pot + self.call) * percent // 100))

    @classmethod
    def from_hand(cls, hand: Hand, seat: Seat) -> Self:
        """What a seat of a hand sees, for bots that play without a server."""
        return cls(
            hole=tuple(hand.holes[seat]),
            board=tuple(hand.board),
            players=tuple(
                VisiblePlayer(str(other), stack, bet, folded, other == hand.small_blind)
                for other, (stack, bet, folded) in enumerate(zip(hand.stacks, hand.bets, hand.folded, strict=True))
            ),
            me=seat,
            pot=sum(hand.paid),
            to_match=hand.to_match,
            min_raise=hand.min_raise,
            big_blind=hand.blinds[1],
            legal=hand.legal if hand.turn == seat else NO_MOVES,
        )
