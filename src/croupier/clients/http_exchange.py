"""Sends the requests of a HoldemApi over HTTP."""

import asyncio
from asyncio import Future
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from ssl import SSLContext
from typing import Any, Final
from urllib.parse import quote

from croupier.clients.game_watcher import LONG_POLL_SECONDS
from croupier.clients.holdem_api import ApiRequest, ApiResponse
from croupier.clients.http_connect import Connector
from croupier.clients.http_connection import HttpConnection
from croupier.clients.response_bodies import NewestLine, WholeBody
from croupier.clients.server_url import parse_url
from croupier.version import __version__

SILENCE_SECONDS: Final = LONG_POLL_SECONDS + 10.0
"""How long the server may send nothing: longer than a long poll, for which it delays its answer."""

MAX_BODY_SECONDS: Final = 60.0
"""Maximum time from the head of a response to its end."""

KEEP_ALIVE_SECONDS: Final = 5.0
"""A connection that was idle for longer is not used again: many servers close it about then."""

MAX_IDLE_CONNECTIONS: Final = 20

CLOSE_SECONDS: Final = 1.0
"""Maximum time until all connections are closed."""

PATH_CHARACTERS: Final = "/?=&%:@!$'()*+,;~"
"""What stands in a path as it is, besides letters, digits, `_`, `.` and `-`."""

COMMON_HEADERS: Final = {
    "accept": "*/*",
    "accept-encoding": "identity",  # because a small compressed body can expand a thousandfold
    "connection": "keep-alive",
    "user-agent": f"croupier/{__version__}",
}


class HttpExchange:
    """Connections to the server at a URL, kept open between requests; see `Exchange`. `context` is the TLS context.

    Raises ValueError if the URL, or that of the proxy, is invalid.
    """

    def __init__(self, url: str, context: SSLContext | None = None) -> None:
        server = parse_url(url)
        self._connector = Connector(server, context)
        self._idle: list[HttpConnection] = []
        self._connections: set[HttpConnection] = set()
        self._is_closed = False
        self._path_prefix = server.path
        self._headers = {"host": server.authority, **COMMON_HEADERS}
        proxy = self._connector.proxy
        if proxy is not None and not server.is_tls:
            self._path_prefix = f"http://{server.authority}{server.path}"
            if proxy.authorization:
                self._headers["proxy-authorization"] = proxy.authorization

    async def request(self, request: ApiRequest) -> ApiResponse:
        """See `Exchange.request`."""
        receiver = WholeBody(asyncio.get_running_loop())
        async with self._connection() as connection:
            connection.send(self._encode(request), receiver)
            head = await _in_time(receiver.head, SILENCE_SECONDS, "no answer within")
            body = await _in_time(receiver.body, MAX_BODY_SECONDS, "a body of more than")
        return ApiResponse(head.status, head.headers, body)

    def stream(self, request: ApiRequest) -> "HttpStream":
        """See `Exchange.stream`."""
        return HttpStream(self, request)

    async def wait(self, seconds: float) -> None:
        """See `Exchange.wait`."""
        await asyncio.sleep(seconds)

    async def close(self) -> None:
        """See `Exchange.close`. Requests and streams that are not complete raise ConnectionError or RuntimeError."""
        self._is_closed = True
        connections, self._connections = self._connections, set()
        self._idle.clear()
        for connection in connections:
            connection.close()
        if connections:
            await asyncio.wait([connection.closed for connection in connections], timeout=CLOSE_SECONDS)

    def check_open(self) -> None:
        """Raise RuntimeError after `close`."""
        if self._is_closed:
            raise RuntimeError("the client is closed")

    async def open_stream(self, request: ApiRequest, receiver: NewestLine) -> HttpConnection:
        """Send a request with a streamed response; return its connection when the head has arrived.

        Raises ConnectionError.
        """
        async with self._connection() as connection:
            connection.send(self._encode(request), receiver)
            await _in_time(receiver.head, SILENCE_SECONDS, "no answer within")
        return connection

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[HttpConnection]:
        """A connection for one request, idle so far or new, which an error closes. Raises ConnectionError."""
        self.check_open()
        connection = self._idle_connection() or await self._connect()
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        if connection.is_reusable:
            if len(self._idle) < MAX_IDLE_CONNECTIONS:
                self._idle.append(connection)
            else:
                connection.close()

    def _idle_connection(self) -> HttpConnection | None:
        """The connection that was used last, if it can be used again; all others that cannot are closed."""
        now = asyncio.get_running_loop().time()
        while self._idle:
            connection = self._idle.pop()
            if connection.is_reusable and now - connection.idle_since < KEEP_ALIVE_SECONDS:
                return connection
            connection.close()
        return None

    async def _connect(self) -> HttpConnection:
        connection = await self._connector.connect()
        self._connections.add(connection)
        connection.closed.add_done_callback(lambda _: self._connections.discard(connection))
        if self._is_closed:
            connection.close()
        return connection

    def _encode(self, request: ApiRequest) -> bytes:
        headers = {**self._headers, **request.headers}
        if request.body or request.method == "POST":
            headers["content-length"] = str(len(request.body))
        path = self._path_prefix + quote(request.path, safe=PATH_CHARACTERS)
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        return f"{request.method} {path} HTTP/1.1\r\n{head}\r\n".encode("latin-1") + request.body


class HttpStream:
    """A streamed response: one state of a game per line, of which only the newest matters."""

    def __init__(self, exchange: HttpExchange, request: ApiRequest) -> None:
        self._exchange = exchange
        self._request = request
        self._connection: HttpConnection | None = None
        self._receiver: NewestLine

    async def read(self) -> ApiResponse:
        """See `Stream.read`."""
        self._exchange.check_open()
        try:
            if self._connection is None:
                self._receiver = NewestLine(asyncio.get_running_loop())
                self._connection = await self._exchange.open_stream(self._request, self._receiver)
            head = self._receiver.head.result()
            if head.status == HTTPStatus.OK:
                return ApiResponse(head.status, head.headers, await self._read_line())
        except ConnectionError:
            await self.close()
            raise
        await self.close()
        return ApiResponse(head.status, head.headers, b"")

    async def close(self) -> None:
        """See `Stream.close`."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    async def _read_line(self) -> bytes:
        """The newest line that has not been read. Raises ConnectionError at the end of the stream."""
        receiver = self._receiver
        while not (line := receiver.take()):
            if receiver.has_ended:
                raise ConnectionError("the stream has ended")
            await _in_time(receiver.changed, SILENCE_SECONDS, "the stream was silent for")
        return line


async def _in_time[T](future: Future[T], seconds: float, found: str) -> T:
    """The result of a future, which fails with ConnectionError after a number of seconds."""
    if future.done():
        return future.result()
    timer = future.get_loop().call_later(seconds, _fail, future, f"{found} {seconds:g} seconds")
    try:
        return await future
    finally:
        timer.cancel()


def _fail(future: Future[Any], reason: str) -> None:
    if not future.done():
        future.set_exception(ConnectionError(reason))
