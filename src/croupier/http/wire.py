"""HTTP/1.1: requests and responses to bytes, and bytes to requests and responses with the bytes of each."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser, HttpResponseParser, parse_url
from msgspec import Struct

from croupier.core.errors import Violation
from croupier.core.spans import Span
from croupier.http.request_reader import framing_head

type Headers = Sequence[tuple[str, str]]

HTTP_CLAUSE: Final = "holdem-1.1"
"""The clause that messages are HTTP/1.1."""

MAX_HEAD_BYTES: Final = 1 << 16
"""A message with a longer start line and headers is malformed."""

MAX_BODY_BYTES: Final = 1 << 22
"""A longer body is cut."""


class SentRequest(Struct, frozen=True):
    """A request; header names are as they are sent."""

    method: str
    path: str
    headers: Headers = ()
    body: bytes = b""

    @property
    def target(self) -> str:
        """The method and the path."""
        return f"{self.method} {self.path}"

    def encode(self, host: str) -> bytes:
        """Encode the request. Adds Content-Length unless the headers frame the body."""
        header_names = {name.lower() for name, _ in self.headers}
        lines = [f"{self.method} {self.path} HTTP/1.1", f"Host: {host}"]
        lines += [f"{name}: {value}" for name, value in self.headers]
        if (self.body or self.method == "POST") and not header_names & {"content-length", "transfer-encoding"}:
            lines.append(f"Content-Length: {len(self.body)}")
        return "\r\n".join([*lines, "", ""]).encode() + self.body


def path_segments(path: str) -> list[str]:
    """Return the segments of a path, without its query.

    >>> path_segments("/games/1/?wait=9")
    ['games', '1']
    """
    return path.partition("?")[0].strip("/").split("/")


class ReceivedResponse(Struct, frozen=True):
    """A response; header names are in lower case, and the values of repeated headers are joined.

    `data` is the response as it was on the wire, and `version` the version of HTTP.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    data: bytes = b""
    version: str = "1.1"

    @property
    def keeps_open(self) -> bool:
        """Whether the connection may be used for another request."""
        return is_persistent(self.headers, self.version)

    @property
    def summary(self) -> str:
        """The status and the beginning of the body."""
        body = self.body[:200].decode(errors="backslashreplace").strip()
        return f"{self.status} {body}".strip()


HttpMessage = SentRequest | ReceivedResponse


def joined_headers(headers: Headers) -> dict[str, str]:
    """Return headers by their names in lower case; the values of repeated ones are joined."""
    found: dict[str, str] = {}
    for name, value in headers:
        key = name.lower()
        found[key] = f"{found[key]}, {value}" if key in found else value
    return found


def is_persistent(headers: Mapping[str, str], version: str) -> bool:
    """Whether the connection stays open after a message with these headers (RFC 9112, section 9.3)."""
    options = {option.strip() for option in headers.get("connection", "").lower().split(",")}
    return "keep-alive" in options if version == "1.0" else "close" not in options


def is_server_fault(status: int) -> bool:
    """Whether a status reports a fault of the server.

    501 is a refusal: the server has the method on no path (RFC 9110, section 15.6.2).
    """
    return status >= HTTPStatus.INTERNAL_SERVER_ERROR and status != HTTPStatus.NOT_IMPLEMENTED


