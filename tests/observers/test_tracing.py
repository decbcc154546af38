"""OpenTelemetry traces: spans of messages and of requests, what they do not contain, and a collector that gets them."""

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode, Tracer

from croupier.app.tracing import ENDPOINT_VARIABLES, check_endpoint, is_traced, span_observers, tracing
from croupier.core.errors import Violation
from croupier.core.histogram import Histogram
from croupier.core.session import Joined, Left, Malformed, Received, Send, Settle, TimedOut
from croupier.http.messages import Deferred, Request, Response
from croupier.http.traced_app import TracedApp
from croupier.observers import tracing as observers_tracing
from croupier.observers.tracing import MessageSpans, open_tracer, trace_commits
from croupier.recording.shared_store import SharedStore
from croupier.rooms import ROOMS
from croupier.store.commit_place import CommitPlacePolicy
from croupier.version import __version__
from tests.http.service_fixture import InProcessService
from tests.processes import Serving
from tests.recording.test_holdem_journal import service_with_store

SECRET_TEXTS = ("secret", "ann", "bob", "Basic", "192.0.2", "betAmount")
"""Names, passwords, addresses and contents that the tests below send."""


@asynccontextmanager
async def tracer_in_memory(spans: list[ReadableSpan]) -> AsyncIterator[Tracer]:
    """A tracer whose spans are in `spans` when the context has ended."""
    exporter = InMemorySpanExporter()
    async with open_tracer(None, {}, exporter) as tracer:
        yield tracer
    spans += exporter.get_finished_spans()


def traced(steps: Callable[[Tracer], Any]) -> list[ReadableSpan]:
    """The spans of steps, in the order in which they began."""
    spans: list[ReadableSpan] = []

    async def main() -> None:
        async with tracer_in_memory(spans) as tracer:
            await steps(tracer)

    asyncio.run(main())
    return sorted(spans, key=lambda span: span.start_time or 0)


def seconds(span: ReadableSpan) -> float:
    assert span.start_time is not None
    assert span.end_time is not None
    return (span.end_time - span.start_time) / 1e9


def children(spans: Sequence[ReadableSpan], parent: ReadableSpan) -> list[str]:
    return [span.name for span in spans if span.parent is not None and span.parent.span_id == parent.context.span_id]


# Messages.


class Bet:
    """A message."""

    def __str__(self) -> str:
        return "secret"


def test_message_is_a_span_from_its_arrival_until_it_is_handled() -> None:
    async def steps(tracer: Tracer) -> None:
        observer = MessageSpans(tracer, "kuhn", lambda: 17.5)
        observer(Received(3, Bet()), [Send(3, "secret"), Send(3, "secret")], 17.0)

    (span,) = traced(steps)
    assert (span.name, seconds(span)) == ("kuhn Bet", 0.5)
    assert dict(span.attributes or {}) == {"croupier.room": "kuhn", "croupier.peer": 3, "croupier.effects": 2}
    assert span.resource.attributes["service.name"] == "croupier"
    assert span.resource.attributes["service.version"] == __version__


def test_malformed_message_is_a_span_with_its_clause() -> None:
    async def steps(tracer: Tracer) -> None:
        violation = Violation("kuhn-2.7", "'secret'", "a code")
        MessageSpans(tracer, "kuhn", lambda: 0.0)(Malformed(3, violation), [], 0.0)

    (span,) = traced(steps)
    assert span.name == "kuhn violation"
    assert span.attributes is not None
    assert span.attributes["croupier.clause"] == "kuhn-2.7"
    assert "secret" not in span.to_json()


def test_only_messages_are_spans() -> None:
    async def steps(tracer: Tracer) -> None:
        observer = MessageSpans(tracer, "kuhn", lambda: 0.0)
        for event in (Joined(1, ("192.0.2.7", 5)), Left(1), TimedOut()):
            observer(event, [], 0.0)

    assert traced(steps) == []


