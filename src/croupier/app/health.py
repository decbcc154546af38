"""Health check: /healthz, served on the metrics port next to /metrics."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from msgspec.json import encode

METRICS_PATH: Final = "/metrics"
HEALTH_PATH: Final = "/healthz"

type ASGI = Callable[[Any, Any, Any], Awaitable[None]]


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
    """ASGI application of the metrics port: serves /healthz itself and passes /metrics to another application.

    `rooms` is read at each request, so rooms can be added to it while they open.
    """

    def __init__(self, metrics: ASGI, room_names: Sequence[str], rooms: Mapping[str, HealthSource]) -> None:
        self._metrics = metrics
        self._names = room_names
        self._rooms = rooms

    def try_get(self, scope: Any) -> None:
        """Return None: every request runs in a task."""

    def try_command(self, scope: Any, body: bytes) -> None:
        """Return None: every request runs in a task."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Handle one request."""
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
    """Return the headers that the metrics application uses; drop those that are not ASCII."""
    return [header for header in headers if header[0] in {b"accept", b"accept-encoding"} and header[1].isascii()]


async def _send_response(
    send: Any, status: int, content_type: bytes, body: bytes, *headers: tuple[bytes, bytes]
) -> None:
    all_headers = [(b"content-type", content_type), (b"content-length", b"%d" % len(body)), *headers]
    await send({"type": "http.response.start", "status": status, "headers": all_headers})
    await send({"type": "http.response.body", "body": body})
