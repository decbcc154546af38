"""A matrix as a class sees it while it is played: whose names and which cells are shown, and a room's grid."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from msgspec import Struct

from croupier.conformance.matrix.cells import Cell, CellFinding, CellKind
from croupier.conformance.matrix.chart import cell_label
from croupier.conformance.matrix.standings import Results
from croupier.conformance.matrix.submission import REFERENCE_ID, Submission
from croupier.core.presentation import Text, listed, text, verbatim

KIND_TEXTS: Final = {
    CellKind.WELL: text("plays well"),
    CellKind.BROKE: text("broke a clause"),
    CellKind.HUNG: text("hung"),
    CellKind.CRASHED: text("crashed"),
    CellKind.UNHEARD: text("never listened"),
    CellKind.ABSENT: text("never connected"),
    CellKind.IDLE: text("never played"),
    CellKind.CHATTY: text("writes too much"),
    CellKind.UNUSABLE: text("cannot be used"),
}
BLAME_TEXTS: Final = {"server": text("the server's fault"), "client": text("the client's fault")}

RUNNING: Final = "RUNNING"
RUNNING_SIGN: Final = "◔"
RUNNING_TEXT: Final = text("is played now")

NAMING_KINDS: Final = (CellKind.UNHEARD, CellKind.UNUSABLE)
"""The notes of these kinds quote the output of programs, and paths: they can contain names."""


class ClassPrivacy(Struct, frozen=True):
    """What a page hides. `is_anonymous`: numbers stand for names, and what may contain a name is left out.

    With `opens_own_only`, only cells with croupier's own server or client show more than their sign.
    """

    is_anonymous: bool = False
    opens_own_only: bool = False

    def opens(self, cell: Cell) -> bool:
        """Whether a cell has a page."""
        return not self.opens_own_only or REFERENCE_ID in {cell.server, cell.client}

    def note(self, cell: Cell) -> str:
        """The sentence about a cell, empty if it is hidden."""
        return "" if self.is_anonymous and cell.finding.kind in NAMING_KINDS else cell.finding.note

    def stderr(self, cell: Cell) -> str:
        """The standard error of the programs to blame, empty if it is hidden."""
        return "" if self.is_anonymous else cell.stderr


class Member(Struct, frozen=True):
    """A submission on a page: its number, and its name; the name is empty if it is hidden."""

    number: int
    name: str

    @property
    def label(self) -> Text:
        """The name, or else the number."""
        return verbatim(self.name) if self.name else text("number {number}", number=self.number)


def roster(submissions: Sequence[Submission], *, is_anonymous: bool) -> Mapping[str, Member]:
    """Number submissions from 1 in their order; return them by id. Our own programs always have a name."""
    return {
        each.id: Member(number, each.name if each.is_reference or not is_anonymous else "")
        for number, each in enumerate(submissions, start=1)
    }


class CellView(Struct, frozen=True):
    """A cell: the id of its place, the name of its kind, RUNNING, or nothing before that, its sign, and what it says.

    `address` is that of its page, empty without one.
    """

    id: str
    kind: str = ""
    sign: str = ""
    text: Text | None = None
    address: str = ""

    @property
    def is_finished(self) -> bool:
        """Whether it has a result."""
        return self.kind not in {"", RUNNING}


class ProgramView(Struct, frozen=True):
    """A server with its row of cells, or a client. `id` is that of its score, which is empty if nothing counts."""

    member: Member
    id: str
    score: str
    cells: Sequence[CellView] = ()


class GridView(Struct, frozen=True):
    """The servers of a room with their cells, and the clients, which are the columns."""

    servers: Sequence[ProgramView]
    clients: Sequence[ProgramView]

    @property
    def cells(self) -> Sequence[CellView]:
        """All cells."""
        return [cell for server in self.servers for cell in server.cells]

    @property
    def scores(self) -> Mapping[str, str]:
        """All scores by their ids."""
        return {each.id: each.score for each in (*self.servers, *self.clients)}


class GridPlan(Struct, frozen=True):
    """What a room's grid consists of: its servers, its clients, and the path of its page."""

    room: str
    servers: Sequence[Submission]
    clients: Sequence[Submission]
    members: Mapping[str, Member]
    privacy: ClassPrivacy
    path: str

    @property
    def total(self) -> int:
        """The number of cells."""
        return len(self.servers) * len(self.clients)

    def view(self, results: Results, running: Collection[tuple[str, str, str]]) -> GridView:
        """Return the grid: these results are there, and these cells are played now."""
        found = {cell.position: cell for cell in results.cells if cell.room == self.room}

        def cell_view(server: Submission, client: Submission) -> CellView:
            position = self.room, server.id, client.id
            numbers = self.members[server.id].number, self.members[client.id].number
            place = "c-{}-{}".format(*numbers)
            if cell := found.get(position):
                address = "{}/{}/{}".format(self.path, *numbers) if self.privacy.opens(cell) else ""
                finding = cell.finding
                return CellView(place, finding.kind.name, cell_label(cell), finding_text(finding), address)
            if position in running:
                return CellView(place, RUNNING, RUNNING_SIGN, RUNNING_TEXT)
            return CellView(place)

        def program(submission: Submission, role: str, cells: Sequence[CellView] = ()) -> ProgramView:
            member = self.members[submission.id]
            percent = results.score(submission, role, self.room).percent
            score = "" if percent is None else f"{percent:.0f}"
            return ProgramView(member, f"{role}-{member.number}", score, cells)

        return GridView(
            servers=[
                program(server, "server", [cell_view(server, client) for client in self.clients])
                for server in self.servers
            ],
            clients=[program(client, "client") for client in self.clients],
        )


def finding_text(finding: CellFinding) -> Text:
    """Describe a finding: its kind, the clause, and who is to blame."""
    clause = [verbatim(finding.clause)] if finding.clause else []
    return listed([KIND_TEXTS[finding.kind], *clause, *(BLAME_TEXTS[role] for role in finding.blame)])
