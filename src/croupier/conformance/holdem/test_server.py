"""The server that a bot is tested with: records all requests and responds as the case wants."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from time import time
from typing import Any, Final
from urllib.parse import unquote

from msgspec import Struct
from msgspec.structs import replace

from croupier.conformance.holdem.endpoint import basic_auth_header
from croupier.conformance.holdem.operations import operation_name
from croupier.conformance.holdem.setups import TableSetup
from croupier.core.dealer import dealer_factory, derive_server_seed
from croupier.core.errors import Violation
from croupier.core.session import Effect, Event, HandFinished
from croupier.http.auth import QUICK_HASHER, Authenticator, AuthError, parse_credentials
from croupier.http.holdem_app import HoldemApp
from croupier.http.messages import Request, encode_headers, settle
from croupier.http.wire import ReceivedResponse, RequestReader, SentRequest, path_segments
from croupier.net.event_loop import cancel_all
from croupier.net.stop_listening import stop_listening
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.house import House
from croupier.rooms.holdem.settings import Settings

READ_BYTES: Final = 1 << 16

MAX_REQUESTS: Final = 20_000
"""Connections are closed after this many requests in a case."""


class RecordedRequest(Struct):
    """A request of the bot and the response to it, each with its bytes. `at` is a time of the event loop in seconds.

    `user` is the name in the credentials, "" if they cannot be read. `response` is None if a fault was injected;
    `is_executed_unanswered`: the request was executed all the same. `is_after_stop`: the bot may already have been
    asked to end. `response_data` is what was sent. `hand` is the hand that ran in the game of the path when the request
    arrived, None if there was none.
    """

    at: float
    request: SentRequest
    user: str
    data: bytes
    response: ReceivedResponse | None = None
    is_executed_unanswered: bool = False
    is_after_stop: bool = False
    response_data: bytes = b""
    hand: Hand | None = None

    @property
    def path(self) -> Sequence[str]:
        """The segments of the path."""
        return [unquote(segment) for segment in path_segments(self.request.path)]

    @property
    def status(self) -> int:
        """The status of the response of the service, 0 if there was none."""
        return 0 if self.response is None else self.response.status

    @property
    def is_success(self) -> bool:
        """Whether the service has carried the request out, and said so."""
        return 200 <= self.status < 300

    @property
    def is_long_poll(self) -> bool:
        """Whether the request is a long poll or an event stream."""
        return "wait=" in self.request.path or self.path[-1:] == ["events"]


class HoldemTestServer:
    """The hold'em service on a socket of its own, with recorded requests and injected faults.

    `requests` are the requests, `users` the names in their credentials, `malformed` what was not valid HTTP;
    `refusal_count` is how many requests were refused or folded. Every event wakes those who wait for `activity`. While
    `is_stopping` is set, the bot may abort requests.
    """

    def __init__(self, settings: Settings, setup: TableSetup, *, seed: int) -> None:
        loop = asyncio.get_running_loop()
        self._epoch = time() - loop.time()
        self.requests: list[RecordedRequest] = []
        self.users: set[str] = set()
        self.malformed: list[bytes] = []
        self.refusal_count = 0
        self.activity = asyncio.Event()
        self.is_stopping = False
        self.finished_hands: list[Any] = []  # hands as played
        self.house = House(
            settings,
            dealer_factory(lambda deal: derive_server_seed(seed, "holdem", deal)),
            derive_server_seed(seed, "holdem", 0),
            self._epoch,
        )
        self._guard = Authenticator(hasher=QUICK_HASHER)
        self.service = HoldemApp(self.house, self._guard, clock=loop.time, observers=(self._tap,))
        self._delivery = setup.delivery
        self._faults = list(setup.faults)
        self._transform_body = setup.transform_body
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._writers: list[asyncio.StreamWriter] = []
        self._is_closed = False

    @property
    def now(self) -> datetime:
        """The time of the server's clock."""
        return datetime.fromtimestamp(self._epoch + asyncio.get_running_loop().time(), UTC)

    async def open(self) -> int:
        """Start to listen; return the port."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, start_serving=False)
        await self._server.start_serving()
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def register(self, name: str, password: str) -> None:
        """Register a user before the bot starts."""
        await self._guard.register(basic_auth_header(name, password)[1].encode(), "127.0.0.1")

    async def close(self) -> None:
        """Stop the service and close all connections."""
        self.service.halt(final=True)
        if self._server is not None:
            stop_listening(self._server)
        self._is_closed = True
        for writer in self._writers:
            writer.transport.abort()
        await cancel_all(*self._connections)
        self._guard.close()
        await asyncio.sleep(0)  # the sockets are closed in the next iteration of the loop

    def _tap(self, event: Event[Any], effects: Sequence[Effect[Any]], now: float) -> None:  # noqa: ARG002 -- a Tap
        self.finished_hands += [effect.state for effect in effects if isinstance(effect, HandFinished)]
        self.notify()

    def notify(self) -> None:
        """Wake all who wait for activity."""
        self.activity.set()
        self.activity.clear()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Handle a connection in a task, which has not begun yet when this returns."""
        if self._is_closed:  # the loop had accepted it before
            writer.transport.abort()
        else:
            task = asyncio.create_task(self._handle_connection(reader, writer))
            self._connections.add(task)
            task.add_done_callback(self._connections.discard)
            self._writers.append(writer)

    async def _handle_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            requests = RequestReader()
            while await self._serve(reader, writer, requests):
                pass
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, requests: RequestReader) -> bool:
        """Serve the requests that arrive next; return whether the connection stays open."""
        data = await reader.read(READ_BYTES)
        if not data:
            if requests.incomplete and not self.is_stopping:
                self._record_malformed(requests.incomplete)
            return False
        for span in requests.feed(data):
            if isinstance(span.message, Violation):
                self._record_malformed(span.data)
                writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                return False
            recorded = RecordedRequest(
                asyncio.get_running_loop().time(),
                span.message,
                _username(span.message.headers),
                span.data,
                is_after_stop=self.is_stopping,
            )
            if len(self.requests) >= MAX_REQUESTS:
                return False
            self.requests.append(recorded)
            self.users.add(recorded.user)
            stays_open = await self._respond(recorded, reader, writer)
            self.notify()
            if not stays_open or not requests.keeps_open or self._delivery.closes_connection:
                return False
        return True

    def _record_malformed(self, data: bytes) -> None:
        self.malformed.append(data)
        self.refusal_count += 1
        self.notify()

    async def _respond(
        self, request: RecordedRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        operation = operation_name(request.request.target)
        fault = next((one for one in self._faults if one.operation == operation), None)
        if fault is not None:
            self._faults.remove(fault)
            if fault.is_executed:
                await self._call_service(request)
            request.is_executed_unanswered = fault.is_executed
            request.response = None
            if fault.status is None:
                writer.transport.abort()
                return False
            head = f"HTTP/1.1 {fault.status} Trouble\r\nRetry-After: 0\r\nContent-Length: {len(fault.body)}\r\n\r\n"
            request.response_data = head.encode() + fault.body
            writer.write(request.response_data)
            await writer.drain()
            return True
        if request.path[-1:] == ["events"]:
            return await self._stream(request, reader, writer)
        response = await self._call_service(request)
        without_body = request.request.method == "HEAD"
        request.response_data = self._delivery.encode(self._transform_response(response), without_body=without_body)
        await self._delivery.write(writer, request.response_data)
        return True

    def _transform_response(self, response: ReceivedResponse) -> ReceivedResponse:
        if self._transform_body is None or not 200 <= response.status < 300:
            return response
        return ReceivedResponse(response.status, response.headers, self._transform_body(response.body))

    async def _call_service(self, request: RecordedRequest) -> ReceivedResponse:
        """Return the response of the service."""
        table = self.house.game(request.path[1]) if request.path[0] == "games" and len(request.path) > 1 else None
        hand = None if table is None else table.hand
        request.hand = None if hand is None else hand.copy()
        response = await settle(self.service.answer(_request(request)))
        headers = {name.decode(): value.decode() for name, value in response.headers}
        body = b"" if request.request.method == "HEAD" else response.body
        request.response = ReceivedResponse(response.status, headers, body)
        self.refusal_count += response.status >= 400 or "x-fold-reason" in headers
        return request.response

    async def _stream(
        self, request: RecordedRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Stream the response of the service until the bot disconnects."""
        response = await settle(self.service.answer(_request(request)))
        request.response = ReceivedResponse(response.status, {}, b"")
        if response.status >= 400:  # the body says why
            request.response = replace(request.response, body=response.body)
        header_block = encode_headers(response.headers)
        reason = _reason_phrase(response.status)
        head = b"HTTP/1.1 %d %s\r\nConnection: close\r\n%s\r\n" % (response.status, reason, header_block)
        request.response_data = head + response.body
        writer.write(request.response_data)
        if (stream := response.stream) is None:
            return False
        disconnected, news = asyncio.ensure_future(_read_to_end(reader)), asyncio.Event()
        disconnected.add_done_callback(lambda _: news.set())
        stream.open(news.set)
        try:
            while not disconnected.done() and (piece := stream.take_piece()) is not None:
                if piece:
                    request.response_data += piece
                    writer.write(piece)
                    with suppress(OSError):
                        await writer.drain()
                else:
                    await news.wait()
                    news.clear()
        finally:
            stream.close()
            disconnected.cancel()
        return False


async def _read_to_end(reader: asyncio.StreamReader) -> None:
    """Wait until the bot disconnects."""
    with suppress(OSError):
        while await reader.read(1 << 16):
            pass


def _username(headers: Sequence[tuple[str, str]]) -> str:
    """Return the user name of the credentials, "" if they cannot be read."""
    found = next((value for name, value in headers if name.lower() == "authorization"), None)
    try:
        return parse_credentials(None if found is None else found.encode())[0]
    except AuthError:
        return ""


def _request(request: RecordedRequest) -> Request:
    """The request as our own server would parse it."""
    path, _, query = request.request.path.partition("?")
    headers = [(name.lower().encode(), value.encode()) for name, value in request.request.headers]
    return Request(
        request.request.method,
        unquote(path),
        query.encode(),
        headers,
        dict(headers),
        "127.0.0.1",
        is_complete=True,
        body=request.request.body,
    )


def _reason_phrase(status: int) -> bytes:
    return b"OK" if status < 300 else b"Refused"
