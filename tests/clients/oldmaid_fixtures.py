"""Open tables of Old Maid for client tests, and bots that play at them."""

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
from croupier.core.logger import SilentLogger
from croupier.core.session import Address, Effect, Event, HandFinished, Observer
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
from tests.net.raw_client import TIMEOUT_SECONDS


class OpenTable:
    """An open table with its finished games."""

    def __init__(self, endpoint: SharedEndpoint, address: Address, games: list[TableGame]) -> None:
        self.endpoint = endpoint
        self.address = address
        self.games = games

    async def play_in_order(self, *players: Coroutine[Any, Any, Any]) -> list[Any]:
        """Run the players of one game; they join in this order. Returns their results."""
        async with asyncio.timeout(2 * TIMEOUT_SECONDS), asyncio.TaskGroup() as group:
            playing = []
            for number, player in enumerate(players, start=1):
                playing.append(group.create_task(player))
                while self.endpoint.counts.messages_received < number:
                    await asyncio.sleep(0)
        return [task.result() for task in playing]

    @property
    def rankings(self) -> list[list[str]]:
        """The nicks of the players of every game, from winner to loser."""
        return [[game.nicks[seat] for seat in game.ranking] for game in self.games]


@asynccontextmanager
async def open_table(
    players: int = 4,
    host: str = "127.0.0.1",
    *,
    strict: bool = False,
    ssl: SSLContext | None = None,
    store: Path | None = None,
    taps: Sequence[Observer] = (),
    **settings: Any,
) -> AsyncIterator[OpenTable]:
    """A table dealt with seed 1, with a journal if `store` is given. At the end it closes."""
    table_settings = Settings(players=players, **settings)
    games: list[TableGame] = []

    def add_finished_games(event: Event[Any], effects: Sequence[Effect[Any]], now: float) -> None:
        games.extend(effect.state for effect in effects if isinstance(effect, HandFinished))  # type: ignore[misc]  # the states are TableGames

    house = House(
        table_settings,
        dealer_factory(lambda game: derive_server_seed(1, "oldmaid", game), shared=True),
        record_entries=store is not None,
    )
    wire = partial(Wire, "table", strict=strict, dialect=table_settings.dialect)
    if store is None:
        endpoint = SharedEndpoint(house, wire, SilentLogger(), observers=[*taps, add_finished_games])
    else:
        opened_store = await open_store(str(store))
        _, journal, *_ = await open_journal(opened_store, Seeds(1), time())
        endpoint = DurableTableEndpoint(opened_store, wire, SilentLogger(), observers=[*taps, add_finished_games])
        endpoint.open_house(house, journal)
    table = OpenTable(endpoint, await endpoint.listen(host, 0, ssl), games)
    try:
        yield table
    finally:
        endpoint.halt(final=True)
        async with asyncio.timeout(TIMEOUT_SECONDS):
            await endpoint.wait_drained()


def fast_options(nick: str, **settings: Any) -> Options:
    """Player options without pauses."""
    return Options(nick, **({"pause": 0.0, "poll_seconds": 0.05} | settings))


def luck(number: int) -> Luck:
    return FairDealer(derive_server_seed(2, "oldmaid bot", number)).luck


def make_client(
    table: OpenTable, nick: str, number: int = 1, *, retry_seconds: float = Options.retry_seconds, **config: Any
) -> RingClient:
    """A client of this table without pauses."""
    options = fast_options(nick, retry_seconds=retry_seconds)
    return RingClient(RingConfig(table.address, **config), options, luck(number))


async def play_with_bot(table: OpenTable, nick: str, number: int = 1, games: int = 1, **config: Any) -> RingTally:
    """Let a bot play; return its tally."""
    tally = RingTally(nick)
    await play_ring_games(partial(make_client, table, nick, number, **config), RandomBot(), luck(number), games, tally)
    return tally


async def play_with_bots(table: OpenTable, *nicks: str, games: int = 1, **config: Any) -> list[RingTally]:
    """Let bots play against each other; return their tallies."""
    async with asyncio.timeout(2 * TIMEOUT_SECONDS):
        return await asyncio.gather(
            *(play_with_bot(table, nick, number, games, **config) for number, nick in enumerate(nicks))
        )
