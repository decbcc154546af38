"""Reads HTTP/1.1 messages from a proxied connection: requests in order, and the response to each."""

from base64 import b64decode
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import parse_qs, unquote

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser, HttpResponseParser
from msgspec import Struct

MAX_BODY_BYTES: Final = 1 << 22

MAX_HEAD_CHARS: Final = 1 << 16
"""The limit of a path, and of all headers of a message."""

TLS_HANDSHAKE_BYTE: Final = 0x16
"""The first byte of a TLS client (RFC 8446, 5.1)."""

NOBODY: Final = "nobody"
"""The user name of requests without credentials."""

STREAM_SEPARATORS: Final = {"text/event-stream": b"\n\n", "application/x-ndjson": b"\n"}
"""The content types of streams, with the separator after each part."""

SECRET_HEADERS: Final = frozenset({"authorization", "proxy-authorization", "cookie", "set-cookie"})
"""Headers that are discarded, except for the user name in the credentials."""

MAX_SHOWN_BYTES: Final = 80
"""The number of bytes shown of a body or an incomplete message."""


class ObservedRequest(Struct, frozen=True):
    """A request without its password. `user` is the name in the credentials; `path` is decoded and has the query.

    Header names are in lower case. The body may be cut to MAX_BODY_BYTES.
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
        return self.path.partition("?")[0].strip("/").split("/")

    @property
    def wait_seconds(self) -> float | None:
        """How long a response may be delayed in seconds; None if it is an endless stream."""
        if self.path_segments[-1:] == ["events"]:
            return None
        value_text = parse_qs(self.path.partition("?")[2]).get("wait", ["0"])[-1]
        try:
            return min(max(float(value_text), 0.0), 60.0)
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


class HttpParseError(Exception):
    """The bytes are not HTTP/1.1; the text says why, without quoting them."""


def _short(body: bytes) -> str:
    """Return the beginning of a body with a leading space."""
    text = " ".join(body[: 4 * MAX_SHOWN_BYTES].decode(errors="backslashreplace").split())
    return "" if not text else f" {text}" if len(text) <= MAX_SHOWN_BYTES else f" {text[:MAX_SHOWN_BYTES]}…"


def username(header: str | None) -> str:
    """Return the user name of an Authorization header (RFC 7617), "?" if it cannot be read."""
    if header is None:
        return NOBODY
    scheme, _, encoded = header.strip().partition(" ")
    try:
        found, colon, _ = b64decode(encoded.strip(), validate=True).decode().partition(":")
    except ValueError:
        return "?"
    return found if scheme.lower() == "basic" and colon and found else "?"


class MessageCollector:
    """Callbacks for httptools that collect the messages of one direction."""

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
        """Start a message."""
        self.url = b""
        self.headers = {}
        self._header_chars = 0
        self.user = NOBODY
        self.body = bytearray()
        self.has_started, self.has_headers, self.is_complete = True, False, False

    def on_url(self, url: bytes) -> None:
        """Collect a part of the target."""
        self.url = (self.url + url)[:MAX_HEAD_CHARS]

    def on_header(self, name_: bytes, value: bytes) -> None:
        """Collect a header; values of repeated headers are joined."""
        key, value_text = name_.decode("latin-1").lower(), value.decode("utf-8", "backslashreplace")
        self._header_chars += len(key) + len(value_text)
        if self._header_chars > MAX_HEAD_CHARS:
            return
        if key == "authorization":
            self.user = username(value_text)
        elif key not in SECRET_HEADERS:
            self.headers[key] = f"{self.headers[key]}, {value_text}" if key in self.headers else value_text

    def on_headers_complete(self) -> None:
        """Mark the headers as complete; the body follows."""
        self.has_headers = True

    def on_body(self, data: bytes) -> None:
        """Collect a part of the body."""
        if len(self.body) < MAX_BODY_BYTES:
            self.body += data

    def on_message_complete(self) -> None:
        """Mark the message as complete."""
        self.has_started, self.is_complete = False, True


class RequestReader:
    """Reads the requests of a client. `is_stopped` is set after bytes that cannot be read."""

    def __init__(self) -> None:
        self.is_stopped = False
        self._incomplete = b""
        self._collector = MessageCollector()
        self._parser = HttpRequestParser(self._collector)
        self._is_fresh = True

    def feed(self, data: bytes, now: float) -> Iterator[ObservedRequest]:
        """Yield the requests that these bytes complete. Raises HttpParseError."""
        if self._is_fresh and data[:1] == bytes((TLS_HANDSHAKE_BYTE,)):
            self.is_stopped = True
        self._is_fresh = False
        for byte in () if self.is_stopped else data:
            self._incomplete = (self._incomplete + bytes((byte,)))[:MAX_SHOWN_BYTES]
            try:
                self._parser.feed_data(bytes((byte,)))
            except HttpParserUpgrade:
                self.is_stopped = True  # another protocol follows
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
        collector = self._collector
        path = unquote(collector.url.decode("latin-1"))
        method = self._parser.get_method().decode("latin-1")
        return ObservedRequest(collector.user, method, path, collector.headers, bytes(collector.body), now)

    @property
    def incomplete(self) -> bytes:
        """The first line of an incomplete request; the rest may contain a password."""
        return self._incomplete.partition(b"\r\n")[0] if not self.is_stopped else b""


class ResponseReader:
    """Reads the responses to the requests in `pending_requests`."""

    def __init__(self) -> None:
        self.pending_requests: deque[ObservedRequest] = deque()
        self.is_stopped = False
        self._collector = MessageCollector()
        self._parser = HttpResponseParser(self._collector)

    @property
    def has_started(self) -> bool:
        """Whether a response has begun."""
        return self._collector.has_started

    @property
    def has_headers(self) -> bool:
        """Whether a response has begun and its headers are complete."""
        return self._collector.has_started and self._collector.has_headers

    @property
    def has_length(self) -> bool:
        """Whether the response itself defines where it ends."""
        return bool(self._collector.headers.keys() & {"content-length", "transfer-encoding"})

    def feed(self, data: bytes, now: float) -> Iterator[ObservedResponse | StreamPart]:
        """Yield the responses that these bytes complete, and parts of streams. Raises HttpParseError."""
        offset = 0
        while offset < len(data) and not self.is_stopped:
            # Feeding a body byte by byte would be slow; only its end can border on the next response.
            step = self._safe_step(data, offset)
            try:
                self._parser.feed_data(data[offset : offset + step])
            except HttpParserUpgrade:
                self.is_stopped = True
            except HttpParserError as error:
                self.is_stopped = True
                raise HttpParseError(f"{error}") from None
            offset += step
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

    def _safe_step(self, data: bytes, offset: int) -> int:
        """Return how many bytes certainly belong to the current response."""
        collector = self._collector
        length = collector.headers.get("content-length", "")
        if not collector.has_started or not collector.has_headers or not length.isdecimal():
            return 1
        return max(1, min(len(data) - offset, int(length) - len(collector.body)))

    def finish(self, now: float) -> Iterator[ObservedResponse]:
        """Finish at the end of the connection, which ends a response without a length."""
        if self.has_headers and not self.has_length and not self.is_stopped:
            yield self._response(now)
            self._reset()

    def _reset(self) -> None:
        self._collector = MessageCollector()
        self._parser = HttpResponseParser(self._collector)

    def _stream_parts(self, now: float) -> Iterator[StreamPart]:
        collector = self._collector
        separator = STREAM_SEPARATORS.get(collector.headers.get("content-type", "").partition(";")[0].strip().lower())
        if separator is None or not collector.has_headers:
            return
        while separator in collector.body:
            part, _, rest = collector.body.partition(separator)
            collector.body[:] = rest
            if value_text := _event_data(bytes(part)):
                yield StreamPart(self.pending_requests[0] if self.pending_requests else None, value_text, now)

    def _response(self, now: float) -> ObservedResponse:
        collector = self._collector
        request = self.pending_requests.popleft() if self.pending_requests else None
        return ObservedResponse(request, self._parser.get_status_code(), collector.headers, bytes(collector.body), now)


def _event_data(part: bytes) -> bytes:
    """Return the data of a part of a stream: of an event (WHATWG HTML, 9.2), or the whole line."""
    lines = part.split(b"\n")
    value_text = [line.partition(b":")[2].removeprefix(b" ") for line in lines if line.startswith(b"data:")]
    return (
        b"\n".join(value_text) if value_text else b"" if part[:1] == b":" or part.startswith(b"id:") else part.strip()
    )
