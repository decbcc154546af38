"""One Old Maid game as the table sees it: draws, discards, and the players who are out or gone.

The table sees no offers, so it does not know the hands once cards are passed on (docs/protocols/oldmaid.md, sections 4,
5, 6 and 9).
"""

from collections.abc import Iterator, Sequence
from typing import Final, Literal

from croupier.core.errors import Violation
from croupier.core.rules import Seat
from croupier.rooms.oldmaid.cards import CARD_COUNT, CARD_NUMBERS, Card, WireCard, is_pair
from croupier.rooms.oldmaid.wire import Standing

IN_DECK: Final = -1
DISCARDED: Final = -2
"""The holder of a card that is still in the deck, and of one that was discarded."""

HIDDEN_HAND_CLAUSES: Final = frozenset({"oldmaid-5.5", "oldmaid-5.6", "oldmaid-5.7"})
"""Clauses that refuse a discard because of where its cards are; the answer must not reveal which (oldmaid-5.12)."""

type DrawAction = tuple[Literal["drew"], Seat, Card]
type DiscardAction = tuple[Literal["threw"], Seat, Card, Card]
type WithdrawAction = tuple[Literal["out", "gone"], Seat]
type Action = DrawAction | DiscardAction | WithdrawAction
"""An action of a seat: a tuple of its kind, the seat and the cards, if any."""


class TableGame:
    """One game, with its players' nicks in the order of the list. Mutable.

    An action that is not allowed raises Violation and changes nothing (oldmaid-8.1). `number` counts the games of the
    table from 1. `log` has all actions, and `last_action_at` is the time of the last one in seconds. `drawn_count`
    cards have left the deck, and `drawer` is the seat that draws next. `is_inside` says for each seat whether it is
    still in. `finished_seats` ran out of cards and `departed_seats` left while they were in, each in order. A game that
    was stopped before its end is both `is_over` and `is_void`.
    """

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

    # State.

    @property
    def dealt_cards(self) -> tuple[Card, ...]:
        """The cards that were drawn, in order."""
        return tuple(action[2] for action in self.log if action[0] == "drew")

    @property
    def standing(self) -> Standing:
        """The players in, in the order of the list, and those out: winner first, first to leave last (oldmaid-6.6).

        In a void game all players are out, so that those who poll the standing do not wait for its end.
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
        """The seats from the winner to the loser (oldmaid-6.11); empty before the end and for a void game."""
        if not self.is_over or self.is_void:
            return ()
        return (*self.finished_seats, self.is_inside.index(True), *reversed(self.departed_seats))

    @property
    def nets(self) -> tuple[int, ...]:
        """−1 for the loser and 0 for all others, by seat."""
        loser = self.ranking[-1] if self.ranking else None
        return tuple(-(seat == loser) for seat in range(len(self.nicks)))

    # Actions.

    def draw(self, seat: Seat, now: float) -> Card:
        """Deal the next card to a seat, which must be the drawer."""
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
        self._advance_drawer()
        self.log.append(("drew", seat, card))
        self.last_action_at = now
        return card

    def discard(self, seat: Seat, one: WireCard, other: WireCard, now: float) -> None:
        """Discard a pair of a seat that has drawn both cards, or may have picked them since.

        The last player may still discard when the game is over, because it ends as soon as the giver of that player's
        last card reports `out_of_cards` (oldmaid-6.9).
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
        holders = self._holders[a], self._holders[b]
        if DISCARDED in holders:
            raise Violation(
                "oldmaid-5.5", f"{_describe_pair(one, other)}, thrown away before", "a pair that is in the game"
            )
        if IN_DECK in holders:
            raise Violation("oldmaid-5.6", f"{_describe_pair(one, other)}, not both drawn yet", "cards that were drawn")
        if self.drawn_count < CARD_COUNT and holders != (seat, seat):
            raise Violation(
                "oldmaid-5.7", f"{_describe_pair(one, other)}, drawn by somebody else", "cards of one's own"
            )
        self._holders[a] = self._holders[b] = DISCARDED
        self._held_counts[seat] -= 2
        self._record(("threw", seat, a, b), now)

    def finish(self, seat: Seat, now: float, *, is_trusted: bool = False) -> None:
        """Record that a seat has no cards left; refuse it if it must hold some, unless `is_trusted` (oldmaid-6.12)."""
        if self.is_over:
            raise _game_over("out_of_cards")
        if self.drawn_count < CARD_COUNT:
            raise Violation(
                "oldmaid-6.2", f"out_of_cards with {CARD_COUNT - self.drawn_count} cards in the deck", "draw, discard"
            )
        if not self.is_inside[seat]:
            raise Violation("oldmaid-6.3", "out_of_cards from who is out", "status, join")
        max_passed_on = 2 * (len(self.nicks) - 1)  # how many more cards it may have given than picked
        if self._held_counts[seat] > max_passed_on and not is_trusted:
            raise Violation("oldmaid-6.12", "out_of_cards from a player who must still hold cards", "offer, discard")
        self.finished_seats.append(seat)
        self._withdraw(("out", seat), now)

    def leave(self, seat: Seat, now: float) -> None:
        """Remove a seat that is in, with the cards that it holds (oldmaid-9.2)."""
        self.departed_seats.append(seat)
        self._withdraw(("gone", seat), now)
        if seat == self.drawer:
            self._advance_drawer()

    def stop(self) -> None:
        """Void the game, so that it has no loser (oldmaid-6.10, oldmaid-9.12)."""
        self.is_over = self.is_void = True
        self._standing = None

    def _record(self, action: Action, now: float) -> None:
        self.log.append(action)
        self.last_action_at = now

    def _withdraw(self, action: WithdrawAction, now: float) -> None:
        """Take a seat out of the game, which is over when one is left (oldmaid-6.8, oldmaid-9.3)."""
        self.is_inside[action[1]] = False
        self.is_over = sum(self.is_inside) == 1
        self._standing = None
        self._record(action, now)

    def _advance_drawer(self) -> None:
        """Make the next seat that is in the drawer."""
        inside, seat = self.is_inside, self.drawer + 1
        while not inside[seat % len(inside)]:
            seat += 1
        self.drawer = seat % len(inside)


def _game_over(cmd: str) -> Violation:
    return Violation("oldmaid-6.9", f"{cmd} when the game is over", "status, join")


def _describe_pair(one: WireCard, other: WireCard) -> str:
    """Two cards for messages, each shortened if the client sent a long text."""
    return " with ".join(repr(f"{value[:20]} {suit[:20]}") for value, suit in (one, other))
