"""A web app with houses, and a browser without a page: cookies and forms of httpx, and streams."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Coroutine, MutableMapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Self

import httpx
from starlette.applications import Starlette
from starlette.types import Receive, Send

from croupier.core.cards import Order
from croupier.core.dealer import dealer_factory
from croupier.core.hall import Hall
from croupier.core.logger import SilentLogger
from croupier.core.room import HouseRoom
from croupier.core.session import Observer, Timeouts
from croupier.net.endpoint import Endpoint, EndpointLimits
from croupier.rooms.kuhn import ROOM as KUHN
from croupier.web.app import close, create_app, wait_closed
from croupier.web.config import WebConfig
from croupier.web.cookies import SigningKeys
from croupier.web.records import Records
from croupier.web.rooms import RoomEntry
from tests.net.raw_client import TIMEOUT_SECONDS

KEYS = SigningKeys([bytes(32)])
LOOK_SECONDS = 0.01
"""The pause between two looks at a table or a page: to render it takes almost as long."""


def house(
    room: HouseRoom,
    decks: Sequence[Order] = (),
    /,
    *,
    limits: EndpointLimits = EndpointLimits(),
    observers: Sequence[Observer] = (),
    **settings: Any,
) -> RoomEntry:
    """A house that deals these decks, or else from a fixed seed."""
    chosen = room.settings(**settings)
    dealers = dealer_factory(lambda table: b"%032d" % table, b"", decks, shared=False)
    hall = Hall(room.house(chosen, Timeouts(), False), dealers, Timeouts().shortest)
    codec = partial(room.codec, False, chosen)
    endpoint = Endpoint(hall, codec, SilentLogger(), limits=limits, refusal=room.refusal_messages, observers=observers)
    return RoomEntry(room, chosen, endpoint)


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
        if found := re.search(r'id="table" [^>]*data-version="([^"]+)"', response.text):
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
                await asyncio.sleep(LOOK_SECONDS)
        return page

    async def act(self, action: str, **fields: str) -> httpx.Response:
        """Act as the script of the page does."""
        form = {"version": self.version, "act": action, **fields}
        response = await self.post(f"{self.table}/act", form, accept="application/json")
        if response.status_code == 200:
            self.version = response.json()["version"]
        return response

    async def act_now(self, action: str) -> None:
        """Load the table as it is now, and do an action that it accepts."""
        await self.get(self.table)
        assert (await self.act(action)).status_code == 200


class Viewer:
    """The browser's end of a stream: what it has been sent, and whether it reads."""

    def __init__(self, start: Callable[[Receive, Send], Coroutine[Any, Any, None]]) -> None:
        self.messages: list[MutableMapping[str, Any]] = []
        self.reads = asyncio.Event()
        self.reads.set()
        self._gone = asyncio.Event()
        self._arrived = asyncio.Event()
        self.task = asyncio.ensure_future(start(self._receive, self._send))

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.messages)

    async def wait_for(self, text: bytes) -> None:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while text not in self.body:
                self._arrived.clear()
                await self._arrived.wait()

    async def leave(self) -> None:
        self._gone.set()
        await self.task

    async def _receive(self) -> MutableMapping[str, Any]:
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: MutableMapping[str, Any]) -> None:
        await self.reads.wait()
        self.messages.append(message)
        self._arrived.set()


@asynccontextmanager
async def stream(app: Starlette, browser: Browser, path: str = "", **headers: str) -> AsyncIterator[Viewer]:
    """Open a stream as uvicorn would: that of a browser's table, unless there is a path."""
    cookies = "; ".join(f"{name}={value}" for name, value in browser.client.cookies.items())
    scope = {
        "type": "http",
        "method": "GET",
        "path": path or f"{browser.table}/events",
        "query_string": b"",
        "headers": [
            (name.encode(), value.encode())
            for name, value in {"host": "127.0.0.1", "cookie": cookies, **headers}.items()
        ],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8000),
        "scheme": "http",
        "http_version": "1.1",
        "root_path": "",
    }
    viewer = Viewer(partial(app, scope))
    try:
        yield viewer
    finally:
        await viewer.leave()


@asynccontextmanager
async def serve(
    *entries: RoomEntry,
    config: WebConfig = WebConfig(),
    records: Records | None = None,
    tournament: Path | None = None,
) -> AsyncIterator[Starlette]:
    """An app for these rooms; at the end it and its houses are closed."""
    app = create_app(entries, config, KEYS, records=records, tournament=tournament)
    try:
        yield app
    finally:
        close(app)
        await wait_closed(app)
        await asyncio.sleep(0)
        for entry in entries:
            if isinstance(entry.open_room, Endpoint):
                await entry.open_room.close()


@asynccontextmanager
async def web_app(
    decks: Sequence[Order] = (), config: WebConfig = WebConfig(), **options: Any
) -> AsyncIterator[tuple[Starlette, Endpoint]]:
    """An app with a house of Kuhn poker, and the endpoint of the house."""
    entry = house(KUHN, decks, **options)
    async with serve(entry, config=config) as app:
        yield app, entry.house.endpoint
