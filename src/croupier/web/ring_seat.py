"""A person's seat at the table of Old Maid: a player of the ring, with bots in the places that stay free."""

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any, Final

from msgspec import Struct

from croupier.clients.contestants import Contestant, parse_contestant
from croupier.clients.luck import make_luck
from croupier.clients.ring import RingClient, RingConfig, RingTally, play_ring_games
from croupier.core.bots import bot_factory, bot_failure
from croupier.core.codec import SpanCodec
from croupier.core.presentation import TableView, Text, text
from croupier.core.session import Address, Effect, Event, Malformed, Received
from croupier.logs import get_logger
from croupier.net.event_loop import resolve, start_task, wait_tasks
from croupier.net.timer import Timer
from croupier.rooms.oldmaid import ROOM
from croupier.rooms.oldmaid.player import TABLE, Options
from croupier.rooms.oldmaid.presenter import OldMaidPresenter
from croupier.rooms.oldmaid.ring.player_events import PlayerFinished
from croupier.rooms.oldmaid.settings import Settings
from croupier.rooms.oldmaid.wire import Message
from croupier.web.bot_programs import BotPrograms
from croupier.web.feed import RenderTable
from croupier.web.frames import FrameCodec
from croupier.web.rooms import BOTS_AFTER_SECONDS
from croupier.web.seats import Seat

USUAL_BOTS: Final = ("random",)
"""The bots that join people."""

TABLE_UNREACHABLE: Final = text("The table cannot be reached. Try again later.")


class RingTable(Struct, frozen=True):
    """The table of Old Maid as players reach it, with its settings."""

    address: Address
    settings: Settings

    def client(self, nick: str, **options: Any) -> RingClient:
        """Make a player."""
        config = RingConfig(self.address, self.address[0])
        return RingClient(config, Options(nick=nick, dialect=self.settings.dialect), make_luck(), **options)


class RingLobby:
    """The people at the table, and the bots that join those who wait for a game."""

    def __init__(self, table: RingTable, bots: Sequence[str] = USUAL_BOTS) -> None:
        self.table = table
        self._next_bot = cycle([parse_contestant(ROOM, bot) for bot in bots])
        self._programs = BotPrograms(ROOM.name)
        self._departure: asyncio.Future[None]  # is done when nobody is at the table any more
        self._people: set[RingSeat] = set()
        self._waiting: set[RingSeat] = set()
        self._bots: set[asyncio.Task[None]] = set()
        self._timer = Timer()
        self._bot_count = 0

    def wait(self, seat: "RingSeat") -> None:
        """Note that a person waits for a game."""
        if not self._people:
            self._departure = asyncio.get_running_loop().create_future()
        self._people.add(seat)
        self._waiting.add(seat)
        if not self._timer.is_set:
            self._timer.set(BOTS_AFTER_SECONDS, self._add_bots)

    def begin(self, seat: "RingSeat") -> None:
        """Note that the game of a person has begun."""
        self._waiting.discard(seat)

    def leave(self, seat: "RingSeat") -> None:
        """Note that a person has left. Without people, programs are ended."""
        self._waiting.discard(seat)
        if seat in self._people:
            self._people.discard(seat)
            if not self._people:
                resolve(self._departure)

    def close(self) -> None:
        """Send all bots away."""
        self._timer.cancel()
        for bot in self._bots:
            bot.cancel()

    async def wait_closed(self) -> None:
        """Wait until all bots have stopped."""
        await wait_tasks(self._bots)

    def _add_bots(self) -> None:
        if not self._waiting:
            return
        for _ in range(max(1, self.table.settings.players - len(self._waiting))):
            self._bot_count += 1
            contestant = next(self._next_bot)
            play = self._run_program if contestant.is_program else self._play
            start_task(self._bots, play(f"bot {self._bot_count}", contestant))

    async def _run_program(self, nick: str, program: Contestant) -> None:
        """Run a program while people are at the table."""
        host, port = self.table.address

        async def values(_number: int) -> Mapping[str, object]:
            return {"host": host, "port": port, "nick": nick}

        await self._programs.play(program, values, self._departure)

    async def _play(self, nick: str, contestant: Contestant) -> None:
        """Play one game. A bot for which no game begins is sent away by the table; one that fails leaves the game."""
        name = contestant.text
        try:
            bot = bot_factory(ROOM.bots, name)()
            await play_ring_games(lambda: self.table.client(nick), bot, make_luck(), 1, RingTally(nick))
        except (Exception, SystemExit) as error:
            get_logger(room=ROOM.name).error("the bot has failed", bot=name, reason=bot_failure(error))


