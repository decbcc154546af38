"""Players of hold'em: each table of them is opened by its first player, and shares one pace."""

import asyncio
from collections.abc import Coroutine
from http import HTTPStatus
from ssl import PROTOCOL_TLS_CLIENT, SSLContext, create_default_context
from typing import Any

from croupier.clients.holdem import HoldemClient, HoldemSeat
from croupier.clients.holdem_api import Refusal
from croupier.clients.luck import make_luck, new_login
from croupier.clients.server_url import with_scheme
from croupier.load.errors import failed_move
from croupier.load.measurement import Measurement
from croupier.load.plan import Plan
from croupier.load.visits import VisitFailed, Visitor, visitors_by_table
from croupier.rooms.holdem.wire import Dialect, Guid


class Table:
    """The game of several players; the first one that wants to sit down opens it."""

    def __init__(self) -> None:
        self._game: Guid = ""
        self._lock = asyncio.Lock()

    async def find(self, client: HoldemClient) -> Guid:
        """Return the game; open it if there is none."""
        async with self._lock:
            if not self._game:
                self._game = (await client.create_game()).game
            return self._game

    def forget(self, game: Guid) -> None:
        """Open another game next time, if this one has not been replaced yet."""
        if self._game == game:
            self._game = ""


class HoldemPlayer:
    """A player with its own user name."""

    def __init__(self, plan: Plan, visitor: Visitor, table: Table, ssl: SSLContext, measurement: Measurement) -> None:
        self._plan = plan
        self._visitor = visitor
        self._table = table
        self._ssl = ssl
        self._measurement = measurement
        self._bot = plan.bot.make()
        self._luck = make_luck(plan.seed, "load", visitor.number)
        self._login = new_login()
        self._dialect: Dialect | None = plan.options.dialect
        self._guid: Guid | None = None  # that of the user, once it is registered

    async def visit(self) -> None:
        """Sit down, play a number of hands, and leave. The first time, register."""
        async with HoldemClient(
            self._plan.server, *self._login, ssl=self._ssl, retry_timeout=0.0, dialect=self._dialect
        ) as client:
            async with self._visitor.connect():
                seat = await self._sit(client)
            async with self._visitor.stay(lambda: seat.__aexit__(None, None, None)):
                await self._play(seat)

    async def _sit(self, client: HoldemClient) -> HoldemSeat:
        """Take a seat. A server may end a game that all players have left; then the first one opens another."""
        if self._guid is None:
            await client.register()
            self._guid, self._dialect = client.guid, client.dialect
        client.guid = self._guid
        while True:
            game = await self._table.find(client)
            try:
                return await client.sit(game).__aenter__()
            except Refusal as refusal:
                if refusal.status != HTTPStatus.NOT_FOUND:
                    raise
                self._table.forget(game)

    async def _play(self, seat: HoldemSeat) -> None:
        """Act at every turn until enough hands are finished.

        The player leaves at a turn of its own: leaving at that of another could end the hand while that one acts.
        """
        hands = 0
        async for _ in seat:
            self._measurement.games += len(seat.nets) - hands
            hands = len(seat.nets)
            move = seat.player.decide(self._bot, self._luck)
            if move is None:
                continue
            if hands >= self._plan.games:
                return
            due = await self._visitor.wait_until_due()
            async with self._visitor.act(due):
                if (failure := await seat.try_move(move)) is not None:
                    raise VisitFailed(failed_move(failure))


def play_holdem(plan: Plan, numbers: range, measurement: Measurement, start: float) -> list[Coroutine[Any, Any, None]]:
    """Return what the players of a process do; it never ends. Raises ValueError if the URL is invalid."""
    url = with_scheme(plan.server)
    ssl = plan.tls.ssl_context() or (
        create_default_context() if url.startswith("https:") else SSLContext(PROTOCOL_TLS_CLIENT)
    )
    players = []
    for arrival, visitors in visitors_by_table(plan, numbers, measurement, start):
        table = Table()
        players += [
            visitor.play(arrival, HoldemPlayer(plan, visitor, table, ssl, measurement).visit) for visitor in visitors
        ]
    return players
