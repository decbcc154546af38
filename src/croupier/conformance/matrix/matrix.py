"""Plays the matrix of a class: every client against every server. Every finished cell is stored at once."""

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
"""A client that has failed to connect this often is not started again: all servers look the same to it."""

CELL_FILE_NAME: Final = "cells.jsonl"
BUILD_FOLDER_NAME: Final = "work"


class MatrixPlan(Struct, frozen=True, kw_only=True):
    """What to play. `output_folder` is for the results; `parallel_servers` is how many servers play at the same time.

    `known_options` is what is known of the options of the clients, by room. The other fields are as in `PairingTerms`.
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
        """The terms for a room."""
        return PairingTerms(
            room=room,
            conversations=self.conversations,
            timeout_seconds=self.timeout_seconds,
            max_output_bytes=self.max_output_bytes,
            known_options=self.known_options.get(room.name),
            strict=self.strict,
        )

    def key(self, room: HouseRoom, server: Submission, client: Submission) -> str:
        """The key of a cell: a cell with another key has to be played again."""
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
        """The submissions that have a program for a role, and all that cannot be used."""
        return [each for each in self.submissions if each.fault or each.command(room.name, role)]

    @property
    def cells(self) -> int:
        """The number of cells."""
        return sum(len(self.players(room, "server")) * len(self.players(room, "client")) for room in self.rooms)


class Matrix:
    """Plays a plan. `on_cell` receives every cell, and whether it was played in an earlier run."""

    def __init__(self, plan: MatrixPlan, on_cell: Callable[[Cell, bool], None]) -> None:
        self.cells: list[Cell] = []
        self._plan = plan
        self._on_cell = on_cell
        self._built: dict[str, asyncio.Task[Path | None]] = {}
        self._absent: dict[tuple[str, str], list[PairingResult]] = {}

    async def play(self) -> bool:
        """Play until all cells are finished, or until SIGINT or SIGTERM. Returns whether all are finished.

        All programs have been stopped on return. Raises OSError if the results cannot be stored.
        """
        with (
            CellFile(self._plan.output_folder / CELL_FILE_NAME, is_fresh=self._plan.is_fresh) as cell_file,
            stop_on_signals() as end,
        ):
            work = asyncio.ensure_future(self._rows(cell_file))
            stop = asyncio.ensure_future(end.wait())
            try:
                await asyncio.wait((work, stop), return_when=asyncio.FIRST_COMPLETED)
                is_complete = work.done()
            finally:
                stop.cancel()
                if not work.done():
                    work.cancel()
                await asyncio.wait((work, stop))
            if is_complete:
                try:
                    work.result()
                except ExceptionGroup as group:
                    raise group.exceptions[0] from None
            return is_complete

    def ordered_cells(self) -> list[Cell]:
        """The finished cells in the order of the submissions."""
        rooms = [room.name for room in self._plan.rooms]
        order = [each.id for each in self._plan.submissions]
        return sorted(
            self.cells, key=lambda cell: (rooms.index(cell.room), order.index(cell.server), order.index(cell.client))
        )

    async def _rows(self, cell_file: CellFile) -> None:
        rows = iter([(room, server) for room in self._plan.rooms for server in self._plan.players(room, "server")])

        async def work() -> None:
            for room, server in rows:
                await self._row(room, server, cell_file)

        async with asyncio.TaskGroup() as group:
            for _ in range(self._plan.parallel_servers):
                group.create_task(work())

    async def _row(self, room: HouseRoom, server: Submission, cell_file: CellFile) -> None:
        """Play every client at one server."""
        left = []
        for client in self._plan.players(room, "client"):
            before = cell_file.find((room.name, server.id, client.id), self._plan.key(room, server, client))
            if before is None:
                left.append(client)
            else:
                self._finished(before, played=False)
        if not left:
            return
        folder, server_error = await self._build(server)
        kind = CellKind.UNUSABLE
        terms = self._plan.terms(room)
        async with ServerProcess(server.command(room.name, "server") or "", folder, terms) as running:
            for client in left:
                started_at = time.monotonic()
                played = PairingResult(CellFinding(kind, ("server",), told=server_error))
                if not server_error:
                    try:
                        played = await self._play_pair(terms, running, client)
                    except ProgramError as error:
                        kind, text = CellKind.UNHEARD, f"the server does not listen: {error}"
                        played = PairingResult(CellFinding(kind, ("server",), told=text))
                        server_error = (
                            text if running.has_stopped_listening else ""
                        )  # nor will it listen for the next client
                key = self._plan.key(room, server, client)
                cell = _cell((room.name, server.id, client.id), key, played, time.monotonic() - started_at)
                cell_file.save(cell)
                self._finished(cell, played=True)
                is_trusted = server.is_reference and "server" not in played.finding.blame
                if played.finding.kind is not CellKind.WELL and not is_trusted:
                    await running.close()  # the next client gets a new server process

    async def _play_pair(self, terms: PairingTerms, server: ServerProcess, client: Submission) -> PairingResult:
        """Play a client at a server. Raises ProgramError if the server does not listen."""
        folder, fault = await self._build(client)
        if fault:
            return PairingResult(CellFinding(CellKind.UNUSABLE, ("client",), told=fault))
        tried = self._absent.setdefault((terms.room.name, client.id), [])
        if len(tried) >= MAX_ABSENCES:
            return tried[-1]
        command = client.command(terms.room.name, "client") or ""
        played = await Pairing(terms, server).play(command, folder, is_single=client.is_reference)
        if played.finding.kind is CellKind.ABSENT:
            tried.append(played)
        return played

    async def _build(self, found: Submission) -> tuple[Path | None, str]:
        """Build a submission once; return its folder and an error message, empty if it is usable."""
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


def _cell(position: tuple[str, str, str], key: str, played: PairingResult, seconds: float) -> Cell:
    conversations = [connection.conversation for connection in played.connections]
    return Cell(
        *position,
        key,
        played.finding,
        games=sum(conversation.games for conversation in conversations),
        connections=len(conversations),
        messages=sum(len(conversation.lines) for conversation in conversations),
        seconds=round(seconds, 3),
        stderr=played.stderr,
    )


def write_results(plan: MatrixPlan, cells: Sequence[Cell], *, is_complete: bool) -> None:
    """Write the results: the HTML page, JSON, CSV for Moodle, and a Gradescope file per student.

    `is_complete`: no cell is left to play. Raises OSError.
    """
    titles = {room.name: room.title for room in plan.rooms}
    student_submissions = [each for each in plan.submissions if not each.is_reference]
    names = {each.id: each.name for each in plan.submissions}
    (plan.output_folder / "matrix.html").write_text(
        html(cells, plan.submissions, titles, is_complete=is_complete), encoding="utf-8"
    )
    (plan.output_folder / "matrix.json").write_text(
        full_json(cells, plan.submissions, [*titles], is_complete=is_complete), encoding="utf-8"
    )
    (plan.output_folder / "matrix.csv").write_text(
        moodle(cells, student_submissions, [*titles]), encoding="utf-8", newline=""
    )
    folder = plan.output_folder / "gradescope"
    folder.mkdir(exist_ok=True)
    for each in student_submissions:
        (folder / f"{each.id}.json").write_text(gradescope(cells, each, names), encoding="utf-8")
