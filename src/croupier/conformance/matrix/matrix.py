"""Plays the matrix of a class: every client against every server. Every finished cell is stored at once."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import astuple

from croupier.conformance.matrix.cells import Cell, CellFile, CellFinding, CellKind
from croupier.conformance.matrix.chart import html
from croupier.conformance.matrix.pairing import Pairing, PairingResult
from croupier.conformance.matrix.programs import PairingTerms, process_starter
from croupier.conformance.matrix.reference import reference_starter
from croupier.conformance.matrix.standings import Grading, Results, full_json, gradescope, moodle
from croupier.conformance.matrix.submission import Submission, build_submission
from croupier.conformance.program import ProgramError, StartError
from croupier.conformance.server_process import ServerProcess, StartProgram
from croupier.conformance.timeouts import wait_first
from croupier.core.room import HouseRoom
from croupier.net.stop_signals import stop_signal_event
from croupier.version import __version__

MAX_ABSENCES: Final = 2
"""A client that has failed this often without sending anything is not started again: all servers look alike to it."""

CELL_FILE_NAME: Final = "cells.jsonl"
BUILD_FOLDER_NAME: Final = "work"


class MatrixPlan(Struct, frozen=True, kw_only=True):
    """What to play: in each room on its terms, which differ in the room and what is known of the options only.

    `output_folder` is for the results; `parallel_servers` is how many servers play at the same time. `grading` says
    what the results count. If it `is_fresh`, stored results are ignored.
    """

    terms: Sequence[PairingTerms]
    submissions: Sequence[Submission]
    output_folder: Path
    parallel_servers: int = 1
    grading: Grading = Grading()
    is_fresh: bool = False

    def players(self, room: HouseRoom, role: str) -> list[Submission]:
        """The submissions that have a program for a role, and all that cannot be used."""
        return [each for each in self.submissions if each.takes_part(room.name, role)]

    @property
    def titles(self) -> Mapping[str, str]:
        """The titles of the rooms by name."""
        return {each.room.name: each.room.title for each in self.terms}

    @property
    def cells(self) -> int:
        """The number of cells."""
        return sum(
            len(self.players(each.room, "server")) * len(self.players(each.room, "client")) for each in self.terms
        )

    def results(self, cells: Iterable[Cell], *, is_complete: bool) -> Results:
        """The results of these cells in the order of the rooms and submissions. `is_complete`: none is left to play."""
        rooms = [*self.titles]
        order = [each.id for each in self.submissions]
        ordered = sorted(
            cells, key=lambda cell: (rooms.index(cell.room), order.index(cell.server), order.index(cell.client))
        )
        return Results(ordered, self.submissions, self.titles, self.grading, is_complete)


class Matrix:
    """Plays a plan. `on_cell` receives every cell, and whether it was played in an earlier run.

    `on_change` is called whenever one of these changes: `cells`, which are finished, the ids of the submissions that
    are `building` now, and the positions of the cells that are `running` now.
    """

    def __init__(
        self,
        plan: MatrixPlan,
        on_cell: Callable[[Cell, bool], None],
        on_change: "Callable[[Matrix], None]" = lambda _: None,
    ) -> None:
        self.cells: list[Cell] = []
        self.building: list[str] = []
        self.running: list[tuple[str, str, str]] = []
        self._plan = plan
        self._on_cell = on_cell
        self._on_change = on_change
        self._folders: dict[str, Path | None] = {}
        self._faults: dict[str, str] = {}
        self._absent: dict[tuple[str, str], list[PairingResult]] = {}

    async def play(self) -> bool:
        """Play until all cells are finished, or until SIGINT or SIGTERM. Returns whether all are finished.

        All programs have been stopped on return. Raises OSError if the results cannot be stored.
        """
        with (
            CellFile(self._plan.output_folder / CELL_FILE_NAME, is_fresh=self._plan.is_fresh) as cell_file,
            stop_signal_event() as end,
        ):
            work = asyncio.ensure_future(self._rows(cell_file))
            is_complete = work in await wait_first(work, end.wait())
            if is_complete:
                try:
                    work.result()
                except ExceptionGroup as group:
                    raise group.exceptions[0] from None
            return is_complete

    async def _rows(self, cell_file: CellFile) -> None:
        """Report the stored cells, build everything that still has to be played, and then play it row by row."""
        rows = [
            (terms, server, left)
            for terms in self._plan.terms
            for server in self._plan.players(terms.room, "server")
            if (left := self._unplayed(terms, server, cell_file))
        ]
        used = {each.id: each for _, server, clients in rows for each in (server, *clients)}
        await self._in_parallel(map(self._build, used.values()))
        await self._in_parallel(self._row(*row, cell_file) for row in rows)

    async def _in_parallel(self, work: Iterable[Coroutine[Any, Any, None]]) -> None:
        """Run coroutines in order, at most `parallel_servers` at the same time."""
        waiting = iter(work)

        async def run() -> None:
            for coroutine in waiting:
                await coroutine

        async with asyncio.TaskGroup() as group:
            for _ in range(self._plan.parallel_servers):
                group.create_task(run())

    def _unplayed(self, terms: PairingTerms, server: Submission, cell_file: CellFile) -> list[Submission]:
        """Report the stored cells of a server, and return the clients that it has not played."""
        left = []
        for client in self._plan.players(terms.room, "client"):
            before = cell_file.find((terms.room.name, server.id, client.id), _key(terms, server, client))
            if before is None:
                left.append(client)
            else:
                self._finished(before, played=False)
        return left

    async def _build(self, submission: Submission) -> None:
        with self._noted(self.building, submission.id):
            try:
                folder = await build_submission(submission, self._plan.output_folder / BUILD_FOLDER_NAME)
                self._folders[submission.id] = folder
            except ValueError as error:
                self._faults[submission.id] = str(error)

    @contextmanager
    def _noted[T](self, entries: list[T], entry: T) -> Iterator[None]:
        """Keep an entry in a list inside the block."""
        entries.append(entry)
        self._on_change(self)
        try:
            yield
        finally:
            entries.remove(entry)
            self._on_change(self)

    async def _row(
        self, terms: PairingTerms, server: Submission, clients: Sequence[Submission], cell_file: CellFile
    ) -> None:
        """Play clients at one server, which is a new process for each of them."""
        dead: PairingResult | None = None
        has_listened = False
        if fault := self._fault(terms, server):
            dead = PairingResult(CellFinding(CellKind.UNUSABLE, ("server",), note=fault))
        for client in clients:
            position = terms.room.name, server.id, client.id
            started_at = time.monotonic()
            played = dead
            if played is None:
                try:
                    with self._noted(self.running, position):
                        played = await self._play_pair(terms, server, client)
                    has_listened = True
                except ProgramError as error:
                    is_started = not isinstance(error, StartError)
                    kind = CellKind.UNHEARD if is_started else CellKind.UNUSABLE
                    note = f"the server {'does not listen: ' * is_started}{error}"
                    played = PairingResult(CellFinding(kind, ("server",), note=note))
                    dead = None if has_listened else played  # nor will it listen for the next client
            cell = _cell(position, _key(terms, server, client), played, time.monotonic() - started_at)
            cell_file.save(cell)
            self._finished(cell, played=True)

    async def _play_pair(self, terms: PairingTerms, server: Submission, client: Submission) -> PairingResult:
        """Play a client at a server. Raises ProgramError if the server does not listen."""
        if fault := self._fault(terms, client):
            return PairingResult(CellFinding(CellKind.UNUSABLE, ("client",), note=fault))
        tried = self._absent.setdefault((terms.room.name, client.id), [])
        if len(tried) >= MAX_ABSENCES:
            return tried[-1]
        async with ServerProcess(self._starter(terms, server, "server"), terms.timeout_seconds) as running:
            played = await Pairing(terms, running, self._starter(terms, client, "client")).play()
        if played.finding.blame == ("client",) and not any(each.has_client_spoken for each in played.connections):
            tried.append(played)
        return played

    def _starter(self, terms: PairingTerms, submission: Submission, role: str) -> StartProgram:
        command = submission.command(terms.room.name, role)
        if command is None:
            return reference_starter(role, terms)
        return process_starter(command, self._folders[submission.id], terms)

    def _fault(self, terms: PairingTerms, submission: Submission) -> str:
        """Why a submission cannot be used in a room; empty if it can."""
        return submission.room_faults.get(terms.room.name) or self._faults.get(submission.id, "")

    def _finished(self, cell: Cell, *, played: bool) -> None:
        self.cells.append(cell)
        self._on_cell(cell, not played)
        self._on_change(self)


def _key(terms: PairingTerms, server: Submission, client: Submission) -> str:
    """The key of a cell: a cell with another key has to be played again."""
    _, *settings = astuple(terms)
    return f"{server.digest} {client.digest} {settings} {__version__}"


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


def write_results(results: Results, folder: Path) -> None:
    """Write the results into a folder: the HTML page, JSON, CSV for Moodle, and a Gradescope file per student.

    Files of earlier runs for students who are gone are removed. Raises OSError.
    """
    files = {"matrix.html": html(results), "matrix.json": full_json(results), "matrix.csv": moodle(results)}
    files |= {f"gradescope/{each.id}.json": gradescope(results, each) for each in results.students}
    (folder / "gradescope").mkdir(exist_ok=True)
    for stale in {*(folder / "gradescope").glob("*.json")} - {folder / name for name in files}:
        stale.unlink()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8", newline="")
