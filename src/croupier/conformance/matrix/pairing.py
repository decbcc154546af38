"""Plays a student's client against another student's server: starts both, taps their conversations, stops them."""

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final

from msgspec import Struct
from msgspec.structs import astuple, replace

from croupier.conformance.conversation import Conversation, DialogueLine
from croupier.conformance.diagnosis.causes import likely_cause
from croupier.conformance.listening import open_port
from croupier.conformance.matrix.cells import CellFinding, CellKind, ProgramEnd
from croupier.conformance.matrix.programs import (
    CLOSE_TIMEOUT_SECONDS,
    STOP_TIMEOUT_SECONDS,
    PairingTerms,
)
from croupier.conformance.matrix.verdicts import judge_cell
from croupier.conformance.program import ProgramError
from croupier.conformance.server_process import Program, ServerProcess, StartProgram
from croupier.conformance.tap.connection import (
    BytesRelayed,
    ConnectionEnded,
    ConnectionOpened,
    SideClosed,
    TapEvent,
    TappedConnection,
)
from croupier.conformance.tap.relay import Relay, relay_endpoint
from croupier.conformance.timeouts import wait_first
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE
from croupier.net.event_loop import wait_set

MAX_MESSAGES: Final = 2000
"""A conversation is ended after this many messages."""

MAX_CONNECTIONS: Final = 50
"""A client is stopped after this many connections."""

LINGER_SECONDS: Final = 0.2
"""How long a connection may take to close after the client has ended."""

SILENCE_SECONDS: Final = 0.5
"""A client that leaves has waited for the house if it waited this long; one that leaves sooner has not."""

MAX_EXPLAINED_MESSAGES: Final = 200
"""The cause of a fault is not looked for in longer conversations."""


class PairingResult(Struct, frozen=True):
    """The finding of a cell, and the connections that it is based on."""

    finding: CellFinding
    connections: tuple[TappedConnection, ...] = ()
    stderr: str = ""


class AbandonedWait(Struct, frozen=True):
    """A client has left while the house owed it something: after how many lines, and how long the house had left."""

    line_count: int
    deadline: float


