"""Requests and responses of a tapped connection, without passwords."""

import re
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import parse_qs, unquote

from msgspec import Struct

from croupier.core.basic_auth import parse_basic_authorization
from croupier.core.http_transcript import NOBODY
from croupier.http.wire import SentRequest, joined_headers, path_segments

UNKNOWN_USER: Final = "?"
"""The user name of requests with credentials that cannot be read."""

STREAM_SEPARATORS: Final = {"text/event-stream": b"\n\n", "application/x-ndjson": b"\n"}
"""The content types of streams, with the separator after each part."""

SECRET_HEADERS: Final = frozenset({"authorization", "proxy-authorization", "cookie", "set-cookie"})
"""Headers that are discarded, except for the user name in the credentials."""

SECRET_PATTERN: Final = re.compile(rb"(?im)^(%s):[^\r\n]*" % b"|".join(name.encode() for name in SECRET_HEADERS))

MAX_WAIT_SECONDS: Final = 60.0
"""A long poll takes at most this long."""

MAX_SHOWN_CHARS: Final = 80
"""At most this many characters of a body are shown."""


class ObservedRequest(Struct, frozen=True):
    """A request without its password. `user` is the name in the credentials; `path` is decoded and has the query.

    Header names are in lower case. `at` is a time in seconds.
    """

    user: str
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    at: float

    def __str__(self) -> str:
        return f"{self.user} {self.method} {self.path}{_short(self.body)}"

    @property
    def path_segments(self) -> list[str]:
        """The segments of the path."""
        return path_segments(self.path)

    @property
    def wait_seconds(self) -> float | None:
        """How long a response may be delayed in seconds; None if it is an endless stream."""
        if self.path_segments[-1:] == ["events"]:
            return None
        value = parse_qs(self.path.partition("?")[2]).get("wait", ["0"])[-1]
        try:
            return min(max(float(value), 0.0), MAX_WAIT_SECONDS)
        except ValueError:
            return 0.0


class ObservedResponse(Struct, frozen=True):
    """A response; `request` is None if nothing was requested. Header names are in lower case.

    `body_summary` is shown in place of the body.
    """

    request: ObservedRequest | None
    status: int
    headers: Mapping[str, str]
    body: bytes
    at: float
    body_summary: str = ""

    def __str__(self) -> str:
        return f"{self.status}{self.body_summary or _short(self.body)}"


class StreamPart(Struct, frozen=True):
    """A part of a streamed response."""

    request: ObservedRequest | None
    body: bytes
    at: float
    body_summary: str = ""

    def __str__(self) -> str:
        return f"...{self.body_summary or _short(self.body)}"


def observe_request(request: SentRequest, now: float) -> ObservedRequest:
    """Return a request without its password."""
    headers = joined_headers(request.headers)
    user = username(headers.get("authorization"))
    public = {name: value for name, value in headers.items() if name not in SECRET_HEADERS}
    return ObservedRequest(user, request.method, unquote(request.path), public, request.body, now)


def username(header: str | None) -> str:
    """Return the user name of an Authorization header (RFC 7617)."""
    if header is None:
        return NOBODY
    try:
        name, _ = parse_basic_authorization(header.encode())
    except ValueError:
        return UNKNOWN_USER
    return name or UNKNOWN_USER


def without_secrets(data: bytes) -> bytes:
    """Return the bytes of a message with asterisks in place of its secrets."""
    return SECRET_PATTERN.sub(rb"\1: ***", data)


def event_data(parts: Sequence[bytes]) -> Sequence[bytes]:
    """Return the data of the parts of a stream: of events (WHATWG HTML, 9.2), or lines. Empty ones are left out."""
    return [data for part in parts if (data := _event_data(part))]


def _event_data(part: bytes) -> bytes:
    lines = part.split(b"\n")
    if data := [line.partition(b":")[2].removeprefix(b" ") for line in lines if line.startswith(b"data:")]:
        return b"\n".join(data)
    return b"" if part.startswith((b":", b"id:")) else part.strip()


def _short(body: bytes) -> str:
    """Return the beginning of a body with a leading space."""
    text = " ".join(body[: 4 * MAX_SHOWN_CHARS].decode(errors="backslashreplace").split())
    return "" if not text else f" {text}" if len(text) <= MAX_SHOWN_CHARS else f" {text[:MAX_SHOWN_CHARS]}…"
