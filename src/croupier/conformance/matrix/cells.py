"""A cell of the matrix: what came of it when one student's client played at another one's server."""

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
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE, Verdict
from croupier.core.session import Peer

MAX_DIALOGUE_LINES: Final = 24
"""So many lines of a dialogue are kept at most: the last ones."""

MAX_HEX_BYTES: Final = 64
"""So many bytes of a line are kept in hex."""


class CellKind(StrEnum):
    """What came of a cell."""

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
"""How a kind is shown without a colour."""


class CellLine(Struct, frozen=True):
    """A line of a dialogue: who (client, house), in words, and in hex where the words are not what was sent."""

    side: str
    words: str
    data: str = ""


class CellFinding(Struct, frozen=True):
    """What came of a cell, and who is to blame for it ("server", "client", both, or nobody).

    `clause` is the one that was broken first, and `told` a sentence. The fault shows in the last line of the dialogue.
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
    """A client at a server. `key` holds what was played, as hashes: a cell with another key is another one.

    `games`, `connections` and `messages` are counted over all its conversations; `stderr` is the end of what the
    programs to blame have said there.
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
        """Where it stands."""
        return self.room, self.server, self.client


class ProgramEnd(Struct, frozen=True):
    """How a program was when its conversations were over.

    `status` is its exit status (−signal), None while it ran; `late` says that its time was over, and `talking` that it
    was heard until then.
    """

    exit_status: int | None = None
    has_written_too_much: bool = False
    is_out_of_time: bool = False
    was_active: bool = False

    @property
    def has_crashed(self) -> bool:
        """Whether it has ended, but not in order."""
        return self.exit_status not in {None, 0}

    @property
    def description(self) -> str:
        """How it has ended, in words."""
        return "goes on" if self.exit_status is None else describe_exit(self.exit_status)


def judge_cell(
    connections: Sequence[TappedConnection], server: ProgramEnd, client: ProgramEnd, goodbyes: Collection[object] = ()
) -> CellFinding:
    """What is to be found in some conversations of a client with a server, and in how both programs have ended.

    `goodbyes` are the words by which either of them ends a conversation.
    """
    for passage in connections:
        if passage.conversation.faults:
            return _fault(passage.conversation, passage.conversation.faults[0], server)
    last = _dialogue(connections[-1].conversation, None) if connections else ()
    for kind, who, told in _wrong(connections, server, client, goodbyes):
        return CellFinding(kind, (who,), "", f"the {who} {told}", last)
    return CellFinding(CellKind.WELL, told="; ".join(_departures(connections)), dialogue=last)


def _wrong(
    passages: Sequence[TappedConnection], server: ProgramEnd, client: ProgramEnd, goodbyes: Collection[object]
) -> Iterator[tuple[CellKind, str, str]]:
    """What is wrong, where no clause was broken; the worst comes first."""
    if server.has_crashed:
        yield CellKind.CRASHED, "server", f"has ended ({server.description})"
    for passage in passages:
        if not passage.has_reached_target and passage.note:
            yield CellKind.UNHEARD, "server", f"takes no connection any more ({passage.note})"
    if client.has_crashed:
        yield CellKind.CRASHED, "client", f"has ended ({client.description})"
    if not passages:
        yield (
            CellKind.ABSENT,
            "client",
            f"has not connected {'within its time' if client.is_out_of_time else 'before it ended'}",
        )
        return
    if client.is_out_of_time and not client.was_active:
        over = passages[-1].closed_sides[:1] == [HOUSE]
        yield CellKind.HUNG, "client", "goes on when the house has closed" if over else "says nothing more"
    if not any(passage.conversation.games for passage in passages):
        who = "server" if _ended(passages[-1], goodbyes) == HOUSE else "client"
        yield CellKind.IDLE, who, "has ended every conversation before a game was over"
    for who, end in (("server", server), ("client", client)):
        if end.has_written_too_much:
            yield CellKind.CHATTY, who, "has written more than is kept"


def _departures(passages: Sequence[TappedConnection]) -> Iterator[str]:
    """Whose tolerance was needed for what."""
    for side, who in ((HOUSE, "server"), (CLIENT, "client")):
        clauses = {clause for passage in passages for clause in passage.conversation.tolerated(side)}
        if clauses:
            yield f"the {who} departs from {', '.join(sorted(clauses))}, which is tolerated"


def _ended(passage: TappedConnection, goodbyes: Collection[object]) -> Peer:
    """Who has ended a conversation: who has said goodbye first, or else closed first, or else nobody but the client."""
    farewells = (line.side for line in passage.conversation.lines if line.message in goodbyes)
    return next(farewells, passage.closed_sides[0] if passage.closed_sides else CLIENT)


def _fault(heard: ConversationMonitor, fault: Fault, server: ProgramEnd) -> CellFinding:
    side, violation = fault.verdict.end, fault.verdict.violation
    who = "server" if side == HOUSE else "client"
    told = f"the {who} breaks {safe_text(str(violation))}"
    kind = CellKind.BROKE
    blame: tuple[str, ...] = (who,)
    if server.has_crashed:
        told += f"; the server has ended ({server.description})"
        blame = ("server",) if side == HOUSE else ("client", "server")
    if side == HOUSE and server.has_crashed and heard.faults[-1] is fault and _hung_up(fault.verdict):
        kind = CellKind.CRASHED
    elif side == HOUSE and violation.found == "silence":
        kind = CellKind.HUNG
    return CellFinding(kind, blame, violation.clause, told, _dialogue(heard, fault))


def _hung_up(verdict: Verdict) -> bool:
    return verdict.violation.found == "the end of the conversation"


def _dialogue(heard: ConversationMonitor, fault: Fault | None) -> tuple[CellLine, ...]:
    """The last lines, up to the one that shows a fault."""
    end = len(heard.lines) if fault is None else fault.line_count
    said = [_spoken(line) for line in heard.lines[max(0, end - MAX_DIALOGUE_LINES) : end]]
    if end == len(heard.lines):
        unread = ((side, heard.incomplete(side)) for side in (CLIENT, HOUSE))
        said += [
            CellLine(END_NAMES[side], "… no whole message", rest[:MAX_HEX_BYTES].hex(" "))
            for side, rest in unread
            if rest
        ]
    return tuple(said)


def _spoken(line: DialogueLine) -> CellLine:
    message = line.message
    words = message.found if isinstance(message, Violation) else str(message)
    plain = line.data == words.encode("latin-1", "replace")
    return CellLine(END_NAMES[line.side], safe_text(words), "" if plain else line.data[:MAX_HEX_BYTES].hex(" "))


class CellFile:
    """The cells that are finished, each a JSON line in a file, so that whoever was interrupted can go on.

    Raises OSError when the file cannot be read or written.
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
        """What was played there, if it was the same."""
        found = self._cells.get(position)
        return found if found is not None and found.key == key else None

    def save(self, cell: Cell) -> None:
        """A cell is finished."""
        self._cells[cell.position] = cell
        self._file.write(msgspec.json.encode(cell) + b"\n")
        self._file.flush()


def _read(lines: Iterable[bytes]) -> Iterable[Cell]:
    """The cells that can be read: the last line of a run that was interrupted may be half of one."""
    for line in lines:
        try:
            yield msgspec.json.decode(line, type=Cell)
        except msgspec.DecodeError:
            continue
