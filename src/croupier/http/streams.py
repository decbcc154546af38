"""Streams of a game's changes, and the limit on streams and long polls (ruling H9)."""

from asyncio import Future
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from msgspec import Struct

from croupier.http.messages import Header
from croupier.http.views import GameViewCache


class StreamFormat(Struct, frozen=True):
    """Format of a stream: its media type, how an event is encoded, and the heartbeat."""

    media_type: bytes
    format_event: Callable[[int, bytes], bytes]
    heartbeat: bytes

    @property
    def headers(self) -> Sequence[Header]:
        """The headers of the response."""
        return [
            (b"content-type", self.media_type),
            (b"cache-control", b"no-store"),
            (b"vary", b"authorization, accept"),
        ]


EVENT_STREAM: Final = StreamFormat(
    b"text/event-stream",
    lambda version, text: b"id: %d\ndata: %s\n\n" % (version, text),
    b": nothing new\n\n",
)
"""Server-sent events (WHATWG HTML, 9.2). The id of an event is the version of the game."""

NDJSON_STREAM: Final = StreamFormat(b"application/x-ndjson", lambda _, text: b"%s\n" % text, b"\n")
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

    def add(self, client: str) -> None:
        """Count one more stream or long poll."""
        self.count += 1
        self._count_by_client[client] += 1

    def remove(self, client: str) -> None:
        """Count one less."""
        self.count -= 1
        self._count_by_client[client] -= 1
        if not self._count_by_client[client]:
            del self._count_by_client[client]


class GameStream:
    """A game's current state, and again after every change, until the game or the service ends (`is_open`).

    Slow readers skip versions: each event is the newest one. A version that the client already has (`since`) is not
    sent again. A heartbeat is sent after every `heartbeat_seconds` without a change. Before each event the stream waits
    for `may_continue`, and ends if that returns False.
    """

    def __init__(
        self,
        game: GameViewCache,
        user: str | None,
        stream_format: StreamFormat,
        since: int | None,
        *,
        may_continue: Callable[[], Awaitable[bool]],
        is_open: Callable[[], bool],
        close: Callable[[], None],
        heartbeat_seconds: float,
        disconnected: Future[None],
    ) -> None:
        self.close = close
        self._game = game
        self._user = user
        self._format = stream_format
        self._since = since
        self._may_continue = may_continue
        self._is_open = is_open
        self._heartbeat_seconds = heartbeat_seconds
        self._disconnected = disconnected
        self._has_begun = False

    async def next_piece(self) -> bytes | None:
        """Wait for the next event or heartbeat; None at the end."""
        game, has_waited = self._game, False
        while True:
            if self._has_begun:
                if not self._is_open():
                    return None
                if self._since == game.version:
                    await game.wait_for_change(self._heartbeat_seconds, self._disconnected)
                    has_waited = True
            self._has_begun = True
            if self._disconnected.done() or not await self._may_continue():
                return None
            view, version = game.view_for(self._user), game.version
            if version != self._since:
                self._since = version
                return self._format.format_event(version, view.body.rstrip(b"\n"))
            if has_waited:
                return self._format.heartbeat
