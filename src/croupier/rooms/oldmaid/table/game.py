"""One game as the table knows it: who has drawn what, which pairs are gone, who is out, and who is last.

The table sees no offers, so it knows no hands once they are passed on (docs/protocols/oldmaid.md, 4, 5, 6 and 9).
"""

from collections.abc import Iterator, Sequence
from typing import Final, Literal

from croupier.core.errors import Violation
from croupier.core.rules import Seat
from croupier.rooms.oldmaid.cards import NUMBERS, WIRES, Card, Wire, pairs
from croupier.rooms.oldmaid.wire import Standing

CARDS: Final = len(WIRES)

DECK: Final = -1
THROWN: Final = -2
"""Who holds a card that nobody has drawn, and one that was thrown away."""

ABOUT_HANDS: Final = frozenset({"oldmaid-5.5", "oldmaid-5.6", "oldmaid-5.7"})
"""Clauses by which a discard is refused because of where its cards are; no player may learn which (oldmaid-5.12)."""

type Drew = tuple[Literal["drew"], Seat, Card]
type Threw = tuple[Literal["threw"], Seat, Card, Card]
type Withdrew = tuple[Literal["out", "gone"], Seat]
type Deed = Drew | Threw | Withdrew
"""What a seat has done."""


class Game:
    """One game of so many nicks in the order of the list; it changes as it is played.

    What a seat does is done, or raises Violation, and then nothing has changed (oldmaid-8.1). `number` counts the games
    of the table from 1. `course` is everything that was done, and `moved` the time in seconds at which something was
    done last. `drawn` cards are not in the deck any more; `taker` draws the next one. `inside` says of every seat
    whether it is in; `finished` are those that were out of cards, and `gone` those that have left while they were in,
    each in its order. A game that is `over` without an end of its own is also `void`.
    """

    __slots__ = (
        "_deck",
        "_held",
        "_holders",
        "_standing",
        "course",
        "drawn",
        "finished",
        "gone",
        "inside",
        "moved",
        "nicks",
        "number",
        "over",
        "taker",
        "void",
    )

    def __init__(
        self, number: int, nicks: Sequence[str], deck: Iterator[Card], now: float, course: list[Deed] | None = None
    ) -> None:
        self.number = number
        self.nicks = tuple(nicks)
        self.moved = now
        self.taker: Seat = 0
        self.drawn = 0
        self.inside = [True] * len(nicks)
        self.finished: list[Seat] = []
        self.gone: list[Seat] = []
        self.over = False
        self.void = False
        self.course: list[Deed] = [] if course is None else course
        self._deck = deck
        self._held = [0] * len(nicks)
        self._holders = [DECK] * CARDS
        self._standing: Standing | None = None

    # What is known.

    @property
    def dealt(self) -> tuple[Card, ...]:
        """The cards that were drawn, in their order."""
        return tuple(deed[2] for deed in self.course if deed[0] == "drew")

    @property
    def standing(self) -> Standing:
        """Who is in, in the order of the list, and who is out: the winner first, the first to go last (oldmaid-6.6).

        Nobody is in a void game any more: who is out and asks from time to time is not to wait for its end.
        """
        if self._standing is None:
            inside = [nick for nick, inside in zip(self.nicks, self.inside, strict=True) if inside]
            finished = [self.nicks[seat] for seat in self.finished]
            gone = [self.nicks[seat] for seat in reversed(self.gone)]
            stopped = inside if self.void else []
            self._standing = Standing(() if self.void else tuple(inside), (*finished, *stopped, *gone))
        return self._standing

    @property
    def ranking(self) -> tuple[Seat, ...]:
        """The seats from the winner to the loser (oldmaid-6.11); nobody before the end, and of a void game."""
        if not self.over or self.void:
            return ()
        return (*self.finished, self.inside.index(True), *reversed(self.gone))

    @property
    def nets(self) -> tuple[int, ...]:
        """−1 for who has lost and 0 for the others."""
        loser = self.ranking[-1] if self.ranking else None
        return tuple(-(seat == loser) for seat in range(len(self.nicks)))

    # What is done.

    def draw(self, seat: Seat, now: float) -> Card:
        """Give a card from the deck to the seat whose turn it is."""
        if self.over:
            raise _ended("draw")
        if self.drawn == CARDS:
            raise Violation("oldmaid-4.5", "draw, and no card in the deck", "discard, out_of_cards, status")
        if seat != self.taker:
            raise Violation("oldmaid-4.3", "draw out of order", f"one by {self.nicks[self.taker]!r}")
        card = next(self._deck)
        self._holders[card] = seat
        self._held[seat] += 1
        self.drawn += 1
        following = seat + 1
        if following < len(self.inside) and self.inside[following]:
            self.taker = following
        else:
            self._pass_on()
        self.course.append(("drew", seat, card))
        self.moved = now
        return card

    def discard(self, seat: Seat, one: Wire, other: Wire, now: float) -> None:
        """Throw away a pair of a seat that has drawn both of its cards, or may have picked them since.

        Who is left may do so when the game is over: it is, as soon as whoever gave him the card says so (oldmaid-6.9).
        """
        if self.over and (self.void or not self.inside[seat]):
            raise _ended("discard")
        if not self.inside[seat]:
            raise Violation("oldmaid-5.9", "discard from who is out", "status, join")
        a, b = NUMBERS.get(one), NUMBERS.get(other)
        if a is None or b is None:
            raise Violation("oldmaid-5.4", _told(one, other), "cards of the pack, as 3 spades")
        if not pairs(a, b):
            raise Violation("oldmaid-5.3", _told(one, other), "the same value, spades and clubs or diamonds and hearts")
        by = self._holders[a], self._holders[b]
        if THROWN in by:
            raise Violation("oldmaid-5.5", f"{_told(one, other)}, thrown away before", "a pair that is in the game")
        if DECK in by:
            raise Violation("oldmaid-5.6", f"{_told(one, other)}, not both drawn yet", "cards that were drawn")
        if self.drawn < CARDS and by != (seat, seat):
            raise Violation("oldmaid-5.7", f"{_told(one, other)}, drawn by somebody else", "cards of one's own")
        self._holders[a] = self._holders[b] = THROWN
        self._held[seat] -= 2
        self._did(("threw", seat, a, b), now)

    def finish(self, seat: Seat, now: float, *, believed: bool = False) -> None:
        """A seat has no cards any more; one that must hold some is refused unless it is `believed` (oldmaid-6.12)."""
        if self.over:
            raise _ended("out_of_cards")
        if self.drawn < CARDS:
            raise Violation("oldmaid-6.2", f"out_of_cards with {CARDS - self.drawn} cards in the deck", "draw, discard")
        if not self.inside[seat]:
            raise Violation("oldmaid-6.3", "out_of_cards from who is out", "status, join")
        if self._held[seat] > self._most_passed_on and not believed:
            raise Violation("oldmaid-6.12", "out_of_cards from a player who must still hold cards", "offer, discard")
        self.finished.append(seat)
        self._withdraw(("out", seat), now)

    def leave(self, seat: Seat, now: float) -> None:
        """A seat that is in is gone, and the cards that it holds with it (oldmaid-9.2)."""
        self.gone.append(seat)
        self._withdraw(("gone", seat), now)
        if seat == self.taker:
            self._pass_on()

    @property
    def _most_passed_on(self) -> int:
        """How many cards more than it has picked a seat may have passed on: two for each other seat (oldmaid-6.12)."""
        return 2 * (len(self.nicks) - 1)

    def stop(self) -> None:
        """The game is void: nobody has lost it (oldmaid-6.10, oldmaid-9.12)."""
        self.over = self.void = True
        self._standing = None

    def _did(self, deed: Deed, now: float) -> None:
        self.course.append(deed)
        self.moved = now

    def _withdraw(self, deed: Withdrew, now: float) -> None:
        """A seat is not in any more; when one is left the game is over (oldmaid-6.8, oldmaid-9.3)."""
        self.inside[deed[1]] = False
        self.over = sum(self.inside) == 1
        self._standing = None
        self._did(deed, now)

    def _pass_on(self) -> None:
        """The next one draws who is in."""
        inside, taker = self.inside, self.taker + 1
        while not inside[taker % len(inside)]:
            taker += 1
        self.taker = taker % len(inside)


def _ended(cmd: str) -> Violation:
    return Violation("oldmaid-6.9", f"{cmd} when the game is over", "status, join")


def _told(one: Wire, other: Wire) -> str:
    """Two cards for people, however long they are spelt."""
    return " with ".join(repr(f"{value[:20]} {suit[:20]}") for value, suit in (one, other))
