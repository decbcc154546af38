"""A cell of the matrix: the result of one student's client at another student's server."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final, Self

import msgspec
from msgspec import Struct

from croupier.conformance.conversation import DialogueLine, Fault
from croupier.conformance.program import describe_exit
from croupier.conformance.tap.connection import ConversationMonitor, TappedConnection
from croupier.conformance.tap.transcript import END_NAMES, safe_text
from croupier.core.errors import FoundKind, Violation
from croupier.core.referee import CLIENT, HOUSE, Verdict
from croupier.core.session import Peer

MAX_DIALOGUE_LINES: Final = 24
"""At most this many of the last lines of a dialogue are kept."""

MAX_HEX_BYTES: Final = 64
"""At most this many bytes of a line are kept in hexadecimal."""


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


SIGNS: Final = {
    CellKind.WELL: "✓",
    CellKind.BROKE: "§",
    CellKind.HUNG: "…",
    CellKind.CRASHED: "✗",
    CellKind.UNHEARD: "∅",
    CellKind.ABSENT: "○",
    CellKind.IDLE: "·",
    CellKind.CHATTY: "≋",
    CellKind.UNUSABLE: "?",
}
"""The sign of each kind, readable without colour."""


class CellLine(Struct, frozen=True):
    """A line of a dialogue: the side (client, house), the text, and the bytes in hexadecimal if they differ from it."""

    side: str
    words: str
    data: str = ""


class CellFinding(Struct, frozen=True):
    """The result of a cell, and who is to blame for it ("server", "client", both, or none).

    `clause` is the clause that was broken first, and `told` a sentence about it. The fault shows in the last line of
    the dialogue.
    """

    kind: CellKind
    blame: tuple[str, ...] = ()
    clause: str = ""
    told: str = ""
    dialogue: tuple[CellLine, ...] = ()

    def __str__(self) -> str:
        if self.kind is CellKind.WELL:
            return "; ".join(part for part in (self.kind.value, self.told) if part)
        return self.told


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

    `exit_status` is −signal if a signal ended it, None while it ran. `is_out_of_time`: its timeout was over.
    `was_active`: it still sent or received data shortly before.
    """

    exit_status: int | None = None
    has_written_too_much: bool = False
    is_out_of_time: bool = False
    was_active: bool = False

    @property
    def has_crashed(self) -> bool:
        """Whether it has ended with a failure."""
        return self.exit_status not in {None, 0}

    @property
    def description(self) -> str:
        """How it has ended, in words."""
        return "goes on" if self.exit_status is None else describe_exit(self.exit_status)


def judge_cell(
    connections: Sequence[TappedConnection], server: ProgramEnd, client: ProgramEnd, goodbyes: Collection[object] = ()
) -> CellFinding:
    """Return the finding about some conversations of a client with a server, and about the end of both programs.

    `goodbyes` are the messages with which either of them ends a conversation.
    """
    for connection in connections:
        if connection.conversation.faults:
            return _broken_clause(connection.conversation, connection.conversation.faults[0], server)
    last = _dialogue(connections[-1].conversation, None) if connections else ()
    for kind, who, told in _failures(connections, server, client, goodbyes):
        return CellFinding(kind, (who,), "", f"the {who} {told}", last)
    return CellFinding(CellKind.WELL, told="; ".join(_tolerated_departures(connections)), dialogue=last)


def _failures(
    connections: Sequence[TappedConnection], server: ProgramEnd, client: ProgramEnd, goodbyes: Collection[object]
) -> Iterator[tuple[CellKind, str, str]]:
    """Yield what is wrong if no clause was broken; the worst comes first."""
    if server.has_crashed:
        yield CellKind.CRASHED, "server", f"has ended ({server.description})"
    for connection in connections:
        if not connection.has_reached_target and connection.note:
            yield CellKind.UNHEARD, "server", f"takes no connection any more ({connection.note})"
    if client.has_crashed:
        yield CellKind.CRASHED, "client", f"has ended ({client.description})"
    if not connections:
        yield (
            CellKind.ABSENT,
            "client",
            f"has not connected {'within its time' if client.is_out_of_time else 'before it ended'}",
        )
        return
    if client.is_out_of_time and not client.was_active:
        over = connections[-1].closed_sides[:1] == [HOUSE]
        yield CellKind.HUNG, "client", "goes on when the house has closed" if over else "says nothing more"
    if not any(connection.conversation.games for connection in connections):
        who = "server" if _ended_by(connections[-1], goodbyes) == HOUSE else "client"
        yield CellKind.IDLE, who, "has ended every conversation before a game was over"
    for who, end in (("server", server), ("client", client)):
        if end.has_written_too_much:
            yield CellKind.CHATTY, who, "has written more than is kept"


def _tolerated_departures(connections: Sequence[TappedConnection]) -> Iterator[str]:
    """Yield which side needed tolerance for which clauses."""
    for side, who in ((HOUSE, "server"), (CLIENT, "client")):
        clauses = {clause for connection in connections for clause in connection.conversation.tolerated(side)}
        if clauses:
            yield f"the {who} departs from {', '.join(sorted(clauses))}, which is tolerated"


def _ended_by(connection: TappedConnection, goodbyes: Collection[object]) -> Peer:
    """The side that ended a conversation: with the first goodbye, or else the first close; by default the client."""
    goodbye_sides = (line.side for line in connection.conversation.lines if line.message in goodbyes)
    return next(goodbye_sides, connection.closed_sides[0] if connection.closed_sides else CLIENT)


def _broken_clause(conversation: ConversationMonitor, fault: Fault, server: ProgramEnd) -> CellFinding:
    side, violation = fault.verdict.party, fault.verdict.violation
    who = "server" if side == HOUSE else "client"
    told = f"the {who} breaks {safe_text(str(violation))}"
    kind = CellKind.BROKE
    blame: tuple[str, ...] = (who,)
    if server.has_crashed:
        told += f"; the server has ended ({server.description})"
        blame = ("server",) if side == HOUSE else ("client", "server")
    if side == HOUSE and server.has_crashed and conversation.faults[-1] is fault and _hung_up(fault.verdict):
        kind = CellKind.CRASHED
    elif side == HOUSE and violation.kind is FoundKind.SILENCE:
        kind = CellKind.HUNG
    return CellFinding(kind, blame, violation.clause, told, _dialogue(conversation, fault))


def _hung_up(verdict: Verdict) -> bool:
    return verdict.violation.kind is FoundKind.CLOSED


def _dialogue(conversation: ConversationMonitor, fault: Fault | None) -> tuple[CellLine, ...]:
    """The last lines, up to the one that shows a fault."""
    end = len(conversation.lines) if fault is None else fault.line_count
    said = [_cell_line(line) for line in conversation.lines[max(0, end - MAX_DIALOGUE_LINES) : end]]
    if end == len(conversation.lines):
        unread = ((side, conversation.incomplete(side)) for side in (CLIENT, HOUSE))
        said += [
            CellLine(END_NAMES[side], "… no whole message", rest[:MAX_HEX_BYTES].hex(" "))
            for side, rest in unread
            if rest
        ]
    return tuple(said)


def _cell_line(line: DialogueLine) -> CellLine:
    message = line.message
    words = message.found if isinstance(message, Violation) else str(message)
    plain = line.data == words.encode("latin-1", "replace")
    return CellLine(END_NAMES[line.side], safe_text(words), "" if plain else line.data[:MAX_HEX_BYTES].hex(" "))


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
