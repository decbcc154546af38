"""Plays a student's client against another student's server: starts both, taps their conversations, stops them."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import astuple, replace

from croupier.conformance.conversation import Conversation, DialogueLine
from croupier.conformance.diagnosis.causes import likely_cause
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
"""A conversation is ended after this many messages."""

MAX_CONNECTIONS: Final = 50
"""A client is stopped after this many connections."""

ACTIVE_SECONDS: Final = 1.0
"""A client that sent or received data this shortly before its timeout does not count as hung."""

MAX_EXPLAINED_MESSAGES: Final = 200
"""The cause of a fault is not looked for in longer conversations."""


class PairingResult(Struct, frozen=True):
    """The finding of a cell, and the connections that it is based on."""

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
        self._last_data_at = 0.0
        self._ended_count = 0
        self._all_ended = asyncio.Event()
        self._enough = asyncio.Event()
        self._close_timer: asyncio.TimerHandle | None = None

    async def play(self, command: str, folder: Path | None, *, is_single: bool = False) -> PairingResult:
        """Start the client until there were enough conversations (once if `is_single`), or until something is wrong.

        Raises ProgramError if the server does not listen.
        """
        end, stderr_excerpt = ProgramEnd(), ""
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
                    end = await self._wait_client(client)
                finally:
                    await client.stop(STOP_TIMEOUT_SECONDS)
                stderr_excerpt = client.stderr_excerpt()
            failed = (
                end.has_crashed or end.is_out_of_time or end.has_written_too_much or len(self.connections) == before
            )
            if failed or not await self._server.has_survived() or is_single or self._enough.is_set():
                break
        return await self._judge(end, stderr_excerpt)

    @asynccontextmanager
    async def _relayed(self) -> AsyncIterator[int]:
        """Run a relay in front of the server; yield its port."""
        relay = Relay((HOST, self._server.port), self._conversation, self._on_event, cut_after=MAX_MESSAGES)
        endpoint = relay_endpoint(relay, close_timeout=LINGER_SECONDS)
        _, port = await endpoint.listen(HOST, 0)
        try:
            yield port
        finally:
            endpoint.halt(final=True)
            with suppress(TimeoutError):
                async with asyncio.timeout(2 * LINGER_SECONDS):
                    await endpoint.wait_drained()

    async def _judge(self, end: ProgramEnd, stderr_excerpt: str) -> PairingResult:
        goodbyes = self._terms.room.final_messages
        finding = judge_cell(self.connections, await self._server.end_state(0), end, goodbyes)
        if finding.kind is not CellKind.WELL:  # the program at fault may be about to crash
            finding = judge_cell(self.connections, await self._server.end_state(LINGER_SECONDS), end, goodbyes)
        finding = self._add_cause(finding)
        excerpts = {"client": stderr_excerpt, "server": self._server.stderr_excerpt}
        stderr = "; ".join(f"{who}{excerpts[who]}" for who in finding.blame if excerpts[who])
        return PairingResult(finding, tuple(self.connections), stderr)

    def _add_cause(self, finding: CellFinding) -> CellFinding:
        """Add the likely cause of a broken clause to a finding, if one is found."""
        terms = self._terms
        conversation = next((each.conversation for each in self.connections if each.conversation.faults), None)
        if (
            not isinstance(conversation, Conversation)
            or finding.kind not in {CellKind.BROKE, CellKind.HUNG}
            or len(conversation.lines) > MAX_EXPLAINED_MESSAGES
        ):
            return finding
        fault = conversation.faults[0]
        side = CLIENT if fault.verdict.party == CLIENT else HOUSE
        if side == CLIENT and not _may_be_misspelled(conversation.lines[: fault.line_count]):
            return finding
        cause = likely_cause(
            terms.room, None, b"", conversation, known_options=terms.known_options, strict=terms.strict, side=side
        )
        if cause is None or (side == CLIENT and cause.dialect is None):
            return finding
        return replace(finding, told=f"{finding.told}; the likely cause is that {cause}")

    async def _wait_client(self, client: ProgramUnderTest) -> ProgramEnd:
        """Wait until the client has ended, enough was seen, or the timeout is over."""
        ended = self._loop.create_task(client.wait_ended(self._terms.timeout_seconds))
        enough = self._loop.create_task(self._enough.wait())
        try:
            await asyncio.wait((ended, enough), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (ended, enough):
                task.cancel()
            await asyncio.gather(ended, enough, return_exceptions=True)
        status, now = client.status, self._loop.time()
        has_lingered = status is None and self._close_timer is not None and self._close_timer.when() <= now
        is_out_of_time = has_lingered or (status is None and not self._enough.is_set())
        was_active = not has_lingered and now - self._last_data_at < ACTIVE_SECONDS
        if status is not None:
            await self._wait_connections()
        self._cancel_close_timer()
        return ProgramEnd(status, client.has_written_too_much, is_out_of_time, was_active)

    async def _wait_connections(self) -> None:
        """Wait until the conversations of a client that has ended are over, too."""
        await asyncio.sleep(0)  # it may have connected just before
        with suppress(TimeoutError):
            async with asyncio.timeout(LINGER_SECONDS if self.connections else STOP_TIMEOUT_SECONDS):
                await self._all_ended.wait()

    def _conversation(self) -> Conversation:
        terms = self._terms
        return Conversation(terms.room, terms.known_options, strict=terms.strict, answer_timeout=terms.answer_timeout)

    def _on_event(self, event: TapEvent) -> None:
        connection = event.connection
        match event:
            case ConnectionOpened():
                self.connections.append(connection)
                self._all_ended.clear()
                self._cancel_close_timer()
                if len(self.connections) >= MAX_CONNECTIONS:
                    self._enough.set()
            case BytesRelayed(at=at):
                self._last_data_at = at
            case SideClosed(side=side) if side == HOUSE and connection.closed_sides == [HOUSE]:
                self._cancel_close_timer()
                self._close_timer = self._loop.call_later(CLOSE_TIMEOUT_SECONDS, self._enough.set)
            case ConnectionEnded():
                self._ended_count += 1
                if self._ended_count == len(self.connections):
                    self._all_ended.set()
            case _:
                pass
        if connection.conversation.faults or (connection.has_reached_target and connection.note):
            self._enough.set()

    def _cancel_close_timer(self) -> None:
        if self._close_timer is not None:
            self._close_timer.cancel()
            self._close_timer = None


def _may_be_misspelled(lines: Sequence[DialogueLine]) -> bool:
    """Whether the fault of the last line may be its spelling: it is not a message, or contains a number.

    A client chooses its other messages itself, so a wrong one has no cause that can be guessed.
    """
    message = lines[-1].message if lines else None
    return isinstance(message, Violation) or (
        isinstance(message, Struct) and any(isinstance(value, int) for value in astuple(message))
    )
