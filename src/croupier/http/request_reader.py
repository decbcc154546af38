"""Reads HTTP/1.1 requests with httptools' parser, one head at a time."""

from collections.abc import Iterable
from typing import Final
from urllib.parse import unquote

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser, parse_url

from croupier.http.messages import Header, Request

MAX_CHUNK_BYTES: Final = 16_384
"""Maximum number of bytes fed to the parser at once, with the end of at most one head among them."""

MAX_KNOWN_REQUESTS: Final = 4
"""The number of different requests of a connection that are recognised when they are repeated."""

MAX_KNOWN_REQUEST_BYTES: Final = 2048
"""Repeated requests are recognised up to this size."""

MAX_HEADERS: Final = 100
"""Maximum number of headers of a request, and of its trailers: a short header takes twenty times its size in memory."""

FRAMING_HEADERS: Final = frozenset({b"content-length", b"transfer-encoding"})
"""The headers that say where a body ends."""

HEAD_END: Final = b"\r\n\r\n"


def framing_head(method: bytes, headers: Iterable[Header]) -> bytes:
    """Return a head of a request with those of these headers that frame a body, b"" if there are none.

    The parser takes a request that offers another protocol (`Upgrade`) for complete after its head; fed with this head,
    it reads the body.
    """
    framing = [b"%b: %b\r\n" % header for header in headers if header[0].lower() in FRAMING_HEADERS]
    return b"%b / HTTP/1.1\r\n%b\r\n" % (method, b"".join(framing)) if framing else b""


