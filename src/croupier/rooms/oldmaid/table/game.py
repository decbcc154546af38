"""One game as the table knows it: who has drawn what, which pairs are gone, who is out, and who is last.

The table sees no offers, so it knows no hands once they are passed on (docs/protocols/oldmaid.md, 4, 5, 6 and 9).
"""

from collections.abc import Iterator, Sequence
from typing import Final, Literal

from croupier.core.errors import Violation
from croupier.core.rules import Seat
from croupier.rooms.oldmaid.cards import CARD_NUMBERS, WIRE_CARDS, Card, WireCard, is_pair
from croupier.rooms.oldmaid.wire import Standing

CARD_COUNT: Final = len(WIRE_CARDS)

IN_DECK: Final = -1
DISCARDED: Final = -2
"""Who holds a card that nobody has drawn, and one that was thrown away."""

HIDDEN_HAND_CLAUSES: Final = frozenset({"oldmaid-5.5", "oldmaid-5.6", "oldmaid-5.7"})
"""Clauses by which a discard is refused because of where its cards are; no player may learn which (oldmaid-5.12)."""

type DrawAction = tuple[Literal["drew"], Seat, Card]
type DiscardAction = tuple[Literal["threw"], Seat, Card, Card]
type WithdrawAction = tuple[Literal["out", "gone"], Seat]
type Action = DrawAction | DiscardAction | WithdrawAction
"""What a seat has done."""


