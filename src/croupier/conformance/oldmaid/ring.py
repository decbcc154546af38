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

from croupier.conformance.oldmaid.answers import Heard, spelt
from croupier.conformance.oldmaid.endpoints import Harbour, Link
from croupier.conformance.oldmaid.findings import Broken
from croupier.conformance.oldmaid.nodes import End, Node
from croupier.core.bots import Random
from croupier.core.dealer import Fair, dealers, derive
from croupier.core.errors import Violation
from croupier.core.referee import HOUSE
from croupier.core.session import (
    Address,
    Call,
    Chose,
    Drop,
    Effect,
    Event,
    Finished,
    Garbled,
    Joined,
    Left,
    Peer,
    Rang,
    Said,
    Say,
)
from croupier.rooms.oldmaid.house import House
from croupier.rooms.oldmaid.player import Player
from croupier.rooms.oldmaid.referee import TABLE, Referee, Verdict
from croupier.rooms.oldmaid.ring.table_client import TABLE as CALLED
from croupier.rooms.oldmaid.ring.table_client import Options
from croupier.rooms.oldmaid.settings import Settings
from croupier.rooms.oldmaid.wire import (
    THROWN,
    Discard,
    Join,
    Message,
    Offer,
    OutOfCards,
    Pick,
    Reply,
    Side,
    Standing,
    Status,
    Wire,
    YourTurn,
)

PAUSE: Final = 0.01
LOOK: Final = 0.1
RETRY: Final = 1.0
"""The seconds that our players take for everything."""

VAIN: Final = 4
"""So often one of ours calls somebody before he counts as gone."""

NAMES: Final = ("ann", "bob", "cyd", "dan", "eve", "fay", "gil")


