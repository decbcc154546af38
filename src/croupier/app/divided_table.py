"""The table of Old Maid in a cluster: it runs at one node, and every node takes connections to it."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, Final

from croupier.app.client_router import ClientRouter
from croupier.cluster.node import Node
from croupier.cluster.relay import AcceptedClient, Opened, StreamEnd
from croupier.core.codec import Codec
from croupier.core.logger import Logger
from croupier.core.session import Address
from croupier.net.event_loop import start_task
from croupier.net.local_connection import connect_stream
from croupier.net.shared_endpoint import SharedEndpoint
from croupier.recording.durable_session import ClosedTable, DurableTableEndpoint
from croupier.recording.oldmaid_journal import ROOM_NAME, JournalFollower, OldMaidJournal
from croupier.rooms.oldmaid.house import CLOSING, UNAVAILABLE, House
from croupier.rooms.oldmaid.table.game import TableGame
from croupier.rooms.oldmaid.wire import refusal
from croupier.store.records import WriteRefused
from croupier.store.store import Store

THE_HOUSE: Final = 1
"""The table is one house."""

OWNER_SECONDS: Final = 10.0
"""A client that connects waits this long for a table that is changing its owner: twice as long as a take-over takes."""

LOOK_SECONDS: Final = 0.05
"""The time between two looks for the owner."""

MAX_NAMES: Final = 12
"""The number of players whom the owner names to the other nodes."""


class TableElsewhere(ClosedTable):
    """The session of a table that runs at another node: what everybody may see of it."""

    def __init__(self, follower: JournalFollower, node: Node) -> None:
        self._follower = follower
        self._node = node

    @property
    def games(self) -> Sequence[TableGame]:
        """The running games, the oldest first."""
        return self._follower.games

    @property
    def nicks(self) -> Sequence[str]:
        """The players in running games, and those who wait for one."""
        return self._node.players_elsewhere(ROOM_NAME)


class DividedTable(DurableTableEndpoint):
    """The endpoint of the table at one of its nodes; see `Houses`. `load` rebuilds the house from its journal.

    The clients of the other nodes are connections like its own here. Where the house does not run, clients are
    connected to the node where it does.
    """

    def __init__(
        self,
        node: Node,
        load: Callable[["DividedTable"], Awaitable[tuple[House, OldMaidJournal]]],
        store: Store,
        codec_factory: Callable[[], Codec[Any, Any]],
        log: Logger,
        **options: Any,
    ) -> None:
        self._follower = JournalFollower(store, log, self.notify_watchers)
        elsewhere = TableElsewhere(self._follower, node)
        super().__init__(store, codec_factory, log, closed=elsewhere, **options)
        self._node = node
        self._load = load
        self.trouble: str | None = None
        self._router = ClientRouter(self, node.relay, ROOM_NAME, self._connect)
        self._tasks: set[asyncio.Task[Any]] = set()
        node.relay.servers[ROOM_NAME] = self._serve
        self._room = node.add(ROOM_NAME, self, THE_HOUSE, is_movable=False)
        node.players = self._players

    async def join(self) -> None:
        """Let the other nodes know that the table can run here."""
        start_task(self._tasks, self._follower.run())
        await self._node.announce()

    @property
    def unavailable_reason(self) -> str | None:
        """The reason why no games can be played now, or None if they can."""
        if self.trouble is not None or self.house_session is not None:
            return self.trouble or super().unavailable_reason
        return None if self._owner_elsewhere() is not None else "the table runs at no node now"

    # As `Houses`.

    @property
    def running(self) -> Collection[int]:
        """See `Houses`."""
        return () if self.house_session is None else (THE_HOUSE,)

    async def open(self, number: int) -> None:  # noqa: ARG002 -- see `Houses`
        """Open the house from its journal; the games that were running are void. See `Houses`."""
        while True:
            try:
                house, journal = await self._load(self)
            except WriteRefused as error:  # the former owner was faster
                self.log.info("journal has grown", reason=str(error))
            else:
                self.open_house(house, journal)
                return

    async def finish(self, number: int) -> None:  # noqa: ARG002 -- see `Houses`
        """End the house when its games are over; `halt` has begun the end. See `Houses`."""
        await SharedEndpoint.wait_drained(self)
        await self.close_house()

    def abandon(self, number: int) -> None:  # noqa: ARG002 -- see `Houses`
        """See `Houses`."""
        self.abandon_house()

    def check(self, live: Collection[str]) -> None:  # noqa: ARG002 -- see `Houses`
        """Give up a house that another node has taken over."""
        if self.house_session is not None and self.house_session.is_superseded:
            self._room.superseded(THE_HOUSE)

    def leave(self) -> None:
        """See `Houses`."""
        for task in self._tasks:
            task.cancel()

    # Closing.

    def halt(self, *, final: bool) -> None:
        """Start no new games; if `final`, also void the running games and disconnect all clients."""
        super().halt(final=final)
        if final:
            self._node.remove(ROOM_NAME)
            self._router.close([refusal(CLOSING)])
        else:
            start_task(self._tasks, self._node.drain(ROOM_NAME))

    async def wait_drained(self) -> None:
        """Wait until no game is running; after the final halt, until the table has ended here."""
        await super().wait_drained()
        await self._router.wait_idle()
        if self._final:
            await self._node.announce()

    # Connections.

    def make_connection(self, address: Address | None = None) -> asyncio.Protocol:
        """Make a connection of the house if it runs here, else one to the node where it runs."""
        return super().make_connection(address) if self.house_session is not None else self._router.accept(address)

    async def _connect(self, client: AcceptedClient) -> Sequence[Any]:
        """Connect a client to the node where the table runs, which may be this one by now; see `ClientRouter`."""
        loop = asyncio.get_running_loop()
        end = loop.time() + OWNER_SECONDS
        while loop.time() < end and not client.is_lost:
            if self.trouble is None and self.house_session is not None:
                self._router.connect_here(client)
                return ()
            owner = self._owner_elsewhere()
            process = None if owner is None else self._node.process_of(owner)
            if process is not None and await self._router.connect_to(process, client):
                return ()
            await asyncio.sleep(LOOK_SECONDS)
        return [refusal(UNAVAILABLE)]

    def _owner_elsewhere(self) -> str | None:
        """Return the other node where the table runs, None if there is none now."""
        owner = self._room.directory.live_owner(THE_HOUSE, asyncio.get_running_loop().time())
        return None if owner == self._node.name else owner

    def _serve(self, end: StreamEnd, opened: Opened) -> bool:
        """Connect a client of another node to the house, if it runs here and takes clients."""
        if self.house_session is None or self.trouble is not None or self._halted:
            return False
        connect_stream(end, self, opened.address, opened.certificate)
        return True

    # What other nodes and watchers see.

    def _players(self) -> Mapping[str, Sequence[str]]:
        return {} if self.house_session is None else {ROOM_NAME: self.house_session.nicks[:MAX_NAMES]}
