"""Reads what passes on a connection of HTTP/1.1: requests in their order, and the answer to each of them."""

from base64 import b64decode
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import parse_qs, unquote

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser, HttpResponseParser
from msgspec import Struct

MAX_BODY_BYTES: Final = 1 << 22
"""So many bytes of a body are read."""

MAX_HEAD_CHARS: Final = 1 << 16
"""So many characters of a path, and of all headers of a message, are read."""

TLS_HANDSHAKE_BYTE: Final = 0x16
"""The first byte of a client that speaks TLS (RFC 8446, 5.1)."""

NOBODY: Final = "nobody"
"""Who gives no name."""

STREAM_SEPARATORS: Final = {"text/event-stream": b"\n\n", "application/x-ndjson": b"\n"}
"""The types of what goes on, and what stands behind each of its parts."""

SECRET_HEADERS: Final = frozenset({"authorization", "proxy-authorization", "cookie", "set-cookie"})
"""The headers that are not looked at, but for the name that a client gives."""

MAX_SHOWN_BYTES: Final = 80
"""So many bytes of what was no whole message are shown."""


class ObservedRequest(Struct, frozen=True):
    """A request without its password. `user` is the name that it gives; `path` is decoded, with its parameters.

    `headers` have their names in lower case. Of a body that is larger than MOST only the beginning is there.
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
        """The path, in its parts."""
        return self.path.partition("?")[0].strip("/").split("/")

    @property
    def wait_seconds(self) -> float | None:
        """How many seconds the answer may be waited for; None where it may go on for ever."""
        if self.path_segments[-1:] == ["events"]:
            return None
        told = parse_qs(self.path.partition("?")[2]).get("wait", ["0"])[-1]
        try:
            return min(max(float(told), 0.0), 60.0)
        except ValueError:
            return 0.0


class ObservedResponse(Struct, frozen=True):
    """The answer to a request, None where nobody has asked; names of headers are in lower case.

    `told` is what is shown of the body.
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
    """A part of an answer that goes on."""

    request: ObservedRequest | None
    body: bytes
    at: float
    body_summary: str = ""

    def __str__(self) -> str:
        return f"...{self.body_summary or _short(self.body)}"


class HttpParseError(Exception):
    """What has come is no HTTP/1.1; the text says why, and quotes nothing."""


def _short(body: bytes) -> str:
    """The beginning of a body, behind a space."""
    text = " ".join(body[: 4 * MAX_SHOWN_BYTES].decode(errors="backslashreplace").split())
    return "" if not text else f" {text}" if len(text) <= MAX_SHOWN_BYTES else f" {text[:MAX_SHOWN_BYTES]}…"


def username(header: str | None) -> str:
    """The name in an Authorization header (RFC 7617), as far as it can be read."""
    if header is None:
        return NOBODY
    scheme, _, coded = header.strip().partition(" ")
    try:
        found, colon, _ = b64decode(coded.strip(), validate=True).decode().partition(":")
    except ValueError:
        return "?"
    return found if scheme.lower() == "basic" and colon and found else "?"


class MessageCollector:
    """One direction of a connection, as httptools tells of it."""

    def __init__(self) -> None:
        self.url = b""
        self.headers: dict[str, str] = {}
        self._header_chars = 0
        self.user = NOBODY
        self.body = bytearray()
        self.has_started = False
        self.has_headers = False
        self.is_complete = False

    def on_message_begin(self) -> None:
        """A message begins."""
        self.url = b""
        self.headers = {}
        self._header_chars = 0
        self.user = NOBODY
        self.body = bytearray()
        self.has_started, self.has_headers, self.is_complete = True, False, False

    def on_url(self, url: bytes) -> None:
        """A part of the path."""
        self.url = (self.url + url)[:MAX_HEAD_CHARS]

    def on_header(self, name_: bytes, value: bytes) -> None:
        """A header: of those that come twice the values are joined."""
        key, told = name_.decode("latin-1").lower(), value.decode("utf-8", "backslashreplace")
        self._header_chars += len(key) + len(told)
        if self._header_chars > MAX_HEAD_CHARS:
            return
        if key == "authorization":
            self.user = username(told)
        elif key not in SECRET_HEADERS:
            self.headers[key] = f"{self.headers[key]}, {told}" if key in self.headers else told

    def on_headers_complete(self) -> None:
        """What follows is the body."""
        self.has_headers = True

    def on_body(self, data: bytes) -> None:
        """A part of the body."""
        if len(self.body) < MAX_BODY_BYTES:
            self.body += data

    def on_message_complete(self) -> None:
        """It is all there."""
        self.has_started, self.is_complete = False, True


