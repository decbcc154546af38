"""Tables of Old Maid to sit down at, and bots that do."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from ssl import SSLContext
from time import time
from typing import Any

from croupier.clients.ring import RingClient, RingConfig, RingTally, play_ring_games
from croupier.core.bots import RandomBot
from croupier.core.dealer import FairDealer, Luck, dealer_factory, derive_server_seed
from croupier.core.session import Address, Effect, Event, HandFinished, Observer
from croupier.logs import silent_logger
from croupier.net.shared_endpoint import SharedEndpoint
from croupier.recording.durable_session import DurableTableEndpoint
from croupier.recording.oldmaid_journal import open_journal
from croupier.recording.seeds import Seeds
from croupier.rooms.oldmaid.house import House
from croupier.rooms.oldmaid.player import Options
from croupier.rooms.oldmaid.settings import Settings
from croupier.rooms.oldmaid.table.game import TableGame
from croupier.rooms.oldmaid.wire import Wire
from croupier.store.store import open_store
from tests.net.raw_client import PATIENCE


class Table:
    """A table that is open: its address, and the games that are over."""

    def __init__(self, board: SharedEndpoint, address: Address, games: list[TableGame]) -> None:
        self.board = board
        self.address = address
        self.games = games

    async def seats(self, *players: Coroutine[Any, Any, Any]) -> list[Any]:
        """Let the players of the first game join in this order, and play."""
        async with asyncio.timeout(2 * PATIENCE), asyncio.TaskGroup() as group:
            playing = []
            for number, player in enumerate(players, start=1):
                playing.append(group.create_task(player))
                while self.board.counts.messages_received < number:
                    await asyncio.sleep(0)
        return [one.result() for one in playing]

    @property
    def rankings(self) -> list[list[str]]:
        """The nicks of every game, from the winner to the loser."""
        return [[game.nicks[seat] for seat in game.ranking] for game in self.games]


@asynccontextmanager
async def opened(
    players: int = 4,
    host: str = "127.0.0.1",
    *,
    strict: bool = False,
    ssl: SSLContext | None = None,
    kept: Path | None = None,
    taps: Sequence[Observer] = (),
    **settings: Any,
) -> AsyncIterator[Table]:
    """A table with the luck of seed 1, which is kept in a store if it has one. At the end everybody has to leave."""
    own = Settings(players=players, **settings)
    games: list[TableGame] = []

    def note(event: Event[Any], effects: Sequence[Effect[Any]], now: float) -> None:
        games.extend(effect.state for effect in effects if isinstance(effect, HandFinished))  # type: ignore[misc]  # they are Games

    house = House(
        own,
        dealer_factory(lambda game: derive_server_seed(1, "oldmaid", game), shared=True),
        record_entries=kept is not None,
    )
    wire = partial(Wire, "table", strict=strict, dialect=own.dialect)
    if kept is None:
        board = SharedEndpoint(house, wire, silent_logger(), observers=[*taps, note])
    else:
        _, journal, *_ = await open_journal(await open_store(str(kept)), Seeds(1), time)
        board = DurableTableEndpoint(house, journal, wire, silent_logger(), observers=[*taps, note])
    table = Table(board, await board.listen(host, 0, ssl), games)
    try:
        yield table
    finally:
        board.halt(final=True)
        async with asyncio.timeout(PATIENCE):
            await board.wait_drained()


def options(nick: str, **more: Any) -> Options:
    """A player in haste."""
    return Options(nick, **({"pause": 0.0, "look": 0.05, "retry_seconds": 0.5} | more))


def luck(number: int) -> Luck:
    return FairDealer(derive_server_seed(2, "oldmaid bot", number)).luck


def seat(table: Table, nick: str, number: int = 1, **way: Any) -> RingClient:
    """A seat for a player in haste."""
    return RingClient(RingConfig(table.address, **way), options(nick), luck(number))


async def bot(table: Table, nick: str, number: int = 1, games: int = 1, **way: Any) -> RingTally:
    """Let a bot play."""
    tally = RingTally(nick)
    await play_ring_games(partial(seat, table, nick, number, **way), RandomBot(), luck(number), games, tally)
    return tally


async def bots(table: Table, *nicks: str, games: int = 1, **way: Any) -> list[RingTally]:
    """Let bots play."""
    async with asyncio.timeout(2 * PATIENCE):
        return await asyncio.gather(*(bot(table, nick, number, games, **way) for number, nick in enumerate(nicks)))
