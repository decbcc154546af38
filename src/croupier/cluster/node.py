"""A node of a cluster: keeps its lease, claims houses, hands them over, and stops when it may not write.

The journal decides who writes: the first entry of a new owner ends the former one. The lease only avoids work in vain,
and makes a node that is cut off say so. What is done with the houses of a room is in `NodeRoom`.
"""

import asyncio
import re
import secrets
from asyncio import Task
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final, Literal

from msgspec.json import decode, encode

from croupier.cluster.bus import Bus, BusUnavailable, KeyChange, WrongRevision
from croupier.cluster.directory import Directory
from croupier.cluster.lease import Membership, NodeState, Timing
from croupier.cluster.messages import NODE_KEYS, NodeValue
from croupier.cluster.node_room import Houses, NodeRoom
from croupier.cluster.relay import Relay
from croupier.core.logger import Logger
from croupier.core.session import Peer
from croupier.net.event_loop import wait_set
from croupier.observers.counters import ClusterCounters
from croupier.version import __version__

NODE_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")

type State = Literal["joining", "ready", "suspect", "fenced", "draining"]


class Node:
    """This server as a node of a cluster. It has the name `name`, which no other node may have.

    `process` is different for every start of a node, and `relay` has the clients that other nodes serve.
    `connections` returns the number of clients of each room of this server, `clients` the numbers of the newest ones in
    houses with private tables, and `players` the names of those in rooms whose players have names. `trouble` is the
    reason why this node may not serve any house now, None if it may.
    """

    def __init__(self, name: str, bus: Bus, log: Logger, *, timing: Timing = Timing()) -> None:
        if not NODE_NAME.fullmatch(name):
            raise ValueError(f"found --node {name!r}; allowed: 1 to 64 letters, digits, - and _")
        self.name = name
        self.bus = bus
        self.state: State = "joining"
        self.counts = ClusterCounters()
        self.connections: Callable[[], Mapping[str, int]] = dict
        self.clients: Callable[[], Mapping[str, Sequence[Peer]]] = dict
        self.players: Callable[[], Mapping[str, Sequence[str]]] = dict
        self.membership = Membership(name, timing)
        self.timing = timing
        self._log = log
        self._loop = asyncio.get_running_loop()
        self._now = self._loop.time
        self.process = secrets.token_hex(8)
        self.relay = Relay(bus, self.process, log)
        self._revision = 0  # of the own key
        self._values: dict[str, NodeValue] = {}  # of the other nodes
        self._announced: NodeState = "ready"
        self._rooms: dict[str, NodeRoom] = {}
        self.trouble: str | None = "the server is joining its cluster"
        self._watch_task: Task[None] | None = None
        self._watch_began = 0.0
        self._joined = asyncio.Event()
        self._tasks: list[Task[None]] = []

    @property
    def total_houses(self) -> int:
        """The number of houses in the cluster, of all rooms of this node."""
        return sum(room.directory.houses for room in self._rooms.values())

    @property
    def open_houses(self) -> int:
        """The number of houses that run here."""
        return sum(len(room.houses.running) for room in self._rooms.values())

    @property
    def live_nodes(self) -> int:
        """The number of nodes that are alive, as this one sees them."""
        return len(self.membership.live(self._now()))

    def connections_elsewhere(self, room: str) -> int:
        """Return the number of clients that are connected to a room at the other live nodes, as they last said."""
        return sum(value.connections.get(room, 0) for value in self._live_values())

    def players_elsewhere(self, room: str) -> Sequence[str]:
        """Return the names of the players in a room at the other live nodes, as they last said."""
        return [name for value in self._live_values() for name in value.players.get(room, ())]

    def clients_elsewhere(self, room: str) -> Mapping[str, Sequence[Peer]]:
        """Return the numbers of a house's newest clients at the other live nodes, by process, as they last said."""
        return {value.process: value.clients.get(room, ()) for value in self._live_values()}

    def is_gone(self, process: str) -> bool:
        """Whether a process of another node has ended, or does not answer, as far as this node can judge."""
        return (
            self.trouble is None
            and self.membership.may_judge(self._now())
            and all(value.process != process for value in self._live_values())
        )

    def process_of(self, node: str) -> str | None:
        """Return the process of another node, as it last said; None if it has said nothing yet."""
        value = self._values.get(node)
        return None if value is None else value.process

    def _live_values(self) -> Sequence[NodeValue]:
        live = self.membership.live(self._now())
        return [value for name, value in self._values.items() if name in live]

    @property
    def is_bus_up(self) -> bool:
        """Whether the bus is connected."""
        return self.bus.is_connected

    async def start(self) -> None:
        """Join the cluster. Raises BusUnavailable if the bus does not answer."""
        await self.relay.start()
        self._watch()
        self._tasks = [self._loop.create_task(each) for each in (self._keep_lease(), self._check_forever())]
        for task in self._tasks:
            task.add_done_callback(self._on_task_ended)
        if not await wait_set(self._joined, 2 * self.timing.lease):
            await self.stop()
            raise BusUnavailable("the bus does not answer")

    def add(self, room: str, houses: Houses, count: int, *, is_movable: bool = True) -> NodeRoom:
        """Take part in a room with `count` houses, of which those that this node owns from now on run in `houses`.

        With `is_movable`, houses move to nodes that join later; otherwise they stay as long as their owner.
        """
        directory = Directory(count, self.membership, room, is_movable=is_movable)
        added = self._rooms[room] = NodeRoom(room, houses, directory, bus=self.bus, log=self._log, counts=self.counts)
        houses.trouble = self.trouble
        self._watch()  # the keys of its houses have not been noted so far
        return added

    def remove(self, room: str) -> None:
        """Take part in a room no longer: the caller ends its houses, and others take them over."""
        if (removed := self._rooms.pop(room, None)) is not None:
            removed.stop_changes()
            removed.houses.leave()

    async def announce(self) -> None:
        """Say at once what the next renewal of the lease would say."""
        with suppress(BusUnavailable, WrongRevision):
            await self._renew()

    def _on_task_ended(self, task: Task[None]) -> None:
        """Log the error that has ended a task: without it the node is out of order."""
        if not task.cancelled() and (error := task.exception()) is not None:
            self._log.error("internal error", detail="a task of the node has ended", exc_info=error)

    async def drain(self, room: str) -> bool:
        """Take no more houses, and hand over those of a room to other nodes; whether there is one to take them."""
        self.state = self._announced = "draining"
        drained = self._rooms[room]
        self._log.info("draining", room=room, houses=sorted(drained.houses.running))
        await self.announce()
        while not drained.is_empty:
            if not self.membership.ready(self._now(), room) - {self.name} or self.trouble is not None:
                return False
            await asyncio.sleep(self.timing.check)
        return True

    async def stop(self) -> None:
        """Leave the cluster, so that others take over at once what still runs here."""
        for task in (*self._tasks, *([self._watch_task] if self._watch_task else [])):
            task.cancel()
        for name, room in [*self._rooms.items()]:
            room.end_all()
            self.remove(name)
        self.relay.close()
        self._announced = "stopped"
        await self.announce()
        self.relay.stop()
        await self.bus.close()

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
                for room in self._rooms.values():
                    room.directory.forget_revisions()
                self._watch()
                for room in [*self._rooms.values()]:
                    await room.restore_keys()
            await asyncio.sleep(max(0.0, began + self.timing.renew - self._now()))

    @property
    def _is_active(self) -> bool:
        return self.state not in {"joining", "fenced"}

    async def _renew(self) -> None:
        sent_at = self._now()
        value = NodeValue(
            self._announced,
            self.process,
            __version__,
            self.connections(),
            self.clients(),
            self.players(),
            (*self._rooms,),
        )
        key = f"{NODE_KEYS}.{self.name}"
        self._revision = await self.bus.compare_and_set(key, encode(value), self._revision)
        self.membership.renewed(sent_at, self._revision)

    def _fence(self, reason: str) -> None:
        """Stop writing and serving: another node may own the houses."""
        self.membership.forget_renewals()
        if self.state == "fenced":
            return
        self.counts.fenced += 1
        self._log.error("fenced", reason=reason)
        self.state = "fenced"
        self._set_trouble(f"fenced: {reason}")
        for room in self._rooms.values():
            room.end_all()
        self.relay.close()
        self._watch()

    def _set_trouble(self, reason: str | None) -> None:
        """Note why this node may not serve any house, None if it may."""
        self.trouble = reason
        for room in self._rooms.values():
            room.houses.trouble = reason

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
            async for change in self.bus.watch(">"):
                self._on_change(change)
        except BusUnavailable as error:
            self._log.debug("watch ended", reason=str(error))

    def _on_change(self, change: KeyChange) -> None:
        kind, _, name = change.key.partition(".")
        if kind == NODE_KEYS:
            value = decode(change.value, type=NodeValue)
            if name == self.name:
                self._revision = max(self._revision, change.revision)
            if name != self.name or value.process == self.process:
                self.membership.observe(name, value.state, change.revision, self._now(), value.rooms)
                if name != self.name:
                    self._values[name] = value
            elif self._is_active:
                self._fence("another process uses the name of this node")
        elif kind in self._rooms:
            self._rooms[kind].observe(name, change)

    # The rooms.

    async def _check_forever(self) -> None:
        while True:
            try:
                await self._check()
            except BusUnavailable as error:
                self._log.debug("bus not available", reason=str(error))
            await asyncio.sleep(self.timing.check)

    async def _check(self) -> None:
        """Do what is due: join, watch again, and what the rooms have to do."""
        now = self._now()
        if not self.membership.may_judge(now) and now - self._watch_began > self.timing.judge:
            self._watch()
        if not self.membership.may_write(now):
            if self._is_active:
                self._fence("its lease has lapsed")
            return
        if not self._is_active and not self.membership.may_judge(now):
            return
        self._note_lease(now)
        live = self.membership.live(now)
        self.relay.end_dead({value.process for value in self._live_values()}, now - self.timing.lease)
        for room in [*self._rooms.values()]:
            room.houses.check(live)
            await room.check(now)

    def _note_lease(self, now: float) -> None:
        """Note that the lease is valid."""
        if not self._is_active:
            self._log.info("joined the cluster", node=self.name, nodes=sorted(self.membership.live(now)))
            self._set_trouble(None)
            self.state = "draining" if self._announced == "draining" else "ready"
            self._joined.set()
        elif self.state != "draining":
            self.state = "suspect" if self.membership.is_suspect(now) else "ready"
