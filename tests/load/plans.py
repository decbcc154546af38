"""Plans of small loads."""

from typing import Any

from croupier.cli.load import LoadOptions
from croupier.load.plan import HoldemOptions, OldMaidOptions, Plan
from croupier.rooms import ROOMS

CLIENT_OPTIONS = {"holdem": HoldemOptions(), "oldmaid": OldMaidOptions()}


def make_plan(room: str, server: str = "127.0.0.1:1", *, table_players: int = 1, **options: Any) -> Plan:
    """A plan with the options of `croupier load`; the players arrive at once."""
    load = LoadOptions(**{"ramp_seconds": 0.0, **options})
    return load.to_plan(ROOMS[room], server, CLIENT_OPTIONS.get(room) or ROOMS[room].options(), table_players)
