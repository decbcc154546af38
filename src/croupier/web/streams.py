"""Streams of feeds as responses, and how many of them a browser, and all browsers, may have."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from croupier.web.config import WebConfig
from croupier.web.feed import HEADERS, Feed, Subscription
from croupier.web.render import request_locale


class Streams:
    """Counts the streams of each session, and all of them: `total`. One more of a session parks its oldest one.

    Streams that give way, such as those of the lobby, are parked before tables.
    """

    def __init__(self, config: WebConfig) -> None:
        self.total = 0
        self.heartbeat_seconds = config.heartbeat_seconds
        self._max_browser_streams = config.max_browser_streams
        self._max_streams = config.max_streams
        self._sessions: dict[str, OrderedDict[Subscription, None]] = {}

    @property
    def is_full(self) -> bool:
        """Whether there are as many streams as there may be."""
        return self.total >= self._max_streams

    def add(self, session: str, subscription: Subscription) -> None:
        """Count a stream of a session."""
        streams = self._sessions.setdefault(session, OrderedDict())
        streams[subscription] = None
        self.total += 1
        running = [each for each in streams if not each.is_parked]
        if len(running) > self._max_browser_streams:
            next((each for each in running if each.gives_way), running[0]).park()

    def remove(self, session: str, subscription: Subscription) -> None:
        """Forget a stream that has ended."""
        streams = self._sessions[session]
        del streams[subscription]
        self.total -= 1
        if not streams:
            del self._sessions[session]


class FeedStream(Response):
    """The stream of a feed as the response to a request. Raises HTTPException if there are too many streams.

    `begin` and `end` are called when it is sent, and when it has ended; `gives_way` is explained in `Streams`.
    """

    def __init__(
        self,
        streams: Streams,
        feed: Feed[Any],
        request: Request,
        begin: Callable[[], None] = lambda: None,
        end: Callable[[], None] = lambda: None,
        *,
        gives_way: bool = False,
    ) -> None:
        super().__init__()
        if streams.is_full:
            raise HTTPException(503)
        self._streams = streams
        self._feed = feed
        self._session: str = request.state.visitor.session
        self._locale = request_locale(request)
        self._since = request.headers.get("last-event-id") or request.query_params.get("since", "")
        self._begin = begin
        self._end = end
        self._gives_way = gives_way

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream until it ends or the browser disconnects; for HEAD, send its headers only."""
        if scope["method"] == "HEAD":
            await Response(headers=HEADERS)(scope, receive, send)
            return
        subscription = self._feed.subscribe(self._locale, self._since)
        subscription.gives_way = self._gives_way
        self._streams.add(self._session, subscription)
        self._begin()
        try:
            events = subscription.events(self._streams.heartbeat_seconds)
            await StreamingResponse(events, headers=HEADERS)(scope, receive, send)
        finally:
            self._feed.subscriptions.discard(subscription)
            self._streams.remove(self._session, subscription)
            self._end()
