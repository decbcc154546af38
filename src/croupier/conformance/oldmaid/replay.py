"""Replays transcripts for a player under test: plays the table and the other players.

The program may choose the order in which it writes to different peers, and what it picks. So each connection follows
its own lines: an answer is sent when its request has arrived; a request, and any other event, when all lines above it
are done.
"""

import asyncio
import json
import re
from collections.abc import Mapping
from typing import Any, Final

from croupier.conformance.diagnosis.cause import Cause
from croupier.conformance.oldmaid.answers import ReceivedMessage, likely_spelling
from croupier.conformance.oldmaid.dialects import RESULTS
from croupier.conformance.oldmaid.endpoints import ProgramConnection, RunningProgram
from croupier.conformance.oldmaid.outcomes import Failed, ImplementationChoice, NonStrict, unfinished_message
from croupier.conformance.oldmaid.player_context import PlayerContext
from croupier.conformance.oldmaid.replay_lines import (
    ANSWER_CLAUSE,
    NEIGHBOUR_CLAUSE,
    PAIR_CLAUSE,
    UNREADABLE_ANSWER_CLAUSE,
    ReplayLine,
    expected_clause,
    render,
    replaced_clause,
    replay_lines,
    surplus_clause,
    wrong_count_clause,
)
from croupier.conformance.program import describe_exit
from croupier.core.errors import FoundKind, Violation
from croupier.core.http_transcript import Mismatch, match_json, substitute
from croupier.core.session import Address
from croupier.core.transcript import Transcript, TranscriptLine
from croupier.rooms.oldmaid.cards import CARD_NUMBERS, is_pair
from croupier.rooms.oldmaid.wire import Discard, Join

PLAYER_NAME: Final = "me"
"""The player's name in transcripts."""

CALLS_PATTERN: Final = re.compile(r"(\w+) ([\d.]+):(\d+)")
IPV4_MAPPED_PREFIX: Final = "::ffff:"
LISTED_ADDRESS_PATTERN: Final = re.compile(rb'\["([\d.]+)", (\d+)\]')
"""An address in quoted bytes of a transcript."""

SETTLE_SECONDS: Final = 0.05
"""The pause before a message on another connection, so that the program can process the last one."""

SHORT_PASS_SECONDS: Final = 0.1
"""A pause of a transcript that is at most this long gives the program no more time."""

MAX_STATUS_WAIT_SECONDS: Final = 1.3
"""How long the replay waits for a status request: players need not send them."""

STATUS_POLL_SECONDS: Final = 0.1
"""The interval at which the program's exit status is checked."""

SILENCE_TEXT: Final = "nothing within {:g} seconds"


