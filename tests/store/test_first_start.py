"""The first start of servers on an empty PostgreSQL database: it is set up, once."""

from concurrent.futures import ThreadPoolExecutor

from bench.cluster import Cluster

from croupier.store.store import Store
from tests.processes import Serving
from tests.store.conftest import new_database
from tests.store.store_fixture import TempStore


def test_servers_that_start_at_once_set_up_an_empty_database(cluster: Cluster) -> None:
    url = new_database(cluster, "template0")
    rooms = ("holdem", "oldmaid", "kuhn")
    servers = [Serving(room, "--port", 0, "--store", url, "--journal", "durable") for room in rooms]
    with ThreadPoolExecutor(len(servers)) as threads:
        started = [*threads.map(Serving.__enter__, servers)]
    try:
        assert [*started[0].ports, *started[1].ports, *started[2].ports] == [*rooms]
        assert [server.stop() for server in servers] == [0, 0, 0]
    finally:
        for server in servers:
            server.__exit__()
    assert TempStore(url, "postgresql").run(Store.find_problems) == []
    assert [head.table for head in TempStore(url, "postgresql").run(lambda store: store.journal_heads("holdem"))] == [
        "house"
    ]
