"""A class: every client plays at every server, and every cell that is finished is kept at once."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from croupier.conformance.matrix.cells import Cell, Finding, Kept, Kind
from croupier.conformance.matrix.chart import html
from croupier.conformance.matrix.pairing import Contest, Played
from croupier.conformance.matrix.server import Server, Terms
from croupier.conformance.matrix.standings import everything, gradescope, moodle
from croupier.conformance.matrix.submission import Submission, built
from croupier.conformance.program import ProgramError
from croupier.conformance.stop_signals import interrupted
from croupier.core.room import HouseRoom
from croupier.version import __version__

SURE: Final = 2
"""A client that has not connected so often will not do so at any other server: they all look alike to it."""

KEPT: Final = "cells.jsonl"
WORK: Final = "work"


class Plan(Struct, frozen=True, kw_only=True):
    """What is to be played. `out` is the folder of the results; `jobs` is how many servers play at the same time.

    `own` has what is known of the clients' options by room. What is left is told as in `Terms`.
    """

    rooms: Sequence[HouseRoom]
    submissions: Sequence[Submission]
    out: Path
    conversations: int = 3
    jobs: int = 1
    seconds: float = 10.0
    output: int = 1 << 20
    own: Mapping[str, Any] = {}
    strict: bool = False
    fresh: bool = False

    def terms(self, room: HouseRoom) -> Terms:
        """The terms of a room."""
        return Terms(
            room=room,
            conversations=self.conversations,
            seconds=self.seconds,
            output=self.output,
            own=self.own.get(room.name),
            strict=self.strict,
        )

    def key(self, room: HouseRoom, server: Submission, client: Submission) -> str:
        """What makes a cell another one."""
        terms = (self.conversations, self.seconds, self.output, self.own.get(room.name), self.strict, __version__)
        return f"{server.digest} {client.digest} {terms}"

    def players(self, room: HouseRoom, role: str) -> list[Submission]:
        """Who has a server, or a client; who cannot be used at all counts, too."""
        return [each for each in self.submissions if each.fault or each.command(room.name, role)]

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return sum(len(self.players(room, "server")) * len(self.players(room, "client")) for room in self.rooms)


class Matrix:
    """Plays a plan. `told` hears of every cell, and whether it was played before this run."""

    def __init__(self, plan: Plan, told: Callable[[Cell, bool], None]) -> None:
        self.cells: list[Cell] = []
        self._plan = plan
        self._told = told
        self._built: dict[str, asyncio.Task[Path | None]] = {}
        self._absent: dict[tuple[str, str], list[Played]] = {}

    async def play(self) -> bool:
        """Play until all is played: whether it was, or SIGINT or SIGTERM came before. No program goes on behind it.

        Raises OSError when the results cannot be kept.
        """
        with Kept(self._plan.out / KEPT, fresh=self._plan.fresh) as kept, interrupted() as end:
            work = asyncio.ensure_future(self._rows(kept))
            stop = asyncio.ensure_future(end.wait())
            try:
                await asyncio.wait((work, stop), return_when=asyncio.FIRST_COMPLETED)
                whole = work.done()
            finally:
                stop.cancel()
                if not work.done():
                    work.cancel()
                await asyncio.wait((work, stop))
            if whole:
                try:
                    work.result()
                except ExceptionGroup as group:
                    raise group.exceptions[0] from None
            return whole

    def in_order(self) -> list[Cell]:
        """The cells that are finished, in the order of the submissions."""
        rooms = [room.name for room in self._plan.rooms]
        order = [each.id for each in self._plan.submissions]
        return sorted(
            self.cells, key=lambda cell: (rooms.index(cell.room), order.index(cell.server), order.index(cell.client))
        )

    async def _rows(self, kept: Kept) -> None:
        rows = iter([(room, server) for room in self._plan.rooms for server in self._plan.players(room, "server")])

        async def work() -> None:
            for room, server in rows:
                await self._row(room, server, kept)

        async with asyncio.TaskGroup() as group:
            for _ in range(self._plan.jobs):
                group.create_task(work())

    async def _row(self, room: HouseRoom, server: Submission, kept: Kept) -> None:
        """Every client at one server."""
        left = []
        for client in self._plan.players(room, "client"):
            before = kept.cell((room.name, server.id, client.id), self._plan.key(room, server, client))
            if before is None:
                left.append(client)
            else:
                self._finished(before, played=False)
        if not left:
            return
        place, deaf = await self._ready(server)
        kind = Kind.UNUSABLE
        terms = self._plan.terms(room)
        async with Server(server.command(room.name, "server") or "", place, terms) as running:
            for client in left:
                begun = time.monotonic()
                played = Played(Finding(kind, ("server",), told=deaf))
                if not deaf:
                    try:
                        played = await self._played(terms, running, client)
                    except ProgramError as error:
                        kind, told = Kind.UNHEARD, f"the server does not listen: {error}"
                        played = Played(Finding(kind, ("server",), told=told))
                        deaf = told if running.deaf else ""  # it will not listen to the next one, either
                key = self._plan.key(room, server, client)
                cell = _cell((room.name, server.id, client.id), key, played, time.monotonic() - begun)
                kept.keep(cell)
                self._finished(cell, played=True)
                trusted = server.reference and "server" not in played.finding.blame
                if played.finding.kind is not Kind.WELL and not trusted:
                    await running.close()  # whatever has gone wrong, the next client finds a new one

    async def _played(self, terms: Terms, server: Server, client: Submission) -> Played:
        """A client at a server. Raises ProgramError when the server does not listen."""
        place, fault = await self._ready(client)
        if fault:
            return Played(Finding(Kind.UNUSABLE, ("client",), told=fault))
        tried = self._absent.setdefault((terms.room.name, client.id), [])
        if len(tried) >= SURE:
            return tried[-1]
        command = client.command(terms.room.name, "client") or ""
        played = await Contest(terms, server).play(command, place, once=client.reference)
        if played.finding.kind is Kind.ABSENT:
            tried.append(played)
        return played

    async def _ready(self, found: Submission) -> tuple[Path | None, str]:
        """A submission's folder, built, and what is wrong with it."""
        if found.id not in self._built:
            self._built[found.id] = asyncio.ensure_future(built(found, self._plan.out / WORK))
        try:
            return await self._built[found.id], ""
        except ValueError as error:
            return None, str(error)

    def _finished(self, cell: Cell, *, played: bool) -> None:
        self.cells.append(cell)
        self._told(cell, not played)