class Pairing:
    """The conversations of one client with one server, through a relay of their own.

    What is found must not depend on which of two events is seen first. So the end of a server after its last
    conversation is ignored, and a conversation for which a server that serves only once had no time is repeated.
    """

    def __init__(self, terms: PairingTerms, server: ServerProcess, start_client: StartProgram) -> None:
        self.connections: list[TappedConnection] = []
        self._terms = terms
        self._server = server
        self._start_client = start_client
        self._loop = asyncio.get_running_loop()
        self._abandoned_waits: dict[TappedConnection, AbandonedWait] = {}
        self._last_client_data_at = 0.0
        self._client_acted = asyncio.Event()
        self._all_ended = asyncio.Event()
        self._enough = asyncio.Event()
        self._opened = asyncio.Event()
        self._client_left = asyncio.Event()
        self._close_timer: asyncio.TimerHandle | None = None

    async def play(self) -> PairingResult:
        """Start the client until there were enough conversations, or until something is wrong; stop both programs.

        Raises ProgramError if the server does not listen.
        """
        starts, serves_once, has_served, end, stderr_excerpt = 0, False, False, ProgramEnd(), ""
        server_status: int | None = None
        while len(self.connections) < self._terms.conversations:
            if serves_once:
                await self._server.has_ended(CLOSE_TIMEOUT_SECONDS)
            has_served = not await self._server.open(self._terms.seed + starts) and has_served
            before = len(self.connections)
            async with self._relayed() as port:
                try:
                    client = await self._start_client(port, self._terms.seed + starts)
                except ProgramError as error:
                    return PairingResult(CellFinding(CellKind.UNUSABLE, ("client",), note=f"the client {error}"))
                try:
                    end = await self._wait_client(client)
                finally:
                    await client.stop(STOP_TIMEOUT_SECONDS)
                stderr_excerpt = client.stderr_excerpt()
            end = replace(end, has_written_too_much=client.has_written_too_much)
            if has_served and self._is_refused(before) and await self._server.has_ended(CLOSE_TIMEOUT_SECONDS):
                del self.connections[before:]  # the server was already ending
                self._enough.clear()
                serves_once, server_status = True, self._server.program.status
                if server_status == 0:
                    continue
                end = ProgramEnd()
                break
            starts, has_served = starts + 1, True
            if end.has_failed or len(self.connections) == before or self._enough.is_set():
                break
            if len(self.connections) < self._terms.conversations:
                server_status = self._server.program.status
                if server_status not in {None, 0}:
                    break
        return await self._judge(end, server_status, stderr_excerpt)

    def _is_refused(self, before: int) -> bool:
        """Whether the server has closed every new connection first, without a word."""
        return all(
            connection.closed_sides[:1] == [HOUSE]
            and not any(line.side == HOUSE for line in connection.conversation.lines)
            for connection in self.connections[before:]
        )

    def _relayed(self) -> AbstractAsyncContextManager[int]:
        """Run a relay in front of the server, and return its port on entry.

        An end that has closed its connection is still sent what the other one says: a reset would make it depend on the
        moment what the client notices.
        """
        relay = Relay(self._server.address, self._conversation, self._on_event, cut_after=MAX_MESSAGES)
        return open_port(relay_endpoint(relay, LINGER_SECONDS))

    async def _judge(self, end: ProgramEnd, server_status: int | None, stderr_excerpt: str) -> PairingResult:
        for connection, wait in self._abandoned_waits.items():
            self._judge_silence(connection, wait)
        if any(connection.conversation.faults for connection in self.connections):
            server_status = await self._server.program.wait_ended(LINGER_SECONDS)  # it may be about to crash
        program = self._server.program
        end_description = program.end_description
        await self._server.close(STOP_TIMEOUT_SECONDS)
        server = ProgramEnd(server_status, end_description, program.has_written_too_much)
        goodbyes = self._terms.room.final_messages
        finding = judge_cell(self.connections, server, end, goodbyes, lambda: self._conversation(strict=True))
        finding = self._add_cause(finding)
        excerpts = {"client": stderr_excerpt, "server": self._server.program.stderr_excerpt()}
        stderr = "; ".join(f"{who}{excerpts[who]}" for who in finding.blame if excerpts[who])
        return PairingResult(finding, tuple(self.connections), stderr)

    def _judge_silence(self, connection: TappedConnection, wait: AbandonedWait) -> None:
        """Add the fault of a house that has not answered a client before it left, nor afterwards."""
        lines, faults = connection.conversation.lines, connection.conversation.faults
        if connection not in self.connections or faults or any(line.side == HOUSE for line in lines[wait.line_count :]):
            return
        conversation = self._conversation().replay(lines[: wait.line_count])
        if not conversation.faults:
            faults += conversation.on_timeout(wait.deadline)

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
        if fault.verdict.violation.clause != finding.clause or (
            side == CLIENT and not _may_be_misspelled(conversation.lines[: fault.line_count])
        ):
            return finding
        cause = likely_cause(
            terms.room, None, b"", conversation, known_options=terms.known_options, strict=terms.strict, side=side
        )
        if cause is None or (side == CLIENT and cause.dialect is None):
            return finding
        return replace(finding, note=f"{finding.note}; the likely cause is that {cause}")

    async def _wait_client(self, client: Program) -> ProgramEnd:
        """Wait until the client has ended or left, enough was seen, or the timeout is over."""
        self._client_left.clear()
        left = asyncio.ensure_future(self._wait_left())
        done = await wait_first(client.wait_ended(self._terms.timeout_seconds), left, self._enough.wait())
        has_lingered = self._close_timer is not None and self._close_timer.when() <= self._loop.time()
        is_out_of_time = has_lingered or (client.status is None and not (left in done or self._enough.is_set()))
        was_active = is_out_of_time and not has_lingered and await self._acts_in_time()
        if client.status is not None:
            await self._wait_connections()
        self._cancel_close_timer()
        status = None if self._enough.is_set() else client.status
        return ProgramEnd(status, client.end_description, is_out_of_time=is_out_of_time, was_active=was_active)

    async def _wait_left(self) -> None:
        """Wait until the client has closed all its connections after a game, and has not connected again for some time.

        It has no reason to end then: that it still runs does not show on the wire.
        """
        while True:
            await self._client_left.wait()
            self._opened.clear()
            has_played = any(each.conversation.games for each in self.connections)
            if not await wait_set(self._opened, CLOSE_TIMEOUT_SECONDS) and has_played:
                return

    async def _acts_in_time(self) -> bool:
        """Whether a client whose time is over still does something before it has been silent for too long."""
        rest = self._last_client_data_at + self._terms.answer_timeout - self._loop.time()
        self._client_acted.clear()
        return await wait_set(self._client_acted, max(0.0, rest))

    async def _wait_connections(self) -> None:
        """Wait until the conversations of a client that has ended are over, too, and until all answers were due."""
        await asyncio.sleep(0)  # it may have connected just before
        seconds = LINGER_SECONDS if self.connections else STOP_TIMEOUT_SECONDS
        for wait in self._abandoned_waits.values():
            seconds = max(seconds, wait.deadline - self._loop.time())
        await wait_set(self._all_ended, seconds)

    def _conversation(self, *, strict: bool = False) -> Conversation:
        terms = self._terms
        return Conversation(
            terms.room, terms.known_options, strict=strict or terms.strict, answer_timeout=terms.answer_timeout
        )

    def _on_event(self, event: TapEvent) -> None:
        connection = event.connection
        match event:
            case ConnectionOpened():
                self.connections.append(connection)
                self._all_ended.clear()
                self._client_left.clear()
                self._opened.set()
                self._cancel_close_timer()
                if len(self.connections) >= MAX_CONNECTIONS:
                    self._enough.set()
            case BytesRelayed(side=side, at=at) if side == CLIENT:
                self._last_client_data_at = at
                self._client_acted.set()
            case SideClosed(side=side) if connection.closed_sides == [CLIENT]:
                self._client_acted.set()
                self._note_abandoned_wait(connection, event.at)
            case SideClosed(side=side) if connection.closed_sides == [HOUSE]:
                self._cancel_close_timer()
                self._close_timer = self._loop.call_later(CLOSE_TIMEOUT_SECONDS, self._enough.set)
            case ConnectionEnded():
                if all(each.ended_at is not None for each in self.connections):
                    self._all_ended.set()
            case _:
                pass
        if isinstance(event, SideClosed) and all(CLIENT in each.closed_sides for each in self.connections):
            self._client_left.set()
            self._cancel_close_timer()
        if connection.conversation.faults or (connection.has_reached_target and connection.note):
            self._enough.set()

    def _note_abandoned_wait(self, connection: TappedConnection, now: float) -> None:
        """Remember that a client has left after waiting for the house."""
        conversation = connection.conversation
        assert isinstance(conversation, Conversation), "see `_conversation`"
        deadline = conversation.referee.deadline
        if deadline is not None and now >= deadline - self._terms.answer_timeout + SILENCE_SECONDS:
            self._abandoned_waits[connection] = AbandonedWait(len(conversation.lines), deadline)

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