def test_messages_of_a_house_game_are_within_the_span_of_the_game() -> None:
    async def steps(tracer: Tracer) -> None:
        now = 0.0
        observer = MessageSpans(tracer, "kuhn", lambda: now, has_games=True)
        for peer, effects in ((1, []), (2, []), (1, [Settle(1, 1, 0, 2, "secret")]), (1, [])):
            observer(Received(peer, Bet()), effects, now)
        observer(TimedOut(), [Settle(2, 1, 0, -1, "secret")], now)
        observer(Received(2, Bet()), [], now)
        observer(Left(2), [Settle(2, 2, 0, -1, "secret")], now)
        observer(Left(1), [], now)

    spans = traced(steps)
    games = [span for span in spans if span.name == "kuhn game"]
    found = [
        (*(dict(span.attributes or {})[f"croupier.{name}"] for name in ("peer", "settled")), children(spans, span))
        for span in games
    ]
    one, two = ["kuhn Bet"], ["kuhn Bet"] * 2
    assert found == [(1, True, two), (2, True, one), (1, False, one), (2, True, one)]
    assert len(spans) == 9
    assert not [span for span in spans if "secret" in span.to_json()]


# Commits.


def test_commit_on_the_loop_belongs_to_the_request_that_is_handled_and_others_to_none() -> None:
    async def steps(tracer: Tracer) -> None:
        times = {"loop": Histogram(), "thread": Histogram()}
        trace_commits(tracer, times)
        with tracer.start_as_current_span("request"):
            times["loop"].observe(0.002)
            times["thread"].observe(0.003)
        times["loop"].observe(0.004)

    spans = traced(steps)
    commits = {round(seconds(span), 3): span for span in spans if span.name == "store commit"}
    (request,) = [span for span in spans if span.name == "request"]
    assert children(spans, request) == ["store commit"]
    assert commits[0.002].parent is not None
    assert [commits[each].parent for each in (0.003, 0.004)] == [None, None]
    assert [(span.attributes or {})["croupier.place"] for _, span in sorted(commits.items())] == [
        "loop",
        "thread",
        "loop",
    ]


# Requests.


@contextmanager
def traced_service(web: InProcessService, tracer: Tracer) -> Iterator[None]:
    """Trace the requests to a service."""
    app = web.service
    web.service = TracedApp(app, tracer, "holdem")  # type: ignore[assignment]  # it answers requests as the app does
    try:
        yield
    finally:
        web.service = app


def test_durable_act_is_a_span_from_the_request_over_the_commit_to_the_answer(tmp_path: Path) -> None:
    async def steps(tracer: Tracer) -> None:
        async with service_with_store(tmp_path / "store") as web:
            game, (ann, _) = await web.seat_players("ann", "bob")
            with traced_service(web, tracer):
                assert (await web.act(game, "ann", ann, 1, 10)).status == 201

    spans = traced(steps)
    (act,) = [span for span in spans if span.parent is None]
    assert act.name == "POST /games/{gameID}/players/{playerID}/acts/"
    assert dict(act.attributes or {}) == {
        "croupier.room": "holdem",
        "http.request.method": "POST",
        "http.route": "/games/{gameID}/players/{playerID}/acts/",
        "http.response.status_code": 201,
    }
    assert children(spans, act) == ["commit"]
    (commit,) = [span for span in spans if span.name == "commit"]
    assert act.start_time is not None
    assert commit.start_time is not None
    assert act.start_time <= commit.start_time
    assert 0 < seconds(commit) <= seconds(act)
    assert {span.context.trace_id for span in spans} == {act.context.trace_id}


def test_act_that_is_committed_on_the_loop_has_the_commit_within_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CommitPlacePolicy, "allows_loop", lambda *_: True)

    async def steps(tracer: Tracer) -> None:
        async with service_with_store(tmp_path / "store") as web:
            game, guids = await web.seat_players("ann", "bob")
            assert (await web.act(game, "ann", guids[0], 1, 10)).status == 201
            trace_commits(tracer, web.service.house_service._journal.store.commit_times)
            with traced_service(web, tracer):
                assert (await web.act(game, "bob", guids[1], 1, 10)).status == 201

    spans = traced(steps)
    (act,) = [span for span in spans if span.name.startswith("POST ")]
    assert children(spans, act) == ["store commit"]


