"""Several servers as one: how long a take-over takes, and what forwarding an act and relaying a request costs.

    python bench/nodes.py [--tables N] [--seconds S] [--forwarding] [--relaying]

Take-over: two nodes with a real NATS and PostgreSQL, all tables at one of them, which is killed, or stopped past its
lease; the time until an act at each table succeeds at the other node. Forwarding: acts/s through a node that does not
own the tables, and of a bare NATS request whose responder performs the same acts. Relaying: processor time of requests
to Old Maid's table from clients at its own node, and at another one.
"""

import argparse
import asyncio
import base64
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from msgspec.json import decode, encode

from cluster import Cluster
from croupier.app.holdem_room import HoldemRoom
from croupier.cluster.holdem_houses import HoldemHouses
from croupier.cluster.lease import preferred_owner
from croupier.cluster.messages import Forwarded, Position, Reply, decode_request
from croupier.cluster.nats_bus import NatsBus, connect_nats
from croupier.cluster.node import Node
from croupier.core.logger import SilentLogger
from croupier.http.auth import Authenticator
from croupier.http.house_group import HouseGroup
from croupier.http.local_houses import stored_houses
from croupier.http.stored_users import StoredUsers
from croupier.net.event_loop import run
from croupier.recording.holdem_journal import JournalStart, open_store_of_houses
from croupier.rooms.holdem.engine.ranks import load_tables
from croupier.rooms.holdem.settings import Settings
from croupier.rooms.holdem.wire import ACTION_BET, Act, Created, Join, Open, Turn
from croupier.store.store import open_store, upgrade_store
from nats_server import NatsServer

STACK = 1_000_000_000
HOUSES = 4
BARE_SUBJECT = "bench.act"
PROCESSOR_SUBJECT = "bench.processor"
TIMEOUT_SECONDS = 60.0
IN_FLIGHT = (1, 64)
ROUNDS = 5

RELAYED_CLIENTS = (1, 32)
RELAYED_REQUESTS = 6400
SETTLE_SECONDS = 3.0
"""The time in which a new node has joined, and the table has an owner."""

# Take-over.


