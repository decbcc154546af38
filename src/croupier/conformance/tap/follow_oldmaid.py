"""Follows the tapped connections between players and a table of Old Maid, and judges both ends.

Messages between players do not pass the tap, so hands and turns are unknown.
"""

from collections.abc import Iterator, Sequence, Set
from typing import Any, Final

from msgspec import Struct
from msgspec.json import decode, encode

from croupier.conformance.conversation import Fault
from croupier.conformance.tap.exchange import Departure, Exchange, FollowedGame, PendingRequest
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE, Disconnected, Party, Sent, Verdict
from croupier.core.session import Address, Peer
from croupier.core.spans import MAX_INCOMPLETE_BYTES, Span, SpanReader
from croupier.rooms.oldmaid.referee import TABLE, Referee
from croupier.rooms.oldmaid.wire import Dialect, Join, ListedPlayer, Message, Reply, Request, Standing, Status, Wire

UNOBSERVABLE_CLAUSES: Final = frozenset({"oldmaid-4.3", "oldmaid-5.7", "oldmaid-5.11", "oldmaid-7.12"})
"""Clauses about turns and hands, which the table does not see."""


class ObservedMessage(Struct, frozen=True):
    """A message or a Violation, with its bytes."""

    message: Message | Violation
    data: bytes

    def __str__(self) -> str:
        return self.data.strip().decode(errors="backslashreplace")


class ObservedGame(FollowedGame[Referee]):
    """A game whose players all use the tap."""

    def __init__(self, listed: tuple[ListedPlayer, ...], *, strict: bool) -> None:
        super().__init__(Referee(strict=strict))
        self.listed = listed
        self.informed: set[str] = set()
        """The nicks of the players to whom the list has been sent."""
        self._gone: set[str] = set()  # players who have left
        self._unnoticed: set[str] = set()  # those of them whom the table may take for present

    def on_message(
        self, sender: Party, receiver: Party, message: Message | Violation, *, is_certain: bool = True
    ) -> Sequence[Verdict]:
        """Report a message to the referee.

        Uncertain order of requests is not held against the table, nor that it may not have noticed yet that a player is
        gone.
        """
        if self.referee is None:
            return ()
        found = self.referee.on(Sent(sender, receiver, message))
        self.games = self.referee.finished_count
        if isinstance(message, Standing):
            self._unnoticed.difference_update(message.outside)
            is_certain = is_certain and not self._is_right_about_others(message)
        is_certain = is_certain and not self._unnoticed
        if not is_certain and any(verdict.party == TABLE for verdict in found):
            self.stop_following()
            return ()
        return found

    def on_disconnect(self, nick: str) -> None:
        """Report that a player's connection to the table has ended."""
        if self.traffic.pending:
            self.stop_following()  # pending requests may precede or follow the disconnect
        elif self.referee is not None:
            self.referee.on(Disconnected(TABLE, nick))
            self._gone.add(nick)
            self._unnoticed.add(nick)

    def _is_right_about_others(self, found: Standing) -> bool:
        """Whether a standing is right about those who have not left: where the others stand, tables disagree."""
        game = None if self.referee is None else self.referee.game
        if game is None or not self._gone:
            return False
        wanted = game.standing
        return all(
            [nick for nick in one if nick not in self._gone] == [nick for nick in other if nick not in self._gone]
            for one, other in ((found.inside, wanted.inside), (found.outside, wanted.outside))
        )


