"""Replays transcripts for a player under test: plays the table and the other players.

The program may choose the order in which it writes to different peers, and what it picks. So each connection follows
its own lines: an answer is sent when its request has arrived; a request, and any other event, when all lines above it
are done.
"""

import asyncio
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from croupier.conformance.diagnosis.cause import Cause
from croupier.conformance.oldmaid.answers import ReceivedMessage, likely_spelling
from croupier.conformance.oldmaid.dialects import RESULTS
from croupier.conformance.oldmaid.endpoints import ProgramConnection, ProgramEndpoints, RunningProgram
from croupier.conformance.oldmaid.outcomes import Failed, ImplementationChoice, NonStrict, unfinished_message
from croupier.conformance.program import describe_exit
from croupier.core.errors import FoundKind, Violation
from croupier.core.http_transcript import QUOTED_PATTERN, Mismatch, encode_body, match_json, substitute
from croupier.core.json_transcript import parse_values
from croupier.core.session import Address
from croupier.core.transcript import Transcript, TranscriptLine
from croupier.rooms.oldmaid.wire import Join

PLAYER_NAME: Final = "me"
"""The player's name in transcripts."""

CALLS_PATTERN: Final = re.compile(r"(\w+) ([\d.]+):(\d+)")
IPV4_MAPPED_PREFIX: Final = "::ffff:"
LISTED_ADDRESS_PATTERN: Final = re.compile(rb'\["([\d.]+)", (\d+)\]')
"""An address in quoted bytes of a transcript."""

SETTLE_SECONDS: Final = 0.05
"""The pause before a message on another connection, so that the program can process the last one."""

FINAL_QUIET_SECONDS: Final = 0.1
"""How long the replay waits for surplus messages after the last line."""

MAX_STATUS_WAIT_SECONDS: Final = 1.3
"""How long the replay waits for a status request: players need not send them."""

STATUS_POLL_SECONDS: Final = 0.1
"""The interval at which the program's exit status is checked."""

SILENCE_TEXT: Final = "nothing within {:g} seconds"

CLAUSES_BY_MESSAGE: Final[Mapping[str, Sequence[str]]] = {
    "join": ("3.1",),
    "draw": ("4.8", "4.7", "4.10", "4.9"),
    "your_turn": ("4.7", "9.5", "9.7", "4.8"),
    "discard": ("5.11", "5.1", "7.8"),
    "out_of_cards": ("7.12", "7.10"),
    "offer": ("7.8", "4.9", "7.1", "7.2", "7.9", "7.10", "7.15", "8.11", "9.6", "9.8", "9.9"),
    "pick": ("7.2", "7.15"),
    "card": ("7.5", "7.4", "7.7"),
    "ok to your_turn": ("4.8", "4.10"),
    "ok to offer": ("7.2", "7.9", "7.10"),
    "out to offer": ("7.9", "7.16", "7.10"),
    "status": ("7.16",),
}
"""The clauses that a missing or wrong message violates; the first one, unless the transcript names another."""


UNREADABLE_ANSWER_CLAUSE: Final = "oldmaid-8.11"
ANSWER_CLAUSE: Final = "oldmaid-2.3"
"""The clause of the reader of an answer, and that of its sender."""

OFFER_CLAUSE: Final = "oldmaid-7.2"
"""An offer states how many cards there are."""

NATURAL_CLAUSES: Final = frozenset(f"oldmaid-{number}" for found in CLAUSES_BY_MESSAGE.values() for number in found)
"""The clauses that a missing or wrong message can violate."""


ODD_RANK: Final = 30
"""How many lines an odd transcript counts more than a plain one."""


class ReplayLine(NamedTuple):
    """A line of the transcript, with the values to be sent or received, or bytes to be sent."""

    transcript_line: TranscriptLine
    value: Any
    data: bytes
    is_answer: bool


