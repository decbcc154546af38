"""Monitoring of a process that serves rooms: the figures that it exports, and the port where they are served."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

from croupier.app.config import ServerConfig
from croupier.app.readiness import Readiness
from croupier.app.room_context import OpenRoom
from croupier.core.histogram import Histogram
from croupier.net.addresses import format_address
from croupier.recording.shared_store import SharedStore

if TYPE_CHECKING:  # imported at run time only by servers that are monitored
    from croupier.cluster.node import Node
    from croupier.http.messages import Application


@contextmanager
def export_figures(
    readiness: Readiness,
    rooms: Mapping[str, OpenRoom],
    shared_store: SharedStore,
    sync_times: Histogram | None,
    cluster: "Callable[[], Node | None]",
) -> Iterator[None]:
    """Export the figures of this process, and of the node that `cluster` returns, while the context is open."""
    from prometheus_client import REGISTRY

    from croupier.net.loop_lag import LoopLagMonitor
    from croupier.observers.metrics import MetricsCollector

    loop_lag = LoopLagMonitor(asyncio.get_running_loop())
    collector = MetricsCollector(
        rooms,
        lambda: readiness.is_closing,
        lambda: shared_store.current,
        loop_lag.lags,
        sync_times,
        cluster=cluster,
    )
    REGISTRY.register(collector)
    try:
        yield
    finally:
        REGISTRY.unregister(collector)
        loop_lag.close()


@asynccontextmanager
async def serve_monitoring(config: ServerConfig, app: "Application") -> AsyncIterator[str]:
    """Serve /metrics, /healthz and /readyz while the context is open; yield the URL of the metrics. Raises OSError."""
    from croupier.http.limits import MONITORING_LIMITS
    from croupier.http.server import HttpServer
    from croupier.observers.counters import RoomCounters

    assert config.metrics_port is not None, "the server is monitored"
    server = HttpServer(app, MONITORING_LIMITS, RoomCounters())
    address = await server.listen(config.metrics_host, config.metrics_port)
    try:
        yield f"http://{format_address(address)}/metrics"
    finally:
        server.close()
        await server.drain(MONITORING_LIMITS.close_timeout)
