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

from croupier.conformance.holdem.delivery import DEFAULT_DELIVERY, RequestFault, ResponseDelivery
from croupier.conformance.holdem.endpoint import basic_auth_header
from croupier.conformance.holdem.http_client import ReceivedResponse, SentRequest
from croupier.core.dealer import dealer_factory, derive_server_seed
from croupier.core.session import Effect, Event, HandFinished
from croupier.http.auth import Authenticator, AuthError, parse_credentials
from croupier.http.holdem_app import HoldemApp
from croupier.rooms.holdem.house import House
from croupier.rooms.holdem.settings import Settings

FAST_HASHER: Final = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
"""Nobody's password has to be kept from anybody here."""

MAX_REQUESTS: Final = 20_000
"""So many requests are heard in one case at most."""


class RecordedRequest(Struct):
    """A request of a program under test, and what it was answered; `at` is a time in s.

    `user` is the name that it gave, "" without credentials that can be read. `answer` is None where it was let down on
    purpose, and `doubtful` says that what it asked was done all the same.
    """

    at: float
    request: SentRequest
    user: str
    data: bytes
    response: ReceivedResponse | None = None
    is_executed_unanswered: bool = False

    @property
    def path(self) -> Sequence[str]:
        """The segments of the path."""
        return unquote(self.request.path.partition("?")[0]).strip("/").split("/")

    @property
    def is_long_poll(self) -> bool:
        """Whether it asked to be answered later."""
        return "wait=" in self.request.path or self.path[-1:] == ["events"]


class RequestCollector:
    """Reads requests, as httptools tells them."""

    def __init__(self) -> None:
        self.url = b""
        self.headers: list[tuple[str, str]] = []
        self.body = bytearray()
        self.is_complete = False

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
        self.is_complete = True


