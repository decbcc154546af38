"""A cell of the matrix: what came of it when one student's client played at another one's server."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final, Self

import msgspec
from msgspec import Struct

from croupier.conformance.conversation import Fault, Line
from croupier.conformance.program import ending
from croupier.conformance.tap.connection import Dialogue, Passage
from croupier.conformance.tap.transcript import NAME, safe
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE, Verdict
from croupier.core.session import Peer

SHOWN: Final = 24
"""So many lines of a dialogue are kept at most: the last ones."""

WIDE: Final = 64
"""So many bytes of a line are kept in hex."""


class Kind(StrEnum):
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
    Kind.WELL: "✓",
    Kind.BROKE: "§",
    Kind.HUNG: "…",
    Kind.CRASHED: "✗",
    Kind.UNHEARD: "∅",
    Kind.ABSENT: "○",
    Kind.IDLE: "·",
    Kind.CHATTY: "≋",
    Kind.UNUSABLE: "?",
}
"""How a kind is shown without a colour."""


class Spoken(Struct, frozen=True):
    """A line of a dialogue: who (client, house), in words, and in hex where the words are not what was sent."""

    side: str
    words: str
    data: str = ""


class Finding(Struct, frozen=True):
    """What came of a cell, and who is to blame for it ("server", "client", both, or nobody).

    `clause` is the one that was broken first, and `told` a sentence. The fault shows in the last line of the dialogue.
    """

    kind: Kind
    blame: tuple[str, ...] = ()
    clause: str = ""
    told: str = ""
    dialogue: tuple[Spoken, ...] = ()

    def __str__(self) -> str:
        if self.kind is Kind.WELL:
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
    finding: Finding
    games: int = 0
    connections: int = 0
    messages: int = 0
    seconds: float = 0.0
    stderr: str = ""

    @property
    def place(self) -> tuple[str, str, str]:
        """Where it stands."""
        return self.room, self.server, self.client


class End(Struct, frozen=True):
    """How a program was when its conversations were over.

    `status` is its exit status (−signal), None while it ran; `late` says that its time was over, and `talking` that it
    was heard until then.
    """

    status: int | None = None
    chatty: bool = False
    late: bool = False
    talking: bool = False

    @property
    def crashed(self) -> bool:
        """Whether it has ended, but not in order."""
        return self.status not in {None, 0}

    @property
    def how(self) -> str:
        """How it has ended, in words."""
        return "goes on" if self.status is None else ending(self.status)


def judged(passages: Sequence[Passage], server: End, client: End, goodbyes: Collection[object] = ()) -> Finding:
    """What is to be found in some conversations of a client with a server, and in how both programs have ended.

    `goodbyes` are the words by which either of them ends a conversation.
    """
    for passage in passages:
        if passage.conversation.faults:
            return _fault(passage.conversation, passage.conversation.faults[0], server)
    last = _dialogue(passages[-1].conversation, None) if passages else ()
    for kind, who, told in _wrong(passages, server, client, goodbyes):
        return Finding(kind, (who,), "", f"the {who} {told}", last)
    return Finding(Kind.WELL, told="; ".join(_departures(passages)), dialogue=last)


def _wrong(
    passages: Sequence[Passage], server: End, client: End, goodbyes: Collection[object]
) -> Iterator[tuple[Kind, str, str]]:
    """What is wrong, where no clause was broken; the worst comes first."""
    if server.crashed:
        yield Kind.CRASHED, "server", f"has ended ({server.how})"
    for passage in passages:
        if not passage.reached and passage.note:
            yield Kind.UNHEARD, "server", f"takes no connection any more ({passage.note})"
    if client.crashed:
        yield Kind.CRASHED, "client", f"has ended ({client.how})"
    if not passages:
        yield Kind.ABSENT, "client", f"has not connected {'within its time' if client.late else 'before it ended'}"
        return
    if client.late and not client.talking:
        over = passages[-1].closed[:1] == [HOUSE]
        yield Kind.HUNG, "client", "goes on when the house has closed" if over else "says nothing more"
    if not any(passage.conversation.games for passage in passages):
        who = "server" if _ended(passages[-1], goodbyes) == HOUSE else "client"
        yield Kind.IDLE, who, "has ended every conversation before a game was over"
    for who, end in (("server", server), ("client", client)):
        if end.chatty:
            yield Kind.CHATTY, who, "has written more than is kept"


def _departures(passages: Sequence[Passage]) -> Iterator[str]:
    """Whose tolerance was needed for what."""
    for side, who in ((HOUSE, "server"), (CLIENT, "client")):
        clauses = {clause for passage in passages for clause in passage.conversation.departures(side)}
        if clauses:
            yield f"the {who} departs from {', '.join(sorted(clauses))}, which is tolerated"


def _ended(passage: Passage, goodbyes: Collection[object]) -> Peer:
    """Who has ended a conversation: who has said goodbye first, or else closed first, or else nobody but the client."""
    farewells = (line.side for line in passage.conversation.lines if line.message in goodbyes)
    return next(farewells, passage.closed[0] if passage.closed else CLIENT)


def _fault(heard: Dialogue, fault: Fault, server: End) -> Finding:
    side, violation = fault.verdict.side, fault.verdict.violation
    who = "server" if side == HOUSE else "client"
    told = f"the {who} breaks {safe(str(violation))}"
    kind = Kind.BROKE
    blame: tuple[str, ...] = (who,)
    if server.crashed:
        told += f"; the server has ended ({server.how})"
        blame = ("server",) if side == HOUSE else ("client", "server")
    if side == HOUSE and server.crashed and heard.faults[-1] is fault and _hung_up(fault.verdict):
        kind = Kind.CRASHED
    elif side == HOUSE and violation.found == "silence":
        kind = Kind.HUNG
    return Finding(kind, blame, violation.clause, told, _dialogue(heard, fault))


def _hung_up(verdict: Verdict) -> bool:
    return verdict.violation.found == "the end of the conversation"


def _dialogue(heard: Dialogue, fault: Fault | None) -> tuple[Spoken, ...]:
    """The last lines, up to the one that shows a fault."""
    end = len(heard.lines) if fault is None else fault.lines
    said = [_spoken(line) for line in heard.lines[max(0, end - SHOWN) : end]]
    if end == len(heard.lines):
        unread = ((side, heard.rest(side)) for side in (CLIENT, HOUSE))
        said += [Spoken(NAME[side], "… no whole message", rest[:WIDE].hex(" ")) for side, rest in unread if rest]
    return tuple(said)


def _spoken(line: Line) -> Spoken:
    message = line.message
    words = message.found if isinstance(message, Violation) else str(message)
    plain = line.data == words.encode("latin-1", "replace")
    return Spoken(NAME[line.side], safe(words), "" if plain else line.data[:WIDE].hex(" "))


class Kept:
    """The cells that are finished, each a JSON line in a file, so that whoever was interrupted can go on.

    Raises OSError when the file cannot be read or written.
    """

    def __init__(self, path: Path, *, fresh: bool = False) -> None:
        self._cells: dict[tuple[str, str, str], Cell] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        before = b"" if fresh or not path.exists() else path.read_bytes()
        self._cells = {cell.place: cell for cell in _read(before.splitlines())}
        self._file = path.open("wb" if fresh else "ab")
        if before and not before.endswith(b"\n"):
            self._file.write(b"\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def cell(self, place: tuple[str, str, str], key: str) -> Cell | None:
        """What was played there, if it was the same."""
        found = self._cells.get(place)
        return found if found is not None and found.key == key else None

    def keep(self, cell: Cell) -> None:
        """A cell is finished."""
        self._cells[cell.place] = cell
        self._file.write(msgspec.json.encode(cell) + b"\n")
        self._file.flush()


def _read(lines: Iterable[bytes]) -> Iterable[Cell]:
    """The cells that can be read: the last line of a run that was interrupted may be half of one."""
    for line in lines:
        try:
            yield msgspec.json.decode(line, type=Cell)
        except msgspec.DecodeError:
            continue
