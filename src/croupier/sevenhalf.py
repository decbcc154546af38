"""Seven and a half: messages, rules, bots and the exact solution.

Example:
    >>> state = SEVENHALF.play(SEVENHALF.play(SEVENHALF.start(bet=100), "DRAW"), "7o")
    >>> client_cards(state), total(client_cards(state))  # in halves
    (('7o',), 14)
    >>> ROOM.title, ROOM.port, [*BOT_SPECS]
    ('Seven and a half', 1213, ['exact', 'random', 'book', 'script'])
"""

from croupier.core.bank import BankState, bank_cards, client_cards
from croupier.rooms.sevenhalf import ROOM, Options, Settings
from croupier.rooms.sevenhalf.bots import BOT_SPECS
from croupier.rooms.sevenhalf.rules import SEVENHALF, SevenHalf, total
from croupier.rooms.sevenhalf.solution import solve
from croupier.rooms.sevenhalf.wire import Ante, Bksc, Bstg, Card, Draw, Erro, Gain, Pass, Stbt, Strt

__all__ = [
    "BOT_SPECS",
    "ROOM",
    "SEVENHALF",
    "Ante",
    "BankState",
    "Bksc",
    "Bstg",
    "Card",
    "Draw",
    "Erro",
    "Gain",
    "Options",
    "Pass",
    "Settings",
    "SevenHalf",
    "Stbt",
    "Strt",
    "bank_cards",
    "client_cards",
    "solve",
    "total",
]
