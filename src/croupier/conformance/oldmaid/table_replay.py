"""Table cases from transcripts: each peer of a transcript is a scripted player at the table under test.

A table may take more players than a transcript has. The others join last and leave as soon as the game has started:
the rest is a game of the transcript's players.
"""

import asyncio
import re
from collections.abc import Container, Sequence
from functools import partial
from typing import Final

from croupier.conformance.case import CaseList
from croupier.conformance.clauses import find_clause
from croupier.conformance.deviations import NotReached
from croupier.conformance.oldmaid.answers import ReceivedMessage, check_answer
from croupier.conformance.oldmaid.case import OldMaidCase, TableCase
from croupier.conformance.oldmaid.outcomes import Failed, ImplementationChoice
from croupier.conformance.oldmaid.replay_lines import ReplayLine, error_clause, is_free, replay_lines, require_match
from croupier.conformance.oldmaid.scripted_player import ScriptedPlayer
from croupier.conformance.oldmaid.table_context import (
    JOIN_GAP_SECONDS,
    MAX_LEAVER_ATTEMPTS,
    MAX_START_ATTEMPTS,
    SEAT_CLAUSE,
    LeaverListed,
    TableContext,
)
from croupier.conformance.oldmaid.untestable import UNTESTABLE
from croupier.conformance.resources import transcripts
from croupier.core.errors import FoundKind
from croupier.core.transcript import Transcript
from croupier.rooms.oldmaid.wire import Reply, Standing

TABLE_SETTINGS: Final = frozenset({"deck", "dialect", "from", "idle", "join_window", "strict", "stuck_seconds"})
"""Entries of a head that a table under test would have to be set to."""

SETTING_ACTIONS: Final = frozenset({"pass", "halted"})
"""Lines that depend on the time limits of a table, or on its owner."""

COMMON_NICK_PATTERN: Final = re.compile("[a-z]{3}")
"""A nick that is as good as another one; those that differ are what the transcript is about."""

SENT_NICK_PATTERN: Final = re.compile(rb'(?<="nick": ")[a-z]{3}(?=")')
SENT_PORT_PATTERN: Final = re.compile(rb'(?<="port": )\d+(?=[,}])')

JOIN_GAP_FACTOR: Final = 10
"""How much longer the pauses between joins are in each attempt to get the game of the transcript."""

FIRST_PORT: Final = 40001
"""The first peer of a transcript connects from this port, the others from those after it."""

EARLY_GAME_CLAUSE: Final = "oldmaid-3.11"
"""The clause that a table violates that starts a game without players that it usually waits for."""

REPLAY_RANK: Final = 500
"""Transcripts come after the plain cases."""


class OtherGame(Exception):
    """The game has other players than the transcript, or the same in another order.

    Others are, for example, a player that has left and that the table has not noticed yet. The order of players that
    join soon after each other is not certain where the machine is busy.
    """


