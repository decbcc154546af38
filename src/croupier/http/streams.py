"""Streams of a game's changes, and the limit on streams and long polls (ruling H9)."""

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
    """Format of a stream: its media type, how an event is encoded, and the heartbeat."""

    media_type: bytes
    format_event: Callable[[int, bytes], bytes]
    heartbeat: bytes

    @property
    def response_start(self) -> dict[str, Any]:
        """The ASGI message that begins the response."""
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
"""Server-sent events (WHATWG HTML, 9.2). The id of an event is the version of the game."""

NDJSON_STREAM = StreamFormat(b"application/x-ndjson", lambda _, text: b"%s\n" % text, b"\n")
"""One game per line; an empty line as heartbeat."""


class SubscriberLimit:
    """Limits the number of streams and long polls: `max_total`, and `max_per_client` for one user or one address."""

    def __init__(self, max_total: int, max_per_client: int) -> None:
        self.max_total = max_total
        self.max_per_client = max_per_client
        self.count = 0
        self._count_by_client: Counter[str] = Counter()

    def refusal_reason(self, client: str) -> str | None:
        """Why a client may not have another one; None if it may."""
        if self.count >= self.max_total:
            return f"found {self.count} streams; allowed: {self.max_total} at the same time"
        if self._count_by_client[client] >= self.max_per_client:
            return f"found {self.max_per_client} streams of {client}; allowed: {self.max_per_client} at the same time"
        return None

    @contextmanager
    def reserve(self, client: str) -> Iterator[None]:
        """Count one stream or long poll for the duration of the context."""
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
    """A task that is done when the client disconnects."""

    async def wait_disconnected() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    task = asyncio.get_running_loop().create_task(wait_disconnected())
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
    may_continue: Callable[[], Awaitable[bool]],
    is_open: Callable[[], bool],
    heartbeat_seconds: float,
    receive: Receive,
    send: SendChunk,
) -> None:
    """Send a game's current state, and again after every change, until the game or the service ends.

    The stream awaits `may_continue` before each event, and ends if that returns False.

    Slow readers skip versions: each event is the newest one. A version that the client already has (`since`) is not
    sent again. A heartbeat is sent after every `heartbeat_seconds` without a change.
    """
    with watch_disconnect(receive) as disconnected:
        await send(stream_format.response_start)
        quiet = False
        while not disconnected.done():
            if not await may_continue():
                break
            view, version = game.view_for(user), game.version
            if version != since:
                await send(_body_chunk(stream_format.format_event(version, view.body.rstrip(b"\n"))))
                since, quiet = version, False
            elif quiet:
                await send(_body_chunk(stream_format.heartbeat))
            if not is_open():
                break
            if version == game.version:
                quiet = True
                await game.wait_for_change(heartbeat_seconds, disconnected)
        await send({"type": "http.response.body", "body": b""})


def _body_chunk(data: bytes) -> dict[str, Any]:
    return {"type": "http.response.body", "body": data, "more_body": True}
