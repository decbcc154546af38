"""A client whose bytes go over the bus is served as one that is connected directly; a broken stream ends it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import pytest

from croupier.cluster import link
from croupier.cluster.relay import AcceptedClient, Opened, Relay, StreamEnd
from croupier.core.logger import SilentLogger
from croupier.core.session import Address, Drop, Event, Joined, Left, Received, Send
from croupier.net.endpoint import Endpoint
from croupier.net.local_connection import connect_stream
from tests.cluster.memory_bus import MemoryHub
from tests.cluster.nodes_fixture import until
from tests.net.raw_client import RawClient, RecordingSession, Run, WordCodec

WORDS = 100_000


def echo(event: Event[Any], now: float) -> Any:
    """A session's answers: every word, and after the word *bye* the end."""
    if type(event) is not Received:
        return []
    return [Send(event.peer, event.message), *([Drop(event.peer)] if event.message == "bye" else [])]


class Nodes:
    """Two nodes: `ada` has accepted the clients that `bea` serves with `session`."""

    def __init__(self) -> None:
        hub = MemoryHub()
        self.buses = {name: hub.connect() for name in ("ada", "bea")}
        self.relays = {name: Relay(bus, name, SilentLogger()) for name, bus in self.buses.items()}
        self.session = RecordingSession(echo)
        self.endpoint = Endpoint(self.session, WordCodec, SilentLogger())
        self.opened: list[bool] = []
        self.address: Address
        self._tasks: set[asyncio.Task[None]] = set()

    def accept(self) -> AcceptedClient:
        return AcceptedClient(self.relays["ada"], None, self._begin)

    def _begin(self, client: AcceptedClient) -> None:
        task = asyncio.get_running_loop().create_task(self._open(client))
        self._tasks.add(task)

    async def _open(self, client: AcceptedClient) -> None:
        self.opened.append(await self.relays["ada"].open(client, "bea", "words", client.address, client.certificate))

    def serve(self, end: StreamEnd, opened: Opened) -> bool:
        connect_stream(end, self.endpoint, opened.address, opened.certificate)
        return True

    @property
    def stream_counts(self) -> list[int]:
        """The number of streams of each node."""
        return [len(each._ends) for each in self.relays.values()]


@asynccontextmanager
async def nodes() -> AsyncIterator[Nodes]:
    found = Nodes()
    for each in found.relays.values():
        await each.start()
    found.relays["bea"].servers["words"] = found.serve
    server = await asyncio.get_running_loop().create_server(found.accept, "127.0.0.1", 0)
    found.address = server.sockets[0].getsockname()
    try:
        yield found
    finally:
        server.close()
        for each in found.relays.values():
            each.stop()
        await found.endpoint.close()


def test_a_client_of_another_node_is_one_with_its_own_address(run: Run) -> None:
    async def main() -> None:
        async with nodes() as both, RawClient(both.address) as client:
            await client.exchange(b"one\ntwo\n", b"one\ntwo\n")
            address = client.socket.getsockname()
            assert both.session.events_of(Joined) == [Joined(1, address)]
            await client.send(b"bye\n")
            assert await client.read_to_end() == b"bye\n"
            client.close()
            await until(lambda: both.stream_counts == [0, 0])
            assert len(both.session.events_of(Left)) == 1

    run(main())


def test_many_bytes_arrive_in_order_however_slowly_they_are_read(run: Run) -> None:
    async def main() -> None:
        async with nodes() as both, RawClient(both.address) as client:
            words = b"".join(b"%d\n" % number for number in range(WORDS))
            sending = asyncio.ensure_future(client.send(words))
            await both.session.wait_for(Received, 1000)
            assert await client.receive(len(words)) == words
            await sending

    run(main())


def test_a_client_that_has_ended_its_input_gets_its_answers(run: Run) -> None:
    async def main() -> None:
        async with nodes() as both, RawClient(both.address) as client:
            await client.send(b"one\nbye\n")
            client.end_output()
            assert await client.read_to_end() == b"one\nbye\n"
            await until(lambda: both.stream_counts == [0, 0])

    run(main())


def test_a_client_that_vanishes_leaves_at_the_other_node(run: Run) -> None:
    async def main() -> None:
        async with nodes() as both, RawClient(both.address) as client:
            await client.exchange(b"one\n", b"one\n")
            client.reset()
            await both.session.wait_for(Left)
            await until(lambda: both.stream_counts == [0, 0])

    run(main())


