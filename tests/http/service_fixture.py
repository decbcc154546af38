"""A house of hold'em behind HTTP, and those who visit it: in-process, or through bare sockets."""

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
from tests.net.raw_client import PATIENCE, Caller

QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)

PROBLEM = {"accept": "application/problem+json"}


class Hands:
    """A clock that is moved by hand."""

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


class Got:
    """What was answered."""

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


class Web:
    """A service without a socket, whose clock stands still until it is moved."""

    def __init__(
        self,
        dialect: str = "readme",
        *,
        limits: ServiceLimits = ServiceLimits(),
        seed: int = 1,
        guard: Any = None,
        **rest: Any,
    ) -> None:
        known = {key: rest.pop(key) for key in ("taps", "log", "proxies") if key in rest}
        self.clock = Hands()
        self.house = house(seed, dialect=dialect, **rest)
        self.guard = guard or Authenticator(clock=self.clock, hasher=QUICK)
        self.service = HoldemApp(self.house, self.guard, dialect, clock=self.clock, limits=limits, **known)

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
    ) -> Got:
        """A request, and its answer. `body` is bytes or what JSON is made of; it comes in so many parts."""
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
        pieces = [data[start : start + size] for start in range(0, len(data), size)] or [b""]
        inbox: list[dict[str, Any]] = [
            {"type": "http.request", "body": piece, "more_body": number < len(pieces)}
            for number, piece in enumerate(pieces, 1)
        ]
        outbox: list[Any] = []

        async def receive() -> dict[str, Any]:
            if inbox:
                return inbox.pop(0)
            return await asyncio.get_running_loop().create_future()  # the visitor stays

        async def send(message: Any) -> None:
            outbox.append(message)

        async with asyncio.timeout(PATIENCE):
            await self.service(scope, receive, send)
        start, *rest = outbox
        assert start["type"] == "http.response.start"
        assert [message.get("more_body", False) for message in rest] == [True] * (len(rest) - 1) + [False]
        return Got(start["status"], start["headers"], b"".join(message["body"] for message in rest))

    async def enrol(self, *users: str) -> list[str]:
        """New users: their GUIDs."""
        return [(await self.ask("POST", "/users/", user)).json for user in users]

    async def game(self) -> str:
        """The GUID of the first game."""
        got: str = (await self.ask("GET", "/games/")).json[0]["gameID"]
        return got

    async def seated(self, *users: str) -> tuple[str, list[str]]:
        """A game with these new users, who have joined it in this order: its GUID, and theirs."""
        guids = await self.enrol(*users)
        game = await self.game()
        for user in users:
            assert (await self.ask("POST", f"/games/{game}/players/", user)).status == 201
        return game, guids

    async def act(self, game: str, user: str, guid: str, action: int = 1, amount: int = 0) -> Got:
        return await self.ask(
            "POST", f"/games/{game}/players/{guid}/acts/", user, {"action": action, "betAmount": amount}
        )

    async def turn(self, game: str) -> dict[str, Any]:
        got: dict[str, Any] = (await self.ask("GET", f"/games/{game}")).json["turn"]
        return got

    async def check_or_call(self, game: str, users: Mapping[str, str]) -> Got:
        """Whose turn it is checks or calls. `users` are names by GUID."""
        turn = await self.turn(game)
        guid = turn["playerID"]
        return await self.act(game, users[guid], guid, 1, turn["bet_to_player"] - turn["bet_so_far"])


@asynccontextmanager
async def opened(
    dialect: str = "readme",
    *,
    limits: ServiceLimits = ServiceLimits(),
    reception: ConnectionLimits = ConnectionLimits(),
    context: ssl.SSLContext | None = None,
    log: Any = None,
    taps: Any = (),
    guard: Authenticator | None = None,
    **settings: Any,
) -> AsyncIterator[HoldemServer]:
    """A service on a free port; at the end it is stopped, and everybody has to be gone."""
    guard = guard or Authenticator(hasher=QUICK)
    service = HoldemApp(house(dialect=dialect, **settings), guard, dialect, limits=limits, log=log, taps=taps)
    found = await open_holdem_server(service, "127.0.0.1", 0, ssl=context, limits=reception)
    try:
        yield found
    finally:
        await close(found)


async def close(found: HoldemServer, seconds: float = 1.0) -> None:
    """Stop a service; everybody has to be gone then."""
    async with asyncio.timeout(PATIENCE):
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


async def answer(caller: Caller, *, head: bool = False) -> Got:
    """The next answer that a caller hears."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = await caller.hear(1)
        assert piece, f"the end after {data!r}"
        data += piece
    status, *lines = data[:-4].split(b"\r\n")
    headers = [(name.lower(), value.strip()) for name, _, value in (line.partition(b":") for line in lines)]
    found = dict(headers)
    code = int(status.split()[1])
    body = b""
    if not head and code != 304:
        if found.get(b"transfer-encoding") == b"chunked":
            body = b"".join([chunk async for chunk in chunks(caller)])
        else:
            body = await caller.hear(int(found[b"content-length"]))
    return Got(code, headers, body)


async def chunks(caller: Caller) -> AsyncIterator[bytes]:
    """The chunks of an answer, until the last one."""
    while True:
        size = b""
        while not size.endswith(b"\r\n"):
            piece = await caller.hear(1)
            assert piece, "the end in mid-chunk"
            size += piece
        length = int(size, 16)
        data = await caller.hear(length + 2)
        assert data.endswith(b"\r\n")
        if not length:
            return
        yield data[:-2]


async def ask(caller: Caller, *what: Any, **headers: Any) -> Got:
    """Say a request, and hear its answer."""
    await caller.say(request(*what, **headers))
    return await answer(caller, head=what[0] == "HEAD")
