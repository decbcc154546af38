"""A scripted player at a table under test: its connection, requests and answers, judged by the referee."""

import asyncio
import json
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final

from croupier.conformance.channel.delivery import WHOLE, Delivery, close_connection
from croupier.conformance.clauses import find_clause
from croupier.conformance.conversation import DialogueLine
from croupier.conformance.deviations import NotReached
from croupier.conformance.oldmaid.answers import (
    ANSWER_CLAUSES,
    ReceivedMessage,
    check_answer,
    is_error,
    is_right_answer,
    likely_spelling,
)
from croupier.conformance.oldmaid.dialects import RESULTS
from croupier.conformance.oldmaid.outcomes import Failed, HungUp, dialogue_line, display_text, unfinished_message
from croupier.conformance.oldmaid.reader import MessageReader, with_line_ends
from croupier.conformance.oldmaid.table_under_test import TableUnderTest
from croupier.conformance.timeouts import StallTolerantTimeout
from croupier.core.errors import FoundKind, Violation
from croupier.core.referee import CLIENT, HOUSE, Sent
from croupier.core.session import Address
from croupier.core.spans import SpanReader
from croupier.net.reset_connection import reset_connection
from croupier.net.streams import Streams
from croupier.rooms.oldmaid.referee import TABLE, Referee
from croupier.rooms.oldmaid.wire import JSON_ENCODER, OK, Join, Message, Reply, Standing, Status, Wire

QUIET_SECONDS: Final = 0.05
"""How long a table that should be silent is observed."""

MIN_OPTIONAL_ANSWER_SECONDS: Final = 4 * QUIET_SECONDS
"""How long an answer is waited for at least that a table may leave out."""

STATUS_PAUSE_SHARE: Final = 0.1
"""The pause between two requests for the status, as a share of the time for which one has waited already."""

UNFRAMED_CLAUSES: Final = frozenset({"oldmaid-8.3", "oldmaid-8.8", "oldmaid-8.9"})
"""The clauses of input whose end a table may see elsewhere, or that ends the conversation."""

MAX_USUAL_BYTES: Final = 1024
"""A table may limit the length of messages, but not to this."""

type PlayerInput = Message | Violation | bytes
"""A message, or raw bytes."""