def test_password_and_long_poll_are_waits_and_nothing_secret_is_in_a_span(tmp_path: Path) -> None:
    game = ann = ""

    async def steps(tracer: Tracer) -> None:
        nonlocal game, ann
        with InProcessService() as web, traced_service(web, tracer):
            game, (ann, _) = await web.seat_players("ann", "bob")
            version = (await web.ask("GET", f"/games/{game}", "ann")).headers["x-game-version"]
            polling = asyncio.ensure_future(web.ask("GET", f"/games/{game}?wait=60&since={version}", "bob"))
            await asyncio.sleep(0)
            await web.act(game, "ann", ann, 1, 10)
            assert (await polling).status == 200
            assert (await web.ask("GET", "/nowhere?name=ann", "ann")).status == 404

    spans = traced(steps)
    roots = [span for span in spans if span.parent is None]
    (registering, *_) = [span for span in roots if span.name == "POST /users/"]
    assert children(spans, registering) == ["wait"]
    polls = [span for span in roots if span.name == "GET /games/{gameID}" and children(spans, span)]
    assert [children(spans, poll) for poll in polls] == [["wait"]]
    assert roots[-1].name == "GET", "an unknown path is not in the name"
    text = "".join(span.to_json() for span in spans)
    assert [word for word in (*SECRET_TEXTS, game, ann) if word in text] == []


