"""A process that serves rooms: what differs between a server of one process and a worker of several."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager

from croupier.app.config import RoomConfig, ServerConfig
from croupier.app.monitoring import serve_monitoring
from croupier.app.readiness import Readiness
from croupier.app.room_context import OpenRoom
from croupier.core.room import Room
from croupier.net.count_limit import ConnectionCounts
from croupier.net.limits import EndpointLimits
from croupier.net.stop_signals import stop_signal_queue


class ServerProcess:
    """The only process of a server.

    `first_peer` is the number of its first connection. `shares_files`: other processes write to the same files.
    """

    first_peer = 1
    shares_files = False

    def own_configs(
        self, room_configs: Sequence[RoomConfig], config: ServerConfig
    ) -> tuple[Sequence[RoomConfig], ServerConfig]:
        """Return the rooms that this process opens, in this order, and its settings."""
        return room_configs, config

    def connection_counts(self, room: Room, limits: EndpointLimits) -> ConnectionCounts | None:  # noqa: ARG002 -- for workers
        """Return the counts of a room's connections if other processes serve it as well."""
        return None

    async def wait_to_open(self, room: Room) -> None:
        """Wait until a room can be opened: no other process of this server may have a shared table open."""

    def stop_requests(self) -> AbstractContextManager[asyncio.Queue[str]]:
        """Return a context with a queue that receives the requests to stop."""
        return stop_signal_queue()

    async def prepare_to_stop(self, request: str, rooms: Iterable[OpenRoom]) -> None:
        """Do what comes before the rooms close, after a request to stop."""

    @asynccontextmanager
    async def monitored(self, config: ServerConfig, readiness: Readiness) -> AsyncIterator[str | None]:
        """Serve the monitoring of the server while the context is open; yield the URL of the metrics, if there is one.

        Raises OSError.
        """
        if config.metrics_port is None:
            yield None
            return
        from croupier.app.health import MonitoringApp, render_metrics

        async with serve_monitoring(config, MonitoringApp(render_metrics, readiness.report)) as url:
            yield url