class _MessageParts:
    """Callbacks for httptools that collect the parts of the current message. Trailers are ignored."""

    def __init__(self) -> None:
        self.on_message_begin()

    def on_message_begin(self) -> None:
        """Start a message."""
        self.url = b""
        self.headers: list[tuple[str, str]] = []
        self.body = bytearray()
        self.is_cut = False
        self.has_headers = False
        self.is_complete = False

    def on_url(self, url: bytes) -> None:
        """Collect a part of the target."""
        self.url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Collect a header."""
        if not self.has_headers:
            self.headers.append((name.decode("latin-1"), value.decode("utf-8", "backslashreplace")))

    def on_headers_complete(self) -> None:
        """Mark the headers as complete; the body follows."""
        self.has_headers = True

    def on_body(self, data: bytes) -> None:
        """Collect a part of the body."""
        kept = data[: MAX_BODY_BYTES - len(self.body)]
        self.body += kept
        self.is_cut = self.is_cut or len(kept) < len(data)

    def on_message_complete(self) -> None:
        """Mark the message as complete."""
        self.is_complete = True


class HttpReader[M](ABC):
    """Reads the messages of one end. What is malformed becomes a fatal Violation, after which nothing is read.

    The parser is fed with the longest pieces that cannot reach into the next message: the head, the sizes of chunks and
    the trailers line by line, a body or chunk as a whole. So a span has exactly the bytes of its message; that of a
    malformed one ends where the error was noticed. `is_stopped` is set after an error, and when another protocol
    follows. `keeps_open` is whether the connection stays open after the last message.
    """

    def __init__(self) -> None:
        self.is_stopped = False
        self.keeps_open = True
        self._span = bytearray()
        self._parts = _MessageParts()
        self._parser = self._new_parser()
        self._reset_framing()

    @property
    def incomplete(self) -> bytes:
        """The bytes after the last message, at most the first MAX_HEAD_BYTES + MAX_BODY_BYTES of them."""
        return bytes(self._span)

    @property
    def has_headers(self) -> bool:
        """Whether the headers of an incomplete message are complete."""
        return self._parts.has_headers

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers of the current message, as in `ReceivedResponse`."""
        return joined_headers(self._parts.headers)

    @property
    def is_cut(self) -> bool:
        """Whether the body of the current message is longer than MAX_BODY_BYTES."""
        return self._parts.is_cut

    def feed(self, data: bytes) -> Iterator[Span[M]]:
        """Yield the messages that these bytes complete."""
        at = 0
        while at < len(data) and not self.is_stopped:
            end = at + self._step(data, at)
            piece = data[at:end]
            at = end
            self._span += piece[: MAX_HEAD_BYTES + MAX_BODY_BYTES - len(self._span)]
            error = self._parse(piece)
            if error is not None:
                self.is_stopped = True
                yield Span(self._take_span(), Violation(HTTP_CLAUSE, error, "HTTP/1.1", fatal=True), at)
            elif self._parts.is_complete:
                yield from self._complete(at)

    def finish(self) -> Iterator[Span[M]]:
        """Yield the message that the end of the connection completes, if it has no length."""
        if self._ends_at_close and not self.is_stopped:
            yield from self._complete(0)

    @abstractmethod
    def _new_parser(self) -> Any:
        """Return a parser of httptools for the parts."""

    @abstractmethod
    def _on_upgrade(self) -> None:
        """Handle a message after which another protocol may follow."""

    @abstractmethod
    def _message(self) -> M | None:
        """Return the message that is complete, None if it is only an interim one."""

    def _reset_framing(self) -> None:
        self._body_left = 0  # bytes of the body or the chunk
        self._line_bytes = 0  # bytes of the head, of the size of a chunk, or of the trailers
        self._size_line: bytearray | None = None  # the size of the next chunk, as far as it has arrived
        self._ends_at_close = False

    def _step(self, data: bytes, at: int) -> int:
        """Return how many bytes certainly belong to the current message."""
        left = len(data) - at
        if self._ends_at_close:
            return left
        if self._body_left:
            return min(left, self._body_left)
        line_end = data.find(b"\n", at)
        return min(left if line_end < 0 else line_end + 1 - at, MAX_HEAD_BYTES + 1 - self._line_bytes)

    def _parse(self, piece: bytes) -> str | None:
        """Parse a piece; return what is wrong with it, None if nothing is."""
        is_in_head = not self._parts.has_headers
        try:
            try:
                self._parser.feed_data(piece)
            except HttpParserUpgrade:
                self._on_upgrade()
        except HttpParserError as error:
            return f"what is no HTTP/1.1 ({error})"
        if self._body_left:
            self._body_left -= len(piece)
        elif not self._ends_at_close:
            self._line_bytes += len(piece)
            if self._line_bytes > MAX_HEAD_BYTES:
                return f"a head of more than {MAX_HEAD_BYTES:,} bytes"
            self._read_line(piece, is_in_head=is_in_head)
        return None

    def _read_line(self, piece: bytes, *, is_in_head: bool) -> None:
        """Find out from a line, or a part of it, where the body or the next chunk ends."""
        if is_in_head:
            if self._parts.has_headers and not self._parts.is_complete:
                self._start_body()
        elif self._size_line is not None:
            self._size_line += piece
            if piece.endswith(b"\n"):
                size = _chunk_size(bytes(self._size_line))
                self._body_left = size + len(b"\r\n") if size else 0
                self._size_line = bytearray() if size else None  # trailers follow the last chunk
                self._line_bytes = 0

    def _start_body(self) -> None:
        headers = self.headers
        length = headers.get("content-length", "")
        self._line_bytes = 0
        if "chunked" in headers.get("transfer-encoding", "").lower():
            self._size_line = bytearray()
        elif "transfer-encoding" not in headers and length.isdecimal():
            self._body_left = int(length)
        else:
            self._ends_at_close = True

    def _complete(self, end: int) -> Iterator[Span[M]]:
        self.keeps_open = is_persistent(self.headers, self._parser.get_http_version()) and not self._ends_at_close
        message = self._message()
        self._parts.has_headers = self._parts.is_complete = False
        self._reset_framing()
        if message is not None:
            yield Span(self._take_span(), message, end)

    def _take_span(self) -> bytes:
        span = bytes(self._span)
        self._span.clear()
        return span


