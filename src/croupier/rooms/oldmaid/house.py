"""The table of Old Maid: who waits for a game, who plays in which, and when somebody's time is over.

See docs/protocols/oldmaid.md, 3, 6, 8 and 9. What is done within a game is the game's to allow.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import Final, NamedTuple

from croupier.core.dealer import Dealer, commitment
from croupier.core.errors import Violation
from croupier.core.plural import counted
from croupier.core.session import (
    Commit,
    Drop,
    Effect,
    Event,
    Finished,
    Garbled,
    Halted,
    Joined,
    Left,
    Peer,
    Rang,
    Reveal,
    Said,
    Say,
)
from croupier.rooms.oldmaid.cards import WIRES
from croupier.rooms.oldmaid.settings import Settings
from croupier.rooms.oldmaid.table.game import ABOUT_HANDS, CARDS, Game
from croupier.rooms.oldmaid.table.lobby import Guest, Lobby, check_nick
from croupier.rooms.oldmaid.table.persistence import Course, Note, Started
from croupier.rooms.oldmaid.wire import (
    OK,
    THROWN,
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

DRAWN: Final = tuple(Reply("ok", card=card) for card in WIRES)
DRAWN_LAST: Final = tuple(Reply("last_card", card=card) for card in WIRES)
"""The answers to Draw by the card (oldmaid-4.2, oldmaid-4.4)."""

HOMELESS: Final[Mapping[type[Message], tuple[str, str]]] = {
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
MUTE: Final = Violation("oldmaid-9.15", "a table that can write nothing down", "to come again later")


class Sitting(NamedTuple):
    """A game that is played, its dealer, and its players in the order of the list."""

    game: Game
    dealer: Dealer
    guests: Sequence[Guest]


class House:
    """A session that all peers of the table share. See `Session`.

    `dealers` gives the dealer of the n-th game of the table, which Commit, Finished and Reveal call their peer or deal.
    Whoever neither waits nor plays is dropped after `idle` seconds without a message. `alarm` may ring too early, as
    that of a hall. `notes` is what has happened in games since whoever writes it down has taken it; None where nobody
    does. Raises ValueError on settings that make no sense.
    """

    def __init__(
        self, settings: Settings, dealers: Callable[[int], Dealer], *, idle: float = 500.0, noting: bool = False
    ) -> None:
        settings.check()
        self.settings = settings
        self.notes: list[Note] | None = [] if noting else None
        self._dealers = dealers
        self._idle = idle
        self._closing = False
        self._mute = False
        self._void: tuple[int, float] = 0, 0.0  # so many games were interrupted, which is told until then
        self._started = 0
        self._guests: dict[Peer, Guest] = {}
        self._lobby = Lobby(settings.players, settings.join_window)
        self._sittings: dict[int, Sitting] = {}
        self._alarms: list[tuple[float, bool, int]] = []  # when to look at a game (by its number) or a guest (True)

    @property
    def alarm(self) -> float | None:
        """When the house wants to hear Rang."""
        alarms, window = self._alarms, self._lobby.due
        if not alarms:
            return window
        return alarms[0][0] if window is None or alarms[0][0] < window else window

    @property
    def playing(self) -> bool:
        """Whether a game is played."""
        return bool(self._sittings)

    # What is kept.

    def go_on(self, started: int, void: int, now: float) -> None:
        """Go on where a table was interrupted that had started so many games, of which some are void (oldmaid-9.14)."""
        self._started = started
        self._void = void, now + self.settings.stuck_seconds

    def knows(self, peer: Peer) -> bool:
        """Whether a peer is at the table."""
        return peer in self._guests

    def mute(self, now: float, lost: Iterable[Peer]) -> Effects:
        """Nothing can be written down: all games are void, and those who have `lost` an answer are seen off, too."""
        self._mute = True
        effects: Effects = []
        for sitting in [*self._sittings.values()]:
            effects += self._stop(sitting, MUTE, now)
        for peer in dict.fromkeys([*(guest.peer for guest in self._lobby.waiting), *lost]):
            if (guest := self._guests.get(peer)) is not None:
                effects += self._dismiss(guest, MUTE, now)
        return effects

    def speak(self) -> None:
        """Everything can be written down again: there may be games."""
        self._mute = False

    def on(self, event: Event[Message], now: float) -> Sequence[Effect[Answer]]:
        """What the table does about an event. Whom it has dropped it does not hear any more."""
        if type(event) is Said:
            guest = self._guests.get(event.peer)
            if guest is None:
                return ()
            guest.heard = now
            if guest.kept is None:
                return self._answered(guest, event.message, now)
            return self._keep(guest, event.message, now)
        match event:
            case Garbled(peer, violation):
                guest = self._guests.get(peer)
                return () if guest is None else self._garbled(guest, violation, now)
            case Joined(peer, address):
                self._guests[peer] = guest = Guest(peer, address, now)
                self._watch(guest)
                return ()
            case Left(peer):
                guest = self._guests.get(peer)
                return () if guest is None else self._forget(guest, now)
            case Rang():
                return self._rang(now)
            case _:
                assert isinstance(event, Halted), f"{event} is not for a table"
                return self._halted(now, final=event.final)

    # What a guest says.

    def _answered(self, guest: Guest, message: Message, now: float) -> Effects:
        """Do what a guest asks who does not wait, or refuse it."""
        game = guest.game
        answer: Answer
        try:
            if type(message) is Draw and game is not None:  # more than half of all that is said
                card = game.draw(guest.seat, now)
                return [Say(guest.peer, (DRAWN if game.drawn < CARDS else DRAWN_LAST)[card])]
            if type(message) is Join:
                return self._joined(guest, message, now)
            if type(message) is Reply:
                return []  # to nothing (oldmaid-2.11)
            if game is None:
                clause, found = HOMELESS[type(message)]
                raise Violation(clause, f"{found}{self._told(now)}", "join")
            if type(message) is Discard:
                game.discard(guest.seat, *message.cards, now)
                answer = THROWN
            elif type(message) is Status:
                answer = game.standing
            else:
                assert type(message) is OutOfCards, f"{message} is not for a table"
                game.finish(guest.seat, now)
                self._watch(guest)
                return [*self._judged(game, now), Say(guest.peer, OK)]
        except Violation as violation:
            answer = self._refusal(violation)
        return [Say(guest.peer, answer)]

    def _refusal(self, violation: Violation) -> Answer:
        return NOT_HELD if violation.clause in ABOUT_HANDS else refusal(violation)

    def _told(self, now: float) -> str:
        """What who plays no game is told of those that were interrupted."""
        void, until = self._void
        told = f" (the table was interrupted: {counted(void, 'game')} {'is' if void == 1 else 'are'} void)"
        return told if void and now < until else ""

    def _keep(self, guest: Guest, said: Message | Violation, now: float) -> Effects:
        try:
            guest.keep(said)
        except Violation as violation:
            return self._dismiss(guest, violation, now)
        return []

    def _garbled(self, guest: Guest, violation: Violation, now: float) -> Effects:
        guest.heard = now
        if violation.lost:
            return self._dismiss(guest, violation, now)
        if guest.kept is not None:
            return self._keep(guest, violation, now)
        return [Say(guest.peer, refusal(violation))]

    def _joined(self, guest: Guest, join: Join, now: float) -> Effects:
        """Let a guest wait for the next game; start it when he is the last one that it needs. Raises Violation."""
        check_nick(join.nick)
        if guest.plays:
            raise Violation("oldmaid-3.14", "join in a game that is running", "draw, discard, out_of_cards, status")
        if self._closing:
            return self._dismiss(guest, CLOSING, now)
        if self._mute:
            return [Say(guest.peer, refusal(MUTE))]
        self._lobby.join(guest, join, now)
        return self._start(now) if self._lobby.full else []

    # Games.

    def _start(self, now: float) -> Effects:
        """All who wait play a game; what they have said behind their joins is answered now."""
        guests = self._lobby.waiting
        kept = [(guest.peer, guest.kept or ()) for guest in guests]
        self._started += 1
        number = self._started
        dealer = self._dealers(number)
        nicks = tuple(guest.nick for guest in guests)
        course = None
        if self.notes is not None:
            self.notes.append(Started(number, nicks))
            course = Course(number, self.notes)
        game = Game(number, nicks, dealer.deck(CARDS), now, course)
        listed = Reply("ok", players=self._lobby.seat(game))
        self._sittings[number] = Sitting(game, dealer, guests)
        self._look(now + self.settings.stuck_seconds, guest=False, number=number)
        effects: Effects = [Commit(number, dealer.algorithm, commitment(dealer.server_seed))]
        effects += [Say(guest.peer, listed) for guest in guests]
        for peer, behind in kept:
            for said in behind:
                effects += self.on(Garbled(peer, said) if isinstance(said, Violation) else Said(peer, said), now)
        return effects

    def _judged(self, game: Game, now: float) -> Effects:
        """The facts of a game if it is over; its players are free, and reached by nobody any more."""
        if not game.over:
            return []
        game, dealer, guests = self._sittings.pop(game.number)
        if isinstance(game.course, Course):
            game.course.end(void=game.void)
        for guest in guests:
            if guest.game is game and guest.kept is None:
                self._lobby.release(guest)
                if game.inside[guest.seat]:
                    guest.heard = now  # he had no time to be idle before
                    self._watch(guest)
        return [
            Finished(game.number, game.nets, game),
            Reveal(game.number, dealer.algorithm, dealer.server_seed, dealer.client_seed, dealer.hands),
        ]

    def _stop(self, sitting: Sitting, why: Violation, now: float) -> Effects:
        """Stop a game, and see off those who are in."""
        game = sitting.game
        game.stop()
        effects = self._judged(game, now)
        for guest, inside in zip(sitting.guests, game.inside, strict=True):
            if inside:
                effects += self._dismiss(guest, why, now)
        return effects

    # The end of a conversation.

    def _dismiss(self, guest: Guest, why: Violation, now: float) -> Effects:
        """Tell a guest why he has to go, and drop him (oldmaid-1.8)."""
        return [*self._forget(guest, now), Say(guest.peer, refusal(why)), Drop(guest.peer)]

    def _forget(self, guest: Guest, now: float) -> Effects:
        """A guest is gone: his place is free, or he is out and last (oldmaid-3.12, oldmaid-9.1)."""
        del self._guests[guest.peer]
        self._lobby.release(guest)
        if guest.kept is not None:
            self._lobby.leave(guest)
        elif guest.game is not None and guest.plays:
            guest.game.leave(guest.seat, now)
            return self._judged(guest.game, now)
        return []

    def _halted(self, now: float, *, final: bool) -> Effects:
        """Start no games from now on; when it is `final`, end those that are running and see everybody off."""
        self._closing = True
        effects: Effects = []
        for guest in self._lobby.waiting:
            effects += self._dismiss(guest, CLOSING, now)
        if final:
            for sitting in [*self._sittings.values()]:
                effects += self._stop(sitting, CLOSING, now)
            for guest in [*self._guests.values()]:
                effects += self._dismiss(guest, CLOSING, now)
        return effects

    # Alarms: lazy, because every message puts one off. A guest or a game is looked at when its old one would have rung.

    def _watch(self, guest: Guest) -> None:
        """See to it that a guest who does nothing is found out (oldmaid-8.10)."""
        if not guest.watched:
            guest.watched = True
            self._look(guest.heard + self._idle, guest=True, number=guest.peer)

    def _look(self, due: float, *, guest: bool, number: int) -> None:
        """Look at a guest or a game later; forget now and then to look at those that are no more."""
        if len(self._alarms) > 2 * (len(self._guests) + len(self._sittings)) + 64:
            self._alarms = [
                alarm for alarm in self._alarms if alarm[2] in (self._guests if alarm[1] else self._sittings)
            ]
            heapify(self._alarms)
        heappush(self._alarms, (due, guest, number))

    def _rang(self, now: float) -> Effects:
        effects: Effects = []
        if self._lobby.due is not None and self._lobby.due <= now:
            effects += self._start(now)
        while self._alarms and self._alarms[0][0] <= now:
            _, is_guest, number = heappop(self._alarms)
            effects += self._seen(number, now) if is_guest else self._stuck(number, now)
        return effects

    def _seen(self, peer: Peer, now: float) -> Effects:
        """Look whether a guest is idle; one who waits or plays is watched again when he does not any more."""
        guest = self._guests.get(peer)
        if guest is None:
            return []
        guest.watched = False
        if guest.kept is not None or guest.plays:
            return []
        if guest.heard + self._idle > now:
            self._watch(guest)
            return []
        return self._dismiss(guest, Violation("oldmaid-8.10", f"silence for {self._idle:g} seconds", "join"), now)

    def _stuck(self, number: int, now: float) -> Effects:
        """Look whether a game is stuck (oldmaid-6.10)."""
        sitting = self._sittings.get(number)
        if sitting is None:
            return []
        limit = self.settings.stuck_seconds
        due = sitting.game.moved + limit
        if due > now:
            self._look(due, guest=False, number=number)
            return []
        why = Violation(
            "oldmaid-6.10", f"a game in which nothing has happened for {limit:g} seconds", "one that goes on"
        )
        return self._stop(sitting, why, now)
