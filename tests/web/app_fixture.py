"""A web app with houses, and a browser without a page: cookies, forms and streams of httpx."""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Self

import httpx
from starlette.applications import Starlette

from croupier.core.cards import Order
from croupier.core.dealer import dealer_factory
from croupier.core.hall import Hall
from croupier.core.logger import SilentLogger
from croupier.core.room import HouseRoom
from croupier.core.session import Timeouts
from croupier.net.endpoint import Endpoint, EndpointLimits
from croupier.rooms.kuhn import ROOM as KUHN
from croupier.web.app import close, create_app, wait_closed
from croupier.web.config import WebConfig
from croupier.web.cookies import SigningKeys
from croupier.web.rooms import RoomEntry
from tests.net.raw_client import TIMEOUT_SECONDS

KEYS = SigningKeys([bytes(32)])


def house(
    room: HouseRoom, decks: Sequence[Order] = (), *, limits: EndpointLimits = EndpointLimits(), **settings: Any
) -> RoomEntry:
    """A house that deals these decks, or else from a fixed seed."""
    chosen = room.settings(**settings)
    dealers = dealer_factory(lambda table: b"%032d" % table, b"", decks, shared=False)
    hall = Hall(room.house(chosen, Timeouts(), False), dealers, Timeouts().shortest)
    codec = partial(room.codec, False, chosen)
    return RoomEntry(room, chosen, Endpoint(hall, codec, SilentLogger(), limits=limits, refusal=room.refusal_messages))


class Browser:
    """A browser that knows its cookies, the token of its forms, and the version of its table."""

    def __init__(self, app: Starlette, **headers: str) -> None:
        transport = httpx.ASGITransport(app=app)
        self.client = httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000", headers=headers)
        self.csrf = ""
        self.table = ""
        self.version = ""

    @property
    def session(self) -> str:
        """The session id in the cookie."""
        return self.client.cookies["croupier"].partition(".")[0]

    async def get(self, path: str, **options: Any) -> httpx.Response:
        """Get a page, and note the token of its forms and the version of its table."""
        response = await self.client.get(path, **options)
        if found := re.search(r'name="csrf" value="([^"]+)"', response.text):
            self.csrf = found[1]
        if found := re.search(r'data-version="([^"]+)"', response.text):
            self.version = found[1]
        return response

    async def post(self, path: str, fields: dict[str, str] | None = None, **headers: str) -> httpx.Response:
        """Send a form with its token."""
        return await self.client.post(path, data={"csrf": self.csrf, **(fields or {})}, headers=headers)

    async def play(self, room: str = "kuhn") -> Self:
        """Open the lobby, sit down, and open the table: two clicks."""
        await self.get("/")
        response = await self.post("/play", {"room": room})
        assert response.status_code == 303, response.text
        self.table = response.headers["location"]
        assert (await self.get(self.table)).status_code == 200
        return self

    async def page_with(self, text: str) -> str:
        """Reload the table until its page has a text."""
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while text not in (page := (await self.get(self.table)).text):
                await asyncio.sleep(0)
        return page

    async def act(self, action: str, **fields: str) -> httpx.Response:
        """Act as the script of the page does."""
        form = {"version": self.version, "act": action, **fields}
        response = await self.post(f"{self.table}/act", form, accept="application/json")
        if response.status_code == 200:
            self.version = response.json()["version"]
        return response


@asynccontextmanager
async def serve(*entries: RoomEntry, config: WebConfig = WebConfig()) -> AsyncIterator[Starlette]:
    """An app for these houses; at the end everything is closed."""
    app = create_app(entries, config, KEYS)
    try:
        yield app
    finally:
        close(app)
        await wait_closed(app)
        await asyncio.sleep(0)
        for entry in entries:
            await entry.house.endpoint.close()


@asynccontextmanager
async def web_app(
    decks: Sequence[Order] = (), config: WebConfig = WebConfig(), **options: Any
) -> AsyncIterator[tuple[Starlette, Endpoint]]:
    """An app with a house of Kuhn poker, and the endpoint of the house."""
    entry = house(KUHN, decks, **options)
    async with serve(entry, config=config) as app:
        yield app, entry.house.endpoint
