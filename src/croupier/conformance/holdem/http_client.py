"""HTTP/1.1 client with control over every byte: requests whole, in pieces or pipelined."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from ssl import SSLContext
from types import TracebackType
from typing import Final, Self

from httptools import HttpParserError, HttpResponseParser
from msgspec import Struct

from croupier.conformance.holdem.timeouts import StallTolerantTimeout

type Headers = Sequence[tuple[str, str]]

MAX_RESPONSE_BYTES: Final = 1 << 22

SHOWN_HEADERS: Final = frozenset(
    {"authorization", "content-type", "location", "www-authenticate", "x-fold-reason", "allow"}
)
"""The headers that dialogues show: those with a meaning for the game."""

MAX_SHOWN_BODY_BYTES: Final = 600


class ResponseError(Exception):
    """No valid HTTP/1.1 response was received; the text says what was."""


class ResponseTimeout(ResponseError):
    """The response did not arrive completely within the timeout."""


class SentRequest(Struct, frozen=True):
    """A request; header names are sent as they are here."""

    method: str
    path: str
    headers: Headers = ()
    body: bytes = b""

    def encode(self, host: str) -> bytes:
        """Encode the request. Adds Content-Length unless the headers frame the body."""
        header_names = {name.lower() for name, _ in self.headers}
        lines = [f"{self.method} {self.path} HTTP/1.1", f"Host: {host}"]
        lines += [f"{name}: {value}" for name, value in self.headers]
        if (self.body or self.method == "POST") and not header_names & {"content-length", "transfer-encoding"}:
            lines.append(f"Content-Length: {len(self.body)}")
        return "\r\n".join([*lines, "", ""]).encode() + self.body

    def render(self) -> bytes:
        """Render the request for a dialogue, with the relevant headers only."""
        lines = [f"{self.method} {self.path}"]
        lines += [f"{name}: {value}" for name, value in self.headers if name.lower() in SHOWN_HEADERS]
        return _render(lines, self.body)


class ReceivedResponse(Struct, frozen=True):
    """A response as received; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def render(self) -> bytes:
        """Render the response for a dialogue."""
        lines = [str(self.status)]
        lines += [f"{name}: {value}" for name, value in self.headers.items() if name in SHOWN_HEADERS]
        return _render(lines, self.body)

    @property
    def summary(self) -> str:
        """The status and the beginning of the body."""
        body = self.body[:200].decode(errors="backslashreplace").strip()
        return f"{self.status} {body}".strip()


def _render(lines: Sequence[str], body: bytes) -> bytes:
    cut = body if len(body) <= MAX_SHOWN_BODY_BYTES else body[:MAX_SHOWN_BODY_BYTES] + b"..."
    return "\n".join(lines).encode() + (b"\n\n" + cut if cut else b"")


class ResponseCollector:
    """Callbacks for httptools that collect one response. `without_body`: the response to HEAD has no body."""

    def __init__(self, *, without_body: bool) -> None:
        self.headers: dict[str, str] = {}
        self.body = bytearray()
        self.is_complete = False
        self.has_headers = False
        self._without_body = without_body

    def on_header(self, name: bytes, value: bytes) -> None:
        """Collect a header; values of repeated headers are joined."""
        key = name.decode("latin-1").lower()
        header_names = value.decode("utf-8", "backslashreplace")
        self.headers[key] = f"{self.headers[key]}, {header_names}" if key in self.headers else header_names

    def on_headers_complete(self) -> None:
        """Mark the headers as complete; the body follows."""
        self.has_headers = True
        self.is_complete = self.is_complete or self._without_body

    def on_body(self, data: bytes) -> None:
        """Collect a part of the body."""
        self.body += data

    def on_message_complete(self) -> None:
        """Mark the response as complete."""
        self.is_complete = True


