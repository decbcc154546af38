"""A table whose server does what a test says: views, refusals and events of its stream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from croupier.core.presentation import TableView
from tests.web.browser.gallery import HEADERS, make_environment, static_routes
from tests.web.samples import FRAMES, KUHN, room

PARTS: Final = ("felt", "acts", "wire")
POLL_SECONDS: Final = 0.01


@dataclass(frozen=True)
class Answer:
    """An answer to an action: the next view, or a status that refuses it."""

    view: TableView | None = None
    say: str = ""
    status: int = 200


class ScriptedTable:
    """A table with one browser. The test sets `answers` to its next actions, and finds what it sent in `forms`."""

    def __init__(self) -> None:
        self.address = ""
        self.room = "kuhn"
        self.instance = "7f"
        self.number = 1
        self.view = KUHN
        self.say = ""
        self.answers: list[Answer] = []
        self.forms: list[dict[str, str]] = []
        self.are_answers_held = False
        self.events: list[str] = []
        """Events that end the stream, in order."""
        self.opened_streams = 0
        self.is_gone = False
        self._environment = make_environment()
        self.app = Starlette(
            routes=[
                Route("/tables/t", self._show, methods=["GET", "HEAD"]),
                Route("/tables/t/act", self._act, methods=["POST"]),
                Route("/tables/t/events", self._stream),
                *static_routes(),
            ]
        )

    @property
    def version(self) -> str:
        """The version of the current view."""
        return f"{self.instance}-{self.number}"

    def publish(self, view: TableView, say: str = "") -> None:
        """Let the stream send a new view."""
        self.view, self.say, self.number = view, say, self.number + 1

    def _context(self) -> dict[str, Any]:
        return {
            "table": self.view,
            "frames": FRAMES,
            "id": "t",
            "version": self.version,
            "room": room(self.room),
            "theme": "auto",
            "rooms": [],
        }

    def _envelope(self) -> bytes:
        context = self._context()
        parts = {name: self._environment.get_template(f"parts/{name}.html").render(context) for name in PARTS}
        envelope = {"version": self.version, "parts": parts, "say": self.say, "deadline": self.view.deadline}
        return msgspec.json.encode(envelope)

    async def _show(self, request: Request) -> Response:
        if self.is_gone:
            return Response(status_code=404)
        return HTMLResponse(self._environment.get_template("table.html").render(self._context()), headers=HEADERS)

    async def _act(self, request: Request) -> Response:
        form = (await request.body()).decode()
        self.forms.append(dict(pair.split("=", 1) for pair in form.split("&")))
        while self.are_answers_held:
            await asyncio.sleep(POLL_SECONDS)
        answer = self.answers.pop(0)
        if answer.view is not None:
            self.publish(answer.view, answer.say)
        if "application/json" not in request.headers["accept"]:
            return RedirectResponse("/tables/t", 303)
        if answer.status not in {200, 409}:
            return Response("<p>refused</p>", answer.status, media_type="text/html")
        return Response(self._envelope(), answer.status, media_type="application/json")

    async def _stream(self, request: Request) -> Response:
        if self.is_gone:
            return Response(status_code=404)
        self.opened_streams += 1
        return StreamingResponse(self._send(request.query_params["since"]), media_type="text/event-stream")

    async def _send(self, version: str) -> AsyncIterator[str]:
        yield "retry: 20\n\n"
        while not self.events:
            if version != self.version:
                version = self.version
                yield f"id: {version}\nevent: table\ndata: {self._envelope().decode()}\n\n"
            await asyncio.sleep(POLL_SECONDS)
        if event := self.events.pop(0):
            yield f"event: {event}\ndata: \n\n"
