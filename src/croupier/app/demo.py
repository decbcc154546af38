"""The demo: a server of all rooms that stores nothing, with bots at every table."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from itertools import count
from math import inf
from typing import Any, Final

from croupier.app.config import RoomConfig, ServerConfig
from croupier.app.serve import OpenServer, serve
from croupier.clients.game import GameClient
from croupier.clients.holdem import HoldemClient, play_hands
from croupier.clients.luck import make_luck
from croupier.clients.play import play_games
from croupier.clients.ring import RingClient, RingConfig, RingTally, play_ring_games
from croupier.core.bots import bot_factory
from croupier.core.logger import Logger
from croupier.core.room import HouseRoom
from croupier.core.session import Address
from croupier.logs import get_logger
from croupier.net.addresses import format_address
from croupier.net.listening_socket import free_port
from croupier.rooms import HOUSE_ROOMS, ROOMS
from croupier.rooms.holdem import ROOM as HOLDEM
from croupier.rooms.holdem.wire import Guid
from croupier.rooms.oldmaid import ROOM as OLDMAID
from croupier.rooms.oldmaid import Options
from croupier.web.config import DEFAULT_PORT

HOST: Final = "127.0.0.1"

HOUSE_BOTS: Final[Mapping[str, Sequence[str]]] = {
    "kuhn": ("equilibrium", "book:king-only", "random"),
    "sevenhalf": ("book:5", "random"),
    "blackjack": ("book", "book:12", "random"),
}
"""The bots that play against each house."""

HOLDEM_TABLES: Final[Sequence[Mapping[str, str]]] = (
    {"Marta": "equity:100", "Jon": "tight", "Ida": "caller", "Nils": "tight:6"},
    {"Aina": "equity:100", "Pau": "maniac", "Solveig": "caller"},
)
"""The bots at each table of hold'em, by the name of the player. Tables have more seats, for people."""

HOLDEM_SETTINGS: Final[Mapping[str, Any]] = {"stack": 2000, "seats": 6, "turn_seconds": 60.0}
OLDMAID_SETTINGS: Final[Mapping[str, Any]] = {"players": 4, "join_window": 8.0}

OLDMAID_PLAYERS: Final = ("Berit", "Jordi", "Laia")
"""Bots that play Old Maid: one fewer than a game has players, so that a person can join it."""

HOLDEM_PAUSES_AFTER_HAND: Final = 2
"""A hold'em table shows the end of a hand for this many pauses."""

GAMES_PER_TALLY: Final = 100
"""A bot counts its results anew after this number of games."""

RETRY_SECONDS: Final = 5.0
"""A bot that was interrupted begins again after this time."""


async def serve_demo(
    pause_seconds: float, announce: Callable[[str], None], on_open: Callable[[str], None], *, has_free_ports: bool
) -> None:
    """Serve all rooms, with bots that wait `pause_seconds` before each move, until a signal stops the server.

    Rooms and the web app have their default ports, or free ones if those are in use or `has_free_ports` is true.
    `announce` is called as by `serve`, then `on_open` with the URL of the web app.
    """
    room_configs = [
        RoomConfig(
            room,
            0 if has_free_ports else await free_port(HOST, room.port),
            room.settings(**room_settings(room.name, pause_seconds)),
        )
        for room in ROOMS.values()
    ]
    config = ServerConfig(
        host=HOST,
        journal="off",
        web_port=0 if has_free_ports else await free_port(HOST, DEFAULT_PORT),
        drain_seconds=0.0,
        log_level="error",
    )

    @asynccontextmanager
    async def play(server: OpenServer) -> AsyncIterator[None]:
        assert server.web_url is not None, "the demo has a web app"
        async with asyncio.TaskGroup() as tasks:
            bots = [tasks.create_task(bot) for bot in make_bots(server.addresses, pause_seconds)]
            on_open(server.web_url)
            try:
                yield
            finally:
                for bot in bots:
                    bot.cancel()

    await serve(room_configs, config, announce, play)


