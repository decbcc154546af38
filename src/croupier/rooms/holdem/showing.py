"""What everybody may see of a hand that is played at a table (docs/protocols/holdem.md, 5)."""

from collections.abc import Container, Sequence

from croupier.core.rules import Seat, Turn
from croupier.rooms.holdem.cards import names
from croupier.rooms.holdem.ranks import best
from croupier.rooms.holdem.rules import Hand
from croupier.rooms.holdem.seats import Sitter
from croupier.rooms.holdem.wire import Cards, Player, Pot, State, Winner


def players(hand: Hand, dealt: Sequence[Sitter], acted: Container[Seat]) -> list[Player]:
    """Those who were dealt in and have not left. `acted` are the seats that have acted in this betting round."""
    return [
        Player(
            one.guid,
            one.user,
            _state(hand, seat, acted),
            hand.stacks[seat],
            hand.bets[seat],
            seat == hand.small_blind,
        )
        for seat, one in enumerate(dealt)
        if one.chair is not None
    ]


def _state(hand: Hand, seat: Seat, acted: Container[Seat]) -> State:
    """Whether a player has still to act (holdem-5.9)."""
    if hand.folded[seat]:
        return "folded"
    return "called" if seat in acted or not hand.stacks[seat] or hand.turn is Turn.OVER else "active"


def cards(hand: Hand, hole: tuple[str, ...] | None) -> Cards:
    """The board, and these hole cards."""
    board = names(hand.board)
    return Cards(hole, board[:3] or None, board[3:4] or None, board[4:5] or None)


def pots(hand: Hand, dealt: Sequence[Sitter]) -> list[Pot]:
    """The pots, and who has paid into them."""
    return [Pot(pot.size, [dealt[seat].guid for seat in pot.payers]) for pot in hand.pots]


def winners(hand: Hand, dealt: Sequence[Sitter]) -> tuple[Winner, ...]:
    """Who has won at the showdown, if there was one, and with which five cards (holdem-7.8)."""
    seats = {award.seat for award in hand.awards} if hand.shown else set()
    return tuple(Winner(dealt[seat].guid, names(best(hand.holes[seat] + hand.board))) for seat in sorted(seats))
