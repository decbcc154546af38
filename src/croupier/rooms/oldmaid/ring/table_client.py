"""A player's place at the table of Old Maid: his hand, and what he asks and tells the table (oldmaid-3 to 6)."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from croupier.core.dealer import Luck
from croupier.core.errors import Violation
from croupier.core.rules import Seat
from croupier.core.session import Effect, Notify, Peer, Send
from croupier.rooms.oldmaid.cards import CARD_NUMBERS, JOKER, Card, to_wire
from croupier.rooms.oldmaid.cards import WireCard as Spelt
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
"""The table, whom the shell has called."""

type Effects = list[Effect[Message | PlayerEvent]]


@dataclass(frozen=True)
class Options:
    """What can be set about a player of Old Maid."""

    nick: str = "croupier"
    """The name with which it plays, 1 to 64 characters."""

    port: int | None = None
    """The port where it takes its right neighbour, if that is not the one from which it calls the table."""

    pause: float = 0.05
    """The seconds between taking an offer and picking, for peers that take one read for one message; 0: none."""

    poll_seconds: float = 1.0
    """Who is out asks for the status every so many seconds."""

    retry_seconds: float = 5.0
    """Who cannot be reached is tried for so many seconds before he counts as gone."""

    dialect: Dialect = "document"
    """How the table is expected to list the players."""


class TableOutcome(Enum):
    """What the table's answer has brought about."""

    SEATED = auto()  # the game has begun
    SETTLED = auto()  # all that a card has changed is told
    NO_CARD = auto()  # there is no card for us, and so no turn


class TableClient:
    """What a player has, and what he and the table have told each other. He adds to `effects` what he has to say.

    `hand` is in an order that only luck knows, `players` is the table's list and `seat` where he is in it, None before
    the game. `outside` are the seats that he knows to be out; the winner comes first when the table has told. `drawn`
    says that he knows that no more cards are drawn, and `out` that he has told the table that he has none. `standing`
    is what the table has told last, and `looks_at` when he asks again, in seconds. `word` is the last error that the
    table has told.
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
        self._requests: deque[ToTable] = deque()  # the first of them has been asked

    @property
    def is_waiting(self) -> bool:
        """Whether the table owes an answer."""
        return bool(self._requests)

    # What he asks and tells.

    def join(self) -> None:
        """Ask to play (oldmaid-3.1)."""
        self._request(Join(self._options.nick, self._options.port))

    def draw(self) -> None:
        """Ask for a card (oldmaid-4.8)."""
        self._request(Draw())

    def take_card(self, card: Card) -> TableOutcome | None:
        """Put a card into the hand, and throw away the pair that it makes, if any (oldmaid-7.8)."""
        self.hand.insert(self._luck.below(len(self.hand) + 1), card)
        if card == JOKER or card ^ 1 not in self.hand:
            return self._settle()
        last = self.is_deck_empty and len(self.hand) == 2
        self._request(Discard((to_wire(card & ~1), to_wire(card | 1)), "true" if last else "false"))
        return None

    def card_at(self, position: int, *, strict: bool) -> Card:
        """The card at a position that somebody has picked. Raises Violation where there is none."""
        last = len(self.hand) - 1
        if not 0 <= position <= last + 1:
            raise Violation("oldmaid-7.6", f"card_num {position}", f"0 to {last}")
        if position > last and strict:
            raise Violation("oldmaid-7.4", f"card_num {position}", f"0 to {last}")
        return self.hand[min(position, last)]

    def give_card(self, card: Card) -> None:
        """Give a card away; with the last one he is out (oldmaid-7.12)."""
        self.hand.remove(card)
        if not self.hand:
            self.report_out()

    def report_out(self) -> None:
        """Tell the table that he is out of cards (oldmaid-7.12)."""
        self.has_reported_out = True
        self._notify(HandEmptied())
        self._request(OutOfCards())

    def poll(self) -> None:
        """Ask who is in and who is out (oldmaid-7.16)."""
        self.polls_at = None
        self._request(Status())

    def mark_out(self, nick: str) -> None:
        """Somebody has told that he is out (oldmaid-7.9)."""
        seat = [seat for seat, (_, named) in enumerate(self.players) if named == nick]
        self.out_seats += [known for known in seat if known not in self.out_seats]

    def lacks(self, wire_card: Spelt) -> bool:
        """Whether this is a card, and one that he does not have."""
        return wire_card in CARD_NUMBERS and CARD_NUMBERS[wire_card] not in self.hand

    # What the table answers.

    def receive(self, message: Message, now: float) -> TableOutcome | PlayerResult | None:
        """What has come of what the table said; a result is the end."""
        if isinstance(message, Reply) and message.result == "error":
            self.last_error = message.message or ""
        if not self._requests:
            return None  # an answer to nothing (oldmaid-2.11)
        request = self._requests.popleft()
        if self._requests:
            self._effects.append(Send(TABLE, self._requests[0]))
        match request, message:
            case Join(), Reply("ok", players=tuple(players)):
                return self._take_seat(players)
            case Join(), Reply("error"):
                return PlayerResult("ended", reason=f"the table does not let us in: {self.last_error}")
            case Draw(), Reply("ok" | "last_card", card=tuple(told)) if self.lacks(told):
                last = message.result == "last_card"
                self.is_deck_empty = self.is_deck_empty or last
                self._notify(CardDrawn(CARD_NUMBERS[told], last))
                return self.take_card(CARD_NUMBERS[told])
            case Draw(), Reply("error"):
                return TableOutcome.NO_CARD  # (oldmaid-4.12)
            case Discard(cards), Reply("ok" | "error"):
                return self._finish_discard(*(CARD_NUMBERS[card] for card in cards), kept=message.result == "error")
            case OutOfCards(), Reply("ok" | "error"):
                self.polls_at = now + self._options.poll_seconds
                return TableOutcome.SETTLED
            case Status(), Standing():
                return self._update_standing(message, now)
        return misunderstood_result(f"{message} as the answer to {request}")

    def _take_seat(self, players: Sequence[ListedPlayer]) -> TableOutcome | PlayerResult:
        nick = self._options.nick
        nicks = [nick for _, nick in players]
        if nick not in nicks or not MIN_PLAYERS <= len(players) <= MAX_PLAYERS:
            allowed = f"{MIN_PLAYERS} to {MAX_PLAYERS}, {nick} among them"
            return PlayerResult(
                "ended", reason=str(Violation("oldmaid-3.19", f"the players {', '.join(nicks)}", allowed))
            )
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
        """Who has thrown away his last card tells it before he passes the turn on (oldmaid-7.12)."""
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
            return PlayerResult("out", place)
        self.polls_at = now + self._options.poll_seconds
        return None

    def _request(self, request: ToTable) -> None:
        """Ask the table, as soon as it has answered everything else (oldmaid-1.6)."""
        self._requests.append(request)
        if len(self._requests) == 1:
            self._effects.append(Send(TABLE, request))

    def _notify(self, news: PlayerEvent) -> None:
        self._effects.append(Notify(news))


def misunderstood_result(found: str) -> PlayerResult:
    """The end of a talk with a table that cannot be understood (oldmaid-8.11)."""
    return PlayerResult("ended", reason=str(Violation("oldmaid-8.11", found, "the answers of oldmaid-2.3")))
