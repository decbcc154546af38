"""The routes of the check page: starting the tester against a server, and following its run."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from msgspec import Struct
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from croupier.core.presentation import Text
from croupier.net.client_addresses import address_key, parse_ip_address
from croupier.net.rate_limiter import RateLimiter
from croupier.rooms import ROOMS
from croupier.web.check_targets import Asker, CheckTarget, TargetRefused, TargetRules, check_tls, resolve_target
from croupier.web.checks import STOPPED, CheckRun, Checks, TooManyRuns
from croupier.web.cookies import Visitor
from croupier.web.lobby import client_address
from croupier.web.render import download
from croupier.web.rooms import RoomEntry, RoomName, room_title
from croupier.web.security import count_action, read_form
from croupier.web.site import Site
from croupier.web.streams import FeedStream

REPORTS: Final = {"html": "text/html", "junit": "application/xml"}


MAX_CHECK_FORM_BYTES: Final = 16 << 10
"""A certificate authority needs more place than the fields of other forms."""


class CheckForm(Struct, frozen=True):
    """What was entered in the form; `authority` is the text of a certificate."""

    room: str = ""
    target: str = ""
    has_tls: bool = False
    authority: str = ""


class CheckRoutes:
    """Runs the tester for visitors, and shows each of them their own runs."""

    def __init__(self, entries: Sequence[RoomEntry], checks: Checks, site: Site) -> None:
        self._checks = checks
        self._site = site
        room_ports = {entry.address[1] for entry in entries if entry.address is not None}
        self._rules = TargetRules(site.config.check_networks, room_ports)
        self._limiter = RateLimiter(site.config.checks_per_minute, 60.0)
        self.routes: Sequence[BaseRoute] = [
            Route("/check", self.show_form),
            Route("/check", self.start, methods=["POST"]),
            Route("/check/{id}", self.show),
            Route("/check/{id}/events", self.events),
            Route("/check/{id}/stop", self.stop, methods=["POST"]),
            Route("/check/{id}/report.html", partial(self.download, kind="html", name="report.html")),
            Route("/check/{id}/junit.xml", partial(self.download, kind="junit", name="junit.xml")),
        ]

    async def show_form(self, request: Request) -> Response:
        """Show the form, and the visitor's runs."""
        return self._form(request, CheckForm())

    async def start(self, request: Request) -> Response:
        """Start a run, and go to its page; without one, show the form with the reason."""
        fields = await read_form(request, MAX_CHECK_FORM_BYTES)
        authority = fields.get("authority", "").strip()
        has_tls = "tls" in fields or bool(authority)
        form = CheckForm(fields.get("room", ""), fields.get("target", ""), has_tls, authority)
        if form.room not in ROOMS:
            raise HTTPException(400)
        room = ROOMS[form.room]
        visitor: Visitor = request.state.visitor
        client, _ = client_address(request, self._site.config)
        count_action(self._limiter, address_key(client))
        server, _ = request.scope.get("server") or ("", None)
        asker = Asker(parse_ip_address(client), parse_ip_address(server))
        try:
            self._checks.check_free(visitor.session)
            if form.has_tls:
                check_tls(room, form.authority)
            address, is_https = await resolve_target(form.target, room, asker, self._rules)
            target = CheckTarget(address, form.authority if form.has_tls or is_https else None)
            run = self._checks.start(visitor.session, request.state.csrf, room, target)
        except TooManyRuns as error:
            return self._form(request, form, error.reason, 429)
        except TargetRefused as error:
            return self._form(request, form, error.reason, 400)
        return RedirectResponse(f"/check/{run.id}", 303)

    async def show(self, request: Request) -> Response:
        """Show a run."""
        run = self._find(request)
        return self._site.renderer.page(request, "check_run.html", **run.context(run.feed.snapshot))

    async def events(self, request: Request) -> Response:
        """Stream a run."""
        return FeedStream(self._site.streams, self._find(request).feed, request)

    async def stop(self, request: Request) -> Response:
        """Stop a run, and go back to its page."""
        await read_form(request)
        run = self._find(request)
        run.stop(STOPPED)
        await run.over.wait()
        return RedirectResponse(f"/check/{run.id}", 303)

    async def download(self, request: Request, kind: str, name: str) -> Response:
        """Download a report, one of the REPORTS, as a file with a name."""
        report = self._find(request).state.reports.get(kind)
        if report is None:
            raise HTTPException(404)
        return download(report, name, REPORTS[kind])

    def _find(self, request: Request) -> CheckRun:
        """Return the run of the path. Raises HTTPException if the visitor has no such run."""
        run = self._checks.find(request.path_params["id"], request.state.visitor.session)
        if run is None:
            raise HTTPException(404)
        return run

    def _form(self, request: Request, form: CheckForm, error: Text | None = None, status: int = 200) -> Response:
        return self._site.renderer.page(
            request,
            "check.html",
            status_code=status,
            rooms=[RoomName(name, room_title(ROOMS[name])) for name in ROOMS],
            values=form,
            error=error,
            runs=self._checks.of_session(request.state.visitor.session)[::-1],
        )
