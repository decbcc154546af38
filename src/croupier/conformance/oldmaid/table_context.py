"""A table under test: how many it plays with, who waits there for a game, and games that begin."""

import asyncio
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from random import Random
from typing import Final

from croupier.conformance.conversation import DialogueLine
from croupier.conformance.oldmaid.answers import ReceivedMessage
from croupier.conformance.oldmaid.dialect import JsonDialect
from croupier.conformance.oldmaid.driven_game import DrivenGame
from croupier.conformance.oldmaid.outcomes import Failed, NotReached
from croupier.conformance.oldmaid.scripted_player import QUIET_SECONDS, AdaptiveTimeout, ScriptedPlayer
from croupier.core.session import Address
from croupier.rooms.oldmaid.referee import Referee
from croupier.rooms.oldmaid.rules import MAX_PLAYERS, MIN_PLAYERS
from croupier.rooms.oldmaid.wire import Dialect, Join, Reply

JOIN_WAIT_SECONDS: Final = 0.1
"""As long as nobody knows how many the table plays with, it has so many seconds to start a game behind every join."""

JOIN_GAP_SECONDS: Final = 0.002
"""So many seconds lie between two joins, so that nobody can mistake their order."""

MAX_TOTAL_SHRINK_SECONDS: Final = 8.0
"""So many seconds games are played again, all in all, to show what is wrong in fewer words."""

MAX_START_ATTEMPTS: Final = 3
"""So often it is tried to begin a game in which nobody but us plays."""