class RequestReader:
    """Reads the requests of a client. It stays `deaf` behind what it cannot read."""

    def __init__(self) -> None:
        self.is_stopped = False
        self._incomplete = b""
        self._collector = MessageCollector()
        self._parser = HttpRequestParser(self._collector)
        self._is_fresh = True

    def feed(self, data: bytes, now: float) -> Iterator[ObservedRequest]:
        """The requests that these bytes complete. Raises Unread."""
        if self._is_fresh and data[:1] == bytes((TLS_HANDSHAKE_BYTE,)):
            self.is_stopped = True
        self._is_fresh = False
        for byte in () if self.is_stopped else data:
            self._incomplete = (self._incomplete + bytes((byte,)))[:MAX_SHOWN_BYTES]
            try:
                self._parser.feed_data(bytes((byte,)))
            except HttpParserUpgrade:
                self.is_stopped = True  # whatever is spoken from here on
            except HttpParserError as error:
                self.is_stopped = True
                raise HttpParseError(f"{error}") from None
            if self._collector.is_complete:
                self._collector.is_complete = False
                self._incomplete = b""
                yield self._request(now)
            if self.is_stopped:
                return

    def _request(self, now: float) -> ObservedRequest:
        side = self._collector
        path = unquote(side.url.decode("latin-1"))
        method = self._parser.get_method().decode("latin-1")
        return ObservedRequest(side.user, method, path, side.headers, bytes(side.body), now)

    @property
    def incomplete(self) -> bytes:
        """The beginning of what is no whole request yet: only its first line, for the rest may tell a password."""
        return self._incomplete.partition(b"\r\n")[0] if not self.is_stopped else b""


class ResponseReader:
    """Reads the answers of a house to requests, which are put into `asked` as they are passed on."""

    def __init__(self) -> None:
        self.pending_requests: deque[ObservedRequest] = deque()
        self.is_stopped = False
        self._collector = MessageCollector()
        self._parser = HttpResponseParser(self._collector)

    @property
    def has_started(self) -> bool:
        """Whether a part of an answer is there."""
        return self._collector.has_started

    @property
    def has_headers(self) -> bool:
        """Whether an answer has begun whose headers are there."""
        return self._collector.has_started and self._collector.has_headers

    @property
    def has_length(self) -> bool:
        """Whether the answer that has begun says itself where it ends."""
        return bool(self._collector.headers.keys() & {"content-length", "transfer-encoding"})

    def feed(self, data: bytes, now: float) -> Iterator[ObservedResponse | StreamPart]:
        """The answers that these bytes complete, and the parts of those that go on. Raises Unread."""
        at = 0
        while at < len(data) and not self.is_stopped:
            # Of a body every byte at a time would be slow, and nothing of it can belong to the next answer but its end.
            step = self._safe_step(data, at)
            try:
                self._parser.feed_data(data[at : at + step])
            except HttpParserUpgrade:
                self.is_stopped = True
            except HttpParserError as error:
                self.is_stopped = True
                raise HttpParseError(f"{error}") from None
            at += step
            yield from self._stream_parts(now)
            if (
                self._collector.has_headers
                and self._collector.has_started
                and self.pending_requests
                and self.pending_requests[0].method == "HEAD"
            ):
                yield self._response(now)
                self._reset()
            elif self._collector.is_complete:
                self._collector.is_complete = False
                if self._parser.get_status_code() >= 200:
                    yield self._response(now)

    def _safe_step(self, data: bytes, at: int) -> int:
        """How many bytes belong to the same answer for certain."""
        side = self._collector
        length = side.headers.get("content-length", "")
        if not side.has_started or not side.has_headers or not length.isdecimal():
            return 1
        return max(1, min(len(data) - at, int(length) - len(side.body)))

    def finish(self, now: float) -> Iterator[ObservedResponse]:
        """The house says no more: an answer without a length ends with that."""
        if self.has_headers and not self.has_length and not self.is_stopped:
            yield self._response(now)
            self._reset()

    def _reset(self) -> None:
        self._collector = MessageCollector()
        self._parser = HttpResponseParser(self._collector)

    def _stream_parts(self, now: float) -> Iterator[StreamPart]:
        side = self._collector
        mark = STREAM_SEPARATORS.get(side.headers.get("content-type", "").partition(";")[0].strip().lower())
        if mark is None or not side.has_headers:
            return
        while mark in side.body:
            part, _, rest = side.body.partition(mark)
            side.body[:] = rest
            if told := _event_data(bytes(part)):
                yield StreamPart(self.pending_requests[0] if self.pending_requests else None, told, now)

    def _response(self, now: float) -> ObservedResponse:
        side = self._collector
        request = self.pending_requests.popleft() if self.pending_requests else None
        return ObservedResponse(request, self._parser.get_status_code(), side.headers, bytes(side.body), now)


def _event_data(part: bytes) -> bytes:
    """What a part of a stream tells: the data of an event (WHATWG HTML, 9.2), or the whole line."""
    lines = part.split(b"\n")
    told = [line.partition(b":")[2].removeprefix(b" ") for line in lines if line.startswith(b"data:")]
    return b"\n".join(told) if told else b"" if part[:1] == b":" or part.startswith(b"id:") else part.strip()
