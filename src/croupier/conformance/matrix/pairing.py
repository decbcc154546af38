"""A client of one student at the server of another: both are started, overheard, and ended."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import astuple, replace

from croupier.conformance.conversation import Conversation, Line
from croupier.conformance.diagnosis.causes import dialect, likely
from croupier.conformance.matrix.cells import End, Finding, Kind, judged
from croupier.conformance.matrix.server import GRACE, HOST, LINGER, STOP, Server, Terms
from croupier.conformance.program import Program, ProgramError
from croupier.conformance.tap.connection import Closed, Ended, Heard, News, Opened, Passage
from croupier.conformance.tap.relay import Relay, switchboard
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE

MOST_MESSAGES: Final = 2000
"""A conversation is ended behind so many messages: what was seen until then is enough."""

MOST_CONNECTIONS: Final = 50
"""A client that connects so often was seen often enough."""

TALKING: Final = 1.0
"""Who was heard so many seconds before its time was over does not hang."""

EXPLAINED: Final = 200
"""In a conversation of more messages nobody looks for the cause of a fault."""


class Played(Struct, frozen=True):
    """What was played in a cell, and what is to be found in it."""

    finding: Finding
    passages: tuple[Passage, ...] = ()
    stderr: str = ""


class Contest:
    """The conversations of one client with one server, through a relay of their own."""

    def __init__(self, terms: Terms, server: Server) -> None:
        self.passages: list[Passage] = []
        self._terms = terms
        self._server = server
        self._loop = asyncio.get_running_loop()
        self._heard = 0.0
        self._ended = 0
        self._still = asyncio.Event()
        self._enough = asyncio.Event()
        self._grace: asyncio.TimerHandle | None = None

    async def play(self, command: str, folder: Path | None, *, once: bool = False) -> Played:
        """Start the client until there were enough conversations, or just once, or until something is wrong.

        Raises ProgramError when the server does not listen.
        """
        end, complaint = End(), ""
        while len(self.passages) < self._terms.conversations:
            before = len(self.passages)
            await self._server.open()
            async with self._relayed() as port:
                try:
                    client = await Program.start(
                        command, {"host": HOST, "port": port}, folder=folder, output=self._terms.output
                    )
                except ProgramError as error:
                    return Played(Finding(Kind.UNUSABLE, ("client",), told=f"the client {error}"))
                try:
                    end = await self._attend(client)
                finally:
                    await client.stop(STOP)
                complaint = client.complaint()
            failed = end.crashed or end.late or end.chatty or len(self.passages) == before
            if failed or not await self._server.served() or once or self._enough.is_set():
                break
        return await self._found(end, complaint)

    @asynccontextmanager
    async def _relayed(self) -> AsyncIterator[int]:
        """A relay before the server: its port."""
        relay = Relay((HOST, self._server.port), self._conversation, self._told, cut_after=MOST_MESSAGES)
        board = switchboard(relay, linger=LINGER)
        _, port = await board.listen(HOST, 0)
        try:
            yield port
        finally:
            board.halt(final=True)
            with suppress(TimeoutError):
                async with asyncio.timeout(2 * LINGER):
                    await board.empty()

    async def _found(self, end: End, complaint: str) -> Played:
        goodbyes = self._terms.room.goodbyes
        finding = judged(self.passages, await self._server.end(0), end, goodbyes)
        if finding.kind is not Kind.WELL:  # whoever is wrong may be about to crash
            finding = judged(self.passages, await self._server.end(LINGER), end, goodbyes)
        finding = self._explained(finding)
        complaints = {"client": complaint, "server": self._server.complaint}
        stderr = "; ".join(f"{who}{complaints[who]}" for who in finding.blame if complaints[who])
        return Played(finding, tuple(self.passages), stderr)

    def _explained(self, finding: Finding) -> Finding:
        """What was found, with the likely cause of a broken clause, where there is one."""
        terms = self._terms
        heard = next((each.conversation for each in self.passages if each.conversation.faults), None)
        if (
            not isinstance(heard, Conversation)
            or finding.kind not in {Kind.BROKE, Kind.HUNG}
            or len(heard.lines) > EXPLAINED
        ):
            return finding
        fault = heard.faults[0]
        side = fault.verdict.side
        if side == CLIENT and not _spells(heard.lines[: fault.lines]):
            return finding
        cause = likely(terms.room, None, b"", heard, own=terms.own, strict=terms.strict, side=side)
        if not cause or (side == CLIENT and not dialect(terms.room, cause)):
            return finding
        return replace(finding, told=f"{finding.told}; the likely cause is that {cause}")

    async def _attend(self, client: Program) -> End:
        """Wait until the client has ended, until enough was seen, or until its time is over."""
        ended = self._loop.create_task(client.ended(self._terms.seconds))
        enough = self._loop.create_task(self._enough.wait())
        try:
            await asyncio.wait((ended, enough), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (ended, enough):
                task.cancel()
            await asyncio.gather(ended, enough, return_exceptions=True)
        status, now = client.status, self._loop.time()
        abandoned = status is None and self._grace is not None and self._grace.when() <= now
        late = abandoned or (status is None and not self._enough.is_set())
        talking = not abandoned and now - self._heard < TALKING
        if status is not None:
            await self._stillness()
        self._forgive()
        return End(status, client.chatty, late, talking)

    async def _stillness(self) -> None:
        """Wait until the conversations of a client that has ended are over, too."""
        await asyncio.sleep(0)  # it may have connected just before
        with suppress(TimeoutError):
            async with asyncio.timeout(LINGER if self.passages else STOP):
                await self._still.wait()

    def _conversation(self) -> Conversation:
        terms = self._terms
        return Conversation(terms.room, terms.own, strict=terms.strict, patience=terms.patience)

    def _told(self, news: News) -> None:
        passage = news.passage
        match news:
            case Opened():
                self.passages.append(passage)
                self._still.clear()
                self._forgive()
                if len(self.passages) >= MOST_CONNECTIONS:
                    self._enough.set()
            case Heard(at=at):
                self._heard = at
            case Closed(side=side) if side == HOUSE and passage.closed == [HOUSE]:
                self._forgive()
                self._grace = self._loop.call_later(GRACE, self._enough.set)
            case Ended():
                self._ended += 1
                if self._ended == len(self.passages):
                    self._still.set()
            case _:
                pass
        if passage.conversation.faults or (passage.reached and passage.note):
            self._enough.set()

    def _forgive(self) -> None:
        if self._grace is not None:
            self._grace.cancel()
            self._grace = None


def _spells(lines: Sequence[Line]) -> bool:
    """Whether the last line can be wrong by how it is spelt: it is no message, or there is a number in it.

    What else a client says at the wrong time is its own choice.
    """
    message = lines[-1].message if lines else None
    return isinstance(message, Violation) or (
        isinstance(message, Struct) and any(isinstance(value, int) for value in astuple(message))
    )
