"""House side of Old Maid: the session of the table, with its waiting clients, running games and timeouts.

See docs/protocols/oldmaid.md, sections 3, 6, 8 and 9. `TableGame` checks the moves within a game.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from croupier.core.alarms import Alarms
from croupier.core.dealer import Dealer
from croupier.core.errors import Violation
from croupier.core.plural import format_count
from croupier.core.session import (
    Closing,
    Commit,
    Drop,
    Effect,
    Event,
    HandFinished,
    Joined,
    Left,
    Malformed,
    Peer,
    Received,
    Reveal,
    Send,
    TimedOut,
)
from croupier.rooms.oldmaid.cards import CARD_COUNT, WIRE_CARDS
from croupier.rooms.oldmaid.settings import Settings
from croupier.rooms.oldmaid.table.game import HIDDEN_HAND_CLAUSES, TableGame
from croupier.rooms.oldmaid.table.lobby import LobbyClient, TableLobby, check_nick
from croupier.rooms.oldmaid.table.persistence import GameLog, GameLogEntry, GameStarted
from croupier.rooms.oldmaid.wire import (
    DISCARD_OK,
    OK,
    Answer,
    Discard,
    Draw,
    Join,
    Message,
    OutOfCards,
    Reply,
    Status,
    refusal,
)

type Effects = list[Effect[Answer]]

DRAW_REPLIES: Final = tuple(Reply("ok", card=card) for card in WIRE_CARDS)
LAST_DRAW_REPLIES: Final = tuple(Reply("last_card", card=card) for card in WIRE_CARDS)
"""The answers to Draw, by the card (oldmaid-4.2, oldmaid-4.4)."""

NO_GAME_CLAUSES: Final[Mapping[type[Message], tuple[str, str]]] = {
    Draw: ("oldmaid-4.6", "draw"),
    Discard: ("oldmaid-5.9", "discard"),
    OutOfCards: ("oldmaid-6.4", "out_of_cards"),
    Status: ("oldmaid-6.13", "status"),
}
"""The clause that refuses a request of a client without a game, and the name of the request."""

NOT_HELD: Final = refusal(
    Violation("oldmaid-5.12", "a discard of cards that its player does not hold", "a pair of one's own")
)
"""The answer to every discard that is refused because of where its cards are; it reveals nothing about other hands."""

CLOSING: Final = Violation("oldmaid-9.12", "a table that stops", "games that are running")
UNAVAILABLE: Final = Violation("oldmaid-9.15", "a table that can write nothing down", "to come again later")


class RunningGame(NamedTuple):
    """A running game with its dealer and its clients by seat."""

    game: TableGame
    dealer: Dealer
    clients: Sequence[LobbyClient]


class House:
    """The session of a table, shared by all its peers. See `Session`.

    `dealers` returns the dealer of the n-th game of the table; Commit, HandFinished and Reveal carry this number. A
    client that neither waits nor plays is dropped after `idle` seconds without a message. `deadline` may be earlier
    than necessary, as in a hall. With `record_entries`, `journal_entries` collects the log entries of all games until
    the caller takes them; otherwise it is None. Raises ValueError if the settings are out of range.
    """

    def __init__(
        self, settings: Settings, dealers: Callable[[int], Dealer], *, idle: float = 500.0, record_entries: bool = False
    ) -> None:
        settings.check()
        self.settings = settings
        self.journal_entries: list[GameLogEntry] | None = [] if record_entries else None
        self._dealers = dealers
        self._idle = idle
        self._is_closing = False
        self._is_suspended = False
        self._void_notice: tuple[int, float] = 0, 0.0  # interrupted games, and until when to report them
        self._started_count = 0
        self._clients: dict[Peer, LobbyClient] = {}
        self._lobby = TableLobby(settings.players, settings.join_window)
        self._running_games: dict[int, RunningGame] = {}
        self._alarms = Alarms[tuple[bool, int]]()  # of clients (True and the peer) and games (False and the number)

    @property
    def deadline(self) -> float | None:
        """When the next start, idle check or stuck check is due; None if there is none."""
        check_at, starts_at = self._alarms.next_at, self._lobby.starts_at
        return starts_at if check_at is None or (starts_at is not None and starts_at < check_at) else check_at

    @property
    def playing(self) -> bool:
        """Whether a game is running."""
        return bool(self._running_games)

    @property
    def games(self) -> Sequence[TableGame]:
        """The running games, the oldest first."""
        return [running.game for running in self._running_games.values()]

    @property
    def nicks(self) -> Sequence[str]:
        """The players in running games, and those who wait for one."""
        playing = [nick for game in self.games for nick in game.standing.inside]
        return [*playing, *(client.nick for client in self._lobby.waiting_clients)]

    # Persistence.

    def restore(self, started: int, void: int, now: float) -> None:
        """Continue an interrupted table that had started `started` games, `void` of them now void (oldmaid-9.14)."""
        self._started_count = started
        self._void_notice = void, now + self.settings.stuck_seconds

    def has_peer(self, peer: Peer) -> bool:
        """Whether a peer is connected."""
        return peer in self._clients

    def suspend(self, now: float, unanswered: Iterable[Peer]) -> Effects:
        """Void all games because the store is down; disconnect waiting clients and `unanswered` peers as well."""
        self._is_suspended = True
        effects: Effects = []
        for running in [*self._running_games.values()]:
            effects += self._void_game(running, UNAVAILABLE, now)
        for peer in dict.fromkeys([*(client.peer for client in self._lobby.waiting_clients), *unanswered]):
            if (client := self._clients.get(peer)) is not None:
                effects += self._disconnect(client, UNAVAILABLE, now)
        return effects

    def resume(self) -> None:
        """Allow games again after `suspend`."""
        self._is_suspended = False

    def on(self, event: Event[Message], now: float) -> Sequence[Effect[Answer]]:
        """Process an event. Events of peers that were dropped are ignored."""
        if type(event) is Received:
            client = self._clients.get(event.peer)
            if client is None:
                return ()
            client.idle_since = now
            if client.queued is None:
                return self._handle_message(client, event.message, now)
            return self._queue_message(client, event.message, now)
        match event:
            case Malformed(peer, violation):
                client = self._clients.get(peer)
                return () if client is None else self._on_malformed(client, violation, now)
            case Joined(peer, address):
                self._clients[peer] = client = LobbyClient(peer, address, now)
                self._schedule_idle_check(client)
                return ()
            case Left(peer):
                client = self._clients.get(peer)
                return () if client is None else self._remove_client(client, now)
            case TimedOut():
                return self._on_timed_out(now)
            case _:
                assert isinstance(event, Closing), f"{event} is not for a table"
                return self._on_closing(now, final=event.is_final)

    # Messages of clients.

    def _handle_message(self, client: LobbyClient, message: Message, now: float) -> Effects:
        """Answer a message of a client that is not waiting for a game."""
        game = client.game
        answer: Answer
        try:
            if type(message) is Draw and game is not None:  # more than half of all messages
                card = game.draw(client.seat, now)
                return [Send(client.peer, (DRAW_REPLIES if game.drawn_count < CARD_COUNT else LAST_DRAW_REPLIES)[card])]
            if type(message) is Join:
                return self._handle_join(client, message, now)
            if type(message) is Reply:
                return []  # the table asks nothing (oldmaid-2.11)
            if game is None:
                clause, found = NO_GAME_CLAUSES[type(message)]
                raise Violation(clause, f"{found}{self._void_notice_text(now)}", "join")
            if type(message) is Discard:
                game.discard(client.seat, *message.cards, now)
                answer = DISCARD_OK
            elif type(message) is Status:
                answer = game.standing
            else:
                assert type(message) is OutOfCards, f"{message} is not for a table"
                game.finish(client.seat, now)
                self._schedule_idle_check(client)
                return [*self._finish_if_over(game, now), Send(client.peer, OK)]
        except Violation as violation:
            answer = self._refusal(violation)
        return [Send(client.peer, answer)]

    def _refusal(self, violation: Violation) -> Answer:
        return NOT_HELD if violation.clause in HIDDEN_HAND_CLAUSES else refusal(violation)

    def _void_notice_text(self, now: float) -> str:
        """The notice about interrupted games, for a client without a game; empty if there is none."""
        void, until = self._void_notice
        notice = f" (the table was interrupted: {format_count(void, 'game')} {'is' if void == 1 else 'are'} void)"
        return notice if void and now < until else ""

    def _queue_message(self, client: LobbyClient, message: Message | Violation, now: float) -> Effects:
        try:
            client.enqueue(message)
        except Violation as violation:
            return self._disconnect(client, violation, now)
        return []

    def _on_malformed(self, client: LobbyClient, violation: Violation, now: float) -> Effects:
        client.idle_since = now
        if violation.fatal:
            return self._disconnect(client, violation, now)
        if client.queued is not None:
            return self._queue_message(client, violation, now)
        return [Send(client.peer, refusal(violation))]

    def _handle_join(self, client: LobbyClient, join: Join, now: float) -> Effects:
        """Let a client wait for the next game and start it when enough clients wait. Raises Violation."""
        check_nick(join.nick)
        if client.is_playing:
            raise Violation("oldmaid-3.14", "join in a game that is running", "draw, discard, out_of_cards, status")
        if self._is_closing:
            return self._disconnect(client, CLOSING, now)
        if self._is_suspended:
            return [Send(client.peer, refusal(UNAVAILABLE))]
        self._lobby.join(client, join, now)
        return self._start(now) if self._lobby.is_full else []

    # Games.

    def _start(self, now: float) -> Effects:
        """Start a game with all waiting clients, then process the messages that were queued after their joins."""
        clients = self._lobby.waiting_clients
        queued = [(client.peer, client.queued or ()) for client in clients]
        self._started_count += 1
        number = self._started_count
        dealer = self._dealers(number)
        nicks = tuple(client.nick for client in clients)
        log = None
        if self.journal_entries is not None:
            self.journal_entries.append(GameStarted(number, nicks))
            log = GameLog(number, self.journal_entries)
        game = TableGame(number, nicks, dealer.next_deck(CARD_COUNT), now, log)
        listed = Reply("ok", players=self._lobby.seat_waiting(game))
        self._running_games[number] = RunningGame(game, dealer, clients)
        self._alarms.set((False, number), now + self.settings.stuck_seconds)
        effects: Effects = [Commit.of(number, dealer)]
        effects += [Send(client.peer, listed) for client in clients]
        for peer, messages in queued:
            for message in messages:
                event = Malformed(peer, message) if isinstance(message, Violation) else Received(peer, message)
                effects += self.on(event, now)
        return effects

    def _finish_if_over(self, game: TableGame, now: float) -> Effects:
        """If a game is over, remove it, release its clients and return its final effects."""
        if not game.is_over:
            return []
        game, dealer, clients = self._running_games.pop(game.number)
        self._alarms.remove((False, game.number))
        if isinstance(game.log, GameLog):
            game.log.end(void=game.is_void)
        for client in clients:
            if client.game is game and client.queued is None:
                self._lobby.release_address(client)
                if game.is_inside[client.seat]:
                    client.idle_since = now  # idle time starts at the end of the game
                    self._schedule_idle_check(client)
        return [HandFinished(game.number, game.nets, game), Reveal.of(game.number, dealer)]

    def _void_game(self, running: RunningGame, reason: Violation, now: float) -> Effects:
        """Void a game and disconnect the clients that are still in it."""
        game = running.game
        game.stop()
        effects = self._finish_if_over(game, now)
        for client, inside in zip(running.clients, game.is_inside, strict=True):
            if inside:
                effects += self._disconnect(client, reason, now)
        return effects

    # Disconnects.

    def _disconnect(self, client: LobbyClient, reason: Violation, now: float) -> Effects:
        """Send a client the reason and drop it (oldmaid-1.8)."""
        return [*self._remove_client(client, now), Send(client.peer, refusal(reason)), Drop(client.peer)]

    def _remove_client(self, client: LobbyClient, now: float) -> Effects:
        """Remove a client that is gone from the queue or from its game (oldmaid-3.12, oldmaid-9.1)."""
        del self._clients[client.peer]
        self._alarms.remove((True, client.peer))
        self._lobby.release_address(client)
        if client.queued is not None:
            self._lobby.leave(client)
        elif client.game is not None and client.is_playing:
            client.game.leave(client.seat, now)
            return self._finish_if_over(client.game, now)
        return []

    def _on_closing(self, now: float, *, final: bool) -> Effects:
        """Start no more games. If `final`, also void running games and disconnect all clients."""
        self._is_closing = True
        effects: Effects = []
        for client in self._lobby.waiting_clients:
            effects += self._disconnect(client, CLOSING, now)
        if final:
            for running in [*self._running_games.values()]:
                effects += self._void_game(running, CLOSING, now)
            for client in [*self._clients.values()]:
                effects += self._disconnect(client, CLOSING, now)
        return effects

    def _schedule_idle_check(self, client: LobbyClient) -> None:
        """Schedule an idle check of a client unless one is scheduled (oldmaid-8.10)."""
        self._alarms.set((True, client.peer), client.idle_since + self._idle)

    def _on_timed_out(self, now: float) -> Effects:
        effects: Effects = []
        if self._lobby.starts_at is not None and self._lobby.starts_at <= now:
            effects += self._start(now)
        for _, (is_client, number) in self._alarms.ring(now):
            if is_client:
                effects += self._check_idle(self._clients[number], now)
            else:
                effects += self._check_stuck(self._running_games[number], now)
        return effects

    def _check_idle(self, client: LobbyClient, now: float) -> Effects:
        """Disconnect a client if it is idle; checks of waiting and playing clients end here and are scheduled later."""
        if client.queued is not None or client.is_playing:
            return []
        if client.idle_since + self._idle > now:
            self._schedule_idle_check(client)
            return []
        return self._disconnect(client, Violation("oldmaid-8.10", f"silence for {self._idle:g} seconds", "join"), now)

    def _check_stuck(self, running: RunningGame, now: float) -> Effects:
        """Void a game if it is stuck (oldmaid-6.10)."""
        limit = self.settings.stuck_seconds
        due = running.game.last_action_at + limit
        if due > now:
            self._alarms.set((False, running.game.number), due)
            return []
        reason = Violation(
            "oldmaid-6.10", f"a game in which nothing has happened for {limit:g} seconds", "one that goes on"
        )
        return self._void_game(running, reason, now)
