"""Plays a hand again as others have written it down, who count players instead of seats, and tell the cards they know.

In the books of others some are asked whom our rules do not ask, because nobody can answer them.
"""

from collections.abc import Sequence

from croupier.core.rules import Turn
from croupier.rooms.holdem.cards import Card
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.histories.notation import fill_unknown_cards


class HandReplay:
    """A hand that is played again. Everything raises ValueError where the rules do not allow it.

    `seats` are the seats by player; `holes` and `board` are all cards of the hand, None where one is not told. Such
    cards are taken from those that are left; who has not shown his cards gets the worst of them.
    """

    def __init__(
        self, hand: Hand, seats: Sequence[int], holes: Sequence[Sequence[Card | None]], board: Sequence[Card | None]
    ) -> None:
        self.hand = hand
        self.seats = seats
        self._players_with_unknown_cards = {
            player for player, hole in enumerate(holes) if len(hole) < 2 or None in hole
        }
        self._is_board_known = None not in board
        self._holes, self._board = fill_unknown_cards(holes, board, self._players_with_unknown_cards)

    def deal_holes(self) -> None:
        """Everybody gets two cards, unless that has been."""
        hand, count = self.hand, len(self.seats)
        if hand.cards_due == 2 * count:
            players = [self.seats.index((hand.small_blind + at) % count) for at in range(count)]
            hand.deal([self._holes[player][nth] for nth in (0, 1) for player in players])

    def deal_board(self, count: int) -> None:
        """So many cards come on the board."""
        at = len(self.hand.board)
        self.hand.deal(self._board[at : at + count])
        self._check_showdown()

    def call(self, player: int) -> None:
        """A player calls or checks. That may be told also of somebody whom nobody asks any more."""
        seat = self._seat_to_act(player)
        if seat is not None:
            self.hand.bet(self.hand.legal.call)
            self._check_showdown()

    def raise_to(self, player: int, total: int) -> None:
        """A player bets, or raises to so much in this round."""
        seat = self._seat_to_act(player)
        if seat is None:
            raise ValueError("found a raise while nobody is asked; allowed: cards, or nothing more")
        self.hand.bet(total - self.hand.bets[seat])
        self._check_showdown()

    def fold(self, player: int) -> None:
        """A player folds."""
        if self._seat_to_act(player) is None:
            self.leave(player)
        else:
            self.hand.fold()
            self._check_showdown()

    def leave(self, player: int) -> None:
        """A player leaves, whoever is asked."""
        self.hand.leave(self.seats[player])
        self._check_showdown()

    def _seat_to_act(self, player: int) -> int | None:
        """The player's seat if he is asked, None if nobody is."""
        seat = self.seats[player]
        if isinstance(self.hand.turn, int) and self.hand.turn != seat:
            raise ValueError(f"found p{player + 1}; allowed: p{self.seats.index(self.hand.turn) + 1}, whose turn it is")
        if self.hand.folded[seat]:
            raise ValueError(f"found p{player + 1}, who is out; allowed: those who are in the hand")
        return None if isinstance(self.hand.turn, Turn) else seat

    def _check_showdown(self) -> None:
        """Refuse a showdown that is decided by cards that nobody has told."""
        hand = self.hand
        winners = {self.seats.index(award.seat) + 1 for award in hand.awards if award.rank is not None}
        hidden = sorted(player for player in winners if player - 1 in self._players_with_unknown_cards)
        if hidden or (winners and not self._is_board_known):
            raise ValueError(
                f"found a showdown that cards decide which are not told (p{hidden[0] if hidden else '?'}); "
                "allowed: a winner who has shown his cards"
            )
