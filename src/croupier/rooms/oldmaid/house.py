"""The table of Old Maid: who waits for a game, who plays in which, and when somebody's time is over.

See docs/protocols/oldmaid.md, 3, 6, 8 and 9. What is done within a game is the game's to allow.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import Final, NamedTuple

from croupier.core.dealer import Dealer, commitment
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
from croupier.rooms.oldmaid.cards import WIRE_CARDS
from croupier.rooms.oldmaid.settings import Settings
from croupier.rooms.oldmaid.table.game import CARD_COUNT, HIDDEN_HAND_CLAUSES, TableGame
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
"""The answers to Draw by the card (oldmaid-4.2, oldmaid-4.4)."""

NO_GAME_CLAUSES: Final[Mapping[type[Message], tuple[str, str]]] = {
    Draw: ("oldmaid-4.6", "draw"),
    Discard: ("oldmaid-5.9", "discard"),
    OutOfCards: ("oldmaid-6.4", "out_of_cards"),
    Status: ("oldmaid-6.7", "status"),
}
"""The clause by which a request is refused before the first game, and its name."""

NOT_HELD: Final = refusal(
    Violation("oldmaid-5.12", "a discard of cards that its player does not hold", "a pair of one's own")
)
"""The answer to every discard that is refused because of who holds what: it tells nothing of other hands."""

CLOSING: Final = Violation("oldmaid-9.12", "a table that stops", "games that are running")
UNAVAILABLE: Final = Violation("oldmaid-9.15", "a table that can write nothing down", "to come again later")


class RunningGame(NamedTuple):
    """A game that is played, its dealer, and its players in the order of the list."""

    game: TableGame
    dealer: Dealer
    clients: Sequence[LobbyClient]


class House:
    """A session that all peers of the table share. See `Session`.

    `dealers` gives the dealer of the n-th game of the table, which Commit, Finished and Reveal call their peer or deal.
    Whoever neither waits nor plays is dropped after `idle` seconds without a message. `alarm` may ring too early, as
    that of a hall. `notes` is what has happened in games since whoever writes it down has taken it; None where nobody
    does. Raises ValueError on settings that make no sense.
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
        self._void_notice: tuple[int, float] = 0, 0.0  # so many games were interrupted, which is told until then
        self._started_count = 0
        self._clients: dict[Peer, LobbyClient] = {}
        self._lobby = TableLobby(settings.players, settings.join_window)
        self._running_games: dict[int, RunningGame] = {}
        self._checks: list[tuple[float, bool, int]] = []  # when to look at a game (by its number) or a guest (True)

    @property
    def deadline(self) -> float | None:
        """When the house wants to hear Rang."""
        alarms, window = self._checks, self._lobby.starts_at
        if not alarms:
            return window
        return alarms[0][0] if window is None or alarms[0][0] < window else window

    @property
    def playing(self) -> bool:
        """Whether a game is played."""
        return bool(self._running_games)

    # What is kept.

    def restore(self, started: int, void: int, now: float) -> None:
        """Go on where a table was interrupted that had started so many games, of which some are void (oldmaid-9.14)."""
        self._started_count = started
        self._void_notice = void, now + self.settings.stuck_seconds

    def has_peer(self, peer: Peer) -> bool:
        """Whether a peer is at the table."""
        return peer in self._clients

    def suspend(self, now: float, unanswered: Iterable[Peer]) -> Effects:
        """Nothing can be written down: all games are void, and those who have `lost` an answer are seen off, too."""
        self._is_suspended = True
        effects: Effects = []
        for sitting in [*self._running_games.values()]:
            effects += self._void_game(sitting, UNAVAILABLE, now)
        for peer in dict.fromkeys([*(guest.peer for guest in self._lobby.waiting_clients), *unanswered]):
            if (guest := self._clients.get(peer)) is not None:
                effects += self._disconnect(guest, UNAVAILABLE, now)
        return effects

    def resume(self) -> None:
        """Everything can be written down again: there may be games."""
        self._is_suspended = False

    def on(self, event: Event[Message], now: float) -> Sequence[Effect[Answer]]:
        """What the table does about an event. Whom it has dropped it does not hear any more."""
        if type(event) is Received:
            guest = self._clients.get(event.peer)
            if guest is None:
                return ()
            guest.idle_since = now
            if guest.queued is None:
                return self._handle_message(guest, event.message, now)
            return self._queue_message(guest, event.message, now)
        match event:
            case Malformed(peer, violation):
                guest = self._clients.get(peer)
                return () if guest is None else self._on_malformed(guest, violation, now)
            case Joined(peer, address):
                self._clients[peer] = guest = LobbyClient(peer, address, now)
                self._schedule_idle_check(guest)
                return ()
            case Left(peer):
                guest = self._clients.get(peer)
                return () if guest is None else self._remove_client(guest, now)
            case TimedOut():
                return self._on_timed_out(now)
            case _:
                assert isinstance(event, Closing), f"{event} is not for a table"
                return self._on_closing(now, final=event.is_final)

    # What a guest says.

    def _handle_message(self, guest: LobbyClient, message: Message, now: float) -> Effects:
        """Do what a guest asks who does not wait, or refuse it."""
        game = guest.game
        answer: Answer
        try:
            if type(message) is Draw and game is not None:  # more than half of all that is said
                card = game.draw(guest.seat, now)
                return [Send(guest.peer, (DRAW_REPLIES if game.drawn_count < CARD_COUNT else LAST_DRAW_REPLIES)[card])]
            if type(message) is Join:
                return self._handle_join(guest, message, now)
            if type(message) is Reply:
                return []  # to nothing (oldmaid-2.11)
            if game is None:
                clause, found = NO_GAME_CLAUSES[type(message)]
                raise Violation(clause, f"{found}{self._void_notice_text(now)}", "join")
            if type(message) is Discard:
                game.discard(guest.seat, *message.cards, now)
                answer = DISCARD_OK
            elif type(message) is Status:
                answer = game.standing
            else:
                assert type(message) is OutOfCards, f"{message} is not for a table"
                game.finish(guest.seat, now)
                self._schedule_idle_check(guest)
                return [*self._finish_if_over(game, now), Send(guest.peer, OK)]
        except Violation as violation:
            answer = self._refusal(violation)
        return [Send(guest.peer, answer)]

    def _refusal(self, violation: Violation) -> Answer:
        return NOT_HELD if violation.clause in HIDDEN_HAND_CLAUSES else refusal(violation)

    def _void_notice_text(self, now: float) -> str:
        """What who plays no game is told of those that were interrupted."""
        void, until = self._void_notice
        told = f" (the table was interrupted: {format_count(void, 'game')} {'is' if void == 1 else 'are'} void)"
        return told if void and now < until else ""

    def _queue_message(self, guest: LobbyClient, said: Message | Violation, now: float) -> Effects:
        try:
            guest.enqueue(said)
        except Violation as violation:
            return self._disconnect(guest, violation, now)
        return []

    def _on_malformed(self, guest: LobbyClient, violation: Violation, now: float) -> Effects:
        guest.idle_since = now
        if violation.fatal:
            return self._disconnect(guest, violation, now)
        if guest.queued is not None:
            return self._queue_message(guest, violation, now)
        return [Send(guest.peer, refusal(violation))]

    def _handle_join(self, guest: LobbyClient, join: Join, now: float) -> Effects:
        """Let a guest wait for the next game; start it when he is the last one that it needs. Raises Violation."""
        check_nick(join.nick)
        if guest.is_playing:
            raise Violation("oldmaid-3.14", "join in a game that is running", "draw, discard, out_of_cards, status")
        if self._is_closing:
            return self._disconnect(guest, CLOSING, now)
        if self._is_suspended:
            return [Send(guest.peer, refusal(UNAVAILABLE))]
        self._lobby.join(guest, join, now)
        return self._start(now) if self._lobby.is_full else []

    # Games.

    def _start(self, now: float) -> Effects:
        """All who wait play a game; what they have said behind their joins is answered now."""
        guests = self._lobby.waiting_clients
        kept = [(guest.peer, guest.queued or ()) for guest in guests]
        self._started_count += 1
        number = self._started_count
        dealer = self._dealers(number)
        nicks = tuple(guest.nick for guest in guests)
        course = None
        if self.journal_entries is not None:
            self.journal_entries.append(GameStarted(number, nicks))
            course = GameLog(number, self.journal_entries)
        game = TableGame(number, nicks, dealer.next_deck(CARD_COUNT), now, course)
        listed = Reply("ok", players=self._lobby.seat_waiting(game))
        self._running_games[number] = RunningGame(game, dealer, guests)
        self._schedule_check(now + self.settings.stuck_seconds, guest=False, number=number)
        effects: Effects = [Commit(number, dealer.algorithm, commitment(dealer.server_seed))]
        effects += [Send(guest.peer, listed) for guest in guests]
        for peer, behind in kept:
            for said in behind:
                effects += self.on(Malformed(peer, said) if isinstance(said, Violation) else Received(peer, said), now)
        return effects

    def _finish_if_over(self, game: TableGame, now: float) -> Effects:
        """The facts of a game if it is over; its players are free, and reached by nobody any more."""
        if not game.is_over:
            return []
        game, dealer, guests = self._running_games.pop(game.number)
        if isinstance(game.log, GameLog):
            game.log.end(void=game.is_void)
        for guest in guests:
            if guest.game is game and guest.queued is None:
                self._lobby.release_address(guest)
                if game.is_inside[guest.seat]:
                    guest.idle_since = now  # he had no time to be idle before
                    self._schedule_idle_check(guest)
        return [
            HandFinished(game.number, game.nets, game),
            Reveal(game.number, dealer.algorithm, dealer.server_seed, dealer.client_seed, dealer.hands),
        ]

    def _void_game(self, sitting: RunningGame, why: Violation, now: float) -> Effects:
        """Stop a game, and see off those who are in."""
        game = sitting.game
        game.stop()
        effects = self._finish_if_over(game, now)
        for guest, inside in zip(sitting.clients, game.is_inside, strict=True):
            if inside:
                effects += self._disconnect(guest, why, now)
        return effects

    # The end of a conversation.

    def _disconnect(self, guest: LobbyClient, why: Violation, now: float) -> Effects:
        """Tell a guest why he has to go, and drop him (oldmaid-1.8)."""
        return [*self._remove_client(guest, now), Send(guest.peer, refusal(why)), Drop(guest.peer)]

    def _remove_client(self, guest: LobbyClient, now: float) -> Effects:
        """A guest is gone: his place is free, or he is out and last (oldmaid-3.12, oldmaid-9.1)."""
        del self._clients[guest.peer]
        self._lobby.release_address(guest)
        if guest.queued is not None:
            self._lobby.leave(guest)
        elif guest.game is not None and guest.is_playing:
            guest.game.leave(guest.seat, now)
            return self._finish_if_over(guest.game, now)
        return []

    def _on_closing(self, now: float, *, final: bool) -> Effects:
        """Start no games from now on; when it is `final`, end those that are running and see everybody off."""
        self._is_closing = True
        effects: Effects = []
        for guest in self._lobby.waiting_clients:
            effects += self._disconnect(guest, CLOSING, now)
        if final:
            for sitting in [*self._running_games.values()]:
                effects += self._void_game(sitting, CLOSING, now)
            for guest in [*self._clients.values()]:
                effects += self._disconnect(guest, CLOSING, now)
        return effects

    # Alarms: lazy, because every message puts one off. A guest or a game is looked at when its old one would have rung.

    def _schedule_idle_check(self, guest: LobbyClient) -> None:
        """See to it that a guest who does nothing is found out (oldmaid-8.10)."""
        if not guest.has_idle_check:
            guest.has_idle_check = True
            self._schedule_check(guest.idle_since + self._idle, guest=True, number=guest.peer)

    def _schedule_check(self, due: float, *, guest: bool, number: int) -> None:
        """Look at a guest or a game later; forget now and then to look at those that are no more."""
        if len(self._checks) > 2 * (len(self._clients) + len(self._running_games)) + 64:
            self._checks = [
                alarm for alarm in self._checks if alarm[2] in (self._clients if alarm[1] else self._running_games)
            ]
            heapify(self._checks)
        heappush(self._checks, (due, guest, number))

    def _on_timed_out(self, now: float) -> Effects:
        effects: Effects = []
        if self._lobby.starts_at is not None and self._lobby.starts_at <= now:
            effects += self._start(now)
        while self._checks and self._checks[0][0] <= now:
            _, is_guest, number = heappop(self._checks)
            effects += self._check_idle(number, now) if is_guest else self._check_stuck(number, now)
        return effects

    def _check_idle(self, peer: Peer, now: float) -> Effects:
        """Look whether a guest is idle; one who waits or plays is watched again when he does not any more."""
        guest = self._clients.get(peer)
        if guest is None:
            return []
        guest.has_idle_check = False
        if guest.queued is not None or guest.is_playing:
            return []
        if guest.idle_since + self._idle > now:
            self._schedule_idle_check(guest)
            return []
        return self._disconnect(guest, Violation("oldmaid-8.10", f"silence for {self._idle:g} seconds", "join"), now)

    def _check_stuck(self, number: int, now: float) -> Effects:
        """Look whether a game is stuck (oldmaid-6.10)."""
        sitting = self._running_games.get(number)
        if sitting is None:
            return []
        limit = self.settings.stuck_seconds
        due = sitting.game.last_action_at + limit
        if due > now:
            self._schedule_check(due, guest=False, number=number)
            return []
        why = Violation(
            "oldmaid-6.10", f"a game in which nothing has happened for {limit:g} seconds", "one that goes on"
        )
        return self._void_game(sitting, why, now)
