"""A player's conversation with the Old Maid table, and its hand (oldmaid-3 to 6)."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from croupier.core.dealer import Luck
from croupier.core.errors import Violation
from croupier.core.rules import Seat
from croupier.core.session import Effect, Notify, Peer, Send
from croupier.rooms.oldmaid.cards import CARD_NUMBERS, JOKER, Card, WireCard, pair_of, to_wire
from croupier.rooms.oldmaid.ring.player_events import (
    CardDrawn,
    HandEmptied,
    PairDiscarded,
    PairRefused,
    PlaceAnnounced,
    PlayerEvent,
    PlayerResult,
    SeatTaken,
    StandingChanged,
)
from croupier.rooms.oldmaid.rules import MAX_PLAYERS, MIN_PLAYERS
from croupier.rooms.oldmaid.wire import (
    Dialect,
    Discard,
    Draw,
    Join,
    ListedPlayer,
    Message,
    OutOfCards,
    Reply,
    Standing,
    Status,
    ToTable,
)

TABLE: Final[Peer] = 0
"""The peer number of the table, to which the player is connected from the start."""

type Effects = list[Effect[Message | PlayerEvent]]


@dataclass(frozen=True)
class Options:
    """The options of an Old Maid player.

    Example:
        >>> options = Options(nick="ann", pause=0)
        >>> options.nick, options.retry_seconds
        ('ann', 5.0)
    """

    nick: str = "croupier"
    """The player's nick, 1 to 64 characters."""

    port: int | None = None
    """The port for the right neighbour, if it is not the local port of the connection to the table."""

    pause: float = 0.05
    """Seconds between accepting an offer and picking, for peers that parse each read as one message; 0: none."""

    poll_seconds: float = 1.0
    """Seconds between status requests of a player that is out."""

    retry_seconds: float = 5.0
    """Seconds to keep retrying an unreachable player before treating it as gone."""

    dialect: Dialect = "document"
    """The form of the player list that the table sends."""


class TableOutcome(Enum):
    """The consequence of an answer of the table."""

    SEATED = auto()  # the game has begun
    SETTLED = auto()  # the table has answered all requests that a new card caused
    NO_CARD = auto()  # the table refused a draw, so the turn is not ours


