"""The servers of the five rooms and of the web app, each with a way to attack it, and a neighbour that plays there."""

import asyncio
import gc
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import httpx

from croupier.clients.game import GameClient
from croupier.clients.play import play_games
from croupier.clients.ring import RingTally, join_table, play_ring_games
from croupier.core.bots import RandomBot, bot_factory
from croupier.core.dealer import FairDealer, dealer_factory
from croupier.core.hall import Hall
from croupier.core.logger import SilentLogger
from croupier.core.room import HouseRoom
from croupier.core.session import Address, Timeouts
from croupier.http.connection import HttpConnection
from croupier.http.limits import ConnectionLimits
from croupier.net.connection import Connection
from croupier.net.endpoint import Endpoint, EndpointLimits
from croupier.net.listening_socket import bind_socket, bound_address
from croupier.net.shared_endpoint import SharedEndpoint
from croupier.observers.counters import RoomCounters
from croupier.rooms import HOUSE_ROOMS
from croupier.rooms.kuhn import ROOM as KUHN
from croupier.rooms.oldmaid.house import House as OldMaidHouse
from croupier.rooms.oldmaid.settings import Settings as OldMaidSettings
from croupier.rooms.oldmaid.wire import Wire as OldMaidWire
from croupier.web.app import create_app
from croupier.web.config import WebConfig
from croupier.web.server import WebServer
from tests.http import service_fixture
from tests.net.raw_client import TIMEOUT_SECONDS, MemoryTransport, RawClient
from tests.web.app_fixture import KEYS, house

HIGH_WATER_BYTES = 64 << 10
"""Above this much unread output, event loops pause a protocol."""

GAMES = 1
IDLE_SECONDS = 100.0

LIMITS = EndpointLimits(
    max_connections=200, max_connections_per_address=20, max_lingering_connections=10, close_timeout=0.01
)
HTTP_LIMITS = ConnectionLimits(
    max_connections=200, max_connections_per_address=20, max_lingering_connections=10, close_timeout=0.01
)
"""The same limits; an attack comes from one address, and the neighbour from another one."""

ATTACKER = "198.51.100.7"
LUCK = FairDealer(bytes(32)).luck


class AttackTransport(MemoryTransport):
    """The server's end of an attacker's connection: what the server writes is not read, unless `reads` is set."""

    def __init__(self, host: str) -> None:
        super().__init__(host)
        self.protocol: Any = None
        self.reads = False
        self.is_reading = True
        self.is_closed = False
        self.unread_bytes = 0
        self.written = b""

    def write(self, data: Any) -> None:
        if self.is_closed:
            return
        self.written = (self.written + bytes(data))[:4096]
        was_low = self.unread_bytes <= HIGH_WATER_BYTES
        self.unread_bytes += 0 if self.reads else len(data)
        if was_low and self.unread_bytes > HIGH_WATER_BYTES:
            self.protocol.pause_writing()

    def get_write_buffer_size(self) -> int:
        return self.unread_bytes

    def pause_reading(self) -> None:
        self.is_reading = False

    def resume_reading(self) -> None:
        self.is_reading = True

    def is_closing(self) -> bool:
        return self.is_closed

    def close(self) -> None:
        """Closed at once if everything is read; otherwise the close waits, as that of a socket."""
        if not self.unread_bytes:
            self.abort()

    def abort(self) -> None:
        if not self.is_closed:
            self.is_closed = True
            asyncio.get_running_loop().call_soon(self.protocol.connection_lost, None)


class Attacker:
    """One connection of an attacker to a server, without a socket."""

    def __init__(self, protocol: Any, host: str = ATTACKER) -> None:
        self.transport = AttackTransport(host)
        self.transport.protocol = protocol
        self._protocol = protocol
        protocol.connection_made(self.transport)

    @property
    def is_connected(self) -> bool:
        return not (self.transport.is_closed or self.transport.ended)

    def send(self, data: bytes) -> int:
        """Send data if the server reads; return how many bytes it has read."""
        if not self.is_connected or not self.transport.is_reading:
            return 0
        self._protocol.data_received(data)
        return len(data)


