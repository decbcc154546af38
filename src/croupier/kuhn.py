"""Kuhn poker: messages, rules, bots and the exact solution."""

from croupier.rooms.kuhn import ROOM, Actn, Card, Disc, Fail, Settings, Strt
from croupier.rooms.kuhn.bots import BOT_SPECS
from croupier.rooms.kuhn.player import Options
from croupier.rooms.kuhn.rules import KUHN, KuhnAction, View
from croupier.rooms.kuhn.solution import solve

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
