"""Requests to a server under test and its answers, with every byte in our hands: whole, in pieces, together."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from ssl import SSLContext
from types import TracebackType
from typing import Final, Self

from httptools import HttpParserError, HttpResponseParser
from msgspec import Struct

from croupier.conformance.holdem.timeouts import Patience

type Headers = Sequence[tuple[str, str]]

MOST: Final = 1 << 22
"""An answer of more bytes is given up."""

SHOWN: Final = frozenset({"authorization", "content-type", "location", "www-authenticate", "x-fold-reason", "allow"})
"""The headers that are shown in a dialogue: those that matter to a game."""

BODY: Final = 600
"""So many bytes of a body are shown in a dialogue."""


class Unreadable(Exception):
    """What came is no answer of HTTP/1.1, or none came; the text says what was found."""


class Silent(Unreadable):
    """Nothing came, or not all of an answer, for as long as there was patience."""


class Question(Struct, frozen=True):
    """A request; names of headers as they are sent."""

    method: str
    path: str
    headers: Headers = ()
    body: bytes = b""

    def written(self, host: str) -> bytes:
        """Its bytes. The length of the body is told, unless a header does so already."""
        told = {name.lower() for name, _ in self.headers}
        lines = [f"{self.method} {self.path} HTTP/1.1", f"Host: {host}"]
        lines += [f"{name}: {value}" for name, value in self.headers]
        if (self.body or self.method == "POST") and not told & {"content-length", "transfer-encoding"}:
            lines.append(f"Content-Length: {len(self.body)}")
        return "\r\n".join([*lines, "", ""]).encode() + self.body

    def shown(self) -> bytes:
        """The request as a dialogue shows it: without the headers that do not matter."""
        lines = [f"{self.method} {self.path}"]
        lines += [f"{name}: {value}" for name, value in self.headers if name.lower() in SHOWN]
        return _told(lines, self.body)


class Answer(Struct, frozen=True):
    """An answer as it came: names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def shown(self) -> bytes:
        """The answer as a dialogue shows it."""
        lines = [str(self.status)]
        lines += [f"{name}: {value}" for name, value in self.headers.items() if name in SHOWN]
        return _told(lines, self.body)

    @property
    def text(self) -> str:
        """The answer in one line."""
        body = self.body[:200].decode(errors="backslashreplace").strip()
        return f"{self.status} {body}".strip()


def _told(lines: Sequence[str], body: bytes) -> bytes:
    cut = body if len(body) <= BODY else body[:BODY] + b"..."
    return "\n".join(lines).encode() + (b"\n\n" + cut if cut else b"")