@dataclass
class Server:
    """A server under attack.

    `connect` makes the server's protocol for a connection; `play` lets a well-behaved neighbour play to the end;
    `pass_time` lets as much time pass as an idle connection may last. `connections` counts what is open.
    """

    address: Address
    connect: Callable[[], Any]
    play: Callable[[], Awaitable[object]]
    pass_time: Callable[[], Awaitable[object]]
    connections: Callable[[], int]
    counts: RoomCounters | None = None

    def attack(self, count: int, hosts: Callable[[int], str] = lambda _: ATTACKER) -> list[Attacker]:
        """Open connections of attackers."""
        return [Attacker(self.connect(), hosts(number)) for number in range(count)]


class ShiftedClock:
    """The clock of the loop, which a test may set forward."""

    def __init__(self) -> None:
        self.shift = 0.0
        self._time = asyncio.get_running_loop().time

    def __call__(self) -> float:
        return self._time() + self.shift


def endpoint_server(endpoint: Endpoint, address: Address, clock: ShiftedClock, play: Callable[[], Any]) -> Server:
    async def pass_time() -> None:
        clock.shift += IDLE_SECONDS
        endpoint.process_deadline()

    connections = lambda: len(endpoint.connections)  # noqa: E731 -- a field
    return Server(address, lambda: Connection(endpoint), play, pass_time, connections, endpoint.counts)


@asynccontextmanager
async def house_server(room: HouseRoom) -> AsyncIterator[Server]:
    clock = ShiftedClock()
    timeouts = Timeouts(IDLE_SECONDS)
    hall = Hall(
        room.house(room.settings(), timeouts, False), dealer_factory(lambda table: b"%032d" % table), timeouts.shortest
    )
    codec = partial(room.codec, False, room.settings())
    endpoint = Endpoint(hall, codec, SilentLogger(), limits=LIMITS, refusal=room.refusal_messages, clock=clock)
    address = await endpoint.listen("127.0.0.1", 0)

    async def play() -> None:
        bot = bot_factory(room.bots, "random")()
        tally = await play_games(lambda: GameClient(room, *address), bot, LUCK, GAMES)
        assert (len(tally.nets), tally.fault) == (GAMES, None)

    try:
        yield endpoint_server(endpoint, address, clock, play)
    finally:
        await endpoint.close()


@asynccontextmanager
async def oldmaid_server() -> AsyncIterator[Server]:
    clock = ShiftedClock()
    table = OldMaidHouse(
        OldMaidSettings(players=2, join_window=0.0), dealer_factory(lambda game: b"%032d" % game), idle=IDLE_SECONDS
    )
    endpoint = SharedEndpoint(table, partial(OldMaidWire, "table"), SilentLogger(), limits=LIMITS, clock=clock)
    address = await endpoint.listen("127.0.0.1", 0)

    async def play() -> None:
        tallies = [RingTally(nick) for nick in ("ann", "bob")]
        await asyncio.gather(
            *(
                play_ring_games(partial(join_table, *address, nick=tally.nick, luck=LUCK), RandomBot(), LUCK, 1, tally)
                for tally in tallies
            )
        )
        assert [(tally.games, tally.faults) for tally in tallies] == [(1, [])] * 2

    try:
        yield endpoint_server(endpoint, address, clock, play)
    finally:
        await endpoint.close()


@asynccontextmanager
async def holdem_server() -> AsyncIterator[Server]:
    async with service_fixture.opened(connection_limits=HTTP_LIMITS) as app:
        server = app._server

        async def pass_time() -> None:
            now = asyncio.get_running_loop().time()
            for _ in range(2):  # notes the time of what is unread, then finds that it is too old
                for connection in [*server.connections]:
                    connection.check_timeouts(now)
                now += IDLE_SECONDS

        connections = lambda: len(server.connections)  # noqa: E731 -- a field
        play = partial(play_hand, app.address, number=iter(range(100)))
        yield Server(app.address, lambda: HttpConnection(server), play, pass_time, connections, app.counts)


