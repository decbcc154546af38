"""Player cases from transcripts: the program under test is our player, and the table and the others are played.

The program may choose the order in which it writes to different peers, and what it picks. So each connection follows
its own lines: an answer is sent when its request has arrived; a request, and any other event, when all lines above it
are done.
"""

import asyncio
import json
import re
from collections.abc import Sequence
from functools import partial
from typing import Final

from croupier.conformance.case import CaseList
from croupier.conformance.oldmaid.answers import likely_spelling
from croupier.conformance.oldmaid.case import OldMaidCase, PlayerCase
from croupier.conformance.oldmaid.endpoints import ProgramConnection, wait_for_activity
from croupier.conformance.oldmaid.line_check import LineCheck
from croupier.conformance.oldmaid.listed_players import PLAYER_NAME, ListedPlayers, lists_players, seats_from_right
from croupier.conformance.oldmaid.outcomes import (
    KEEPS_PAIRS,
    READS_LATE,
    Failed,
    HungUp,
    ImplementationChoice,
    NonStrict,
    unfinished_message,
)
from croupier.conformance.oldmaid.player_context import PlayerContext
from croupier.conformance.oldmaid.replay_lines import (
    DRAW_CLAUSE,
    NEIGHBOUR_CLAUSE,
    PAIR_CLAUSE,
    UNREACHABLE_CLAUSE,
    USUAL_CLAUSES,
    ReplayLine,
    error_clause,
    expected_clause,
    gives_turn,
    is_free,
    replay_lines,
    surplus_clause,
)
from croupier.conformance.oldmaid.untestable import UNTESTABLE
from croupier.conformance.program import ProgramUnderTest
from croupier.conformance.resources import transcripts
from croupier.core.errors import FoundKind, Violation
from croupier.core.session import Address
from croupier.core.transcript import Transcript
from croupier.rooms.oldmaid.wire import Join, Wire

CALLS_PATTERN: Final = re.compile(r"(\w+) ([\d.]+):(\d+)")
RIGHT_NEIGHBOUR: Final = "the right neighbour"
"""The name of the right neighbour as a listener, which the player must not call before the left one.

It is also that of the connection from the right neighbour until it says anything.
"""

OUT_VALUE: Final = {"result": "out"}
OUT_CLAUSE: Final = "oldmaid-7.9"
"""The answer of a player without cards, and its clause."""

LOST_CLAUSE: Final = "oldmaid-7.11"
"""The clause of a player that has lost: it is never out of cards."""

SETTLE_SECONDS: Final = 0.05
"""The pause before a message on another connection, so that the program can process the last one."""

SHORT_PASS_SECONDS: Final = 0.1
"""A pause of a transcript that is at most this long gives the program no more time."""

MAX_STATUS_WAIT_SECONDS: Final = 1.3
"""How long the replay waits for a status request: players need not send them."""

LONG_PAUSE_SECONDS: Final = 5.0
"""A transcript with a pause of this length is played beside the others."""

RETRY_SECONDS: Final = 5.0
"""How much longer a player may take when another one has left: it may try to reach that one again (ruling O10)."""

ODD_RANK: Final = 30
"""How many lines an odd transcript counts more than a plain one."""

NO_MESSAGE_CLAUSES: Final = ("oldmaid-8.3", "oldmaid-8.4")
"""The clauses of input after which a player that looks for objects may not know where the next one begins."""

PREMISES: Final = {"oldmaid-7.12": "oldmaid-7.5", "oldmaid-7.16": "oldmaid-7.5"}
"""Clauses whose cases come after those of another clause: a player that keeps the cards that it gives is never out."""


