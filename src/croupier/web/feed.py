"""Feeds: the current view of a table, and streams of its changes for browsers (server-sent events)."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from itertools import count
from typing import Any, Final

from msgspec import Struct
from msgspec.json import encode
from msgspec.structs import replace

from croupier.core.presentation import TableView, Text
from croupier.net.event_loop import wait_set
from croupier.web.frames import FrameView
from croupier.web.locales import translator

RETRY_MILLISECONDS: Final = 1000
"""The pause of a browser before it opens an interrupted stream again; browsers would choose up to 3 seconds."""

INSTANCE_BYTES: Final = 3
HEADERS: Final = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store, no-transform",
    "x-accel-buffering": "no",
}
HEARTBEAT: Final = b": nothing new\n\n"
PARKED: Final = b"event: parked\ndata: \n\n"
"""The browser has too many streams: it closes this one, and may open it again when the page has the focus."""

END: Final = b"event: end\ndata: \n\n"
"""Nothing more will happen."""


class FeedSnapshot(Struct, frozen=True, kw_only=True):
    """What a feed shows at one moment, of a table for example. Its feed announces the news, and sets the version."""

    news: Sequence[Text] = ()
    version: str = ""

    def seconds_left(self, now: float) -> float | None:  # noqa: ARG002 -- for tables
        """Return the seconds left for the next action, None without a limit."""
        return None


class Snapshot(FeedSnapshot, frozen=True):
    """A table at one moment: its view, and the frames of the viewer's connection.

    `taken_at` is the time of the event loop at which the view was made; its `deadline` counts from there.
    """

    view: TableView
    frames: Sequence[FrameView]
    taken_at: float

    def seconds_left(self, now: float) -> float | None:
        """Return the seconds left for the next action, None without a limit."""
        deadline = self.view.deadline
        return None if deadline is None else round(max(0.0, deadline - (now - self.taken_at)), 1)


class Envelope(Struct, frozen=True):
    """What a browser receives of a snapshot: HTML parts by name, the text to announce, and the seconds left."""

    version: str
    parts: Mapping[str, str]
    say: str
    deadline: float | None


type RenderTable = Callable[[Snapshot, str], Mapping[str, str]]
"""Renders the parts of a table in a locale."""


class Subscription:
    """One browser's stream of a feed: the version that it has, and an event that is set when there is news.

    One that `gives_way` is the first to be parked.
    """

    def __init__(self, feed: "Feed[Any]", locale: str, since: str) -> None:
        self.is_parked = False
        self.gives_way = False
        self.news = asyncio.Event()
        self._feed = feed
        self._locale = locale
        self._version = since

    def park(self) -> None:
        """End the stream; the browser may open it again."""
        self.is_parked = True
        self.news.set()

    async def events(self, heartbeat_seconds: float) -> AsyncIterator[bytes]:
        """Yield the newest version whenever there is one that the browser does not have, and heartbeats."""
        feed = self._feed
        yield b"retry: %d\n\n" % RETRY_MILLISECONDS
        while True:
            self.news.clear()
            snapshot = feed.snapshot
            if snapshot.version != self._version:
                self._version = snapshot.version
                yield format_event(feed.envelope(self._locale))
            elif feed.is_over:
                yield END
                return
            elif self.is_parked:
                yield PARKED
                return
            elif not await wait_set(self.news, heartbeat_seconds):
                yield HEARTBEAT


class Feed[S: FeedSnapshot]:
    """The current snapshot, of a table for example; slow subscribers skip snapshots.

    Its version is the instance of the feed, which no other feed has, and a number that increases. It is rendered on
    demand, once for each locale.
    """

    def __init__(self, snapshot: S, render: Callable[[S, str], Mapping[str, str]]) -> None:
        self.is_over = False
        self.subscriptions: set[Subscription] = set()
        self._instance = secrets.token_hex(INSTANCE_BYTES)
        self._numbers = count(1)
        self._render = render
        self._rendered: dict[str, Mapping[str, str]] = {}
        self._show(snapshot)

    def publish(self, snapshot: S) -> None:
        """Replace the snapshot, and wake the subscribers."""
        self._show(snapshot)
        self._wake()

    def forget_rendered(self) -> None:
        """Render the snapshot again for the next browser: what its page contains has changed."""
        self._rendered.clear()

    def end(self) -> None:
        """End all streams after the last snapshot."""
        self.is_over = True
        self._wake()

    def envelope(self, locale: str) -> Envelope:
        """Return the current snapshot, rendered in a locale, with the seconds that are left now."""
        snapshot = self.snapshot
        if locale not in self._rendered:
            self._rendered[locale] = self._render(snapshot, locale)
        say = " ".join(map(translator(locale), snapshot.news))
        deadline = snapshot.seconds_left(asyncio.get_running_loop().time())
        return Envelope(snapshot.version, self._rendered[locale], say, deadline)

    def subscribe(self, locale: str, since: str) -> Subscription:
        """Begin a subscription of a browser that has version `since`. Discard it from `subscriptions` at its end."""
        subscription = Subscription(self, locale, since)
        self.subscriptions.add(subscription)
        return subscription

    def _show(self, snapshot: S) -> None:
        self.snapshot = replace(snapshot, version=f"{self._instance}-{next(self._numbers)}")
        self._rendered.clear()

    def _wake(self) -> None:
        for subscription in self.subscriptions:
            subscription.news.set()


def format_event(envelope: Envelope) -> bytes:
    """Format an envelope as an event of a stream."""
    return b"id: %s\nevent: table\ndata: %s\n\n" % (envelope.version.encode(), encode(envelope))