class TableReplay:
    """Plays a transcript at a table: its players join with pauses of `join_gap` seconds.

    With `requires_order` it is a failure of the table if they are listed in another order.
    """

    def __init__(self, transcript: Transcript, context: TableContext, join_gap: float, *, requires_order: bool) -> None:
        self._transcript = transcript
        self._context = context
        self._join_gap = join_gap
        self._requires_order = requires_order
        self._players: dict[str, ScriptedPlayer] = {}
        self._nicks: dict[str, str] = {}
        self._in_game: dict[ScriptedPlayer, Sequence[ScriptedPlayer]] = {}  # the players of its game
        self._unlisted: set[ScriptedPlayer] = set()  # players that have not received the list of their game yet
        self._others: list[ScriptedPlayer] = []
        self._bound: dict[str, str] = {}
        self._earlier_nicks = {player.nick for player in context.scripted_players}

    async def play(self) -> None:
        """Play all lines. Raises Failed if the table deviates, NotReached and ImplementationChoice."""
        lines = replay_lines(self._transcript)
        last_join = max((entry.number for entry in lines if entry.kind == ">" and b"join" in entry.data), default=0)
        for entry in lines:
            if entry.number > last_join and not self._has_waiting_players:
                self._context.release_lobby()
            peer = entry.peer
            match entry.kind:
                case ">":
                    await self._send(peer, entry)
                case "<":
                    await self._receive(self._players[peer], entry)
                case "left":
                    await self._leave(self._players[peer], is_out=not _is_inside_after(entry, lines))
                case _:
                    await self._require_end(self._players[peer])

    @property
    def _has_waiting_players(self) -> bool:
        """Whether a player may be waiting for a game."""
        has_unanswered = any(player.has_unanswered_requests for player in self._players.values())
        return has_unanswered or bool(self._unlisted or self._others)

    # Lines.

    async def _send(self, peer: str, entry: ReplayLine) -> None:
        if peer not in self._players:
            self._players[peer] = await self._context.connect_player()
        player = self._players[peer]
        joins = [value for value in entry.values if isinstance(value, dict) and value.get("cmd") == "join"]
        for join in joins:
            if isinstance(join.get("nick"), str):
                player.nick = self._real_nick(join["nick"])
        await player.send(self._with_real_names(entry.data) if joins else entry.data)
        if joins:
            await asyncio.sleep(self._join_gap)

    async def _receive(self, player: ScriptedPlayer, entry: ReplayLine) -> None:
        wanted = entry.wanted
        is_error = wanted.get("result") == "error"
        clause, expected = (error_clause(entry), "an error") if is_error else (self._transcript.clauses[0], entry.text)
        if "players" in wanted and player not in self._unlisted:
            await self._start_game([self._real_nick(nick) for _, nick in wanted["players"].values()])
        received = await player.receive_answer(clause, expected)
        self._require_own_game(received)
        if received.is_error != is_error:
            raise received.failure(clause, expected)
        if not is_error:
            check_answer(None, received)
            self._compare(clause, entry, received)
        if "players" in wanted:
            self._unlisted.remove(player)
            if not self._unlisted:
                await self._lose_others(player)

    def _require_own_game(self, received: ReceivedMessage) -> None:
        """Raise OtherGame if this is a list with players of others, or of an earlier attempt.

        Raises LeaverListed, or Failed, if one of them has left before the start.
        """
        message, players = received.message, self._context.scripted_players
        listed = {nick for _, nick in (message.players if isinstance(message, Reply) else None) or ()}
        self._context.require_noticed(listed)
        if not listed <= {player.nick for player in players} - self._earlier_nicks:
            raise OtherGame

    def _compare(self, clause: str, entry: ReplayLine, received: ReceivedMessage) -> None:
        """Compare an answer with the transcript; the others that joined are not in it. Raises Failed and OtherGame."""
        wanted, message = entry.wanted, received.message
        others = {player.nick for player in self._context.scripted_players} - {
            player.nick for player in self._players.values()
        }
        if isinstance(message, Reply) and message.players is not None:
            listed = [nick for _, nick in message.players if nick not in others]
            nicks = [self._real_nick(nick) for _, nick in wanted["players"].values()]
            if not self._requires_order and listed != nicks and {*listed} == {*nicks}:
                raise OtherGame
            if sorted(listed) == sorted(nicks):
                clause = SEAT_CLAUSE
            elif listed == nicks[: len(message.players)] and len(message.players) < self._context.table_size:
                clause = EARLY_GAME_CLAUSE  # the others have joined, and the table would wait for them
            self._require_equal(clause, listed, nicks, received)
        elif isinstance(message, Standing) and "in" in wanted:
            inside, outside = (
                [nick for nick in nicks if nick not in others] for nicks in (message.inside, message.outside)
            )
            self._require_equal(clause, inside, wanted["in"], received)
            self._require_equal(clause, sorted(outside), sorted(map(self._real_nick, wanted["out"])), received)
            if outside != [*map(self._real_nick, wanted["out"])]:
                raise ImplementationChoice(f"the players that are out are listed as {', '.join(outside)}")
        else:
            require_match(clause, entry, received, self._bound)

    async def _leave(self, player: ScriptedPlayer, *, is_out: bool) -> None:
        """Disconnect, and wait until the table has noticed it or should have. `is_out`: it then lists it as out.

        Raises NotReached if a game of the players that wait begins meanwhile, which may have the leaver in it.
        """
        was_waiting = player not in self._in_game and player.has_unanswered_requests
        if not player.is_disconnected:
            player.disconnect()
        await self._wait_until_out(self._in_game.get(player, ()) if is_out else (), player)
        if was_waiting and await self._has_early_list():
            raise NotReached("the game has begun before all players had joined")

    async def _has_early_list(self) -> bool:
        """Whether a player that waits has received the list of a game."""
        waiting = [one for one in self._players.values() if one not in self._in_game and not one.is_disconnected]
        return any([await player.has_received() for player in waiting if player.has_unanswered_requests])

    async def _require_end(self, player: ScriptedPlayer) -> None:
        received = await player.receive_optional_answer()
        if received is not None or not player.is_disconnected:
            found = "an open connection" if received is None else received.text
            raise Failed(self._transcript.clauses[0], found, "the end of the connection", kind=FoundKind.STILL_OPEN)

    # Games.

    async def _start_game(self, nicks: Sequence[str]) -> None:
        """Let as many others join as the table needs for a game of the players with these nicks."""
        size = self._context.table_size
        _require_size(len(nicks), size)
        players = [player for player in self._players.values() if player.nick in nicks and not player.is_disconnected]
        self._unlisted = {*players}
        self._in_game |= dict.fromkeys(players, players)
        self._others = [await self._context.join_player() for _ in range(size - len(nicks))]

    async def _lose_others(self, player: ScriptedPlayer) -> None:
        """Let the others leave the game that has started. Raises NotReached if the table does not notice it."""
        for other in self._others:
            await other.receive_answer("oldmaid-3.2", "the list of the players, as the others have it")
            other.disconnect()
        if self._others and not await self._wait_until_out(self._in_game[player], *self._others):
            raise NotReached("the table has not noticed that players have left")
        self._others = []

    async def _wait_until_out(self, players: Sequence[ScriptedPlayer], *leavers: ScriptedPlayer) -> bool:
        """Wait until the table has noticed that players have left; return whether it has, as far as that is known."""
        idle = next((one for one in players if not (one.is_disconnected or one.has_unanswered_requests)), None)
        if idle is not None:
            return await idle.wait_until_out([leaver.nick for leaver in leavers])
        await self._context.wait_until_noticed()
        return True

    # Names of the transcript, and real ones.

    def _real_nick(self, nick: str) -> str:
        if COMMON_NICK_PATTERN.fullmatch(nick) is None:
            return nick
        return self._nicks.setdefault(nick, f"{nick}-{self._context.new_nick()}")

    def _with_real_names(self, data: bytes) -> bytes:
        """Return a join with the real nick, and the port of a peer in place of that in the transcript."""

        def nick(match: re.Match[bytes]) -> bytes:
            return self._real_nick(match[0].decode()).encode()

        def port(match: re.Match[bytes]) -> bytes:
            players, at = [*self._players.values()], int(match[0]) - FIRST_PORT
            return b"%d" % players[at].address[1] if 0 <= at < len(players) else match[0]

        return SENT_PORT_PATTERN.sub(port, SENT_NICK_PATTERN.sub(nick, data))

    def _require_equal(
        self, clause: str, found: Sequence[str], nicks: Sequence[str], received: ReceivedMessage
    ) -> None:
        """Raise Failed unless these are the real nicks of a transcript's players, in this order."""
        wanted = [*map(self._real_nick, nicks)]
        if found != wanted:
            raise received.failure(clause, f"the players {', '.join(wanted) or 'none'}")


