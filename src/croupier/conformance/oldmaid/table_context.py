"""The context of a table case: what is known of the table, waiting players, and games that begin."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from random import Random
from typing import Final

from croupier.conformance.channel.delivery import WHOLE, Delivery
from croupier.conformance.conversation import DialogueLine
from croupier.conformance.deviations import NotReached
from croupier.conformance.diagnosis.cause import Cause
from croupier.conformance.fair_deal import Draw
from croupier.conformance.oldmaid.answers import ReceivedMessage
from croupier.conformance.oldmaid.driven_game import DrivenGame
from croupier.conformance.oldmaid.outcomes import Failed
from croupier.conformance.oldmaid.scripted_player import QUIET_SECONDS, ScriptedPlayer
from croupier.conformance.oldmaid.table_under_test import TableUnderTest
from croupier.rooms.oldmaid.cards import CARD_NAMES
from croupier.rooms.oldmaid.referee import Referee
from croupier.rooms.oldmaid.rules import MAX_PLAYERS, MIN_PLAYERS
from croupier.rooms.oldmaid.wire import Join, Reply

SEAT_CLAUSE: Final = "oldmaid-3.20"
"""The clause on who sits where."""

REFUSED_JOIN_CLAUSE: Final = "oldmaid-3.1"
MANY_GAMES_CLAUSE: Final = "oldmaid-3.13"
"""The clauses of a join that is refused without a reason in the protocol: at any time, and as long as others play."""

LEAVER_CLAUSE: Final = "oldmaid-3.12"
"""The clause of a list with a player that has left before the start."""

ONE_PER_HOST: Final = Cause("it takes one player from each IP address, whatever the port: another address may join")

JOIN_WAIT_SECONDS: Final = 0.1
"""While the table size is unknown, the table has this time to start a game after each join."""

JOIN_GAP_SECONDS: Final = 0.002
"""The pause between two joins, so that their order is certain."""

NOTICE_FACTOR: Final = 4
"""The wait for a table to notice a disconnect, as a multiple of the slowest answer so far."""

MAX_LEAVER_ATTEMPTS: Final = 6
"""Attempts to start a game without players that have left, each with a longer wait."""

MAX_START_ATTEMPTS: Final = 3
"""Attempts to start a game without players of others."""


class LeaverListed(NotReached):
    """The game has a player that has left before the start, and the table may still notice it."""


class TableContext:
    """The context of one case: its players, their games, the dialogue, and its random generator.

    Nicks are unique, so that cases do not interfere.
    """

    def __init__(
        self,
        table: TableUnderTest,
        random: Random,
        *,
        delivery: Delivery = WHOLE,
        is_patient: bool = False,
        surplus_seconds: float = 0.0,
        ends_lines: bool = False,
    ) -> None:
        """For `delivery`, see `OldMaidCase`; for the other options, `ScriptedPlayer`."""
        self.table = table
        self.random = random
        self.delivery = delivery
        self.dialogue: list[DialogueLine] = []
        self.scripted_players: list[ScriptedPlayer] = []
        self.games: list[DrivenGame] = []
        self._salt = f"{random.randrange(1 << 24):06x}"
        self._holds_lobby = False
        self._is_patient = is_patient
        self._surplus_seconds = surplus_seconds
        self._ends_lines = ends_lines
        self._nick_count = 0
        self._counted_games = 0
        self._in_earlier_games: set[ScriptedPlayer] = set()

    @property
    def table_size(self) -> int:
        """The number of players of a game, as far as known."""
        return self.table.table_size or MIN_PLAYERS

    @asynccontextmanager
    async def holding_lobby(self) -> AsyncIterator[None]:
        """Hold the lobby until `release_lobby`, at the latest until the end of the context; it may be held already."""
        if self._holds_lobby:
            yield
            return
        self.table.lobby_queue_length += 1
        try:
            await self.table.lobby.acquire()
        finally:
            self.table.lobby_queue_length -= 1
        self._holds_lobby = True
        try:
            yield
        finally:
            self.release_lobby()

    def release_lobby(self) -> None:
        """Let other cases start games: no player of this case waits for one any more."""
        if self._holds_lobby:
            self._holds_lobby = False
            self.table.lobby.release()

    def new_nick(self) -> str:
        """Return a unique nick."""
        self._nick_count += 1
        return f"p{self._nick_count:02}-{self._salt}"  # their order is that of the alphabet

    async def connect_player(self, nick: str | None = None) -> ScriptedPlayer:
        """Connect a player who has not joined."""
        player = ScriptedPlayer(
            nick or self.new_nick(),
            self.table,
            await self.table.connect(),
            self.dialogue,
            is_patient=self._is_patient,
            surplus_seconds=self._surplus_seconds,
            ends_lines=self._ends_lines,
        )
        self.scripted_players.append(player)
        return player

    async def join_player(self, nick: str | None = None) -> ScriptedPlayer:
        """Connect a player and join."""
        player = await self.connect_player(nick)
        await player.send(Join(player.nick))
        await asyncio.sleep(JOIN_GAP_SECONDS)
        return player

    async def require_accepted_join(self, clause: str, expected: str, nick: str) -> Sequence[ScriptedPlayer]:
        """Join with this nick; return the player if it waits, nobody if its game has begun. Raises Failed."""
        player = await self.join_player(nick)
        answer = await player.receive(QUIET_SECONDS)
        if answer is not None and answer.is_error:
            if self.table.open_games and await self._refuses_another_nick():
                self.table.plays_one_game = True
                clause = MANY_GAMES_CLAUSE
            raise answer.failure(clause, expected)
        if answer is not None:
            self._require_new_game(answer)
        return [player] if answer is None else []

    async def _refuses_another_nick(self) -> bool:
        """Whether a join with a nick of its own is refused as well."""
        answer = await (await self.join_player()).receive(QUIET_SECONDS)
        return answer is not None and answer.is_error

    def _require_new_game(self, received: ReceivedMessage) -> None:
        """Raise Failed if a list names players whose game has begun before: its receiver has joined later."""
        message = received.message
        listed = {nick for _, nick in (message.players if isinstance(message, Reply) else None) or ()}
        if playing := sorted(listed & self.table.nicks_in_games):
            found = f"{', '.join(playing)} in the list, whose game has begun before"
            raise received.failure(MANY_GAMES_CLAUSE, "the players of the next game", found)

    def count_deals(self) -> None:
        """Count the cards of the games that are not counted yet; nothing may be drawn in them any more."""
        uncounted, self._counted_games = self.games[self._counted_games :], len(self.games)
        for game in uncounted:
            deal = [Draw(position, CARD_NAMES[card]) for position, card in enumerate(game.game.dealt_cards)]
            self.table.deals.add_connection([deal])

    async def disconnect_all(self) -> None:
        """Disconnect all players, and wait until the table should have noticed it."""
        for player in self.scripted_players:
            if not player.is_disconnected:
                player.disconnect()
        await self.wait_until_noticed()

    async def wait_until_noticed(self) -> None:
        """Wait until the table should have noticed that a waiting player has left."""
        table = self.table
        seconds = max(table.timeout.reduced(QUIET_SECONDS, NOTICE_FACTOR), 2 * table.notice_seconds)
        await asyncio.sleep(min(seconds, table.notice_timeout))

    async def close(self) -> None:
        """Disconnect all players. The table must notice it before the next game begins if one of them was waiting.

        So must a table that plays one game at a time.
        """
        is_waiting = any(one.referee is None and one.has_unanswered_requests for one in self.scripted_players)
        try:
            self.count_deals()
            await asyncio.gather(*(player.close() for player in self.scripted_players))
        finally:
            for player in self.scripted_players:
                player.abort()
        must_notice = is_waiting or self.table.plays_one_game
        await (self.wait_until_noticed() if must_notice else asyncio.sleep(JOIN_GAP_SECONDS))
        self.table.open_games -= len(self.games)

    # Games.

    async def start_game(
        self, min_players: int = MIN_PLAYERS, *, drawn: int = 0, discards_pairs: bool = True
    ) -> DrivenGame:
        """Start a game in which all players are ours, and draw cards until `drawn` are drawn; see `DrivenGame.draw`.

        Raises NotReached if it has fewer than `min_players`.
        """
        async with self.holding_lobby():
            driven_game = await self._start_game(min_players)
        await driven_game.draw(drawn, discards_pairs=discards_pairs)
        return driven_game

    async def _start_game(self, min_players: int) -> DrivenGame:
        if self.table.no_game_reason:
            raise NotReached(f"no game begins: {self.table.no_game_reason}")
        try:
            for _ in range(MAX_START_ATTEMPTS):
                driven_game = await self._start_after_leavers(min_players)
                if driven_game is not None and len(driven_game.players) >= min_players:
                    return driven_game
                if driven_game is not None and self.table.largest_group >= min_players:
                    raise NotReached(
                        f"it takes {min_players} players, and the table plays with {len(driven_game.players)}"
                    )
        except Failed as failed:
            if failed.failure.clause == REFUSED_JOIN_CLAUSE and await self._has_refused_for_others():
                failed.amend(clause=MANY_GAMES_CLAUSE)
                self.table.plays_one_game = True
            elif failed.failure.clause == REFUSED_JOIN_CLAUSE and await self._is_welcome_from_elsewhere():
                failed.amend(clause="oldmaid-3.9", cause=ONE_PER_HOST)
            elif not failed.failure.cause and failed.failure.clause != LEAVER_CLAUSE:
                # a dialect shows in every case, and is then undone; a player that has left is in one game only
                self.table.no_game_reason = str(failed)
            raise
        self.table.no_game_reason = "others join as well"
        raise NotReached(f"no game begins: {self.table.no_game_reason}")

    async def _has_refused_for_others(self) -> bool:
        """Whether a join was refused because others play: they do, or did a moment ago, and the next join waits."""
        has_played = bool(self.table.nicks_in_games)
        return self.table.open_games > 0 or (has_played and not await self._refuses_another_nick())

    async def _is_welcome_from_elsewhere(self) -> bool:
        """Whether a join from another loopback address waits, after one has been refused beside players that wait.

        If so, all further players come from addresses of their own, so that other faults are found.
        """
        table = self.table
        if not table.is_local or table.knows_players_by_host:
            return False
        table.knows_players_by_host = True
        try:
            player = await self.join_player()
            answer = await player.receive(QUIET_SECONDS)
            table.knows_players_by_host = not player.is_disconnected and (answer is None or not answer.is_error)
        except ConnectionError:  # the machine has one such address only
            table.knows_players_by_host = False
        return table.knows_players_by_host

    async def _start_after_leavers(self, min_players: int) -> DrivenGame | None:
        """Start a game when the table has noticed who has left; return None if others are in it.

        A table that never notices it has such a player in one game, and not in the next: those who wait for it go on.
        """
        waiting: Sequence[ScriptedPlayer] = ()
        for _ in range(MAX_LEAVER_ATTEMPTS):
            never_notices = self.table.never_notices
            is_known = min_players <= max(self.table_size, self.table.largest_group)
            try:
                return await self._try_start_game(waiting, group_size=0 if is_known else min_players)
            except LeaverListed:
                continue  # which has waited
            except Failed as failed:
                if not (never_notices and failed.failure.clause == LEAVER_CLAUSE):
                    raise
                waiting = [player for player in self.scripted_players if player.is_waiting]
        return None

    async def learn_table_size(self, min_players: int = MIN_PLAYERS) -> None:
        """Learn the table size unless it is known. Raises NotReached if it is below `min_players`."""
        if self.table.table_size is None or self.table.table_size < min_players or self.table.no_game_reason:
            await self.start_game(min_players)
            self.dialogue.clear()

    async def start_game_with(self, waiting: Sequence[ScriptedPlayer]) -> DrivenGame:
        """Start a game with the waiting players and as many more as needed.

        Raises NotReached if others join, or if the waiting players are in a game that has begun earlier.
        """
        driven_game = await self._try_start_game(waiting)
        if driven_game is None:
            raise NotReached("others join as well")
        if self._in_earlier_games.intersection(waiting):
            raise NotReached("the game has begun before all players had joined")
        return driven_game

    async def _try_start_game(
        self, waiting: Sequence[ScriptedPlayer] = (), *, group_size: int = 0
    ) -> DrivenGame | None:
        """Start a game; return None if others are in it. With a `group_size` at least this many players join."""
        players = [*waiting]
        wanted = group_size or self.table.table_size
        self.table.largest_group = max(self.table.largest_group, group_size)
        wait_seconds = JOIN_WAIT_SECONDS
        if wanted is not None and not group_size:
            wait_seconds = self.table.timeout.for_try(is_patient=self._is_patient)
        while True:
            if len(players) >= (wanted or MIN_PLAYERS):
                found = await _first_list(players[len(waiting) :] or players, wait_seconds)
                if found is None and any(player.is_disconnected for player in players):
                    raise Failed("oldmaid-3.2", "the end of the connection", "the list of the players")
                if found is None and len(players) == MAX_PLAYERS:
                    expected = f"a game, for {len(players)} have joined"
                    found = await players[0].receive_answer("oldmaid-3.10", expected), players[0]
                if found is not None:
                    return await self.game_from_list(players, *found)
            players.append(await self.join_player())

    async def game_from_list(
        self, players: Sequence[ScriptedPlayer], received: ReceivedMessage, player: ScriptedPlayer
    ) -> DrivenGame | None:
        """Return the game that begins with a received list, None if others are in it."""
        nicks = check_list(player, received)
        self._require_new_game(received)
        self.table.table_size = max(self.table.table_size or 0, len(nicks))
        return await self._game_of_nicks(players, nicks, {player: received})

    def require_noticed(self, listed: Iterable[str]) -> None:
        """Raise Failed if a listed player has left before the start, LeaverListed if the table may still notice it.

        The list may have been read late; it was not sent before the others in it had joined.
        """
        table, connected = self.table, {one.nick: one for one in self.scripted_players if not one.is_disconnected}
        began_at = max((connected[nick].joined_at for nick in listed if nick in connected), default=0.0)
        for nick in {*listed} & table.left_at.keys() - connected.keys():
            seconds = began_at - table.left_at[nick]
            if seconds >= table.notice_timeout:
                table.never_notices = True
                found = f"{nick!r} in the list, which has left before the start"
                raise Failed(LEAVER_CLAUSE, found, "the players that are there")
            table.notice_seconds = max(table.notice_seconds, 2 * seconds)
            raise LeaverListed("the table has not noticed that a player has left")

    async def _game_of_nicks(
        self, players: Sequence[ScriptedPlayer], listed: Sequence[str], lists: dict[ScriptedPlayer, ReceivedMessage]
    ) -> DrivenGame | None:
        """Return a game of these nicks, after receiving all lists; None if others are in it."""
        named = {player.nick: player for player in players}
        try:
            self.require_noticed(listed)
        except (Failed, LeaverListed) as found:
            in_game = [player for player in players if player.nick in listed]
            for player in players if isinstance(found, LeaverListed) else in_game:
                player.disconnect()
            await self.wait_until_noticed()
            raise
        for player in players:
            if player.nick not in listed:
                received = await player.receive(QUIET_SECONDS)
                if received is not None and _lists_same(received, lists.values()):
                    raise received.failure("oldmaid-3.3", f"{player.nick!r} in the list, the nick of the join")
                if received is not None and "players" in received.json_object:
                    self._in_earlier_games.add(player)
                player.disconnect()
        if not set(listed) <= named.keys():
            for player in players:
                player.disconnect()
            await asyncio.sleep(QUIET_SECONDS)
            return None
        order = [named[nick] for nick in listed]
        referee = Referee(strict=self.table.strict)
        for player in order:
            if player not in lists:
                lists[player] = await player.receive_answer(
                    "oldmaid-3.2", "the list of the players, as the others have it"
                )
            _require_same_players({*check_list(player, lists[player])}, {*listed}, lists[player])
        for player in order:
            player.referee = referee
            player.report_request(Join(player.nick))
            player.judge_answer(Join(player.nick), lists[player])
        self.table.nicks_in_games.update(listed)
        self.table.open_games += 1
        self.games.append(DrivenGame(order, referee, self.random, lists[order[0]]))
        return self.games[-1]


async def _first_list(
    players: Sequence[ScriptedPlayer], seconds: float
) -> tuple[ReceivedMessage, ScriptedPlayer] | None:
    """Return a message that the last player receives in time, or that another one has received; None if all wait.

    A slow table may start the game of the first players when more have joined than it takes.
    """
    for player in reversed(players):
        if (received := await player.receive(seconds if player is players[-1] else 0.0)) is not None:
            return received, player
    return None


def _lists_same(received: ReceivedMessage, others: Iterable[ReceivedMessage]) -> bool:
    """Whether a list is that of others, too: it is the list of their game."""
    listed = received.json_object.get("players")
    return listed is not None and any(other.json_object.get("players") == listed for other in others)


def _require_same_players(nicks: set[str], others: set[str], received: ReceivedMessage) -> None:
    """Raise Failed unless a list has the players of another list of the game."""
    if nicks != others:
        is_late = nicks < others or nicks > others  # a player that has joined after the start is in its own list only
        expected = f"the players of the other list, {', '.join(sorted(others))}"
        raise received.failure(MANY_GAMES_CLAUSE if is_late else "oldmaid-3.2", expected)


def check_list(player: ScriptedPlayer, received: ReceivedMessage) -> Sequence[str]:
    """Return the listed nicks. Raises Failed if it is not a list of 2 to 8 players."""
    if received.json_object.get("result") == "ok" and received.json_object.keys() <= {"result", "message"}:
        raise received.failure("oldmaid-3.2", "the list of the players when the game starts")
    player.judge_answer(Join(player.nick), received)
    if received.is_error:
        raise received.failure(REFUSED_JOIN_CLAUSE, f"the list of the players, for {player.nick!r} may play")
    message = received.message
    assert isinstance(message, Reply), "judge_answer has checked the form"
    assert message.players is not None, "judge_answer has checked the form"
    nicks = [nick for _, nick in message.players]
    if not MIN_PLAYERS <= len(nicks) <= MAX_PLAYERS:
        raise received.failure("oldmaid-3.10", "2 to 8 players", f"a game of {len(nicks)}")
    if player.nick not in nicks:
        raise received.failure("oldmaid-3.3", "all players of the game", f"no {player.nick!r} in {', '.join(nicks)}")
    if len({*nicks}) < len(nicks):
        raise received.failure("oldmaid-3.8", "a nick once", ", ".join(nicks))
    return nicks