def room_settings(name: str, pause_seconds: float) -> Mapping[str, Any]:
    """Return the settings of a room in the demo.

    >>> room_settings("kuhn", 1.0), room_settings("holdem", 1.0)["pause_seconds"]
    ({}, 2.0)
    """
    return {
        HOLDEM.name: {**HOLDEM_SETTINGS, "pause_seconds": HOLDEM_PAUSES_AFTER_HAND * pause_seconds},
        OLDMAID.name: OLDMAID_SETTINGS,
    }.get(name, {})


def make_bots(addresses: Mapping[str, Address], pause_seconds: float) -> list[Coroutine[Any, Any, None]]:
    """Return what all bots do, for the rooms at these addresses. It never ends."""
    houses = [
        play_house(HOUSE_ROOMS[name], addresses[name], bot, pause)
        for name, bots in HOUSE_BOTS.items()
        for bot, pause in zip(bots, own_pauses(pause_seconds), strict=False)
    ]
    players = [
        play_oldmaid(addresses[OLDMAID.name], nick, pause)
        for nick, pause in zip(OLDMAID_PLAYERS, own_pauses(pause_seconds), strict=False)
    ]
    return [*houses, play_holdem(addresses[HOLDEM.name], pause_seconds), *players]


def own_pauses(pause_seconds: float) -> Iterator[float]:
    """Yield a pause for each of several bots: each is a little slower than the former.

    >>> pauses = own_pauses(1.0)
    >>> next(pauses), next(pauses)
    (1.0, 1.25)
    """
    return count(pause_seconds, pause_seconds / 4)


async def play_house(room: HouseRoom, address: Address, bot_name: str, pause_seconds: float) -> None:
    """Let a bot play against a house, without end."""
    bot, luck, log = bot_factory(room.bots, bot_name)(), make_luck(), get_logger(room=room.name, bot=bot_name)
    while True:
        tally = await play_games(
            lambda: GameClient(room, *address), bot, luck, GAMES_PER_TALLY, pause_seconds=pause_seconds
        )
        if tally.fault is not None:
            await wait_to_retry(log, tally.fault)


async def play_holdem(
    address: Address, pause_seconds: float, tables: Sequence[Mapping[str, str]] = HOLDEM_TABLES
) -> None:
    """Let bots play at tables of hold'em, without end."""
    url = f"http://{format_address(address)}"
    async with asyncio.TaskGroup() as seats:
        for number, table in enumerate(tables):
            clients = [HoldemClient(url, name, secrets.token_urlsafe()) for name in table]
            game = await open_game(clients[0], number)
            for client, bot_name, pause in zip(clients, table.values(), own_pauses(pause_seconds), strict=False):
                seats.create_task(play_seat(client, bot_name, game, pause))


async def open_game(client: HoldemClient, number: int) -> Guid:
    """Return the game at the table of this number; the client opens it if the house has not."""
    await client.register()
    games = await client.list_games()
    return games[number].game_id if number < len(games) else (await client.create_game()).game


async def play_seat(client: HoldemClient, bot_name: str, game: Guid, pause_seconds: float) -> None:
    """Let a bot play in a game of hold'em, without end."""
    bot, log = bot_factory(HOLDEM.bots, bot_name)(), get_logger(room=HOLDEM.name, bot=client.user)
    async with client:
        while True:
            tally = await play_hands(client, bot, make_luck(), rebuy=True, pause_seconds=pause_seconds, game=game)
            if tally.fault is not None:
                await wait_to_retry(log, tally.fault)


async def play_oldmaid(address: Address, nick: str, pause_seconds: float) -> None:
    """Let a bot play one game of Old Maid after another, without end."""
    bot, luck, log = bot_factory(OLDMAID.bots, OLDMAID.default_bot)(), make_luck(), get_logger(room=OLDMAID.name)
    options = Options(nick=nick, pause=pause_seconds)
    connect = partial(RingClient, RingConfig(address), options, luck)
    while True:
        tally = RingTally(nick)
        await play_ring_games(connect, bot, luck, GAMES_PER_TALLY, tally, wait_seconds=inf)
        if tally.faults:
            await wait_to_retry(log, tally.faults[-1])


async def wait_to_retry(log: Logger, reason: object) -> None:
    """Log why a bot was interrupted, and wait until it begins again."""
    log.error("bot interrupted", reason=str(reason))
    await asyncio.sleep(RETRY_SECONDS)