class ObservedTable:
    """All connections to one table, and its games."""

    def __init__(self, dialect: Dialect = "document", *, strict: bool = False, answer_timeout: float = 5.0) -> None:
        self.dialect = dialect
        self.strict = strict
        self.answer_timeout = answer_timeout
        self.connections: list[TableConnection] = []
        self._games: list[ObservedGame] = []

    def new_connection(self) -> "TableConnection":
        """Return the monitor of a new connection."""
        found = TableConnection(self)
        self.connections.append(found)
        return found

    def address_of(self, nick: str) -> Address | None:
        """Return the address at which a player listens, None if they do not use the tap."""
        for connection in self.connections:
            join, address = connection.join, connection.client_address
            if join is not None and join.nick == nick and address is not None:
                return address[0], join.port or address[1]
        return None

    def game_of(self, listed: tuple[ListedPlayer, ...]) -> ObservedGame | None:
        """Return the game that begins with a list, None if not all of its players use the tap."""
        found = next((game for game in self._games if game.listed == listed), None)
        if found is None and all(self.address_of(nick) is not None for _, nick in listed):
            found = ObservedGame(listed, strict=self.strict)
            self._forget_empty_games()
            self._games.append(found)
        return found

    def other_list(self, listed: tuple[ListedPlayer, ...], nick: str) -> tuple[ListedPlayer, ...] | None:
        """Return the list of a game of the same players that was sent to others, but not to this one; None if none."""
        return next(
            (
                game.listed
                for game in self._games
                if game.listed != listed
                and {*game.listed} == {*listed}
                and nick not in game.informed
                and not game.games
            ),
            None,
        )

    def remove(self, connection: "TableConnection") -> None:
        """Remove a connection, if it is not removed yet."""
        if connection in self.connections:
            self.connections.remove(connection)
            self._forget_empty_games()

    def _forget_empty_games(self) -> None:
        """Forget games without connections."""
        playing = [each.game for each in self.connections]
        self._games = [game for game in self._games if game in playing]


type TablePending = PendingRequest[Request | None, ObservedGame]
"""A request to a table; None if it cannot be read."""