class RequestReader(HttpReader[SentRequest]):
    """Reads the requests of a client."""

    def _new_parser(self) -> Any:
        return HttpRequestParser(self._parts)

    def _on_upgrade(self) -> None:
        """Go on with the body: a client only offers another protocol."""
        parts = self._parts
        url, headers = parts.url, parts.headers
        head = framing_head(self._parser.get_method(), [(name.encode(), value.encode()) for name, value in headers])
        if head:
            self._parser.feed_data(head)
            parts.url, parts.headers = url, headers

    def _message(self) -> SentRequest:
        parts = self._parts
        method = self._parser.get_method().decode("latin-1")
        return SentRequest(method, _target(parts.url), tuple(parts.headers), bytes(parts.body))


class ResponseReader(HttpReader[ReceivedResponse]):
    """Reads the responses of a server. `methods` are those of the requests that it has not answered yet, in order."""

    def __init__(self) -> None:
        self.methods: deque[str] = deque()
        super().__init__()

    @property
    def beginning(self) -> ReceivedResponse:
        """The response as far as it has arrived, at least its headers."""
        return ReceivedResponse(
            self._parser.get_status_code(),
            self.headers,
            bytes(self._parts.body),
            self.incomplete,
            self._parser.get_http_version(),
        )

    def take_parts(self, separator: bytes) -> Sequence[bytes]:
        """Remove the parts that have ended from the body of an endless response, and return them."""
        *parts, rest = bytes(self._parts.body).split(separator)
        if parts:
            self._parts.body[:] = rest
            self._span.clear()
        return parts

    def _new_parser(self) -> Any:
        return HttpResponseParser(self._parts)

    def _on_upgrade(self) -> None:
        self.is_stopped = True

    def _start_body(self) -> None:
        super()._start_body()
        if self.methods and self.methods[0] == "HEAD":
            self._ends_at_close = False
            self._parts.on_message_complete()

    def _message(self) -> ReceivedResponse | None:
        response = self.beginning
        if response.status < 200:
            return None
        if self.methods and self.methods.popleft() == "HEAD":  # the parser waits for a body
            self._parser = self._new_parser()
        return response


def _target(url: bytes) -> str:
    """Return the target of a request with its query."""
    try:
        found = parse_url(url)
    except HttpParserError:  # as in OPTIONS *
        return url.decode("latin-1")
    return (found.path or b"/").decode("latin-1") + (f"?{found.query.decode('latin-1')}" if found.query else "")


def _chunk_size(line: bytes) -> int:
    """The size of a chunk, by a line that the parser has accepted."""
    return int(line.partition(b";")[0], 16)


def encode_chunks(body: bytes, size: int) -> bytes:
    """Encode a body in chunks of at most `size` bytes (RFC 9112, 7.1)."""
    parts = [body[offset : offset + size] for offset in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
