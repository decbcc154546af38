"""The routes of a table: its page, its stream, its text, and actions."""

from collections.abc import Sequence
from functools import partial

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from croupier.core.linear import linear_text
from croupier.core.presentation import UnknownAction
from croupier.net.rate_limiter import RateLimiter
from croupier.web.render import json_response, request_locale, wants_json
from croupier.web.seating import Seating
from croupier.web.seats import StaleVersion
from croupier.web.security import count_action, read_form
from croupier.web.site import Site
from croupier.web.streams import FeedStream
from croupier.web.tables import SeatedTable, Tables


class TableRoutes:
    """Shows a table to the session that sits there, and takes its actions."""

    def __init__(self, seating: Seating, tables: Tables, site: Site) -> None:
        self._seating = seating
        self._tables = tables
        self._site = site
        self._acts = RateLimiter(site.config.max_acts_per_second, 1.0)
        self.routes: Sequence[BaseRoute] = [
            Route("/tables/{id}", self.show),
            Route("/tables/{id}/act", self.act, methods=["POST"]),
            Route("/tables/{id}/leave", self.leave, methods=["POST"]),
            Route("/tables/{id}/text", self.text),
            Route("/tables/{id}/events", self.events),
        ]

    async def show(self, request: Request) -> Response:
        """Show the table with all its parts."""
        table = self._find(request)
        return self._site.renderer.page(request, "table.html", **table.page.context(table.seat.feed.snapshot))

    async def act(self, request: Request) -> Response:
        """Do an action: answered with the new envelope, or with a redirect to the page without JavaScript."""
        form = await read_form(request)
        table = self._find(request)
        count_action(self._acts, table.session)
        try:
            is_answered = await table.seat.submit(
                form.get("act", ""), parse_amount(form.get("amount")), form.get("version", "")
            )
        except StaleVersion:
            return self._answer(request, table, 409)
        except UnknownAction:
            raise HTTPException(400) from None
        return self._answer(request, table, 200 if is_answered else 202)

    async def leave(self, request: Request) -> Response:
        """Leave the table, and go back to the lobby."""
        await read_form(request)
        seat = self._find(request).seat
        seat.leave()
        seat.publish_now()
        return RedirectResponse("/", 303)

    async def text(self, request: Request) -> Response:
        """Show the table as lines of text, for screen readers and text browsers."""
        return self._site.renderer.text(request, linear_text(self._find(request).seat.feed.snapshot.view))

    async def events(self, request: Request) -> Response:
        """Stream the table: its current version, unless the browser has it, and every newer one."""
        table = self._find(request)
        begin, end = partial(self._tables.keep, table), partial(self._tables.release, table)
        return FeedStream(self._site.streams, table.seat.feed, request, begin, end)

    def _find(self, request: Request) -> SeatedTable:
        """Return the table of the path. Raises HTTPException if the visitor has no seat there."""
        table = self._seating.find(request.path_params["id"], request.state.visitor, request.state.csrf)
        if table is None:
            raise HTTPException(404)
        return table

    def _answer(self, request: Request, table: SeatedTable, status: int) -> Response:
        """Answer an action: scripts ask for JSON, browsers without them are sent back to the page."""
        if not wants_json(request):
            if status == 409:
                return self._site.renderer.error(request, 409)
            return RedirectResponse(f"/tables/{table.page.id}", 303)
        return json_response(table.seat.feed.envelope(request_locale(request)), status)


def parse_amount(value: str | None) -> int | None:
    """Return the whole number in a field of a form, None if it is missing. Raises HTTPException for anything else."""
    if value is None or value == "":
        return None
    if not (value.isascii() and value.isdecimal() and len(value) <= 15):
        raise HTTPException(400)
    return int(value)