class TableConnection(Exchange[TablePending]):
    """One player's connection to the table. `join` is None until the player has joined.

    In the list of players, addresses of the tap are replaced by those of the players. While a list may come, only whole
    messages are forwarded.
    """

    SILENCE_CLAUSE = "oldmaid-1.4"
    END_CLAUSE = "oldmaid-1.8"

    def __init__(self, table: ObservedTable) -> None:
        super().__init__(table.answer_timeout, strict=table.strict)
        self.join: Join | None = None
        self.game: ObservedGame | None = None
        self._nick = ""  # the nick in that game
        self._table = table
        self._readers: dict[Peer, SpanReader[Message]] = {
            CLIENT: SpanReader(Wire("table", strict=table.strict, dialect=table.dialect)),
            HOUSE: SpanReader(Wire("player", strict=table.strict, dialect=table.dialect)),
        }
        self._held = bytearray()  # of the table
        self._forwarded = bytearray()
        self._may_close = False

    def incomplete(self, side: Peer) -> bytes:
        """The bytes of an incomplete message."""
        return self._readers[side].incomplete.strip()

    def tolerated(self, side: Peer) -> Set[str]:
        """The clauses whose tolerance one end has needed."""
        return self._readers[side].tolerated

    # Messages.

    def _read(self, side: Peer, data: bytes, now: float) -> Iterator[Span[Message]]:  # noqa: ARG002 -- needed by others
        if side == CLIENT:
            yield from self._readers[CLIENT].feed(data)
            return
        self._held += data
        for span in self._readers[HOUSE].feed(data):
            self._forward(span, len(self._held) - (len(data) - span.end))
            yield span
        expects_list = not self._is_over and bool(self._pending) and isinstance(self._pending[0].request, Join)
        if not expects_list or len(self._held) > MAX_INCOMPLETE_BYTES:
            self._forward_held()

    def _on_message(self, side: Peer, span: Span[Message], now: float) -> None:
        self._add_line(side, span.data, ObservedMessage(span.message, span.data), now)
        if not self._is_over:
            (self._on_request if side == CLIENT else self._on_answer)(span.message, now)

    def _on_request(self, message: Message | Violation, now: float) -> None:
        if isinstance(message, Reply | Standing):
            return  # ignored (oldmaid-2.11)
        request = None if isinstance(message, Violation) else message
        pending: TablePending = PendingRequest(request, is_change=not isinstance(message, Status))
        self._judge(CLIENT, message)
        if self.game is not None:
            pending.enter_game(self.game)
        if isinstance(message, Join):
            self.join = message
        self._ask(pending, now)

    def _on_answer(self, message: Message | Violation, now: float) -> None:
        is_error = isinstance(message, Reply) and message.result == "error"
        pending = self._take_answered(now)
        self._may_close = pending is None or is_error
        if pending is None:
            if self.game is None and not is_error:
                message = Violation("oldmaid-1.8", f"{message}", "an answer, or an error before the end")
            self._judge(HOUSE, message)
            return
        pending.close()
        match pending.request, message:
            case Join() as join, Reply("ok", players=tuple(listed)):
                self._start_game(join, listed)
            case Join(), Reply("error") if self.game is None:
                self.join = None
        self._judge(HOUSE, message, is_certain=pending.is_certain)

    def _start_game(self, join: Join, listed: Sequence[ListedPlayer]) -> None:
        """Start a game; requests sent since the join belong to it. Nothing is followed after different lists."""
        other = self._table.other_list(tuple(listed), join.nick)
        self.game = self._table.game_of(tuple(listed if other is None else other))
        if self.game is None:
            return
        self.game.informed.add(join.nick)
        if other is not None:
            found, allowed = (", ".join(nick for _, nick in players) for players in (listed, other))
            violation = Violation("oldmaid-3.2", f"the list of {found}", f"the list of the others: {allowed}")
            self._add_departure(Departure(HOUSE, violation))
            self.game.stop_following()
        self._nick = join.nick
        self.game.on_message(join.nick, TABLE, join)
        for pending in self._pending:
            if pending.request is not None:
                self._judge(CLIENT, pending.request)
            pending.enter_game(self.game)

    def _judge(self, side: Peer, message: Message | Violation, *, is_certain: bool = True) -> None:
        """Judge a message of one end by the game, or by its form if there is none."""
        if self.game is not None:
            self._add_departures(self.game, self._game_departures(self.game, side, message, is_certain=is_certain))
        elif isinstance(message, Violation):
            user = self.join.nick if side == CLIENT and self.join is not None else ""
            self._add_departure(Departure(side, message.replace(about=user)))

    def _game_departures(
        self, game: ObservedGame, side: Peer, message: Message | Violation, *, is_certain: bool
    ) -> Iterator[Departure]:
        sender, receiver = (self._nick, TABLE) if side == CLIENT else (TABLE, self._nick)
        for verdict in game.on_message(sender, receiver, message, is_certain=is_certain):
            party, violation = verdict.party, verdict.violation
            if party == TABLE:
                yield Departure(HOUSE, violation)
            elif party == self._nick and violation.clause not in UNOBSERVABLE_CLAUSES:
                yield Departure(CLIENT, violation.replace(about=self._nick))

    def _extra_seconds(self, pending: TablePending) -> float | None:
        return None if isinstance(pending.request, Join) else 0.0

    # The end.

    def on_end_of_input(self, side: Peer, now: float) -> Sequence[Fault]:
        """See `ConversationMonitor`. The table loses a player who has ended their output."""
        found = super().on_end_of_input(side, now)
        self._lose_player()
        return found

    def _on_disconnect(self, side: Peer, now: float) -> None:
        self._forward_held()
        super()._on_disconnect(side, now)

    def _may_end(self) -> bool:
        return self._may_close

    def _lose_player(self) -> None:
        """Handle the loss of a player; later messages to them are not judged."""
        if self.game is not None and not self._is_over:
            self._close_pending()
            self.game.on_disconnect(self._nick)
            self._is_over = True

    def _end(self) -> None:
        self._lose_player()
        super()._end()
        self._table.remove(self)

    # The list of players.

    def to_client(self, data: bytes) -> bytes:  # noqa: ARG002 -- it may differ
        """See `ConversationMonitor`."""
        forwarded = bytes(self._forwarded)
        self._forwarded.clear()
        return forwarded

    def _forward(self, span: Span[Message], size: int) -> None:
        """Forward the held bytes of a message, with the right addresses if it is a list that is held as a whole."""
        data = bytes(self._held[:size])
        del self._held[:size]
        if isinstance(span.message, Reply) and span.message.players is not None and data == span.data:
            data = _rewrite_list(data, self._table)
        self._forwarded += data

    def _forward_held(self) -> None:
        self._forwarded += self._held
        self._held.clear()


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