class RingSeat(Seat):
    """A player of the ring, who listens for the neighbour on a port of this server as any player does.

    The frames are the messages on the connections to the table (house) and to the neighbours (peer). The player joins
    with the first of `nicks` that the table accepts: no two players of a game have the same one (oldmaid-3.8). One who
    leaves a game comes last in it.
    """

    def __init__(self, lobby: RingLobby, nicks: Sequence[str], render: RenderTable) -> None:
        self._lobby = lobby
        self._nicks = nicks
        self._presenter = OldMaidPresenter()
        self._has_picked = False
        self._games: set[asyncio.Task[None]] = set()
        self._received: deque[bytes] = deque()
        self._join(nicks)
        super().__init__(render)

    def close(self, reason: Text) -> None:
        """Disconnect from the table and the neighbours."""
        if not self.is_over:
            for game in self._games:
                game.cancel()
            self._end(reason)

    @property
    def _is_waiting(self) -> bool:
        return self._has_picked

    def _view(self) -> TableView:
        return self._presenter.table(self._loop.time())

    def _end(self, reason: Text) -> None:
        self._lobby.leave(self)
        super()._end(reason)

    # Games.

    def _join(self, nicks: Sequence[str]) -> None:
        """Join the next game. A finished one ends by itself when the neighbours no longer need this player."""
        self._client = self._lobby.table.client(nicks[0], observers=[self._on_event], wrap_codec=self._make_codec)
        self._presenter.sit(self._client.player)
        start_task(self._games, self._play(self._client, nicks[1:]))
        self._lobby.wait(self)

    async def _play(self, client: RingClient, other_nicks: Sequence[str]) -> None:
        """Play a game; if the table refuses the nick, join it with another one."""
        try:
            async with client:
                self._presenter.sit(client.player)
                self._changed()
                event = None
                while not isinstance(event, PlayerFinished):
                    event = await client.receive()
                    is_finished, has_seat = isinstance(event, PlayerFinished), client.player.seat is not None
                    if is_finished and not has_seat and other_nicks:
                        self._join(other_nicks)
                        return
                    if is_finished or has_seat:
                        self._lobby.begin(self)
                    self._has_picked = False
                    self._presenter.received(event)
                    self._changed()
        except OSError:
            if client is self._client and not self._is_ended:
                self._end(TABLE_UNREACHABLE)

    def _rejoin(self) -> None:
        self._join(self._nicks)
        self._changed()

    def _make_move(self, move: Any) -> None:
        self._client.submit(move)
        self._presenter.sent(move)
        self._has_picked = True
        self._changed()

    def _make_codec(self, codec: SpanCodec[Message, Message]) -> FrameCodec[Message]:
        return FrameCodec(codec, self._on_sent, self._received)

    def _on_event(self, event: Event[Any], effects: Sequence[Effect[Any]], now: float) -> None:  # noqa: ARG002 -- an Observer
        """Show a message that has been received."""
        match event:
            case Received(peer, message):
                self._add_frame("house" if peer == TABLE else "peer", str(message), self._received.popleft())
            case Malformed():
                self._received.popleft()
            case _:
                pass

    def _on_sent(self, message: Message, data: bytes) -> None:
        """Show a message of the person."""
        self._add_frame("you", str(message), data)
