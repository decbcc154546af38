"""A class: every client plays at every server, and every cell that is finished is kept at once."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from croupier.conformance.matrix.cells import Cell, CellFile, CellFinding, CellKind
from croupier.conformance.matrix.chart import html
from croupier.conformance.matrix.pairing import Pairing, PairingResult
from croupier.conformance.matrix.server import PairingTerms, ServerProcess
from croupier.conformance.matrix.standings import full_json, gradescope, moodle
from croupier.conformance.matrix.submission import Submission, build_submission
from croupier.conformance.program import ProgramError
from croupier.conformance.stop_signals import stop_on_signals
from croupier.core.room import HouseRoom
from croupier.version import __version__

MAX_ABSENCES: Final = 2
"""A client that has not connected so often will not do so at any other server: they all look alike to it."""

CELL_FILE_NAME: Final = "cells.jsonl"
BUILD_FOLDER_NAME: Final = "work"


class MatrixPlan(Struct, frozen=True, kw_only=True):
    """What is to be played. `out` is the folder of the results; `jobs` is how many servers play at the same time.

    `own` has what is known of the clients' options by room. What is left is told as in `Terms`.
    """

    rooms: Sequence[HouseRoom]
    submissions: Sequence[Submission]
    output_folder: Path
    conversations: int = 3
    parallel_servers: int = 1
    timeout_seconds: float = 10.0
    max_output_bytes: int = 1 << 20
    known_options: Mapping[str, Any] = {}
    strict: bool = False
    is_fresh: bool = False

    def terms(self, room: HouseRoom) -> PairingTerms:
        """The terms of a room."""
        return PairingTerms(
            room=room,
            conversations=self.conversations,
            timeout_seconds=self.timeout_seconds,
            max_output_bytes=self.max_output_bytes,
            known_options=self.known_options.get(room.name),
            strict=self.strict,
        )

    def key(self, room: HouseRoom, server: Submission, client: Submission) -> str:
        """What makes a cell another one."""
        terms = (
            self.conversations,
            self.timeout_seconds,
            self.max_output_bytes,
            self.known_options.get(room.name),
            self.strict,
            __version__,
        )
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

    def __init__(self, plan: MatrixPlan, on_cell: Callable[[Cell, bool], None]) -> None:
        self.cells: list[Cell] = []
        self._plan = plan
        self._on_cell = on_cell
        self._built: dict[str, asyncio.Task[Path | None]] = {}
        self._absent: dict[tuple[str, str], list[PairingResult]] = {}

    async def play(self) -> bool:
        """Play until all is played: whether it was, or SIGINT or SIGTERM came before. No program goes on behind it.

        Raises OSError when the results cannot be kept.
        """
        with (
            CellFile(self._plan.output_folder / CELL_FILE_NAME, is_fresh=self._plan.is_fresh) as kept,
            stop_on_signals() as end,
        ):
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

    def ordered_cells(self) -> list[Cell]:
        """The cells that are finished, in the order of the submissions."""
        rooms = [room.name for room in self._plan.rooms]
        order = [each.id for each in self._plan.submissions]
        return sorted(
            self.cells, key=lambda cell: (rooms.index(cell.room), order.index(cell.server), order.index(cell.client))
        )

    async def _rows(self, kept: CellFile) -> None:
        rows = iter([(room, server) for room in self._plan.rooms for server in self._plan.players(room, "server")])

        async def work() -> None:
            for room, server in rows:
                await self._row(room, server, kept)

        async with asyncio.TaskGroup() as group:
            for _ in range(self._plan.parallel_servers):
                group.create_task(work())

    async def _row(self, room: HouseRoom, server: Submission, kept: CellFile) -> None:
        """Every client at one server."""
        left = []
        for client in self._plan.players(room, "client"):
            before = kept.find((room.name, server.id, client.id), self._plan.key(room, server, client))
            if before is None:
                left.append(client)
            else:
                self._finished(before, played=False)
        if not left:
            return
        place, deaf = await self._ready(server)
        kind = CellKind.UNUSABLE
        terms = self._plan.terms(room)
        async with ServerProcess(server.command(room.name, "server") or "", place, terms) as running:
            for client in left:
                begun = time.monotonic()
                played = PairingResult(CellFinding(kind, ("server",), told=deaf))
                if not deaf:
                    try:
                        played = await self._played(terms, running, client)
                    except ProgramError as error:
                        kind, told = CellKind.UNHEARD, f"the server does not listen: {error}"
                        played = PairingResult(CellFinding(kind, ("server",), told=told))
                        deaf = (
                            told if running.has_stopped_listening else ""
                        )  # it will not listen to the next one, either
                key = self._plan.key(room, server, client)
                cell = _cell((room.name, server.id, client.id), key, played, time.monotonic() - begun)
                kept.save(cell)
                self._finished(cell, played=True)
                trusted = server.is_reference and "server" not in played.finding.blame
                if played.finding.kind is not CellKind.WELL and not trusted:
                    await running.close()  # whatever has gone wrong, the next client finds a new one

    async def _played(self, terms: PairingTerms, server: ServerProcess, client: Submission) -> PairingResult:
        """A client at a server. Raises ProgramError when the server does not listen."""
        place, fault = await self._ready(client)
        if fault:
            return PairingResult(CellFinding(CellKind.UNUSABLE, ("client",), told=fault))
        tried = self._absent.setdefault((terms.room.name, client.id), [])
        if len(tried) >= MAX_ABSENCES:
            return tried[-1]
        command = client.command(terms.room.name, "client") or ""
        played = await Pairing(terms, server).play(command, place, is_single=client.is_reference)
        if played.finding.kind is CellKind.ABSENT:
            tried.append(played)
        return played

    async def _ready(self, found: Submission) -> tuple[Path | None, str]:
        """A submission's folder, built, and what is wrong with it."""
        if found.id not in self._built:
            self._built[found.id] = asyncio.ensure_future(
                build_submission(found, self._plan.output_folder / BUILD_FOLDER_NAME)
            )
        try:
            return await self._built[found.id], ""
        except ValueError as error:
            return None, str(error)

    def _finished(self, cell: Cell, *, played: bool) -> None:
        self.cells.append(cell)
        self._on_cell(cell, not played)


def _cell(place: tuple[str, str, str], key: str, played: PairingResult, seconds: float) -> Cell:
    heard = [passage.conversation for passage in played.connections]
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


def write_results(plan: MatrixPlan, cells: Sequence[Cell], *, is_complete: bool) -> None:
    """Write the results: the page, the JSON, the lines for Moodle, and a file a student for Gradescope.

    `whole` says that nothing is left to play. Raises OSError.
    """
    titles = {room.name: room.title for room in plan.rooms}
    handed_in = [each for each in plan.submissions if not each.is_reference]
    names = {each.id: each.name for each in plan.submissions}
    (plan.output_folder / "matrix.html").write_text(
        html(cells, plan.submissions, titles, is_complete=is_complete), encoding="utf-8"
    )
    (plan.output_folder / "matrix.json").write_text(
        full_json(cells, plan.submissions, [*titles], is_complete=is_complete), encoding="utf-8"
    )
    (plan.output_folder / "matrix.csv").write_text(moodle(cells, handed_in, [*titles]), encoding="utf-8", newline="")
    folder = plan.output_folder / "gradescope"
    folder.mkdir(exist_ok=True)
    for each in handed_in:
        (folder / f"{each.id}.json").write_text(gradescope(cells, each, names), encoding="utf-8")