class RequestReader:
    """Parses what a client sends, chunk by chunk; bytes wait in `unparsed`, from `offset` on, until `read` is called.

    `is_in_head` is set while the rest of a head is still to come, and `body_owner` is the request of which the rest of
    the body is. `body` is what has arrived of it, while `wants_body` is set. `has_begun_request` is set whenever a
    request begins. `error` is the status and the description of what cannot be a request; what follows is not parsed.
    `known_requests` are requests that arrived alone and whole, by their bytes: programs send the same bytes again.
    """

    def __init__(self, address: str, max_header_bytes: int) -> None:
        self.unparsed = b""
        self.offset = 0
        self.body = bytearray()
        self.wants_body = False
        self.expects_continue = False
        self.has_begun_request = False
        self.is_in_head = False
        self.body_owner: Request | None = None
        self.error: tuple[int, str] | None = None
        self.known_requests: dict[bytes, Request] = {}
        self._address = address
        self._max_header_bytes = max_header_bytes
        self._parser = HttpRequestParser(self)
        self._url = b""
        self._headers: list[Header] = []
        self._header_count = 0
        self._head_bytes = 0
        self._head_tail = b""
        self._bytes_since_body = 0  # of the sizes and extensions of chunks, and of trailers
        self._newest: Request | None = None

    def discard(self) -> None:
        """Forget the unparsed bytes."""
        self.unparsed, self.offset = b"", 0

    def read(self) -> Request | None:
        """Parse a chunk; return the request whose head ends in it, complete or not.

        The chunk ends with a head if another one follows, else with the unparsed bytes.
        """
        data, start = self.unparsed, self.offset
        limit = start + MAX_CHUNK_BYTES
        at = data.find(HEAD_END, start, limit)
        stop = limit if at < 0 else at + len(HEAD_END)
        if self.is_in_head:
            stop = self._find_begun_end(data, start) or stop
        if data.find(HEAD_END, stop, limit) < 0:
            stop = min(limit, len(data))
        chunk = data[start:stop]
        self.unparsed, self.offset = (data, stop) if stop < len(data) else (b"", 0)
        before, was_in_request = self._newest, self.is_in_head or self.body_owner
        try:
            try:
                self._parser.feed_data(chunk)
            except HttpParserUpgrade as upgrade:  # it is ignored: what follows is HTTP/1.1, too
                self.unparsed, self.offset = chunk[upgrade.args[0] :] + self.unparsed[self.offset :], 0
                self._parse_framing()
        except HttpParserError:
            self.error = self.error or (400, "found what is no HTTP/1.1 request; allowed: that")
        if self.is_in_head or self.body_owner is not None:
            self._count_bytes(chunk)
        if self.error is not None:
            self.discard()
        if self._newest is None or self._newest is before:
            return None
        is_alone = not (was_in_request or self.is_in_head or self.unparsed or self.error)
        if is_alone and self._newest.is_complete and len(chunk) <= MAX_KNOWN_REQUEST_BYTES:
            if len(self.known_requests) == MAX_KNOWN_REQUESTS:
                self.known_requests.clear()
            self.known_requests[chunk] = self._newest
        return self._newest

    def _parse_framing(self) -> None:
        """Make the parser read the body of a request that offers another protocol, which it takes for complete."""
        assert self._newest is not None, "an offer is in a head"
        head = framing_head(b"POST", self._newest.headers)
        if head:
            self._newest.is_complete, self.body_owner = False, self._newest
            self._parser.feed_data(head)

    def _count_bytes(self, chunk: bytes) -> None:
        """Limit what a request has before its body, and in and after it besides the body itself."""
        if self.is_in_head:
            self._head_tail = (self._head_tail + chunk)[1 - len(HEAD_END) :]
            self._head_bytes += len(chunk)
            if self._head_bytes > self._max_header_bytes:
                self.error = 431, f"found a head of {self._head_bytes} bytes; allowed: {self._max_header_bytes}"
        else:
            self._bytes_since_body += len(chunk)
            if self._bytes_since_body > self._max_header_bytes + MAX_CHUNK_BYTES:
                self.error = 431, f"found trailers without an end; allowed: {self._max_header_bytes} bytes"

    def _find_begun_end(self, data: bytes, start: int) -> int | None:
        """Return where the end of a head ends that the chunk before has begun, None if it has not."""
        at = (self._head_tail + data[start : start + len(HEAD_END) - 1]).find(HEAD_END)
        return None if at < 0 else start + at + len(HEAD_END) - len(self._head_tail)

    # Events of the parser. What they raise is an error of the client.

    def on_message_begin(self) -> None:
        """A request begins, unless this is only the framing of a body again."""
        if self.body_owner is not None:
            return
        self.is_in_head = self.has_begun_request = True
        self.expects_continue = False
        self._header_count = self._head_bytes = 0
        self._head_tail = b""
        self._url = b""
        self._headers = []

    def on_url(self, url: bytes) -> None:
        """A part of the request's target has arrived."""
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header has arrived, or a trailer, which is ignored."""
        self._header_count += 1
        if self._header_count > MAX_HEADERS:
            self.error = 431, f"found more than {MAX_HEADERS} headers; allowed: {MAX_HEADERS}"
            raise ValueError(self.error)
        if self.body_owner is not None:
            return
        name = name.lower()
        if name == b"expect" and value.lower() == b"100-continue":
            self.expects_continue = True
        self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        """The head is complete."""
        if self.body_owner is not None:
            return
        url = parse_url(self._url)
        path = url.path.decode("ascii")
        headers, version = self._headers, self._parser.get_http_version()
        self._newest = Request(
            self._parser.get_method().decode("ascii"),
            unquote(path) if "%" in path else path,
            url.query or b"",
            headers,
            dict(headers),
            self._address,
            version != "1.1" or [name for name, _ in headers].count(b"host") == 1,
            version != "1.0" and self._parser.should_keep_alive(),
        )
        self._headers = []
        self._header_count = self._bytes_since_body = 0
        self.body = bytearray()
        self.wants_body, self.body_owner = True, self._newest
        self.is_in_head = False

    def on_body(self, body: bytes) -> None:
        """A part of the body has arrived."""
        self._bytes_since_body = 0
        if self.wants_body:
            self.body += body

    def on_message_complete(self) -> None:
        """The request is complete."""
        assert self._newest is not None, "a request has a head"
        self._newest.is_complete = True
        self._newest.body = bytes(self.body)
        self.body_owner = None
