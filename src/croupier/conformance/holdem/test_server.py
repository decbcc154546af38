"""A table of ours for one bot under test: it listens, notes all that is asked, and answers as a case wants it to."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import time
from typing import Any, Final
from urllib.parse import unquote

from argon2 import PasswordHasher
from httptools import HttpParserError, HttpRequestParser, parse_url
from msgspec import Struct
from msgspec.structs import replace

from croupier.conformance.holdem.delivery import PLAIN, Manner, Trouble
from croupier.conformance.holdem.endpoint import basic
from croupier.conformance.holdem.requests import Answer, Question
from croupier.core.dealer import dealers, derive
from croupier.core.session import Effect, Event, Finished
from croupier.http.auth import Denied, Guard, credentials
from croupier.http.holdem_app import Service
from croupier.rooms.holdem.house import House
from croupier.rooms.holdem.settings import Settings

QUICK: Final = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
"""Nobody's password has to be kept from anybody here."""

MOST: Final = 20_000
"""So many requests are heard in one case at most."""


class Note(Struct):
    """A request of a program under test, and what it was answered; `at` is a time in s.

    `user` is the name that it gave, "" without credentials that can be read. `answer` is None where it was let down on
    purpose, and `doubtful` says that what it asked was done all the same.
    """

    at: float
    question: Question
    user: str
    data: bytes
    answer: Answer | None = None
    doubtful: bool = False

    @property
    def path(self) -> Sequence[str]:
        """The segments of the path."""
        return unquote(self.question.path.partition("?")[0]).strip("/").split("/")

    @property
    def waits(self) -> bool:
        """Whether it asked to be answered later."""
        return "wait=" in self.question.path or self.path[-1:] == ["events"]


