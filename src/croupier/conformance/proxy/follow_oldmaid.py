"""Follows the proxied connections between players and a table of Old Maid, and judges both ends.

Messages between players do not pass the proxy, so hands and turns are unknown.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.json import decode, encode

from croupier.conformance.channel.spans import MAX_INCOMPLETE_BYTES as KEPT
from croupier.conformance.conversation import Fault
from croupier.conformance.proxy.connection_log import ConnectionLog
from croupier.conformance.proxy.follow_tables import RequestTraffic
from croupier.conformance.tap.connection import ConnectionOpened, TapEvent, TappedConnection
from croupier.core.errors import FoundKind, Violation
from croupier.core.referee import CLIENT, HOUSE, Disconnected, Party, Sent, Verdict
from croupier.core.session import Address, Peer
from croupier.rooms.oldmaid.referee import TABLE, Referee
from croupier.rooms.oldmaid.wire import Dialect, Join, ListedPlayer, Message, Reply, Request, Standing, Wire

UNOBSERVABLE_CLAUSES: Final = frozenset({"oldmaid-4.3", "oldmaid-5.7", "oldmaid-5.11", "oldmaid-7.12"})
"""Clauses about turns and hands, which the table does not see."""

MAX_PENDING_REQUESTS: Final = 1000
"""A connection with more unanswered requests is no longer followed."""


class ObservedMessage(Struct, frozen=True):
    """A message or a Violation, with its bytes."""

    message: Message | Violation
    data: bytes

    def __str__(self) -> str:
        return self.data.strip().decode(errors="backslashreplace")


class ObservedGame:
    """A game whose players all use the proxy, and its referee."""

    def __init__(self, listed: tuple[ListedPlayer, ...], *, strict: bool) -> None:
        self.listed = listed
        self.referee: Referee | None = Referee(strict=strict)
        self.traffic = RequestTraffic()
        self.is_counted = False

    def on_message(
        self, sender: Party, receiver: Party, said: Message | Violation, *, is_certain: bool = True
    ) -> Sequence[Verdict]:
        """Report a message to the referee. Uncertain order of requests is not held against the table."""
        if self.referee is None:
            return ()
        found = self.referee.on(Sent(sender, receiver, said))
        if not is_certain and any(verdict.party == TABLE for verdict in found):
            self.referee = None
            return ()
        return found

    def on_disconnect(self, nick: str) -> None:
        """Report that a player's connection to the table has ended."""
        if self.traffic.pending:
            self.referee = None  # pending requests may precede or follow the disconnect
        elif self.referee is not None:
            self.referee.on(Disconnected(TABLE, nick))

    def has_just_ended(self) -> bool:
        """Whether the game has ended since the last call."""
        is_over = self.referee is not None and self.referee.game is not None and self.referee.game.is_over
        before, self.is_counted = self.is_counted, self.is_counted or is_over
        return is_over and not before


class ObservedTable:
    """All connections to one table, and its games."""

    def __init__(self, dialect: Dialect = "document", *, strict: bool = False, answer_timeout: float = 5.0) -> None:
        self.dialect = dialect
        self.strict = strict
        self.answer_timeout = answer_timeout
        self.connections: list[TableConnection] = []
        self._games: list[ObservedGame] = []

    def new_connection(self) -> "TableConnection":
        """Create the log of a new connection."""
        found = TableConnection(self)
        self.connections.append(found)
        return found

    def on_event(self, event: TapEvent) -> None:
        """Record the address of a client."""
        connection_log = event.connection.conversation
        if isinstance(event, ConnectionOpened) and isinstance(connection_log, TableConnection):
            connection_log.address = event.connection.address

    def address_of(self, nick: str) -> Address | None:
        """Return the address at which a player listens, None if they do not use the proxy."""
        connection_log = next(
            (each for each in self.connections if each.join is not None and each.join.nick == nick), None
        )
        if connection_log is None or connection_log.join is None or connection_log.address is None:
            return None
        return connection_log.address[0], connection_log.join.port or connection_log.address[1]

    def game_of(self, listed: tuple[ListedPlayer, ...]) -> ObservedGame | None:
        """Return the game that begins with a list, None if not all of its players use the proxy."""
        found = next((game for game in self._games if game.listed == listed), None)
        if found is None:
            if any(self.address_of(nick) is None for _, nick in listed):
                return None
            found = ObservedGame(listed, strict=self.strict)
            self._forget_empty_games()
            self._games.append(found)
        return found

    def remove(self, connection: "TableConnection") -> None:
        """Remove a connection."""
        self.connections.remove(connection)
        self._forget_empty_games()

    def _forget_empty_games(self) -> None:
        """Forget games without connections."""
        playing = [each.game for each in self.connections]
        self._games = [game for game in self._games if game in playing]


class _PendingRequest(Struct):
    """A request that is not answered yet."""

    request: Request | None
    at: float
    ticket: int | None = None
    is_open: bool = False


