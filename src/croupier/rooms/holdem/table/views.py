"""The view of a hand that bots decide on: own cards, the board, all stacks and bets, and the legal moves."""

from msgspec import Struct

from croupier.core.rules import Seat
from croupier.rooms.holdem.cards import Card
from croupier.rooms.holdem.engine.legal import FOLD, Legal, Move


class VisiblePlayer(Struct, frozen=True, gc=False):
    """A player at the table. `stack` is the chips left, `bet` the chips put in during this betting round."""

    name: str
    stack: int
    bet: int
    folded: bool
    small_blind: bool


class View(Struct, frozen=True, kw_only=True):
    """Everything that one player may know of a hand. Cards are numbers (`cards.CARDS` has their names).

    `players` are the players dealt in, clockwise; `me` is the index of the viewer. `pot` includes the bets of this
    round. `to_match` is the bet to match in this round, `min_raise` the smallest raise on top of it. `legal` are the
    viewer's legal moves, empty out of turn.
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
        """The viewer's chips left."""
        return self.players[self.me].stack

    @property
    def bet(self) -> int:
        """The chips that the viewer has put in during this betting round."""
        return self.players[self.me].bet

    @property
    def call(self) -> int:
        """The chips that a call adds: 0 if there is nothing to call, at most the viewer's stack."""
        return min(max(0, self.to_match - self.bet), self.stack)

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
        return self.pot - sum(player.bet for player in self.players)

    def raise_by_percent(self, percent: int) -> Move:
        """Return the legal raise nearest to a percentage of the pot after the call, or the call if none is legal."""
        if len(self.legal) < 3 or self.legal.raise_range is None:
            return self.call
        low, high = self.legal.raise_range
        return max(low, min(high, self.call + (self.pot + self.call) * percent // 100))
