"""Replay of a hand history in the engine: players instead of seats, and possibly unknown cards.

A history may contain calls and folds of players whom the engine no longer asks because no opponent can answer a bet.
"""

from collections.abc import Sequence

from croupier.core.rules import Turn
from croupier.rooms.holdem.cards import Card
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.histories.notation import fill_unknown_cards


class HandReplay:
    """A hand being replayed. Every method raises ValueError if the rules do not allow the action.

    `seats` are the seats by player; `holes` and `board` are all cards of the hand, None for an unknown card. Unknown
    cards are replaced by unused ones; players who have not shown their cards get the worst of these.
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
        """Deal two cards to every player, unless they have been dealt."""
        hand, count = self.hand, len(self.seats)
        if hand.cards_due == 2 * count:
            players = [self.seats.index((hand.small_blind + at) % count) for at in range(count)]
            hand.deal([self._holes[player][nth] for nth in (0, 1) for player in players])

    def deal_board(self, count: int) -> None:
        """Deal the next `count` cards of the board."""
        at = len(self.hand.board)
        self.hand.deal(self._board[at : at + count])
        self._check_showdown()

    def call(self, player: int) -> None:
        """Call or check for a player; no effect if no seat is to act."""
        seat = self._seat_to_act(player)
        if seat is not None:
            self.hand.call()
            self._check_showdown()

    def raise_to(self, player: int, total: int) -> None:
        """Bet or raise for a player, to a total number of chips in this betting round."""
        seat = self._seat_to_act(player)
        if seat is None:
            raise ValueError("found a raise while no player is to act; allowed: cards, or the end of the hand")
        self.hand.bet(total - self.hand.bets[seat])
        self._check_showdown()

    def fold(self, player: int) -> None:
        """Fold for a player; if no seat is to act, the player leaves."""
        if self._seat_to_act(player) is None:
            self.leave(player)
        else:
            self.hand.fold()
            self._check_showdown()

    def leave(self, player: int) -> None:
        """Let a player leave, in or out of turn."""
        self.hand.leave(self.seats[player])
        self._check_showdown()

    def _seat_to_act(self, player: int) -> int | None:
        """Return the player's seat if it is to act, None if no seat is. Raises ValueError if another seat is to act."""
        seat = self.seats[player]
        if isinstance(self.hand.turn, int) and self.hand.turn != seat:
            raise ValueError(f"found p{player + 1}; allowed: p{self.seats.index(self.hand.turn) + 1}, whose turn it is")
        if self.hand.folded[seat]:
            raise ValueError(f"found p{player + 1}, who has folded; allowed: a player still in the hand")
        return None if isinstance(self.hand.turn, Turn) else seat

    def _check_showdown(self) -> None:
        """Raise ValueError if the showdown depends on unknown cards."""
        hand = self.hand
        winners = {self.seats.index(award.seat) + 1 for award in hand.awards if award.rank is not None}
        hidden = sorted(player for player in winners if player - 1 in self._players_with_unknown_cards)
        if hidden or (winners and not self._is_board_known):
            raise ValueError(
                f"found a showdown decided by unknown cards (p{hidden[0] if hidden else '?'}); "
                "allowed: a winner who has shown both cards, on a known board"
            )