class TableConnection(ConnectionLog):
    """One player's connection to the table. `join` is None until the player has joined."""

    def __init__(self, table: ObservedTable) -> None:
        super().__init__(strict=table.strict)
        self.address: Address | None = None
        self.join: Join | None = None
        self.game: ObservedGame | None = None
        self._nick = ""  # the nick in that game
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
        """When a missing answer becomes a fault, None while a join waits for the game."""
        if self._is_over or self._client_has_ended or self._is_silence_reported or not self._pending:
            return None
        first = self._pending[0]
        return None if isinstance(first.request, Join) else first.at + self._table.answer_timeout

    @property
    def _expects_list(self) -> bool:
        """Whether the next answer may be the list of players."""
        return not self._is_over and bool(self._pending) and isinstance(self._pending[0].request, Join)

    # Messages.

    def on_data(self, side: Peer, data: bytes, now: float) -> Sequence[Fault]:
        """Process bytes of one end; return the new faults."""
        before = len(self.faults)
        incomplete = self._incomplete[side]
        for at in range(len(data)):
            byte = data[at : at + 1]
            if len(incomplete) < KEPT:
                incomplete += byte
            if side == HOUSE:
                self._unsent += byte
            # The bracket that ends a value may belong to the next one.
            for message in self._readers[side].feed(byte):
                ends = not isinstance(message, Violation) or incomplete[-1:] not in b"{["
                frame = bytes(incomplete if ends else incomplete[:-1])
                del incomplete[: len(frame)]
                if side == HOUSE:
                    self._forward(message)
                self.add_line(side, ObservedMessage(message, frame), now)
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
            return  # ignored (oldmaid-2.11)
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
        is_certain = True
        if self.game is not None and pending.is_open:
            # The order of the requests of one connection is certain.
            is_certain = self.game.traffic.finish(pending.ticket, is_change=True)
        match pending.request, message:
            case Join() as join, Reply("ok", players=tuple(listed)):
                self._start_game(join, listed)
            case Join(), Reply("error") if self.game is None:
                self.join = None
        if self.game is not None:
            self._add_verdicts(self.game.on_message(TABLE, self._nick, message, is_certain=is_certain))
            self.games += self.game.has_just_ended()
        elif isinstance(message, Violation):
            self.add_fault(HOUSE, message)

    def _start_game(self, join: Join, listed: Sequence[ListedPlayer]) -> None:
        """Start a game; requests sent since the join belong to it."""
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
        """Judge an unrequested message: only an error before a disconnect is allowed (oldmaid-1.8)."""
        if self.game is not None:
            self._add_verdicts(self.game.on_message(TABLE, self._nick, message))
        elif not (isinstance(message, Reply) and message.result == "error"):
            self.add_fault(HOUSE, Violation("oldmaid-1.8", f"{message}", "an answer, or an error before the end"))

    def _add_verdicts(self, found: Iterable[Verdict]) -> None:
        for verdict in found:
            if verdict.party == TABLE:
                self.add_fault(HOUSE, verdict.violation)
            elif verdict.party == self._nick and verdict.violation.clause not in UNOBSERVABLE_CLAUSES:
                self.add_fault(CLIENT, verdict.violation)

    # Disconnects and timeouts.

    def on_end_of_input(self, side: Peer, now: float) -> Sequence[Fault]:
        """Process the end of input of one end."""
        if side == CLIENT:
            self._client_has_ended = True
            self._lose_player()
            return ()
        return self.on_disconnect(HOUSE, now)

    def on_disconnect(self, side: Peer, now: float) -> Sequence[Fault]:  # noqa: ARG002 -- as every dialogue
        """Process the disconnect of one end."""
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
        """Handle the loss of a player; later messages to them are not judged."""
        if self.game is not None and not self._is_over:
            self._close_pending()
            self.game.on_disconnect(self._nick)
            self._is_over = True

    def _close_pending(self) -> None:
        """Discard unanswered requests."""
        for pending in self._pending:
            if self.game is not None and pending.is_open:
                self.game.traffic.finish(pending.ticket, is_change=True)
        self._pending.clear()

    def _end(self) -> None:
        """Stop following this connection."""
        self._close_pending()
        self._is_over = True
        if self in self._table.connections:
            self._table.remove(self)

    def on_timeout(self, now: float) -> Sequence[Fault]:
        """Process a timeout."""
        before = len(self.faults)
        if self.deadline is not None and self.deadline <= now:
            self._is_silence_reported = True
            self.add_fault(
                HOUSE,
                Violation("oldmaid-1.4", "silence", f"an answer to {self._pending[0].request}", kind=FoundKind.SILENCE),
            )
        return self.faults_since(before)

    def incomplete(self, side: Peer) -> bytes:
        """Return the bytes of an incomplete message."""
        return bytes(self._incomplete[side]).strip()

    # The list of players.

    def take_forwarded(self) -> bytes:
        """Return the bytes of the table to be forwarded.

        In the list of players, addresses of the proxy are replaced by those of the players. While a list may come, only
        whole messages are forwarded.
        """
        forwarded, self._forwarded = bytes(self._forwarded), bytearray()
        return forwarded

    def _forward(self, message: Message | Violation) -> None:
        """Forward a whole message."""
        data = bytes(self._unsent)
        self._unsent.clear()
        if isinstance(message, Reply) and message.players is not None:
            data = _rewrite_list(data, self._table)
        self._forwarded += data


def _rewrite_list(data: bytes, table: ObservedTable) -> bytes:
    """Return a list with the addresses of the players who use the proxy."""
    message: dict[str, Any] = decode(data)
    players = message["players"]
    changed = False
    for listed_address, nick in players.values() if isinstance(players, dict) else players:
        if address := table.address_of(nick):
            listed_address[:] = address
            changed = True
    return encode(message) if changed else data


def rewrite_addresses(connection: TappedConnection, data: bytes) -> bytes:
    """Return the bytes to forward to a player in place of `data`."""
    connection_log = connection.conversation
    return connection_log.take_forwarded() if isinstance(connection_log, TableConnection) else data
