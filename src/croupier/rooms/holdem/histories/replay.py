"""Plays a hand again as others have written it down, who count players instead of seats, and tell the cards they know.

In the books of others some are asked whom our rules do not ask, because nobody can answer them.
"""

from collections.abc import Sequence

from croupier.core.rules import Turn
from croupier.rooms.holdem.cards import Card
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.histories.notation import complete


class Replay:
    """A hand that is played again. Everything raises ValueError where the rules do not allow it.

    `seats` are the seats by player; `holes` and `board` are all cards of the hand, None where one is not told. Such
    cards are taken from those that are left; who has not shown his cards gets the worst of them.
    """

    def __init__(
        self, hand: Hand, seats: Sequence[int], holes: Sequence[Sequence[Card | None]], board: Sequence[Card | None]
    ) -> None:
        self.hand = hand
        self.seats = seats
        self._untold = {player for player, hole in enumerate(holes) if len(hole) < 2 or None in hole}
        self._whole = None not in board
        self._holes, self._board = complete(holes, board, self._untold)

    def deal_holes(self) -> None:
        """Everybody gets two cards, unless that has been."""
        hand, count = self.hand, len(self.seats)
        if hand.wanted == 2 * count:
            players = [self.seats.index((hand.small_blind + at) % count) for at in range(count)]
            hand.deal([self._holes[player][nth] for nth in (0, 1) for player in players])

    def deal_board(self, number: int) -> None:
        """So many cards come on the board."""
        at = len(self.hand.board)
        self.hand.deal(self._board[at : at + number])
        self._judge()

    def call(self, player: int) -> None:
        """A player calls or checks. That may be told also of somebody whom nobody asks any more."""
        seat = self._asked(player)
        if seat is not None:
            self.hand.bet(self.hand.legal.call)
            self._judge()

    def raise_to(self, player: int, total: int) -> None:
        """A player bets, or raises to so much in this round."""
        seat = self._asked(player)
        if seat is None:
            raise ValueError("found a raise while nobody is asked; allowed: cards, or nothing more")
        self.hand.bet(total - self.hand.bets[seat])
        self._judge()

    def fold(self, player: int) -> None:
        """A player folds."""
        if self._asked(player) is None:
            self.leave(player)
        else:
            self.hand.fold()
            self._judge()

    def leave(self, player: int) -> None:
        """A player leaves, whoever is asked."""
        self.hand.leave(self.seats[player])
        self._judge()

    def _asked(self, player: int) -> int | None:
        """The player's seat if he is asked, None if nobody is."""
        seat = self.seats[player]
        if isinstance(self.hand.turn, int) and self.hand.turn != seat:
            raise ValueError(f"found p{player + 1}; allowed: p{self.seats.index(self.hand.turn) + 1}, whose turn it is")
        if self.hand.folded[seat]:
            raise ValueError(f"found p{player + 1}, who is out; allowed: those who are in the hand")
        return None if isinstance(self.hand.turn, Turn) else seat

    def _judge(self) -> None:
        """Refuse a showdown that is decided by cards that nobody has told."""
        hand = self.hand
        winners = {self.seats.index(award.seat) + 1 for award in hand.awards if award.rank is not None}
        hidden = sorted(player for player in winners if player - 1 in self._untold)
        if hidden or (winners and not self._whole):
            raise ValueError(
                f"found a showdown that cards decide which are not told (p{hidden[0] if hidden else '?'}); "
                "allowed: a winner who has shown his cards"
            )
