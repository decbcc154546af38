"""A worker: one of the processes of `croupier serve --workers N`.

All workers serve the games against a house, and hold'em if it is stored: they are nodes of a cluster, among which its
houses are divided. The first one alone has Old Maid, the accounts and the web app.
A worker inherits its listening sockets and its connection to the supervisor, and obeys the supervisor only, so that a
signal for all processes of the server, as systemd sends it, does not count twice.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from typing import Final, Self

import msgspec
import structlog
from msgspec import Struct

from croupier.app.cluster_node import default_node_name
from croupier.app.config import RoomConfig, ServerConfig, is_stored
from croupier.app.readiness import Readiness
from croupier.app.room_context import OpenRoom
from croupier.app.serve import serve
from croupier.app.server_process import ServerProcess
from croupier.cluster.bus import BusUnavailable
from croupier.cluster.local_bus import LocalBus
from croupier.cluster.open_bus import local_bus_url
from croupier.core.room import HouseRoom, Room
from croupier.net.count_limit import ConnectionCounts
from croupier.net.limits import EndpointLimits
from croupier.net.listening_socket import inherit_sockets
from croupier.net.shared_counts import SharedCountLimit, SharedCounts
from croupier.rooms.holdem import ROOM as HOLDEM

SETUP_VARIABLE: Final = "CROUPIER_WORKER"

CONNECTIONS_PER_WORKER: Final = 1_000_000_000
"""The connections of process n of a server are numbered from n times this, so that no number occurs twice."""

TABLES_TIMEOUT_SECONDS: Final = 600.0
"""How long a worker waits for the shared tables; its predecessor closes them first."""

TABLES_SUBJECT: Final = "supervisor.tables"
"""A request with the number of a worker; the answer comes when no other worker has the shared tables open."""

READY_SUBJECT: Final = "supervisor.ready"
"""A message of a worker that has opened its rooms: its number and its lines for standard output (`ReadyWorker`)."""

STOPPING_SUBJECT: Final = "supervisor.stopping"
"""A message with the number of a worker that stops."""


MAX_NODE_CHARACTERS: Final = 50
"""The name of a worker's node has its number after the last characters of the server's name."""

STOP: Final = "stop"
RESTART: Final = "restart"

FIRST_GAME_SECONDS: Final = 0.2
"""In a restart, clients have this long from the last connection until those without a game are disconnected."""


class WorkerSetup(Struct, frozen=True):
    """What a worker is started with. Descriptors are inherited.

    `number` counts the processes of the server from 0, `slot` is one of as many as there are workers: its successor has
    the same. `supervisor` is the number of the supervisor's process. `bus` is the descriptor of the connection to it,
    `node_bus` that of this worker as a node. `sockets` are host, port and descriptors. `ports` are those of the rooms,
    `document_ports` the second ones. `counts` are the descriptors of the connection counts of rooms, in which this
    process writes to one of `row_count` rows.
    """

    number: int
    slot: int
    supervisor: int
    bus: int
    node_bus: int
    sockets: tuple[tuple[str, int, tuple[int, ...]], ...]
    ports: dict[str, int]
    document_ports: dict[str, int]
    web_port: int | None
    counts: dict[str, int]
    row: int
    row_count: int

    @property
    def descriptors(self) -> list[int]:
        """All descriptors that the process inherits."""
        sockets = [each for _, _, descriptors in self.sockets for each in descriptors]
        return [self.bus, self.node_bus, *sockets, *self.counts.values()]

    def environment(self) -> dict[str, str]:
        """The environment of the process."""
        return {**os.environ, SETUP_VARIABLE: msgspec.json.encode(self).decode()}

    @classmethod
    def of_environment(cls) -> Self | None:
        """Return the setup of this process, None if it is no worker. The variable is removed."""
        text = os.environ.pop(SETUP_VARIABLE, None)
        return None if text is None else msgspec.json.decode(text, type=cls)


class ReadyWorker(Struct, frozen=True):
    """A worker that has opened its rooms, and the lines with their addresses."""

    number: int
    lines: Sequence[str]


def stop_subject(number: int) -> str:
    """The subject of the supervisor's message that stops a worker: RESTART, if another one takes its place, or STOP.

    A second message ends its games at once.
    """
    return f"worker.{number}.stop"


def is_for_all_workers(room_config: RoomConfig, config: ServerConfig) -> bool:
    """Whether all workers serve a room: its tables are private and have no accounts, or it can be divided."""
    if isinstance(room_config.room, HouseRoom):
        return config.accounts is None
    return room_config.room is HOLDEM and is_stored(room_config, config)


class Worker(ServerProcess):
    """A process of several that serve rooms together."""

    shares_files = True

    def __init__(self, setup: WorkerSetup, bus: LocalBus) -> None:
        self.first_peer = setup.number * CONNECTIONS_PER_WORKER + 1
        self._setup = setup
        self._bus = bus
        self._counts = {name: SharedCounts(each, setup.row_count) for name, each in setup.counts.items()}
        self._stop_requests = asyncio.Queue[str]()
        self._has_tables = False

    def on_stop(self, _: str, reason: bytes) -> None:
        """Handle the supervisor's message that stops this worker."""
        self._stop_requests.put_nowait(reason.decode())

    def own_configs(
        self, room_configs: Sequence[RoomConfig], config: ServerConfig
    ) -> tuple[Sequence[RoomConfig], ServerConfig]:
        """See `ServerProcess`. The rooms of all workers come first, because the others may have to wait."""
        setup = self._setup
        for_all = [each for each in room_configs if is_for_all_workers(each, config)]
        for_first = [each for each in room_configs if each not in for_all]
        is_first = setup.slot == 0
        own = [*for_all, *for_first] if is_first else for_all
        if unknown := [each.room.name for each in own if each.room.name not in setup.ports]:
            raise ValueError(f"found {', '.join(unknown)}, not open when the server was started; start it again")
        own = [
            replace(each, port=setup.ports[each.room.name], document_port=setup.document_ports.get(each.room.name))
            for each in own
        ]
        node = config.node or default_node_name(setup.supervisor)
        config = replace(
            config, bus=config.bus or self._local_bus(for_all), node=f"{node[-MAX_NODE_CHARACTERS:]}-{setup.number}"
        )
        if is_first and setup.web_port is not None:
            return own, replace(config, web_port=setup.web_port)
        return own, replace(config, no_web=True, web_port=None, admin_token_file=None, tournament=None)

    def _local_bus(self, shared: Sequence[RoomConfig]) -> str | None:
        """Return the bus of the workers, None if they neither divide hold'em nor show all games in a web app."""
        is_needed = self._setup.web_port is not None or any(each.room is HOLDEM for each in shared)
        return local_bus_url(self._setup.node_bus) if is_needed else None

    def connection_counts(self, room: Room, limits: EndpointLimits) -> ConnectionCounts | None:
        """See `ServerProcess`."""
        if (counts := self._counts.get(room.name)) is None:
            return None
        return SharedCountLimit(counts, self._setup.row, limits.max_connections_per_address, limits.max_connections)

    async def wait_to_open(self, room: Room) -> None:
        """See `ServerProcess`."""
        if not self._has_tables and room.name not in self._counts:
            await self._bus.request(TABLES_SUBJECT, b"%d" % self._setup.number, TABLES_TIMEOUT_SECONDS)
            self._has_tables = True

    @contextmanager
    def stop_requests(self) -> Iterator[asyncio.Queue[str]]:
        """See `ServerProcess`. A worker stops, too, when the supervisor has ended."""
        for ignored in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(ignored, lambda: None)
        self._bus.lost.add_done_callback(lambda _: self._stop_requests.put_nowait("supervisor ended"))
        yield self._stop_requests

    async def prepare_to_stop(self, request: str, rooms: Iterable[OpenRoom]) -> None:
        """See `ServerProcess`. In a restart, clients that have just connected get to their first game."""
        if request == RESTART:
            for room in rooms:
                room.stop_accepting()
            await asyncio.sleep(FIRST_GAME_SECONDS)

    @asynccontextmanager
    async def monitored(self, config: ServerConfig, readiness: Readiness) -> AsyncIterator[str | None]:
        """See `ServerProcess`. The supervisor serves the monitoring, and asks its workers."""
        if config.metrics_port is not None:
            from croupier.app.joint_monitoring import serve_figures

            await serve_figures(self._bus, self._setup.number, readiness)
        yield None

    @asynccontextmanager
    async def report(self, lines: Sequence[str]) -> AsyncIterator[None]:
        """Report to the supervisor that the rooms are open, and at the end of the context that they are closing."""
        await self._bus.publish(READY_SUBJECT, msgspec.json.encode(ReadyWorker(self._setup.number, lines)))
        try:
            yield
        finally:
            with suppress(BusUnavailable):
                await self._bus.publish(STOPPING_SUBJECT, b"%d" % self._setup.number)


async def run_worker(setup: WorkerSetup, room_configs: Sequence[RoomConfig], config: ServerConfig) -> None:
    """Serve rooms as a worker until the supervisor stops it or ends. Raises as `serve` does."""
    structlog.contextvars.bind_contextvars(worker=setup.slot + 1)
    inherit_sockets(setup.sockets)
    bus = await LocalBus.open(setup.bus)
    worker, lines = Worker(setup, bus), list[str]()
    await bus.subscribe(stop_subject(setup.number), worker.on_stop)
    try:
        await serve(room_configs, config, lines.append, lambda _: worker.report(lines), process=worker)
    finally:
        await bus.close()
