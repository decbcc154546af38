"""One of our players at a table under test: a connection, what is said on it, and who judges it."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final

from croupier.conformance.conversation import DialogueLine
from croupier.conformance.oldmaid.answers import (
    ANSWER_CLAUSES,
    ReceivedMessage,
    check_answer,
    is_error,
    likely_spelling,
)
from croupier.conformance.oldmaid.dialect import JsonDialect
from croupier.conformance.oldmaid.outcomes import Failed, NoAnswer, dialogue_line, display_text
from croupier.conformance.oldmaid.reader import MessageReader
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.session import Address
from croupier.rooms.oldmaid.referee import TABLE, PlayerVerdict, Referee
from croupier.rooms.oldmaid.wire import JSON_ENCODER, Dialect, Join, Message, Reply, Wire

QUIET_SECONDS: Final = 0.05
"""So many seconds somebody who is to say nothing is listened to."""

TICK_SECONDS: Final = 0.02
"""A wait is made of so many seconds, again and again."""

OPTIONAL_ANSWER_FACTOR: Final = 10
"""A table that has taken long for an answer is listened to so many times as long, where it may say nothing."""

FIRST_ANSWER_SECONDS: Final = 0.75
"""A table that has never said a word is waited for no longer than so many seconds at first."""

type PlayerInput = Message | Violation | bytes
"""What a guest says: a message as it should be, or bytes."""


class ScriptedPlayer:
    """A player of ours, by his nick. Everything that is said is added to `dialogue`.

    `patience` tells how many seconds an answer may take, and is told how many it took, None for too many. `referee`
    judges the game that he is in, None before it, and `witness` is told there of what he is about to say.
    """

    def __init__(
        self,
        nick: str,
        ends: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        dialogue: list[DialogueLine],
        timeout: "AdaptiveTimeout",
        dialect: Dialect,
        *,
        detected_dialect: JsonDialect | None = None,
    ) -> None:
        self.nick = nick
        self.referee: Referee | None = None
        self.on_send: Callable[[ScriptedPlayer, PlayerInput], None] = lambda *_: None
        self.is_disconnected = False
        self._reader, self._writer = ends
        self._dialogue = dialogue
        self._timeout = timeout
        self._reader_of_table = MessageReader("player", dialect, detected_dialect)
        self._own_codec = Wire("table")
        self._received: deque[ReceivedMessage] = deque()
        self._clock = asyncio.get_running_loop().time

    @property
    def address(self) -> Address:
        """Where his connection comes from."""
        name = self._writer.get_extra_info("sockname")
        return name[0], name[1]

    @property
    def tolerated(self) -> frozenset[str]:
        """The clauses whose tolerance the table has needed."""
        return self._reader_of_table.tolerated

    # What he says.

    async def send(
        self, said: PlayerInput, *, piece_bytes: int = 0, pause_seconds: float = 0.0, is_judged: bool = True
    ) -> None:
        """Say something; `chop` bytes at a time, with a pause of so many seconds behind each piece.

        Unless it is `judged` the referee does not hear it, and must not hear its answer.
        """
        if is_judged:
            self.on_send(self, said)
        data = said if isinstance(said, bytes) else JSON_ENCODER.encode(said) + b"\n"
        self._dialogue.append(dialogue_line(CLIENT, self.nick, "table", data, self._clock()))
        for message in self._own_codec.feed(data):
            if not isinstance(message, Reply):
                self._reader_of_table.expect_answer(message)
            if is_judged and self.referee is not None:
                self.referee.on_message(self.nick, TABLE, message)
        with suppress(ConnectionError):  # whether the table has hung up shows in what it does not answer
            for at in range(0, len(data), piece_bytes or len(data)):
                self._writer.write(data[at : at + (piece_bytes or len(data))])
                await self._writer.drain()
                if piece_bytes:
                    await asyncio.sleep(pause_seconds)

    # What he hears.

    async def receive(self, seconds: float) -> ReceivedMessage | None:
        """The next message; None when none comes within so many seconds, or the table hangs up before.

        A time in which we were not let run ourselves does not count: the table was not, either.
        """
        left = seconds
        with suppress(ConnectionError):
            while left > 0 and not self._received and not self.is_disconnected:
                begun = self._clock()
                with suppress(TimeoutError):
                    async with asyncio.timeout(min(TICK_SECONDS, left)):
                        self._feed(await self._reader.read(1 << 16))
                left -= min(TICK_SECONDS, self._clock() - begun)
        return self._received.popleft() if self._received else None

    def _feed(self, data: bytes) -> None:
        self.is_disconnected = not data
        for heard in self._reader_of_table.feed(data):
            self._dialogue.append(dialogue_line(HOUSE, "table", self.nick, heard.data, self._clock()))
            self._received.append(heard)

    async def receive_answer(self, clause: str, expected: str = "an answer") -> ReceivedMessage:
        """The answer to what was said. Raises Broken where there is none."""
        begun, seconds = self._clock(), self._timeout.seconds
        heard = await self.receive(seconds)
        self._timeout.record(None if heard is None and not self.is_disconnected else self._clock() - begun)
        if heard is None:
            rest = bytes(self._reader_of_table.incomplete)
            what = "the end of the connection" if self.is_disconnected else f"nothing within {seconds:g} seconds"
            if rest.strip():
                what = f"{display_text(rest)}, which does not end,"
            raise (Failed if self.is_disconnected else NoAnswer)(clause, what, expected, got=rest)
        return heard

    async def receive_optional_answer(self) -> ReceivedMessage | None:
        """What the table says to something that it may leave unanswered, if it says anything."""
        return await self.receive(self._timeout.optional_seconds)

    async def require_silence(self, clause: str, seconds: float = QUIET_SECONDS) -> None:
        """Raise Broken if the table says anything now."""
        heard = await self.receive(seconds)
        if heard is not None:
            raise Failed(clause, heard.text, "nothing", got=heard.data)
        if self.is_disconnected:
            raise Failed(clause, "the end of the connection", "nothing")

    # Questions and answers.

    async def request(self, message: Message, **send_options: Any) -> ReceivedMessage:
        """Say something, and hear its answer, as the referee allows it. Raises Broken."""
        await self.send(message, **send_options)
        return self.judge_answer(message, await self.receive_answer(ANSWER_CLAUSES[type(message)]))

    async def require_ok(self, said: PlayerInput, clause: str, **send_options: Any) -> ReceivedMessage:
        """Say something that is right, and hear that it is. Raises Broken."""
        await self.send(said, **send_options)
        heard = await self.receive_answer(clause)
        if heard.is_error:
            raise Failed(clause, heard.text, f"what was asked: {_render(said)}", got=heard.data)
        return self.judge_answer(parse_input(said), heard)

    async def require_error(self, said: PlayerInput, clause: str, **send_options: Any) -> ReceivedMessage:
        """Say something that is wrong, and hear an error. Raises Broken."""
        await self.send(said, **send_options)
        heard = await self.receive_answer(clause, f"an error to {_render(said)}")
        if not heard.is_error:
            found, cause = f"{heard.text} as the answer to {_render(said)}", likely_spelling("player", heard, is_error)
            raise Failed(clause, found, "an error", got=heard.data, cause=cause)
        return self.judge_answer(parse_input(said), heard)

    async def try_input(self, said: PlayerInput) -> None:
        """Say something, and hear whatever the referee allows. Raises Broken."""
        await self.send(said)
        request = parse_input(said)
        clause = ANSWER_CLAUSES.get(type(request), "oldmaid-2.3")
        heard = await self.receive_answer(request.clause if isinstance(request, Violation) else clause)
        if isinstance(request, Violation) and not heard.is_error:
            found = f"{heard.text} as the answer to {_render(said)}"
            raise Failed(request.clause, found, "an error", got=heard.data)
        self.judge_answer(request, heard)

    def judge_answer(self, request: Message | Violation | None, received: ReceivedMessage) -> ReceivedMessage:
        """An answer whose form and meaning are right. Raises Broken."""
        check_answer(request, received)
        if self.referee is not None and not isinstance(received.message, Violation):
            raise_failures(self.referee.on_message(TABLE, self.nick, received.message), received)
        return received

    def report_request(self, request: Message) -> None:
        """Let the referee know of a request that was sent before the game began."""
        assert self.referee is not None, "who plays has a referee"
        self.referee.on_message(self.nick, TABLE, request)

    def report_list(self, message: Join, received: ReceivedMessage) -> None:
        """Let the referee know of a list that came before he did."""
        assert self.referee is not None, "who has a list has a referee"
        self.referee.on_message(self.nick, TABLE, message)
        if isinstance(received.message, Reply):
            raise_failures(self.referee.on_message(TABLE, self.nick, received.message), received)

    # The end.

    def disconnect(self, *, reset: bool = False) -> None:
        """Hang up."""
        self.is_disconnected = True
        self._dialogue.append(dialogue_line(CLIENT, self.nick, "table", b"", self._clock()))
        if reset:
            self._writer.transport.abort()
        else:
            self._writer.close()

    async def wait_closed(self) -> None:
        """Hang up, and wait until that is done."""
        self._writer.close()
        with suppress(OSError):
            await self._writer.wait_closed()


class AdaptiveTimeout:
    """How long answers are waited for: as long as was said, until it has been in vain a few times.

    `first` is how many seconds the first of all may take.
    """

    def __init__(self, seconds: float) -> None:
        self.max_seconds = seconds
        self.first_seconds = min(seconds, FIRST_ANSWER_SECONDS)
        self._slowest_seconds = 0.0
        self._failures = 0

    @property
    def has_answered(self) -> bool:
        """Whether there has been any answer."""
        return self._slowest_seconds > 0

    @property
    def seconds(self) -> float:
        """So many are waited now."""
        if not self.has_answered and self._failures < 2:
            return self.first_seconds
        return self.max_seconds if self._failures < 2 else min(self.max_seconds, max(0.2, 20 * self._slowest_seconds))

    @property
    def optional_seconds(self) -> float:
        """So many seconds are enough for what may come, and need not."""
        return min(self.max_seconds, max(4 * QUIET_SECONDS, OPTIONAL_ANSWER_FACTOR * self._slowest_seconds))

    def record(self, seconds: float | None) -> None:
        """An answer has taken so many, None for too many."""
        if seconds is None:
            self._failures += 1
        else:
            self._slowest_seconds = max(self._slowest_seconds, seconds)


def raise_failures(verdicts: Sequence[PlayerVerdict], received: ReceivedMessage) -> None:
    """Raise Broken on what the table has done wrong; what our own players do is meant so."""
    for verdict in verdicts:
        if verdict.nick == TABLE:
            found = verdict.violation
            raise Failed(found.clause, found.found, found.allowed, got=received.data)


def _render(said: PlayerInput) -> str:
    return display_text(said) if isinstance(said, bytes) else str(said)


def parse_input(said: PlayerInput) -> Message | Violation | None:
    """The message that somebody says, as a table reads it; None for none or many."""
    if not isinstance(said, bytes):
        return said
    found = Wire("table").feed(said)
    return found[0] if len(found) == 1 else None
