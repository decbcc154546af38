"""A simulated network of Old Maid: the real table and real players in memory, with bytes and a virtual clock.

Each end of a connection has a queue; a scheduler chooses the connection that delivers next. The clock advances
only when no message is in transit, to the next deadline.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from croupier.core.bots import RandomBot
from croupier.core.cards import Order
from croupier.core.dealer import FairDealer, Luck, dealer_factory, derive_server_seed
from croupier.core.errors import Violation
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
    Notify,
    Observer,
    Peer,
    Received,
    Send,
    Session,
    Submitted,
    TimedOut,
)
from croupier.rooms.oldmaid.house import House
from croupier.rooms.oldmaid.player import Player
from croupier.rooms.oldmaid.ring.player_events import CardDrawn, CardGiven, CardPicked, OfferMade, PlayerEvent
from croupier.rooms.oldmaid.ring.table_client import TABLE, Options
from croupier.rooms.oldmaid.settings import Settings
from croupier.rooms.oldmaid.table.game import TableGame
from croupier.rooms.oldmaid.wire import Message, Pick, Wire

PAUSE_SECONDS: Final = 0.1
POLL_SECONDS: Final = 0.5
RETRY_SECONDS: Final = 1.0
"""The players' timing options, in seconds."""

type Scheduler = Callable[[int], int]
"""Chooses the index of the connection that delivers next."""


def in_order(_: int) -> int:
    """Deliver in the order of sending."""
    return 0


def random_order(luck: Luck) -> Scheduler:
    """Deliver on a random connection; the order within a connection is kept."""
    return luck.below


@dataclass(eq=False)
class Connection:
    """One end of a connection. `incoming` is the data in transit to it; None is the end of the stream."""

    node: "Node"
    number: Peer
    codec: Wire
    other: "Connection" = field(init=False, repr=False)
    incoming: deque[Message | bytes | None] = field(default_factory=deque)
    dropped: bool = False


@dataclass(eq=False)
class Node:
    """A process with a session: the table or a player. A bot picks for a player, unless it is a `person`."""

    name: str
    session: Session[Message, Message | PlayerEvent]
    person: Observer | None = None
    connections: dict[Peer, Connection] = field(default_factory=dict)
    alive: bool = True
    called: int = 0
    events: list[tuple[float, PlayerEvent | Violation | Left]] = field(default_factory=list)

    @property
    def player(self) -> Player:
        assert isinstance(self.session, Player), f"{self.name} is no player"
        return self.session


