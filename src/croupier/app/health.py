"""Health check: /healthz, served on the metrics port next to /metrics."""

from collections.abc import Callable, Mapping, Sequence
from gzip import compress
from typing import Final, Protocol
from urllib.parse import parse_qs

from msgspec.json import encode
from prometheus_client import REGISTRY
from prometheus_client.exposition import choose_encoder

from croupier.http.messages import Header, Request, Response

METRICS_PATH: Final = "/metrics"
HEALTH_PATH: Final = "/healthz"


class HealthSource(Protocol):
    """A component that can report why it is unavailable."""

    @property
    def unavailable_reason(self) -> str | None:
        """The reason why no games can be played now, or None if they can."""
        ...


def health_report(room_names: Sequence[str], rooms: Mapping[str, HealthSource]) -> tuple[int, bytes]:
    r"""Return the HTTP status and the JSON body for the rooms with these names.

    The status is 200 if every room is ok, else 503. A name without an entry in `rooms` is a room that is still opening.

    >>> health_report(["kuhn"], {})
    (503, b'{"status":"down","rooms":{"kuhn":{"status":"down","reason":"the room is not open yet"}}}\n')
    """
    report = {}
    for name in room_names:
        room = rooms.get(name)
        reason = "the room is not open yet" if room is None else room.unavailable_reason
        report[name] = {"status": "ok"} if reason is None else {"status": "down", "reason": reason}
    is_ok = all(room["status"] == "ok" for room in report.values())
    return 200 if is_ok else 503, encode({"status": "ok" if is_ok else "down", "rooms": report}) + b"\n"


class MonitoringApp:
    """The application of the metrics port: /healthz, and /metrics as `render_metrics` returns it.

    `rooms` is read at each request, so rooms can be added to it while they open.
    """

    max_body_bytes = 0

    def __init__(
        self,
        render_metrics: Callable[[Request], Response],
        room_names: Sequence[str],
        rooms: Mapping[str, HealthSource],
    ) -> None:
        self._render_metrics = render_metrics
        self._names = room_names
        self._rooms = rooms

    def open(self, request: Request) -> Response:
        """Answer a request."""
        if request.path not in {METRICS_PATH, HEALTH_PATH}:
            return _response(404, b"text/plain; charset=utf-8", b"allowed: /metrics, /healthz\n")
        if request.method not in {"GET", "HEAD"}:
            return _response(405, b"text/plain; charset=utf-8", b"allowed: GET, HEAD\n", (b"allow", b"GET, HEAD"))
        if request.path == HEALTH_PATH:
            status, body = health_report(self._names, self._rooms)
            return _response(status, b"application/json", body, (b"cache-control", b"no-store"))
        return self._render_metrics(request)

    def respond(self, request: Request) -> Response:
        """Answer a request; no answer depends on the body."""
        return self.open(request)


def render_metrics(request: Request) -> Response:
    """The metrics of the process in the format that the client accepts, compressed if it accepts gzip."""
    accept, encodings = [
        (request.fields.get(name) or b"").decode("latin-1") for name in (b"accept", b"accept-encoding")
    ]
    encode_metrics, content_type = choose_encoder(accept)
    names = parse_qs(request.query.decode("latin-1")).get("name[]")
    text = encode_metrics(REGISTRY.restricted_registry(names) if names else REGISTRY)
    headers = [(b"content-type", content_type.encode())]
    if "gzip" in [encoding.partition(";")[0].strip().lower() for encoding in encodings.split(",")]:
        text = compress(text)
        headers.append((b"content-encoding", b"gzip"))
    return Response(200, headers, text)


def _response(status: int, content_type: bytes, body: bytes, *headers: Header) -> Response:
    return Response(status, [(b"content-type", content_type), (b"content-length", b"%d" % len(body)), *headers], body)