class TableClient:
    """A player's hand and its requests to the table. Effects are appended to `effects`.

    `hand` is in random order. `players` is the table's list and `seat` the player's index in it, None before the game.
    `out_seats` are the seats known to be out, the winner first once the table has reported the standing.
    `is_deck_empty` says that the player knows that the deck is empty, and `has_reported_out` that it has sent
    `out_of_cards`. `standing` is the last one received, `polls_at` when the player asks for the next one, in seconds,
    and `last_error` the table's last error message.
    """

    def __init__(self, options: Options, luck: Luck, effects: Effects) -> None:
        self.hand: list[Card] = []
        self.discarded_pairs: list[tuple[Card, Card]] = []
        self.out_seats: list[Seat] = []
        self.players: tuple[ListedPlayer, ...] = ()
        self.seat: Seat | None = None
        self.is_deck_empty = False
        self.has_reported_out = False
        self.standing: Standing | None = None
        self.polls_at: float | None = None
        self.last_error = ""
        self._options = options
        self._luck = luck
        self._effects = effects
        self._requests: deque[ToTable] = deque()  # the first one is sent, the others wait

    @property
    def is_waiting(self) -> bool:
        """Whether an answer of the table is pending."""
        return bool(self._requests)

    @property
    def has_only_old_maid(self) -> bool:
        """Whether the old maid is the last card, and none can be drawn."""
        return self.is_deck_empty and self.hand == [JOKER]

    @property
    def is_reporting_out(self) -> bool:
        """Whether the table owes the answer to `out_of_cards`."""
        return OutOfCards() in self._requests

    # Requests.

    def join(self) -> None:
        """Send `join` (oldmaid-3.1)."""
        self._request(Join(self._options.nick, self._options.port))

    def draw(self) -> None:
        """Send `draw` (oldmaid-4.8)."""
        self._request(Draw())

    def take_card(self, card: Card) -> TableOutcome | None:
        """Add a card to the hand and discard the pair that it makes, if any (oldmaid-7.8)."""
        self.hand.insert(self._luck.below(len(self.hand) + 1), card)
        pair = pair_of(card)
        if pair is None or not {*pair} <= {*self.hand}:
            return self._settle()
        last = self.is_deck_empty and len(self.hand) == 2
        self._request(Discard((to_wire(pair[0]), to_wire(pair[1])), "true" if last else "false"))
        return None

    def card_at(self, position: int, *, strict: bool) -> Card:
        """The card at a picked position. Raises Violation if the position is out of range."""
        last = len(self.hand) - 1
        if not 0 <= position <= last + 1:
            raise Violation("oldmaid-7.6", f"card_num {position}", f"0 to {last}")
        if position > last and strict:
            raise Violation("oldmaid-7.4", f"card_num {position}", f"0 to {last}")
        return self.hand[min(position, last)]

    def give_card(self, card: Card) -> None:
        """Remove a card that a neighbour picked; report `out_of_cards` after the last one (oldmaid-7.12)."""
        self.hand.remove(card)
        if not self.hand:
            self.report_out()

    def report_out(self) -> None:
        """Send `out_of_cards` (oldmaid-7.12)."""
        self.has_reported_out = True
        self._notify(HandEmptied())
        self._request(OutOfCards())

    def poll(self) -> None:
        """Send `status` (oldmaid-7.11, oldmaid-7.16)."""
        self.polls_at = None
        self._request(Status())

    def mark_out(self, nick: str) -> None:
        """Record that a player is out (oldmaid-7.9)."""
        seats = [seat for seat, (_, named) in enumerate(self.players) if named == nick]
        self.out_seats += [seat for seat in seats if seat not in self.out_seats]

    def lacks(self, wire_card: WireCard) -> bool:
        """Whether this is a valid card that is not in the hand."""
        return wire_card in CARD_NUMBERS and CARD_NUMBERS[wire_card] not in self.hand

    # Answers.

    def receive(self, message: Message, now: float) -> TableOutcome | PlayerResult | None:
        """Process a message of the table. Returns its consequence; a PlayerResult ends the game."""
        if isinstance(message, Reply) and message.result == "error":
            self.last_error = message.message or ""
        if not self._requests:
            return None  # no request is pending (oldmaid-2.11)
        request = self._requests.popleft()
        if self._requests:
            self._effects.append(Send(TABLE, self._requests[0]))
        match request, message:
            case Join(), Reply("ok", players=tuple(players)):
                return self._take_seat(players)
            case Join(), Reply("error"):
                nick = self._options.nick
                return PlayerResult("ended", reason=f"the table does not let {nick} in: {self.last_error}")
            case Draw(), Reply("ok" | "last_card", card=tuple(card)) if self.lacks(card):
                last = message.result == "last_card"
                self.is_deck_empty = self.is_deck_empty or last
                self._notify(CardDrawn(CARD_NUMBERS[card], last))
                return self.take_card(CARD_NUMBERS[card])
            case Draw(), Reply("error"):
                return TableOutcome.NO_CARD  # (oldmaid-4.12)
            case Discard(cards), Reply("ok" | "error"):
                return self._finish_discard(*(CARD_NUMBERS[card] for card in cards), kept=message.result == "error")
            case OutOfCards(), Reply("ok" | "error"):
                self.polls_at = now + self._options.poll_seconds
                return TableOutcome.SETTLED
            case Status(), Standing():
                return self._update_standing(message, now)
        return ended_by(
            Violation("oldmaid-8.11", f"{message} as the answer to {request}", "the answers of oldmaid-2.3")
        )

    def _take_seat(self, players: Sequence[ListedPlayer]) -> TableOutcome | PlayerResult:
        nick = self._options.nick
        nicks = [nick for _, nick in players]
        if nick not in nicks or not MIN_PLAYERS <= len(players) <= MAX_PLAYERS:
            allowed = f"{MIN_PLAYERS} to {MAX_PLAYERS}, {nick} among them"
            return ended_by(Violation("oldmaid-3.19", f"the players {', '.join(nicks)}", allowed))
        self.players, self.seat = tuple(players), nicks.index(nick)
        self._notify(SeatTaken(self.players, self.seat))
        return TableOutcome.SEATED

    def _finish_discard(self, a: Card, b: Card, *, kept: bool) -> TableOutcome | None:
        if kept:
            self._notify(PairRefused(a, b, self.last_error))
        else:
            self.hand.remove(a)
            self.hand.remove(b)
            self.discarded_pairs.append((a, b))
            self._notify(PairDiscarded(a, b))
        return self._settle()

    def _settle(self) -> TableOutcome | None:
        """Report `out_of_cards` before the turn is passed on if the hand is empty (oldmaid-7.12)."""
        if self.hand or not self.is_deck_empty:
            return TableOutcome.SETTLED
        self.report_out()
        return None

    def _update_standing(self, standing: Standing, now: float) -> PlayerResult | None:
        nick, before = self._options.nick, self.standing
        self.standing = standing
        self.out_seats = []
        for other in standing.outside:
            self.mark_out(other)
        place = standing.outside.index(nick) + 1 if nick in standing.outside else None
        if standing != before:
            self._notify(StandingChanged(standing))
        if place is not None and (before is None or nick not in before.outside):
            self._notify(PlaceAnnounced(place))
        if len(standing.inside) <= 1:
            return PlayerResult("out" if self.has_reported_out else "lost", place)
        self.polls_at = now + self._options.poll_seconds
        return None

    def _request(self, request: ToTable) -> None:
        """Send a request once all earlier ones are answered (oldmaid-1.6)."""
        self._requests.append(request)
        if len(self._requests) == 1:
            self._effects.append(Send(TABLE, request))

    def _notify(self, event: PlayerEvent) -> None:
        self._effects.append(Notify(event))


def ended_by(violation: Violation) -> PlayerResult:
    """The result of a game that ends because the table broke a clause (oldmaid-3.19, oldmaid-8.11)."""
    return PlayerResult("ended", reason=str(violation))
