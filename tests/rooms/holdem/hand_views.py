"""What a bot at a table would see of a hand that is played without one."""

from croupier.core.rules import Seat
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.legal import NO_MOVES
from croupier.rooms.holdem.table.views import View, VisiblePlayer


def view_of(hand: Hand, seat: Seat) -> View:
    """Return the view of a seat; players are named by their seats."""
    return View(
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
        big_blind=hand.stakes.big_blind,
        legal=hand.legal if hand.turn == seat else NO_MOVES,
    )
