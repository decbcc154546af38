"""The routes of the replay: the list of records, and a record step by step."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from urllib.parse import quote

from msgspec import Struct
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from croupier.conformance.resources import transcripts
from croupier.core.dealer import FAIR_DEALERS
from croupier.core.presentation import Text, text, verbatim
from croupier.rooms import ROOMS
from croupier.store.records import StoreUnavailable
from croupier.web.feed import Envelope
from croupier.web.locales import translator
from croupier.web.records import Record, Records
from croupier.web.render import Renderer, json_response, request_locale, wants_json
from croupier.web.replay_page import ReplayPage
from croupier.web.rooms import RoomName, room_title
from croupier.web.transcript_replay import transcript_page

MAX_NUMBER = 2**63 - 1
"""The largest number that a store has."""

PARTS = ("felt", "steps", "wire")
"""The parts of a replay that are replaced at each step."""


type FindPage = Callable[[Request], Awaitable[ReplayPage | None]]
"""Finds the replay of the record in a path, None if there is none. Raises HTTPException."""


class RecordGroup(Struct, frozen=True):
    """Records that belong together."""

    title: Text
    records: Sequence[Record]


class ReplayRoutes:
    """Shows records step by step. Only one transcript is played at a time."""

    def __init__(self, renderer: Renderer, records: Records) -> None:
        self._renderer = renderer
        self._records = records
        self._playing = asyncio.Lock()
        self.routes: Sequence[BaseRoute] = [
            Route("/replay", self.list_records),
            Route("/replay/{room}/{id}", partial(self.show, find=self._play_transcript)),
            Route("/replay/{room}/{id}/text", partial(self.text, find=self._play_transcript)),
            Route("/replay/{room}/{table}/{number:int}", partial(self.show, find=self._replay_game)),
            Route("/replay/{room}/{table}/{number:int}/text", partial(self.text, find=self._replay_game)),
            Route("/fair", self.verify),
            Route("/fair/{room}/{table}/{number:int}", self.verify),
        ]

    async def list_records(self, request: Request) -> Response:
        """List what can be replayed."""
        groups = [group for room in ROOMS if (group := await self._game_group(room)).records]
        return self._renderer.page(request, "replays.html", groups=[*groups, *_transcript_groups()])

    async def show(self, request: Request, find: FindPage) -> Response:
        """Show a record at the step of the query: as a page, or its parts for the script."""
        page = await find(request)
        if page is None:
            raise HTTPException(404)
        step = _step(request, len(page.moments))
        locale = request_locale(request)
        context = {
            **page.context(step, translator(locale)),
            "room": RoomName(page.room, verbatim(ROOMS[page.room].title)),
            "text_address": f"{quote(request.url.path)}/text",
        }
        if not wants_json(request):
            return self._renderer.page(request, "replay.html", **context)
        note = page.note(step)
        say = "" if note is None else translator(locale)(note)
        parts = self._renderer.parts(PARTS, locale, context)
        return json_response(Envelope(str(step), parts, say, None), 200)

    async def text(self, request: Request, find: FindPage) -> Response:
        """Show all steps of a record as lines of text."""
        page = await find(request)
        if page is None:
            raise HTTPException(404)
        return self._renderer.text(request, page.lines())

    async def verify(self, request: Request) -> Response:
        """Show the form that verifies a deal, with that of the game of the path if the dealer's record promised it."""
        deal = await self._read(request, self._records.deal) if request.path_params else None
        shown = deal if deal is not None and deal.algorithm in FAIR_DEALERS else None
        return self._renderer.page(request, "fair.html", deal=shown, algorithms=[*FAIR_DEALERS])

    async def _play_transcript(self, request: Request) -> ReplayPage | None:
        """Return the replay of the transcript of the path, None if there is none."""
        async with self._playing:
            return await asyncio.to_thread(transcript_page, request.path_params["room"], request.path_params["id"])

    async def _replay_game(self, request: Request) -> ReplayPage | None:
        """Return the replay of the recorded game of the path, None if there is none. Raises HTTPException."""
        return await self._read(request, self._records.replay)

    async def _read[T](self, request: Request, read: Callable[[str, str, int], Awaitable[T]]) -> T:
        """Read something about the game of the path. Raises HTTPException if there is no such room or no access."""
        room, table, number = (request.path_params[name] for name in ("room", "table", "number"))
        if room not in ROOMS or number > MAX_NUMBER:
            raise HTTPException(404)
        try:
            return await read(room, table, number)
        except (StoreUnavailable, OSError):
            raise HTTPException(503) from None

    async def _game_group(self, room: str) -> RecordGroup:
        """Return the latest recorded games of a room."""
        title = text("Games: {room}", room=room_title(ROOMS[room]))
        try:
            return RecordGroup(title, await self._records.latest(room))
        except StoreUnavailable:
            return RecordGroup(title, ())


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
        yield RecordGroup(text("Transcripts: {room}", room=room_title(room)), records)
