"""Processes of one server count the connections of an address together."""

import os
import subprocess
import sys
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from croupier.core.logger import SilentLogger
from croupier.net.client_addresses import address_key
from croupier.net.count_limit import CountLimit
from croupier.net.endpoint import Connection, Endpoint, EndpointLimits
from croupier.net.shared_counts import SharedCountLimit, SharedCounts
from croupier.rooms.kuhn import ROOM as KUHN
from croupier.web.rooms import RoomEntry, room_view
from tests.net.raw_client import MemoryTransport, RecordingSession, Run, WordCodec

OTHER_PROCESS = """
import sys
from croupier.net.shared_counts import SharedCountLimit, SharedCounts
counts = SharedCountLimit(SharedCounts(int(sys.argv[1]), 2), 1)
counts.add("192.0.2.1")
counts.add("192.0.2.1")
counts.add("192.0.2.2")
"""


def test_connections_of_another_process_count_until_its_row_is_cleared() -> None:
    counts = SharedCounts.create(2)
    own = SharedCountLimit(counts, 0, 3)
    own.add("192.0.2.1")
    assert not own.is_reached("192.0.2.1")
    subprocess.run(
        [sys.executable, "-c", OTHER_PROCESS, str(counts.descriptor)], check=True, pass_fds=[counts.descriptor]
    )
    assert own.is_reached("192.0.2.1")
    assert not own.is_reached("192.0.2.2")
    assert own.total == 4
    counts.clear(1)
    assert not own.is_reached("192.0.2.1")
    assert own.total == 1
    os.close(counts.descriptor)


@given(st.lists(st.tuples(st.integers(0, 2), st.booleans(), st.sampled_from(["", "192.0.2.1", "192.0.2.2", "::/64"]))))
def test_shared_counts_are_the_sum_over_all_processes(steps: list[tuple[int, bool, str]]) -> None:
    counts = SharedCounts.create(3)
    shared = [SharedCountLimit(counts, row, 2) for row in range(3)]
    alone, opened = CountLimit(2), Counter[tuple[int, str]]()
    for row, is_new, key in steps:
        if is_new:
            shared[row].add(key)
            opened[row, key] += 1
            alone.add(key)
        elif opened[row, key]:
            shared[row].remove(key)
            opened[row, key] -= 1
            alone.remove(key)
        assert [each.is_reached(key) for each in shared] == [alone.is_reached(key)] * 3
        assert [each.total for each in shared] == [alone.total] * 3
    os.close(counts.descriptor)


def test_lobby_counts_the_connections_of_all_processes(run: Run) -> None:
    async def main() -> None:
        counts = SharedCounts.create(2)
        endpoint = Endpoint(RecordingSession(), WordCodec, SilentLogger(), hosts=SharedCountLimit(counts, 0))
        for address in ("192.0.2.1", "192.0.2.2"):
            SharedCountLimit(counts, 1).add(address)
        assert room_view(RoomEntry(KUHN, KUHN.settings(), endpoint)).connected == 2
        os.close(counts.descriptor)

    run(main())


def test_rooms_of_two_processes_admit_as_many_clients_as_one(run: Run) -> None:
    async def main() -> None:
        counts = SharedCounts.create(2)
        limits = EndpointLimits(max_connections=4, max_connections_per_address=3)
        first, second = (
            Endpoint(
                RecordingSession(),
                WordCodec,
                SilentLogger(),
                limits=limits,
                refusal=["full"],
                hosts=SharedCountLimit(counts, row, limits.max_connections_per_address, limits.max_connections),
            )
            for row in range(2)
        )
        connections = []
        for endpoint, host, is_refused in (
            (first, "192.0.2.1", False),
            (second, "192.0.2.1", False),
            (second, "192.0.2.1", False),
            (first, "192.0.2.1", True),
            (second, "192.0.2.2", False),
            (first, "192.0.2.3", True),
        ):
            transport = MemoryTransport(host)
            connections.append(Connection(endpoint))
            connections[-1].connection_made(transport)
            assert (transport.writes == [b"full\n"]) is is_refused, host
        assert [(each.connection_count, each.server_connection_count) for each in (first, second)] == [(1, 4), (3, 4)]
        assert dict(first.counts.refused) == {"per_address": 1, "connections": 1}
        for connection in connections:
            connection.connection_lost(None)
        assert SharedCountLimit(counts, 0, 1).total == 0
        assert not SharedCountLimit(counts, 0, 1).is_reached(address_key("192.0.2.1"))
        os.close(counts.descriptor)

    run(main())