def _is_inside_after(entry: ReplayLine, lines: Sequence[ReplayLine]) -> bool:
    """Whether the next status after a line lists its peer's player as inside: it has left, and is not out by that."""
    nicks = [
        value["nick"]
        for line in lines
        if line.kind == ">" and line.peer == entry.peer
        for value in line.values
        if isinstance(value, dict) and value.get("cmd") == "join"
    ]
    later = [line.wanted for line in lines if line.number > entry.number and line.kind == "<"]
    status = next((wanted for wanted in later if "in" in wanted), None)
    return status is not None and not {*nicks}.isdisjoint(status["in"])


def _largest_game(transcript: Transcript) -> int:
    """The number of players of the largest game of a transcript."""
    answers = [entry.wanted for entry in replay_lines(transcript) if entry.kind == "<"]
    return max((len(answer["players"]) for answer in answers if "players" in answer), default=0)


def _require_size(players: int, table_size: int) -> None:
    """Raise NotReached if the table plays with fewer players."""
    if table_size < players:
        raise NotReached(f"it takes {players} players, and the table plays with {table_size}")


def cases(known_ids: Container[str]) -> Sequence[TableCase]:
    """Return the cases from transcripts that need no setting of the table, except those with known ids."""
    found = CaseList[TableCase](OldMaidCase, "oldmaid", rank=REPLAY_RANK, needs_whole_lobby=True)
    for transcript in transcripts("oldmaid"):
        clause = transcript.clauses[0]
        if (
            transcript.head.get("side") != "player"
            and not transcript.head.keys() & TABLE_SETTINGS
            and not any(line.kind in SETTING_ACTIONS for line in transcript.lines)
            and clause not in UNTESTABLE
            and not find_clause(clause).is_tolerated
        ):
            add = found.add(
                clause.removeprefix("oldmaid-"),
                transcript.name,
                transcript.title,
                failure_is_choice=is_free(transcript),
            )
            add(partial(_play, transcript))
    return [case for case in found if case.id not in known_ids]


async def _play(transcript: Transcript, context: TableContext) -> None:
    await context.learn_table_size()
    _require_size(_largest_game(transcript), context.table_size)
    for attempt in range(MAX_START_ATTEMPTS):
        try:
            await _play_after_leavers(transcript, context, attempt)
        except OtherGame:
            await context.disconnect_all()
        else:
            return
    raise NotReached("others join as well")


async def _play_after_leavers(transcript: Transcript, context: TableContext, attempt: int) -> None:
    """Play a transcript, again if its game has players that have left and the table may still notice it.

    Raises OtherGame.
    """
    is_last = attempt + 1 == MAX_START_ATTEMPTS
    join_gap = JOIN_GAP_SECONDS * JOIN_GAP_FACTOR**attempt
    for _ in range(MAX_LEAVER_ATTEMPTS):
        try:
            return await TableReplay(transcript, context, join_gap, requires_order=is_last).play()
        except LeaverListed:
            await context.disconnect_all()
    raise OtherGame
