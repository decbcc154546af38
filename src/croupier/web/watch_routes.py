"""The routes for watching: a table as everybody sees it, its stream, and its text."""

from collections.abc import Iterator, Sequence

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from croupier.core.linear import linear_text
from croupier.net.endpoint import Endpoint
from croupier.web.holdem_watching import PublicHoldem
from croupier.web.house_watching import PublicHouse, WatchedHouse
from croupier.web.oldmaid_watching import PublicOldMaid
from croupier.web.render import TablePage
from croupier.web.rooms import OldMaidGames, RoomEntry, holdem_service, room_view
from croupier.web.site import Site
from croupier.web.streams import FeedStream
from croupier.web.watching import PublicTable, WatchableRoom, WatchedTable, WatchedTables


class WatchRoutes:
    """Shows the public tables of all rooms, `watch_delay_seconds` late. Shared tables are listed first."""

    def __init__(self, entries: Sequence[RoomEntry], site: Site) -> None:
        self._site = site
        self._rooms = sorted(watchable_rooms(entries), key=lambda room: isinstance(room, PublicHouse))
        self._tables = WatchedTables(
            self._rooms, lambda entry, table: site.renderer.table(_page(entry, table)), site.config.watch_delay_seconds
        )
        self.routes: Sequence[BaseRoute] = [
            Route("/watch/{id}", self.show),
            Route("/watch/{id}/text", self.text),
            Route("/watch/{id}/events", self.events),
        ]

    def public_tables(self) -> list[PublicTable]:
        """Return the tables that anybody can watch."""
        return [table for room in self._rooms for table in room.public_tables()]

    def close(self) -> None:
        """End all streams."""
        self._tables.close()

    async def show(self, request: Request) -> Response:
        """Show a table as everybody sees it."""
        table, page = await self._find(request)
        delay = round(self._site.config.watch_delay_seconds)
        context = page.context(table.feed.snapshot) | {"csrf": request.state.csrf}
        return self._site.renderer.page(request, "table.html", is_watching=True, delay_seconds=delay, **context)

    async def text(self, request: Request) -> Response:
        """Show a table as lines of text."""
        table, _ = await self._find(request)
        return self._site.renderer.text(request, linear_text(table.feed.snapshot.view))

    async def events(self, request: Request) -> Response:
        """Stream a table: every version that is new to the browser."""
        table, _ = await self._find(request)
        return FeedStream(self._site.streams, table.feed, request)

    async def _find(self, request: Request) -> tuple[WatchedTable, TablePage]:
        """Return the table of the path. Raises HTTPException."""
        table_id = request.path_params["id"]
        watched = await self._tables.watch(table_id)
        if watched is None:
            raise HTTPException(404)
        entry, table = watched
        return table, _page(entry, table_id)


def watchable_rooms(entries: Sequence[RoomEntry]) -> Iterator[WatchableRoom]:
    """Yield the rooms whose tables can be watched."""
    for entry in entries:
        endpoint = entry.open_room
        if (service := holdem_service(entry)) is not None:
            yield PublicHoldem(entry, service)
        elif isinstance(endpoint, Endpoint) and isinstance(endpoint.session, OldMaidGames):
            yield PublicOldMaid(entry, endpoint)
        elif (house := WatchedHouse.of(entry.room, endpoint)) is not None:
            yield PublicHouse(entry, house)


def _page(entry: RoomEntry, table: str) -> TablePage:
    return TablePage(table, room_view(entry), csrf="")
