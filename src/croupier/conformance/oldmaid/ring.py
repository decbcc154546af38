"""A ring with the program in it: our table and our other players in memory, and the referee who hears all that is said.

What ours say to each other is there at once. What the program says comes through its connections; what comes on several
of them at the same time is heard in the order that speaks for it, for nobody can know in which it was said.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from copy import deepcopy
from itertools import permutations
from typing import Any, Final

from croupier.conformance.oldmaid.answers import ReceivedMessage, likely_spelling
from croupier.conformance.oldmaid.endpoints import ProgramConnection, ProgramEndpoints
from croupier.conformance.oldmaid.nodes import ConnectionEnd, RingNode
from croupier.conformance.oldmaid.outcomes import Failed
from croupier.core.bots import RandomBot
from croupier.core.dealer import FairDealer, dealer_factory, derive_server_seed
from croupier.core.errors import Violation
from croupier.core.referee import HOUSE
from croupier.core.session import (
    Address,
    Connect,
    Drop,
    Effect,
    Event,
    HandFinished,
    Joined,
    Left,
    Malformed,
    Peer,
    Received,
    Send,
    Submitted,
    TimedOut,
)
from croupier.rooms.oldmaid.house import House
from croupier.rooms.oldmaid.player import Player
from croupier.rooms.oldmaid.referee import TABLE, PlayerVerdict, Referee
from croupier.rooms.oldmaid.ring.table_client import TABLE as CALLED
from croupier.rooms.oldmaid.ring.table_client import Options
from croupier.rooms.oldmaid.settings import Settings
from croupier.rooms.oldmaid.wire import (
    DISCARD_OK,
    Discard,
    Join,
    Message,
    Offer,
    OutOfCards,
    Pick,
    Reply,
    Standing,
    Status,
    Wire,
    WireRole,
    YourTurn,
)

PICK_PAUSE_SECONDS: Final = 0.01
POLL_SECONDS: Final = 0.1
RETRY_SECONDS: Final = 1.0
"""The seconds that our players take for everything."""

MAX_FAILED_CONNECTS: Final = 4
"""So often one of ours calls somebody before he counts as gone."""

PLAYER_NAMES: Final = ("ann", "bob", "cyd", "dan", "eve", "fay", "gil")


class ProgramRing:
    """A game of so many, in which the program sits at a seat of its own. `fault` is the first that it has made.

    `finished` says that the table has seen the end of the game, and `moved` is when anything was said last, in seconds.
    `talk` counts all that was said, and `died_at` is what it was when one of ours has died. `owed` are the requests
    that the program has not answered, and `clamped` says that it has picked a card behind the last. `before` is told of
    everything that is about to be said to the program, and may kill somebody.
    """

    def __init__(self, endpoints: ProgramEndpoints, *, players: int, seat: int, seed: int, strict: bool) -> None:
        self.endpoints = endpoints
        self.referee = Referee(strict=strict)
        self.failure: Failed | None = None
        self.is_finished = False
        self.last_activity = asyncio.get_running_loop().time()
        self.message_count = 0
        self.death_message_count: int | None = None
        self.unanswered: dict[ProgramConnection, Message] = {}
        self.has_picked_past_end = False
        self.on_before_send: Callable[[RingNode, Message], None] = lambda *_: None
        self.program_address: Address | None = None
        self.table: RingNode
        self.players: list[RingNode] = []
        self._seed = seed
        self._size = players
        self._seat = seat
        self._luck = FairDealer(derive_server_seed(seed, "conform", players)).luck
        self._loop = asyncio.get_running_loop()
        self._wire = Wire("table", dialect=endpoints.dialect)
        self._connections: list[ProgramConnection] = []
        self._ends: dict[ProgramConnection, ConnectionEnd] = {}
        self._offered_counts: dict[ProgramConnection, int] = {}
        self._events: deque[tuple[RingNode, Event[Any]]] = deque()
        self._connect_tasks: set[asyncio.Task[None]] = set()
        self._failed_connects = 0
        self._is_wake_scheduled = False

    async def open(self) -> Address:
        """Let everybody listen, and those join who sit before the program: where the table is."""
        settings = Settings(players=self._size, join_window=3600.0, dialect=self.endpoints.dialect)
        house = House(settings, dealer_factory(lambda game: derive_server_seed(self._seed, "oldmaid", game)))
        self.table = RingNode(TABLE, house, await self.endpoints.listen("table"))
        for number, nick in enumerate(PLAYER_NAMES[: self._size - 1]):
            options = Options(nick, pause=PICK_PAUSE_SECONDS, poll_seconds=POLL_SECONDS, retry_seconds=RETRY_SECONDS)
            player = Player(options, FairDealer(derive_server_seed(self._seed, nick, number)).luck)
            self.players.append(RingNode(nick, player, await self.endpoints.listen(nick)))
        self.endpoints.on_connection = self._on_connection
        self.endpoints.on_activity = self._wake
        self._join(self.players[: self._seat])
        return self.table.address

    def _join(self, nodes: Sequence[RingNode]) -> None:
        for node in nodes:
            self._connect(node, CALLED, self.table)
        self._run()

    # The program.

    def _on_connection(self, connection: ProgramConnection) -> None:
        """The program has called one of us; when one of us has called it, that is known already."""
        self._connections.append(connection)
        if connection.is_outgoing:
            return
        node = (
            self.table
            if connection.name == "table"
            else next(node for node in self.players if node.name == connection.name)
        )
        if not node.is_alive:
            connection.close()
            return
        node.connection_count += 1
        end = ConnectionEnd(node, node.connection_count, connection=connection)
        node.ends[node.connection_count] = self._ends[connection] = end
        self._events.append((node, Joined(node.connection_count, connection.address)))
        self._wake()

    def _wake(self) -> None:
        """What the program says is heard when whatever else it has said before is here, too."""
        if not self._is_wake_scheduled:
            self._is_wake_scheduled = True
            self._loop.call_soon(self._loop.call_soon, self._process_received)

    def _process_received(self) -> None:
        self._is_wake_scheduled = False
        links = [link for link in self._ends if link.on_datad]
        for link in self._fair_order([link for link in links if not self._ends[link].is_dropped]):
            while link.on_datad:
                self._handle_received(link, link.on_datad.popleft())
                self._run()
        for link in [link for link in self._ends if link.has_ended and not link.on_datad]:
            self._handle_disconnect(self._ends.pop(link))
        self._run()
        self.endpoints.activity.set()

    def _fair_order(self, links: list[ProgramConnection]) -> Sequence[ProgramConnection]:
        """The links in the order in which what was said on them is nobody's fault, if there is such an order.

        Answers come first: who asks the table because of what he was told has answered that before.
        """
        if len(links) < 2 or self.endpoints.nick is None:
            return links
        links = sorted(links, key=lambda link: not isinstance(link.on_datad[0].message, Reply))
        for order in permutations(links[:3]):
            trial = deepcopy(self.referee)
            if not any(self._finds_fault(trial, link) for link in order):
                return [*order, *links[3:]]
        return links

    def _finds_fault(self, referee: Referee, connection: ProgramConnection) -> bool:
        """Whether a referee finds fault with what was said on a link."""
        me, name = self.endpoints.nick or "", self._ends[connection].node.name
        verdicts: list[PlayerVerdict] = []
        for heard in connection.on_datad:
            verdicts += referee.on_message(me, name, heard.message)
            if name == TABLE and isinstance(heard.message, OutOfCards | Discard):
                verdicts += referee.on_message(
                    TABLE, me, DISCARD_OK if isinstance(heard.message, Discard) else Reply("ok")
                )
        return any(verdict.nick == me for verdict in verdicts)

    def _handle_received(self, connection: ProgramConnection, received: ReceivedMessage) -> None:
        """The program says something to one of us."""
        end = self._ends[connection]
        message = received.message
        if isinstance(message, Join) and self.endpoints.nick is None:
            self.endpoints.nick = message.nick
            self.program_address = (connection.address[0], message.port or connection.address[1])
        if connection in self.unanswered and not isinstance(message, Pick):
            offer = self.unanswered.pop(connection)
            self._offered_counts[connection] = offer.num_cards if isinstance(offer, Offer) else 0
        elif isinstance(message, Pick):
            self.has_picked_past_end |= message.card_num == self._offered_counts.get(connection)
        self._report(self.endpoints.nick or "?", end.node.name, message, received)
        if isinstance(message, Violation):
            self._events.append((end.node, Malformed(end.peer, message)))
        else:
            self._events.append((end.node, Received(end.peer, message)))
        if isinstance(message, Join):
            self._run()
            self._join(self.players[self._seat :])

    def _handle_disconnect(self, end: ConnectionEnd) -> None:
        """The program has hung up on one of us."""
        if not end.is_closed:
            end.is_closed = True
            if not end.is_dropped:
                self.referee.on_connection_lost(end.node.name, self.endpoints.nick or "?")
            if end.connection is not None:
                end.connection.close()
            self._events.append((end.node, Left(end.peer, "hung up")))

    def _report(
        self, sender: str, receiver: str, said: Message | Violation, heard: ReceivedMessage | None = None
    ) -> None:
        """Let the referee hear something; what is wrong with the program is its first fault."""
        if not isinstance(said, Status | Standing):  # who waits asks for it again and again
            self.last_activity = self._loop.time()
            self.message_count += 1
        for verdict in self.referee.on_message(sender, receiver, said):
            if verdict.nick == self.endpoints.nick and self.failure is None:
                found = verdict.violation
                got = heard.data if heard is not None else b""
                side: WireRole = "table" if receiver == TABLE else "player"
                cause = likely_spelling(side, heard) if heard is not None else ""
                self.failure = Failed(found.clause, found.found, found.allowed, got=got, cause=cause)
                self.endpoints.is_dialogue_closed = True
                self.endpoints.activity.set()

    # Ours.

    def _connect(self, caller: RingNode, number: Peer, called: RingNode) -> None:
        called.connection_count += 1
        here, there = ConnectionEnd(caller, number), ConnectionEnd(called, called.connection_count)
        here.remote, there.remote = there, here
        caller.ends[number], called.ends[called.connection_count] = here, there
        self._events.append((called, Joined(called.connection_count, caller.address)))
        self._events.append((caller, Joined(number, called.address)))

    def _run(self) -> None:
        """Let everything happen that is due, one thing after another."""
        while self._events:
            node, event = self._events.popleft()
            if isinstance(event, Left):
                node.ends.pop(event.peer, None)
            if node.is_alive:
                self._handle_event(node, event)

    def _handle_event(self, node: RingNode, event: Event[Any]) -> None:
        for effect in node.session.on(event, self._loop.time()):
            if node.is_alive:
                self._perform(node, effect)
        player = node.session
        if isinstance(player, Player) and (pick := player.decide(RandomBot(), self._luck)) is not None:
            self._events.appendleft((node, Submitted(pick)))
        self._set_timer(node)

    def _set_timer(self, node: RingNode) -> None:
        if node.timer is not None:
            node.timer.cancel()
        alarm = node.session.deadline
        node.timer = None if alarm is None or not node.is_alive else self._loop.call_at(alarm, self._on_timeout, node)

    def _on_timeout(self, node: RingNode) -> None:
        node.timer = None
        self._events.append((node, TimedOut()))
        self._run()

    def _perform(self, node: RingNode, effect: Effect[Any]) -> None:
        match effect:
            case Send(peer, message):
                self._send(node.ends[peer], message)
            case Drop(peer):
                self._drop(node.ends[peer])
            case Connect(peer, address):
                self._connect_to(node, peer, address)
            case HandFinished():
                self.is_finished = True
                self.endpoints.activity.set()
            case _:
                pass

    def _send(self, end: ConnectionEnd, message: Message) -> None:
        node, other = end.node, end.remote
        if other is not None:
            self._report(node.name, other.node.name, message)
            if other.is_closed:
                return
            self._events.append((other.node, Received(other.peer, message)))
            return
        self.on_before_send(node, message)
        if end.connection is not None and not (end.is_dropped or end.is_closed):
            self._report(node.name, self.endpoints.nick or "?", message)
            if isinstance(message, YourTurn | Offer | Pick):
                self.unanswered[end.connection] = message
            end.connection.send(self._wire.encode(message))

    def _drop(self, end: ConnectionEnd) -> None:
        end.is_dropped = True
        name = end.remote.node.name if end.remote is not None else self.endpoints.nick or "?"
        self.referee.on_connection_lost(end.node.name, name)
        if end.connection is not None:
            if end.node is not self.table:
                self.referee.on_connection_lost(name, end.node.name)  # it will notice it, or has
            end.connection.close()
        elif end.remote is not None:
            self._disconnect(end, end.remote)

    def _disconnect(self, *ends: ConnectionEnd) -> None:
        """Two of ours are not connected any more."""
        for end in ends:
            if not end.is_closed:
                end.is_closed = True
                if not end.is_dropped and end.remote is not None:
                    self.referee.on_connection_lost(end.node.name, end.remote.node.name)
                self._events.append((end.node, Left(end.peer, "hung up")))

    def _connect_to(self, node: RingNode, peer: Peer, address: Address) -> None:
        called = next((one for one in self.players if one.address == address), None)
        if called is None:
            call = self._loop.create_task(self._connect_to_program(node, peer, address))
            self._connect_tasks.add(call)
            call.add_done_callback(self._connect_tasks.discard)
        elif called.is_alive:
            self._connect(node, peer, called)
        else:
            self.referee.on_connection_lost(node.name, called.name)
            self._events.append((node, Left(peer, "refused")))

    async def _connect_to_program(self, node: RingNode, peer: Peer, address: Address) -> None:
        link = await self.endpoints.connect(node.name, address, 0.0)
        if not node.is_alive:
            return
        if link is None:
            self._note_unreachable(address)
            self.referee.on_connection_lost(node.name, self.endpoints.nick or "?")
            self._events.append((node, Left(peer, "refused")))
        else:
            end = ConnectionEnd(node, peer, connection=link)
            node.ends[peer] = self._ends[link] = end
            self._events.append((node, Joined(peer, address)))
            self._wake()
        self._run()

    def _note_unreachable(self, address: Address) -> None:
        """The program does not answer where the table lists it; it may not listen yet, but it has to at last."""
        self._failed_connects += 1
        if (
            self._failed_connects >= MAX_FAILED_CONNECTS
            and self.is_playing
            and not self.referee.turn_lost
            and self.failure is None
        ):
            self.failure = Failed("oldmaid-3.17", f"nobody listens at {address[0]} {address[1]}", "the right neighbour")
            self.endpoints.activity.set()

    @property
    def is_playing(self) -> bool:
        """Whether the program is in a game that is played."""
        game, known = self.referee.game, self.referee.players.get(self.endpoints.nick or "")
        return game is not None and known is not None and not game.is_over and game.is_inside[known.seat]

    @property
    def tolerated(self) -> frozenset[str]:
        """The clauses whose tolerance the program has needed."""
        found = frozenset[str]().union(*(link.reader.tolerated for link in self._connections))
        return found | {"oldmaid-7.4"} if self.has_picked_past_end else found

    # The end.

    def kill(self, node: RingNode) -> None:
        """One of our players dies: his connections end, and he does not listen any more."""
        node.is_alive = False
        self.death_message_count = self.message_count
        self._set_timer(node)
        self.endpoints.stop_listening(node.name)
        if self.endpoints.nick is not None:
            self.referee.on_connection_lost(self.endpoints.nick, node.name)
        for end in node.ends.values():
            end.is_closed = True
            if end.connection is not None:
                self._ends.pop(end.connection, None)
                self.endpoints.add_line(HOUSE, end.connection, b"")
                end.connection.close()
            elif end.remote is not None:
                end.is_dropped = True
                self._disconnect(end.remote)

    def close(self) -> None:
        """Nothing happens any more."""
        for node in (self.table, *self.players):
            node.is_alive = False
            self._set_timer(node)
        for call in self._connect_tasks:
            call.cancel()
