"""A game against a house is watched at any node as at its own, and nothing of it is sent while nobody watches."""

import asyncio
import json
import signal
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self
from urllib.request import Request, urlopen

import pytest
from msgspec.structs import replace
from starlette.applications import Starlette

from croupier.cluster.node import Node
from croupier.cluster.table_views import RoomElsewhere, TableViews, view_subject
from croupier.core.logger import SilentLogger
from croupier.net.endpoint import Endpoint
from croupier.rooms import HOUSE_ROOMS
from croupier.rooms.kuhn import ROOM as KUHN
from croupier.web.house_watching import WatchedHouses
from tests.cluster.memory_bus import MemoryBus, MemoryHub
from tests.cluster.nodes_fixture import QUICK_TIMING, until
from tests.cluster.two_servers import two_servers
from tests.net.raw_client import Run
from tests.processes import PATIENCE, Serving, hear
from tests.web.app_fixture import Browser, Viewer, house, serve, stream

KUHN_DECK = KUHN.pack.parse_decks("Q\nK\nJ", "test", 1)
OTHER_DECK = KUHN.pack.parse_decks("Q\nJ\nK", "test", 1)


class WatchBus(MemoryBus):
    """A connection that keeps what is sent over it for watchers: the questions of this node, and its answers."""

    def __init__(self, hub: MemoryHub) -> None:
        super().__init__(hub)
        self.questions: list[bytes] = []
        self.answers: list[bytes] = []

    async def request(self, subject: str, body: bytes, timeout: float) -> bytes:
        self.questions.append(body)
        return await super().request(subject, body, timeout)

    async def serve(self, subject: str, handler: Any) -> None:
        async def answer(body: bytes) -> bytes:
            self.answers.append(await handler(body))
            return self.answers[-1]

        await super().serve(subject, answer)


class WatchNode:
    """A node with a house and a web app. `tag` is in the ids of its tables."""

    def __init__(self, node: Node, bus: WatchBus, app: Starlette, endpoint: Endpoint) -> None:
        self.node = node
        self.bus = bus
        self.app = app
        self.endpoint = endpoint
        self.tag = RoomElsewhere(node, "").own_tag

    async def play(self) -> Browser:
        """Let a person sit down in the house."""
        return await Browser(self.app).play(self.room)

    @property
    def room(self) -> str:
        """The name of the room of the house."""
        return next(name for name in HOUSE_ROOMS if name in self.node.connections())

    async def text(self, table: str) -> Sequence[str]:
        """A table as lines of text."""
        return (await Browser(self.app).get(f"/watch/{table}/text")).text.splitlines()

    async def status(self, table: str) -> int:
        return (await Browser(self.app).get(f"/watch/{table}")).status_code

    async def listed(self) -> list[str]:
        """The ids of the tables in the list."""
        tables = (await Browser(self.app).get("/watch", headers={"accept": "application/json"})).json()
        return [table["id"] for table in tables]

    def kill(self) -> None:
        """End the node as a lost process."""
        for task in self.node._tasks:
            task.cancel()
        self.bus.is_cut_off = True
        self.bus._handlers.clear()


@asynccontextmanager
async def nodes_of(
    *names: str, room: str = "kuhn", decks: Sequence[Any] = KUHN_DECK, **settings: Any
) -> AsyncIterator[list[WatchNode]]:
    """Nodes with a house each."""
    hub = MemoryHub()
    nodes = []
    async with AsyncExitStack() as stack:
        for name in names:
            bus = WatchBus(hub)
            hub.connections.append(bus)
            node = Node(name, bus, SilentLogger(), timing=QUICK_TIMING)
            entry = house(HOUSE_ROOMS[room], decks, **settings)
            open_rooms = {room: entry.open_room}
            houses = WatchedHouses([entry.room], open_rooms)
            node.connections = lambda entry=entry: {entry.room.name: entry.open_room.connection_count}
            node.clients = houses.newest_clients
            views = TableViews(bus, node.process, houses.follow)
            await views.start()
            await node.start()
            stack.push_async_callback(node.stop)
            stack.callback(views.close)
            app = await stack.enter_async_context(serve(replace(entry, elsewhere=RoomElsewhere(node, room))))
            nodes.append(WatchNode(node, bus, app, entry.house.endpoint))
        await until(lambda: all(each.node.live_nodes == len(names) for each in nodes))
        yield nodes


