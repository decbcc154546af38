"""The hold'em service for tests, in-process or on a socket, and requests to it."""

import asyncio
import json
import ssl
from base64 import b64encode
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Self

from argon2 import PasswordHasher

from croupier.core.dealer import dealer_factory, derive_server_seed
from croupier.http.auth import Authenticator
from croupier.http.holdem_app import HoldemApp, HoldemServer, open_holdem_server
from croupier.http.limits import ConnectionLimits, ServiceLimits
from croupier.rooms.holdem.house import House
from croupier.rooms.holdem.settings import Settings
from tests.net.raw_client import TIMEOUT_SECONDS, RawClient

QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)

PROBLEM = {"accept": "application/problem+json"}


class ManualClock:
    """A clock that only tests advance."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def house(seed: int = 1, **settings: Any) -> House:
    return House(
        Settings(**settings),
        dealer_factory(lambda deal: derive_server_seed(seed, "holdem", deal)),
        derive_server_seed(seed, "guids", 0),
    )


def basic(user: str, password: str = "secret") -> str:
    return "Basic " + b64encode(f"{user}:{password}".encode()).decode()


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
        self.authenticator = authenticator or Authenticator(clock=self.clock, hasher=QUICK)
        self.service = HoldemApp(
            self.house, self.authenticator, dialect, clock=self.clock, limits=limits, **app_options
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.service.halt(final=True)
        self.service.close()

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
        """Send a request and return the response. `body` is bytes or a JSON value; it arrives in `parts` messages."""
        path, _, query = path.partition("?")
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"host": "127.0.0.1"} | ({"authorization": basic(user)} if user else {}) | dict(headers)
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": query.encode(),
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in sent.items()],
            "client": (address, 1),
            "server": ("127.0.0.1", 8080),
        }
        size = -(-len(data) // parts) or 1
        chunks_to_send = [data[start : start + size] for start in range(0, len(data), size)] or [b""]
        inbox: list[dict[str, Any]] = [
            {"type": "http.request", "body": chunk, "more_body": number < len(chunks_to_send)}
            for number, chunk in enumerate(chunks_to_send, 1)
        ]
        outbox: list[Any] = []

        async def receive() -> dict[str, Any]:
            if inbox:
                return inbox.pop(0)
            return await asyncio.get_running_loop().create_future()  # the client does not disconnect

        async def send(message: Any) -> None:
            outbox.append(message)

        async with asyncio.timeout(TIMEOUT_SECONDS):
            await self.service(scope, receive, send)
        start, *body_messages = outbox
        assert start["type"] == "http.response.start"
        assert [message.get("more_body", False) for message in body_messages] == [True] * (len(body_messages) - 1) + [
            False
        ]
        return Response(start["status"], start["headers"], b"".join(message["body"] for message in body_messages))

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
    log: Any = None,
    observers: Any = (),
    authenticator: Authenticator | None = None,
    **settings: Any,
) -> AsyncIterator[HoldemServer]:
    """A service on a free port; at the end it is stopped, and all connections have to be closed."""
    authenticator = authenticator or Authenticator(hasher=QUICK)
    service = HoldemApp(
        house(dialect=dialect, **settings), authenticator, dialect, limits=limits, log=log, observers=observers
    )
    found = await open_holdem_server(service, "127.0.0.1", 0, ssl=context, limits=connection_limits)
    try:
        yield found
    finally:
        await close(found)


async def close(found: HoldemServer, seconds: float = 1.0) -> None:
    """Stop a service; all connections have to be closed then."""
    async with asyncio.timeout(TIMEOUT_SECONDS):
        await found.stop(seconds)
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