class TableUnderTest:
    """What is known of the table under test. `players` is how many have to join, None while nobody knows.

    `crowd` is how many have once joined as fast as they could: a game of fewer than that may have begun early because
    its players came too slowly, for a table need not wait for more than two (oldmaid-3.11).

    `barren` tells why no game can be begun there, once it is so. Who holds the `lobby` is alone in waiting for a game.
    What the table says is read by the `spelling`, if there is one. `spare` is the time in seconds that is left to make
    dialogues shorter.
    """

    def __init__(
        self,
        address: Address,
        *,
        dialect: Dialect,
        strict: bool,
        timeout: AdaptiveTimeout,
        detected_dialect: JsonDialect | None = None,
    ) -> None:
        self.address = address
        self.dialect: Dialect = dialect
        self.detected_dialect = detected_dialect
        self.strict = strict
        self.timeout = timeout
        self.table_size: int | None = None
        self.largest_group = 0
        self.no_game_reason = ""
        self.shrink_seconds_left = MAX_TOTAL_SHRINK_SECONDS
        self.lobby = asyncio.Lock()

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection. Raises ConnectionError."""
        try:
            async with asyncio.timeout(self.timeout.max_seconds):
                return await asyncio.open_connection(*self.address)
        except (OSError, TimeoutError) as error:
            raise ConnectionError(f"no table answers at {self.address[0]}:{self.address[1]}: {error}") from error


class TableContext:
    """One case at the table: its guests, their games, all that was said, and the luck with which they pick.

    `dialogue` grows with what is said. Nicks are made fresh, so that no case meets another one's.
    """

    def __init__(self, table: TableUnderTest, random: Random, *, holds_lobby: bool) -> None:
        """`alone`: the case holds the lobby from its beginning to its end."""
        self.table = table
        self.random = random
        self.dialogue: list[DialogueLine] = []
        self.scripted_players: list[ScriptedPlayer] = []
        self.games: list[DrivenGame] = []
        self._salt = f"{random.randrange(1 << 24):06x}"
        self._holds_lobby = holds_lobby
        self._nick_count = 0

    @property
    def table_size(self) -> int:
        """How many the table plays with."""
        return self.table.table_size or MIN_PLAYERS

    def new_nick(self) -> str:
        """A fresh nick."""
        self._nick_count += 1
        return f"p{self._nick_count}-{self._salt}"

    async def connect_player(self, nick: str | None = None) -> ScriptedPlayer:
        """Somebody who has come to the table, and has not joined."""
        tables = self.table
        ends = await tables.connect()
        guest = ScriptedPlayer(
            nick or self.new_nick(),
            ends,
            self.dialogue,
            tables.timeout,
            tables.dialect,
            detected_dialect=tables.detected_dialect,
        )
        self.scripted_players.append(guest)
        return guest

    async def join_player(self, nick: str | None = None) -> ScriptedPlayer:
        """Somebody who has joined, and waits."""
        guest = await self.connect_player(nick)
        await guest.send(Join(guest.nick))
        await asyncio.sleep(JOIN_GAP_SECONDS)
        return guest

    async def close(self) -> None:
        """Everybody hangs up."""
        if self.scripted_players:
            await asyncio.gather(*(guest.wait_closed() for guest in self.scripted_players))

    # Games.

    async def start_game(self, min_players: int = MIN_PLAYERS) -> DrivenGame:
        """A game of as many as the table plays with, all of them ours. Raises Unseen where these are too few."""
        async with nullcontext() if self._holds_lobby else self.table.lobby:
            return await self._start_game(min_players)

    async def _start_game(self, min_players: int) -> DrivenGame:
        if self.table.no_game_reason:
            raise NotReached(f"no game begins: {self.table.no_game_reason}")
        try:
            for _ in range(MAX_START_ATTEMPTS):
                sitting = await self._try_start_game(
                    group_size=0 if min_players <= max(self.table_size, self.table.largest_group) else min_players
                )
                if sitting is not None and len(sitting.players) >= min_players:
                    return sitting
                if sitting is not None and self.table.largest_group >= min_players:
                    raise NotReached(f"it takes {min_players} players, and the table plays with {len(sitting.players)}")
        except Failed as broken:
            if not broken.cause:  # a dialect shows in case after case, and then it is read
                self.table.no_game_reason = str(broken)
            raise
        self.table.no_game_reason = "others join as well"
        raise NotReached(f"no game begins: {self.table.no_game_reason}")

    async def learn_table_size(self, min_players: int = MIN_PLAYERS) -> None:
        """Find out how many the table plays with, unless that is known. Raises Unseen where these are too few."""
        if self.table.table_size is None or self.table.table_size < min_players or self.table.no_game_reason:
            await self.start_game(min_players)
            self.dialogue.clear()

    async def start_game_with(self, waiting: Sequence[ScriptedPlayer]) -> DrivenGame:
        """A game for those who wait, and as many more as it takes. Raises Unseen where strangers are in it."""
        sitting = await self._try_start_game(waiting)
        if sitting is None:
            raise NotReached("others join as well")
        return sitting

    async def _try_start_game(
        self, waiting: Sequence[ScriptedPlayer] = (), *, group_size: int = 0
    ) -> DrivenGame | None:
        """A game; None when somebody else is in it. With a `crowd` so many join at the same time at least."""
        guests = [*waiting]
        wanted = group_size or self.table.table_size
        self.table.largest_group = max(self.table.largest_group, group_size)
        seconds = JOIN_WAIT_SECONDS if group_size or wanted is None else self.table.timeout.seconds
        first: ReceivedMessage | None = None
        while first is None and len(guests) <= MAX_PLAYERS:
            if len(guests) >= (wanted or MIN_PLAYERS):
                first = await guests[-1].receive(seconds)
                if first is None and guests[-1].is_disconnected:
                    raise Failed("oldmaid-3.2", "the end of the connection", "the list of the players")
            if first is None and len(guests) < MAX_PLAYERS:
                guests.append(await self.join_player())
            elif first is None:
                first = await guests[-1].receive_answer("oldmaid-3.10", f"a game, for {len(guests)} have joined")
        assert first is not None, "an answer, or Broken"
        return await self.game_from_list(guests, first, guests[-1])

    async def game_from_list(
        self, guests: Sequence[ScriptedPlayer], received: ReceivedMessage, player: ScriptedPlayer
    ) -> DrivenGame | None:
        """The game that has begun when one of those who wait hears this; None when somebody else is in it."""
        nicks = check_list(player, received)
        self.table.table_size = max(self.table.table_size or 0, len(nicks))
        return await self._game_of_nicks(guests, nicks, {player: received})

    async def _game_of_nicks(
        self, guests: Sequence[ScriptedPlayer], listed: Sequence[str], heard: dict[ScriptedPlayer, ReceivedMessage]
    ) -> DrivenGame | None:
        """A game of these nicks: all its players have their lists. None when somebody else is in it."""
        named = {guest.nick: guest for guest in guests}
        ghosts = [
            guest.nick
            for guest in self.scripted_players
            if guest.is_disconnected and guest.referee is None and guest not in guests
        ]
        for ghost in {*ghosts} & {*listed} - named.keys():
            raise Failed("oldmaid-3.12", f"{ghost!r} in the list, who has left before the start", "those who are there")
        for guest in guests:
            if guest.nick not in listed:
                guest.disconnect()
        if not set(listed) <= named.keys():
            for guest in guests:
                guest.disconnect()
            await asyncio.sleep(QUIET_SECONDS)
            return None
        order = [named[nick] for nick in listed]
        referee = Referee(strict=self.table.strict)
        for guest in order:
            if guest not in heard:
                heard[guest] = await guest.receive_answer(
                    "oldmaid-3.2", "the list of the players, as the others have it"
                )
            check_list(guest, heard[guest])
        for guest in order:
            guest.referee = referee
            guest.report_list(Join(guest.nick), heard[guest])
        self.games.append(DrivenGame(order, referee, self.random, heard[order[0]]))
        return self.games[-1]


def check_list(player: ScriptedPlayer, received: ReceivedMessage) -> Sequence[str]:
    """The nicks that the table lists. Raises Broken on what is no list, or none of 2 to 8 players."""
    player.judge_answer(Join(player.nick), received)
    if received.is_error:
        raise Failed(
            "oldmaid-3.1", received.text, f"the list of the players, for {player.nick!r} may play", got=received.data
        )
    message = received.message
    assert isinstance(message, Reply), "the form is right"
    assert message.players is not None, "the form is right"
    nicks = [nick for _, nick in message.players]
    if not MIN_PLAYERS <= len(nicks) <= MAX_PLAYERS:
        raise Failed("oldmaid-3.10", f"a game of {len(nicks)}", "2 to 8 players", got=received.data)
    if player.nick not in nicks:
        raise Failed(
            "oldmaid-3.3", f"no {player.nick!r} in {', '.join(nicks)}", "all players of the game", got=received.data
        )
    if len({*nicks}) < len(nicks):
        raise Failed("oldmaid-3.8", ", ".join(nicks), "a nick once", got=received.data)
    return nicks


async def close_context(context: TableContext) -> None:
    """Everybody hangs up, and the table has a moment to notice it."""
    with suppress(OSError):
        await context.close()
    await asyncio.sleep(JOIN_GAP_SECONDS)
