"""Whether all rooms can be played in, for whoever operates them: /healthz, next to /metrics."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from msgspec.json import encode

METRICS_PATH: Final = "/metrics"
HEALTH_PATH: Final = "/healthz"

type ASGI = Callable[[Any, Any, Any], Awaitable[None]]


class HealthSource(Protocol):
    """Something that may be in trouble."""

    @property
    def unavailable_reason(self) -> str | None:
        """Why nothing can be played here now; None if it can."""
        ...


def health_report(names: Sequence[str], rooms: Mapping[str, HealthSource]) -> tuple[int, bytes]:
    """The status and the JSON body: every room of these names is ok, or down for a reason.

    {"status": "down", "rooms": {"kuhn": {"status": "ok"}, "holdem": {"status": "down", "reason": "…"}}}
    """
    found = {}
    for name in names:
        room = rooms.get(name)
        reason = "it is not open yet" if room is None else room.unavailable_reason
        found[name] = {"status": "ok"} if reason is None else {"status": "down", "reason": reason}
    fine = all(room["status"] == "ok" for room in found.values())
    return 200 if fine else 503, encode({"status": "ok" if fine else "down", "rooms": found}) + b"\n"


class MonitoringApp:
    """The application behind the port of the metrics: /metrics, by another application, and /healthz.

    Rooms are added to `rooms` when they open.
    """

    def __init__(self, metrics: ASGI, names: Sequence[str], rooms: Mapping[str, HealthSource]) -> None:
        self._metrics = metrics
        self._names = names
        self._rooms = rooms

    def try_get(self, scope: Any) -> None:
        """Every request has a task."""

    def try_command(self, scope: Any, body: bytes) -> None:
        """Every request has a task."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        path = scope["path"]
        if path not in {METRICS_PATH, HEALTH_PATH}:
            await _send_response(send, 404, b"text/plain; charset=utf-8", b"allowed: /metrics, /healthz\n")
        elif scope["method"] not in {"GET", "HEAD"}:
            await _send_response(
                send, 405, b"text/plain; charset=utf-8", b"allowed: GET, HEAD\n", (b"allow", b"GET, HEAD")
            )
        elif path == HEALTH_PATH:
            status, body = health_report(self._names, self._rooms)
            await _send_response(send, status, b"application/json", body, (b"cache-control", b"no-store"))
        else:
            await self._metrics({**scope, "headers": _negotiation_headers(scope["headers"])}, receive, send)


def _negotiation_headers(headers: Sequence[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers that matter to metrics, as far as they are text."""
    return [each for each in headers if each[0] in {b"accept", b"accept-encoding"} and each[1].isascii()]


async def _send_response(send: Any, status: int, content: bytes, body: bytes, *headers: tuple[bytes, bytes]) -> None:
    told = [(b"content-type", content), (b"content-length", b"%d" % len(body)), *headers]
    await send({"type": "http.response.start", "status": status, "headers": told})
    await send({"type": "http.response.body", "body": body})
