"""Streams of a game's changes (ruling H9)."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final

from msgspec import Struct

from croupier.http.messages import Header
from croupier.http.views import GameViewCache
from croupier.net.timer import DeadlineTimer, Timer


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


HELD_SECONDS: Final = 0.02
"""How long the state after a player's own act waits for the next change, so that both are one event."""


class GameStream:
    """A game's current state, and again after every change, until the game or the service ends (`is_open`).

    Slow readers skip versions: each event is the newest one. The state after the viewer's own act, when the hand goes
    on with somebody else, waits at most HELD_SECONDS for the next change: bots answer sooner, and one write is saved. A
    version that the client already has (`since`) is not sent again. A heartbeat is sent after every `heartbeat_seconds`
    without a change. Unless `is_confirmed` returns True, `confirm` decides before each event, and whenever the game
    wakes its waiters, whether the stream may continue.
    """

    def __init__(
        self,
        game: GameViewCache,
        user: str | None,
        stream_format: StreamFormat,
        since: int | None,
        *,
        is_open: Callable[[], bool],
        is_confirmed: Callable[[], bool],
        confirm: Callable[[], Coroutine[Any, Any, bool]],
        close: Callable[[], None],
        heartbeat_seconds: float,
    ) -> None:
        self._game = game
        self._user = user
        self._format = stream_format
        self._since = since
        self._is_open = is_open
        self._is_confirmed = is_confirmed
        self._confirm = confirm
        self._on_close = close
        self._heartbeat_seconds = heartbeat_seconds
        self._loop = asyncio.get_running_loop()
        self._on_news: Callable[[], None] = lambda: None  # until it is open
        self._confirmation: bool | None = None  # what `confirm` has decided; True holds for one event
        self._confirm_task: asyncio.Task[None] | None = None
        self._own_hand: int | None = None  # the finished hands at the table, if it was the viewer's turn when last sent
        self._held_version = 0
        self._held_until = 0.0
        self._hold_timer = DeadlineTimer(self._loop.time, self._on_hold_over)
        self._is_heartbeat_due = False
        self._sent_at = self._loop.time()
        self._heartbeat_timer = Timer()

    def open(self, on_news: Callable[[], None]) -> None:
        """Begin; see `Stream`."""
        self._on_news = on_news
        self._game.waiters.add(on_news)
        self._heartbeat_timer.set(self._heartbeat_seconds, self._on_heartbeat_timer)

    def take_piece(self) -> bytes | None:
        """Return the newest state or a heartbeat, if one is due; see `Stream`."""
        if self._confirmation is None and not self._is_confirmed():
            self._confirm_task = self._confirm_task or self._loop.create_task(self._run_confirm())
            return b""
        version = self._game.version
        has_changed = version != self._since and not self._is_held(version)
        if self._confirmation is False or not (has_changed or self._is_open()):
            return None
        if not (has_changed or self._is_heartbeat_due):
            return b""
        self._is_heartbeat_due, self._sent_at = False, self._loop.time()
        if not has_changed:
            return self._format.heartbeat
        self._since, self._own_hand = version, self._game.shown.finished_count if self._is_own_turn else None
        return self._format.format_event(version, self._game.view_for(self._user).body.rstrip(b"\n"))

    def close(self) -> None:
        """Release what the stream holds."""
        self._game.waiters.discard(self._on_news)
        self._hold_timer.stop()
        self._heartbeat_timer.cancel()
        if self._confirm_task is not None:
            self._confirm_task.cancel()
        self._on_close()

    @property
    def _is_own_turn(self) -> bool:
        """Whether the viewer is to act."""
        shown = self._game.shown
        return self._user is not None and shown.guids.get(self._user) == shown.public.turn.player_id

    def _is_held(self, version: int) -> bool:
        """Whether a state waits for the next change: the first after the viewer's turn, in the same hand."""
        shown = self._game.shown
        if (
            self._own_hand != shown.finished_count
            or self._since is None
            or version != self._since + 1
            or self._is_own_turn
            or not shown.public.turn.player_id
            or not self._is_open()
        ):
            return False
        now = self._loop.time()
        if self._held_version != version:
            self._held_version, self._held_until = version, now + HELD_SECONDS
        self._hold_timer.set(self._held_until)
        return now < self._held_until

    def _on_hold_over(self) -> None:
        self._on_news()

    async def _run_confirm(self) -> None:
        may_continue = False
        try:
            may_continue = await self._confirm()
        finally:
            self._confirm_task, self._confirmation = None, may_continue
            self._on_news()
            self._confirmation = None if may_continue else False

    def _on_heartbeat_timer(self) -> None:
        remaining = self._sent_at + self._heartbeat_seconds - self._loop.time()
        is_due = remaining <= 0
        self._heartbeat_timer.set(self._heartbeat_seconds if is_due else remaining, self._on_heartbeat_timer)
        if is_due:
            self._is_heartbeat_due = True
            self._on_news()
