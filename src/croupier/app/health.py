"""Liveness and readiness, /healthz and /readyz, served on the metrics port next to /metrics."""

from collections.abc import Callable
from gzip import compress
from typing import Final
from urllib.parse import parse_qs

from prometheus_client import REGISTRY, CollectorRegistry
from prometheus_client.exposition import choose_encoder

from croupier.http.messages import Application, Header, Request, Response

METRICS_PATH: Final = "/metrics"
LIVENESS_PATH: Final = "/healthz"
READINESS_PATH: Final = "/readyz"
PATHS: Final = (METRICS_PATH, LIVENESS_PATH, READINESS_PATH)


def report_alive() -> tuple[int, bytes]:
    """The status and the body of /healthz of a process whose event loop answers."""
    return 200, b'{"status":"ok"}\n'


class MonitoringApp(Application):
    """The application of the metrics port: /healthz, /readyz, and /metrics as `render_metrics` returns it.

    `report_readiness` and `report_liveness` return the status and the body of /readyz and of /healthz.

    /healthz is 200 as long as the event loop answers: only a process that is stuck needs a restart. What a restart
    cannot mend, such as a database that is down, is in /readyz.
    """

    def __init__(
        self,
        render_metrics: Callable[[Request], Response],
        report_readiness: Callable[[], tuple[int, bytes]],
        report_liveness: Callable[[], tuple[int, bytes]] = report_alive,
    ) -> None:
        self._render_metrics = render_metrics
        self._reports = {READINESS_PATH: report_readiness, LIVENESS_PATH: report_liveness}

    def open(self, request: Request) -> Response:
        """Answer a request."""
        if request.path not in PATHS:
            return _response(404, b"text/plain; charset=utf-8", b"allowed: %s\n" % ", ".join(PATHS).encode())
        if request.method not in {"GET", "HEAD"}:
            return _response(405, b"text/plain; charset=utf-8", b"allowed: GET, HEAD\n", (b"allow", b"GET, HEAD"))
        if request.path == METRICS_PATH:
            return self._render_metrics(request)
        status, body = self._reports[request.path]()
        return _response(status, b"application/json", body, (b"cache-control", b"no-store"))


def render_metrics(request: Request, registry: CollectorRegistry = REGISTRY) -> Response:
    """The metrics of a registry, by default the process's, in the format that the client accepts.

    They are compressed if the client accepts gzip.
    """
    accept, encodings = [
        (request.fields.get(name) or b"").decode("latin-1") for name in (b"accept", b"accept-encoding")
    ]
    encode_metrics, content_type = choose_encoder(accept)
    names = parse_qs(request.query.decode("latin-1")).get("name[]")
    text = encode_metrics(registry.restricted_registry(names) if names else registry)
    headers = [(b"content-type", content_type.encode())]
    if "gzip" in [encoding.partition(";")[0].strip().lower() for encoding in encodings.split(",")]:
        text = compress(text)
        headers.append((b"content-encoding", b"gzip"))
    return Response(200, headers, text)


def _response(status: int, content_type: bytes, body: bytes, *headers: Header) -> Response:
    return Response(status, [(b"content-type", content_type), (b"content-length", b"%d" % len(body)), *headers], body)
