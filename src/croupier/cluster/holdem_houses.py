"""Hold'em's houses at a node: those that run here, and what forwards requests to the others and shows their games."""

import asyncio
from collections.abc import Collection
from contextlib import suppress

from croupier.cluster.forward import Forwarder
from croupier.cluster.lease import HOLDEM
from croupier.cluster.messages import VIEW_SUBJECT, node_subject
from croupier.cluster.mirror import ViewMirror, ViewPublisher
from croupier.cluster.node import Node
from croupier.core.logger import Logger
from croupier.http.house_group import HouseGroup
from croupier.http.local_houses import LocalHouses


class HoldemHouses:
    """The houses of `group` at a node; see `Houses`. `open_houses` are those that run here."""

    def __init__(self, node: Node, group: HouseGroup, open_houses: LocalHouses, log: Logger) -> None:
        self._node = node
        self._group = group
        self._open_houses = open_houses
        self._room = node.add(HOLDEM, self, group.houses)
        self._publisher = ViewPublisher(node.bus, group.views, group.houses)
        self._forwarder = Forwarder(
            node.bus,
            group,
            self._room.directory,
            self._publisher,
            node=node.name,
            now=asyncio.get_running_loop().time,
            counts=node.counts,
        )
        self._mirror = self._forwarder.mirror = ViewMirror(
            group.views,
            group.houses,
            log,
            is_here=lambda house: house in group.services,
            fetch=self._forwarder.fetch_views,
        )
        self._tasks: list[asyncio.Task[None]] = []
        open_houses.on_shown = self._publisher.publish
        open_houses.on_superseded = self._room.superseded
        group.elsewhere = self._forwarder

    async def join(self) -> None:
        """Take requests of other nodes, and wait until the tables of all houses are shown, if that is not long.

        Raises BusUnavailable.
        """
        node = self._node
        await node.bus.serve(node_subject(node.name), self._forwarder.answer)
        await node.bus.subscribe(f"{VIEW_SUBJECT}.*", self._mirror.on_message)
        loop = asyncio.get_running_loop()
        self._tasks = [loop.create_task(each) for each in (self._publisher.run(), self._publisher.beat())]
        await node.announce()
        with suppress(TimeoutError):
            async with asyncio.timeout(2 * node.timing.lease):  # a house of a node that has just died takes one lease
                while not all(map(self._mirror.is_known, range(1, self._group.houses + 1))):
                    await asyncio.sleep(node.timing.check)

    # As `Houses`.

    @property
    def trouble(self) -> str | None:
        """See `Houses`."""
        return self._group.trouble

    @trouble.setter
    def trouble(self, reason: str | None) -> None:
        self._group.trouble = reason
        if reason is not None:
            self._group.views.notify_all()

    @property
    def running(self) -> Collection[int]:
        """See `Houses`."""
        return self._group.services

    async def open(self, number: int) -> None:
        """See `Houses`."""
        term = await self._open_houses.open(number)
        self._mirror.forget_house(number)
        self._publisher.start_house(number, term)

    async def finish(self, number: int) -> None:
        """See `Houses`."""
        self._publisher.stop_house(number)
        await self._open_houses.finish(number)

    def abandon(self, number: int) -> None:
        """See `Houses`."""
        self._publisher.stop_house(number)
        self._open_houses.abandon(number)

    def check(self, live: Collection[str]) -> None:
        """Wait no longer for answers of nodes that have died."""
        self._forwarder.give_up(live)

    def leave(self) -> None:
        """See `Houses`."""
        for task in self._tasks:
            task.cancel()
        self._mirror.close()
