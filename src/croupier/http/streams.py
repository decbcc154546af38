"""A game as it goes on: somebody waits for its next change, or is sent every one of them (ruling H9)."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

from msgspec import Struct

from croupier.http.views import Page

type Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
type Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class Manner(Struct, frozen=True):
    """How a stream is spelt: its type, what is sent of a version, and what is sent when nothing happens."""

    content: bytes
    event: Callable[[int, bytes], bytes]
    alive: bytes

    @property
    def start(self) -> dict[str, Any]:
        """How the response begins."""
        headers = [
            (b"content-type", self.content),
            (b"cache-control", b"no-store"),
            (b"vary", b"authorization, accept"),
        ]
        return {"type": "http.response.start", "status": 200, "headers": headers}


EVENTS = Manner(
    b"text/event-stream",
    lambda version, text: b"id: %d\ndata: %s\n\n" % (version, text),
    b": nothing new\n\n",
)
"""Server-sent events (WHATWG HTML, 9.2); the id of an event is the version of the game."""

LINES = Manner(b"application/x-ndjson", lambda _, text: b"%s\n" % text, b"\n")
"""A game a line; an empty line when nothing happens."""


class Crowd:
    """How many streams and long polls there are: `most` of them, `each` for one user or for one address."""

    def __init__(self, most: int, each: int) -> None:
        self.most = most
        self.each = each
        self.size = 0
        self._each: Counter[str] = Counter()

    def full(self, who: str) -> str:
        """Why there is no place for another one, empty where there is one."""
        if self.size >= self.most:
            return f"found {self.size} streams; allowed: {self.most} at the same time"
        if self._each[who] >= self.each:
            return f"found {self.each} streams of {who}; allowed: {self.each} at the same time"
        return ""

    @contextmanager
    def place(self, who: str) -> Iterator[None]:
        """Take a place for as long as it lasts."""
        self.size += 1
        self._each[who] += 1
        try:
            yield
        finally:
            self.size -= 1
            self._each[who] -= 1
            if not self._each[who]:
                del self._each[who]


@contextmanager
def departure(receive: Receive) -> Iterator[asyncio.Task[None]]:
    """A task that is done when whoever has asked is gone."""

    async def gone() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    task = asyncio.get_running_loop().create_task(gone())
    try:
        yield task
    finally:
        task.cancel()


async def stream(
    page: Page,
    user: str | None,
    manner: Manner,
    since: int | None,
    *,
    ready: Callable[[], Awaitable[bool]],
    goes_on: Callable[[], bool],
    alive: float,
    receive: Receive,
    send: Send,
) -> None:
    """Send a game as it is, and whenever it has changed, for as long as it and the service go on.

    Before anything is sent, the stream waits until all is `ready`; where that fails, it ends.

    Whoever reads slowly is sent what is newest when he has read; what lies between is left out. A version that he has
    already (`since`) is not sent again. Every `alive` seconds without news he hears that the stream still lives.
    """
    with departure(receive) as gone:
        await send(manner.start)
        quiet = False
        while not gone.done():
            if not await ready():
                break
            shown, version = page.shown(user), page.table.version
            if version != since:
                await send(_part(manner.event(version, shown.text.rstrip(b"\n"))))
                since, quiet = version, False
            elif quiet:
                await send(_part(manner.alive))
            if not goes_on():
                break
            if version == page.table.version:
                quiet = True
                await page.news(alive, gone)
        await send({"type": "http.response.body", "body": b""})


def _part(data: bytes) -> dict[str, Any]:
    return {"type": "http.response.body", "body": data, "more_body": True}
