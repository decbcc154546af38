"""Overhears the connections of players of Old Maid to their table, and judges what they show of both ends.

What the players say to each other does not pass there: nobody can tell from it who holds what, or whose turn it is.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.json import decode, encode

from croupier.conformance.conversation import MOST as KEPT
from croupier.conformance.conversation import Fault
from croupier.conformance.proxy.connection_log import Account
from croupier.conformance.proxy.follow_tables import Traffic
from croupier.conformance.tap.connection import News, Opened, Passage
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.session import Address, Peer
from croupier.rooms.oldmaid.referee import TABLE, Referee, Verdict
from croupier.rooms.oldmaid.wire import Dialect, Join, Message, Reply, Request, Seated, Standing, Wire

HIDDEN: Final = frozenset({"oldmaid-4.3", "oldmaid-5.7", "oldmaid-5.11", "oldmaid-7.12"})
"""These clauses are about turns and hands, of which a table is not told."""

MOST: Final = 1000
"""With so many requests that are not answered yet nothing is followed any more."""


class Spoken(Struct, frozen=True):
    """A message, or a Violation where it is none, as it was spelt."""

    message: Message | Violation
    data: bytes

    def __str__(self) -> str:
        return self.data.strip().decode(errors="backslashreplace")


class Game:
    """One game whose players all come through the relay, and the referee who hears them."""

    def __init__(self, listed: tuple[Seated, ...], *, strict: bool) -> None:
        self.listed = listed
        self.referee: Referee | None = Referee(strict=strict)
        self.traffic = Traffic()
        self.counted = False

    def heard(self, sender: str, receiver: str, said: Message | Violation, *, sure: bool = True) -> Sequence[Verdict]:
        """Something is said. A table is not blamed where others have asked it for something at the same time."""
        if self.referee is None:
            return ()
        found = self.referee.heard(sender, receiver, said)
        if not sure and any(verdict.nick == TABLE for verdict in found):
            self.referee = None
            return ()
        return found

    def lost(self, nick: str) -> None:
        """The table has no connection to somebody any more."""
        if self.traffic.pending:
            self.referee = None  # whatever is on its way may have come before that, or behind it
        elif self.referee is not None:
            self.referee.lost(TABLE, nick)

    def ended(self) -> bool:
        """Whether it has ended since the last time."""
        over = self.referee is not None and self.referee.game is not None and self.referee.game.over
        before, self.counted = self.counted, self.counted or over
        return over and not before


class Parlour:
    """All connections to one table, and the games that are played there."""

    def __init__(self, dialect: Dialect = "document", *, strict: bool = False, patience: float = 5.0) -> None:
        self.dialect = dialect
        self.strict = strict
        self.patience = patience
        self.links: list[Link] = []
        self._games: list[Game] = []

    def link(self) -> "Link":
        """A new connection."""
        found = Link(self)
        self.links.append(found)
        return found

    def hear(self, news: News) -> None:
        """Take in where a client has come from."""
        link = news.passage.conversation
        if isinstance(news, Opened) and isinstance(link, Link):
            link.address = news.passage.address

    def address(self, nick: str) -> Address | None:
        """Where a player accepts others; None where he does not come through the relay."""
        link = next((each for each in self.links if each.joins is not None and each.joins.nick == nick), None)
        if link is None or link.joins is None or link.address is None:
            return None
        return link.address[0], link.joins.port or link.address[1]

    def game(self, listed: tuple[Seated, ...]) -> Game | None:
        """The game that begins with a list; None if not all of its players come through the relay."""
        found = next((game for game in self._games if game.listed == listed), None)
        if found is None:
            if any(self.address(nick) is None for _, nick in listed):
                return None
            found = Game(listed, strict=self.strict)
            self._forget()
            self._games.append(found)
        return found

    def left(self, link: "Link") -> None:
        """A connection is over."""
        self.links.remove(link)
        self._forget()

    def _forget(self) -> None:
        """Forget the games that nobody is in any more."""
        playing = [each.game for each in self.links]
        self._games = [game for game in self._games if game in playing]


class _Pending(Struct):
    """A request that the table has not answered yet."""

    request: Request | None
    at: float
    seen: int | None = None
    open: bool = False


class Link(Account):
    """One player's connection to the table. `joins` is with what he has joined, None before that."""

    def __init__(self, parlour: Parlour) -> None:
        super().__init__(strict=parlour.strict)
        self.address: Address | None = None
        self.joins: Join | None = None
        self.game: Game | None = None
        self._nick = ""  # with which it plays that game
        self._parlour = parlour
        self._ears = {
            CLIENT: Wire("table", strict=parlour.strict, dialect=parlour.dialect),
            HOUSE: Wire("player", strict=parlour.strict, dialect=parlour.dialect),
        }
        self._rest = {side: bytearray() for side in (CLIENT, HOUSE)}
        self._unsent = bytearray()
        self._passed = bytearray()
        self._pending: deque[_Pending] = deque()
        self._farewell = False
        self._told = False
        self._quiet = False
        self._over = False

    @property
    def alarm(self) -> float | None:
        """When a silence of the table becomes a fault: not while a game has not begun."""
        if self._over or self._quiet or self._told or not self._pending:
            return None
        first = self._pending[0]
        return None if isinstance(first.request, Join) else first.at + self._parlour.patience

    @property
    def _waits(self) -> bool:
        """Whether the list may come."""
        return not self._over and bool(self._pending) and isinstance(self._pending[0].request, Join)

    # What is said.

    def heard(self, side: Peer, data: bytes, now: float) -> Sequence[Fault]:
        """One end has sent these bytes."""
        before = len(self.faults)
        rest = self._rest[side]
        for at in range(len(data)):
            byte = data[at : at + 1]
            if len(rest) < KEPT:
                rest += byte
            if side == HOUSE:
                self._unsent += byte
            # A value is ended by the bracket of the next one, which does not belong to it.
            for message in self._ears[side].feed(byte):
                ends = not isinstance(message, Violation) or rest[-1:] not in b"{["
                spelt = bytes(rest if ends else rest[:-1])
                del rest[: len(spelt)]
                if side == HOUSE:
                    self._place(message)
                self.say(side, Spoken(message, spelt), now)
                if not self._over:
                    (self._asks if side == CLIENT else self._answers)(message, now)
        if side == HOUSE and not self._waits:
            self._passed += self._unsent
            self._unsent.clear()
        for clause in self._ears[side].departures - self._departures[side]:
            self._departures[side].add(clause)
        return self.since(before)

    def _asks(self, message: Message | Violation, now: float) -> None:
        if isinstance(message, Reply | Standing):
            return  # swallowed (oldmaid-2.11)
        pending = _Pending(None if isinstance(message, Violation) else message, now)
        if self.game is not None:
            self._blame(self.game.heard(self._nick, TABLE, message))
            pending.seen, pending.open = self.game.traffic.asks(change=True), True
        elif isinstance(message, Violation):
            self.blame(CLIENT, message)
        if isinstance(message, Join):
            self.joins = message
        self._pending.append(pending)
        if len(self._pending) > MOST:
            self._end()

    def _answers(self, message: Message | Violation, now: float) -> None:
        self._told = False
        self._farewell = not self._pending or (isinstance(message, Reply) and message.result == "error")
        if not self._pending:
            self._unasked(message)
            return
        pending = self._pending.popleft()
        if self._pending:
            self._pending[0].at = now
        sure = True
        if self.game is not None and pending.open:
            # What the table was asked on this connection alone has come in this order for certain.
            sure = self.game.traffic.answered(pending.seen, change=True)
        match pending.request, message:
            case Join() as join, Reply("ok", players=tuple(listed)):
                self._sits(join, listed)
            case Join(), Reply("error") if self.game is None:
                self.joins = None
        if self.game is not None:
            self._blame(self.game.heard(TABLE, self._nick, message, sure=sure))
            self.games += self.game.ended()
        elif isinstance(message, Violation):
            self.blame(HOUSE, message)

    def _sits(self, join: Join, listed: Sequence[Seated]) -> None:
        """A game begins: what was asked meanwhile belongs to it."""
        self.game = self._parlour.game(tuple(listed))
        if self.game is None:
            return
        self._nick = join.nick
        self.game.heard(join.nick, TABLE, join)
        for pending in self._pending:
            if pending.request is not None:
                self._blame(self.game.heard(join.nick, TABLE, pending.request))
            pending.seen, pending.open = self.game.traffic.asks(change=True), True

    def _unasked(self, message: Message | Violation) -> None:
        """The table speaks of its own: that is an error, before the end (oldmaid-1.8)."""
        if self.game is not None:
            self._blame(self.game.heard(TABLE, self._nick, message))
        elif not (isinstance(message, Reply) and message.result == "error"):
            self.blame(HOUSE, Violation("oldmaid-1.8", f"{message}", "an answer, or an error before the end"))

    def _blame(self, found: Iterable[Verdict]) -> None:
        for verdict in found:
            if verdict.nick == TABLE:
                self.blame(HOUSE, verdict.violation)
            elif verdict.nick == self._nick and verdict.violation.clause not in HIDDEN:
                self.blame(CLIENT, verdict.violation)

    # The end, and silence.

    def ceased(self, side: Peer, now: float) -> Sequence[Fault]:
        """One end says no more."""
        if side == CLIENT:
            self._quiet = True
            self._gone()
            return ()
        return self.left(HOUSE, now)

    def left(self, side: Peer, now: float) -> Sequence[Fault]:  # noqa: ARG002 -- as every dialogue
        """One end is gone."""
        before = len(self.faults)
        if side == HOUSE and not (self._over or self._quiet or self._farewell) and self._pending:
            first = self._pending[0].request
            found = f"the end of the conversation instead of an answer to {first}"
            self.blame(HOUSE, Violation("oldmaid-1.8", found, "an answer, or an error before the end"))
        if side == HOUSE:
            self._passed += self._unsent
        self._gone()
        self._end()
        return self.since(before)

    def _gone(self) -> None:
        """The table has lost the player; whatever it still says to him is nobody's fault."""
        if self.game is not None and not self._over:
            self._settle()
            self.game.lost(self._nick)
            self._over = True

    def _settle(self) -> None:
        """What is not answered yet will not be."""
        for pending in self._pending:
            if self.game is not None and pending.open:
                self.game.traffic.answered(pending.seen, change=True)
        self._pending.clear()

    def _end(self) -> None:
        """Nothing more is followed on this connection."""
        self._settle()
        self._over = True
        if self in self._parlour.links:
            self._parlour.left(self)

    def rang(self, now: float) -> Sequence[Fault]:
        """The alarm has rung."""
        before = len(self.faults)
        if self.alarm is not None and self.alarm <= now:
            self._told = True
            self.blame(HOUSE, Violation("oldmaid-1.4", "silence", f"an answer to {self._pending[0].request}"))
        return self.since(before)

    def rest(self, side: Peer) -> bytes:
        """What one end has sent behind its last message."""
        return bytes(self._rest[side]).strip()

    # The list.

    def passed(self) -> bytes:
        """What is to be passed on of what the table has said since the last time.

        In its list everybody is where he is really to be found: the table knows the relay instead. While one is
        expected, nothing is passed on but whole messages.
        """
        passed, self._passed = bytes(self._passed), bytearray()
        return passed

    def _place(self, message: Message | Violation) -> None:
        """A whole message of the table leaves."""
        data = bytes(self._unsent)
        self._unsent.clear()
        if isinstance(message, Reply) and message.players is not None:
            data = _placed(data, self._parlour)
        self._passed += data


def _placed(data: bytes, parlour: Parlour) -> bytes:
    """A list with the addresses of those who come through the relay."""
    told: dict[str, Any] = decode(data)
    players = told["players"]
    changed = False
    for place, nick in players.values() if isinstance(players, dict) else players:
        if address := parlour.address(nick):
            place[:] = address
            changed = True
    return encode(told) if changed else data


def reworded(passage: Passage, data: bytes) -> bytes:
    """What a player is told instead of what his table says."""
    link = passage.conversation
    return link.passed() if isinstance(link, Link) else data
