"""The view of a hand that bots decide on: own cards, the board, all stacks and bets, and the legal moves."""

from typing import Self

from msgspec import Struct

from croupier.core.rules import Seat
from croupier.rooms.holdem.cards import Card
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.legal import FOLD, NO_MOVES, Legal, Move
from croupier.rooms.holdem.engine.seat_sets import SeatSet


class VisiblePlayer(Struct, frozen=True, gc=False):
    """A player at the table. `stack` is the chips left, `bet` the chips put in during this betting round."""

    name: str
    stack: int
    bet: int
    folded: bool
    small_blind: bool


class View(Struct, frozen=True, gc=False):
    """Everything that one player may know of a hand. Cards are numbers (`cards.CARDS` has their names).

    `names`, `stacks` and `bets` are those of the players dealt in, clockwise; `live` is the set of the players who have
    not folded, `small_blind` the player with the small blind (None if unknown), and `me` the index of the viewer. `pot`
    includes the bets of this round. `to_match` is the bet to match in this round, `min_raise` the smallest raise on top
    of it. `legal` are the viewer's legal moves, empty out of turn.

    A view keeps its values while the hand goes on. `players` and what follows from it are made when a bot asks for
    them, because simulations make a view at every decision.
    """

    hole: tuple[Card, ...]
    board: tuple[Card, ...]
    names: tuple[str, ...]
    stacks: tuple[int, ...]
    bets: tuple[int, ...]
    live: SeatSet
    small_blind: Seat | None
    me: Seat
    pot: int
    to_match: int
    min_raise: int
    big_blind: int
    legal: Legal

    @classmethod
    def of(cls, hand: Hand, seat: Seat, names: tuple[str, ...] = (), hole: tuple[Card, ...] | None = None) -> Self:
        """Return what a seat may know of a hand. Without `names`, the numbers of the seats name the players.

        `hole` may be passed by a caller that makes several views of a seat: its hole cards do not change in a hand.
        """
        return cls(
            hand.hole_of(seat) if hole is None else hole,
            hand.shown_board,
            names,
            tuple(hand.stacks),
            tuple(hand.bets),
            hand.live,
            hand.small_blind,
            seat,
            hand.pot,
            hand.to_match,
            hand.min_raise,
            hand.stakes.big_blind,
            hand.legal if hand.turn == seat else NO_MOVES,
        )

    @property
    def players(self) -> tuple[VisiblePlayer, ...]:
        """The players dealt in, clockwise."""
        names = self.names or tuple(map(str, range(len(self.stacks))))
        return tuple(
            [
                VisiblePlayer(name, stack, bet, not self.live >> seat & 1, seat == self.small_blind)
                for seat, (name, stack, bet) in enumerate(zip(names, self.stacks, self.bets, strict=True))
            ]
        )

    @property
    def stack(self) -> int:
        """The viewer's chips left."""
        return self.stacks[self.me]

    @property
    def bet(self) -> int:
        """The chips that the viewer has put in during this betting round."""
        return self.bets[self.me]

    @property
    def call(self) -> int:
        """The chips that a call adds: 0 if there is nothing to call, at most the viewer's stack."""
        to_call, stack = self.to_match - self.bets[self.me], self.stacks[self.me]
        return 0 if to_call < 0 else to_call if to_call < stack else stack

    @property
    def check_or_fold(self) -> Move:
        """The move that adds no chips: a check if possible, else FOLD."""
        return FOLD if self.call else 0

    @property
    def rivals(self) -> tuple[VisiblePlayer, ...]:
        """The other players still in the hand."""
        return tuple(player for seat, player in enumerate(self.players) if seat != self.me and not player.folded)

    @property
    def pot_before_round(self) -> int:
        """The part of the pot that was put in before this betting round."""
        return self.pot - sum(self.bets)

    def raise_by_percent(self, percent: int) -> Move:
        """Return the legal raise nearest to a percentage of the pot after the call, or the call if none is legal."""
        if len(self.legal) < 3 or self.legal.raise_range is None:
            return self.call
        low, high = self.legal.raise_range
        return max(low, min(high, self.call + (self.pot + self.call) * percent // 100))