class ServedNode:
    """A `croupier serve` process that is a node with one room."""

    def __init__(self, name: str, store: str, bus: str, room: str = "holdem") -> None:
        words = ["serve", room, "--port", "0", "--node", name, "--store", store, "--bus", bus, "--log-level", "error"]
        options: list[object] = []
        if room == "holdem":
            options = ["--houses", HOUSES, "--stack", STACK, "--games-per-user", 0, "--turn-seconds", 600]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "croupier", *words, *map(str, options)], stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline().rpartition(":")[2])

    def signal(self, number: signal.Signals) -> None:
        """Send a signal."""
        self._process.send_signal(number)

    @property
    def processor_time(self) -> float:
        """The processor time of the process so far, in seconds."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        """Kill the process, also one that is stopped."""
        self._process.kill()
        self._process.wait()


CONNECTIONS: dict[int, HTTPConnection] = {}
"""A connection to each port."""


def ask(port: int, user: str, method: str, path: str, body: object = None) -> tuple[int, Any]:
    """Send a request; return the status and the JSON of a success. Raises OSError or HTTPException."""
    credentials = base64.b64encode(f"{user}:secret".encode()).decode()
    connection = CONNECTIONS.setdefault(port, HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_SECONDS))
    data = None if body is None else json.dumps(body)
    try:
        connection.request(method, path, data, {"Authorization": f"Basic {credentials}"})
        answer = connection.getresponse()
        found = answer.read()
    except (OSError, HTTPException):
        connection.close()
        raise
    return answer.status, json.loads(found) if found and answer.status < 300 else None


def open_tables(port: int, count: int) -> dict[str, tuple[str, str, int]]:
    """Seat ann and bob at new tables; return who is to act at each game, with the GUID and the chips to call."""
    guids = {user: ask(port, user, "POST", "/users/")[1] for user in ("ann", "bob")}
    users = {guid: user for user, guid in guids.items()}
    turns = {}
    for _ in range(count):
        ask(port, "ann", "POST", "/games/")
    games = [game for game in all_games(port) if len(game["table"]) == 1]
    for game in games:
        path = f"/games/{game['gameID']}"
        assert ask(port, "bob", "POST", f"{path}/players/")[0] == 201
        turn = ask(port, "ann", "GET", path)[1]["turn"]
        turns[game["gameID"]] = (users[turn["playerID"]], turn["playerID"], turn["bet_to_player"] - turn["bet_so_far"])
    return turns


def all_games(port: int) -> list[Any]:
    """Return the games on all pages of the list."""
    credentials = base64.b64encode(b"ann:secret").decode()
    path, games = "/games/?after=0", []
    connection = HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_SECONDS)
    while path:
        connection.request("GET", path, headers={"Authorization": f"Basic {credentials}"})
        answer = connection.getresponse()
        games += json.loads(answer.read())
        path = (answer.getheader("link") or "").partition("<")[2].partition(">")[0]
    connection.close()
    return games


def measure_take_over(folder: Path, tables: int, how: signal.Signals) -> None:
    """Print how long after a signal to their node all tables accept an act at the other one."""
    with NatsServer(folder) as nats, Cluster() as postgres:
        asyncio.run(upgrade_store(postgres.url()))
        nodes = {name: ServedNode(name, postgres.url(), nats.url) for name in ("ada", "bea")}
        try:
            homes = [preferred_owner(house, nodes) for house in range(1, HOUSES + 1)]
            lost = max(nodes, key=homes.count)
            other = next(port for name, port in ((name, node.port) for name, node in nodes.items()) if name != lost)
            time.sleep(2.0 + HOUSES)  # until every house is at home
            turns = open_tables(nodes[lost].port, tables)
            began = time.perf_counter()
            nodes[lost].signal(how)
            times = wait_for_acts(other, turns, began)
        finally:
            for node in nodes.values():
                node.end()
    verdict = "met" if max(times) < 5.0 else "missed"
    first, middle, last = min(times), median(times), max(times)
    print(f"{how.name}: {len(times)} tables act after {first:.2f} to {last:.2f} s, half after {middle:.2f} s")
    print(f"  target: all in less than 5 s: {verdict}")


def wait_for_acts(port: int, turns: dict[str, tuple[str, str, int]], began: float) -> list[float]:
    """Act at every table until that succeeds; return when, in seconds since `began`."""
    waiting, times = dict(turns), []
    while waiting:
        assert time.perf_counter() - began < TIMEOUT_SECONDS, f"{len(waiting)} tables are lost"
        for game, (user, guid, chips) in [*waiting.items()]:
            path = f"/games/{game}/players/{guid}/acts/"
            try:
                status, _ = ask(port, user, "POST", path, {"action": ACTION_BET, "betAmount": chips})
            except (OSError, HTTPException):
                break
            if status != 201:
                break  # the house has no owner yet
            times.append(time.perf_counter() - began)
            del waiting[game]
    return times


# Forwarding.

FRONT, OWNER = sorted(("ada", "bea"), key=lambda name: name == preferred_owner(1, ("ada", "bea")))
"""The names of the node that forwards, and of the one that owns the house."""


@asynccontextmanager
async def room_of(path: str) -> AsyncIterator[HoldemRoom]:
    """A room with one house in a SQLite store; the house is not open yet."""

    async with await open_store(path) as store:
        await store.watch_accounts()
        settings = Settings(stack=STACK, games_per_user=0, turn_seconds=600.0)
        start = await open_store_of_houses(store, JournalStart(1, settings=settings), 1)
        authenticator = Authenticator(StoredUsers(store))
        room = HoldemRoom(
            stored_houses(store, start, settings, SilentLogger()), settings, authenticator, SilentLogger()
        )
        try:
            yield room
        finally:
            room.houses.abandon_all()
            authenticator.close()


async def own_tables(path: str, url: str, *, is_bare: bool) -> None:
    """Run the house until standard input ends: as a node, or as the responder of bare requests."""
    load_tables()
    async with room_of(path) as room:
        bus = await connect_nats(url, SilentLogger())
        node = None
        if is_bare:
            await room.houses.open(1)
            await bus.serve(BARE_SUBJECT, partial(perform, room.service))
        else:
            node = Node(OWNER, bus, SilentLogger())
            await node.start()
            await HoldemHouses(node, room.service, room.houses, SilentLogger()).join()
            while not room.service.services:
                await asyncio.sleep(0.01)
        await bus.serve(PROCESSOR_SUBJECT, report_processor_time)
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.read)
        await (bus.close() if node is None else node.stop())


async def report_processor_time(body: bytes) -> bytes:  # noqa: ARG001 -- the handler of a subject
    """Return the processor time of this process in seconds."""
    return encode(time.process_time())


async def perform(group: HouseGroup, body: bytes) -> bytes:
    """Perform a request; the answer has the next turn at the table, too."""
    request = decode_request(body)
    assert isinstance(request, Forwarded), "only acts are sent"
    response = await group.execute(request.request)
    game = getattr(request.request, "game", "") or getattr(response, "game", "")
    turn = group.views.public_view(game).turn
    return encode([Reply.of(response, 1, Position(0, 0)), turn])


class ActFigures(NamedTuple):
    """Acts in a second, the median time of an act in ms, and its processor time in both processes in µs."""

    rate: float
    milliseconds: float
    processor: float


class BareTables:
    """Sends requests without a node."""

    def __init__(self, bus: NatsBus) -> None:
        self._bus = bus

    async def execute(self, request: Open | Join | Act) -> tuple[Any, Turn]:
        """Send a request; return the answer and the next turn."""
        found = await self._bus.request(BARE_SUBJECT, encode(Forwarded(request)), TIMEOUT_SECONDS)
        reply, turn = decode(found, type=tuple[Reply, Turn])
        return reply.response, turn


class ForwardedTables:
    """Sends requests through a node that owns no house."""

    def __init__(self, group: HouseGroup) -> None:
        self._group = group

    async def execute(self, request: Open | Join | Act) -> tuple[Any, Turn]:
        """Send a request; return the answer and the next turn."""
        response = await self._group.execute(request)
        game = getattr(request, "game", "") or getattr(response, "game", "")
        return response, self._group.views.public_view(game).turn


async def measure_acts(
    tables: BareTables | ForwardedTables, bus: NatsBus, in_flight: int, seconds: float
) -> ActFigures:
    """Play at as many tables as acts are in flight."""
    times: list[float] = []
    began = 0.0

    async def processor_time() -> float:
        return time.process_time() + decode(await bus.request(PROCESSOR_SUBJECT, b"", TIMEOUT_SECONDS), type=float)

    async def play(number: int) -> None:
        nonlocal began
        users = [f"u{in_flight}-{number}-{seat}" for seat in range(2)]
        opened, _ = await tables.execute(Open(users[0]))
        assert isinstance(opened, Created), opened
        joined, turn = await tables.execute(Join(users[1], opened.game))
        by_guid = {opened.guid: users[0], joined.guid: users[1]}
        if await everybody.wait() == 0:
            began = await processor_time()
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            chips = turn.bet_to_player - turn.bet_so_far
            sent = time.perf_counter()
            act = Act(by_guid[turn.player_id], opened.game, turn.player_id, ACTION_BET, chips)
            _, turn = await tables.execute(act)
            times.append(time.perf_counter() - sent)

    everybody = asyncio.Barrier(in_flight)
    await asyncio.gather(*(play(number) for number in range(in_flight)))
    used = await processor_time() - began
    return ActFigures(len(times) / seconds, 1000 * median(times), 1e6 * used / len(times))


async def forward(url: str, path: str, seconds: float, *, is_bare: bool) -> dict[int, ActFigures]:
    """Return acts/s and the median in ms, by the number in flight."""
    words = [sys.executable, __file__, "--own", path, "--bus", url, *(["--bare"] if is_bare else [])]
    owner = await asyncio.create_subprocess_exec(*words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert owner.stdout is not None
    assert owner.stdin is not None
    await owner.stdout.readline()
    bus = await connect_nats(url, SilentLogger())
    if is_bare:
        found = {count: await measure_acts(BareTables(bus), bus, count, seconds) for count in IN_FLIGHT}
        await bus.close()
    else:
        async with room_of(path) as room:
            node = Node(FRONT, bus, SilentLogger())
            await node.start()
            await HoldemHouses(node, room.service, room.houses, SilentLogger()).join()
            while not room.service.views.games.tables:
                await asyncio.sleep(0.01)
            found = {
                count: await measure_acts(ForwardedTables(room.service), bus, count, seconds) for count in IN_FLIGHT
            }
            await node.stop()
    owner.stdin.close()
    await owner.wait()
    return found


def measure_forwarding(folder: Path, seconds: float) -> None:
    """Print what forwarded acts cost beside bare requests, in turns because other programs use the machine, too."""
    runs: dict[bool, list[dict[int, ActFigures]]] = {True: [], False: []}
    with NatsServer(folder) as nats:
        for number in range(ROUNDS):
            for is_bare, found in runs.items():
                path = folder / f"{'bare' if is_bare else 'forwarded'}-{number}.db"
                found.append(run(forward(nats.url, str(path), seconds / ROUNDS, is_bare=is_bare)))
    for count in IN_FLIGHT:
        bare, forwarded = (
            ActFigures(*(median(values) for values in zip(*(each[count] for each in found), strict=True)))
            for found in runs.values()
        )
        print(f"{count} in flight: {describe(forwarded)}")
        print(f"  bare NATS with the same acts: {describe(bare)}")
        ratio, processor = forwarded.rate / bare.rate, bare.processor / forwarded.processor
        verdict = "met" if ratio >= 0.7 else "missed"
        print(f"  ratio {ratio:.2f}, of processor time {processor:.2f}; target: 0.7: {verdict}")


def describe(figures: ActFigures) -> str:
    """Describe figures in words."""
    return f"{figures.rate:,.0f} acts/s, {figures.milliseconds:.2f} ms, {figures.processor:.0f} µs of processor time"


# Relaying.


def measure_relaying(folder: Path) -> None:
    """Print the processor time of requests to the table of Old Maid, whose node starts first."""
    with NatsServer(folder) as nats:
        nodes = [ServedNode("ada", str(folder / "kept.db"), nats.url, "oldmaid")]
        try:
            time.sleep(SETTLE_SECONDS)  # it claims the table
            nodes.append(ServedNode("bea", str(folder / "kept.db"), nats.url, "oldmaid"))
            time.sleep(SETTLE_SECONDS)
            for count in RELAYED_CLIENTS:
                for place, node in zip(("its own", "another"), nodes, strict=True):
                    own, other, waited = request_standings(nodes, node.port, count)
                    print(
                        f"relaying: {count} clients at {place} node: {own:.0f} us of processor time at the table, "
                        f"{other:.0f} us at the other one, {waited:.0f} us for each request"
                    )
        finally:
            for node in nodes:
                node.end()


def request_standings(nodes: Sequence[ServedNode], port: int, count: int) -> tuple[float, float, float]:
    """Let clients at a port request the standing of a game, which the table refuses.

    Returns the microseconds of processor time of each node for a request, and the time between two answers.
    """
    with ExitStack() as stack:
        clients = [stack.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(count)]
        answers = [stack.enter_context(client.makefile("rb")) for client in clients]

        def request_all() -> None:
            for client in clients:
                client.sendall(b'{"cmd":"status"}\n')
            for answer in answers:
                assert b"error" in answer.readline()

        request_all()
        before, began = [node.processor_time for node in nodes], time.perf_counter()
        for _ in range(RELAYED_REQUESTS // count):
            request_all()
        waited = time.perf_counter() - began
        spent = [node.processor_time - earlier for node, earlier in zip(nodes, before, strict=True)]
    own, other, waited = (1e6 * seconds / (RELAYED_REQUESTS // count * count) for seconds in (*spent, waited))
    return own, other, waited


def main() -> None:
    """Run all measurements, or the owner of one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--own", help=argparse.SUPPRESS)
    parser.add_argument("--bus", help=argparse.SUPPRESS)
    parser.add_argument("--bare", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--forwarding", action="store_true", help="measure forwarding only")
    parser.add_argument("--relaying", action="store_true", help="measure relaying only")
    options = parser.parse_args()
    if options.own:
        run(own_tables(options.own, options.bus, is_bare=options.bare))
        return
    with tempfile.TemporaryDirectory(prefix="croupier-nodes-") as folder:
        folders = [Path(folder) / name for name in ("forwarding", "killed", "stopped", "relaying")]
        for each in folders:
            each.mkdir()
        if not options.forwarding:
            measure_relaying(folders[3])
        if options.relaying:
            return
        measure_forwarding(folders[0], options.seconds)
        if options.forwarding:
            return
        measure_take_over(folders[1], options.tables, signal.SIGKILL)
        measure_take_over(folders[2], options.tables, signal.SIGSTOP)


if __name__ == "__main__":
    main()
