"""A player's place at the table of Old Maid: his hand, and what he asks and tells the table (oldmaid-3 to 6)."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from croupier.core.dealer import Luck
from croupier.core.errors import Violation
from croupier.core.rules import Seat
from croupier.core.session import Effect, Peer, Say, Tell
from croupier.rooms.oldmaid.cards import JOKER, NUMBERS, Card, wire
from croupier.rooms.oldmaid.cards import Wire as Spelt
from croupier.rooms.oldmaid.ring.player_events import Discarded, Drew, Kept, News, Result, Rid, Sat, Stood, Won
from croupier.rooms.oldmaid.rules import FEWEST, MOST
from croupier.rooms.oldmaid.wire import (
    Dialect,
    Discard,
    Draw,
    Join,
    Message,
    OutOfCards,
    Reply,
    Seated,
    Standing,
    Status,
    ToTable,
)

TABLE: Final[Peer] = 0
"""The table, whom the shell has called."""

type Effects = list[Effect[Message | News]]


@dataclass(frozen=True)
class Options:
    """What can be set about a player of Old Maid."""

    nick: str = "croupier"
    """The name with which it plays, 1 to 64 characters."""

    port: int | None = None
    """The port where it takes its right neighbour, if that is not the one from which it calls the table."""

    pause: float = 0.05
    """The seconds between taking an offer and picking, for peers that take one read for one message; 0: none."""

    look: float = 1.0
    """Who is out asks for the status every so many seconds."""

    retry_seconds: float = 5.0
    """Who cannot be reached is tried for so many seconds before he counts as gone."""

    dialect: Dialect = "document"
    """How the table is expected to list the players."""


class Step(Enum):
    """What the table's answer has brought about."""

    SAT = auto()  # the game has begun
    SETTLED = auto()  # all that a card has changed is told
    VOID = auto()  # there is no card for us, and so no turn


