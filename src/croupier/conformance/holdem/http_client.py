"""Requests to a server under test and its answers, with every byte in our hands: whole, in pieces, together."""

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
"""An answer of more bytes is given up."""

SHOWN_HEADERS: Final = frozenset(
    {"authorization", "content-type", "location", "www-authenticate", "x-fold-reason", "allow"}
)
"""The headers that are shown in a dialogue: those that matter to a game."""

MAX_SHOWN_BODY_BYTES: Final = 600
"""So many bytes of a body are shown in a dialogue."""


class ResponseError(Exception):
    """What came is no answer of HTTP/1.1, or none came; the text says what was found."""


class ResponseTimeout(ResponseError):
    """Nothing came, or not all of an answer, for as long as there was patience."""


class SentRequest(Struct, frozen=True):
    """A request; names of headers as they are sent."""

    method: str
    path: str
    headers: Headers = ()
    body: bytes = b""

    def encode(self, host: str) -> bytes:
        """Its bytes. The length of the body is told, unless a header does so already."""
        told = {name.lower() for name, _ in self.headers}
        lines = [f"{self.method} {self.path} HTTP/1.1", f"Host: {host}"]
        lines += [f"{name}: {value}" for name, value in self.headers]
        if (self.body or self.method == "POST") and not told & {"content-length", "transfer-encoding"}:
            lines.append(f"Content-Length: {len(self.body)}")
        return "\r\n".join([*lines, "", ""]).encode() + self.body

    def render(self) -> bytes:
        """The request as a dialogue shows it: without the headers that do not matter."""
        lines = [f"{self.method} {self.path}"]
        lines += [f"{name}: {value}" for name, value in self.headers if name.lower() in SHOWN_HEADERS]
        return _render(lines, self.body)


class ReceivedResponse(Struct, frozen=True):
    """An answer as it came: names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def render(self) -> bytes:
        """The answer as a dialogue shows it."""
        lines = [str(self.status)]
        lines += [f"{name}: {value}" for name, value in self.headers.items() if name in SHOWN_HEADERS]
        return _render(lines, self.body)

    @property
    def summary(self) -> str:
        """The answer in one line."""
        body = self.body[:200].decode(errors="backslashreplace").strip()
        return f"{self.status} {body}".strip()


def _render(lines: Sequence[str], body: bytes) -> bytes:
    cut = body if len(body) <= MAX_SHOWN_BODY_BYTES else body[:MAX_SHOWN_BODY_BYTES] + b"..."
    return "\n".join(lines).encode() + (b"\n\n" + cut if cut else b"")


class ResponseCollector:
    """Hears one answer, as httptools tells it. A `headless` one, to HEAD, has no body whatever its headers say."""

    def __init__(self, *, without_body: bool) -> None:
        self.headers: dict[str, str] = {}
        self.body = bytearray()
        self.is_complete = False
        self.has_headers = False
        self._without_body = without_body

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header: of those that come twice the values are joined."""
        key = name.decode("latin-1").lower()
        told = value.decode("utf-8", "backslashreplace")
        self.headers[key] = f"{self.headers[key]}, {told}" if key in self.headers else told

    def on_headers_complete(self) -> None:
        """What follows is the body."""
        self.has_headers = True
        self.is_complete = self.is_complete or self._without_body

    def on_body(self, data: bytes) -> None:
        """A part of the body."""
        self.body += data

    def on_message_complete(self) -> None:
        """It is all there."""
        self.is_complete = True


