"""The hold'em service for tests, in-process or on a socket, and requests to it."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Self
from urllib.parse import quote

from croupier.core.basic_auth import basic_authorization
from croupier.core.dealer import dealer_factory, derive_server_seed
from croupier.core.logger import SilentLogger
from croupier.http.auth import QUICK_HASHER, Authenticator
from croupier.http.connection import HttpConnection, State
from croupier.http.holdem_app import HoldemApp
from croupier.http.limits import ConnectionLimits, ServiceLimits
from croupier.http.server import HttpServer
from croupier.observers.counters import RoomCounters
from croupier.rooms.holdem.house import House
from croupier.rooms.holdem.settings import Settings
from tests.net.raw_client import TIMEOUT_SECONDS, MemoryTransport, RawClient

URL_CHARACTERS = "/?&=%:.;,+-_~!$'()*@"
"""Characters that are sent as they are in the target of a request."""

PROBLEM = {"accept": "application/problem+json"}


class ManualClock:
    """A clock that only tests advance."""

    def __init__(self, now: float = 0.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def house(seed: int = 1, **settings: Any) -> House:
    return House(
        Settings(**settings),
        dealer_factory(lambda deal: derive_server_seed(seed, "holdem", deal)),
        derive_server_seed(seed, "guids", 0),
    )


def basic(user: str, password: str = "secret") -> str:
    return basic_authorization(user, password).decode()


class Response:
    """An HTTP response."""

    def __init__(self, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
        self.status = status
        self.headers = {name.decode(): value.decode() for name, value in headers}
        self.body = body
        assert len(self.headers) == len(headers), f"a header came twice: {headers}"

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def text(self) -> str:
        return self.body.decode()

    def __repr__(self) -> str:
        return f"{self.status} {self.headers} {self.body!r}"


class InProcessTransport(MemoryTransport):
    """A transport without a socket that can be closed. `written` is set by every write."""

    def __init__(self, host: str = "192.0.2.1") -> None:
        super().__init__(host)
        self.closed = False
        self.is_reading = True
        self.written = asyncio.Event()

    def write(self, data: Any) -> None:
        super().write(data)
        self.written.set()

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None:
        self.is_reading = False

    def resume_reading(self) -> None:
        self.is_reading = True


class InProcessConnection:
    """A connection to an application without a socket."""

    def __init__(
        self, app: Any, address: str = "192.0.2.1", *, limits: ConnectionLimits = ConnectionLimits(), **options: Any
    ) -> None:
        self.server = HttpServer(app, limits, RoomCounters(), **options)
        self.connection = HttpConnection(self.server)
        self.transport = InProcessTransport(address)
        self.connection.connection_made(self.transport)

    def ask(self, data: bytes) -> Response | None:
        """Send data and return the response that is written at once, in one write; None if there is none."""
        self.transport.writes.clear()
        self.connection.data_received(data)
        if not self.transport.writes:
            return None
        (response,) = self.transport.writes
        return parse_response(response)

    async def response(self, *, is_head: bool = False) -> Response:
        """Wait until the request is answered, and return the response."""
        while self.connection.state not in {State.IDLE, State.CLOSING}:
            self.transport.written.clear()
            await self.transport.written.wait()
            await asyncio.sleep(0)
        return parse_response(b"".join(self.transport.writes), is_head=is_head)

    async def leave(self) -> None:
        """Disconnect."""
        self.connection.connection_lost(None)
        await asyncio.sleep(0)


def parse_response(data: bytes, *, is_head: bool = False) -> Response:
    """Parse one whole response. How the body is framed is checked, and its headers are removed if it is chunked."""
    head, _, body = data.partition(b"\r\n\r\n")
    status, *lines = head.split(b"\r\n")
    headers = [(name, value) for name, value in (line.split(b": ", 1) for line in lines)]
    if (b"transfer-encoding", b"chunked") in headers:
        headers.remove((b"transfer-encoding", b"chunked"))
        chunks, rest = b"", body
        while True:
            size, _, rest = rest.partition(b"\r\n")
            if not (length := int(size, 16)):
                break
            chunks += rest[:length]
            assert rest[length : length + 2] == b"\r\n"
            rest = rest[length + 2 :]
        assert rest == b"\r\n"
        body = chunks
    elif not is_head and (length_header := dict(headers).get(b"content-length")) is not None:
        assert len(body) == int(length_header)
    else:
        assert body == b""
    return Response(int(status.split()[1]), headers, body)


class InProcessService:
    """A service without a socket, with a manual clock."""

    def __init__(
        self,
        dialect: str = "readme",
        *,
        limits: ServiceLimits = ServiceLimits(),
        seed: int = 1,
        authenticator: Any = None,
        **options: Any,
    ) -> None:
        app_options = {key: options.pop(key) for key in ("observers", "log", "proxies") if key in options}
        self.clock = ManualClock()
        self.house = house(seed, dialect=dialect, **options)
        self.authenticator = authenticator or Authenticator(clock=self.clock, hasher=QUICK_HASHER)
        self.service = HoldemApp(self.house, self.authenticator, clock=self.clock, limits=limits, **app_options)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.service.halt(final=True)
        self.service.authenticator.close()

    async def ask(
        self,
        method: str,
        path: str,
        user: str | None = None,
        body: Any = b"",
        *,
        headers: Mapping[str, str] = {},
        parts: int = 1,
        address: str = "192.0.2.1",
    ) -> Response:
        """Send a request and return the response. `body` is bytes or a JSON value; it arrives in `parts` parts."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"host": "127.0.0.1"} | ({"authorization": basic(user)} if user else {}) | dict(headers)
        size = -(-len(data) // parts) or 1
        body_parts = [data[start : start + size] for start in range(0, len(data), size)]
        if parts > 1 and "content-length" not in sent:
            sent["transfer-encoding"] = "chunked"
            body_parts = [b"%x\r\n%s\r\n" % (len(part), part) for part in body_parts] + [b"0\r\n\r\n"]
        elif data:
            sent = {"content-length": str(len(data))} | sent
        lines = [f"{name}: {value}" for name, value in sent.items()]
        head = "\r\n".join([f"{method} {quote(path, URL_CHARACTERS)} HTTP/1.1", *lines, "", ""])
        connection = InProcessConnection(self.service, address)
        for part in (head.encode("latin-1"), *body_parts):
            connection.connection.data_received(part)
        async with asyncio.timeout(TIMEOUT_SECONDS):
            found = await connection.response(is_head=method == "HEAD")
        await connection.leave()
        return found

    async def register(self, *users: str) -> list[str]:
        """Register users and return their GUIDs."""
        return [(await self.ask("POST", "/users/", user)).json for user in users]

    async def game(self) -> str:
        """The GUID of the first game."""
        got: str = (await self.ask("GET", "/games/")).json[0]["gameID"]
        return got

    async def seat_players(self, *users: str) -> tuple[str, list[str]]:
        """Register users, seat them in this order, and return the GUIDs of the game and of the users."""
        guids = await self.register(*users)
        game = await self.game()
        for user in users:
            assert (await self.ask("POST", f"/games/{game}/players/", user)).status == 201
        return game, guids

    async def act(self, game: str, user: str, guid: str, action: int = 1, amount: int = 0) -> Response:
        return await self.ask(
            "POST", f"/games/{game}/players/{guid}/acts/", user, {"action": action, "betAmount": amount}
        )

    async def turn(self, game: str) -> dict[str, Any]:
        got: dict[str, Any] = (await self.ask("GET", f"/games/{game}")).json["turn"]
        return got

    async def check_or_call(self, game: str, users: Mapping[str, str]) -> Response:
        """Let the player whose turn it is check or call. `users` are names by GUID."""
        turn = await self.turn(game)
        guid = turn["playerID"]
        return await self.act(game, users[guid], guid, 1, turn["bet_to_player"] - turn["bet_so_far"])


@asynccontextmanager
async def opened(
    dialect: str = "readme",
    *,
    limits: ServiceLimits = ServiceLimits(),
    connection_limits: ConnectionLimits = ConnectionLimits(),
    context: ssl.SSLContext | None = None,
    log: Any = SilentLogger(),
    observers: Any = (),
    authenticator: Authenticator | None = None,
    **settings: Any,
) -> AsyncIterator[HoldemApp]:
    """A service on a free port; at the end it is stopped, and all connections have to be closed."""
    authenticator = authenticator or Authenticator(hasher=QUICK_HASHER)
    service = HoldemApp(house(dialect=dialect, **settings), authenticator, limits=limits, log=log, observers=observers)
    await service.listen("127.0.0.1", 0, ssl=context, limits=connection_limits)
    try:
        yield service
    finally:
        await close(service)


async def close(found: HoldemApp, seconds: float = 1.0) -> None:
    """Stop a service; all connections have to be closed then."""
    async with asyncio.timeout(TIMEOUT_SECONDS):
        await found.stop(seconds)
        found.authenticator.close()
    assert found.connection_count == 0


def request(method: str, path: str, user: str | None = None, body: Any = None, **headers: str) -> bytes:
    """The bytes of a request."""
    data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1"]
    if user is not None:
        lines.append(f"Authorization: {basic(user)}")
    if body is not None and "Transfer_Encoding" not in headers:
        lines.append(f"Content-Length: {len(data)}")
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + data


async def answer(caller: RawClient, *, head: bool = False) -> Response:
    """Receive the next response."""
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = await caller.receive(1)
        assert chunk, f"the end after {data!r}"
        data += chunk
    status, *lines = data[:-4].split(b"\r\n")
    headers = [(name.lower(), value.strip()) for name, _, value in (line.partition(b":") for line in lines)]
    found = dict(headers)
    code = int(status.split()[1])
    body = b""
    if not head and code != 304:
        if found.get(b"transfer-encoding") == b"chunked":
            body = b"".join([chunk async for chunk in chunks(caller)])
        else:
            body = await caller.receive(int(found[b"content-length"]))
    return Response(code, headers, body)


async def chunks(caller: RawClient) -> AsyncIterator[bytes]:
    """Receive the chunks of a response until the last one."""
    while True:
        size = b""
        while not size.endswith(b"\r\n"):
            chunk = await caller.receive(1)
            assert chunk, "the end in mid-chunk"
            size += chunk
        length = int(size, 16)
        data = await caller.receive(length + 2)
        assert data.endswith(b"\r\n")
        if not length:
            return
        yield data[:-2]


async def ask(caller: RawClient, *what: Any, **headers: Any) -> Response:
    """Send a request and receive its response."""
    await caller.send(request(*what, **headers))
    return await answer(caller, head=what[0] == "HEAD")


async def first_game(caller: RawClient) -> str:
    """The GUID of the first game in the list."""
    game: str = (await ask(caller, "GET", "/games/")).json[0]["gameID"]
    return game
