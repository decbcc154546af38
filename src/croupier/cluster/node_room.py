"""The houses of one room at a node: claims them, opens them, and hands them over."""

import asyncio
from asyncio import Task
from collections.abc import Callable, Collection, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any, Final, Protocol

from msgspec.json import decode, encode

from croupier.cluster.bus import Bus, BusUnavailable, KeyChange, WrongRevision
from croupier.cluster.directory import Directory
from croupier.cluster.messages import OwnerValue
from croupier.core.logger import Logger
from croupier.observers.counters import ClusterCounters
from croupier.store.records import StoreUnavailable

OPEN_AGAIN_SECONDS: Final = 0.5
"""Delay before a house is opened again that could not be."""


class Houses(Protocol):
    """The houses of a room that run in this process.

    `trouble` is the reason why this node may not serve any house now, None if it may.
    """

    trouble: str | None

    @property
    def running(self) -> Collection[int]:
        """The numbers of the houses that run here."""
        ...

    async def open(self, number: int) -> None:
        """Open a house from its journal, which ends its former owner. Raises ValueError and StoreUnavailable."""
        ...

    async def finish(self, number: int) -> None:
        """End a house in order, after writing what has been requested."""
        ...

    def abandon(self, number: int) -> None:
        """End a house at once."""
        ...

    def check(self, live: Collection[str]) -> None:
        """Look for what is due; `live` are the nodes that are alive. Called from time to time."""
        ...

    def leave(self) -> None:
        """Stop everything that the houses need of other nodes."""
        ...


class NodeRoom:
    """A room whose houses are divided among the nodes that serve it; see `Node.add`."""

    def __init__(
        self, name: str, houses: Houses, directory: Directory, *, bus: Bus, log: Logger, counts: ClusterCounters
    ) -> None:
        self.name = name
        self.houses = houses
        self.directory = directory
        self._bus = bus
        self._log = log
        self._counts = counts
        self._changes: dict[int, Task[None]] = {}  # houses that are being opened or handed over

    @property
    def is_empty(self) -> bool:
        """Whether no house runs here, or is about to."""
        return not self.houses.running and not self._changes

    def observe(self, house: str, change: KeyChange) -> None:
        """Note a change of the key of a house."""
        if house.isdecimal():
            self.directory.observe(int(house), decode(change.value, type=OwnerValue).owner, change.revision)

    async def restore_keys(self) -> None:
        """Write the keys of the houses that run here, where there are none any more."""
        for house in [*self.houses.running]:
            with suppress(WrongRevision, BusUnavailable):
                await self._set_owner(house, self.directory.node, 0)

    async def check(self, now: float) -> None:
        """Do what is due: open own houses, end those of others, claim, hand over. Raises BusUnavailable."""
        running = self.houses.running
        own = self.directory.own_houses()
        for house in [*{*running} - own - self._changes.keys()]:
            self._log.error("house lost", house=house, owner=self.directory.ownership(house).owner)
            self.houses.abandon(house)
        for house in own - {*running}:
            self._change(house, self._open)
        for house in self.directory.claims(now):
            await self._claim(house)
        for house, to in self.directory.moves(now):
            if house in self.houses.running:
                self._change(house, partial(self._hand_over, to=to))

    def superseded(self, house: int) -> None:
        """End a house, because another server has written to its journal."""
        self._log.error("house superseded", house=house)
        asyncio.get_running_loop().call_soon(self._end_if_running, house)

    def stop_changes(self) -> None:
        """Stop opening and handing over houses."""
        for task in self._changes.values():
            task.cancel()

    def end_all(self) -> None:
        """End all houses at once."""
        self.stop_changes()
        for house in [*self.houses.running]:
            self.houses.abandon(house)

    def _end_if_running(self, house: int) -> None:
        if house in self.houses.running:
            self.houses.abandon(house)

    def _change(self, house: int, change: Callable[[int], Coroutine[Any, Any, None]]) -> None:
        """Open a house, or hand it over, unless one of the two is going on."""
        if house not in self._changes:
            task = self._changes[house] = asyncio.get_running_loop().create_task(change(house))
            task.add_done_callback(lambda done: self._on_changed(house, done))

    def _on_changed(self, house: int, task: Task[None]) -> None:
        del self._changes[house]
        if not task.cancelled() and (error := task.exception()) is not None:
            self._log.error("house not moved", house=house, exc_info=error)

    async def _claim(self, house: int) -> None:
        known = self.directory.ownership(house)
        with suppress(WrongRevision):  # another node was faster
            await self._set_owner(house, self.directory.node, known.revision)
            self._counts.takeovers += known.owner not in {None, self.directory.node}
            self._log.info("house claimed", house=house, former_owner=known.owner)

    async def _set_owner(self, house: int, owner: str, revision: int) -> None:
        key, value = f"{self.name}.{house}", encode(OwnerValue(owner))
        self.directory.observe(house, owner, await self._bus.compare_and_set(key, value, revision))

    async def _open(self, house: int) -> None:
        """Open a house that this node owns."""
        loop = asyncio.get_running_loop()
        try:
            began = loop.time()
            await self.houses.open(house)
            if house not in self.directory.own_houses() or self.houses.trouble is not None:
                self.houses.abandon(house)
                return
            self._log.info("house open", house=house, seconds=round(loop.time() - began, 3))
        except (StoreUnavailable, ValueError) as error:
            self._log.error("house not open", house=house, reason=str(error))
            await asyncio.sleep(OPEN_AGAIN_SECONDS)

    async def _hand_over(self, house: int, to: str) -> None:
        """End a house here, and let another node open it."""
        revision = self.directory.ownership(house).revision
        await self.houses.finish(house)
        with suppress(WrongRevision, BusUnavailable):
            await self._set_owner(house, to, revision)
            self._log.info("house handed over", house=house, to=to)