class ScriptedPlayer:
    """A scripted player at a table, reached by `ends`. Everything sent and received is added to `dialogue`.

    Before each request, `surplus_seconds` are waited for what the table sends without being asked. If it `ends_lines`,
    a line end follows every message, whatever is to be sent. `joined_at` is when it has sent its last join. `referee`
    judges the game, None before it. `on_send` is called before each judged message. `is_last_readable`: every table
    knows where the last message ends, and answers it once; `are_all_readable`: that holds for everything that was sent
    on the connection.
    """

    def __init__(
        self,
        nick: str,
        table: TableUnderTest,
        ends: Streams,
        dialogue: list[DialogueLine],
        *,
        is_patient: bool,
        surplus_seconds: float,
        ends_lines: bool,
    ) -> None:
        self.nick = nick
        self.referee: Referee | None = None
        self.on_send: Callable[[ScriptedPlayer, PlayerInput], None] = lambda *_: None
        self.is_disconnected = False
        self.joined_at = 0.0
        self._reader, self._writer = ends
        self._dialogue = dialogue
        self._table = table
        self._timeout = table.timeout
        self._is_patient = is_patient
        self._surplus_seconds = surplus_seconds
        self._ends_lines = ends_lines
        self._reader_of_table = MessageReader("player", table.dialect, table.detected_dialect)
        self._own_spans = SpanReader[Message](Wire("table"))
        self._received: deque[ReceivedMessage] = deque()
        self._unanswered_count = 0
        self._sent_ahead: list[Message | Violation] = []  # the last request, and those that were unanswered before it
        self.is_last_readable = False
        self._has_sent_unreadable = False
        self._is_last_error = False
        self._clock = asyncio.get_running_loop().time

    @property
    def address(self) -> Address:
        """The local address of the connection."""
        name = self._writer.get_extra_info("sockname")
        return name[0], name[1]

    @property
    def was_reset(self) -> bool:
        """Whether the table has reset the connection: its last answer may be missing."""
        return self._reader.was_reset

    @property
    def has_unanswered_requests(self) -> bool:
        """Whether the table owes it answers."""
        return self._unanswered_count > 0

    @property
    def is_waiting(self) -> bool:
        """Whether it waits for a game, or for another answer before its first one."""
        return self.referee is None and self.has_unanswered_requests and not self.is_disconnected

    @property
    def tolerated(self) -> frozenset[str]:
        """The clauses whose tolerance the table has needed."""
        return self._reader_of_table.tolerated

    @property
    def are_all_readable(self) -> bool:
        """See the class."""
        return not (self._has_sent_unreadable or self._own_spans.incomplete.strip())

    # Sending.

    async def send(self, player_input: PlayerInput, *, delivery: Delivery = WHOLE, is_judged: bool = True) -> None:
        """Send a message.

        If not `is_judged`, the referee does not see it, and must not see its answer. Raises Failed if the table has
        sent more than its answers before, or has closed the connection after them.
        """
        await self.require_one_answer_each()
        if is_judged:
            self.on_send(self, player_input)
        data = player_input if isinstance(player_input, bytes) else JSON_ENCODER.encode(player_input) + b"\n"
        spans = [*self._own_spans.feed(data)]
        if not self._unanswered_count:
            self._sent_ahead.clear()
        self._sent_ahead += [span.message for span in spans]
        if self._ends_lines:
            data = with_line_ends(data, spans)
        self._dialogue.append(dialogue_line(CLIENT, self.nick, "table", data, self._clock()))
        for span in spans:
            message = span.message
            self.is_last_readable = _has_certain_end(message, data)
            self._has_sent_unreadable |= not self.is_last_readable or len(span.data) > MAX_USUAL_BYTES
            if isinstance(message, Join):
                self.joined_at = self._clock()
                self._table.left_at.pop(message.nick, None)  # another try of a case has the same nicks
                self._table.nicks_in_games.discard(message.nick)
            if not isinstance(message, Reply):
                self._unanswered_count += 1
                self._reader_of_table.expect_answer(message)
            if is_judged and self.referee is not None:
                self.referee.on(Sent(self.nick, TABLE, message))
        with suppress(ConnectionError):  # a closed connection shows in the missing answer
            await delivery.write(self._writer, data)

    async def require_one_answer_each(self) -> None:
        """Raise Failed if the table has sent anything, or has disconnected, after it had answered everything.

        After input without a certain end a table may do either: it cannot know where the next message begins.
        """
        if self._unanswered_count or not self.is_last_readable or self.is_disconnected:
            return
        surplus = await self._read_surplus()
        if surplus is not None and surplus.data:
            raise surplus.failure("oldmaid-1.8", "one answer to each request", f"also {surplus.text}")
        if surplus is not None:
            clause = "oldmaid-8.1" if self._is_last_error else "oldmaid-1.8"
            found = "the end of the connection after the answer"
            failure = HungUp if self.are_all_readable else Failed
            if self._own_spans.incomplete.strip():
                clause, found = "oldmaid-1.4", "the end of the connection in the middle of a message"
            raise failure(clause, found, "that the conversation goes on", kind=FoundKind.CLOSED)

    async def _read_surplus(self) -> ReceivedMessage | None:
        """Return what has arrived, an empty message if the table has disconnected."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._surplus_seconds):
                self._feed(await self._reader.read(1 << 16))
        if self._received:
            return self._received.popleft()
        return ReceivedMessage(b"", OK, b"") if self.is_disconnected else None

    # Receiving.

    async def receive(self, seconds: float) -> ReceivedMessage | None:
        """Return the next message, None if none arrives in time or the table disconnects.

        Time in which this process does not run is not counted, as the table may not have run either.
        """
        with suppress(TimeoutError):
            async with StallTolerantTimeout(seconds):
                while not self._received and not self.is_disconnected:
                    self._feed(await self._reader.read(1 << 16))
        return self._received.popleft() if self._received else None

    async def has_received(self) -> bool:
        """Whether a message has arrived; `receive` returns it."""
        received = await self.receive(0.0)
        if received is not None:
            self._received.appendleft(received)
        return received is not None

    def _feed(self, data: bytes) -> None:
        self.is_disconnected = not data
        for received in self._reader_of_table.feed(data):
            self._dialogue.append(dialogue_line(HOUSE, "table", self.nick, received.data, self._clock()))
            self._received.append(received)
            self._unanswered_count -= self._unanswered_count > 0
            self._is_last_error = received.is_error

    async def receive_answer(self, clause: str, expected: str = "an answer") -> ReceivedMessage:
        """Return the answer to the last request. Raises Failed if there is none."""
        started, owed = self._clock(), max(1, self._unanswered_count)
        seconds = self._timeout.for_answers(owed, is_patient=self._is_patient)
        received = await self.receive(seconds)
        if received is not None:
            self._timeout.record_answer((self._clock() - started) / owed)
        elif not self.is_disconnected:
            self._timeout.record_silence()
        if received is None:
            incomplete = self._reader_of_table.incomplete
            if self.was_reset and incomplete.strip():
                raise NotReached("the table has reset the connection in the middle of a message")
            if unfinished := unfinished_message(incomplete, expected):
                raise unfinished
            self._require_connected(clause, expected)
            raise Failed(clause, f"nothing within {seconds:g} seconds", expected, kind=FoundKind.SILENCE)
        return received

    def _require_connected(self, clause: str, expected: str) -> None:
        """Raise Failed if the table has disconnected, HungUp if it owed the answer to a single request."""
        if not self.is_disconnected:
            return
        if self.are_all_readable and self._unanswered_count == 1:  # it may limit what is sent ahead
            clause = "oldmaid-2.3" if find_clause(clause).is_open else clause
            raise HungUp(clause, "the end of the connection", expected, kind=FoundKind.CLOSED)
        raise Failed(clause, "the end of the connection", expected, kind=FoundKind.CLOSED)

    async def receive_optional_answer(self) -> ReceivedMessage | None:
        """Return the answer to something that the table may leave unanswered, None if there is none."""
        return await self.receive(self._timeout.reduced(MIN_OPTIONAL_ANSWER_SECONDS))

    async def require_silence(self, clause: str, seconds: float = QUIET_SECONDS, *, expected: str = "nothing") -> None:
        """Raise Failed if the table sends anything or disconnects."""
        received = await self.receive(seconds)
        if received is not None:
            raise received.failure(clause, expected)
        if begun := self._reader_of_table.incomplete.strip():
            raise Failed(clause, display_text(begun), expected, got=begun)
        if self.is_disconnected:
            raise Failed(clause, "the end of the connection", expected, kind=FoundKind.CLOSED)

    # Requests.

    async def request(self, message: Message, **send_options: Any) -> ReceivedMessage:
        """Send a request and return its answer, judged by the referee. Raises Failed."""
        await self.send(message, **send_options)
        return self.judge_answer(message, await self.receive_answer(ANSWER_CLAUSES[type(message)]))

    async def require_ok(self, player_input: PlayerInput, clause: str, **send_options: Any) -> ReceivedMessage:
        """Send something valid and require success. Raises Failed."""
        await self.send(player_input, **send_options)
        received = await self.receive_answer(clause)
        if received.is_error:
            raise received.failure(clause, f"no error to {_render(player_input)}")
        return self.judge_answer(parse_input(player_input), received)

    async def require_error(self, player_input: PlayerInput, clause: str, **send_options: Any) -> ReceivedMessage:
        """Send something invalid and require an error. Raises Failed."""
        await self.send(player_input, **send_options)
        received = await self.receive_answer(clause, f"an error to {_render(player_input)}")
        require_refusal(player_input, received, clause)
        return self.judge_answer(parse_input(player_input), received)

    async def require_refused_join(self, clause: str, **keys: object) -> None:
        """Send a join with these keys, which must be refused; a join that is granted is not answered yet.

        A table that has answered a later request is not busy with the join any more.
        """
        request = json.dumps({"cmd": "join", "nick": self.nick, **keys}).encode() + b"\n"
        await self.send(request)
        received = await self.receive_optional_answer()
        if received is None and await self._table.measure():
            received = await self.receive(0.0)
        if received is None:
            self._require_connected(clause, "an error")
            raise Failed(clause, f"nothing, as if it were right, to {_render(request)}", "an error")
        require_refusal(request, received, clause)

    async def try_input(self, player_input: PlayerInput) -> None:
        """Send something and judge the answer by the referee. Raises Failed."""
        await self.send(player_input)
        request = parse_input(player_input)
        clause = ANSWER_CLAUSES.get(type(request), "oldmaid-2.3")
        received = await self.receive_answer(request.clause if isinstance(request, Violation) else clause)
        if isinstance(request, Violation):
            require_refusal(player_input, received, request.clause)
        self.judge_answer(request, received)

    async def wait_until_out(self, nicks: Sequence[str]) -> bool:
        """Ask for the status until these players are out; return whether they are in time."""
        started = self._clock()
        while True:
            await self.send(Status(), is_judged=False)
            answer = await self.receive_answer("oldmaid-6.5")
            if not isinstance(answer.message, Standing) or {*nicks} <= {*answer.message.outside}:
                return True
            waited = self._clock() - started
            if waited >= self._table.notice_timeout:
                self._table.never_notices = True
                return False
            await self.require_silence("oldmaid-1.8", max(QUIET_SECONDS / 2, STATUS_PAUSE_SHARE * waited))

    def judge_answer(self, request: Message | Violation | None, received: ReceivedMessage) -> ReceivedMessage:
        """Check form and meaning of an answer and return it. Raises Failed; faults of players are intended."""
        try:
            check_answer(request, received)
        except Failed as failed:
            others = [other for other in self._sent_ahead if type(other) in ANSWER_CLAUSES and other != request]
            if any(is_right_answer(other, received) for other in others):
                failed.amend(clause="oldmaid-1.4")  # it has answered another request first
            raise
        if self.referee is not None and not isinstance(received.message, Violation):
            for verdict in self.referee.on(Sent(TABLE, self.nick, received.message)):
                if verdict.party == TABLE:
                    found = verdict.violation
                    raise received.failure(found.clause, found.allowed, found.found)
        return received

    def report_request(self, request: Message) -> None:
        """Report a request to the referee that was sent before the game began."""
        assert self.referee is not None, "the referee is set at the start of a game"
        self.referee.on(Sent(self.nick, TABLE, request))

    # Disconnecting.

    def disconnect(self, *, reset: bool = False) -> None:
        """Disconnect."""
        self._record_leaving()
        self.is_disconnected = True
        self._dialogue.append(dialogue_line(CLIENT, self.nick, "table", b"", self._clock()))
        if reset:
            reset_connection(self._writer.transport)
        else:
            self._writer.close()

    async def close(self) -> None:
        """Disconnect, and wait until the connection is closed."""
        self._record_leaving()
        await close_connection(self._writer)

    def _record_leaving(self) -> None:
        """Record when a player leaves that waits for a game."""
        if self.is_waiting:
            self._table.left_at[self.nick] = self._clock()

    def abort(self) -> None:
        """Reset the connection, unless it is closed."""
        self._writer.transport.abort()


def require_refusal(player_input: PlayerInput, received: ReceivedMessage, clause: str) -> None:
    """Raise Failed unless an answer is an error, on the clause if it may grant what was asked, else on oldmaid-2.9."""
    if received.is_error:
        return
    if not received.json_object:
        check_answer(None, received)
    is_known = isinstance(received.message, Standing) or received.json_object.get("result") in RESULTS
    found = f"{received.text} as the answer to {_render(player_input)}"
    cause = likely_spelling("player", received, is_error)
    raise received.failure(clause if is_known else "oldmaid-2.9", "an error", found, cause)


def _has_certain_end(message: Message | Violation, data: bytes) -> bool:
    """Whether every table knows where a message ends, and answers it once: it may know the ends of objects only."""
    if isinstance(message, Violation):
        return message.clause not in UNFRAMED_CLAUSES and data.lstrip().startswith(b"{")
    return not isinstance(message, Reply)


def _render(player_input: PlayerInput) -> str:
    return display_text(player_input) if isinstance(player_input, bytes) else str(player_input)


def parse_input(player_input: PlayerInput) -> Message | Violation | None:
    """Return the message as a table reads it, None unless it is exactly one."""
    if not isinstance(player_input, bytes):
        return player_input
    found = Wire("table").feed(player_input)
    return found[0] if len(found) == 1 else None
