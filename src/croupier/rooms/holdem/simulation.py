"""Plays hands of hold'em in this process, with a bot in each seat."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from croupier.core.bots import Bot
from croupier.core.dealer import Luck
from croupier.core.errors import IllegalMove
from croupier.rooms.holdem.cards import Card
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.legal import Move
from croupier.rooms.holdem.table.views import HandView, LazyLegal, View

type MakeMove = Callable[[object], bool]
"""Makes a move if it is legal, and returns whether it is."""

type PlayTurn = Callable[[View, Sequence[Move], MakeMove], None]
"""Chooses one of the legal moves and makes it."""


def play_hand(
    hand: Hand, bots: Sequence[Bot[View, Move]], deck: Iterable[Card], lucks: Sequence[Luck]
) -> tuple[int, ...]:
    """Play a hand to its end and return the chips that each seat has won.

    `bots` has the bot of each seat, and `lucks` its randomness. Raises IllegalMove if a bot chooses a move that is not
    legal, and whatever a bot raises.
    """
    hand.deal_from(deck)
    play_out(hand, [partial(_play_turn, bot, luck) for bot, luck in zip(bots, lucks, strict=True)])
    return hand.payoff()


def play_out(hand: Hand, seats: Sequence[PlayTurn], names: tuple[str, ...] = ()) -> None:
    """Play a hand whose deck is known to its end. The players are called by `names`, or by the numbers of the seats."""
    make_move = hand.try_play
    while isinstance(seat := hand.turn, int):
        view = HandView(hand, seat, names, len(hand.compact_log))
        seats[seat](view, LazyLegal(view), make_move)


def _play_turn(bot: Bot[View, Move], luck: Luck, view: View, legal: Sequence[Move], make_move: MakeMove) -> None:
    move = bot.choose(view, legal, luck)
    if not make_move(move):
        raise IllegalMove(repr(move), legal)
