"""A node of a cluster: keeps its lease, claims houses, hands them over, and stops when it may not write.

The journal decides who writes: the first entry of a new owner ends the former one. The lease only avoids work in vain,
and makes a node that is cut off say so.
"""

import asyncio
import re
import secrets
from asyncio import Task
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final, Literal, Protocol

from msgspec.json import decode, encode

from croupier.cluster.bus import Bus, BusUnavailable, KeyChange, WrongRevision
from croupier.cluster.directory import Directory
from croupier.cluster.forward import Forwarder
from croupier.cluster.lease import Membership, NodeState, Timing
from croupier.cluster.messages import HOUSE_KEYS, NODE_KEYS, VIEW_SUBJECT, NodeValue, OwnerValue, node_subject
from croupier.cluster.mirror import ViewMirror, ViewPublisher
from croupier.core.logger import Logger
from croupier.http.holdem_tables import HouseGroup
from croupier.observers.counters import ClusterCounters
from croupier.rooms.holdem.table.presentation import ShownTable
from croupier.rooms.holdem.wire import Guid
from croupier.store.records import StoreUnavailable
from croupier.version import __version__

OPEN_AGAIN_SECONDS: Final = 0.5
"""Delay before a house is opened again that could not be."""

NODE_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")

type State = Literal["joining", "ready", "suspect", "fenced", "draining"]


class Houses(Protocol):
    """The houses that run in this process."""

    on_shown: Callable[[int, Mapping[Guid, ShownTable | None]], None] | None
    on_superseded: Callable[[int], None] | None

    async def open(self, number: int) -> int:
        """Open a house; return the number of its first entry in the journal. Raises ValueError, StoreUnavailable."""
        ...

    async def finish(self, number: int) -> None:
        """End a house after writing what has been requested."""
        ...

    def abandon(self, number: int) -> None:
        """End a house at once."""
        ...


