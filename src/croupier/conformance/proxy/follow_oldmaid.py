"""Overhears the connections of players of Old Maid to their table, and judges what they show of both ends.

What the players say to each other does not pass there: nobody can tell from it who holds what, or whose turn it is.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.json import decode, encode

from croupier.conformance.conversation import MAX_UNREAD_BYTES as KEPT
from croupier.conformance.conversation import Fault
from croupier.conformance.proxy.connection_log import ConnectionLog
from croupier.conformance.proxy.follow_tables import RequestTraffic
from croupier.conformance.tap.connection import ConnectionOpened, TapEvent, TappedConnection
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.session import Address, Peer
from croupier.rooms.oldmaid.referee import TABLE, PlayerVerdict, Referee
from croupier.rooms.oldmaid.wire import Dialect, Join, ListedPlayer, Message, Reply, Request, Standing, Wire

UNOBSERVABLE_CLAUSES: Final = frozenset({"oldmaid-4.3", "oldmaid-5.7", "oldmaid-5.11", "oldmaid-7.12"})
"""These clauses are about turns and hands, of which a table is not told."""

MAX_PENDING_REQUESTS: Final = 1000
"""With so many requests that are not answered yet nothing is followed any more."""


class ObservedMessage(Struct, frozen=True):
    """A message, or a Violation where it is none, as it was spelt."""

    message: Message | Violation
    data: bytes

    def __str__(self) -> str:
        return self.data.strip().decode(errors="backslashreplace")


class ObservedGame:
    """One game whose players all come through the relay, and the referee who hears them."""

    def __init__(self, listed: tuple[ListedPlayer, ...], *, strict: bool) -> None:
        self.listed = listed
        self.referee: Referee | None = Referee(strict=strict)
        self.traffic = RequestTraffic()
        self.is_counted = False

    def on_message(
        self, sender: str, receiver: str, said: Message | Violation, *, is_certain: bool = True
    ) -> Sequence[PlayerVerdict]:
        """Something is said. A table is not blamed where others have asked it for something at the same time."""
        if self.referee is None:
            return ()
        found = self.referee.on_message(sender, receiver, said)
        if not is_certain and any(verdict.nick == TABLE for verdict in found):
            self.referee = None
            return ()
        return found

    def on_disconnect(self, nick: str) -> None:
        """The table has no connection to somebody any more."""
        if self.traffic.pending:
            self.referee = None  # whatever is on its way may have come before that, or behind it
        elif self.referee is not None:
            self.referee.on_connection_lost(TABLE, nick)

    def has_just_ended(self) -> bool:
        """Whether it has ended since the last time."""
        over = self.referee is not None and self.referee.game is not None and self.referee.game.is_over
        before, self.is_counted = self.is_counted, self.is_counted or over
        return over and not before


class ObservedTable:
    """All connections to one table, and the games that are played there."""

    def __init__(self, dialect: Dialect = "document", *, strict: bool = False, answer_timeout: float = 5.0) -> None:
        self.dialect = dialect
        self.strict = strict
        self.answer_timeout = answer_timeout
        self.connections: list[TableConnection] = []
        self._games: list[ObservedGame] = []

    def new_connection(self) -> "TableConnection":
        """A new connection."""
        found = TableConnection(self)
        self.connections.append(found)
        return found

    def on_event(self, event: TapEvent) -> None:
        """Take in where a client has come from."""
        link = event.connection.conversation
        if isinstance(event, ConnectionOpened) and isinstance(link, TableConnection):
            link.address = event.connection.address

    def address_of(self, nick: str) -> Address | None:
        """Where a player accepts others; None where he does not come through the relay."""
        link = next((each for each in self.connections if each.join is not None and each.join.nick == nick), None)
        if link is None or link.join is None or link.address is None:
            return None
        return link.address[0], link.join.port or link.address[1]

    def game_of(self, listed: tuple[ListedPlayer, ...]) -> ObservedGame | None:
        """The game that begins with a list; None if not all of its players come through the relay."""
        found = next((game for game in self._games if game.listed == listed), None)
        if found is None:
            if any(self.address_of(nick) is None for _, nick in listed):
                return None
            found = ObservedGame(listed, strict=self.strict)
            self._forget_empty_games()
            self._games.append(found)
        return found

    def remove(self, connection: "TableConnection") -> None:
        """A connection is over."""
        self.connections.remove(connection)
        self._forget_empty_games()

    def _forget_empty_games(self) -> None:
        """Forget the games that nobody is in any more."""
        playing = [each.game for each in self.connections]
        self._games = [game for game in self._games if game in playing]


class _PendingRequest(Struct):
    """A request that the table has not answered yet."""

    request: Request | None
    at: float
    ticket: int | None = None
    is_open: bool = False


class TableConnection(ConnectionLog):
    """One player's connection to the table. `joins` is with what he has joined, None before that."""

    def __init__(self, table: ObservedTable) -> None:
        super().__init__(strict=table.strict)
        self.address: Address | None = None
        self.join: Join | None = None
        self.game: ObservedGame | None = None
        self._nick = ""  # with which it plays that game
        self._table = table
        self._readers = {
            CLIENT: Wire("table", strict=table.strict, dialect=table.dialect),
            HOUSE: Wire("player", strict=table.strict, dialect=table.dialect),
        }
        self._incomplete = {side: bytearray() for side in (CLIENT, HOUSE)}
        self._unsent = bytearray()
        self._forwarded = bytearray()
        self._pending: deque[_PendingRequest] = deque()
        self._may_close = False
        self._is_silence_reported = False
        self._client_has_ended = False
        self._is_over = False

    @property
    def deadline(self) -> float | None:
        """When a silence of the table becomes a fault: not while a game has not begun."""
        if self._is_over or self._client_has_ended or self._is_silence_reported or not self._pending:
            return None
        first = self._pending[0]
        return None if isinstance(first.request, Join) else first.at + self._table.answer_timeout

    @property
    def _expects_list(self) -> bool:
        """Whether the list may come."""
        return not self._is_over and bool(self._pending) and isinstance(self._pending[0].request, Join)

    # What is said.

    def on_data(self, side: Peer, data: bytes, now: float) -> Sequence[Fault]:
        """One end has sent these bytes."""
        before = len(self.faults)
        rest = self._incomplete[side]
        for at in range(len(data)):
            byte = data[at : at + 1]
            if len(rest) < KEPT:
                rest += byte
            if side == HOUSE:
                self._unsent += byte
            # A value is ended by the bracket of the next one, which does not belong to it.
            for message in self._readers[side].feed(byte):
                ends = not isinstance(message, Violation) or rest[-1:] not in b"{["
                spelt = bytes(rest if ends else rest[:-1])
                del rest[: len(spelt)]
                if side == HOUSE:
                    self._forward(message)
                self.add_line(side, ObservedMessage(message, spelt), now)
                if not self._is_over:
                    (self._on_request if side == CLIENT else self._on_answer)(message, now)
        if side == HOUSE and not self._expects_list:
            self._forwarded += self._unsent
            self._unsent.clear()
        for clause in self._readers[side].tolerated - self._tolerated[side]:
            self._tolerated[side].add(clause)
        return self.faults_since(before)

    def _on_request(self, message: Message | Violation, now: float) -> None:
        if isinstance(message, Reply | Standing):
            return  # swallowed (oldmaid-2.11)
        pending = _PendingRequest(None if isinstance(message, Violation) else message, now)
        if self.game is not None:
            self._add_verdicts(self.game.on_message(self._nick, TABLE, message))
            pending.ticket, pending.is_open = self.game.traffic.begin(is_change=True), True
        elif isinstance(message, Violation):
            self.add_fault(CLIENT, message)
        if isinstance(message, Join):
            self.join = message
        self._pending.append(pending)
        if len(self._pending) > MAX_PENDING_REQUESTS:
            self._end()

    def _on_answer(self, message: Message | Violation, now: float) -> None:
        self._is_silence_reported = False
        self._may_close = not self._pending or (isinstance(message, Reply) and message.result == "error")
        if not self._pending:
            self._on_unrequested(message)
            return
        pending = self._pending.popleft()
        if self._pending:
            self._pending[0].at = now
        sure = True
        if self.game is not None and pending.is_open:
            # What the table was asked on this connection alone has come in this order for certain.
            sure = self.game.traffic.finish(pending.ticket, is_change=True)
        match pending.request, message:
            case Join() as join, Reply("ok", players=tuple(listed)):
                self._start_game(join, listed)
            case Join(), Reply("error") if self.game is None:
                self.join = None
        if self.game is not None:
            self._add_verdicts(self.game.on_message(TABLE, self._nick, message, is_certain=sure))
            self.games += self.game.has_just_ended()
        elif isinstance(message, Violation):
            self.add_fault(HOUSE, message)

    def _start_game(self, join: Join, listed: Sequence[ListedPlayer]) -> None:
        """A game begins: what was asked meanwhile belongs to it."""
        self.game = self._table.game_of(tuple(listed))
        if self.game is None:
            return
        self._nick = join.nick
        self.game.on_message(join.nick, TABLE, join)
        for pending in self._pending:
            if pending.request is not None:
                self._add_verdicts(self.game.on_message(join.nick, TABLE, pending.request))
            pending.ticket, pending.is_open = self.game.traffic.begin(is_change=True), True

    def _on_unrequested(self, message: Message | Violation) -> None:
        """The table speaks of its own: that is an error, before the end (oldmaid-1.8)."""
        if self.game is not None:
            self._add_verdicts(self.game.on_message(TABLE, self._nick, message))
        elif not (isinstance(message, Reply) and message.result == "error"):
            self.add_fault(HOUSE, Violation("oldmaid-1.8", f"{message}", "an answer, or an error before the end"))

    def _add_verdicts(self, found: Iterable[PlayerVerdict]) -> None:
        for verdict in found:
            if verdict.nick == TABLE:
                self.add_fault(HOUSE, verdict.violation)
            elif verdict.nick == self._nick and verdict.violation.clause not in UNOBSERVABLE_CLAUSES:
                self.add_fault(CLIENT, verdict.violation)

    # The end, and silence.

    def on_end_of_input(self, side: Peer, now: float) -> Sequence[Fault]:
        """One end says no more."""
        if side == CLIENT:
            self._client_has_ended = True
            self._lose_player()
            return ()
        return self.on_disconnect(HOUSE, now)

    def on_disconnect(self, side: Peer, now: float) -> Sequence[Fault]:  # noqa: ARG002 -- as every dialogue
        """One end is gone."""
        before = len(self.faults)
        if side == HOUSE and not (self._is_over or self._client_has_ended or self._may_close) and self._pending:
            first = self._pending[0].request
            found = f"the end of the conversation instead of an answer to {first}"
            self.add_fault(HOUSE, Violation("oldmaid-1.8", found, "an answer, or an error before the end"))
        if side == HOUSE:
            self._forwarded += self._unsent
        self._lose_player()
        self._end()
        return self.faults_since(before)

    def _lose_player(self) -> None:
        """The table has lost the player; whatever it still says to him is nobody's fault."""
        if self.game is not None and not self._is_over:
            self._close_pending()
            self.game.on_disconnect(self._nick)
            self._is_over = True

    def _close_pending(self) -> None:
        """What is not answered yet will not be."""
        for pending in self._pending:
            if self.game is not None and pending.is_open:
                self.game.traffic.finish(pending.ticket, is_change=True)
        self._pending.clear()

    def _end(self) -> None:
        """Nothing more is followed on this connection."""
        self._close_pending()
        self._is_over = True
        if self in self._table.connections:
            self._table.remove(self)

    def on_timeout(self, now: float) -> Sequence[Fault]:
        """The alarm has rung."""
        before = len(self.faults)
        if self.deadline is not None and self.deadline <= now:
            self._is_silence_reported = True
            self.add_fault(HOUSE, Violation("oldmaid-1.4", "silence", f"an answer to {self._pending[0].request}"))
        return self.faults_since(before)

    def incomplete(self, side: Peer) -> bytes:
        """What one end has sent behind its last message."""
        return bytes(self._incomplete[side]).strip()

    # The list.

    def take_forwarded(self) -> bytes:
        """What is to be passed on of what the table has said since the last time.

        In its list everybody is where he is really to be found: the table knows the relay instead. While one is
        expected, nothing is passed on but whole messages.
        """
        passed, self._forwarded = bytes(self._forwarded), bytearray()
        return passed

    def _forward(self, message: Message | Violation) -> None:
        """A whole message of the table leaves."""
        data = bytes(self._unsent)
        self._unsent.clear()
        if isinstance(message, Reply) and message.players is not None:
            data = _rewrite_list(data, self._table)
        self._forwarded += data


def _rewrite_list(data: bytes, table: ObservedTable) -> bytes:
    """A list with the addresses of those who come through the relay."""
    told: dict[str, Any] = decode(data)
    players = told["players"]
    changed = False
    for place, nick in players.values() if isinstance(players, dict) else players:
        if address := table.address_of(nick):
            place[:] = address
            changed = True
    return encode(told) if changed else data


def rewrite_addresses(connection: TappedConnection, data: bytes) -> bytes:
    """What a player is told instead of what his table says."""
    link = connection.conversation
    return link.take_forwarded() if isinstance(link, TableConnection) else data