class Ear:
    """Hears one answer, as httptools tells it. A `headless` one, to HEAD, has no body whatever its headers say."""

    def __init__(self, *, headless: bool) -> None:
        self.headers: dict[str, str] = {}
        self.body = bytearray()
        self.over = False
        self.begun = False
        self._headless = headless

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header: of those that come twice the values are joined."""
        key = name.decode("latin-1").lower()
        told = value.decode("utf-8", "backslashreplace")
        self.headers[key] = f"{self.headers[key]}, {told}" if key in self.headers else told

    def on_headers_complete(self) -> None:
        """What follows is the body."""
        self.begun = True
        self.over = self.over or self._headless

    def on_body(self, data: bytes) -> None:
        """A part of the body."""
        self.body += data

    def on_message_complete(self) -> None:
        """It is all there."""
        self.over = True


class Caller:
    """A user's connection to a server, kept as long as the server keeps it. `patience` is in seconds."""

    def __init__(self, host: str, port: int, *, ssl: SSLContext | None = None, patience: float = 5.0) -> None:
        self.host = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        self.closes = 0
        self._address = (host, port)
        self._ssl = ssl
        self._patience = patience
        self._line: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._stale = False  # the connection had ended before anything of an answer came

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.hang_up()

    async def ask(self, question: Question, *, size: int = 0, patience: float | None = None) -> Answer:
        """Ask, and hear the answer. `size` cuts the request into pieces of so many bytes; 0 sends it whole.

        Raises Unreadable where no answer comes, ConnectionError where nobody takes the connection.
        """
        data = question.written(self.host)
        fresh = self._line is None
        try:
            return await self._exchange(data, question.method, size, patience)
        except Unreadable:
            if fresh or not self._stale:
                raise
        # A server may close a connection at any time between two requests: once more, on a new one.
        return await self._exchange(data, question.method, size, patience)

    async def _exchange(self, data: bytes, method: str, size: int, patience: float | None) -> Answer:
        await self.say(data, size)
        self._stale = False
        return await self.hear(headless=method == "HEAD", patience=patience)

    async def say(self, data: bytes, size: int = 0) -> None:
        """Send bytes, in pieces of `size`, each on its own; 0 is all together."""
        try:
            if self._line is None:
                async with Patience(self._patience):
                    self._line = await asyncio.open_connection(*self._address, ssl=self._ssl)
            _, writer = self._line
            for at in range(0, len(data), size or len(data) or 1):
                writer.write(data[at : at + (size or len(data))])
                await writer.drain()
                if size:
                    await asyncio.sleep(0)
        except TimeoutError:
            raise ConnectionError(f"nobody takes a connection at {self.host}") from None
        except (ConnectionResetError, BrokenPipeError):  # what was answered before that can still be heard
            pass

    async def hear(self, *, headless: bool = False, patience: float | None = None) -> Answer:
        """The next answer. Raises Unreadable."""
        if self._line is None:
            raise Unreadable("the end of the connection")
        ear = Ear(headless=headless)
        parser = HttpResponseParser(ear)
        seconds = self._patience if patience is None else patience
        heard = bytearray()
        try:
            async with Patience(seconds):
                await self._read(parser, ear, heard)
        except TimeoutError:
            await self.hang_up()
            found = repr(bytes(heard[:80])) if heard else "nothing"
            raise Silent(f"{found} within {seconds:g} s") from None
        except asyncio.CancelledError:  # what may still come is no answer to the next request
            self.break_off()
            raise
        except (HttpParserError, OSError, EOFError, ValueError) as error:  # a line without end is a ValueError
            await self.hang_up()
            self._stale = not heard
            raise Unreadable(f"{bytes(heard[:80])!r} ({error})") from None
        if ear.headers.get("connection", "").lower() == "close" or parser.get_http_version() == "1.0":
            await self.hang_up()
        return Answer(parser.get_status_code(), ear.headers, bytes(ear.body))

    async def first(self, question: Question) -> Answer:
        """The beginning of an answer that goes on; the connection ends with that. Raises Unreadable."""
        await self.say(question.written(self.host))
        ear = Ear(headless=False)
        parser = HttpResponseParser(ear)
        try:
            async with Patience(self._patience):
                while self._line and not ear.body and not ear.over and (data := await self._line[0].read(1 << 16)):
                    parser.feed_data(data)
            status = parser.get_status_code()
        except TimeoutError:
            raise Silent(f"no beginning of an answer within {self._patience:g} s") from None
        except (HttpParserError, OSError) as error:
            raise Unreadable(f"no beginning of an answer ({error})") from None
        finally:
            await self.hang_up()
        if not ear.begun:
            raise Unreadable("the end of the connection")
        return Answer(status, ear.headers, bytes(ear.body))

    async def _read(self, parser: HttpResponseParser, ear: Ear, heard: bytearray) -> None:
        """Read until one answer is over; byte by byte where more of them may have come together."""
        assert self._line is not None
        reader, _ = self._line
        while not ear.over:
            line = await (reader.readline() if not ear.begun else self._body(reader, ear))
            if not line:
                endless = ear.begun and not ear.headers.keys() & {"content-length", "transfer-encoding"}
                await self.hang_up()
                if endless:
                    return
                raise ConnectionResetError("the end of the connection")
            heard += line
            if len(heard) > MOST:
                raise ConnectionResetError(f"more than {MOST} bytes")
            parser.feed_data(line)

    async def _body(self, reader: asyncio.StreamReader, ear: Ear) -> bytes:
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

    async def hang_up(self) -> None:
        """End the connection; the next request makes a new one."""
        if self._line is None:
            return
        _, writer = self._line
        self._line = None
        self.closes += 1
        writer.close()
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(1.0):
                await writer.wait_closed()

    def break_off(self) -> None:
        """Let the connection break in the middle of whatever is on it."""
        if self._line is not None:
            self._line[1].transport.abort()
            self._line = None