@pytest.mark.parametrize("fault", ["not acknowledged", "lost"])
def test_a_link_that_loses_a_message_ends_the_streams_at_both_nodes(run_simulated: Run, fault: str) -> None:
    async def main() -> None:
        async with nodes() as both, RawClient(both.address) as client:
            await client.exchange(b"one\n", b"one\n")
            if fault == "lost":
                both.buses["bea"].loses = lambda *_: True
                await client.send(b"two\n")
                await asyncio.sleep(0.1)
                both.buses["bea"].loses = lambda *_: False
                await client.send(b"three\n")
            else:
                both.buses["bea"].is_cut_off = True
                await client.send(b"two\n")
                await asyncio.sleep(2 * link.ANSWER_SECONDS)
                both.buses["bea"].is_cut_off = False
            assert await client.read_to_end() == b""
            await both.session.wait_for(Left)
            await until(lambda: both.stream_counts == [0, 0])
            assert len(both.session.events_of(Received)) == 1, "nothing is sent again"
            async with RawClient(both.address) as other:
                await other.exchange(b"four\n", b"four\n")

    run_simulated(main())


@pytest.mark.parametrize("part", range(4))
def test_a_client_that_comes_at_the_end_of_an_outage_is_served(run_simulated: Run, part: int) -> None:
    async def main() -> None:
        async with nodes() as both, RawClient(both.address) as client:
            await client.exchange(b"one\n", b"one\n")
            await client.send(b"two\n")
            both.buses["bea"].is_cut_off = True
            await asyncio.sleep(2 * link.ANSWER_SECONDS + part / 4 * link.CHECK_SECONDS)
            both.buses["bea"].is_cut_off = False
            async with RawClient(both.address) as other:
                await other.exchange(b"three\n", b"three\n")
                await asyncio.sleep(2 * link.ANSWER_SECONDS)
                await other.exchange(b"four\n", b"four\n")

    run_simulated(main())


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.extended) for seed in range(1, 50))])
def test_a_stream_delivers_everything_in_order_or_ends_at_both_nodes(run_simulated: Run, seed: int) -> None:
    random = Random(seed)

    async def talk(address: Address, number: int) -> None:
        """Send words, short and long ones, and receive each, or its beginning if the connection ends."""
        async with RawClient(address) as client:
            for count in range(30):
                word = b"%d-%d%s\n" % (number, count, b"x" * random.choice([0, 0, 0, 200_000]))
                try:
                    await client.send(word)
                    answer = await client.receive(len(word))
                except ConnectionError:
                    return
                assert word.startswith(answer)
                if answer != word:
                    return
                await asyncio.sleep(random.uniform(0.0, 1.0))

    async def main() -> None:
        async with nodes() as both:
            for bus in both.buses.values():
                bus.loses = lambda *_: random.random() < 0.02
            async with asyncio.TaskGroup() as group:
                for number in range(10):
                    group.create_task(talk(both.address, number))
            for bus in both.buses.values():
                bus.loses = lambda *_: False
            await asyncio.sleep(2 * link.ANSWER_SECONDS)  # until both nodes have noticed every loss
            assert both.stream_counts == [0, 0]
            async with RawClient(both.address) as client:
                await client.exchange(b"one\n", b"one\n")

    run_simulated(main())


def test_the_streams_of_a_process_that_is_not_alive_end(run_simulated: Run) -> None:
    async def main() -> None:
        async with nodes() as both, RawClient(both.address) as client:
            await client.exchange(b"one\n", b"one\n")
            heard_at = both.relays["bea"]._links["ada"].heard_at
            both.relays["bea"].end_dead({"bea"}, heard_at)
            assert both.stream_counts == [1, 1], "a node that comes back may have begun a stream"
            both.relays["bea"].end_dead({"bea"}, heard_at + 60.0)
            await both.session.wait_for(Left)
            await until(lambda: both.stream_counts[1] == 0)

    run_simulated(main())


def test_a_room_that_is_not_served_there_takes_no_client(run: Run) -> None:
    async def main() -> None:
        async with nodes() as both:
            del both.relays["bea"].servers["words"]
            async with RawClient(both.address) as client:
                await until(lambda: both.opened == [False])
                client.reset()
                await until(lambda: both.stream_counts == [0, 0])

    run(main())
