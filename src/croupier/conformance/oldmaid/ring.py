"""A ring with the program in it: our table and players in memory, and a referee that follows all messages.

Messages between our nodes arrive at once. Messages of the program on several connections have no known order: they are
processed in an order in which they are valid, if there is one. A message that seems to be out of order waits for those
that may have been sent before it.
"""

import asyncio
from collections.abc import Callable, Sequence
from copy import deepcopy
from itertools import permutations
from typing import Any, Final

from croupier.conformance.oldmaid.answers import ReceivedMessage, likely_spelling
from croupier.conformance.oldmaid.endpoints import ProgramConnection, ProgramEndpoints
from croupier.conformance.oldmaid.hand_order import HandOrder
from croupier.conformance.oldmaid.nodes import PICK_PAUSE_SECONDS, ConnectionEnd, NodeNetwork, RingNode
from croupier.conformance.oldmaid.outcomes import Failed
from croupier.core.dealer import FairDealer, dealer_factory, derive_server_seed
from croupier.core.errors import FoundKind, Violation
from croupier.core.referee import HOUSE, Disconnected, Party, Sent, Verdict
from croupier.core.session import (
    HUNG_UP,
    Address,
    Connect,
    Drop,
    Effect,
    HandFinished,
    Joined,
    Left,
    Malformed,
    Peer,
    Received,
    Send,
)
from croupier.rooms.oldmaid.house import House
from croupier.rooms.oldmaid.player import Player
from croupier.rooms.oldmaid.referee import TABLE, Referee
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

POLL_SECONDS: Final = 0.1
RETRY_SECONDS: Final = 1.0
"""Short timings of our players."""

TURNED_AWAY_SECONDS: Final = 0.3
"""How long the program must stay at the table after it has turned a player away: a crash ends that connection, too."""

MAX_DELAY_SECONDS: Final = 0.25
"""How much longer a message may be on its way than one that was sent after it on another connection."""

MAX_FAILED_CONNECTS: Final = 4
"""How often one of our players tries to connect before the peer counts as gone."""

PLAYER_NAMES: Final = ("ann", "bob", "cyd", "dan", "eve", "fay", "gil")


