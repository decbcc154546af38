"""The routes of the replay: the list of records, and a record step by step."""

from collections.abc import Iterator, Sequence

from msgspec import Struct
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from croupier.conformance.resources import transcripts
from croupier.core.presentation import Text, text, verbatim
from croupier.rooms import ROOMS
from croupier.web.feed import Envelope
from croupier.web.render import Renderer, json_response, render_parts, request_locale, translator, wants_json
from croupier.web.replay_page import ReplayPage
from croupier.web.transcript_replay import transcript_page

PARTS = ("felt", "steps", "wire")
"""The parts of a replay that are replaced at each step."""


class Record(Struct, frozen=True):
    """A record that can be replayed. `steps` is the number of its messages or moves."""

    room: str
    id: str
    title: str
    steps: int


class RecordGroup(Struct, frozen=True):
    """Records that belong together."""

    title: Text
    records: Sequence[Record]


class RoomName(Struct, frozen=True):
    """A room as the parts of a table need it: it need not be open on this server."""

    name: str
    title: Text


class ReplayRoutes:
    """Shows records step by step."""

    def __init__(self, renderer: Renderer) -> None:
        self._renderer = renderer

    @property
    def routes(self) -> Sequence[BaseRoute]:
        """The routes."""
        return [Route("/replay", self.list_records), Route("/replay/{room}/{id}", self.show_transcript)]

    async def list_records(self, request: Request) -> Response:
        """List what can be replayed."""
        return self._renderer.page(request, "replays.html", groups=[*_transcript_groups()])

    async def show_transcript(self, request: Request) -> Response:
        """Show a transcript at a step."""
        return self._show(request, transcript_page(request.path_params["room"], request.path_params["id"]))

    def _show(self, request: Request, page: ReplayPage | None) -> Response:
        """Show a record at the step of the query: as a page, or its parts for the script."""
        if page is None:
            raise HTTPException(404)
        step = _step(request, len(page.moments))
        context = {**page.context(step), "room": RoomName(page.room, verbatim(ROOMS[page.room].title))}
        if not wants_json(request):
            return self._renderer.page(request, "replay.html", **context)
        locale = request_locale(request)
        note = page.note(step)
        say = "" if note is None else translator(locale)(note)
        return json_response(Envelope(str(step), render_parts(PARTS, locale, context), say, None), 200)


def _step(request: Request, last: int) -> int:
    """Return the step of the query, 0 without one. Raises HTTPException if the record has no such step."""
    value = request.query_params.get("step", "0")
    if not (value.isascii() and value.isdecimal() and len(value) < 10 and int(value) <= last):
        raise HTTPException(404)
    return int(value)


def _transcript_groups() -> Iterator[RecordGroup]:
    """Yield the transcripts of each room, if the protocol pages are installed."""
    for name, room in ROOMS.items():
        try:
            found = transcripts(name)
        except ValueError:
            continue
        records = [Record(name, each.name, each.title, sum(line.kind in "<>" for line in each.lines)) for each in found]
        yield RecordGroup(text("Transcripts: {room}", room=room.title), records)