class PlayerReplay:
    """Plays a transcript with the program."""

    def __init__(self, transcript: Transcript, context: PlayerContext, program: RunningProgram) -> None:
        self._transcript = transcript
        self._context = context
        self._endpoints = context.endpoints
        self._program = program
        self._extra_seconds = 0.0
        self._connections: dict[str, ProgramConnection] = {}
        self._peers_left: set[str] = set()
        self._lines_left: list[ReplayLine] = []
        self._real_addresses: dict[Address, Address] = {}
        self._program_address: Address | None = None
        self._names: dict[str, str] = {}
        self._offered_counts: dict[str, int] = {}
        self._choice = ""
        self._deviation = ""
        self._last_received: dict[str, Mapping[str, Any]] = {}
        self._last_peer = ""  # the peer last written to since the program has sent anything
        self._endpoints.on_connection = self._on_connection

    async def prepare(self) -> None:
        """Listen as all peers that the transcript's `calls` head names."""
        self._lines_left = [*replay_lines(self._transcript)]
        for name, host, port in CALLS_PATTERN.findall(self._transcript.head.get("calls", "")):
            self._real_addresses[host, int(port)] = await self._endpoints.listen(name)

    async def play(self) -> None:
        """Play all lines. Raises Failed if the program deviates, ImplementationChoice and NonStrict."""
        clock = asyncio.get_running_loop().time
        timeout, since = self._context.start_timeout, clock()
        while self._lines_left:
            self._endpoints.activity.clear()
            left = len(self._lines_left)
            if await self._advance():
                if len(self._lines_left) < left:  # a status that is not in the transcript is only answered
                    timeout, since = self._context.timeout + self._extra_seconds, clock()
                continue
            await self._wait(timeout, clock() - since)
        await self._require_silence()
        if self._deviation:
            raise NonStrict(self._deviation)
        if self._choice:
            raise ImplementationChoice(self._choice)

    # Progress.

    async def _advance(self) -> bool:
        """Do the next thing that can be done; return whether there was one."""
        seen: set[str] = set()
        for at, entry in enumerate(self._lines_left):
            line = entry.transcript_line
            free = line.peer not in seen
            seen.add(line.peer)
            if line.kind == "<":
                if free and self._receive(entry):
                    return True
                continue
            if line.kind == ">":
                done = free and (entry.is_answer or not at) and await self._send(entry)
            elif line.kind == "dropped":
                done = free and self._is_dropped(line.peer)
            else:
                done = not at and self._perform(line)
            if done:
                self._lines_left.remove(entry)
                return True
        return False

    async def _wait(self, timeout: float, waited: float) -> None:
        """Wait for activity. Raises Failed on a timeout, or if the program has exited."""
        entry = self._lines_left[0]
        optional = bool(entry.value) and entry.transcript_line.kind == "<" and entry.value[0].get("cmd") == "status"
        if waited >= (MAX_STATUS_WAIT_SECONDS + self._extra_seconds if optional else timeout):
            if not optional:
                raise self._missing_failure(SILENCE_TEXT.format(timeout), FoundKind.SILENCE)
            self._skip(entry)
            return
        try:
            async with asyncio.timeout(STATUS_POLL_SECONDS):
                await self._endpoints.activity.wait()
        except TimeoutError:
            if self._program.status is not None:
                exit_text = f"{describe_exit(self._program.status)}{self._program.stderr_excerpt()}"
                raise self._missing_failure(f"the end of the program ({exit_text})") from None

    def _skip(self, entry: ReplayLine) -> None:
        """Skip a status request that the program did not send, and its answer."""
        at = self._lines_left.index(entry)
        answer = next(
            (one for one in self._lines_left[at + 1 :] if one.transcript_line.peer == entry.transcript_line.peer), None
        )
        self._lines_left.remove(entry)
        if answer is not None and answer.transcript_line.kind == ">":
            self._lines_left.remove(answer)

    def _missing_failure(self, what: str, kind: FoundKind = FoundKind.CLOSED) -> Failed:
        """Return the failure if the next expected line does not come."""
        entry = next(
            (one for one in self._lines_left if one.transcript_line.kind in {"<", "dropped"}), self._lines_left[0]
        )
        if entry.transcript_line.kind == "dropped":
            return Failed(
                self._main_clause, what, f"that it disconnects from {entry.transcript_line.peer!r}", kind=kind
            )
        if entry.transcript_line.kind != "<":
            return Failed(
                self._main_clause, what, f"that {entry.transcript_line.peer or 'a player'!r} can connect to it"
            )
        connection = self._connections.get(entry.transcript_line.peer)
        expected = f"{render(entry.value)} to {entry.transcript_line.peer!r}"
        if connection and (unfinished := unfinished_message(connection.reader.incomplete, expected)):
            return unfinished
        if connection is None:
            what = f"no connection to {entry.transcript_line.peer!r}, {what}"
            has_called = any(not (one.is_outgoing or one.name == "table") for one in self._connections.values())
            if not has_called and entry.value[0].get("cmd") == "your_turn":
                return Failed(NEIGHBOUR_CLAUSE, what, expected, kind=kind)
        elif connection.has_ended and kind is FoundKind.SILENCE:
            kind = FoundKind.CLOSED
            what = f"the end of the connection to {entry.transcript_line.peer!r}"
        return Failed(expected_clause(self._transcript, entry), what, expected, kind=kind)

    async def _require_silence(self) -> None:
        """Require that the program sends nothing more than status and draw requests."""
        await asyncio.sleep(self._context.quiet_seconds)
        for name, connection in self._connections.items():
            while connection.received and name not in self._peers_left:
                received = connection.received.popleft()
                if received.json_object.get("cmd") not in {"status", "draw"}:
                    raise Failed(
                        surplus_clause(self._transcript, received),
                        f"also {received.text} to {name!r}",
                        "nothing more",
                        got=received.data,
                    )

    # Events.

    def _on_connection(self, connection: ProgramConnection) -> None:
        """Take a new connection with the program into use."""
        known = self._connections.get(connection.name)
        if known is None or known.has_ended or known.is_closed:
            self._connections[connection.name] = connection

    def _is_dropped(self, name: str) -> bool:
        connection = self._connections.get(name)
        return connection is not None and connection.has_ended

    def _perform(self, line: TranscriptLine) -> bool:
        if line.kind == "pass":
            self._extra_seconds = float(line.text) if float(line.text) > SHORT_PASS_SECONDS else 0.0
        elif line.kind == "left":
            self._peers_left.add(line.peer)
            self._endpoints.stop_listening(line.peer)
            if line.peer in self._connections:
                self._connections[line.peer].close()
        return True

    async def _send(self, entry: ReplayLine) -> bool:
        name = entry.transcript_line.peer
        if name not in self._connections:
            if self._program_address is None or name == "table":
                return False
            if await self._endpoints.connect(name, self._program_address, self._context.timeout) is None:
                raise Failed(
                    "oldmaid-3.17",
                    f"nobody listens at {self._program_address[0]} {self._program_address[1]}",
                    "the right neighbour",
                )
        if self._last_peer not in {"", name}:
            await asyncio.sleep(SETTLE_SECONDS)
        self._last_peer = name
        data = (
            self._substitute_real_bytes(entry.data)
            or b" ".join(json.dumps(value).encode() for value in self._substitute_real(entry.value)) + b"\n"
        )
        for value in entry.value:
            if isinstance(value, dict) and value.get("cmd") == "offer" and type(value.get("num_cards")) is int:
                self._offered_counts[name] = value["num_cards"]
        self._connections[name].send(data)
        return True

    def _receive(self, entry: ReplayLine) -> bool:
        connection = self._connections.get(entry.transcript_line.peer)
        if connection is None or not connection.received:
            return False
        received = connection.received.popleft()
        self._last_peer = ""
        (wanted,) = entry.value
        command = received.json_object.get("cmd")
        if command == "status" != wanted.get("cmd"):
            connection.send(json.dumps(self._standing()).encode() + b"\n")
            return True
        if wanted.get("cmd") == "status" != command:
            connection.received.appendleft(received)
            self._skip(entry)
            return True
        self._lines_left.remove(entry)
        is_error = wanted.get("result") == received.json_object.get("result") == "error"
        if isinstance(received.message, Violation) and not is_error:
            found = received.message
            raise Failed(
                ANSWER_CLAUSE if found.clause == UNREADABLE_ANSWER_CLAUSE else found.clause,
                found.found,
                found.allowed,
                got=received.data,
                cause=self._likely_spelling(connection, received),
            )
        try:
            self._compare(entry, wanted, received)
            self._last_received[entry.transcript_line.peer] = received.json_object
        except Failed as broken:
            broken.cause = self._likely_spelling(connection, received)
            raise
        if isinstance(received.message, Join):
            self._record_join(connection, received.message)
        return True

    def _likely_spelling(self, connection: ProgramConnection, received: ReceivedMessage) -> Cause | None:
        return likely_spelling("table" if connection.name == "table" else "player", received)

    def _record_join(self, connection: ProgramConnection, join: Join) -> None:
        self._endpoints.nick = join.nick
        self._program_address = (connection.address[0], join.port or connection.address[1])

    def _standing(self) -> dict[str, list[str]]:
        """Return a standing, for a program that asks when the transcript does not."""
        names = {entry.transcript_line.peer for entry in replay_lines(self._transcript)} - {"table"}
        return {"in": [self._endpoints.nick or PLAYER_NAME, *sorted(names)], "out": []}

    # Transcript names and addresses, and the real ones.

    def _substitute_real(self, value: Any) -> Any:
        """Replace addresses, the nick and names in a value of the transcript by the real ones."""
        match value:
            case [str(host), int(port)] if type(port) is int:
                return self._address(host, port)
            case dict():
                return {key: self._substitute_real(inner) for key, inner in value.items()}
            case list() | tuple():
                return [self._substitute_real(inner) for inner in value]
            case str() if value == PLAYER_NAME:
                return self._endpoints.nick or PLAYER_NAME
            case str():
                return substitute(value, self._names)
        return value

    def _substitute_real_bytes(self, data: bytes) -> bytes:
        """Replace addresses in bytes of the transcript by the real ones."""

        def real(match: re.Match[bytes]) -> bytes:
            return json.dumps(self._address(match[1].decode(), int(match[2]))).encode()

        return LISTED_ADDRESS_PATTERN.sub(real, data)

    def _address(self, host: str, port: int) -> list[object]:
        bare = host.removeprefix(IPV4_MAPPED_PREFIX)
        real = self._program_address if bare.endswith(".10") else self._real_addresses.get((bare, port))
        if real is None:  # an address at which nobody listens
            real = self._real_addresses[bare, port] = ("127.0.0.1", 1)
        return [host[: len(host) - len(bare)] + real[0], real[1]]

    def _compare(self, entry: ReplayLine, wanted: Mapping[str, Any], received: ReceivedMessage) -> None:
        """Compare a message with the transcript as far as the protocol fixes it. Raises Failed."""
        found = received.json_object
        if "result" in found and found["result"] not in RESULTS:
            raise Failed(
                ANSWER_CLAUSE, received.text, f"one of the results {', '.join(sorted(RESULTS))}", got=received.data
            )
        if wanted.get("result") == "error":
            if found.get("result") != "error":
                clause = str(wanted.get("message", "")).partition(":")[0]
                raise Failed(clause, received.text, "an error", got=received.data)
            return
        clause = expected_clause(self._transcript, entry)
        if isinstance(received.message, Discard) and not is_pair(
            *map(CARD_NUMBERS.__getitem__, received.message.cards)
        ):
            raise Failed(
                PAIR_CLAUSE, received.text, "a pair: spades and clubs, or diamonds and hearts", got=received.data
            )
        if wanted.get("cmd") != found.get("cmd") or wanted.get("result") != found.get("result"):
            is_repeated = self._last_received.get(entry.transcript_line.peer) == found
            if wanted.get("cmd") == "offer" and found.get("cmd") == "your_turn":
                is_repeated = False  # it has the turn to offer, and passes on the turn to draw
            is_surplus = is_repeated or (found.get("cmd") == "out_of_cards" and wanted.get("cmd") != "join")
            raise Failed(
                surplus_clause(self._transcript, received) if is_surplus else replaced_clause(self._transcript, entry),
                received.text,
                render(entry.value),
                got=received.data,
            )
        match wanted.get("cmd"):
            case "join":
                return
            case "pick":
                self._check_pick(entry, found, received)
                return
            case "discard":
                self._check_discard(clause, wanted, found, received)
                return
        names = dict(self._names)
        try:
            match_json(wanted, {key: found[key] for key in wanted if key in found}, names, "the message")
        except Mismatch as error:
            if wanted.get("cmd") == "offer":
                clause = wrong_count_clause(self._transcript, entry, found.get("num_cards"), self._lines_left)
            raise Failed(clause, f"{received.text} ({error})", render(entry.value), got=received.data) from None
        self._names = names

    def _check_pick(self, entry: ReplayLine, found: Mapping[str, Any], received: ReceivedMessage) -> None:
        number, count = found.get("card_num"), self._offered_counts.get(entry.transcript_line.peer, 0)
        if type(number) is not int or not 0 <= number <= count:
            raise Failed("oldmaid-7.4", received.text, f"a card_num of 0 to {count - 1}", got=received.data)
        if number == count:
            self._deviation = f"it picks card {count} of {count}, counted from 0"

    def _check_discard(
        self, clause: str, wanted: Mapping[str, Any], found: Mapping[str, Any], received: ReceivedMessage
    ) -> None:
        cards = {tuple(card) for card in found.get("cards", ())}
        if cards != {tuple(card) for card in wanted["cards"]}:
            raise Failed(clause, received.text, f"to throw away {wanted['cards']}", got=received.data)
        last = str(found.get("last_cards", found.get("last_card", ""))).lower()
        if last and last != wanted["last_cards"]:
            self._choice = f"last_cards is {last} where ours has {wanted['last_cards']} (oldmaid-5.11)"

    @property
    def _main_clause(self) -> str:
        return self._transcript.clauses[0]
