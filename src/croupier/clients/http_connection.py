"""A connection to an HTTP/1.1 server: one request at a time, on httptools' parser."""

import asyncio
from asyncio import Future
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final, Protocol, cast

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser
from msgspec import Struct

from croupier.net.prompt_connection import Acknowledger

MAX_HEAD_BYTES: Final = 100 << 10
"""Maximum size of the head of a response."""


class ResponseHead(Struct, frozen=True):
    """The status and the headers of a response. Names are in lower case; values of equal names are joined by commas."""

    status: int
    headers: Mapping[str, str]


class ResponseReceiver(Protocol):
    """What becomes of a response. Its methods raise nothing."""

    def on_head(self, head: ResponseHead) -> None:
        """The head has arrived."""
        ...

    def on_body(self, data: bytes) -> None:
        """A part of the body has arrived."""
        ...

    def on_end(self) -> None:
        """The response is complete. The connection may send another request."""
        ...

    def on_failure(self, error: ConnectionError) -> None:
        """The connection has ended before the response was complete."""
        ...


class HttpConnection(asyncio.Protocol):
    """A connection. `is_reusable` is whether it can send a request, and `idle_since` the loop's time since when."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.is_reusable = True
        self.idle_since = loop.time()
        self.closed: Future[None] = loop.create_future()
        self.transport: asyncio.Transport = cast(asyncio.Transport, None)
        self._loop = loop
        self._receiver: ResponseReceiver | None = None
        self._acknowledger = Acknowledger()
        self._headers: dict[str, str] = {}
        self._head_bytes = 0
        self._has_head = False
        self._is_interim = False
        self._ends_with_connection = False
        self._keep_alive = False
        self._start_parser()

    def send(self, request: bytes, receiver: ResponseReceiver) -> None:
        """Send a request. The connection must be reusable."""
        self.is_reusable = False
        self._receiver = receiver
        self.transport.write(request)

    def restart(self, transport: asyncio.BaseTransport) -> None:
        """Go on with another transport: TLS through a proxy."""
        self._receiver = None
        self._start_parser()
        self.connection_made(transport)
        self.is_reusable = True

    def close(self) -> None:
        """Close the connection at once; a response that is not complete has failed."""
        self._fail("the connection was closed")

    # Events of the transport.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection is open."""
        self.transport = cast(asyncio.Transport, transport)  # uvloop's transports are no subclass of it

    def data_received(self, data: bytes) -> None:
        """Parse what has arrived."""
        self._acknowledger.on_data(self.transport, self._loop.time())
        if self._receiver is None:  # the server sends what no request has asked for
            self.close()
            return
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade) as error:
            self._fail(f"the answer is not HTTP/1.1 ({str(error).rstrip('.')})")
            return
        if not self._has_head:
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES:
                self._fail(f"the answer has a head of more than {MAX_HEAD_BYTES:,} bytes")

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is closed: that is the end of a response without a length."""
        self.is_reusable = False
        if not self.closed.done():
            self.closed.set_result(None)
        if exc is None and self._has_head and self._ends_with_connection:
            self._end()
        else:
            self._fail("the server has closed the connection" if exc is None else str(exc) or type(exc).__name__)

    # Events of the parser.

    def on_message_begin(self) -> None:
        """A response begins; without a request, the connection is useless."""
        self._headers, self._has_head = {}, False
        if self._receiver is None:
            self.close()

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header has arrived, or a trailer, which is ignored."""
        if self._has_head:
            return
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        before = self._headers.get(key)
        self._headers[key] = text if before is None else f"{before}, {text}"

    def on_headers_complete(self) -> None:
        """The head is complete."""
        status, headers = self._parser.get_status_code(), self._headers
        self._is_interim = status < HTTPStatus.OK
        if self._is_interim or self._receiver is None:
            return
        self._has_head, self._head_bytes = True, 0
        self._keep_alive = self._parser.should_keep_alive()
        self._ends_with_connection = "content-length" not in headers and "transfer-encoding" not in headers
        self._receiver.on_head(ResponseHead(status, headers))

    def on_body(self, body: bytes) -> None:
        """A part of the body has arrived."""
        if self._receiver is not None:
            self._receiver.on_body(body)

    def on_message_complete(self) -> None:
        """The response is complete, unless the final one follows."""
        if not self._is_interim:
            self._end()

    # The end of a response.

    def _start_parser(self) -> None:
        self._parser = HttpResponseParser(self)
        self._parser.set_dangerous_leniencies(  # as other clients accept it
            lenient_headers=True,
            lenient_chunked_length=True,
            lenient_optional_cr_before_lf=True,
            lenient_spaces_after_chunk_size=True,
        )

    def _end(self) -> None:
        receiver, self._receiver = self._receiver, None
        if receiver is None:
            return
        self.is_reusable = self._keep_alive and not self.transport.is_closing()
        self.idle_since = self._loop.time()
        if not self.is_reusable:
            self.transport.abort()
        receiver.on_end()

    def _fail(self, reason: str) -> None:
        self.is_reusable = False
        self.transport.abort()
        receiver, self._receiver = self._receiver, None
        if receiver is not None:
            receiver.on_failure(ConnectionError(reason))