class HttpClient:
    """A user's connection to a server, kept as long as the server keeps it. `patience` is in seconds."""

    def __init__(self, host: str, port: int, *, ssl: SSLContext | None = None, timeout: float = 5.0) -> None:
        self.host = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        self.close_count = 0
        self._address = (host, port)
        self._ssl = ssl
        self._timeout = timeout
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._is_stale = False  # the connection had ended before anything of an answer came

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def request(
        self, request: SentRequest, *, piece_bytes: int = 0, timeout: float | None = None
    ) -> ReceivedResponse:
        """Ask, and hear the answer. `size` cuts the request into pieces of so many bytes; 0 sends it whole.

        Raises Unreadable where no answer comes, ConnectionError where nobody takes the connection.
        """
        data = request.encode(self.host)
        fresh = self._streams is None
        try:
            return await self._exchange(data, request.method, piece_bytes, timeout)
        except ResponseError:
            if fresh or not self._is_stale:
                raise
        # A server may close a connection at any time between two requests: once more, on a new one.
        return await self._exchange(data, request.method, piece_bytes, timeout)

    async def _exchange(self, data: bytes, method: str, size: int, timeout: float | None) -> ReceivedResponse:
        await self.send(data, size)
        self._is_stale = False
        return await self.receive(without_body=method == "HEAD", timeout=timeout)

    async def send(self, data: bytes, piece_bytes: int = 0) -> None:
        """Send bytes, in pieces of `size`, each on its own; 0 is all together."""
        try:
            if self._streams is None:
                async with StallTolerantTimeout(self._timeout):
                    self._streams = await asyncio.open_connection(*self._address, ssl=self._ssl)
            _, writer = self._streams
            for at in range(0, len(data), piece_bytes or len(data) or 1):
                writer.write(data[at : at + (piece_bytes or len(data))])
                await writer.drain()
                if piece_bytes:
                    await asyncio.sleep(0)
        except TimeoutError:
            raise ConnectionError(f"nobody takes a connection at {self.host}") from None
        except (ConnectionResetError, BrokenPipeError):  # what was answered before that can still be heard
            pass

    async def receive(self, *, without_body: bool = False, timeout: float | None = None) -> ReceivedResponse:
        """The next answer. Raises Unreadable."""
        if self._streams is None:
            raise ResponseError("the end of the connection")
        ear = ResponseCollector(without_body=without_body)
        parser = HttpResponseParser(ear)
        seconds = self._timeout if timeout is None else timeout
        heard = bytearray()
        try:
            async with StallTolerantTimeout(seconds):
                await self._read(parser, ear, heard)
        except TimeoutError:
            await self.close()
            found = repr(bytes(heard[:80])) if heard else "nothing"
            raise ResponseTimeout(f"{found} within {seconds:g} s") from None
        except asyncio.CancelledError:  # what may still come is no answer to the next request
            self.abort()
            raise
        except (HttpParserError, OSError, EOFError, ValueError) as error:  # a line without end is a ValueError
            await self.close()
            self._is_stale = not heard
            raise ResponseError(f"{bytes(heard[:80])!r} ({error})") from None
        if ear.headers.get("connection", "").lower() == "close" or parser.get_http_version() == "1.0":
            await self.close()
        return ReceivedResponse(parser.get_status_code(), ear.headers, bytes(ear.body))

    async def receive_beginning(self, request: SentRequest) -> ReceivedResponse:
        """The beginning of an answer that goes on; the connection ends with that. Raises Unreadable."""
        await self.send(request.encode(self.host))
        ear = ResponseCollector(without_body=False)
        parser = HttpResponseParser(ear)
        try:
            async with StallTolerantTimeout(self._timeout):
                while (
                    self._streams
                    and not ear.body
                    and not ear.is_complete
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
        if not ear.has_headers:
            raise ResponseError("the end of the connection")
        return ReceivedResponse(status, ear.headers, bytes(ear.body))

    async def _read(self, parser: HttpResponseParser, ear: ResponseCollector, heard: bytearray) -> None:
        """Read until one answer is over; byte by byte where more of them may have come together."""
        assert self._streams is not None
        reader, _ = self._streams
        while not ear.is_complete:
            line = await (reader.readline() if not ear.has_headers else self._body(reader, ear))
            if not line:
                endless = ear.has_headers and not ear.headers.keys() & {"content-length", "transfer-encoding"}
                await self.close()
                if endless:
                    return
                raise ConnectionResetError("the end of the connection")
            heard += line
            if len(heard) > MAX_RESPONSE_BYTES:
                raise ConnectionResetError(f"more than {MAX_RESPONSE_BYTES} bytes")
            parser.feed_data(line)

    async def _body(self, reader: asyncio.StreamReader, ear: ResponseCollector) -> bytes:
        """A piece of the body that certainly belongs to it."""
        length = ear.headers.get("content-length", "")
        if length.isdecimal() and "transfer-encoding" not in ear.headers:
            return await reader.read(max(1, int(length) - len(ear.body)))
        if "transfer-encoding" not in ear.headers:
            return await reader.read(1 << 16)
        line = await reader.readline()
        try:
            size = int(line.partition(b";")[0], 16)
        except ValueError:  # the end of a trailer, or no chunk: the parser knows
            return line
        return line + (await reader.readexactly(size + 2) if size else b"")

    async def close(self) -> None:
        """End the connection; the next request makes a new one."""
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
        """Let the connection break in the middle of whatever is on it."""
        if self._streams is not None:
            self._streams[1].transport.abort()
            self._streams = None
