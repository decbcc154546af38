"""Plays hands of hold'em in this process, with a bot in each seat."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from croupier.core.bots import Bot, choose_legal
from croupier.core.dealer import Luck
from croupier.rooms.holdem.cards import Card
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.legal import Legal, Move
from croupier.rooms.holdem.table.views import View

type Choose = Callable[[View, Legal], Move]
"""Returns a legal move."""


def play_hand(
    hand: Hand, bots: Sequence[Bot[View, Move]], deck: Iterable[Card], lucks: Sequence[Luck]
) -> tuple[int, ...]:
    """Play a hand to its end and return the chips that each seat has won.

    `bots` has the bot of each seat, and `lucks` its randomness. Raises IllegalMove if a bot chooses a move that is not
    legal, and whatever a bot raises.
    """
    hand.deal_from(deck)
    play_out(hand, [partial(_choose, bot, luck) for bot, luck in zip(bots, lucks, strict=True)])
    return hand.payoff()


def play_out(hand: Hand, seats: Sequence[Choose], names: tuple[str, ...] = ()) -> None:
    """Play a hand whose deck is known to its end. The players are called by `names`, or by the numbers of the seats."""
    make_view = View.of  # binding the method at every decision is slow
    holes = [hand.hole_of(seat) for seat in range(len(seats))]
    while isinstance(seat := hand.turn, int):
        view = make_view(hand, seat, names, holes[seat])
        move = seats[seat](view, view.legal)
        if isinstance(move, int):
            hand.bet(move)
        else:
            hand.fold()


def _choose(bot: Bot[View, Move], luck: Luck, view: View, legal: Legal) -> Move:
    return choose_legal(bot, view, legal, luck)