class PlayerReplay:
    """Plays a transcript with the program, whose connections it takes from the beginning."""

    def __init__(self, transcript: Transcript, context: PlayerContext) -> None:
        self._transcript = transcript
        self._clause = transcript.clauses[0]
        self._context = context
        self._endpoints = context.endpoints
        self._extra_seconds = _first_extra_seconds(transcript)
        self._retry_seconds = 0.0
        self._connections: dict[str, ProgramConnection] = {}
        self._peers_left: set[str] = set()
        self._invalid_peers: set[str] = set()  # those that have sent something that is no valid message
        self._lines_left = [*replay_lines(transcript)]
        self._peers = {entry.peer for entry in self._lines_left if entry.peer} - {"table"}
        self._players = ListedPlayers(context.endpoints)
        self._check = LineCheck(transcript)
        self._reads_late = False
        self._peers_out: set[str] = set()
        self._last_errors: dict[str, ReplayLine] = {}  # the peers to which the program has answered an error last
        self._has_called_right = False
        self._right_nick = ""
        self._call: asyncio.Task[ProgramConnection | None] | None = None  # that of the right neighbour, until it speaks
        self._last_peer = ""  # the peer last written to since the program has sent anything
        self._may_keep_pairs = True  # it knows of cards in the deck, and has discarded no pair so far
        self._endpoints.on_connection = self._on_connection

    async def play(self, program: ProgramUnderTest) -> None:
        """Play all lines. Raises Failed if the program deviates, ImplementationChoice and NonStrict."""
        try:
            await self._play(program)
        finally:
            if self._call is not None:
                self._call.cancel()

    async def _play(self, program: ProgramUnderTest) -> None:
        for name, host, port in CALLS_PATTERN.findall(self._transcript.head.get("calls", "")):
            self._players.real_addresses[host, int(port)] = await self._endpoints.listen(name)
        await self._listen_as_right_neighbour()
        clock = asyncio.get_running_loop().time
        timeout, since = self._context.start_timeout, clock()
        while self._lines_left:
            self._endpoints.activity.clear()
            left = len(self._lines_left)
            if await self._advance():
                if len(self._lines_left) < left:  # a status that is not in the transcript is only answered
                    timeout = self._context.timeout + self._extra_seconds + self._retry_seconds
                    since = clock()
                continue
            await self._wait(program, timeout, clock() - since)
        await self._require_silence()
        if self._check.deviation:
            raise NonStrict(self._check.deviation, "oldmaid-7.4")
        if self._check.choice:
            raise ImplementationChoice(self._check.choice)

    async def _listen_as_right_neighbour(self) -> None:
        """Listen as the right neighbour where only the left one does: the program may call the wrong one."""
        lists = (entry for entry in self._lines_left if lists_players(entry))
        seats = seats_from_right(next(lists, None))
        if not seats:
            return
        (right, _), (left, _) = seats[0], seats[2 % len(seats)]
        if left in self._players.real_addresses and right not in self._players.real_addresses:
            self._players.real_addresses[right] = await self._endpoints.listen(RIGHT_NEIGHBOUR)

    # Progress.

    async def _advance(self) -> bool:
        """Do the next thing that can be done; return whether there was one."""
        self._answer_offers_to_peers_out()
        self._answer_surplus_status()
        seen: set[str] = set()
        for at, entry in enumerate(self._lines_left):
            is_next = entry.peer not in seen
            seen.add(entry.peer)
            if entry.kind == "<":
                if is_next and self._receive(entry):
                    return True
                continue
            if entry.kind == ">":
                is_due = is_next and (entry.is_answer or not at) and not self._awaits_call(entry)
                done = is_due and await self._send(entry)
            elif entry.kind == "dropped":
                done = is_next and self._is_dropped(entry.peer)
            else:
                done = not at and await self._perform(entry)
            if done:
                self._lines_left.remove(entry)
                return True
        return False

    def _awaits_call(self, entry: ReplayLine) -> bool:
        """Whether a line gives the turn to a program that has yet to connect to its left neighbour (oldmaid-3.16)."""
        return self._clause == NEIGHBOUR_CLAUSE and gives_turn(entry) and not self._has_called

    @property
    def _has_called(self) -> bool:
        """Whether the program has connected to another player."""
        return any(not (one.is_outgoing or one.name == "table") for one in self._connections.values())

    async def _wait(self, program: ProgramUnderTest, timeout: float, waited: float) -> None:
        """Wait for activity. Raises Failed on a timeout, or if the program has exited."""
        entry = self._lines_left[0]
        command = entry.wanted.get("cmd") if entry.kind == "<" else None
        optional = entry.kind == "<" and entry.is_status
        if waited >= (MAX_STATUS_WAIT_SECONDS + self._extra_seconds if optional else timeout):
            if command == "discard" and self._may_keep_pairs:
                raise ImplementationChoice(KEEPS_PAIRS)
            if entry.kind == "dropped":
                self._check.choice = f"croupier disconnects from {entry.peer!r}, this program stays ({self._clause})"
                self._lines_left.remove(entry)
                return
            if self._postpone(entry):
                return
            if not optional:
                raise self._missing_failure(f"nothing within {timeout:g} seconds", FoundKind.SILENCE)
            self._skip(entry)
        elif (end := await wait_for_activity(self._endpoints, program)) is not None:
            raise self._missing_failure(end)

    def _postpone(self, entry: ReplayLine) -> bool:
        """Expect an error to the left neighbour after the next request to it; return whether there is one.

        A player may read what that neighbour sends only while it waits for an answer (oldmaid-7.7).
        """
        connection = self._connections.get(entry.peer)
        is_error = entry.kind == "<" and entry.wanted.get("result") == "error"
        if not is_error or connection is None or connection.is_outgoing or self._reads_late:
            return False
        later = [one for one in self._lines_left if (one.peer, one.kind) == (entry.peer, "<") and "cmd" in one.wanted]
        if not later:
            return False
        self._lines_left.remove(entry)
        self._lines_left.insert(self._lines_left.index(later[0]) + 1, entry)
        self._reads_late = True
        self._check.choice = READS_LATE
        return True

    def _skip(self, entry: ReplayLine) -> None:
        """Skip a status request that the program did not send, and its answer."""
        at = self._lines_left.index(entry)
        answer = next((one for one in self._lines_left[at + 1 :] if one.peer == entry.peer), None)
        self._lines_left.remove(entry)
        if answer is not None and answer.kind == ">":
            self._lines_left.remove(answer)

    def _missing_failure(self, what: str, kind: FoundKind = FoundKind.CLOSED) -> Failed:
        """Return the failure if the next expected line does not come: the program may wait for another answer."""
        if (surplus := self._surplus_failure(only_requests=True)) is not None:
            return surplus
        wanted = [one for one in self._lines_left if one.kind == "dropped" or (one.kind == "<" and not one.is_status)]
        entry = next(iter(wanted), self._lines_left[0])
        if self._has_called_right and not self._has_called:
            found = f"a connection to the right neighbour, and none to the left one: {what}"
            return Failed(NEIGHBOUR_CLAUSE, found, "a connection to the next player in the list", kind=kind)
        if kind is FoundKind.SILENCE and self._awaits_call(self._lines_left[0]):
            found, expected = f"no connection to the left neighbour: {what}", "one as soon as the list has come"
            return Failed(NEIGHBOUR_CLAUSE, found, expected, kind=kind)
        if entry.kind == "dropped":
            return Failed(self._clause, what, f"that it disconnects from {entry.peer!r}", kind=kind)
        if entry.kind != "<":
            return Failed(self._clause, what, f"that {entry.peer or 'a player'!r} can connect to it")
        connection = self._connections.get(entry.peer)
        expected = f"{entry.text} to {entry.peer!r}"
        if connection and (unfinished := unfinished_message(connection.incomplete, expected)):
            return unfinished
        if connection is None:
            what = f"no connection to {entry.peer!r}, {what}"
            is_first = self._clause != UNREACHABLE_CLAUSE  # the left neighbour listens, and not only the next player
            if not self._has_called and is_first and entry.wanted.get("cmd") == "your_turn":
                return Failed(NEIGHBOUR_CLAUSE, what, expected, kind=kind)
        elif connection.has_ended and kind is FoundKind.SILENCE:
            kind = FoundKind.CLOSED
            what = f"the end of the connection to {entry.peer!r}"
            is_turned_away = connection.is_unused and entry.peer not in self._invalid_peers
            if connection.is_outgoing and is_turned_away and not self._is_dropped("table"):
                return HungUp("oldmaid-3.17", what, f"{expected}: any player may connect", kind=kind)
        return Failed(expected_clause(self._transcript, entry), what, expected, kind=kind)

    async def _require_silence(self) -> None:
        """Require that the program sends nothing more than status and draw requests."""
        await asyncio.sleep(self._context.quiet_seconds)
        if (failure := self._surplus_failure()) is not None:
            raise failure

    def _surplus_failure(self, *, only_requests: bool = False) -> Failed | None:
        """Return the failure if the program has sent more to a peer than the transcript has, None if it has not."""
        peers = {entry.peer for entry in self._lines_left} | self._peers_left | self._peers_out
        for name, connection in self._connections.items():
            while connection.received and name not in peers:
                received = connection.received.popleft()
                command = received.json_object.get("cmd")
                if command not in {"status", "draw"} and (command or not only_requests):
                    clause = surplus_clause(self._transcript, received)
                    if OUT_VALUE in self._check.last_received.values() and command == "offer":
                        clause = OUT_CLAUSE
                    if LOST_CLAUSE in self._transcript.clauses and command == "out_of_cards":
                        clause = LOST_CLAUSE
                    return received.failure(clause, "nothing more", f"also {received.text} to {name!r}")
        return None

    # Events.

    def _on_connection(self, connection: ProgramConnection) -> None:
        """Take a new connection with the program into use, unless it has called its right neighbour.

        It joins on the last connection to the table that it has opened until then.
        """
        if connection.name == RIGHT_NEIGHBOUR:
            self._has_called_right |= not connection.is_outgoing
            return
        if not (connection.is_outgoing or connection.name == "table"):
            self._endpoints.stop_listening(RIGHT_NEIGHBOUR)  # the others may be called when the left one is gone
        known = self._connections.get(connection.name)
        if known is None or known.has_ended or known.is_closed or (known.name == "table" and known.is_unused):
            self._connections[connection.name] = connection

    def _is_dropped(self, name: str) -> bool:
        connection = self._connections.get(name)
        return connection is not None and connection.has_ended

    async def _perform(self, entry: ReplayLine) -> bool:
        if entry.kind == "pass" and self._lines_left[1].kind == ">":  # a peer takes its time, and the program waits
            await asyncio.sleep(entry.seconds)
            if (failure := self._surplus_failure()) is not None:
                failure.amend(clause=self._clause, expected=f"that it waits for {self._lines_left[1].peer!r}")
                raise failure
        elif entry.kind == "pass":
            self._extra_seconds = entry.seconds if entry.seconds > SHORT_PASS_SECONDS else 0.0
        elif entry.kind == "left":
            self._peers_left.add(entry.peer)
            self._retry_seconds = 0.0 if is_free(self._transcript) else RETRY_SECONDS
            self._endpoints.stop_listening(entry.peer)
            if entry.peer in self._connections:
                self._connections[entry.peer].close()
            if entry.peer == self._right_nick and self._call is not None:
                self._call.add_done_callback(_close_connection)
                self._call = None
        return True

    async def _send(self, entry: ReplayLine) -> bool:
        name, address = entry.peer, self._endpoints.program_address
        if name not in self._connections:
            if address is None or name == "table":
                return False
            if not await self._connect(name, address):
                if self._is_dropped("table"):
                    raise self._missing_failure("the end of the connection to the table")
                raise Failed("oldmaid-3.17", f"nobody listens at {address[0]} {address[1]}", "the right neighbour")
        if self._last_peer not in {"", name} or name in self._last_errors:
            await asyncio.sleep(SETTLE_SECONDS)
        self._last_peer = name
        self._require_stayed_after_error(name)
        if any(isinstance(message, Violation) for message in Wire("player").feed(entry.data)):
            self._invalid_peers.add(name)
        for value in entry.values:
            if isinstance(value, dict) and value.get("cmd") == "offer" and type(value.get("num_cards")) is int:
                self._check.offered_counts[name] = value["num_cards"]
            if value == OUT_VALUE:
                self._peers_out.add(name)
            if isinstance(value, dict) and (value.get("cmd") == "offer" or value.get("result") == "last_card"):
                self._may_keep_pairs = False
        self._connections[name].send(self._players.with_real_names(entry.data))
        if name == "table" and address is not None and lists_players(entry):
            self._call_as_right_neighbour(entry, address)
        return True

    def _call_as_right_neighbour(self, listed: ReplayLine, address: Address) -> None:
        """Call the program as soon as it has the list, as a player calls its left neighbour: it may wait for that."""
        seats = seats_from_right(listed)
        if len(seats) > 1 and not any(one.is_outgoing for one in self._connections.values()):
            self._right_nick = seats[0][1]
            connecting = self._endpoints.connect(RIGHT_NEIGHBOUR, address, self._context.timeout)
            self._call = asyncio.create_task(connecting)

    async def _connect(self, name: str, address: Address) -> bool:
        """Call the program as a player; the first that speaks is the right neighbour, which has called it already."""
        call, self._call = self._call, None
        if call is None:
            return await self._endpoints.connect(name, address, self._context.timeout) is not None
        connection = await call
        if connection is not None:
            connection.name = name
            self._on_connection(connection)
        return connection is not None

    def _require_stayed_after_error(self, name: str) -> None:
        """Raise Failed or ImplementationChoice if the program has disconnected from a peer after its error."""
        error = self._last_errors.pop(name, None)
        if error is None or not self._connections[name].has_ended:
            return
        clause, found = error_clause(error), f"the end of the connection to {name!r} after the error"
        if clause in NO_MESSAGE_CLAUSES:
            raise ImplementationChoice(f"croupier goes on after what is no message; this program: {found} ({clause})")
        raise Failed(clause, found, "that the conversation goes on", kind=FoundKind.CLOSED)

    def _answer_offers_to_peers_out(self) -> None:
        """Answer offers to players that are out already: in its next turn the program may ask them again."""
        for name in self._peers_out - {entry.peer for entry in self._lines_left}:
            connection = self._connections[name]
            if connection.received and connection.received[0].json_object.get("cmd") == "offer":
                connection.received.popleft()
                connection.send(json.dumps(OUT_VALUE).encode() + b"\n")

    def _answer_surplus_status(self) -> None:
        """Answer a status request after the last message of the table: the program may do nothing before that."""
        connection = self._connections.get("table")
        if connection is None or not connection.received:
            return
        if any(entry.peer == "table" and entry.kind != "dropped" for entry in self._lines_left):
            return
        if connection.received[0].json_object.get("cmd") == "status":
            connection.received.popleft()
            self._answer_status(connection)

    def _receive(self, entry: ReplayLine) -> bool:
        connection = self._connections.get(entry.peer)
        if connection is None or not connection.received:
            return False
        received = connection.received.popleft()
        self._last_peer = ""
        wanted, command = entry.wanted, received.json_object.get("cmd")
        self._may_keep_pairs &= command != "discard"
        if command == "status" != wanted.get("cmd"):
            self._answer_status(connection)
            return True
        if wanted.get("cmd") == "status" != command:
            connection.received.appendleft(received)
            self._skip(entry)
            return True
        pick, awaits_turn = self._missing_pick(entry), self._awaits_turn(entry)
        self._lines_left.remove(entry)
        try:
            self._check.check(entry, received, self._lines_left)
            if awaits_turn:
                raise received.failure(DRAW_CLAUSE, "a draw after your_turn", f"{received.text} without a turn")
        except Failed as broken:
            if pick is not None and broken.failure.clause != PAIR_CLAUSE:
                clause, expected = expected_clause(self._transcript, pick), f"{pick.text} to {pick.peer!r}"
                raise received.failure(clause, expected, f"{received.text} to {entry.peer!r}") from None
            broken.amend(cause=likely_spelling("table" if connection.name == "table" else "player", received))
            raise
        self._check.last_received[entry.peer] = received.json_object
        if wanted.get("result") == "error":
            self._last_errors[entry.peer] = entry
        if isinstance(received.message, Join):
            self._endpoints.record_join(connection, received.message)
        return True

    def _missing_pick(self, entry: ReplayLine) -> ReplayLine | None:
        """Return the missing pick before a line, None if there is none: no message overtakes the card of a pick."""
        before = self._lines_left[: self._lines_left.index(entry)]
        return next((one for one in before if one.kind == "<" and one.wanted.get("cmd") == "pick"), None)

    def _awaits_turn(self, entry: ReplayLine) -> bool:
        """Whether a line is a draw in a turn that the program has not been given yet, and none may be lost."""
        before = [] if self._peers_left else self._lines_left[: self._lines_left.index(entry)]
        return entry.wanted.get("cmd") == "draw" and any(gives_turn(one) for one in before)

    def _answer_status(self, connection: ProgramConnection) -> None:
        """Send a standing to a program that asks when the transcript does not."""
        peers_in = sorted(self._peers - self._peers_out)
        standing = {"in": [self._endpoints.nick or PLAYER_NAME, *peers_in], "out": sorted(self._peers_out)}
        connection.send(json.dumps(standing).encode() + b"\n")


