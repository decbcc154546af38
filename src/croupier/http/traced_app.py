"""Makes a span of every request to an application: from its arrival over the commit to its response."""

from asyncio import Future
from collections.abc import Callable
from functools import partial
from typing import Any

from opentelemetry.context import Context
from opentelemetry.trace import (
    Link,
    Span,
    SpanKind,
    StatusCode,
    Tracer,
    get_current_span,
    set_span_in_context,
    use_span,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from croupier.http.messages import Answer, Application, Deferred, Request, Response
from croupier.net.event_loop import PromptFuture

PROPAGATOR = TraceContextTextMapPropagator()


class TracedApp(Application):
    """An application whose requests are traced.

    A span has the template of the route, not the path, and neither headers nor bodies. What an answer waits for is a
    span of its own: `commit` for a command that becomes durable, `wait` for a password or for news. The span of a
    client (`traceparent`) is linked, and not a parent, because anybody could choose it.
    """

    def __init__(self, app: Application, tracer: Tracer, room: str) -> None:
        self._app = app
        self._tracer = tracer
        self._room = room

    def open(self, request: Request) -> Answer | None:
        """The answer of the application; without one, the span begins with the rest of the body."""
        return self._trace(request, self._app.open)

    def respond(self, request: Request) -> Answer:
        """The answer of the application."""
        answer = self._trace(request, self._app.respond)
        assert answer is not None, "the application responds"
        return answer

    def _trace(self, request: Request, step: Callable[[Request], Answer | None]) -> Answer | None:
        span = self._tracer.start_span(request.method, Context(), SpanKind.SERVER, links=_client_links(request))
        with use_span(span, record_exception=False, set_status_on_exception=False):
            answer = step(request)
        if answer is None:
            return None  # a span that does not end is not sent
        if span.is_recording():
            span.set_attribute("croupier.room", self._room)
            span.set_attribute("http.request.method", request.method)
            if request.match is not None:
                route = request.match.operation.path
                span.update_name(f"{request.method} {route}")
                span.set_attribute("http.route", route)
        return self._follow(span, answer)

    def _follow(self, span: Span, answer: Answer) -> Answer:
        """Return an answer that ends the span when it is known."""
        if isinstance(answer, Response):
            if span.is_recording():
                span.set_attribute("http.response.status_code", answer.status)
                if answer.status >= 500:
                    span.set_status(StatusCode.ERROR)
            span.end()
            return answer
        name = "commit" if isinstance(answer.future, PromptFuture) else "wait"
        waiting = self._tracer.start_span(name, set_span_in_context(span, Context()))
        answer.future.add_done_callback(partial(_end_cancelled, (waiting, span)))
        return Deferred(answer.future, partial(self._resume, span, waiting, answer))

    def _resume(self, span: Span, waiting: Span, deferred: Deferred) -> Answer:
        waiting.end()
        return self._follow(span, deferred.answer())


def _end_cancelled(spans: tuple[Span, ...], future: Future[Any]) -> None:
    """End the spans of an answer that nobody gets, because the server is closing."""
    if future.cancelled():
        for span in spans:
            span.set_status(StatusCode.ERROR, "the server is closing")
            span.end()


def _client_links(request: Request) -> list[Link]:
    header = request.fields.get(b"traceparent")
    if header is None:
        return []
    context = get_current_span(PROPAGATOR.extract({"traceparent": header.decode("latin-1")}, Context()))
    return [Link(context.get_span_context())] if context.get_span_context().is_valid else []