def _cell(place: tuple[str, str, str], key: str, played: Played, seconds: float) -> Cell:
    heard = [passage.conversation for passage in played.passages]
    return Cell(
        *place,
        key,
        played.finding,
        games=sum(conversation.games for conversation in heard),
        connections=len(heard),
        messages=sum(len(conversation.lines) for conversation in heard),
        seconds=round(seconds, 3),
        stderr=played.stderr,
    )


def write(plan: Plan, cells: Sequence[Cell], *, whole: bool) -> None:
    """Write the results: the page, the JSON, the lines for Moodle, and a file a student for Gradescope.

    `whole` says that nothing is left to play. Raises OSError.
    """
    titles = {room.name: room.title for room in plan.rooms}
    handed_in = [each for each in plan.submissions if not each.reference]
    names = {each.id: each.name for each in plan.submissions}
    (plan.out / "matrix.html").write_text(html(cells, plan.submissions, titles, whole=whole), encoding="utf-8")
    (plan.out / "matrix.json").write_text(everything(cells, plan.submissions, [*titles], whole=whole), encoding="utf-8")
    (plan.out / "matrix.csv").write_text(moodle(cells, handed_in, [*titles]), encoding="utf-8", newline="")
    folder = plan.out / "gradescope"
    folder.mkdir(exist_ok=True)
    for each in handed_in:
        (folder / f"{each.id}.json").write_text(gradescope(cells, each, names), encoding="utf-8")