class Node:
    """This server as a node of a cluster. It has the name `name`, which no other node may have."""

    def __init__(
        self, name: str, bus: Bus, group: HouseGroup, houses: Houses, log: Logger, *, timing: Timing = Timing()
    ) -> None:
        if not NODE_NAME.fullmatch(name):
            raise ValueError(f"found --node {name!r}; allowed: 1 to 64 letters, digits, - and _")
        self.name = name
        self.state: State = "joining"
        self.counts = ClusterCounters()
        self.connections: Callable[[], Mapping[str, int]] = dict  # the clients of each room of this server
        self.membership = Membership(name, timing)
        self.directory = Directory(group.houses, self.membership)
        self._timing = timing
        self._bus = bus
        self._group = group
        self._houses = houses
        self._log = log
        self._loop = asyncio.get_running_loop()
        self._now = self._loop.time
        self._process = secrets.token_hex(8)
        self._revision = 0  # of the own key
        self._connections: dict[str, Mapping[str, int]] = {}  # of the other nodes
        self._announced: NodeState = "ready"
        self._changes: dict[int, Task[None]] = {}  # houses that are being opened or handed over
        self._publisher = ViewPublisher(bus, group.views, group.houses)
        self._forwarder = Forwarder(
            bus, group, self.directory, self._publisher, node=name, now=self._now, counts=self.counts
        )
        self._mirror = self._forwarder.mirror = ViewMirror(
            group.views,
            group.houses,
            log,
            is_here=lambda house: house in group.services,
            fetch=self._forwarder.fetch_views,
        )
        self._watch_task: Task[None] | None = None
        self._watch_began = 0.0
        self._joined = asyncio.Event()
        self._tasks: list[Task[None]] = []
        houses.on_shown = self._publisher.publish
        houses.on_superseded = self._on_superseded
        group.elsewhere = self._forwarder
        group.trouble = "the server is joining its cluster"

    @property
    def total_houses(self) -> int:
        """The number of houses in the cluster."""
        return self.directory.houses

    @property
    def open_houses(self) -> int:
        """The number of houses that run here."""
        return len(self._group.services)

    @property
    def live_nodes(self) -> int:
        """The number of nodes that are alive, as this one sees them."""
        return len(self.membership.live(self._now()))

    def connections_elsewhere(self, room: str) -> int:
        """Return the number of clients that are connected to a room at the other live nodes, as they last said."""
        others = self.membership.live(self._now()) & self._connections.keys()
        return sum(self._connections[name].get(room, 0) for name in others)

    @property
    def is_bus_up(self) -> bool:
        """Whether the bus is connected."""
        return self._bus.is_connected

    async def start(self) -> None:
        """Join the cluster, and wait until the tables of all houses are shown, if that does not take long.

        Raises BusUnavailable if the bus does not answer.
        """
        await self._bus.serve(node_subject(self.name), self._forwarder.answer)
        await self._bus.subscribe(f"{VIEW_SUBJECT}.*", self._mirror.on_message)
        self._watch()
        coroutines = (self._keep_lease(), self._check_forever(), self._publisher.run(), self._publisher.beat())
        self._tasks = [self._loop.create_task(each) for each in coroutines]
        for task in self._tasks:
            task.add_done_callback(self._on_task_ended)
        try:
            async with asyncio.timeout(2 * self._timing.lease):
                await self._joined.wait()
        except TimeoutError:
            raise BusUnavailable("the bus does not answer") from None
        with suppress(TimeoutError):
            async with asyncio.timeout(2 * self._timing.lease):  # a house of a node that has just died takes one lease
                while not all(map(self._mirror.is_known, range(1, self._group.houses + 1))):
                    await asyncio.sleep(self._timing.check)

    def _on_task_ended(self, task: Task[None]) -> None:
        """Log the error that has ended a task: without it the node is out of order."""
        if not task.cancelled() and (error := task.exception()) is not None:
            self._log.error("internal error", detail="a task of the node has ended", exc_info=error)

    async def drain(self) -> bool:
        """Hand over all houses to other nodes; whether there is one to take them."""
        self.state = self._announced = "draining"
        self._log.info("draining", houses=sorted(self._group.services))
        with suppress(BusUnavailable, WrongRevision):
            await self._renew()
        while self._group.services or self._changes:
            if not self.membership.ready(self._now()) - {self.name} or self._group.trouble is not None:
                return False
            await asyncio.sleep(self._timing.check)
        return True

    async def stop(self) -> None:
        """Leave the cluster, so that others take over at once what still runs here."""
        for task in (*self._tasks, *self._changes.values(), *([self._watch_task] if self._watch_task else [])):
            task.cancel()
        for house in [*self._group.services]:
            self._end_house(house)
        self._mirror.close()
        self._announced = "stopped"
        with suppress(BusUnavailable, WrongRevision):
            await self._renew()
        await self._bus.close()

    # The lease.

    async def _keep_lease(self) -> None:
        """Renew the lease at regular times, and read the own key again if another writer has changed it."""
        while True:
            began = self._now()
            if self._is_active and not self.membership.may_write(began):
                self._fence("its lease has lapsed")  # before renewing: a process that was paused has lost its houses
            try:
                await self._renew()
            except BusUnavailable as error:
                self.counts.renewals_failed += 1
                self._log.debug("lease not renewed", reason=str(error))
            except WrongRevision:  # an answer was lost, or the bus has lost its keys, or another process has this name
                self._revision = 0
                self.directory.forget_revisions()
                self._watch()
                await self._restore_keys()
            await asyncio.sleep(max(0.0, began + self._timing.renew - self._now()))

    async def _restore_keys(self) -> None:
        """Write the keys of the houses that run here, where there are none any more."""
        for house in [*self._group.services]:
            with suppress(WrongRevision, BusUnavailable):
                await self._set_owner(house, self.name, 0)

    @property
    def _is_active(self) -> bool:
        return self.state not in {"joining", "fenced"}

    async def _renew(self) -> None:
        sent_at = self._now()
        value = encode(NodeValue(self._announced, self._process, __version__, self.connections()))
        self._revision = await self._bus.compare_and_set(f"{NODE_KEYS}.{self.name}", value, self._revision)
        self.membership.renewed(sent_at)

    def _fence(self, reason: str) -> None:
        """Stop writing and serving: another node may own the houses."""
        self.membership.forget_renewals()
        if self.state == "fenced":
            return
        self.counts.fenced += 1
        self._log.error("fenced", reason=reason)
        self.state = "fenced"
        self._group.trouble = f"fenced: {reason}"
        for task in self._changes.values():
            task.cancel()
        for house in [*self._group.services]:
            self._end_house(house)
        self._group.views.notify_all()
        self._watch()

    def _end_house(self, house: int) -> None:
        self._publisher.stop_house(house)
        self._houses.abandon(house)

    # The watch.

    def _watch(self) -> None:
        """Read all keys, and follow their changes; instead of the former watch, if there is one."""
        if self._watch_task is not None:
            self._watch_task.cancel()
        self._watch_began = self._now()
        self.membership.watch_restarted(self._watch_began)
        self._watch_task = self._loop.create_task(self._follow_keys())

    async def _follow_keys(self) -> None:
        try:
            async for change in self._bus.watch(">"):
                self._on_change(change)
        except BusUnavailable as error:
            self._log.debug("watch ended", reason=str(error))

    def _on_change(self, change: KeyChange) -> None:
        kind, _, name = change.key.partition(".")
        if kind == NODE_KEYS:
            value = decode(change.value, type=NodeValue)
            if name == self.name:
                self._revision = max(self._revision, change.revision)
            if name != self.name or value.process == self._process:
                self.membership.observe(name, value.state, change.revision, self._now())
                if name != self.name:
                    self._connections[name] = value.connections
            elif self._is_active:
                self._fence("another process uses the name of this node")
        elif kind == HOUSE_KEYS and name.isdecimal():
            self.directory.observe(int(name), decode(change.value, type=OwnerValue).owner, change.revision)

    # The houses.

    async def _check_forever(self) -> None:
        while True:
            try:
                await self._check()
            except BusUnavailable as error:
                self._log.debug("bus not available", reason=str(error))
            await asyncio.sleep(self._timing.check)

    async def _check(self) -> None:
        """Do what is due: join, watch again, open own houses, end those of others, claim, hand over."""
        now = self._now()
        if not self.membership.may_judge(now) and now - self._watch_began > self._timing.judge:
            self._watch()
        if not self.membership.may_write(now):
            if self._is_active:
                self._fence("its lease has lapsed")
            return
        if not self._is_active and not self.membership.may_judge(now):
            return
        self._note_lease(now)
        self._forwarder.give_up(self.membership.live(now))
        own = self.directory.own_houses()
        for house in [*self._group.services.keys() - own - self._changes.keys()]:
            self._log.error("house lost", house=house, owner=self.directory.ownership(house).owner)
            self._end_house(house)
        for house in own - self._group.services.keys():
            self._change(house, self._open)
        for house in self.directory.claims(now):
            await self._claim(house)
        for house, to in self.directory.moves(now):
            if house in self._group.services:
                self._change(house, partial(self._hand_over, to=to))

    def _change(self, house: int, change: Callable[[int], Coroutine[Any, Any, None]]) -> None:
        """Open a house, or hand it over, unless one of the two is going on."""
        if house not in self._changes:
            task = self._changes[house] = self._loop.create_task(change(house))
            task.add_done_callback(lambda done: self._on_changed(house, done))

    def _on_changed(self, house: int, task: Task[None]) -> None:
        del self._changes[house]
        if not task.cancelled() and (error := task.exception()) is not None:
            self._log.error("house not moved", house=house, exc_info=error)

    def _note_lease(self, now: float) -> None:
        """Note that the lease is valid."""
        if not self._is_active:
            self._log.info("joined the cluster", node=self.name, nodes=sorted(self.membership.live(now)))
            self._group.trouble = None
            self.state = "draining" if self._announced == "draining" else "ready"
            self._joined.set()
        elif self.state != "draining":
            self.state = "suspect" if self.membership.is_suspect(now) else "ready"

    async def _claim(self, house: int) -> None:
        known = self.directory.ownership(house)
        with suppress(WrongRevision):  # another node was faster
            await self._set_owner(house, self.name, known.revision)
            self.counts.takeovers += known.owner not in {None, self.name}
            self._log.info("house claimed", house=house, former_owner=known.owner)

    async def _set_owner(self, house: int, owner: str, revision: int) -> None:
        key, value = f"{HOUSE_KEYS}.{house}", encode(OwnerValue(owner))
        self.directory.observe(house, owner, await self._bus.compare_and_set(key, value, revision))

    async def _open(self, house: int) -> None:
        """Open a house that this node owns."""
        try:
            began = self._now()
            term = await self._houses.open(house)
            if house not in self.directory.own_houses() or self._group.trouble is not None:
                self._houses.abandon(house)
                return
            self._mirror.forget_house(house)
            self._publisher.start_house(house, term)
            self._log.info("house open", house=house, seconds=round(self._now() - began, 3))
        except (StoreUnavailable, ValueError) as error:
            self._log.error("house not open", house=house, reason=str(error))
            await asyncio.sleep(OPEN_AGAIN_SECONDS)

    async def _hand_over(self, house: int, to: str) -> None:
        """End a house here, and let another node open it."""
        revision = self.directory.ownership(house).revision
        self._publisher.stop_house(house)
        await self._houses.finish(house)
        with suppress(WrongRevision, BusUnavailable):
            await self._set_owner(house, to, revision)
            self._log.info("house handed over", house=house, to=to)

    def _on_superseded(self, house: int) -> None:
        """Another server has written to the journal of a house that runs here."""
        self._log.error("house superseded", house=house)
        self._loop.call_soon(self._end_if_running, house)

    def _end_if_running(self, house: int) -> None:
        if house in self._group.services:
            self._end_house(house)
