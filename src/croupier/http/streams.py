"""A game as it goes on: somebody waits for its next change, or is sent every one of them (ruling H9)."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

from msgspec import Struct

from croupier.http.views import GameViewCache

type Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
type SendChunk = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class StreamFormat(Struct, frozen=True):
    """How a stream is spelt: its type, what is sent of a version, and what is sent when nothing happens."""

    media_type: bytes
    format_event: Callable[[int, bytes], bytes]
    heartbeat: bytes

    @property
    def response_start(self) -> dict[str, Any]:
        """How the response begins."""
        headers = [
            (b"content-type", self.media_type),
            (b"cache-control", b"no-store"),
            (b"vary", b"authorization, accept"),
        ]
        return {"type": "http.response.start", "status": 200, "headers": headers}


EVENT_STREAM = StreamFormat(
    b"text/event-stream",
    lambda version, text: b"id: %d\ndata: %s\n\n" % (version, text),
    b": nothing new\n\n",
)
"""Server-sent events (WHATWG HTML, 9.2); the id of an event is the version of the game."""

NDJSON_STREAM = StreamFormat(b"application/x-ndjson", lambda _, text: b"%s\n" % text, b"\n")
"""A game a line; an empty line when nothing happens."""


class SubscriberLimit:
    """How many streams and long polls there are: `most` of them, `each` for one user or for one address."""

    def __init__(self, max_total: int, max_per_client: int) -> None:
        self.max_total = max_total
        self.max_per_client = max_per_client
        self.count = 0
        self._count_by_client: Counter[str] = Counter()

    def refusal_reason(self, client: str) -> str:
        """Why there is no place for another one, empty where there is one."""
        if self.count >= self.max_total:
            return f"found {self.count} streams; allowed: {self.max_total} at the same time"
        if self._count_by_client[client] >= self.max_per_client:
            return f"found {self.max_per_client} streams of {client}; allowed: {self.max_per_client} at the same time"
        return ""

    @contextmanager
    def reserve(self, client: str) -> Iterator[None]:
        """Take a place for as long as it lasts."""
        self.count += 1
        self._count_by_client[client] += 1
        try:
            yield
        finally:
            self.count -= 1
            self._count_by_client[client] -= 1
            if not self._count_by_client[client]:
                del self._count_by_client[client]


@contextmanager
def watch_disconnect(receive: Receive) -> Iterator[asyncio.Task[None]]:
    """A task that is done when whoever has asked is gone."""

    async def gone() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    task = asyncio.get_running_loop().create_task(gone())
    try:
        yield task
    finally:
        task.cancel()


async def stream_game(
    game: GameViewCache,
    user: str | None,
    stream_format: StreamFormat,
    since: int | None,
    *,
    wait_ready: Callable[[], Awaitable[bool]],
    is_open: Callable[[], bool],
    heartbeat_seconds: float,
    receive: Receive,
    send: SendChunk,
) -> None:
    """Send a game as it is, and whenever it has changed, for as long as it and the service go on.

    Before anything is sent, the stream waits until all is `ready`; where that fails, it ends.

    Whoever reads slowly is sent what is newest when he has read; what lies between is left out. A version that he has
    already (`since`) is not sent again. Every `alive` seconds without news he hears that the stream still lives.
    """
    with watch_disconnect(receive) as gone:
        await send(stream_format.response_start)
        quiet = False
        while not gone.done():
            if not await wait_ready():
                break
            shown, version = game.view_for(user), game.table.version
            if version != since:
                await send(_body_chunk(stream_format.format_event(version, shown.body.rstrip(b"\n"))))
                since, quiet = version, False
            elif quiet:
                await send(_body_chunk(stream_format.heartbeat))
            if not is_open():
                break
            if version == game.table.version:
                quiet = True
                await game.wait_for_change(heartbeat_seconds, gone)
        await send({"type": "http.response.body", "body": b""})


def _body_chunk(data: bytes) -> dict[str, Any]:
    return {"type": "http.response.body", "body": data, "more_body": True}