class Place:
    """What a player has, and what he and the table have told each other. He adds to `effects` what he has to say.

    `hand` is in an order that only luck knows, `players` is the table's list and `seat` where he is in it, None before
    the game. `outside` are the seats that he knows to be out; the winner comes first when the table has told. `drawn`
    says that he knows that no more cards are drawn, and `out` that he has told the table that he has none. `standing`
    is what the table has told last, and `looks_at` when he asks again, in seconds. `word` is the last error that the
    table has told.
    """

    def __init__(self, options: Options, luck: Luck, effects: Effects) -> None:
        self.hand: list[Card] = []
        self.discarded: list[tuple[Card, Card]] = []
        self.outside: list[Seat] = []
        self.players: tuple[Seated, ...] = ()
        self.seat: Seat | None = None
        self.drawn = False
        self.out = False
        self.standing: Standing | None = None
        self.looks_at: float | None = None
        self.word = ""
        self._options = options
        self._luck = luck
        self._effects = effects
        self._errands: deque[ToTable] = deque()  # the first of them has been asked

    @property
    def waits(self) -> bool:
        """Whether the table owes an answer."""
        return bool(self._errands)

    # What he asks and tells.

    def join(self) -> None:
        """Ask to play (oldmaid-3.1)."""
        self._ask(Join(self._options.nick, self._options.port))

    def draw(self) -> None:
        """Ask for a card (oldmaid-4.8)."""
        self._ask(Draw())

    def take(self, card: Card) -> Step | None:
        """Put a card into the hand, and throw away the pair that it makes, if any (oldmaid-7.8)."""
        self.hand.insert(self._luck.below(len(self.hand) + 1), card)
        if card == JOKER or card ^ 1 not in self.hand:
            return self._settled()
        last = self.drawn and len(self.hand) == 2
        self._ask(Discard((wire(card & ~1), wire(card | 1)), "true" if last else "false"))
        return None

    def picked(self, position: int, *, strict: bool) -> Card:
        """The card at a position that somebody has picked. Raises Violation where there is none."""
        last = len(self.hand) - 1
        if not 0 <= position <= last + 1:
            raise Violation("oldmaid-7.6", f"card_num {position}", f"0 to {last}")
        if position > last and strict:
            raise Violation("oldmaid-7.4", f"card_num {position}", f"0 to {last}")
        return self.hand[min(position, last)]

    def give(self, card: Card) -> None:
        """Give a card away; with the last one he is out (oldmaid-7.12)."""
        self.hand.remove(card)
        if not self.hand:
            self.leave()

    def leave(self) -> None:
        """Tell the table that he is out of cards (oldmaid-7.12)."""
        self.out = True
        self._tell(Rid())
        self._ask(OutOfCards())

    def look(self) -> None:
        """Ask who is in and who is out (oldmaid-7.16)."""
        self.looks_at = None
        self._ask(Status())

    def is_out(self, nick: str) -> None:
        """Somebody has told that he is out (oldmaid-7.9)."""
        seat = [seat for seat, (_, named) in enumerate(self.players) if named == nick]
        self.outside += [known for known in seat if known not in self.outside]

    def lacks(self, told: Spelt) -> bool:
        """Whether this is a card, and one that he does not have."""
        return told in NUMBERS and NUMBERS[told] not in self.hand

    # What the table answers.

    def said(self, message: Message, now: float) -> Step | Result | None:
        """What has come of what the table said; a result is the end."""
        if isinstance(message, Reply) and message.result == "error":
            self.word = message.message or ""
        if not self._errands:
            return None  # an answer to nothing (oldmaid-2.11)
        request = self._errands.popleft()
        if self._errands:
            self._effects.append(Say(TABLE, self._errands[0]))
        match request, message:
            case Join(), Reply("ok", players=tuple(players)):
                return self._sat(players)
            case Join(), Reply("error"):
                return Result("ended", reason=f"the table does not let us in: {self.word}")
            case Draw(), Reply("ok" | "last_card", card=tuple(told)) if self.lacks(told):
                last = message.result == "last_card"
                self.drawn = self.drawn or last
                self._tell(Drew(NUMBERS[told], last))
                return self.take(NUMBERS[told])
            case Draw(), Reply("error"):
                return Step.VOID  # (oldmaid-4.12)
            case Discard(cards), Reply("ok" | "error"):
                return self._discarded(*(NUMBERS[card] for card in cards), kept=message.result == "error")
            case OutOfCards(), Reply("ok" | "error"):
                self.looks_at = now + self._options.look
                return Step.SETTLED
            case Status(), Standing():
                return self._stood(message, now)
        return misunderstood(f"{message} as the answer to {request}")

    def _sat(self, players: Sequence[Seated]) -> Step | Result:
        nick = self._options.nick
        nicks = [nick for _, nick in players]
        if nick not in nicks or not FEWEST <= len(players) <= MOST:
            allowed = f"{FEWEST} to {MOST}, {nick} among them"
            return Result("ended", reason=str(Violation("oldmaid-3.19", f"the players {', '.join(nicks)}", allowed)))
        self.players, self.seat = tuple(players), nicks.index(nick)
        self._tell(Sat(self.players, self.seat))
        return Step.SAT

    def _discarded(self, a: Card, b: Card, *, kept: bool) -> Step | None:
        if kept:
            self._tell(Kept(a, b, self.word))
        else:
            self.hand.remove(a)
            self.hand.remove(b)
            self.discarded.append((a, b))
            self._tell(Discarded(a, b))
        return self._settled()

    def _settled(self) -> Step | None:
        """Who has thrown away his last card tells it before he passes the turn on (oldmaid-7.12)."""
        if self.hand or not self.drawn:
            return Step.SETTLED
        self.leave()
        return None

    def _stood(self, standing: Standing, now: float) -> Result | None:
        nick, before = self._options.nick, self.standing
        self.standing = standing
        self.outside = []
        for other in standing.outside:
            self.is_out(other)
        place = standing.outside.index(nick) + 1 if nick in standing.outside else None
        if standing != before:
            self._tell(Stood(standing))
        if place is not None and (before is None or nick not in before.outside):
            self._tell(Won(place))
        if len(standing.inside) <= 1:
            return Result("out", place)
        self.looks_at = now + self._options.look
        return None

    def _ask(self, request: ToTable) -> None:
        """Ask the table, as soon as it has answered everything else (oldmaid-1.6)."""
        self._errands.append(request)
        if len(self._errands) == 1:
            self._effects.append(Say(TABLE, request))

    def _tell(self, news: News) -> None:
        self._effects.append(Tell(news))


def misunderstood(found: str) -> Result:
    """The end of a talk with a table that cannot be understood (oldmaid-8.11)."""
    return Result("ended", reason=str(Violation("oldmaid-8.11", found, "the answers of oldmaid-2.3")))
