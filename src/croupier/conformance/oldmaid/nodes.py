"""The nodes of a ring around the program (the table and the other players), and the connections between them.

Everything between two nodes arrives at once; the sessions of the nodes are given one event after the other.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from croupier.conformance.oldmaid.endpoints import ProgramConnection
from croupier.core.bots import RandomBot
from croupier.core.dealer import Luck
from croupier.core.referee import Party
from croupier.core.session import Address, Effect, Event, Joined, Left, Peer, Received, Session, Submitted, TimedOut
from croupier.net.timer import Timer
from croupier.rooms.oldmaid.player import Player
from croupier.rooms.oldmaid.referee import TABLE
from croupier.rooms.oldmaid.wire import Offer

PICK_PAUSE_SECONDS: Final = 0.01
"""The pause of our players before a pick from the program."""


@dataclass(eq=False)
class ConnectionEnd:
    """Our end of a connection. `remote` is the other end, None if it is the program's, reached by `connection`."""

    node: "RingNode"
    peer: Peer
    remote: "ConnectionEnd | None" = None
    connection: ProgramConnection | None = None
    is_dropped: bool = False
    is_closed: bool = False


@dataclass(eq=False)
class RingNode:
    """The table, or one of our players; `offerer` is the last peer that has offered it a hand."""

    name: str
    session: Session[Any, Any]
    address: Address
    ends: dict[Peer, ConnectionEnd] = field(default_factory=dict)
    is_alive: bool = True
    connection_count: int = 0
    offerer: Peer = 0
    timer: Timer = field(default_factory=Timer)

    @property
    def party(self) -> Party:
        """The node as the referee knows it."""
        return TABLE if self.name == "table" else self.name


class NodeNetwork:
    """Gives the nodes their events, and has `perform` carry out the effects of each. `luck` chooses picks."""

    def __init__(self, perform: Callable[[RingNode, Effect[Any]], None], luck: Luck) -> None:
        self._perform = perform
        self._luck = luck
        self._loop = asyncio.get_running_loop()
        self._events: deque[tuple[RingNode, Event[Any]]] = deque()

    def connect(self, caller: RingNode, number: Peer, called: RingNode) -> None:
        """Connect two nodes; `number` is the connection's number at the caller."""
        called.connection_count += 1
        caller_end, called_end = ConnectionEnd(caller, number), ConnectionEnd(called, called.connection_count)
        caller_end.remote, called_end.remote = called_end, caller_end
        caller.ends[number], called.ends[called.connection_count] = caller_end, called_end
        self.add_event(called, Joined(called.connection_count, caller.address))
        self.add_event(caller, Joined(number, called.address))

    def add_event(self, node: RingNode, event: Event[Any]) -> None:
        """Add an event, which `run` gives to the node."""
        self._events.append((node, event))

    def run(self) -> None:
        """Process all due events one by one."""
        while self._events:
            node, event = self._events.popleft()
            if isinstance(event, Left):
                node.ends.pop(event.peer, None)
            if node.is_alive:
                self._handle_event(node, event)

    def _handle_event(self, node: RingNode, event: Event[Any]) -> None:
        now = self._loop.time()
        if isinstance(event, TimedOut) and node.session.deadline is not None:
            now = max(now, node.session.deadline)  # the pause before a pick may have been skipped
        for effect in node.session.on(event, now):
            if node.is_alive:
                self._perform(node, effect)
        player = node.session
        if isinstance(player, Player) and (pick := player.decide(RandomBot(), self._luck)) is not None:
            self._events.appendleft((node, Submitted(pick)))
        if isinstance(event, Received) and isinstance(event.message, Offer):
            node.offerer = event.peer
        self._set_timer(node)

    def _set_timer(self, node: RingNode) -> None:
        node.timer.cancel()
        now, deadline = self._loop.time(), node.session.deadline
        if deadline is None or not node.is_alive:
            return
        offerer = node.ends.get(node.offerer)
        if offerer is not None and offerer.remote is not None and deadline <= now + PICK_PAUSE_SECONDS:
            deadline = now  # only the program may need the pause before a pick (oldmaid-7.3)
        node.timer.set(deadline - now, self._on_timeout, node)

    def _on_timeout(self, node: RingNode) -> None:
        self.add_event(node, TimedOut())
        self.run()

    def stop(self, node: RingNode) -> None:
        """Give a node no more events."""
        node.is_alive = False
        node.timer.cancel()