class HttpClient:
    """A persistent connection to a server, reopened if the server closes it. `timeout` is in seconds."""

    def __init__(self, host: str, port: int, *, ssl: SSLContext | None = None, timeout: float = 5.0) -> None:
        self.host = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        self.close_count = 0
        self._address = (host, port)
        self._ssl = ssl
        self._timeout = timeout
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._is_stale = False  # the connection ended before any byte of a response

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def request(
        self, request: SentRequest, *, piece_bytes: int = 0, timeout: float | None = None
    ) -> ReceivedResponse:
        """Send a request and return the response. A positive `piece_bytes` cuts the request into pieces of this size.

        Raises ResponseError if no valid response arrives, and ConnectionError if the connection fails.
        """
        data = request.encode(self.host)
        is_new = self._streams is None
        try:
            return await self._exchange(data, request.method, piece_bytes, timeout)
        except ResponseError:
            if is_new or not self._is_stale:
                raise
        # A server may close an idle connection at any time: retry once on a new one.
        return await self._exchange(data, request.method, piece_bytes, timeout)

    async def _exchange(self, data: bytes, method: str, size: int, timeout: float | None) -> ReceivedResponse:
        await self.send(data, size)
        self._is_stale = False
        return await self.receive(without_body=method == "HEAD", timeout=timeout)

    async def send(self, data: bytes, piece_bytes: int = 0) -> None:
        """Send bytes, in pieces of `piece_bytes` if it is positive."""
        try:
            if self._streams is None:
                async with StallTolerantTimeout(self._timeout):
                    self._streams = await asyncio.open_connection(*self._address, ssl=self._ssl)
            _, writer = self._streams
            for offset in range(0, len(data), piece_bytes or len(data) or 1):
                writer.write(data[offset : offset + (piece_bytes or len(data))])
                await writer.drain()
                if piece_bytes:
                    await asyncio.sleep(0)
        except TimeoutError:
            raise ConnectionError(f"nobody takes a connection at {self.host}") from None
        except (ConnectionResetError, BrokenPipeError):  # a response that was sent before can still be read
            pass

    async def receive(self, *, without_body: bool = False, timeout: float | None = None) -> ReceivedResponse:
        """Receive the next response. Raises ResponseError."""
        if self._streams is None:
            raise ResponseError("the end of the connection")
        collector = ResponseCollector(without_body=without_body)
        parser = HttpResponseParser(collector)
        seconds = self._timeout if timeout is None else timeout
        received = bytearray()
        try:
            async with StallTolerantTimeout(seconds):
                await self._read(parser, collector, received)
        except TimeoutError:
            await self.close()
            found = repr(bytes(received[:80])) if received else "nothing"
            raise ResponseTimeout(f"{found} within {seconds:g} s") from None
        except asyncio.CancelledError:  # a late response must not be taken for the next one
            self.abort()
            raise
        except (HttpParserError, OSError, EOFError, ValueError) as error:  # an endless line raises ValueError
            await self.close()
            self._is_stale = not received
            raise ResponseError(f"{bytes(received[:80])!r} ({error})") from None
        if collector.headers.get("connection", "").lower() == "close" or parser.get_http_version() == "1.0":
            await self.close()
        return ReceivedResponse(parser.get_status_code(), collector.headers, bytes(collector.body))

    async def receive_beginning(self, request: SentRequest) -> ReceivedResponse:
        """Return the beginning of a streamed response and close the connection. Raises ResponseError."""
        await self.send(request.encode(self.host))
        collector = ResponseCollector(without_body=False)
        parser = HttpResponseParser(collector)
        try:
            async with StallTolerantTimeout(self._timeout):
                while (
                    self._streams
                    and not collector.body
                    and not collector.is_complete
                    and (data := await self._streams[0].read(1 << 16))
                ):
                    parser.feed_data(data)
            status = parser.get_status_code()
        except TimeoutError:
            raise ResponseTimeout(f"no beginning of an answer within {self._timeout:g} s") from None
        except (HttpParserError, OSError) as error:
            raise ResponseError(f"no beginning of an answer ({error})") from None
        finally:
            await self.close()
        if not collector.has_headers:
            raise ResponseError("the end of the connection")
        return ReceivedResponse(status, collector.headers, bytes(collector.body))

    async def _read(self, parser: HttpResponseParser, collector: ResponseCollector, received: bytearray) -> None:
        """Read one response, without reading into a pipelined next one."""
        assert self._streams is not None
        reader, _ = self._streams
        while not collector.is_complete:
            line = await (reader.readline() if not collector.has_headers else self._body(reader, collector))
            if not line:
                ends_at_close = collector.has_headers and not collector.headers.keys() & {
                    "content-length",
                    "transfer-encoding",
                }
                await self.close()
                if ends_at_close:
                    return
                raise ConnectionResetError("the end of the connection")
            received += line
            if len(received) > MAX_RESPONSE_BYTES:
                raise ConnectionResetError(f"more than {MAX_RESPONSE_BYTES} bytes")
            parser.feed_data(line)

    async def _body(self, reader: asyncio.StreamReader, collector: ResponseCollector) -> bytes:
        """Read a piece that certainly belongs to this body."""
        length = collector.headers.get("content-length", "")
        if length.isdecimal() and "transfer-encoding" not in collector.headers:
            return await reader.read(max(1, int(length) - len(collector.body)))
        if "transfer-encoding" not in collector.headers:
            return await reader.read(1 << 16)
        line = await reader.readline()
        try:
            size = int(line.partition(b";")[0], 16)
        except ValueError:  # the end of a trailer, or an invalid chunk: the parser decides
            return line
        return line + (await reader.readexactly(size + 2) if size else b"")

    async def close(self) -> None:
        """Close the connection; the next request opens a new one."""
        if self._streams is None:
            return
        _, writer = self._streams
        self._streams = None
        self.close_count += 1
        writer.close()
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(1.0):
                await writer.wait_closed()

    def abort(self) -> None:
        """Reset the connection."""
        if self._streams is not None:
            self._streams[1].transport.abort()
            self._streams = None
