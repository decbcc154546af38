"""The routes of a class: the live grid of each room, the causes of each cell, and the report."""

from collections.abc import Mapping, Sequence

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from croupier.conformance.matrix.cells import LOOKS
from croupier.conformance.matrix.chart import html
from croupier.web.class_page import LEGEND, GridPage
from croupier.web.class_view import ClassPrivacy, finding_text
from croupier.web.render import download
from croupier.web.secret_site import protect
from croupier.web.site import Site
from croupier.web.streams import FeedStream


class ClassRoutes:
    """Shows a class to those who know its secret. `pages` are by the names of the rooms."""

    def __init__(self, secret: str, pages: Mapping[str, GridPage], site: Site) -> None:
        self._secret = secret
        self._pages = pages
        self._site = site
        endpoints = {
            "": self.choose_room,
            "/report.html": self.report,
            "/{room}": self.show,
            "/{room}/events": self.events,
            "/{room}/{server:int}/{client:int}": self.show_cell,
        }
        self.routes: Sequence[BaseRoute] = [
            Route(f"/class/{{secret}}{path}", protect(self._secret, each)) for path, each in endpoints.items()
        ]

    async def choose_room(self, request: Request) -> Response:  # noqa: ARG002 -- an endpoint
        """Go to the page of the first room."""
        return RedirectResponse(next(iter(self._pages.values())).plan.path)

    async def show(self, request: Request) -> Response:
        """Show the grid of a room."""
        page = self._page(request)
        return self._site.renderer.page(
            request,
            "class.html",
            **page.context(page.feed.snapshot),
            class_pages=[*self._pages.values()],
            legend=LEGEND,
            report=self._report_path,
        )

    async def events(self, request: Request) -> Response:
        """Stream the grid of a room."""
        return FeedStream(self._site.streams, self._page(request).feed, request)

    async def show_cell(self, request: Request) -> Response:
        """Show the finding of a cell, and the conversation that it is based on."""
        page = self._page(request)
        numbers = request.path_params["server"], request.path_params["client"]
        cell = page.find(*numbers)
        if cell is None:
            raise HTTPException(404)
        privacy, members = page.plan.privacy, page.plan.members
        return self._site.renderer.page(
            request,
            "class_cell.html",
            room=page.room,
            path=page.plan.path,
            server=members[cell.server].label,
            client=members[cell.client].label,
            cell=cell,
            sign=LOOKS[cell.finding.kind].sign,
            verdict=finding_text(cell.finding),
            note=privacy.note(cell),
            stderr=privacy.stderr(cell),
        )

    async def report(self, request: Request) -> Response:  # noqa: ARG002 -- an endpoint
        """Download the report."""
        if self._report_path is None:
            raise HTTPException(404)
        results = next(iter(self._pages.values())).feed.snapshot.state.results
        return download(html(results), "matrix.html")

    @property
    def _report_path(self) -> str | None:
        """The path of the report, None if it would show what the pages hide."""
        page = next(iter(self._pages.values()))
        return f"/class/{self._secret}/report.html" if page.plan.privacy == ClassPrivacy() else None

    def _page(self, request: Request) -> GridPage:
        """Return the page of the room in the path. Raises HTTPException if there is none."""
        page = self._pages.get(request.path_params["room"])
        if page is None:
            raise HTTPException(404)
        return page
