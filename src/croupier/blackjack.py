"""Blackjack: messages, rules, bots and the exact solution.

Example:
    >>> BLACKJACK.odds(BLACKJACK.start())["AH"]
    Fraction(1, 52)
    >>> ROOM.title, ROOM.port, [*BOT_SPECS]
    ('Blackjack', 1214, ['exact', 'book', 'random', 'script'])
"""

from croupier.core.bank import BankState, bank_cards, client_cards
from croupier.rooms.blackjack import ROOM, Options, Settings
from croupier.rooms.blackjack.bots import BOT_SPECS
from croupier.rooms.blackjack.rules import BLACKJACK, Blackjack, HandTotal, hand_total
from croupier.rooms.blackjack.solution import solve
from croupier.rooms.blackjack.wire import Bet, Crd, Err, Mon, Mov, Ply, Res, Srd, Stp, Trn

__all__ = [
    "BLACKJACK",
    "BOT_SPECS",
    "ROOM",
    "BankState",
    "Bet",
    "Blackjack",
    "Crd",
    "Err",
    "HandTotal",
    "Mon",
    "Mov",
    "Options",
    "Ply",
    "Res",
    "Settings",
    "Srd",
    "Stp",
    "Trn",
    "bank_cards",
    "client_cards",
    "hand_total",
    "solve",
]