class WatchedGame(NamedTuple):
    """A game of a person at the node ada, and a stream of its table from the node bea."""

    ada: WatchNode
    bea: WatchNode
    person: Browser
    table: str
    events: Viewer


@asynccontextmanager
async def game_watched_elsewhere(**settings: Any) -> AsyncIterator[WatchedGame]:
    """Two nodes, a person at the house of one, and a watcher at the other one."""
    async with nodes_of("ada", "bea", **settings) as (ada, bea):
        person = await ada.play()
        table = f"kuhn-1-{ada.tag}"
        await until_listed(bea, table)
        async with stream(bea.app, Browser(bea.app), f"/watch/{table}/events") as events:
            await events.wait_for(b"event: table")
            yield WatchedGame(ada, bea, person, table, events)


async def until_listed(node: WatchNode, table: str) -> None:
    while table not in await node.listed():
        await asyncio.sleep(0.01)


def test_a_game_is_watched_at_another_node_as_at_its_own(run_simulated: Run) -> None:
    async def main() -> None:
        async with nodes_of("ada", "bea", bot="script:CAL") as (ada, bea):
            ann = await ada.play()
            table = f"kuhn-1-{ada.tag}"
            await until_listed(bea, table)
            assert await ada.listed() == [table]
            assert "client 1" in (await Browser(bea.app).get("/watch")).text
            assert await bea.text(table) == ["Kuhn poker", "Between two games."]
            async with (
                stream(bea.app, Browser(bea.app), f"/watch/{table}/events") as there,
                stream(ada.app, Browser(ada.app), f"/watch/{table}/events") as here,
            ):
                for action, news in (("first", b"card face down"), ("bet", b"The client loses 2.")):
                    await ann.act_now(action)
                    await there.wait_for(news)
                    await here.wait_for(news)
                    assert await bea.text(table) == await ada.text(table)
                    if action == "first":
                        assert b"queen" not in there.body
                assert "The client: the queen" in await bea.text(table)
                said = there.body.count(b"The client bets a coin. The house calls. The client loses 2.")
                assert said == here.body.count(b"The client bets a coin. The house calls. The client loses 2.") == 1
                await ann.post(f"{ann.table}/leave")
                await there.wait_for(b"event: end")
                assert b"This table does not exist any more." in there.body
            for node in (ada, bea):
                assert await node.status(table) == 404

    run_simulated(main())


@pytest.mark.parametrize("room", [*HOUSE_ROOMS])
def test_tables_of_all_houses_are_watched_elsewhere(run_simulated: Run, room: str) -> None:
    async def main() -> None:
        async with nodes_of("ada", "bea", room=room, decks=()) as (ada, bea):
            ann = await ada.play()
            table = f"{room}-1-{ada.tag}"
            await until_listed(bea, table)
            seat = next(iter(ada.app.state.tables.of_session(ann.session))).seat
            async with stream(bea.app, Browser(bea.app), f"/watch/{table}/events") as events:
                while not seat.feed.snapshot.view.results:
                    action = seat.feed.snapshot.view.actions[0]
                    fields = {} if action.amount is None else {"amount": str(action.amount.low)}
                    await ann.get(ann.table)
                    assert (await ann.act(action.id, **fields)).status_code == 200
                    while await bea.text(table) != await ada.text(table):
                        await asyncio.sleep(0.01)
                while not any("The client" in line for line in await bea.text(table)):
                    await asyncio.sleep(0.01)
                await events.wait_for(b"The client")

    run_simulated(main())


def test_only_tables_that_exist_are_found(run_simulated: Run) -> None:
    async def main() -> None:
        async with nodes_of("ada", "bea") as (ada, bea):
            await ada.play()
            await until_listed(bea, f"kuhn-1-{ada.tag}")
            for table in (
                f"kuhn-2-{ada.tag}",
                f"kuhn-01-{ada.tag}",
                f"kuhn-1-{bea.tag}",
                "kuhn-1-x",
                "kuhn-1-",
                "kuhn-1",
            ):
                assert await bea.status(table) == 404
            for table in ("kuhn-1", f"kuhn-1-{ada.tag}"):
                assert await ada.status(table) == 200

    run_simulated(main())