class StubApp:
    """An application with one answer."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def open(self, request: Request) -> Any:
        return self.answer

    def respond(self, request: Request) -> Any:
        return Response(503, [])


def make_request(**headers: str) -> Request:
    fields = {name.encode(): value.encode() for name, value in headers.items()}
    return Request("GET", "/", b"", [*fields.items()], fields, "192.0.2.1")


def test_request_without_its_body_is_a_span_once_it_is_complete() -> None:
    async def steps(tracer: Tracer) -> None:
        app = TracedApp(StubApp(None), tracer, "holdem")
        assert app.open(make_request()) is None
        app.respond(make_request())

    (span,) = traced(steps)
    assert span.status.status_code is StatusCode.ERROR
    assert span.attributes is not None
    assert span.attributes["http.response.status_code"] == 503


def test_span_of_a_client_is_linked_and_not_a_parent() -> None:
    trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"

    async def steps(tracer: Tracer) -> None:
        app = TracedApp(StubApp(Response(200, [])), tracer, "holdem")
        app.open(make_request(traceparent=f"00-{trace}-{parent}-01"))
        app.open(make_request(traceparent="nonsense"))

    linked, unlinked = traced(steps)
    assert linked.parent is None
    assert [f"{link.context.trace_id:032x} {link.context.span_id:016x}" for link in linked.links] == [
        f"{trace} {parent}"
    ]
    assert list(unlinked.links) == []


def test_request_that_is_cancelled_ends_its_spans() -> None:
    async def steps(tracer: Tracer) -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        deferred = Deferred(future, lambda: Response(200, []))
        TracedApp(StubApp(deferred), tracer, "holdem").open(make_request())
        future.cancel()
        await asyncio.sleep(0)

    assert [span.status.description for span in traced(steps)] == ["the server is closing"] * 2


# Whether and where.


@pytest.mark.parametrize(
    ("endpoint", "variables", "expected"),
    [
        (None, {}, False),
        ("http://c:4318/v1/traces", {}, True),
        (None, {ENDPOINT_VARIABLES[0]: "http://c"}, True),
        (None, {ENDPOINT_VARIABLES[1]: "http://c"}, True),
        (None, {ENDPOINT_VARIABLES[1]: ""}, False),
        ("http://c", {"OTEL_SDK_DISABLED": "True"}, False),
        ("http://c", {"OTEL_TRACES_EXPORTER": "none"}, False),
    ],
)
def test_traces_are_sent_with_an_endpoint_unless_the_sdk_is_off(
    endpoint: str | None, variables: dict[str, str], expected: bool
) -> None:
    assert is_traced(endpoint, variables) is expected


def test_endpoint_is_a_url_of_http() -> None:
    check_endpoint(None)
    check_endpoint("https://collector.example:4318/v1/traces")
    for endpoint in ("collector:4318", "http://", "grpc://collector:4317", ""):
        with pytest.raises(ValueError, match=r"found --trace-endpoint .*; allowed: a URL such as"):
            check_endpoint(endpoint)


class Log:
    """Records warnings."""

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def warning(self, event: str, **facts: object) -> None:
        self.warnings.append(f"{event}: {facts['reason']}")


def test_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """An endpoint in the environment, which other programs may need, does not keep a server from starting."""
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    monkeypatch.delitem(sys.modules, observers_tracing.__name__)
    log = Log()

    async def open_with(endpoint: str | None) -> Tracer | None:
        variables = {ENDPOINT_VARIABLES[1]: "http://c"}
        async with tracing(endpoint, SharedStore(None), log, variables) as tracer:  # type: ignore[arg-type]  # it only warns
            return tracer

    with pytest.raises(ValueError, match=r"pip install 'croupier\[tracing\]'"):
        asyncio.run(open_with("http://c"))
    assert asyncio.run(open_with(None)) is None
    (warning,) = log.warnings
    assert warning.startswith("no traces: the module opentelemetry.sdk.trace is missing")


def test_server_without_traces_has_no_observer_and_imports_no_opentelemetry() -> None:
    assert [*span_observers(None, ROOMS["kuhn"])] == []
    script = "import sys, croupier.app.serve, croupier.app.holdem_room; print('opentelemetry' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "False\n"


# A collector.


class Collector(ThreadingHTTPServer):
    """An OTLP/HTTP receiver on a free port."""

    def __init__(self, status: int = 200) -> None:
        super().__init__(("127.0.0.1", 0), CollectorRequest)
        self.status = status
        self.received: list[tuple[str, ExportTraceServiceRequest]] = []

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1/traces"

    @property
    def spans(self) -> list[Any]:
        return [
            span
            for _, request in self.received
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]


class CollectorRequest(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.received.append((self.path, ExportTraceServiceRequest.FromString(body)))
        self.send_response(self.server.status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def collector(status: int = 200) -> Iterator[Collector]:
    with Collector(status) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize("by_variable", [False, True], ids=["flag", "variable"])
def test_collector_gets_the_spans_of_a_server(by_variable: bool) -> None:
    with collector() as server:
        flags = () if by_variable else ("--trace-endpoint", server.endpoint)
        variables = {ENDPOINT_VARIABLES[0]: server.endpoint} if by_variable else {}
        with Serving("kuhn", "--port", 0, *flags, variables=variables) as serving:
            with serving.call() as client:
                client.sendall(b"STRT P_1\n")
                assert client.recv(100)
            assert serving.stop() == 0
    assert {path for path, _ in server.received} == {"/v1/traces"}
    (span, *_) = server.spans
    assert span.name.startswith("kuhn ")
    resource = server.received[0][1].resource_spans[0].resource
    assert {item.key: item.value.string_value for item in resource.attributes}["service.name"] == "croupier"


@pytest.mark.extended
def test_server_ends_in_time_although_the_collector_is_down() -> None:
    with collector() as gone:
        endpoint = gone.endpoint
    with Serving("holdem", "--port", 0, "--journal", "off", "--trace-endpoint", endpoint) as serving:
        with serving.call("holdem") as client:
            client.sendall(b"GET /games/ HTTP/1.1\r\nhost: x\r\n\r\n")
            assert client.recv(1000).startswith(b"HTTP/1.1 200 ")
        started = time.monotonic()
        assert serving.stop() == 0
        assert time.monotonic() - started < 60
        assert {entry["event"] for entry in serving.entries} >= {"closing", "closed"}
