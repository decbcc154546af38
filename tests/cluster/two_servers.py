"""Two servers of all rooms that share a store and a bus."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.nats_server import NatsServer

from tests.processes import FREE_PORTS, Serving


@contextmanager
def two_servers(folder: Path) -> Iterator[tuple[NatsServer, Serving, Serving]]:
    """Run a NATS server and two servers as processes, with their files in a folder."""
    (folder / "nats").mkdir()
    with NatsServer(folder / "nats") as nats:
        flags = ("--web-port", 0, "--drain-seconds", 0.1, "--store", folder / "kept.db", "--bus", nats.url, "--node")
        with (
            Serving(*flags, "ada", ready=6, variables=FREE_PORTS) as ada,
            Serving(*flags, "bea", ready=6, variables=FREE_PORTS) as bea,
        ):
            yield nats, ada, bea
