"""The routes for watching: a table as everybody sees it, its stream, and its text."""

import asyncio
from collections.abc import Sequence

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from croupier.core.linear import linear_text
from croupier.rooms.holdem.wire import Guid
from croupier.web.config import WebConfig
from croupier.web.feed import Envelope, RenderEnvelope, Snapshot
from croupier.web.render import Renderer, TablePage
from croupier.web.rooms import RoomEntry, holdem_service, room_view
from croupier.web.streams import FeedStream, Streams
from croupier.web.watching import PublicTable, WatchedTable, WatchedTables, public_tables


class WatchRoutes:
    """Shows the public tables of hold'em, `watch_delay_seconds` late."""

    def __init__(self, entries: Sequence[RoomEntry], streams: Streams, renderer: Renderer, config: WebConfig) -> None:
        self._streams = streams
        self._renderer = renderer
        self._config = config
        self._loop = asyncio.get_running_loop()
        self._entry = next((entry for entry in entries if holdem_service(entry) is not None), None)
        service = None if self._entry is None else holdem_service(self._entry)
        self._service = service
        self._tables = None if service is None else WatchedTables(service, config.watch_delay_seconds)

    @property
    def routes(self) -> Sequence[BaseRoute]:
        """The routes."""
        return [
            Route("/watch/{id}", self.show),
            Route("/watch/{id}/text", self.text),
            Route("/watch/{id}/events", self.events),
        ]

    def public_tables(self) -> list[PublicTable]:
        """Return the tables that anybody can watch."""
        if self._service is None or self._entry is None:
            return []
        return public_tables(self._service, room_view(self._entry).title)

    def close(self) -> None:
        """End all streams."""
        if self._tables is not None:
            self._tables.close()

    async def show(self, request: Request) -> Response:
        """Show a table as everybody sees it."""
        table, page = self._find(request)
        delay = round(self._config.watch_delay_seconds)
        context = page.context(table.feed.snapshot) | {"csrf": request.state.csrf}
        return self._renderer.page(request, "table.html", is_watching=True, delay_seconds=delay, **context)

    async def text(self, request: Request) -> Response:
        """Show a table as lines of text."""
        table, _ = self._find(request)
        return self._renderer.text(request, linear_text(table.feed.snapshot.view))

    async def events(self, request: Request) -> Response:
        """Stream a table: every version that is new to the browser."""
        table, _ = self._find(request)
        return FeedStream(self._streams, table.feed, request)

    def _find(self, request: Request) -> tuple[WatchedTable, TablePage]:
        """Return the table of the path. Raises HTTPException."""
        game = request.path_params["id"]
        table = None if self._tables is None else self._tables.watch(game, self._render_for)
        if table is None or self._entry is None:
            raise HTTPException(404)
        return table, self._page(game)

    def _page(self, game: Guid) -> TablePage:
        assert self._entry is not None, "only hold'em has public tables"
        return TablePage(game, room_view(self._entry), csrf="")

    def _render_for(self, game: Guid) -> RenderEnvelope:
        page = self._page(game)

        def render(snapshot: Snapshot, locale: str) -> Envelope:
            return self._renderer.envelope(page, snapshot, locale, self._loop.time())

        return render
