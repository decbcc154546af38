"""HTTP/1.1 client with control over every byte: requests whole, in pieces or pipelined."""

import asyncio
from collections import deque
from ssl import SSLContext

from croupier.conformance.channel.delivery import WHOLE, Delivery, close_connection
from croupier.conformance.timeouts import StallTolerantTimeout
from croupier.core.errors import Violation
from croupier.core.spans import Span
from croupier.http.wire import MAX_BODY_BYTES, ReceivedResponse, ResponseReader, SentRequest
from croupier.net.streams import ReceivedStream, Streams, open_streams

READ_BYTES = 1 << 16


class ResponseError(Exception):
    """No valid HTTP/1.1 response was received; the text says what was."""


class ResponseTimeout(ResponseError):
    """The response did not arrive completely within the timeout."""


class ConnectionEnded(ResponseError):
    """The connection ended where a response was due."""


class ConnectionWasReset(ConnectionEnded):
    """The connection was reset where a response was due: the server may have sent one, which the reset discarded."""


class ResponseCut(ResponseError):
    """A reset has cut the response."""


class HttpClient:
    """A persistent connection to a server, reopened if the server closes it. `timeout` is in seconds."""

    def __init__(self, host: str, port: int, *, ssl: SSLContext | None = None, timeout: float) -> None:
        self.host = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        self.close_count = 0
        self._address = (host, port)
        self._ssl = ssl
        self._timeout = timeout
        self._streams: Streams | None = None
        self._reader = ResponseReader()
        self._responses: deque[Span[ReceivedResponse]] = deque()
        self._is_stale = False  # the connection ended before any byte of a response

    async def request(
        self, request: SentRequest, *, delivery: Delivery = WHOLE, timeout: float | None = None
    ) -> ReceivedResponse:
        """Send a request and return the response.

        Raises ResponseError if no valid response arrives, and ConnectionError if the connection fails.
        """
        data = request.encode(self.host)
        is_new = self._streams is None
        try:
            return await self._exchange(data, request.method, delivery, timeout)
        except ResponseError:
            if is_new or not self._is_stale:
                raise
        # A server may close an idle connection at any time: retry once on a new one.
        return await self._exchange(data, request.method, delivery, timeout)

    async def _exchange(self, data: bytes, method: str, delivery: Delivery, timeout: float | None) -> ReceivedResponse:
        await self.send(data, delivery)
        self._is_stale = False
        self._reader.methods.append(method)
        return await self.receive(timeout)

    async def send(self, data: bytes, delivery: Delivery = WHOLE) -> None:
        """Send bytes. Raises ConnectionError if there is no connection."""
        try:
            if self._streams is None:
                async with StallTolerantTimeout(self._timeout):
                    self._streams = await open_streams(*self._address, ssl=self._ssl)
                self._reader = ResponseReader()
                self._responses.clear()
            await delivery.write(self._streams[1], data)
        except TimeoutError:
            raise ConnectionError(f"nobody takes a connection at {self.host}") from None
        except (ConnectionResetError, BrokenPipeError):  # a response that was sent before can still be read
            pass

    async def receive(self, timeout: float | None = None, *, is_stream: bool = False) -> ReceivedResponse:
        """Receive the next response; of a stream its beginning, after which the connection is closed.

        Raises ResponseError.
        """
        if self._streams is None:
            raise ConnectionEnded("the end of the connection")
        seconds = self._timeout if timeout is None else timeout
        stream, reader = self._streams[0], self._reader
        try:
            async with StallTolerantTimeout(seconds):
                span = await self._next_response(stream, is_stream=is_stream)
        except TimeoutError:
            await self.close()
            found = repr(reader.incomplete[:80]) if reader.incomplete else "nothing"
            raise ResponseTimeout(f"{found} within {seconds:g} s") from None
        except asyncio.CancelledError:  # a late response must not be taken for the next one
            self.abort()
            raise
        except OSError as error:
            kinds = (ConnectionWasReset, ResponseCut) if stream.was_reset else (ConnectionEnded, ResponseError)
            await self.close()
            self._is_stale = not reader.incomplete
            raise kinds[bool(reader.incomplete)](f"{reader.incomplete[:80]!r} ({error})") from None
        if isinstance(span.message, Violation):
            await self.close()
            raise ResponseError(f"{span.data[:80]!r} ({span.message.found})")
        if is_stream or not (reader.keeps_open or self._responses):
            await self.close()
        return span.message

    async def _next_response(self, stream: ReceivedStream, *, is_stream: bool) -> Span[ReceivedResponse]:
        """Return the next response, or what is none. Raises OSError."""
        while not self._responses:
            if is_stream and self._reader.has_headers and self._reader.beginning.body:
                return Span(self._reader.incomplete, self._reader.beginning, 0)
            data = await stream.read(READ_BYTES)
            if data:
                self._responses += self._reader.feed(data)
            elif not stream.was_reset:
                self._responses += self._reader.finish()
            if self._reader.is_cut:
                raise ConnectionResetError(f"more than {MAX_BODY_BYTES} bytes")
            if not data and not self._responses:
                raise ConnectionResetError("the end of the connection")
        return self._responses.popleft()

    async def close(self) -> None:
        """Close the connection; the next request opens a new one."""
        if self._streams is None:
            return
        _, writer = self._streams
        self._streams = None
        self.close_count += 1
        await close_connection(writer)

    def abort(self) -> None:
        """Reset the connection."""
        if self._streams is not None:
            self._streams[1].transport.abort()
            self._streams = None