def player_transcripts() -> Sequence[Transcript]:
    """Return the transcripts of the player's side that any player can be tested with."""
    return [
        transcript
        for transcript in transcripts("oldmaid")
        if transcript.head.get("side") == "player"
        and transcript.head.get("strict") != "yes"
        and transcript.head.get("dialect", "document") == "document"
        and transcript.clauses[0] not in UNTESTABLE
    ]


def cases() -> Sequence[PlayerCase]:
    """Return the cases from transcripts: the shorter ones first, and those about what is odd after the plain ones."""
    found = CaseList[PlayerCase](OldMaidCase, "oldmaid")
    played = player_transcripts()
    for transcript in played:
        clause = transcript.clauses[0]
        premises = [one for one in played if one.clauses[0] == PREMISES.get(clause)]
        found.add(
            clause.removeprefix("oldmaid-"),
            transcript.name.removeprefix("player-"),
            transcript.title.removeprefix("player: "),
            rank=max(map(_rank, [transcript, *premises])) + bool(premises),
            failure_is_choice=is_free(transcript),
            beside=_first_extra_seconds(transcript) > 0.0,
        )(partial(_play, transcript))
    return found


def _close_connection(call: asyncio.Task[ProgramConnection | None]) -> None:
    connection = None if call.cancelled() else call.result()
    if connection is not None:
        connection.close()


def _first_extra_seconds(transcript: Transcript) -> float:
    """Return the first long pause: a player that connects before it does anything else needs it at the beginning."""
    return next((entry.seconds for entry in replay_lines(transcript) if entry.seconds >= LONG_PAUSE_SECONDS), 0.0)


def _rank(transcript: Transcript) -> int:
    return len(transcript.lines) + (0 if transcript.clauses[0] in USUAL_CLAUSES.values() else ODD_RANK)


async def _play(transcript: Transcript, context: PlayerContext) -> None:
    replay = PlayerReplay(transcript, context)  # it takes the connections of a program that is faster than its start
    async with context.run_program(context.endpoints.listen("table")) as program:
        await replay.play(program)
