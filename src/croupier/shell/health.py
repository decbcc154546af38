"""Whether all rooms can be played in, told to whoever looks after them: /healthz, beside the metrics."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from msgspec.json import encode

PATH: Final = "/healthz"
FINE: Final = "200 OK"
AILING: Final = "503 Service Unavailable"

type Application = Callable[[dict[str, Any], Callable[..., object]], object]
"""A web application, as WSGI has it (PEP 3333)."""


class Ailing(Protocol):
    """Something that may be in trouble."""

    @property
    def trouble(self) -> str | None:
        """Why nothing can be played here now; None if it can."""
        ...


def health(names: Sequence[str], rooms: Mapping[str, Ailing]) -> tuple[str, bytes]:
    """The status line and the JSON body: every room of these names is ok, or down for a reason.

    {"status": "down", "rooms": {"kuhn": {"status": "ok"}, "holdem": {"status": "down", "reason": "…"}}}
    """
    found = {}
    for name in names:
        room = rooms.get(name)
        reason = "it is not open yet" if room is None else room.trouble
        found[name] = {"status": "ok"} if reason is None else {"status": "down", "reason": reason}
    fine = all(room["status"] == "ok" for room in found.values())
    return FINE if fine else AILING, encode({"status": "ok" if fine else "down", "rooms": found}) + b"\n"


def beside(other: Application, names: Sequence[str], rooms: Mapping[str, Ailing]) -> Application:
    """An application that answers PATH, and leaves the rest to another one. It may be asked in any thread.

    Rooms are added to `rooms` when they open.
    """

    def answer(environ: dict[str, Any], start_response: Callable[..., object]) -> object:
        if environ["PATH_INFO"] != PATH or environ["REQUEST_METHOD"] not in {"GET", "HEAD"}:
            return other(environ, start_response)
        status, body = health(names, rooms)
        told = [("Content-Type", "application/json"), ("Content-Length", str(len(body))), ("Cache-Control", "no-store")]
        start_response(status, told)
        return [body] if environ["REQUEST_METHOD"] == "GET" else []

    return answer