async def play_hand(address: Address, number: Iterable[int]) -> None:
    """Two new users play a hand of hold'em to its end, with checks and calls."""
    users = [f"player {each}" for each, _ in zip(number, range(2), strict=False)]
    async with RawClient(address) as client:
        guids = {}
        for user in users:
            guids[(await service_fixture.ask(client, "POST", "/users/", user)).json] = user
        games = (await service_fixture.ask(client, "GET", "/games/")).json
        game = next(each["gameID"] for each in games if not each["table"])
        for user in users:
            assert (await service_fixture.ask(client, "POST", f"/games/{game}/players/", user)).status == 201
        for _ in range(100):
            found = (await service_fixture.ask(client, "GET", f"/games/{game}")).json
            if found["cards"]["river"] is not None or not found["turn"]["playerID"]:
                break
            turn = found["turn"]
            act = {"action": 1, "betAmount": turn["bet_to_player"] - turn["bet_so_far"]}
            guid = turn["playerID"]
            acted = await service_fixture.ask(client, "POST", f"/games/{game}/players/{guid}/acts/", guids[guid], act)
            assert acted.status == 201, acted
        else:
            raise AssertionError("the hand does not end")
        for guid, user in guids.items():
            await service_fixture.ask(client, "DELETE", f"/games/{game}/players/{guid}", user)


@asynccontextmanager
async def web_server() -> AsyncIterator[Server]:
    entry = house(KUHN)
    bound = await bind_socket("127.0.0.1", 0)
    server = WebServer(create_app([entry], WebConfig(), KEYS), bound, limits=HTTP_LIMITS)
    while not server._server.started:
        await asyncio.sleep(0)
    uvicorn = server._server
    address = bound_address(bound)

    async def play() -> None:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{address[1]}", timeout=TIMEOUT_SECONDS) as visitor:
            page = (await visitor.get("/")).text
            csrf = page.partition('name="csrf" value="')[2].partition('"')[0]
            table = (await visitor.post("/play", data={"csrf": csrf, "room": "kuhn"})).headers["location"]
            assert (await visitor.get(table)).status_code == 200
            assert (await visitor.post(f"{table}/leave", data={"csrf": csrf})).status_code == 303

    async def pass_time() -> None:
        """The limits of the web app are timers of the loop; tests that use them shorten them."""

    def connect() -> Any:
        config: Any = uvicorn.config
        return config.http_protocol_class(config=config, server_state=uvicorn.server_state, app_state={})

    try:
        yield Server(address, connect, play, pass_time, lambda: len(uvicorn.server_state.connections))
    finally:
        await server.close()
        await entry.house.endpoint.close()


SERVERS: Mapping[str, Callable[[], AbstractAsyncContextManager[Server]]] = {
    **{name: partial(house_server, room) for name, room in HOUSE_ROOMS.items()},
    "oldmaid": oldmaid_server,
    "holdem": holdem_server,
    "web": web_server,
}


async def pump(attackers: Sequence[Attacker], data: bytes, until: Awaitable[object]) -> int:
    """Let all attackers send data in every turn of the event loop; return how many bytes the server took."""
    done = asyncio.ensure_future(until)
    taken = 0
    while not done.done():
        taken += sum(attacker.send(data) for attacker in attackers)
        await asyncio.sleep(0)
    await done
    return taken


DEFAULT_THRESHOLDS = gc.get_threshold()
"""When a server collects garbage. The tests begin to do so less often after this module is imported."""


INTERNED_TABLE_BYTES = {32 + (4 << bits) + 16 * ((2 << bits) // 3) for bits in range(16, 24)}
"""The sizes of CPython's table of interned strings: a header, 4 bytes for each slot, 16 for each entry."""


class Memory:
    """Measures the memory that Python allocates in a block: `peak` and `kept` are in bytes above the start.

    The table of interned strings is not counted: it may grow in any block, by megabytes at once.
    """

    peak = 0
    kept = 0

    def __enter__(self) -> "Memory":
        self._thresholds = gc.get_threshold()
        gc.set_threshold(*DEFAULT_THRESHOLDS)
        gc.collect()
        tracemalloc.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.peak = tracemalloc.get_traced_memory()[1]
        gc.collect()
        traces = tracemalloc.take_snapshot().traces
        table = sum(trace.size for trace in traces if trace.size in INTERNED_TABLE_BYTES)
        self.kept = tracemalloc.get_traced_memory()[0] - table
        self.peak = max(self.peak - table, self.kept)
        tracemalloc.stop()
        gc.set_threshold(*self._thresholds)
