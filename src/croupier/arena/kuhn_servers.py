"""Kuhn poker against the server of an address."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from croupier.arena.game import Chunk
from croupier.arena.servers import Visit
from croupier.clients.game import GameClient
from croupier.net.addresses import parse_address
from croupier.net.event_loop import run
from croupier.rooms.kuhn import ROOM, Options, Settings
from croupier.rooms.kuhn.rules import ANTE, BET, DEFAULT_ACTIONS, KuhnAction, View

DEFAULT_COINS: Final = Settings.coins
"""The coins of a new purse, unless the house is set otherwise (kuhn-7.1)."""

MAX_GAME_COST: Final = ANTE + BET
"""The most coins that a game can cost."""

SEAT_OPTIONS: Final = (Options(seat="1"), Options(seat="2"))

NO_HAND: Final = "it gives a new connection no coins to play with"

type KuhnVisit = Visit[View, KuhnAction]


def play_against_server(chunk: Chunk, seating: int) -> Sequence[int]:
    """The nets of the first bot in a seating. Raises Forfeit."""
    visit: KuhnVisit = Visit(chunk, seating, DEFAULT_ACTIONS)
    options = SEAT_OPTIONS[seating if visit.bot == 0 else 1 - seating]
    run(visit.play(partial(_play_purse, chunk, seating, visit, options), NO_HAND))
    return visit.counted_nets


async def _play_purse(chunk: Chunk, seating: int, visit: KuhnVisit, options: Options) -> None:
    """Play on one connection while the purse pays for a whole hand: a bot that cannot bet would play another game."""
    host, port = parse_address(visit.address)
    luck, counted = chunk.dealer(seating).luck, 0
    async with GameClient(ROOM, host, port, options=options, answer_timeout=chunk.plan.answer_seconds) as client:
        while not visit.is_complete and not client.player.is_exhausted:
            message = client.player.decide(visit, luck, len(visit.nets))
            if message is None:
                await client.receive()
            else:
                await client.send(message)
            visit.nets += client.nets[counted:]
            if len(client.nets) > counted and DEFAULT_COINS + sum(client.nets) < MAX_GAME_COST:
                return
            counted = len(client.nets)
