"""Kuhn poker: messages, rules, bots and the exact solution.

Example:
    >>> actions: list[KuhnAction] = ["BET", "CAL"]
    >>> state = KUHN.start()
    >>> for move in ("Q", "K", *actions):
    ...     state = KUHN.play(state, move)
    >>> KUHN.payoff(state)
    (-2, 2)
    >>> ROOM.title, ROOM.port, [*BOT_SPECS]
    ('Kuhn poker', 1212, ['equilibrium', 'random', 'book', 'script'])
"""

from croupier.rooms.kuhn import ROOM, Options, Settings
from croupier.rooms.kuhn.bots import BOT_SPECS
from croupier.rooms.kuhn.rules import KUHN, KuhnAction, View
from croupier.rooms.kuhn.solution import solve
from croupier.rooms.kuhn.wire import Actn, Card, Disc, Fail, Strt

__all__ = [
    "BOT_SPECS",
    "KUHN",
    "ROOM",
    "Actn",
    "Card",
    "Disc",
    "Fail",
    "KuhnAction",
    "Options",
    "Settings",
    "Strt",
    "View",
    "solve",
]
