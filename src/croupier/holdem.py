"""No-limit hold'em: hands, hand ranks, equity, hand histories, clients and bots.

Example:
    >>> [CARDS[card] for card in parse_cards("AsTc")]
    ['AS', 'TC']
    >>> ROOM.title, ROOM.port, [*BOT_SPECS]
    ("No-limit hold'em", 8080, ['equity', 'tight', 'caller', 'maniac', 'random'])
"""

from croupier.clients.holdem import BlockingHoldemClient, HoldemClient, play_hands
from croupier.clients.holdem_api import Refusal
from croupier.clients.holdem_seat import BlockingHoldemSeat, HoldemSeat
from croupier.core.rules import Turn
from croupier.rooms.holdem import ROOM, Hand, Options, Settings, Stakes
from croupier.rooms.holdem.bots import BOT_SPECS, CallerBot, EquityBot, ManiacBot, TightBot
from croupier.rooms.holdem.cards import CARDS, card_names, parse_cards
from croupier.rooms.holdem.engine.equity import Estimate, count_outcomes, equity, estimate, parse_range
from croupier.rooms.holdem.engine.ranks import best_five, category, rank, rank_many
from croupier.rooms.holdem.histories import from_acpc, from_phh, to_acpc, to_ohh, to_phh
from croupier.rooms.holdem.table.views import View

__all__ = [
    "BOT_SPECS",
    "CARDS",
    "ROOM",
    "BlockingHoldemClient",
    "BlockingHoldemSeat",
    "CallerBot",
    "EquityBot",
    "Estimate",
    "Hand",
    "HoldemClient",
    "HoldemSeat",
    "ManiacBot",
    "Options",
    "Refusal",
    "Settings",
    "Stakes",
    "TightBot",
    "Turn",
    "View",
    "best_five",
    "card_names",
    "category",
    "count_outcomes",
    "equity",
    "estimate",
    "from_acpc",
    "from_phh",
    "parse_cards",
    "parse_range",
    "play_hands",
    "rank",
    "rank_many",
    "to_acpc",
    "to_ohh",
    "to_phh",
]
