"""A whole ring of Old Maid in memory: the real table and real players, their bytes, and a time of its own.

Whoever sends something puts it into the line to the other end; a scheduler decides which line goes on next. Time passes
only when nothing is under way: then it jumps to the next alarm.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from croupier.core.bots import RandomBot
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
from croupier.rooms.oldmaid.wire import Message, Wire

PAUSE: Final = 0.1
LOOK: Final = 0.5
RETRY: Final = 1.0
"""The seconds that players take for everything."""

type Choice = Callable[[int], int]
"""Which of so many lines goes on next."""


def in_order(_: int) -> int:
    """What was sent first arrives first."""
    return 0


def jumbled(luck: Luck) -> Choice:
    """Any line may be the next one; what is on one line stays in its order."""
    return luck.below


@dataclass(eq=False)
class Line:
    """One end of a connection. `coming` is what is under way to it; None is the end of the talk."""

    node: "Node"
    number: Peer
    codec: Wire
    other: "Line" = field(init=False, repr=False)
    coming: deque[Message | bytes | None] = field(default_factory=deque)
    dropped: bool = False


@dataclass(eq=False)
class Node:
    """Somebody with a session: the table or a player."""

    name: str
    session: Session[Message, Message | PlayerEvent]
    lines: dict[Peer, Line] = field(default_factory=dict)
    alive: bool = True
    called: int = 0
    news: list[tuple[float, PlayerEvent | Violation | Left]] = field(default_factory=list)

    @property
    def player(self) -> Player:
        assert isinstance(self.session, Player), f"{self.name} is no player"
        return self.session


class Network:
    """A table and players, each at an address of his own, who all join in turn and play one game.

    `finished` has the games that are over, and `over` is when the last of them was, in seconds. Games in which nothing
    is thrown away for `stuck` seconds are void. Without `wires` messages go from one to the other as they are: that is
    as good where nothing depends on bytes, and takes half the time.
    """

    def __init__(
        self, players: int, seed: int = 1, *, choose: Choice = in_order, stuck: float = 120.0, wires: bool = True
    ) -> None:
        self.now = 0.0
        self.finished: list[TableGame] = []
        self.over = 0.0
        self._choose = choose
        self._wires = wires
        self._busy: list[Line] = []  # with something under way, in the order in which it was sent
        self._luck = FairDealer(derive_server_seed(seed, "oldmaid", 0)).luck
        house = House(
            Settings(players=players, stuck_seconds=stuck),
            dealer_factory(lambda game: derive_server_seed(seed, "oldmaid", game)),
        )
        self.table = Node("table", house)
        self.players = [
            Node(
                nick,
                Player(
                    Options(nick, pause=PAUSE, poll_seconds=LOOK, retry_seconds=RETRY),
                    FairDealer(derive_server_seed(seed, nick, 1)).luck,
                ),
            )
            for nick in ("ann", "bob", "cyd", "dan", "eve", "fay", "gil", "hal")[:players]
        ]
        self._addresses: dict[Address, Node] = {}
        for number, node in enumerate(self.players, start=1):
            self._addresses["192.0.2.1", 40000 + number] = node
        for address, node in self._addresses.items():
            self._connect(node, TABLE, self.table, address)

    # What happens.

    def run(self, limit: float = 600.0) -> None:
        """Go on until every player that is alive has hung up. AssertionError when somebody still waits by then."""
        for _ in self.walk(limit):
            pass

    def walk(self, limit: float = 600.0) -> Iterator[tuple[Line, bool]]:
        """Go on step by step: yields each line before what is under way on it arrives, and (True) when it has."""
        while True:
            if self._busy:
                line = self._busy[self._choose(len(self._busy))]
                yield line, False
                if line in self._busy:  # whoever looks on may have killed somebody
                    self._busy.remove(line)
                    self._arrive(line)
                    yield line, True
            elif all(node.player.is_exhausted for node in self.players if node.alive) or not self._wait(limit):
                return

    def kill(self, node: Node) -> None:
        """A process ends. What it has said still arrives, and then the end of its connections."""
        node.alive = False
        for line in [*node.lines.values()]:
            self._send(line.other, None)
            self._forget(line)

    def _wait(self, limit: float) -> bool:
        """Let the next alarm ring. There may be none where a single player waits for others (oldmaid-3.11)."""
        alarms = [
            (node.session.deadline, number)
            for number, node in enumerate((self.table, *self.players))
            if node.alive and node.session.deadline is not None
        ]
        if not alarms:
            alive = [node.player for node in self.players if node.alive]
            assert [player.seat for player in alive] == [None], f"nobody has anything to do any more: {self.told()}"
            return False
        alarm, number = min(alarms)
        assert alarm <= limit, f"at {alarm} seconds somebody still waits: {self.told()}"
        self.now = max(self.now, alarm)
        node = (self.table, *self.players)[number]
        self._on(node, TimedOut())
        assert node.session.deadline is None or node.session.deadline > self.now, (
            f"the alarm of {node.name} rings in vain"
        )
        return True

    def told(self) -> str:
        """How it stands with everybody, for people."""
        return "; ".join(f"{node.name}: {node.player.result if node.alive else 'dead'}" for node in self.players)

    # Lines.

    def _connect(self, caller: Node, number: Peer, called: Node, address: Address) -> None:
        called.called += 1
        here = Line(caller, number, Wire("player"))
        there = Line(called, called.called, Wire("table" if called is self.table else "player"))
        here.other, there.other = there, here
        caller.lines[number], called.lines[called.called] = here, there
        self._on(called, Joined(called.called, address))
        self._on(caller, Joined(number, address))

    def _send(self, line: Line, data: Message | bytes | None) -> None:
        if line.node.lines.get(line.number) is line:
            line.coming.append(data)
            self._busy.append(line)

    def _forget(self, line: Line) -> None:
        line.node.lines.pop(line.number, None)
        self._busy = [busy for busy in self._busy if busy is not line]

    def _arrive(self, line: Line) -> None:
        data = line.coming.popleft()
        if data is None:
            self._forget(line)
            if not line.dropped:
                self._send(line.other, None)
            self._on(line.node, Left(line.number, "hung up"))
            return
        messages = line.codec.feed(data) if isinstance(data, bytes) else (data,)
        for message in () if line.dropped else messages:
            garbled = isinstance(message, Violation)
            self._on(line.node, Malformed(line.number, message) if garbled else Received(line.number, message))

    # Sessions.

    def _on(self, node: Node, event: Event[Message]) -> None:
        for effect in node.session.on(event, self.now):
            self._do(node, effect)
        if node is not self.table and (pick := node.player.decide(RandomBot(), self._luck)) is not None:
            self._on(node, Submitted(pick))

    def _do(self, node: Node, effect: Effect[Message | PlayerEvent]) -> None:
        match effect:
            case Send(peer, message):
                line = node.lines[peer]
                assert not line.dropped, f"{node.name} says {message} to whom it has dropped"
                self._send(line.other, line.codec.encode(message) if self._wires else message)
            case Drop(peer):
                line = node.lines[peer]
                line.dropped = True
                self._send(line.other, None)
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
            case Notify(news):
                node.news.append((self.now, news))
            case _:
                pass  # what the dealer promises

    # What has come of it.

    @property
    def game(self) -> TableGame:
        """The game that was played. AssertionError when there was none, or more."""
        assert len(self.finished) == 1, f"there were {len(self.finished)} games"
        return self.finished[0]

    @property
    def ranking(self) -> Sequence[str]:
        """The nicks from the winner to the loser, as the table has them; nobody when the game was void."""
        return [self.game.nicks[seat] for seat in self.game.ranking]

    @property
    def moved(self) -> float:
        """When somebody who is still alive has last offered, given or taken a card, in seconds; 0 if nobody has."""
        moves = (CardDrawn, OfferMade, CardGiven, CardPicked)
        heard = (heard for node in self.players if node.alive for heard in node.news)
        return max((at for at, news in heard if isinstance(news, moves)), default=0.0)