class ProgramRing:
    """A game with the program at one seat. `failure` is its first fault.

    `finished_at` is the time at which the table has seen the end of the game, None before, and `last_activity` that of
    the last message, in seconds.
    `message_count` counts all messages, and `death_message_count` is its value when one of our players died.
    `hand_order` is that of the program's cards. `unanswered` are the requests that the program has not answered.
    `has_picked_past_end`: the program has picked a card after the last one. `starts_game`: the players whose seats are
    after the program's join. `on_before_send` is called before each message to the program and may kill a node. The
    player after the program, if it has joined last, listens only `late_seconds` after the list. `nicks` are those of
    our players.
    """

    def __init__(
        self,
        endpoints: ProgramEndpoints,
        *,
        players: int,
        seat: int,
        seed: int,
        strict: bool,
        late_seconds: float = 0.0,
        nicks: Sequence[str] = PLAYER_NAMES,
    ) -> None:
        self.endpoints = endpoints
        self.referee = Referee(strict=strict)
        self.failure: Failed | None = None
        self.finished_at: float | None = None
        self.last_activity = asyncio.get_running_loop().time()
        self.message_count = 0
        self.death_message_count: int | None = None
        self.hand_order = HandOrder()
        self.unanswered: dict[ProgramConnection, Message] = {}
        self.has_picked_past_end = False
        self.starts_game = True
        self.on_before_send: Callable[[RingNode, Message], None] = lambda *_: None
        self.table: RingNode
        self.players: list[RingNode] = []
        self._seed = seed
        self._size = players
        self._seat = seat
        self._late_seconds = late_seconds
        self._nicks = nicks
        self._loop = asyncio.get_running_loop()
        self._wire = Wire("table", dialect=endpoints.dialect)
        self._connections: list[ProgramConnection] = []
        self._ends: dict[ProgramConnection, ConnectionEnd] = {}
        self._offered_counts: dict[ProgramConnection, int] = {}
        self._nodes = NodeNetwork(self._perform, FairDealer(derive_server_seed(seed, "conform", players)).luck)
        self._connect_tasks: set[asyncio.Task[None]] = set()
        self._failed_connects = 0
        self._is_wake_scheduled = False
        self._order_deadline: float | None = None

    async def open(self) -> Address:
        """Start all nodes, and let the players before the program join; return the table's address."""
        settings = Settings(players=self._size, join_window=3600.0, dialect=self.endpoints.dialect)
        house = House(settings, dealer_factory(lambda game: derive_server_seed(self._seed, "oldmaid", game)))
        self.table = RingNode("table", house, await self.endpoints.listen("table"))
        for number, nick in enumerate(self._nicks[: self._size - 1]):
            options = Options(nick, pause=PICK_PAUSE_SECONDS, poll_seconds=POLL_SECONDS, retry_seconds=RETRY_SECONDS)
            player = Player(options, FairDealer(derive_server_seed(self._seed, nick, number)).luck)
            is_late = number == self._seat and self._late_seconds > 0
            self.players.append(RingNode(nick, player, await self.endpoints.listen(nick, starts=not is_late)))
        self.endpoints.on_connection = self._on_connection
        self.endpoints.on_activity = self._wake
        self._join(self.players[: self._seat])
        return self.table.address

    def _join(self, nodes: Sequence[RingNode]) -> None:
        for node in nodes:
            self._nodes.connect(node, CALLED, self.table)
        self._nodes.run()

    # The program.

    def _on_connection(self, connection: ProgramConnection) -> None:
        """Take a connection with the program into use, unless our side opened it."""
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
        self._nodes.add_event(node, Joined(node.connection_count, connection.address))
        self._wake()

    def _wake(self) -> None:
        """Schedule processing after all data that arrived before is read."""
        if not self._is_wake_scheduled:
            self._is_wake_scheduled = True
            self._loop.call_soon(self._loop.call_soon, self._process_received)

    def _process_received(self) -> None:
        self._is_wake_scheduled = False
        connections = [
            connection for connection in self._ends if connection.received and not self._ends[connection].is_dropped
        ]
        for connection in self._due_order(connections):
            while connection.received:
                self._handle_received(connection, connection.received.popleft())
                self._nodes.run()
        for connection in [connection for connection in self._ends if connection.has_ended and not connection.received]:
            end = self._ends.pop(connection)
            self._note_turned_away(connection, end.node)
            self._disconnect(end)
        self._nodes.run()
        self.endpoints.activity.set()

    def _note_turned_away(self, connection: ProgramConnection, node: RingNode) -> None:
        """Look whether the program has hung up on a player whose first request it has not answered, and plays on."""
        request = self.unanswered.get(connection)
        if connection.is_outgoing and connection.is_unused and request is not None and self.is_playing:
            self._loop.call_later(TURNED_AWAY_SECONDS, self._judge_turned_away, node, request)

    def _judge_turned_away(self, node: RingNode, request: Message) -> None:
        is_at_table = any(one.name == "table" and not one.has_ended for one in self._connections)
        if is_at_table and node.is_alive and self.death_message_count is None and self.failure is None:
            found = f"the end of the connection from {node.name!r}, without an answer to {request}"
            self.failure = Failed("oldmaid-3.17", found, "any player that connects", kind=FoundKind.CLOSED)
            self.endpoints.activity.set()

    @property
    def is_waiting_for_order(self) -> bool:
        """Whether a message of the program waits for those that may have been sent before it."""
        return self._order_deadline is not None

    def _due_order(self, connections: Sequence[ProgramConnection]) -> Sequence[ProgramConnection]:
        """Return the connections whose messages are to be processed now, in this order.

        These are none as long as no order is valid, and a message that was sent before them may be late.
        """
        now = self._loop.time()
        is_late = self._order_deadline is not None and now >= self._order_deadline
        order = self._fair_order(connections)
        if order is None and not is_late:
            if self._order_deadline is None:
                self._order_deadline = now + MAX_DELAY_SECONDS
                self._loop.call_at(self._order_deadline, self._wake)
            return ()
        self._order_deadline = None
        return connections if order is None else order

    def _fair_order(self, connections: Sequence[ProgramConnection]) -> Sequence[ProgramConnection] | None:
        """Return the connections in an order in which their messages are valid, None if there is none.

        Replies come first: a player usually asks the table after it has answered.
        """
        needs_order = len(connections) > 1 or any(
            isinstance(received.message, Offer | OutOfCards)
            for connection in connections
            for received in connection.received
        )
        if not needs_order or self.endpoints.nick is None:
            return connections
        connections = sorted(connections, key=lambda connection: not isinstance(connection.received[0].message, Reply))
        for order in permutations(connections[:3]):
            referee_copy = deepcopy(self.referee)
            if not any(self._finds_fault(referee_copy, connection) for connection in order):
                return [*order, *connections[3:]]
        return None

    def _finds_fault(self, referee: Referee, connection: ProgramConnection) -> bool:
        """Whether a referee finds a fault in the messages of a connection."""
        nick, name = self.endpoints.nick or "", self._ends[connection].node.party
        verdicts: list[Verdict] = []
        for received in connection.received:
            verdicts += referee.on(Sent(nick, name, received.message))
            if name == TABLE and isinstance(received.message, OutOfCards | Discard):
                answer = DISCARD_OK if isinstance(received.message, Discard) else Reply("ok")
                verdicts += referee.on(Sent(TABLE, nick, answer))
        return any(verdict.party == nick for verdict in verdicts)

    def _handle_received(self, connection: ProgramConnection, received: ReceivedMessage) -> None:
        """Process a message of the program to one of our nodes."""
        end = self._ends[connection]
        message = received.message
        if isinstance(message, Join) and self.endpoints.nick is None:
            self.endpoints.record_join(connection, message)
        if connection in self.unanswered and not isinstance(message, Pick):
            offer = self.unanswered.pop(connection)
            self._offered_counts[connection] = offer.num_cards if isinstance(offer, Offer) else 0
        elif isinstance(message, Pick):
            self.has_picked_past_end |= message.card_num == self._offered_counts.get(connection)
        self._report(self.endpoints.nick or "?", end.node.party, message, received)
        if isinstance(message, Violation):
            self._nodes.add_event(end.node, Malformed(end.peer, message))
        else:
            self._nodes.add_event(end.node, Received(end.peer, message))
        if isinstance(message, Join) and self.starts_game:
            self._nodes.run()
            self._join(self.players[self._seat :])
            if self._late_seconds:
                self._start_listening_late()

    def _start_listening_late(self) -> None:
        task = self._loop.create_task(self.endpoints.start_listening(self.players[self._seat].name, self._late_seconds))
        self._connect_tasks.add(task)
        task.add_done_callback(self._connect_tasks.discard)

    def _report(
        self, sender: Party, receiver: Party, message: Message | Violation, received: ReceivedMessage | None = None
    ) -> None:
        """Report a message to the referee and record the first fault of the program."""
        if not isinstance(message, Status | Standing):  # a waiting player requests it repeatedly
            self.last_activity = self._loop.time()
            self.message_count += 1
        if not isinstance(message, Violation) and self.endpoints.nick is not None:
            self.hand_order.on_message(self.endpoints.nick, sender, receiver, message)
        for verdict in self.referee.on(Sent(sender, receiver, message)):
            if verdict.party == (self.endpoints.nick or "?") and self.failure is None:
                found = verdict.violation
                got = received.data if received is not None else b""
                side: WireRole = "table" if receiver == TABLE else "player"
                cause = likely_spelling(side, received) if received is not None else None
                self.failure = Failed(found.clause, found.found, found.allowed, got=got, cause=cause)
                self.endpoints.end_dialogue(got)
                self.endpoints.activity.set()

    # Our nodes.

    def _perform(self, node: RingNode, effect: Effect[Any]) -> None:
        match effect:
            case Send(peer, message):
                self._send(node.ends[peer], message)
            case Drop(peer):
                self._drop(node.ends[peer])
            case Connect(peer, address):
                self._connect_to(node, peer, address)
            case HandFinished():
                self.finished_at = self._loop.time()
                self.endpoints.activity.set()
            case _:
                pass

    def _send(self, end: ConnectionEnd, message: Message) -> None:
        node, other = end.node, end.remote
        if other is not None:
            self._report(node.party, other.node.party, message)
            if other.is_closed:
                return
            self._nodes.add_event(other.node, Received(other.peer, message))
            return
        self.on_before_send(node, message)
        if end.connection is not None and not (end.is_dropped or end.is_closed):
            self._report(node.party, self._other_party(end), message)
            if isinstance(message, YourTurn | Offer | Pick):
                self.unanswered[end.connection] = message
            end.connection.send(self._wire.encode(message))

    def _other_party(self, end: ConnectionEnd) -> Party:
        """The node or the program at the other end of a connection; nobody has joined on one that was never used."""
        if end.remote is not None:
            return end.remote.node.party
        is_unused = end.node is self.table and end.connection is not None and end.connection.is_unused
        return "?" if is_unused else self.endpoints.nick or "?"

    def _drop(self, end: ConnectionEnd) -> None:
        end.is_dropped = True
        other = self._other_party(end)
        self.referee.on(Disconnected(end.node.party, other))
        if end.connection is not None:
            if end.node is not self.table:
                self.referee.on(Disconnected(other, end.node.party))  # the program will notice, or has
            end.connection.close()
        elif end.remote is not None:
            self._disconnect(end, end.remote)

    def _disconnect(self, *ends: ConnectionEnd) -> None:
        """Process the end of a connection at nodes."""
        for end in ends:
            if end.is_closed:
                continue
            end.is_closed = True
            if not end.is_dropped:
                self.referee.on(Disconnected(end.node.party, self._other_party(end)))
            if end.connection is not None:
                end.connection.close()
            self._nodes.add_event(end.node, Left(end.peer, HUNG_UP))

    def _connect_to(self, node: RingNode, peer: Peer, address: Address) -> None:
        called = next((one for one in self.players if one.address == address), None)
        if called is None:
            task = self._loop.create_task(self._connect_to_program(node, peer, address))
            self._connect_tasks.add(task)
            task.add_done_callback(self._connect_tasks.discard)
        elif called.is_alive:
            self._nodes.connect(node, peer, called)
        else:
            self.referee.on(Disconnected(node.party, called.party))
            self._nodes.add_event(node, Left(peer, "refused"))

    async def _connect_to_program(self, node: RingNode, peer: Peer, address: Address) -> None:
        connection = await self.endpoints.connect(node.name, address, 0.0)
        if not node.is_alive:
            return
        if connection is None:
            self._note_unreachable(address)
            self.referee.on(Disconnected(node.party, self.endpoints.nick or "?"))
            self._nodes.add_event(node, Left(peer, "refused"))
        else:
            end = ConnectionEnd(node, peer, connection=connection)
            node.ends[peer] = self._ends[connection] = end
            self._nodes.add_event(node, Joined(peer, address))
            self._wake()
        self._nodes.run()

    def _note_unreachable(self, address: Address) -> None:
        """Count failed connection attempts: the program may start to listen late, but must do so."""
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
        """Whether the program is in a running game."""
        game, observed = self.referee.game, self.referee.players.get(self.endpoints.nick or "")
        return game is not None and observed is not None and not game.is_over and game.is_inside[observed.seat]

    @property
    def incomplete_messages(self) -> Sequence[bytes]:
        """The messages that the program has begun and not ended."""
        return [connection.incomplete for connection in self._connections]

    @property
    def tolerated(self) -> frozenset[str]:
        """The clauses whose tolerance the program has needed."""
        found = frozenset[str]().union(*(connection.reader.tolerated for connection in self._connections))
        return found | {"oldmaid-7.4"} if self.has_picked_past_end else found

    # The end.

    def kill(self, node: RingNode) -> None:
        """Kill one of our players: its connections end and it stops listening."""
        self._nodes.stop(node)
        self.death_message_count = self.message_count
        self.endpoints.stop_listening(node.name)
        if self.endpoints.nick is not None:
            self.referee.on(Disconnected(self.endpoints.nick, node.party))
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
        """Stop all nodes."""
        for node in (self.table, *self.players):
            self._nodes.stop(node)
        for task in self._connect_tasks:
            task.cancel()
