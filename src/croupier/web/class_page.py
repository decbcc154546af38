"""The live page of a room in a matrix: its states, and the feed of them."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from croupier.conformance.matrix.cells import LOOKS, Cell
from croupier.conformance.matrix.standings import Results
from croupier.core.presentation import Text, text
from croupier.web.class_view import BLAME_TEXTS, KIND_TEXTS, RUNNING, RUNNING_SIGN, RUNNING_TEXT, GridPlan, GridView
from croupier.web.feed import Feed, FeedSnapshot
from croupier.web.render import Renderer
from croupier.web.rooms import RoomName
from croupier.web.secret_site import passes_step

LEGEND: Final = [
    *((kind.name, LOOKS[kind].sign, label) for kind, label in KIND_TEXTS.items()),
    (RUNNING, RUNNING_SIGN, RUNNING_TEXT),
    *(("", role[0].upper(), label) for role, label in BLAME_TEXTS.items()),
]
"""The kind, the sign and the meaning of each sign."""


class MatrixState(Struct, frozen=True):
    """A matrix at one moment: its results, the ids of submissions that are built now, and the cells played now."""

    results: Results
    building: Sequence[str] = ()
    running: Sequence[tuple[str, str, str]] = ()
    is_running: bool = True


class GridSnapshot(FeedSnapshot, frozen=True):
    """A room of a matrix at one moment; `done` is the number of its finished cells."""

    state: MatrixState
    grid: GridView
    done: int = 0


class GridPage:
    """The page of a room, and the feed of its states."""

    def __init__(self, room: RoomName, plan: GridPlan, state: MatrixState, renderer: Renderer) -> None:
        self.room = room
        self.plan = plan
        self._renderer = renderer
        self.feed = Feed(GridSnapshot(state, plan.view(state.results, ())), self._render)

    def publish(self, state: MatrixState) -> None:
        """Publish a state; the last one ends the feed."""
        done = sum(cell.room == self.plan.room for cell in state.results.cells)
        news = self._news(state, done)
        grid = self.plan.view(state.results, state.running)
        self.feed.publish(GridSnapshot(state, grid, done, news=news))
        if not state.is_running:
            self.feed.end()

    def find(self, server: int, client: int) -> Cell | None:
        """Return the finished cell with these numbers if it has a page."""
        for cell in self.feed.snapshot.state.results.cells:
            members = self.plan.members[cell.server], self.plan.members[cell.client]
            if cell.room == self.plan.room and (server, client) == tuple(each.number for each in members):
                return cell if self.plan.privacy.opens(cell) else None
        return None

    def context(self, snapshot: GridSnapshot) -> dict[str, Any]:
        """Return the variables of the templates for a snapshot."""
        return {
            "room": self.room,
            "path": self.plan.path,
            "version": snapshot.version,
            "grid": snapshot.grid,
            "done": snapshot.done,
            "total": self.plan.total,
            "building": [self.plan.members[each].label for each in snapshot.state.building],
            "is_running": snapshot.state.is_running,
        }

    def _news(self, state: MatrixState, done: int) -> Sequence[Text]:
        """What is announced: every tenth of the cells, and the end."""
        if not state.is_running:
            return [text("The run is over.")]
        if not passes_step(self.feed.snapshot.done, done, self.plan.total):
            return []
        return [text("{done} of {total} cells", done=done, total=self.plan.total)]

    def _render(self, snapshot: GridSnapshot, locale: str) -> Mapping[str, str]:
        """Render a part for the status, each cell and each score: what does not change is not replaced."""
        return {
            **self._renderer.parts(["class_status"], locale, self.context(snapshot)),
            **{cell.id: self._renderer.part("cell", locale, {"cell": cell}) for cell in snapshot.grid.cells},
            **snapshot.grid.scores,
        }