class HoldemTestServer:
    """Our house behind a socket of its own. `notes` has what was asked, `garbage` what was no HTTP.

    `news` is set whenever something happens. `dress` changes the body of what is shown. While it is `parting`, the bot
    is being ended: it may break off in the middle of a request.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        seed: int,
        delivery: ResponseDelivery = DEFAULT_DELIVERY,
        faults: Sequence[RequestFault] = (),
        transform_body: Callable[[bytes], bytes] | None = None,
    ) -> None:
        loop = asyncio.get_running_loop()
        self.requests: list[RecordedRequest] = []
        self.malformed: list[bytes] = []
        self.activity = asyncio.Event()
        self.is_stopping = False
        self.finished_hands: list[Any] = []  # the hands that are over, as they were played
        self.house = House(
            settings,
            dealer_factory(lambda deal: derive_server_seed(seed, "holdem", deal)),
            derive_server_seed(seed, "holdem", 0),
            time() - loop.time(),
        )
        self._guard = Authenticator(hasher=FAST_HASHER)
        self.service = HoldemApp(self.house, self._guard, settings.dialect, clock=loop.time, observers=(self._tap,))
        self._delivery = delivery
        self._faults = list(faults)
        self._transform_body = transform_body
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    async def open(self) -> int:
        """Listen: the port."""
        self._server = await asyncio.start_server(self._handle_connection, "127.0.0.1", 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def register(self, name: str, password: str) -> None:
        """Make a user, as if it had been here before."""
        await self._guard.register(basic_auth_header(name, password)[1].encode(), "127.0.0.1")

    async def close(self) -> None:
        """Let nobody in any more, and everybody go."""
        self.service.halt(final=True)
        self.service.close()
        if self._server is not None:
            self._server.close()
        for line in [*self._connections]:
            line.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def _tap(self, event: Event[Any], effects: Sequence[Effect[Any]], now: float) -> None:  # noqa: ARG002 -- a Tap
        self.finished_hands += [effect.state for effect in effects if isinstance(effect, HandFinished)]
        self.activity.set()

    async def _handle_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None, "a connection without a task"
        self._connections.add(task)
        try:
            while await self._serve(reader, writer):
                pass
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            self._connections.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Hear one request, and answer it: whether the connection goes on."""
        mouth = RequestCollector()
        parser = HttpRequestParser(mouth)
        data = bytearray()
        try:
            while not mouth.is_complete:
                piece = await (reader.readline() if not _has_header_end(data) else reader.read(1))
                if not piece:
                    if data and not self.is_stopping:
                        self._record_malformed(data)
                    return False
                data += piece
                parser.feed_data(piece)
            path = _request_target(mouth.url)
        except HttpParserError:
            self._record_malformed(data)
            writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            return False
        note = RecordedRequest(
            asyncio.get_running_loop().time(),
            SentRequest(parser.get_method().decode(), path, tuple(mouth.headers), bytes(mouth.body)),
            _username(mouth.headers),
            bytes(data),
        )
        if len(self.requests) >= MAX_REQUESTS:
            return False
        self.requests.append(note)
        goes_on = await self._respond(note, reader, writer)
        self.activity.set()
        return goes_on and parser.should_keep_alive() and not self._delivery.closes_connection

    def _record_malformed(self, data: bytes | bytearray) -> None:
        self.malformed.append(bytes(data))
        self.activity.set()

    async def _respond(
        self, request: RecordedRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        trouble = next((one for one in self._faults if one.matches(request.request.method, request.path)), None)
        if trouble is not None:
            self._faults.remove(trouble)
            if trouble.is_executed:
                await self._call_service(request)
            request.is_executed_unanswered = trouble.is_executed
            request.response = None
            if trouble.delay_seconds:
                await asyncio.sleep(trouble.delay_seconds)
            if trouble.status is None:
                writer.transport.abort()
                return False
            body = b"found trouble; allowed: to come later\n"
            head = f"HTTP/1.1 {trouble.status} Trouble\r\nRetry-After: 0\r\nContent-Length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body)
            await writer.drain()
            return True
        if request.path[-1:] == ["events"] and self._delivery.allows_streams:
            return await self._stream(request, reader, writer)
        answer = await self._call_service(request)
        await self._delivery.write(
            writer, self._transform_response(answer), without_body=request.request.method == "HEAD"
        )
        return True

    def _transform_response(self, response: ReceivedResponse) -> ReceivedResponse:
        if self._transform_body is None or response.status != 200:
            return response
        return ReceivedResponse(response.status, response.headers, self._transform_body(response.body))

    async def _call_service(self, request: RecordedRequest) -> ReceivedResponse:
        """Let the service answer."""
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        await self.service(_scope(request), _body_receiver(request.request.body), send)
        if not sent:
            return ReceivedResponse(500, {}, b"")
        headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        body = b"".join(message.get("body", b"") for message in sent[1:])
        request.response = ReceivedResponse(sent[0]["status"], headers, body)
        return request.response

    async def _stream(
        self, request: RecordedRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Send what goes on, until the bot has enough."""
        pieces = [_body_message(request.request.body)]

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
                request.response = ReceivedResponse(status, {}, b"")
                told = b"".join(b"%s: %s\r\n" % pair for pair in message["headers"])
                writer.write(b"HTTP/1.1 %d %s\r\nConnection: close\r\n%s\r\n" % (status, _reason_phrase(status), told))
            else:
                body = message.get("body", b"")
                if request.response is not None and request.response.status >= 400:  # it tells why
                    request.response = replace(request.response, body=request.response.body + body)
                writer.write(body)
            with suppress(OSError):
                await writer.drain()

        await self.service(_scope(request), receive, send)
        return False


def _request_target(url: bytes) -> str:
    """The path of a request, with its parameters. Raises HttpParserError."""
    found = parse_url(url)
    return (found.path or b"/").decode("latin-1") + (f"?{found.query.decode('latin-1')}" if found.query else "")


def _has_header_end(data: bytes | bytearray) -> bool:
    return b"\r\n\r\n" in data


def _username(headers: Sequence[tuple[str, str]]) -> str:
    """The name that a request gives."""
    found = next((value for name, value in headers if name.lower() == "authorization"), None)
    try:
        return parse_credentials(None if found is None else found.encode())[0]
    except AuthError:
        return ""


def _scope(request: RecordedRequest) -> dict[str, Any]:
    path, _, query = request.request.path.partition("?")
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": request.request.method,
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.lower().encode(), value.encode()) for name, value in request.request.headers],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8080),
    }


def _body_message(body: bytes) -> dict[str, Any]:
    """A body that has come in one piece."""
    return {"type": "http.request", "body": body, "more_body": False}


def _body_receiver(body: bytes) -> Callable[[], Any]:
    """How a body is read, behind which nothing comes."""
    pieces = [_body_message(body)]

    async def receive() -> Any:
        return pieces.pop() if pieces else await asyncio.get_running_loop().create_future()

    return receive


def _reason_phrase(status: int) -> bytes:
    return b"OK" if status < 300 else b"Refused"