class PlayerReplay:
    """Plays a transcript with the program.

    The program has `start_timeout` seconds to start and join, and then `timeout` seconds for each message.
    """

    def __init__(
        self,
        transcript: Transcript,
        endpoints: ProgramEndpoints,
        program: RunningProgram,
        timeout: float,
        start_timeout: float,
    ) -> None:
        self._transcript = transcript
        self._endpoints = endpoints
        self._program = program
        self._timeout = timeout
        self._start_timeout = start_timeout
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
        endpoints.on_connection = self._on_connection

    async def prepare(self) -> None:
        """Listen as all peers that the transcript's `calls` head names."""
        self._lines_left = [*replay_lines(self._transcript)]
        for name, host, port in CALLS_PATTERN.findall(self._transcript.head.get("calls", "")):
            self._real_addresses[host, int(port)] = await self._endpoints.listen(name)

    async def play(self) -> None:
        """Play all lines. Raises Failed if the program deviates, ImplementationChoice and NonStrict."""
        clock = asyncio.get_running_loop().time
        timeout, since = self._start_timeout, clock()
        while self._lines_left:
            self._endpoints.activity.clear()
            left = len(self._lines_left)
            if await self._advance():
                if len(self._lines_left) < left:  # a status that is not in the transcript is only answered
                    timeout, since = self._timeout + self._extra_seconds, clock()
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
            return Failed(self._main_clause, what, f"that it hangs up on {entry.transcript_line.peer!r}", kind=kind)
        if entry.transcript_line.kind != "<":
            return Failed(self._main_clause, what, f"that {entry.transcript_line.peer or 'somebody'!r} can speak to it")
        connection = self._connections.get(entry.transcript_line.peer)
        expected = f"{render(entry.value)} to {entry.transcript_line.peer!r}"
        if connection and (unfinished := unfinished_message(bytes(connection.reader.incomplete), expected)):
            return unfinished
        if connection is None:
            what = f"no connection to {entry.transcript_line.peer!r}, {what}"
        elif connection.has_ended and kind is FoundKind.SILENCE:
            kind = FoundKind.CLOSED
            what = f"the end of the connection to {entry.transcript_line.peer!r}"
        return Failed(self._clause(entry), what, expected, kind=kind)

    async def _require_silence(self) -> None:
        """Require that the program sends nothing more than status and draw requests."""
        await asyncio.sleep(FINAL_QUIET_SECONDS)
        for name, connection in self._connections.items():
            while connection.received and name not in self._peers_left:
                received = connection.received.popleft()
                if received.json_object.get("cmd") not in {"status", "draw"}:
                    raise Failed(
                        self._surplus_clause(received),
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
            self._extra_seconds = float(line.text) if float(line.text) > FINAL_QUIET_SECONDS else 0.0
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
            if await self._endpoints.connect(name, self._program_address, self._timeout) is None:
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
        clause = self._clause(entry)
        if wanted.get("cmd") != found.get("cmd") or wanted.get("result") != found.get("result"):
            is_repeated = self._last_received.get(entry.transcript_line.peer) == found
            is_surplus = is_repeated or (found.get("cmd") == "out_of_cards" and wanted.get("cmd") != "join")
            raise Failed(
                self._surplus_clause(received) if is_surplus else clause,
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
            clause = OFFER_CLAUSE if wanted.get("cmd") == "offer" else clause
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

    def _surplus_clause(self, received: ReceivedMessage) -> str:
        """Return the clause that a request violates that is sent once too often: the one that defines it."""
        natural = CLAUSES_BY_MESSAGE.get(received.json_object.get("cmd", ""), ())
        return f"oldmaid-{natural[0]}" if natural else self._main_clause

    def _answered_request(self, entry: ReplayLine) -> str | None:
        """Return the command that this line answers: the last one before it on its connection."""
        before = [
            one.value[0].get("cmd")
            for one in replay_lines(self._transcript)
            if one.transcript_line.number < entry.transcript_line.number
            and (one.transcript_line.kind, one.transcript_line.peer) == (">", entry.transcript_line.peer)
            and one.value
            and isinstance(one.value[0], dict)
        ]
        return next((command for command in reversed(before) if command), None)

    def _clause(self, entry: ReplayLine) -> str:
        """Return the clause that is violated if this line does not come."""
        (wanted,) = entry.value
        if wanted.get("result") == "error":
            return str(wanted.get("message", "")).partition(":")[0]
        kind = wanted.get("cmd") or ("card" if "card" in wanted else wanted.get("result"))
        if kind in {"ok", "out"} and (request := self._answered_request(entry)) is not None:
            kind = f"{kind} to {request}"
        natural = [f"oldmaid-{number}" for number in CLAUSES_BY_MESSAGE.get(kind, ())]
        named = [clause for clause in natural if clause in self._transcript.clauses]
        received = [one for one in replay_lines(self._transcript) if one.transcript_line.kind == "<"]
        late = entry.transcript_line.number >= received[-min(3, len(received))].transcript_line.number
        if late and not self._transcript.clauses[0].startswith("oldmaid-1."):
            is_of_another_message = natural and self._main_clause in NATURAL_CLAUSES
            return named[0] if named else natural[0] if is_of_another_message else self._main_clause
        return (named or natural or [self._main_clause])[0]


def transcript_rank(transcript: Transcript) -> int:
    """Return the rank of a transcript: the shorter ones first, and those about what is odd after the plain ones."""
    is_plain = transcript.clauses[0] in {f"oldmaid-{found[0]}" for found in CLAUSES_BY_MESSAGE.values()}
    return len(transcript.lines) + (0 if is_plain else ODD_RANK)


def replay_lines(transcript: Transcript) -> Iterator[ReplayLine]:
    """Yield the lines of a transcript; quoted lines have bytes and no values."""
    for line in transcript.lines:
        if line.kind in "<>" and not QUOTED_PATTERN.fullmatch(line.text):
            found = parse_values(line.text)
            first = found[0]
            yield ReplayLine(line, found, b"", isinstance(first, dict) and "cmd" not in first and bool(first))
        elif line.kind == ">":
            yield ReplayLine(line, [], encode_body(line.text), line.peer == "table")
        else:
            yield ReplayLine(line, None, b"", False)


def render(value: Any) -> str:
    """Render expected values for people."""
    return re.sub(r'"\$\w+"', "…", " ".join(json.dumps(one) for one in value))