def test_the_list_has_the_newest_clients_of_each_node_in_turn(
    run_simulated: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("croupier.web.house_watching.MAX_LISTED", 3)

    async def main() -> None:
        async with nodes_of("ada", "bea") as (ada, bea):
            for _ in range(4):
                await ada.play()
            await bea.play()
            await until_listed(ada, f"kuhn-1-{bea.tag}")
            assert await ada.listed() == [f"kuhn-4-{ada.tag}", f"kuhn-1-{bea.tag}", f"kuhn-3-{ada.tag}"]
            await until_listed(bea, f"kuhn-4-{ada.tag}")
            assert await bea.listed() == [f"kuhn-1-{bea.tag}", f"kuhn-4-{ada.tag}", f"kuhn-3-{ada.tag}"]

    run_simulated(main())


@pytest.mark.extended
def test_all_watchers_of_a_node_share_what_is_sent_and_it_ends_with_the_last(
    run_simulated: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("croupier.web.watching.IDLE_SECONDS", 1.0)

    async def main() -> None:
        async with nodes_of("ada", "bea", "cia") as (ada, bea, cia):
            await ada.play()
            table = f"kuhn-1-{ada.tag}"
            await until_listed(bea, table)
            await until_listed(cia, table)
            assert (bea.bus.questions, ada.bus.answers, ada.endpoint.observers.observers) == ([], [], ())
            async with AsyncExitStack() as stack:
                for node in (bea, bea, bea, cia):
                    watcher = Browser(node.app)
                    events = await stack.enter_async_context(stream(node.app, watcher, f"/watch/{table}/events"))
                    await events.wait_for(b"event: table")
                assert len(ada.endpoint.observers.observers) == 1
                await asyncio.sleep(10.0)
                assert len(bea.bus.questions) <= 12, "one at a time, and each waits for a second"
            await until(lambda: ada.endpoint.observers.observers == ())
            asked = len(bea.bus.questions)
            await asyncio.sleep(10.0)
            assert len(bea.bus.questions) == asked

    run_simulated(main())


@pytest.mark.extended
def test_a_watcher_elsewhere_gets_the_newest_view_after_a_pause(run_simulated: Run) -> None:
    async def main() -> None:
        async with game_watched_elsewhere(bot="script:FLD") as (ada, _, ann, _, events):
            events.reads.clear()
            for _ in range(20):
                for action in ("first", "bet"):
                    await ann.act_now(action)
                    await asyncio.sleep(0.1)
            assert len(ada.bus.answers) >= 20
            sent = len(events.messages)
            events.reads.set()
            await asyncio.sleep(1.0)
            assert len(events.messages) <= sent + 3
            assert b"The client wins 1." in events.messages[-1]["body"]

    run_simulated(main())


def test_a_page_says_that_the_node_of_its_table_has_died(run_simulated: Run) -> None:
    async def main() -> None:
        async with game_watched_elsewhere(bot="script:CAL") as (ada, bea, ann, table, events):
            await ann.act_now("first")
            await events.wait_for(b"to act")
            ada.kill()
            await events.wait_for(b"event: end")
            assert b"The server of this table does not answer any more." in events.body
            assert b"to act" not in events.messages[-2]["body"]
            assert await bea.status(table) == 404
            assert await bea.listed() == []

    run_simulated(main())


@pytest.mark.extended
def test_a_page_goes_on_when_the_bus_is_back(run_simulated: Run) -> None:
    async def main() -> None:
        async with game_watched_elsewhere(bot="script:CAL") as (ada, bea, ann, table, events):
            for node in (ada, bea):
                node.bus.is_cut_off = True
            await events.wait_for(b"does not answer. Waiting for it.")
            await asyncio.sleep(60.0)
            assert bea.node.state == "fenced"
            await ann.act_now("first")
            for node in (ada, bea):
                node.bus.is_cut_off = False
            await events.wait_for(b"card face down")
            assert (await bea.text(table))[1:] == (await ada.text(table))[1:]
            assert b"event: end" not in events.body

    run_simulated(main())


def test_a_node_that_stops_ends_the_pages_of_its_tables(run_simulated: Run) -> None:
    async def main() -> None:
        async with game_watched_elsewhere() as (ada, _, _, _, events):
            ada.endpoint.halt(final=True)
            await events.wait_for(b"event: end")
            assert b"This table does not exist any more." in events.body

    run_simulated(main())


def test_a_node_follows_a_limited_number_of_tables_for_others(
    run_simulated: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("croupier.cluster.table_views.MAX_FOLLOWED", 1)
    monkeypatch.setattr("croupier.web.watching.IDLE_SECONDS", 1.0)

    async def main() -> None:
        async with nodes_of("ada", "bea") as (ada, bea):
            await ada.play()
            await ada.play()
            await until_listed(bea, f"kuhn-2-{ada.tag}")
            async with stream(bea.app, Browser(bea.app), f"/watch/kuhn-1-{ada.tag}/events") as events:
                await events.wait_for(b"Between two games.")
                assert (await bea.text(f"kuhn-2-{ada.tag}"))[-1].startswith("The server of this table does not answer.")
            async with stream(bea.app, Browser(bea.app), f"/watch/kuhn-2-{ada.tag}/events") as events:
                await events.wait_for(b"Between two games.")

    run_simulated(main())


def test_cards_that_are_not_shown_are_not_sent_to_another_node(run_simulated: Run) -> None:
    async def sent(decks: Sequence[Any]) -> list[bytes]:
        """What is sent to the other node of a game without a showdown."""
        async with game_watched_elsewhere(decks=decks, bot="script:FLD") as (ada, _, ann, _, events):
            for action, news in (("first", b"card face down"), ("bet", b"The client wins 1.")):
                await ann.act_now(action)
                await events.wait_for(news)
            assert view_subject(ada.node.process) in ada.bus._handlers
            return [*ada.bus.answers]  # without what is sent while the nodes stop

    async def main() -> None:
        answers = await sent(KUHN_DECK)
        assert len(answers) >= 3
        assert await sent(OTHER_DECK) == answers
        assert all(name not in b"".join(answers) for name in (b"jack", b"queen", b"king"))

    run_simulated(main())


# Servers as processes.


def listed_tables(serving: Serving) -> list[str]:
    """The ids of the tables in the list of a server."""
    asked = Request(f"{web_of(serving)}/watch", headers={"accept": "application/json"})
    with urlopen(asked, timeout=PATIENCE) as answer:
        return [table["id"] for table in json.loads(answer.read())]


def web_of(serving: Serving) -> str:
    return f"http://127.0.0.1:{serving.ports['web']}"


class Watching:
    """A stream of a table, of which a test reads the lines."""

    def __init__(self, serving: Serving, table: str) -> None:
        self._answer = urlopen(f"{web_of(serving)}/watch/{table}/events", timeout=PATIENCE)
        self._lines: Iterator[bytes] = iter(self._answer)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._answer.close()

    def wait_for(self, text: bytes) -> None:
        """Read on until a line has this text."""
        assert any(text in line for line in self._lines), "the stream has ended"


def wait_for_table(serving: Serving, is_wanted: Callable[[str], bool]) -> str:
    """Wait until a table is listed, and return its id."""
    end = time.monotonic() + PATIENCE
    while not (found := [*filter(is_wanted, listed_tables(serving))]):
        assert time.monotonic() < end, "the table is not listed"
        time.sleep(0.05)
    return found[0]


@pytest.mark.extended
def test_a_game_of_another_server_is_watched_until_that_dies(tmp_path: Path) -> None:
    with two_servers(tmp_path) as (nats, ada, bea):
        client = ada.call()
        table = wait_for_table(bea, lambda table: table.startswith("kuhn-1-"))
        with Watching(bea, table) as watching:
            watching.wait_for(b"Between two games.")
            client.sendall(b"STRT P_1")
            watching.wait_for(b"card face down")
            nats.stop()
            watching.wait_for(b"does not answer. Waiting for it.")
            nats.start()
            client.sendall(b"ACTN BET")
            watching.wait_for(b"The client bets a coin.")
            ada.signal(signal.SIGKILL)
            watching.wait_for(b"does not answer any more.")
            watching.wait_for(b"event: end")
        assert listed_tables(bea) == []


@pytest.mark.extended
def test_the_games_of_all_workers_are_listed_and_watched() -> None:
    with Serving("kuhn", "--port", 0, "--web-port", 0, "--workers", 2, "--journal", "off", ready=2) as serving:
        clients = [serving.call() for _ in range(20)]
        for client in clients:
            client.sendall(b"STRT P_1")
            hear(client, 8)
        other = wait_for_table(serving, lambda table: int(table.split("-")[1]) > 1_000_000_000)
        own = wait_for_table(serving, lambda table: int(table.split("-")[1]) < 1_000_000_000)
        with Watching(serving, own) as here, Watching(serving, other) as there:
            for watching in (here, there):
                watching.wait_for(b"card face down")
            for client in clients:
                client.close()
            for watching in (here, there):
                watching.wait_for(b"This table does not exist any more.")
                watching.wait_for(b"event: end")
