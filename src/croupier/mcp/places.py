"""Where programs sit down: in rooms of our own, with bots at their tables, or at a server."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from http import HTTPStatus
from itertools import chain
from time import time
from typing import Any, Final

from croupier.app.config import RoomConfig, ServerConfig
from croupier.app.demo import HOLDEM_SETTINGS, OLDMAID_PLAYERS, OLDMAID_SETTINGS, play_holdem, play_oldmaid
from croupier.app.open_rooms import open_room
from croupier.app.room_context import OpenRoom, RoomContext
from croupier.clients.game import GameClient
from croupier.clients.holdem import HoldemClient
from croupier.clients.holdem_api import Refusal
from croupier.clients.identify import locate
from croupier.clients.luck import Login, make_luck
from croupier.clients.ring import RingClient, RingConfig
from croupier.core.presentation import Text
from croupier.core.room import HouseRoom, Room
from croupier.core.session import Address
from croupier.logs import get_logger
from croupier.net.addresses import format_address
from croupier.net.event_loop import cancel_all
from croupier.recording.shared_store import SharedStore
from croupier.rooms.oldmaid import Options
from croupier.tui.holdem_seat import HoldemTableSeat, clock_offset
from croupier.tui.interaction import OpenSeat
from croupier.tui.ring_seat import RingSeat
from croupier.tui.seats import HouseSeat

THINKING_SECONDS: Final = 3600.0
"""The time that a program has for a move in our own rooms."""

BOT_PAUSE_SECONDS: Final = 0.2
"""How long the bots in our own rooms wait before each move."""

SHOWN_SECONDS: Final = 0.5
"""How long our own room of hold'em shows the end of a hand."""

HOLDEM_BOTS: Final = ({"Marta": "equity:100", "Jon": "tight", "Ida": "caller"},)

ROOM_SETTINGS: Final[Mapping[str, Mapping[str, Any]]] = {
    "holdem": {
        **HOLDEM_SETTINGS,
        "turn_seconds": THINKING_SECONDS,
        "pause_seconds": SHOWN_SECONDS,
        "dialect": "hspe-go",
    },
    "oldmaid": {**OLDMAID_SETTINGS, "join_window": THINKING_SECONDS},
}
"""The settings of our own rooms. Dialect hspe-go shows the winning hand of a showdown, which the document does not.
Bots of Old Maid wait until somebody joins them."""


class ServerPlaces:
    """The rooms of a server, each at its default port, or the only room of a port."""

    def __init__(self, host: str, port: int | None) -> None:
        self._host = host
        self._port = port

    async def address(self, room: Room) -> Address:
        """The address of the room's server. Raises OSError if there is none."""
        if self._port is None and isinstance(room, HouseRoom):
            return await locate(room, self._host, None)
        return self._host, self._port or room.port

    def bot_names(self, room: Room) -> Collection[str]:  # noqa: ARG002 -- as in `OwnPlaces`
        """The names of bots that a player cannot have: a server knows its players."""
        return ()

    async def close(self) -> None:
        """Nothing was opened."""


class OwnPlaces:
    """Rooms of our own, on free ports of this computer. A room is opened, with bots, when somebody sits down in it.

    With a seed the deals are reproducible. Nothing is stored. Close it after use.
    """

    def __init__(self, seed: int | None = None) -> None:
        self._config = ServerConfig(seed=seed, journal="off", idle_seconds=2 * THINKING_SECONDS, no_web=True)
        self._store = SharedStore(None)
        self._exits = AsyncExitStack()
        self._rooms: dict[str, OpenRoom] = {}
        self._addresses: dict[str, Address] = {}
        self._bots: list[asyncio.Future[None]] = []
        self._opening = asyncio.Lock()

    async def address(self, room: Room) -> Address:
        """The address of the room's server, which is opened if necessary."""
        async with self._opening:
            if room.name not in self._addresses:
                settings = room.settings(**ROOM_SETTINGS.get(room.name, {}))
                context = RoomContext(get_logger(room=room.name), (), None, self._store, self._exits)
                self._rooms[room.name], (address, *_) = await open_room(
                    RoomConfig(room, 0, settings), self._config, context
                )
                self._addresses[room.name] = address
                self._seat_bots(room, address)
        return self._addresses[room.name]

    def bot_names(self, room: Room) -> Collection[str]:
        """The names of the bots that sit down in the room: one that finds its name taken would not play."""
        return {"holdem": [*chain(*HOLDEM_BOTS)], "oldmaid": OLDMAID_PLAYERS}.get(room.name, ())

    async def close(self) -> None:
        """End all games, bots and servers."""
        await cancel_all(*self._bots)
        for room in self._rooms.values():
            room.halt(final=True)
        for room in self._rooms.values():
            with suppress(TimeoutError):
                async with asyncio.timeout(self._config.drain_seconds):
                    await room.wait_drained()
        await self._exits.aclose()

    def _seat_bots(self, room: Room, address: Address) -> None:
        """Let bots play at the shared tables of a room."""
        bots = {
            "holdem": lambda: [play_holdem(address, BOT_PAUSE_SECONDS, HOLDEM_BOTS)],
            "oldmaid": lambda: [play_oldmaid(address, nick, BOT_PAUSE_SECONDS) for nick in OLDMAID_PLAYERS],
        }.get(room.name, list)()
        self._bots += map(asyncio.ensure_future, bots)


type Places = ServerPlaces | OwnPlaces
"""Where programs find the server of a room."""


@asynccontextmanager
async def seat_opener(room: Room, address: Address, login: Login) -> AsyncIterator[OpenSeat]:
    """A function that opens seats in a room, as the terminal has them, for a player with this login.

    Raises ValueError if the user of the login has another password.
    """
    if isinstance(room, HouseRoom):
        yield lambda notify: HouseSeat(GameClient(room, *address, notify=notify))
    elif room.name == "holdem":
        async with HoldemClient(f"http://{format_address(address)}", *login) as client:
            await register(client)
            offset = await clock_offset(client, time)
            yield lambda _: HoldemTableSeat(client.sit(None), lambda: time() + offset)
    else:
        options, luck = Options(nick=login.user), make_luck()

        def open_ring_seat(notify: Callable[[Text], None]) -> RingSeat:
            return RingSeat(RingClient(RingConfig(address), options, luck, notify=notify))

        yield open_ring_seat


async def register(client: HoldemClient) -> None:
    """Register the client's user. Raises ValueError if somebody else has registered this name."""
    await client.register()
    try:
        await client.list_games()
    except Refusal as refusal:
        if refusal.status != HTTPStatus.UNAUTHORIZED:
            raise
        taken = f"found the name {client.user!r}, which another player has registered; allowed: another name"
        raise ValueError(taken) from refusal
