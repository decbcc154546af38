"""Plays hands of hold'em in this process, with a bot in each seat."""

from collections.abc import Iterable, Sequence

from croupier.core.bots import Bot, choose_legal
from croupier.core.dealer import Luck
from croupier.rooms.holdem.cards import Card
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.legal import FOLD, Move
from croupier.rooms.holdem.table.views import View


def play_hand(
    hand: Hand, bots: Sequence[Bot[View, Move]], deck: Iterable[Card], lucks: Sequence[Luck]
) -> tuple[int, ...]:
    """Play a hand to its end and return the chips that each seat has won.

    `bots` has the bot of each seat, and `lucks` its randomness. Raises IllegalMove if a bot chooses a move that is not
    legal, and whatever a bot raises.
    """
    hand.deal_from(deck)
    while isinstance(seat := hand.turn, int):
        view = View.of(hand, seat)
        move = choose_legal(bots[seat], view, view.legal, lucks[seat])
        if move == FOLD:
            hand.fold()
        else:
            hand.bet(int(move))
    return hand.payoff()
