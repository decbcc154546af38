"""A client of one student at the server of another: both are started, overheard, and ended."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import astuple, replace

from croupier.conformance.conversation import Conversation, DialogueLine
from croupier.conformance.diagnosis.causes import dialect_of_cause, likely_cause
from croupier.conformance.matrix.cells import CellFinding, CellKind, ProgramEnd, judge_cell
from croupier.conformance.matrix.server import (
    CLOSE_TIMEOUT_SECONDS,
    HOST,
    LINGER_SECONDS,
    STOP_TIMEOUT_SECONDS,
    PairingTerms,
    ServerProcess,
)
from croupier.conformance.program import ProgramError, ProgramUnderTest
from croupier.conformance.tap.connection import (
    BytesRelayed,
    ConnectionEnded,
    ConnectionOpened,
    SideClosed,
    TapEvent,
    TappedConnection,
)
from croupier.conformance.tap.relay import Relay, relay_endpoint
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE

MAX_MESSAGES: Final = 2000
"""A conversation is ended behind so many messages: what was seen until then is enough."""

MAX_CONNECTIONS: Final = 50
"""A client that connects so often was seen often enough."""

ACTIVE_SECONDS: Final = 1.0
"""Who was heard so many seconds before its time was over does not hang."""

MAX_EXPLAINED_MESSAGES: Final = 200
"""In a conversation of more messages nobody looks for the cause of a fault."""


class PairingResult(Struct, frozen=True):
    """What was played in a cell, and what is to be found in it."""

    finding: CellFinding
    connections: tuple[TappedConnection, ...] = ()
    stderr: str = ""


class Pairing:
    """The conversations of one client with one server, through a relay of their own."""

    def __init__(self, terms: PairingTerms, server: ServerProcess) -> None:
        self.connections: list[TappedConnection] = []
        self._terms = terms
        self._server = server
        self._loop = asyncio.get_running_loop()
        self._heard = 0.0
        self._ended = 0
        self._all_ended = asyncio.Event()
        self._enough = asyncio.Event()
        self._close_timer: asyncio.TimerHandle | None = None

    async def play(self, command: str, folder: Path | None, *, is_single: bool = False) -> PairingResult:
        """Start the client until there were enough conversations, or just once, or until something is wrong.

        Raises ProgramError when the server does not listen.
        """
        end, complaint = ProgramEnd(), ""
        while len(self.connections) < self._terms.conversations:
            before = len(self.connections)
            await self._server.open()
            async with self._relayed() as port:
                try:
                    client = await ProgramUnderTest.start(
                        command,
                        {"host": HOST, "port": port},
                        folder=folder,
                        max_output_bytes=self._terms.max_output_bytes,
                    )
                except ProgramError as error:
                    return PairingResult(CellFinding(CellKind.UNUSABLE, ("client",), told=f"the client {error}"))
                try:
                    end = await self._attend(client)
                finally:
                    await client.stop(STOP_TIMEOUT_SECONDS)
                complaint = client.stderr_excerpt()
            failed = (
                end.has_crashed or end.is_out_of_time or end.has_written_too_much or len(self.connections) == before
            )
            if failed or not await self._server.has_survived() or is_single or self._enough.is_set():
                break
        return await self._found(end, complaint)

    @asynccontextmanager
    async def _relayed(self) -> AsyncIterator[int]:
        """A relay before the server: its port."""
        relay = Relay((HOST, self._server.port), self._conversation, self._on_event, cut_after=MAX_MESSAGES)
        board = relay_endpoint(relay, close_timeout=LINGER_SECONDS)
        _, port = await board.listen(HOST, 0)
        try:
            yield port
        finally:
            board.halt(final=True)
            with suppress(TimeoutError):
                async with asyncio.timeout(2 * LINGER_SECONDS):
                    await board.wait_drained()

    async def _found(self, end: ProgramEnd, complaint: str) -> PairingResult:
        goodbyes = self._terms.room.final_messages
        finding = judge_cell(self.connections, await self._server.end_state(0), end, goodbyes)
        if finding.kind is not CellKind.WELL:  # whoever is wrong may be about to crash
            finding = judge_cell(self.connections, await self._server.end_state(LINGER_SECONDS), end, goodbyes)
        finding = self._explained(finding)
        complaints = {"client": complaint, "server": self._server.stderr_excerpt}
        stderr = "; ".join(f"{who}{complaints[who]}" for who in finding.blame if complaints[who])
        return PairingResult(finding, tuple(self.connections), stderr)

    def _explained(self, finding: CellFinding) -> CellFinding:
        """What was found, with the likely cause of a broken clause, where there is one."""
        terms = self._terms
        heard = next((each.conversation for each in self.connections if each.conversation.faults), None)
        if (
            not isinstance(heard, Conversation)
            or finding.kind not in {CellKind.BROKE, CellKind.HUNG}
            or len(heard.lines) > MAX_EXPLAINED_MESSAGES
        ):
            return finding
        fault = heard.faults[0]
        side = fault.verdict.end
        if side == CLIENT and not _spells(heard.lines[: fault.line_count]):
            return finding
        cause = likely_cause(
            terms.room, None, b"", heard, known_options=terms.known_options, strict=terms.strict, side=side
        )
        if not cause or (side == CLIENT and not dialect_of_cause(terms.room, cause)):
            return finding
        return replace(finding, told=f"{finding.told}; the likely cause is that {cause}")

    async def _attend(self, client: ProgramUnderTest) -> ProgramEnd:
        """Wait until the client has ended, until enough was seen, or until its time is over."""
        ended = self._loop.create_task(client.wait_ended(self._terms.timeout_seconds))
        enough = self._loop.create_task(self._enough.wait())
        try:
            await asyncio.wait((ended, enough), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (ended, enough):
                task.cancel()
            await asyncio.gather(ended, enough, return_exceptions=True)
        status, now = client.status, self._loop.time()
        abandoned = status is None and self._close_timer is not None and self._close_timer.when() <= now
        late = abandoned or (status is None and not self._enough.is_set())
        talking = not abandoned and now - self._heard < ACTIVE_SECONDS
        if status is not None:
            await self._stillness()
        self._cancel_close_timer()
        return ProgramEnd(status, client.has_written_too_much, late, talking)

    async def _stillness(self) -> None:
        """Wait until the conversations of a client that has ended are over, too."""
        await asyncio.sleep(0)  # it may have connected just before
        with suppress(TimeoutError):
            async with asyncio.timeout(LINGER_SECONDS if self.connections else STOP_TIMEOUT_SECONDS):
                await self._all_ended.wait()

    def _conversation(self) -> Conversation:
        terms = self._terms
        return Conversation(terms.room, terms.known_options, strict=terms.strict, answer_timeout=terms.answer_timeout)

    def _on_event(self, news: TapEvent) -> None:
        passage = news.connection
        match news:
            case ConnectionOpened():
                self.connections.append(passage)
                self._all_ended.clear()
                self._cancel_close_timer()
                if len(self.connections) >= MAX_CONNECTIONS:
                    self._enough.set()
            case BytesRelayed(at=at):
                self._heard = at
            case SideClosed(side=side) if side == HOUSE and passage.closed_sides == [HOUSE]:
                self._cancel_close_timer()
                self._close_timer = self._loop.call_later(CLOSE_TIMEOUT_SECONDS, self._enough.set)
            case ConnectionEnded():
                self._ended += 1
                if self._ended == len(self.connections):
                    self._all_ended.set()
            case _:
                pass
        if passage.conversation.faults or (passage.has_reached_target and passage.note):
            self._enough.set()

    def _cancel_close_timer(self) -> None:
        if self._close_timer is not None:
            self._close_timer.cancel()
            self._close_timer = None


def _spells(lines: Sequence[DialogueLine]) -> bool:
    """Whether the last line can be wrong by how it is spelt: it is no message, or there is a number in it.

    What else a client says at the wrong time is its own choice.
    """
    message = lines[-1].message if lines else None
    return isinstance(message, Violation) or (
        isinstance(message, Struct) and any(isinstance(value, int) for value in astuple(message))
    )