class TableGame:
    """One game of so many nicks in the order of the list; it changes as it is played.

    What a seat does is done, or raises Violation, and then nothing has changed (oldmaid-8.1). `number` counts the games
    of the table from 1. `course` is everything that was done, and `moved` the time in seconds at which something was
    done last. `drawn` cards are not in the deck any more; `taker` draws the next one. `inside` says of every seat
    whether it is in; `finished` are those that were out of cards, and `gone` those that have left while they were in,
    each in its order. A game that is `over` without an end of its own is also `void`.
    """

    __slots__ = (
        "_deck",
        "_held_counts",
        "_holders",
        "_standing",
        "departed_seats",
        "drawer",
        "drawn_count",
        "finished_seats",
        "is_inside",
        "is_over",
        "is_void",
        "last_action_at",
        "log",
        "nicks",
        "number",
    )

    def __init__(
        self, number: int, nicks: Sequence[str], deck: Iterator[Card], now: float, log: list[Action] | None = None
    ) -> None:
        self.number = number
        self.nicks = tuple(nicks)
        self.last_action_at = now
        self.drawer: Seat = 0
        self.drawn_count = 0
        self.is_inside = [True] * len(nicks)
        self.finished_seats: list[Seat] = []
        self.departed_seats: list[Seat] = []
        self.is_over = False
        self.is_void = False
        self.log: list[Action] = [] if log is None else log
        self._deck = deck
        self._held_counts = [0] * len(nicks)
        self._holders = [IN_DECK] * CARD_COUNT
        self._standing: Standing | None = None

    # What is known.

    @property
    def dealt_cards(self) -> tuple[Card, ...]:
        """The cards that were drawn, in their order."""
        return tuple(deed[2] for deed in self.log if deed[0] == "drew")

    @property
    def standing(self) -> Standing:
        """Who is in, in the order of the list, and who is out: the winner first, the first to go last (oldmaid-6.6).

        Nobody is in a void game any more: who is out and asks from time to time is not to wait for its end.
        """
        if self._standing is None:
            inside = [nick for nick, inside in zip(self.nicks, self.is_inside, strict=True) if inside]
            finished = [self.nicks[seat] for seat in self.finished_seats]
            gone = [self.nicks[seat] for seat in reversed(self.departed_seats)]
            stopped = inside if self.is_void else []
            self._standing = Standing(() if self.is_void else tuple(inside), (*finished, *stopped, *gone))
        return self._standing

    @property
    def ranking(self) -> tuple[Seat, ...]:
        """The seats from the winner to the loser (oldmaid-6.11); nobody before the end, and of a void game."""
        if not self.is_over or self.is_void:
            return ()
        return (*self.finished_seats, self.is_inside.index(True), *reversed(self.departed_seats))

    @property
    def nets(self) -> tuple[int, ...]:
        """−1 for who has lost and 0 for the others."""
        loser = self.ranking[-1] if self.ranking else None
        return tuple(-(seat == loser) for seat in range(len(self.nicks)))

    # What is done.

    def draw(self, seat: Seat, now: float) -> Card:
        """Give a card from the deck to the seat whose turn it is."""
        if self.is_over:
            raise _game_over("draw")
        if self.drawn_count == CARD_COUNT:
            raise Violation("oldmaid-4.5", "draw, and no card in the deck", "discard, out_of_cards, status")
        if seat != self.drawer:
            raise Violation("oldmaid-4.3", "draw out of order", f"one by {self.nicks[self.drawer]!r}")
        card = next(self._deck)
        self._holders[card] = seat
        self._held_counts[seat] += 1
        self.drawn_count += 1
        following = seat + 1
        if following < len(self.is_inside) and self.is_inside[following]:
            self.drawer = following
        else:
            self._advance_drawer()
        self.log.append(("drew", seat, card))
        self.last_action_at = now
        return card

    def discard(self, seat: Seat, one: WireCard, other: WireCard, now: float) -> None:
        """Throw away a pair of a seat that has drawn both of its cards, or may have picked them since.

        Who is left may do so when the game is over: it is, as soon as whoever gave him the card says so (oldmaid-6.9).
        """
        if self.is_over and (self.is_void or not self.is_inside[seat]):
            raise _game_over("discard")
        if not self.is_inside[seat]:
            raise Violation("oldmaid-5.9", "discard from who is out", "status, join")
        a, b = CARD_NUMBERS.get(one), CARD_NUMBERS.get(other)
        if a is None or b is None:
            raise Violation("oldmaid-5.4", _describe_pair(one, other), "cards of the pack, as 3 spades")
        if not is_pair(a, b):
            raise Violation(
                "oldmaid-5.3", _describe_pair(one, other), "the same value, spades and clubs or diamonds and hearts"
            )
        by = self._holders[a], self._holders[b]
        if DISCARDED in by:
            raise Violation(
                "oldmaid-5.5", f"{_describe_pair(one, other)}, thrown away before", "a pair that is in the game"
            )
        if IN_DECK in by:
            raise Violation("oldmaid-5.6", f"{_describe_pair(one, other)}, not both drawn yet", "cards that were drawn")
        if self.drawn_count < CARD_COUNT and by != (seat, seat):
            raise Violation(
                "oldmaid-5.7", f"{_describe_pair(one, other)}, drawn by somebody else", "cards of one's own"
            )
        self._holders[a] = self._holders[b] = DISCARDED
        self._held_counts[seat] -= 2
        self._record(("threw", seat, a, b), now)

    def finish(self, seat: Seat, now: float, *, is_trusted: bool = False) -> None:
        """A seat has no cards any more; one that must hold some is refused unless it is `believed` (oldmaid-6.12)."""
        if self.is_over:
            raise _game_over("out_of_cards")
        if self.drawn_count < CARD_COUNT:
            raise Violation(
                "oldmaid-6.2", f"out_of_cards with {CARD_COUNT - self.drawn_count} cards in the deck", "draw, discard"
            )
        if not self.is_inside[seat]:
            raise Violation("oldmaid-6.3", "out_of_cards from who is out", "status, join")
        if self._held_counts[seat] > self._max_passed_on and not is_trusted:
            raise Violation("oldmaid-6.12", "out_of_cards from a player who must still hold cards", "offer, discard")
        self.finished_seats.append(seat)
        self._withdraw(("out", seat), now)

    def leave(self, seat: Seat, now: float) -> None:
        """A seat that is in is gone, and the cards that it holds with it (oldmaid-9.2)."""
        self.departed_seats.append(seat)
        self._withdraw(("gone", seat), now)
        if seat == self.drawer:
            self._advance_drawer()

    @property
    def _max_passed_on(self) -> int:
        """How many cards more than it has picked a seat may have passed on: two for each other seat (oldmaid-6.12)."""
        return 2 * (len(self.nicks) - 1)

    def stop(self) -> None:
        """The game is void: nobody has lost it (oldmaid-6.10, oldmaid-9.12)."""
        self.is_over = self.is_void = True
        self._standing = None

    def _record(self, deed: Action, now: float) -> None:
        self.log.append(deed)
        self.last_action_at = now

    def _withdraw(self, deed: WithdrawAction, now: float) -> None:
        """A seat is not in any more; when one is left the game is over (oldmaid-6.8, oldmaid-9.3)."""
        self.is_inside[deed[1]] = False
        self.is_over = sum(self.is_inside) == 1
        self._standing = None
        self._record(deed, now)

    def _advance_drawer(self) -> None:
        """The next one draws who is in."""
        inside, taker = self.is_inside, self.drawer + 1
        while not inside[taker % len(inside)]:
            taker += 1
        self.drawer = taker % len(inside)


def _game_over(cmd: str) -> Violation:
    return Violation("oldmaid-6.9", f"{cmd} when the game is over", "status, join")


def _describe_pair(one: WireCard, other: WireCard) -> str:
    """Two cards for people, however long they are spelt."""
    return " with ".join(repr(f"{value[:20]} {suit[:20]}") for value, suit in (one, other))