class Mouth:
    """Reads requests, as httptools tells them."""

    def __init__(self) -> None:
        self.url = b""
        self.headers: list[tuple[str, str]] = []
        self.body = bytearray()
        self.over = False

    def on_url(self, url: bytes) -> None:
        """A part of the path."""
        self.url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header."""
        self.headers.append((name.decode("latin-1"), value.decode("utf-8", "backslashreplace")))

    def on_body(self, data: bytes) -> None:
        """A part of the body."""
        self.body += data

    def on_message_complete(self) -> None:
        """It is all there."""
        self.over = True


class Stand:
    """Our house behind a socket of its own. `notes` has what was asked, `garbage` what was no HTTP.

    `news` is set whenever something happens. `dress` changes the body of what is shown. While it is `parting`, the bot
    is being ended: it may break off in the middle of a request.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        seed: int,
        manner: Manner = PLAIN,
        trouble: Sequence[Trouble] = (),
        dress: Callable[[bytes], bytes] | None = None,
    ) -> None:
        loop = asyncio.get_running_loop()
        self.notes: list[Note] = []
        self.garbage: list[bytes] = []
        self.news = asyncio.Event()
        self.parting = False
        self.finished: list[Any] = []  # the hands that are over, as they were played
        self.house = House(
            settings,
            dealers(lambda deal: derive(seed, "holdem", deal)),
            derive(seed, "holdem", 0),
            time() - loop.time(),
        )
        self._guard = Guard(hasher=QUICK)
        self.service = Service(self.house, self._guard, settings.dialect, clock=loop.time, taps=(self._tap,))
        self._manner = manner
        self._trouble = list(trouble)
        self._dress = dress
        self._server: asyncio.Server | None = None
        self._lines: set[asyncio.Task[None]] = set()

    async def open(self) -> int:
        """Listen: the port."""
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def enrol(self, name: str, password: str) -> None:
        """Make a user, as if it had been here before."""
        await self._guard.enrol(basic(name, password)[1].encode(), "127.0.0.1")

    async def close(self) -> None:
        """Let nobody in any more, and everybody go."""
        self.service.halt(final=True)
        self.service.close()
        if self._server is not None:
            self._server.close()
        for line in [*self._lines]:
            line.cancel()
        await asyncio.gather(*self._lines, return_exceptions=True)

    def _tap(self, event: Event[Any], effects: Sequence[Effect[Any]], now: float) -> None:  # noqa: ARG002 -- a Tap
        self.finished += [effect.state for effect in effects if isinstance(effect, Finished)]
        self.news.set()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None, "a connection without a task"
        self._lines.add(task)
        try:
            while await self._serve(reader, writer):
                pass
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            self._lines.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Hear one request, and answer it: whether the connection goes on."""
        mouth = Mouth()
        parser = HttpRequestParser(mouth)
        data = bytearray()
        try:
            while not mouth.over:
                piece = await (reader.readline() if not _headed(data) else reader.read(1))
                if not piece:
                    if data and not self.parting:
                        self._garbage(data)
                    return False
                data += piece
                parser.feed_data(piece)
            path = _located(mouth.url)
        except HttpParserError:
            self._garbage(data)
            writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            return False
        note = Note(
            asyncio.get_running_loop().time(),
            Question(parser.get_method().decode(), path, tuple(mouth.headers), bytes(mouth.body)),
            _name(mouth.headers),
            bytes(data),
        )
        if len(self.notes) >= MOST:
            return False
        self.notes.append(note)
        goes_on = await self._answer(note, reader, writer)
        self.news.set()
        return goes_on and parser.should_keep_alive() and not self._manner.closes

    def _garbage(self, data: bytes | bytearray) -> None:
        self.garbage.append(bytes(data))
        self.news.set()

    async def _answer(self, note: Note, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        trouble = next((one for one in self._trouble if one.fits(note.question.method, note.path)), None)
        if trouble is not None:
            self._trouble.remove(trouble)
            if trouble.done:
                await self._ask(note)
            note.doubtful = trouble.done
            note.answer = None
            if trouble.seconds:
                await asyncio.sleep(trouble.seconds)
            if trouble.status is None:
                writer.transport.abort()
                return False
            body = b"found trouble; allowed: to come later\n"
            head = f"HTTP/1.1 {trouble.status} Trouble\r\nRetry-After: 0\r\nContent-Length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body)
            await writer.drain()
            return True
        if note.path[-1:] == ["events"] and self._manner.streams:
            return await self._stream(note, reader, writer)
        answer = await self._ask(note)
        await self._manner.write(writer, self._dressed(answer), headless=note.question.method == "HEAD")
        return True

    def _dressed(self, answer: Answer) -> Answer:
        if self._dress is None or answer.status != 200:
            return answer
        return Answer(answer.status, answer.headers, self._dress(answer.body))

    async def _ask(self, note: Note) -> Answer:
        """Let the service answer."""
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        await self.service(_scope(note), _receive(note.question.body), send)
        if not sent:
            return Answer(500, {}, b"")
        headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        body = b"".join(message.get("body", b"") for message in sent[1:])
        note.answer = Answer(sent[0]["status"], headers, body)
        return note.answer

    async def _stream(self, note: Note, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Send what goes on, until the bot has enough."""
        pieces = [_whole(note.question.body)]

        async def receive() -> Any:
            if pieces:
                return pieces.pop()
            while await reader.read(1 << 16):
                pass
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            if writer.is_closing():
                return
            if message["type"] == "http.response.start":
                status = message["status"]
                note.answer = Answer(status, {}, b"")
                told = b"".join(b"%s: %s\r\n" % pair for pair in message["headers"])
                writer.write(b"HTTP/1.1 %d %s\r\nConnection: close\r\n%s\r\n" % (status, _phrase(status), told))
            else:
                body = message.get("body", b"")
                if note.answer is not None and note.answer.status >= 400:  # it tells why
                    note.answer = replace(note.answer, body=note.answer.body + body)
                writer.write(body)
            with suppress(OSError):
                await writer.drain()

        await self.service(_scope(note), receive, send)
        return False


def _located(url: bytes) -> str:
    """The path of a request, with its parameters. Raises HttpParserError."""
    found = parse_url(url)
    return (found.path or b"/").decode("latin-1") + (f"?{found.query.decode('latin-1')}" if found.query else "")


def _headed(data: bytes | bytearray) -> bool:
    return b"\r\n\r\n" in data


def _name(headers: Sequence[tuple[str, str]]) -> str:
    """The name that a request gives."""
    found = next((value for name, value in headers if name.lower() == "authorization"), None)
    try:
        return credentials(None if found is None else found.encode())[0]
    except Denied:
        return ""


def _scope(note: Note) -> dict[str, Any]:
    path, _, query = note.question.path.partition("?")
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": note.question.method,
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.lower().encode(), value.encode()) for name, value in note.question.headers],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8080),
    }


def _whole(body: bytes) -> dict[str, Any]:
    """A body that has come in one piece."""
    return {"type": "http.request", "body": body, "more_body": False}


def _receive(body: bytes) -> Callable[[], Any]:
    """How a body is read, behind which nothing comes."""
    pieces = [_whole(body)]

    async def receive() -> Any:
        return pieces.pop() if pieces else await asyncio.get_running_loop().create_future()

    return receive


def _phrase(status: int) -> bytes:
    return b"OK" if status < 300 else b"Refused"
