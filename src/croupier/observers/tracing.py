"""OpenTelemetry traces: the tracer of a server, and the spans of a room's messages and of the store's commits.

Spans have the types of messages, clauses and figures, never the content of a message, a path, a name or an address.
Only servers that trace import this module, because OpenTelemetry is optional.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from threading import Thread
from time import time_ns
from typing import Any, Final

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import Span, SpanKind, Tracer, get_current_span, set_span_in_context

from croupier.core.histogram import Histogram
from croupier.core.session import Effect, Event, Left, Malformed, Peer, Received, Settle
from croupier.version import __version__

FLUSH_SECONDS: Final = 5.0
"""The time that the last spans have to reach the collector when the server ends."""


@asynccontextmanager
async def open_tracer(
    endpoint: str | None, variables: Mapping[str, str] = os.environ, exporter: SpanExporter | None = None
) -> AsyncIterator[Tracer]:
    """Send spans to an OTLP/HTTP endpoint while the context is open, from a thread of the SDK.

    Without an endpoint, and for everything else, the SDK uses the standard variables OTEL_*. Spans are lost while the
    collector cannot be reached. `exporter` replaces the one for the endpoint.
    """
    if exporter is None:
        exporter = OTLPSpanExporter(endpoint=endpoint)
    names = {"service.version": __version__}
    if "OTEL_SERVICE_NAME" not in variables:
        names["service.name"] = "croupier"
    provider = TracerProvider(resource=Resource.create(names), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    try:
        yield provider.get_tracer("croupier", __version__)
    finally:
        flushing = Thread(target=provider.shutdown, daemon=True)  # it waits longer than FLUSH_SECONDS
        flushing.start()
        await asyncio.to_thread(flushing.join, FLUSH_SECONDS)


def trace_commits(tracer: Tracer, commit_times: Mapping[str, Histogram]) -> None:
    """Make a span of each commit, with the place where it is made.

    A commit on the event loop belongs to the request that is handled; others are shared by several.
    """
    for place, times in commit_times.items():
        times.listener = partial(_add_commit_span, tracer, place)


def _add_commit_span(tracer: Tracer, place: str, seconds: float) -> None:
    end = time_ns()
    parent = get_current_span()
    context = set_span_in_context(parent, Context()) if place == "loop" and parent.is_recording() else Context()
    span = tracer.start_span("store commit", context, start_time=end - round(seconds * 1e9))
    span.set_attribute("croupier.place", place)
    span.end(end)


class MessageSpans:
    """An observer that makes a span of every message that a room receives, from its arrival until it is handled.

    With `has_games`, as in house rooms, the messages of a peer are within the span of its game: from its first message
    until the game is settled or the peer has left. `clock` is that of the room's events, in seconds.
    """

    name = "--trace-endpoint"

    def __init__(self, tracer: Tracer, room: str, clock: Callable[[], float], *, has_games: bool = False) -> None:
        self._tracer = tracer
        self._room = room
        self._clock = clock
        self._has_games = has_games
        self._games: dict[Peer, Span] = {}

    def __call__(self, event: Event[Any], effects: Sequence[Effect[Any]], now: float) -> None:
        """Make the span of an event that has been handled, and that came at the time `now`."""
        end = time_ns()
        start = end - max(0, round((self._clock() - now) * 1e9))
        match event:
            case Received(peer, message):
                self._add_message(peer, type(message).__name__, {"croupier.effects": len(effects)}, start, end)
            case Malformed(peer, violation):
                found: dict[str, str | int] = {"croupier.effects": len(effects), "croupier.clause": violation.clause}
                self._add_message(peer, "violation", found, start, end)
        for effect in effects:
            if type(effect) is Settle:
                self._end_game(effect.peer, end, is_settled=True)
        if type(event) is Left:
            self._end_game(event.peer, end, is_settled=False)

    def _add_message(
        self, peer: Peer, message_type: str, attributes: Mapping[str, str | int], start: int, end: int
    ) -> None:
        context = Context()
        if self._has_games:
            if (game := self._games.get(peer)) is None:
                game = self._games[peer] = self._tracer.start_span(
                    f"{self._room} game", context, kind=SpanKind.SERVER, start_time=start
                )
            context = set_span_in_context(game, context)
        span = self._tracer.start_span(f"{self._room} {message_type}", context, kind=SpanKind.SERVER, start_time=start)
        if span.is_recording():
            span.set_attributes({"croupier.room": self._room, "croupier.peer": peer, **attributes})
        span.end(end)

    def _end_game(self, peer: Peer, end: int, *, is_settled: bool) -> None:
        """End the span of a peer's game, if there is one."""
        if (game := self._games.pop(peer, None)) is None:
            return
        if game.is_recording():
            game.set_attributes({"croupier.room": self._room, "croupier.peer": peer, "croupier.settled": is_settled})
        game.end(end)