class Network:
    """A table and players, each with its own address, which join in turn and play one game.

    `finished` has the games that are over, and `over` is when the last one ended, in seconds. Games without any
    action for `stuck` seconds are void. With `decks` the table deals these. Without `wires`, message objects are passed
    on without encoding, which takes half the time and is sufficient where bytes do not matter. `people` are the players
    that pick when `pick` is called, each with an observer.
    """

    def __init__(
        self,
        players: int,
        seed: int = 1,
        *,
        choose: Scheduler = in_order,
        stuck: float = 120.0,
        wires: bool = True,
        decks: Sequence[Order] = (),
        people: Mapping[str, Observer] | None = None,
    ) -> None:
        self.now = 0.0
        self.finished: list[TableGame] = []
        self.over = 0.0
        self._choose = choose
        self._wires = wires
        self._in_transit: list[Connection] = []  # connections with data in transit, in the order of sending
        self._luck = FairDealer(derive_server_seed(seed, "oldmaid", 0)).luck
        house = House(
            Settings(players=players, stuck_seconds=stuck),
            dealer_factory(lambda game: derive_server_seed(seed, "oldmaid", game), decks=decks),
        )
        self.table = Node("table", house)
        self.players = [
            Node(
                nick,
                Player(
                    Options(nick, pause=PAUSE_SECONDS, poll_seconds=POLL_SECONDS, retry_seconds=RETRY_SECONDS),
                    FairDealer(derive_server_seed(seed, nick, 1)).luck,
                ),
                (people or {}).get(nick),
            )
            for nick in ("ann", "bob", "cyd", "dan", "eve", "fay", "gil", "hal")[:players]
        ]
        self._addresses: dict[Address, Node] = {}
        for number, node in enumerate(self.players, start=1):
            self._addresses["192.0.2.1", 40000 + number] = node
        for address, node in self._addresses.items():
            self._connect(node, TABLE, self.table, address)

    # Events.

    def run(self, limit: float = 600.0) -> None:
        """Run until all living players have finished. Raises AssertionError if one still waits at the limit."""
        for _ in self.walk(limit):
            pass

    def walk(self, limit: float = 600.0) -> Iterator[tuple[Connection, bool]]:
        """Run in steps: yield each connection before (False) and after (True) a delivery."""
        while True:
            if self._in_transit:
                connection = self._in_transit[self._choose(len(self._in_transit))]
                yield connection, False
                if connection in self._in_transit:  # the caller may have killed a node
                    self._in_transit.remove(connection)
                    self._arrive(connection)
                    yield connection, True
            elif all(node.player.is_exhausted for node in self.players if node.alive) or not self._wait(limit):
                return

    def kill(self, node: Node) -> None:
        """Kill a process. Data that it has sent still arrives, followed by the end of its connections."""
        node.alive = False
        for connection in [*node.connections.values()]:
            self._send(connection.other, None)
            self._forget(connection)

    def pick(self, node: Node, pick: Pick) -> None:
        """Pick a card as a person."""
        self._on(node, Submitted(pick))

    def _wait(self, limit: float) -> bool:
        """Advance to the next deadline. There is none if a single player waits for others (oldmaid-3.11)."""
        deadlines = [
            (node.session.deadline, number)
            for number, node in enumerate((self.table, *self.players))
            if node.alive and node.session.deadline is not None
        ]
        if not deadlines:
            alive = [node.player for node in self.players if node.alive]
            assert [player.seat for player in alive] == [None], f"no deadline is left: {self.describe_results()}"
            return False
        deadline, number = min(deadlines)
        assert deadline <= limit, f"at {deadline} seconds a player still waits: {self.describe_results()}"
        self.now = max(self.now, deadline)
        node = (self.table, *self.players)[number]
        self._on(node, TimedOut())
        assert node.session.deadline is None or node.session.deadline > self.now, (
            f"the deadline of {node.name} does not move"
        )
        return True

    def describe_results(self) -> str:
        """The results of all players, for assertion messages."""
        return "; ".join(f"{node.name}: {node.player.result if node.alive else 'dead'}" for node in self.players)

    # Connections.

    def _connect(self, caller: Node, number: Peer, called: Node, address: Address) -> None:
        called.called += 1
        here = Connection(caller, number, Wire("player"))
        there = Connection(called, called.called, Wire("table" if called is self.table else "player"))
        here.other, there.other = there, here
        caller.connections[number], called.connections[called.called] = here, there
        self._on(called, Joined(called.called, address))
        self._on(caller, Joined(number, address))

    def _send(self, connection: Connection, data: Message | bytes | None) -> None:
        if connection.node.connections.get(connection.number) is connection:
            connection.incoming.append(data)
            self._in_transit.append(connection)

    def _forget(self, connection: Connection) -> None:
        connection.node.connections.pop(connection.number, None)
        self._in_transit = [busy for busy in self._in_transit if busy is not connection]

    def _arrive(self, connection: Connection) -> None:
        data = connection.incoming.popleft()
        if data is None:
            self._forget(connection)
            if not connection.dropped:
                self._send(connection.other, None)
            self._on(connection.node, Left(connection.number, "hung up"))
            return
        messages = connection.codec.feed(data) if isinstance(data, bytes) else (data,)
        for message in () if connection.dropped else messages:
            garbled = isinstance(message, Violation)
            self._on(
                connection.node,
                Malformed(connection.number, message) if garbled else Received(connection.number, message),
            )

    # Sessions.

    def _on(self, node: Node, event: Event[Message]) -> None:
        effects = node.session.on(event, self.now)
        if node.person is not None:
            node.person(event, effects, self.now)
        for effect in effects:
            self._perform(node, effect)
        if node is self.table or node.person is not None:
            return
        if (pick := node.player.decide(RandomBot(), self._luck)) is not None:
            self._on(node, Submitted(pick))

    def _perform(self, node: Node, effect: Effect[Message | PlayerEvent]) -> None:
        match effect:
            case Send(peer, message):
                connection = node.connections[peer]
                assert not connection.dropped, f"{node.name} sends {message} on a dropped connection"
                self._send(connection.other, connection.codec.encode(message) if self._wires else message)
            case Drop(peer):
                connection = node.connections[peer]
                connection.dropped = True
                self._send(connection.other, None)
            case Connect(peer, address):
                called = self._addresses[address]
                if called.alive:
                    self._connect(node, peer, called, address)
                else:
                    self._on(node, Left(peer, "refused"))
            case HandFinished(_, _, game):
                assert isinstance(game, TableGame)
                self.finished.append(game)
                self.over = self.now
            case Notify(event):
                node.events.append((self.now, event))
            case _:
                pass  # the commitments of the dealer

    # Results.

    @property
    def game(self) -> TableGame:
        """The only game. Raises AssertionError if there is not exactly one."""
        assert len(self.finished) == 1, f"there were {len(self.finished)} games"
        return self.finished[0]

    @property
    def ranking(self) -> Sequence[str]:
        """The nicks from the winner to the loser by the table; empty for a void game."""
        return [self.game.nicks[seat] for seat in self.game.ranking]

    @property
    def last_move_at(self) -> float:
        """The time of the last offer or card of a living player, in seconds; 0 if there is none."""
        moves = (CardDrawn, OfferMade, CardGiven, CardPicked)
        timed_events = (timed for node in self.players if node.alive for timed in node.events)
        return max((at for at, event in timed_events if isinstance(event, moves)), default=0.0)
