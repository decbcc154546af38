"""Old Maid: clients, players' events, and the odds of losing.

Example:
    >>> ROOM.title, ROOM.port, [*BOT_SPECS]
    ('Old Maid', 9898, ['random', 'first', 'last'])
"""

from croupier.clients.ring import BlockingRingClient, RingClient, RingTally, join_table, play_ring_games
from croupier.rooms.oldmaid import ROOM, Options, Settings
from croupier.rooms.oldmaid.bots import BOT_SPECS
from croupier.rooms.oldmaid.odds.solution import loss_probabilities, solve
from croupier.rooms.oldmaid.ring.player_events import (
    CardDrawn,
    CardGiven,
    CardPicked,
    HandEmptied,
    NeighbourSkipped,
    OfferMade,
    OfferReceived,
    OfferWithdrawn,
    PairDiscarded,
    PairRefused,
    PlaceAnnounced,
    PlayerFinished,
    PlayerResult,
    SeatTaken,
    StandingChanged,
)
from croupier.rooms.oldmaid.wire import Offer, Pick

__all__ = [
    "BOT_SPECS",
    "ROOM",
    "BlockingRingClient",
    "CardDrawn",
    "CardGiven",
    "CardPicked",
    "HandEmptied",
    "NeighbourSkipped",
    "Offer",
    "OfferMade",
    "OfferReceived",
    "OfferWithdrawn",
    "Options",
    "PairDiscarded",
    "PairRefused",
    "Pick",
    "PlaceAnnounced",
    "PlayerFinished",
    "PlayerResult",
    "RingClient",
    "RingTally",
    "SeatTaken",
    "Settings",
    "StandingChanged",
    "join_table",
    "loss_probabilities",
    "play_ring_games",
    "solve",
]
