"""The page of a tournament: the report of the arena, rendered again while its chunks arrive, and its endpoints."""

from collections.abc import Callable, Mapping
from time import thread_time
from typing import Any, Final, NamedTuple

from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from croupier.arena.plan import Plan
from croupier.arena.report.page import SECTIONS, file_of, sections
from croupier.arena.report.summary import Report, headline
from croupier.arena.schedule import count_pairings
from croupier.arena.tournament import Tournament
from croupier.core.html_page import html_text
from croupier.core.presentation import grouped, text, verbatim
from croupier.rooms import find_room
from croupier.web.feed import Feed, FeedSnapshot
from croupier.web.render import download
from croupier.web.rooms import RoomName, room_title
from croupier.web.secret_site import passes_step
from croupier.web.site import Site
from croupier.web.streams import FeedStream

MIN_PAUSE_SECONDS: Final = 2.0
PAUSE_FACTOR: Final = 5
"""After a report the next one waits for as many times the processor time that it took: bots need that, too."""

STEPS: Final = 1000
"""The chunks of each pairing are counted in as many steps."""


class MadeReport(NamedTuple):
    """A report as HTML, how far the tournament is, in `steps` of all pairings, and the processor time that it took."""

    title: str
    sections: Mapping[str, str]
    hands: int = 0
    pairings: int = 0
    steps: int = 0
    seconds: float = 0.0

    @property
    def pause_seconds(self) -> float:
        """The time until the next report is made."""
        return max(MIN_PAUSE_SECONDS, PAUSE_FACTOR * self.seconds)


class ReportSnapshot(FeedSnapshot, frozen=True):
    """The report of a tournament at one moment."""

    report: MadeReport
    is_running: bool = True


class TournamentPage:
    """The page of a tournament at `path`, with its stream and its download below it."""

    def __init__(self, plan: Plan, path: str, site: Site) -> None:
        room = find_room(plan.room)
        self.plan = plan
        self.path = path
        self._room = RoomName(room.name, room_title(room))
        self._pairings = count_pairings(plan.schedule, len(plan.bots))
        self._site = site
        start = ReportSnapshot(MadeReport(room.title, dict.fromkeys(SECTIONS, "")))
        self.feed = Feed(start, self._render)

    def publish(self, made: MadeReport) -> None:
        """Show a report."""
        is_news = passes_step(self.feed.snapshot.report.steps, made.steps, STEPS * self._pairings)
        self.feed.publish(ReportSnapshot(made, news=[verbatim(made.title)] if is_news else []))

    def end(self) -> None:
        """Publish that the tournament is over, and end all streams."""
        if not self.feed.is_over:
            self.feed.publish(replace(self.feed.snapshot, is_running=False, news=[text("The tournament is over.")]))
            self.feed.end()

    def show(self, request: Request) -> Response:
        """Show the page."""
        snapshot = self.feed.snapshot
        return self._site.renderer.page(
            request,
            "arena.html",
            path=self.path,
            room=self._room,
            version=snapshot.version,
            headline=snapshot.report.title,
            sections=snapshot.report.sections,
            **self._status(snapshot),
        )

    def events(self, request: Request) -> Response:
        """Stream the page."""
        return FeedStream(self._site.streams, self.feed, request)

    def download(self, request: Request) -> Response:  # noqa: ARG002 -- an endpoint
        """Download the page as a file."""
        report = self.feed.snapshot.report
        return download(file_of(report.title, report.sections), "results.html")

    def _status(self, snapshot: ReportSnapshot) -> dict[str, Any]:
        report = snapshot.report
        return {
            "hands": grouped(report.hands),
            "pairings": report.pairings,
            "total_pairings": self._pairings,
            "steps": report.steps,
            "total_steps": STEPS * self._pairings,
            "is_running": snapshot.is_running,
            "is_sure": self.plan.until_sure,
        }

    def _render(self, snapshot: ReportSnapshot, locale: str) -> Mapping[str, str]:
        """Render a part for the headline, the status and each section: what does not change is not replaced."""
        return {
            "headline": html_text(snapshot.report.title),
            **self._site.renderer.parts(["arena_status"], locale, self._status(snapshot)),
            **snapshot.report.sections,
        }


ENDPOINTS: Final[Mapping[str, Callable[[TournamentPage, Request], Response]]] = {
    "": TournamentPage.show,
    "/events": TournamentPage.events,
    "/results.html": TournamentPage.download,
}
"""What answers requests for the page, its stream and its download, by their paths below that of the page."""


def make_report(tournament: Tournament) -> MadeReport:
    """Make the report of a tournament that has begun. It takes seconds."""
    start = thread_time()
    report = Report.of(tournament)
    hands = sum(pair.hands for pair in report.result.pairs)
    all_series, chunks = tournament.series.values(), tournament.plan.chunks
    return MadeReport(
        headline(report),
        sections(report),
        hands=hands,
        pairings=sum(series.is_over for series in all_series),
        steps=sum(STEPS if series.is_over else STEPS * len(series.tallies) // chunks for series in all_series),
        seconds=thread_time() - start,
    )