class Ring:
    """A game of so many, in which the program sits at a seat of its own. `fault` is the first that it has made.

    `finished` says that the table has seen the end of the game, and `moved` is when anything was said last, in seconds.
    `talk` counts all that was said, and `died_at` is what it was when one of ours has died. `owed` are the requests
    that the program has not answered, and `clamped` says that it has picked a card behind the last. `before` is told of
    everything that is about to be said to the program, and may kill somebody.
    """

    def __init__(self, harbour: Harbour, *, players: int, seat: int, seed: int, strict: bool) -> None:
        self.harbour = harbour
        self.referee = Referee(strict=strict)
        self.fault: Broken | None = None
        self.finished = False
        self.moved = asyncio.get_running_loop().time()
        self.talk = 0
        self.died_at: int | None = None
        self.owed: dict[Link, Message] = {}
        self.clamped = False
        self.before: Callable[[Node, Message], None] = lambda *_: None
        self.program: Address | None = None
        self.table: Node
        self.players: list[Node] = []
        self._seed = seed
        self._size = players
        self._seat = seat
        self._luck = Fair(derive(seed, "conform", players)).luck
        self._loop = asyncio.get_running_loop()
        self._wire = Wire("table", dialect=harbour.dialect)
        self._links: list[Link] = []
        self._ends: dict[Link, End] = {}
        self._held: dict[Link, int] = {}
        self._events: deque[tuple[Node, Event[Any]]] = deque()
        self._calls: set[asyncio.Task[None]] = set()
        self._vain = 0
        self._waking = False

    async def open(self) -> Address:
        """Let everybody listen, and those join who sit before the program: where the table is."""
        settings = Settings(players=self._size, join_window=3600.0, dialect=self.harbour.dialect)
        house = House(settings, dealers(lambda game: derive(self._seed, "oldmaid", game)))
        self.table = Node(TABLE, house, await self.harbour.open("table"))
        for number, nick in enumerate(NAMES[: self._size - 1]):
            options = Options(nick, pause=PAUSE, look=LOOK, retry_seconds=RETRY)
            player = Player(options, Fair(derive(self._seed, nick, number)).luck)
            self.players.append(Node(nick, player, await self.harbour.open(nick)))
        self.harbour.arrived = self._arrived
        self.harbour.moved = self._wake
        self._join(self.players[: self._seat])
        return self.table.address

    def _join(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            self._connect(node, CALLED, self.table)
        self._run()

    # The program.

    def _arrived(self, link: Link) -> None:
        """The program has called one of us; when one of us has called it, that is known already."""
        self._links.append(link)
        if link.called:
            return
        node = self.table if link.name == "table" else next(node for node in self.players if node.name == link.name)
        if not node.alive:
            link.close()
            return
        node.called += 1
        end = End(node, node.called, link=link)
        node.ends[node.called] = self._ends[link] = end
        self._events.append((node, Joined(node.called, link.address)))
        self._wake()

    def _wake(self) -> None:
        """What the program says is heard when whatever else it has said before is here, too."""
        if not self._waking:
            self._waking = True
            self._loop.call_soon(self._loop.call_soon, self._go)

    def _go(self) -> None:
        self._waking = False
        links = [link for link in self._ends if link.heard]
        for link in self._fair([link for link in links if not self._ends[link].dropped]):
            while link.heard:
                self._hear(link, link.heard.popleft())
                self._run()
        for link in [link for link in self._ends if link.ended and not link.heard]:
            self._lose(self._ends.pop(link))
        self._run()
        self.harbour.stirred.set()

    def _fair(self, links: list[Link]) -> Sequence[Link]:
        """The links in the order in which what was said on them is nobody's fault, if there is such an order.

        Answers come first: who asks the table because of what he was told has answered that before.
        """
        if len(links) < 2 or self.harbour.me is None:
            return links
        links = sorted(links, key=lambda link: not isinstance(link.heard[0].message, Reply))
        for order in permutations(links[:3]):
            trial = deepcopy(self.referee)
            if not any(self._tried(trial, link) for link in order):
                return [*order, *links[3:]]
        return links

    def _tried(self, referee: Referee, link: Link) -> bool:
        """Whether a referee finds fault with what was said on a link."""
        me, name = self.harbour.me or "", self._ends[link].node.name
        verdicts: list[Verdict] = []
        for heard in link.heard:
            verdicts += referee.heard(me, name, heard.message)
            if name == TABLE and isinstance(heard.message, OutOfCards | Discard):
                verdicts += referee.heard(TABLE, me, THROWN if isinstance(heard.message, Discard) else Reply("ok"))
        return any(verdict.nick == me for verdict in verdicts)

    def _hear(self, link: Link, heard: Heard) -> None:
        """The program says something to one of us."""
        end = self._ends[link]
        message = heard.message
        if isinstance(message, Join) and self.harbour.me is None:
            self.harbour.me = message.nick
            self.program = (link.address[0], message.port or link.address[1])
        if link in self.owed and not isinstance(message, Pick):
            offer = self.owed.pop(link)
            self._held[link] = offer.num_cards if isinstance(offer, Offer) else 0
        elif isinstance(message, Pick):
            self.clamped |= message.card_num == self._held.get(link)
        self._tell(self.harbour.me or "?", end.node.name, message, heard)
        if isinstance(message, Violation):
            self._events.append((end.node, Garbled(end.number, message)))
        else:
            self._events.append((end.node, Said(end.number, message)))
        if isinstance(message, Join):
            self._run()
            self._join(self.players[self._seat :])

    def _lose(self, end: End) -> None:
        """The program has hung up on one of us."""
        if not end.parted:
            end.parted = True
            if not end.dropped:
                self.referee.lost(end.node.name, self.harbour.me or "?")
            if end.link is not None:
                end.link.close()
            self._events.append((end.node, Left(end.number, "hung up")))

    def _tell(self, sender: str, receiver: str, said: Message | Violation, heard: Heard | None = None) -> None:
        """Let the referee hear something; what is wrong with the program is its first fault."""
        if not isinstance(said, Status | Standing):  # who waits asks for it again and again
            self.moved = self._loop.time()
            self.talk += 1
        for verdict in self.referee.heard(sender, receiver, said):
            if verdict.nick == self.harbour.me and self.fault is None:
                found = verdict.violation
                got = heard.data if heard is not None else b""
                side: Side = "table" if receiver == TABLE else "player"
                cause = spelt(side, heard) if heard is not None else ""
                self.fault = Broken(found.clause, found.found, found.allowed, got=got, cause=cause)
                self.harbour.sealed = True
                self.harbour.stirred.set()

    # Ours.

    def _connect(self, caller: Node, number: Peer, called: Node) -> None:
        called.called += 1
        here, there = End(caller, number), End(called, called.called)
        here.other, there.other = there, here
        caller.ends[number], called.ends[called.called] = here, there
        self._events.append((called, Joined(called.called, caller.address)))
        self._events.append((caller, Joined(number, called.address)))

    def _run(self) -> None:
        """Let everything happen that is due, one thing after another."""
        while self._events:
            node, event = self._events.popleft()
            if isinstance(event, Left):
                node.ends.pop(event.peer, None)
            if node.alive:
                self._on(node, event)

    def _on(self, node: Node, event: Event[Any]) -> None:
        for effect in node.session.on(event, self._loop.time()):
            if node.alive:
                self._do(node, effect)
        player = node.session
        if isinstance(player, Player) and (pick := player.decide(Random(), self._luck)) is not None:
            self._events.appendleft((node, Chose(pick)))
        self._arm(node)

    def _arm(self, node: Node) -> None:
        if node.timer is not None:
            node.timer.cancel()
        alarm = node.session.alarm
        node.timer = None if alarm is None or not node.alive else self._loop.call_at(alarm, self._rang, node)

    def _rang(self, node: Node) -> None:
        node.timer = None
        self._events.append((node, Rang()))
        self._run()

    def _do(self, node: Node, effect: Effect[Any]) -> None:
        match effect:
            case Say(peer, message):
                self._say(node.ends[peer], message)
            case Drop(peer):
                self._drop(node.ends[peer])
            case Call(peer, address):
                self._call(node, peer, address)
            case Finished():
                self.finished = True
                self.harbour.stirred.set()
            case _:
                pass

    def _say(self, end: End, message: Message) -> None:
        node, other = end.node, end.other
        if other is not None:
            self._tell(node.name, other.node.name, message)
            if other.parted:
                return
            self._events.append((other.node, Said(other.number, message)))
            return
        self.before(node, message)
        if end.link is not None and not (end.dropped or end.parted):
            self._tell(node.name, self.harbour.me or "?", message)
            if isinstance(message, YourTurn | Offer | Pick):
                self.owed[end.link] = message
            end.link.say(self._wire.encode(message))

    def _drop(self, end: End) -> None:
        end.dropped = True
        name = end.other.node.name if end.other is not None else self.harbour.me or "?"
        self.referee.lost(end.node.name, name)
        if end.link is not None:
            if end.node is not self.table:
                self.referee.lost(name, end.node.name)  # it will notice it, or has
            end.link.close()
        elif end.other is not None:
            self._part(end, end.other)

    def _part(self, *ends: End) -> None:
        """Two of ours are not connected any more."""
        for end in ends:
            if not end.parted:
                end.parted = True
                if not end.dropped and end.other is not None:
                    self.referee.lost(end.node.name, end.other.node.name)
                self._events.append((end.node, Left(end.number, "hung up")))

    def _call(self, node: Node, peer: Peer, address: Address) -> None:
        called = next((one for one in self.players if one.address == address), None)
        if called is None:
            call = self._loop.create_task(self._call_program(node, peer, address))
            self._calls.add(call)
            call.add_done_callback(self._calls.discard)
        elif called.alive:
            self._connect(node, peer, called)
        else:
            self.referee.lost(node.name, called.name)
            self._events.append((node, Left(peer, "refused")))

    async def _call_program(self, node: Node, peer: Peer, address: Address) -> None:
        link = await self.harbour.call(node.name, address, 0.0)
        if not node.alive:
            return
        if link is None:
            self._unreached(address)
            self.referee.lost(node.name, self.harbour.me or "?")
            self._events.append((node, Left(peer, "refused")))
        else:
            end = End(node, peer, link=link)
            node.ends[peer] = self._ends[link] = end
            self._events.append((node, Joined(peer, address)))
            self._wake()
        self._run()

    def _unreached(self, address: Address) -> None:
        """The program does not answer where the table lists it; it may not listen yet, but it has to at last."""
        self._vain += 1
        if self._vain >= VAIN and self.inside and not self.referee.torn and self.fault is None:
            self.fault = Broken("oldmaid-3.17", f"nobody listens at {address[0]} {address[1]}", "the right neighbour")
            self.harbour.stirred.set()

    @property
    def inside(self) -> bool:
        """Whether the program is in a game that is played."""
        game, known = self.referee.game, self.referee.players.get(self.harbour.me or "")
        return game is not None and known is not None and not game.over and game.inside[known.seat]

    @property
    def departures(self) -> frozenset[str]:
        """The clauses whose tolerance the program has needed."""
        found = frozenset[str]().union(*(link.ear.departures for link in self._links))
        return found | {"oldmaid-7.4"} if self.clamped else found

    # The end.

    def kill(self, node: Node) -> None:
        """One of our players dies: his connections end, and he does not listen any more."""
        node.alive = False
        self.died_at = self.talk
        self._arm(node)
        self.harbour.shut(node.name)
        if self.harbour.me is not None:
            self.referee.lost(self.harbour.me, node.name)
        for end in node.ends.values():
            end.parted = True
            if end.link is not None:
                self._ends.pop(end.link, None)
                self.harbour.note(HOUSE, end.link, b"")
                end.link.close()
            elif end.other is not None:
                end.dropped = True
                self._part(end.other)

    def close(self) -> None:
        """Nothing happens any more."""
        for node in (self.table, *self.players):
            node.alive = False
            self._arm(node)
        for call in self._calls:
            call.cancel()
