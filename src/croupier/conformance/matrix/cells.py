"""A cell of the matrix: the result of one student's client at another student's server."""

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Final, Self

import msgspec
from msgspec import Struct

from croupier.conformance.report.look import Look
from croupier.conformance.report.summary import ShownLine


class CellKind(StrEnum):
    """The kinds of results of a cell."""

    WELL = "plays well"
    BROKE = "broke a clause"
    HUNG = "hung"
    CRASHED = "crashed"
    UNHEARD = "never listened"
    ABSENT = "never connected"
    IDLE = "never played"
    CHATTY = "writes too much"
    UNUSABLE = "cannot be used"


LOOKS: Final = {
    CellKind.WELL: Look("✓", "blue", "#0060a8", "#6fb8ff"),
    CellKind.BROKE: Look("§", "bold red", "#b03a00", "#ff8f57"),
    CellKind.HUNG: Look("…", "magenta", "#8a2a73", "#f09bd6"),
    CellKind.CRASHED: Look("✗", "bold red", "#a00020", "#ff8a8a"),
    CellKind.UNHEARD: Look("∅", "dim", "#5d5d5d", "#a8a8a8"),
    CellKind.ABSENT: Look("○", "dim", "#5d5d5d", "#a8a8a8"),
    CellKind.IDLE: Look("·", "yellow", "#7a5c00", "#e8c454"),
    CellKind.CHATTY: Look("≋", "cyan", "#006b5b", "#5fd3bd"),
    CellKind.UNUSABLE: Look("?", "dim", "#5d5d5d", "#a8a8a8"),
}


class CellFinding(Struct, frozen=True):
    """The result of a cell, and who is to blame for it: ("server",), ("client",), or () for nobody.

    `clause` is the clause that was broken first, and `note` a sentence about it. The fault shows in the last line of
    the dialogue.
    """

    kind: CellKind
    blame: tuple[str, ...] = ()
    clause: str = ""
    note: str = ""
    dialogue: tuple[ShownLine, ...] = ()

    def __str__(self) -> str:
        if self.kind is CellKind.WELL:
            return "; ".join(part for part in (self.kind.value, self.note) if part)
        return self.note


class Cell(Struct, frozen=True):
    """The result of a client at a server.

    `key` identifies the programs and settings by hashes: with another key the cell is played again. `games`,
    `connections` and `messages` are totals over all conversations; `stderr` is the end of the standard error of the
    programs to blame.
    """

    room: str
    server: str
    client: str
    key: str
    finding: CellFinding
    games: int = 0
    connections: int = 0
    messages: int = 0
    seconds: float = 0.0
    stderr: str = ""

    @property
    def position(self) -> tuple[str, str, str]:
        """The room, the server and the client."""
        return self.room, self.server, self.client


class ProgramEnd(Struct, frozen=True):
    """The state of a program when its conversations were over.

    `exit_status` is −signal if a signal ended it, None while it ran; `description` says it in words, with the limit
    that the program has exceeded, if any. `is_out_of_time`: its timeout was over. `was_active`: it still sent or
    received data shortly before.
    """

    exit_status: int | None = None
    description: str = ""
    has_written_too_much: bool = False
    is_out_of_time: bool = False
    was_active: bool = False

    @property
    def has_crashed(self) -> bool:
        """Whether it has ended with a failure."""
        return self.exit_status not in {None, 0}

    @property
    def has_failed(self) -> bool:
        """Whether it must not be started again."""
        return self.has_crashed or self.is_out_of_time or self.has_written_too_much


class CellFile:
    """The finished cells, a JSON line each in a file, so that an interrupted run can be resumed.

    Raises OSError if the file cannot be read or written.
    """

    def __init__(self, path: Path, *, is_fresh: bool = False) -> None:
        self._cells: dict[tuple[str, str, str], Cell] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        before = b"" if is_fresh or not path.exists() else path.read_bytes()
        self._cells = {cell.position: cell for cell in _read(before.splitlines())}
        self._file = path.open("wb" if is_fresh else "ab")
        if before and not before.endswith(b"\n"):
            self._file.write(b"\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def find(self, position: tuple[str, str, str], key: str) -> Cell | None:
        """Return the stored cell at a position if its key is the same."""
        found = self._cells.get(position)
        return found if found is not None and found.key == key else None

    def save(self, cell: Cell) -> None:
        """Store a finished cell."""
        self._cells[cell.position] = cell
        self._file.write(msgspec.json.encode(cell) + b"\n")
        self._file.flush()


def _read(lines: Iterable[bytes]) -> Iterable[Cell]:
    """Yield the cells that can be parsed: an interrupted run may have left half a line."""
    for line in lines:
        try:
            yield msgspec.json.decode(line, type=Cell)
        except msgspec.DecodeError:
            continue
