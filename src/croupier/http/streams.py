"""Streams of a game's changes (ruling H9)."""

from asyncio import Future
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
