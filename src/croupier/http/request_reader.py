"""Reads HTTP/1.1 requests with httptools' parser, one head at a time."""

from typing import Final
from urllib.parse import unquote

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser, parse_url

from croupier.http.messages import Header, Request

MAX_CHUNK_BYTES: Final = 16_384
"""Maximum number of bytes fed to the parser at once, with the end of at most one head among them."""

MAX_REPEATED_REQUEST_BYTES: Final = 4096
"""A repeated request is recognised up to this size."""

HEAD_END: Final = b"\r\n\r\n"


class RequestReader:
    """Parses what a client sends, chunk by chunk; bytes wait in `unparsed`, from `offset` on, until `read` is called.

    `is_in_head` and `is_in_body` tell which part of the newest request is still to come. `body` is what has arrived of
    its body, while `wants_body` is set. `has_begun_request` is set whenever a request begins. `error` is the status and
    the description of what cannot be a request; what follows is not parsed. `repeated` are the bytes of
    `repeated_request`, if that arrived alone and whole: clients that poll send the same bytes again.
    """

    def __init__(self, address: str, max_header_bytes: int) -> None:
        self.unparsed = b""
        self.offset = 0
        self.body = bytearray()
        self.wants_body = False
        self.expects_continue = False
        self.has_begun_request = False
        self.is_in_head = False
        self.is_in_body = False
        self.error: tuple[int, str] | None = None
        self.repeated = b""
        self.repeated_request: Request | None = None
        self._address = address
        self._max_header_bytes = max_header_bytes
        self._parser = HttpRequestParser(self)
        self._url = b""
        self._headers: list[Header] = []
        self._head_bytes = 0
        self._newest: Request | None = None

    def is_reading_body_of(self, request: Request | None) -> bool:
        """Whether the rest of this request's body is still to come."""
        return self.is_in_body and self._newest is request

    def discard(self) -> None:
        """Forget the unparsed bytes."""
        self.unparsed, self.offset = b"", 0

    def read(self) -> Request | None:
        """Parse a chunk; return the request whose head ends in it, complete or not.

        The chunk ends with a head if another one follows, else with the unparsed bytes.
        """
        data, start = self.unparsed, self.offset
        limit = start + MAX_CHUNK_BYTES
        stop = data.find(HEAD_END, start, limit) + len(HEAD_END)
        if stop < len(HEAD_END) or data.find(HEAD_END, stop, limit) < 0:
            stop = min(limit, len(data))
        chunk = data[start:stop]
        self.unparsed, self.offset = (data, stop) if stop < len(data) else (b"", 0)
        before, was_in_request = self._newest, self.is_in_head or self.is_in_body
        try:
            self._parser.feed_data(chunk)
        except HttpParserUpgrade as upgrade:  # it is ignored: what follows is HTTP/1.1, too
            self.unparsed, self.offset = chunk[upgrade.args[0] :] + self.unparsed[self.offset :], 0
        except HttpParserError:
            self.error = 400, "found what is no HTTP/1.1 request; allowed: that"
        if self.is_in_head:
            self._head_bytes += len(chunk)
            if self._head_bytes > self._max_header_bytes:
                self.error = 431, f"found a head of {self._head_bytes} bytes; allowed: {self._max_header_bytes}"
        if self.error is not None:
            self.discard()
        request = None if self._newest is before else self._newest
        is_alone = request is not None and request.is_complete and not was_in_request and not self.is_in_head
        self.repeated = chunk
        self.repeated_request = request if is_alone and len(chunk) <= MAX_REPEATED_REQUEST_BYTES else None
        return request

    # Events of the parser. What they raise is an error of the client.

    def on_message_begin(self) -> None:
        """A request begins."""
        self.is_in_head = self.has_begun_request = True
        self.expects_continue = False
        self._head_bytes = 0
        self._url = b""
        self._headers = []

    def on_url(self, url: bytes) -> None:
        """A part of the request's target has arrived."""
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header has arrived, or a trailer, which is ignored."""
        name = name.lower()
        if name == b"expect" and value.lower() == b"100-continue":
            self.expects_continue = True
        self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        """The head is complete."""
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
        self.body = bytearray()
        self.wants_body = self.is_in_body = True
        self.is_in_head = False

    def on_body(self, body: bytes) -> None:
        """A part of the body has arrived."""
        if self.wants_body:
            self.body += body

    def on_message_complete(self) -> None:
        """The request is complete."""
        assert self._newest is not None, "a request has a head"
        self._newest.is_complete = True
        self._newest.body = bytes(self.body)
        self.is_in_body = False
