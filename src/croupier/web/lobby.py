"""The routes of the lobby: its page, the list of public tables, their stream, and taking a seat."""

from collections.abc import Callable, Sequence

from msgspec.structs import asdict
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from croupier.core.presentation import Text, text
from croupier.core.session import Address
from croupier.net.client_addresses import address_key
from croupier.net.rate_limiter import RateLimiter
from croupier.web.config import WebConfig
from croupier.web.cookies import Visitor
from croupier.web.holdem_seat import SeatRefused
from croupier.web.live_lobby import LiveLobby
from croupier.web.locales import translator
from croupier.web.render import json_response, request_locale, wants_json
from croupier.web.seating import Seating
from croupier.web.security import count_action, read_form
from croupier.web.site import Site
from croupier.web.streams import FeedStream
from croupier.web.tables import Tables, TooManySeats
from croupier.web.watching import PublicTable

FORWARDED = ("forwarded", "x-forwarded-for")


class LobbyRoutes:
    """Shows the rooms, and seats people in them."""

    def __init__(self, seating: Seating, tables: Tables, lobby: LiveLobby, site: Site) -> None:
        self._seating = seating
        self._tables = tables
        self._lobby = lobby
        self._site = site
        self._new_sessions = RateLimiter(site.config.new_sessions_per_minute, 60.0)
        self.routes: Sequence[BaseRoute] = [
            Route("/", self.show),
            Route("/watch", self.watch),
            Route("/lobby/events", self.events),
            Route("/play", self.play, methods=["POST"]),
        ]

    async def show(self, request: Request) -> Response:
        """Show the rooms, and the visitor's own tables."""
        own = self._seating.own_pages(request.state.visitor, request.state.csrf)
        return self._site.renderer.page(request, "lobby.html", **asdict(self._lobby.refresh()), own_tables=own)

    async def watch(self, request: Request) -> Response:
        """Show the public tables: as a page, or as JSON for a program."""
        if wants_json(request):
            t = translator(request_locale(request))
            tables = self._lobby.refresh().tables
            return json_response([listed_table(table, t) for table in tables], 200)
        return self._site.renderer.page(request, "watch.html", **asdict(self._lobby.refresh()))

    async def events(self, request: Request) -> Response:
        """Stream the numbers of players and the public tables."""
        lobby = self._lobby
        return FeedStream(self._site.streams, lobby.feed, request, begin=lobby.follow, gives_way=True)

    async def play(self, request: Request) -> Response:
        """Take a seat in a room."""
        form = await read_form(request)
        entry = self._seating.playable(form.get("room", ""))
        if entry is None:
            raise HTTPException(404)
        visitor: Visitor = request.state.visitor
        address = client_address(request, self._site.config)
        if not self._tables.has_seats(visitor.session):  # then it is a new one
            count_action(self._new_sessions, address_key(address[0]))
        if self._tables.is_halted or entry.open_room.unavailable_reason is not None:
            return self._site.renderer.error(request, 503, text("No games can be played here now. Try again later."))
        try:
            self._tables.check_free(visitor.session)
            table = await self._seating.take(entry, visitor, address, request.state.csrf, form.get("table"))
        except TooManySeats:
            detail = text(
                "You sit at {count} tables already. Leave one of them first.", count=self._site.config.max_seats
            )
            return self._site.renderer.error(request, 429, detail)
        except SeatRefused as refusal:
            return self._site.renderer.error(request, 409, refusal.reason)
        return RedirectResponse(f"/tables/{table.page.id}", 303)


def listed_table(table: PublicTable, t: Callable[[Text], str]) -> dict[str, object]:
    """Return a public table for programs, with texts in the language of `t`."""
    note = "" if table.note is None else t(table.note)
    return {"id": table.id, "room": table.room, "title": t(table.title), "players": table.players, "note": note}


def client_address(request: Request, config: WebConfig) -> Address:
    """Return the address of the browser, which a trusted proxy may name."""
    host, port = request.client or ("", 0)
    if host in config.proxies:
        lines = [[value.encode("latin-1") for value in request.headers.getlist(name)] for name in FORWARDED]
        return config.proxies.client_address(host, *lines), 0
    return host, port
