"""Old Maid for two to eight: pairs go, hands are offered round the ring, and who keeps the joker has lost.

A `Ring` is one game and changes as it is played; `OldMaid` asks the questions that all our rules answer of rings that
stay as they are (docs/protocols/oldmaid.md).
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Final, NamedTuple

from croupier.core.errors import IllegalMove
from croupier.core.rules import Seat, Turn
from croupier.rooms.oldmaid.cards import JOKER, NAMES, PAIRS, Card

FEWEST: Final = 2
MOST: Final = 8
"""So many play at one table (the document's first paragraph)."""

_DECK: Final = -1
_GONE: Final = -2


class View(NamedTuple):
    """What a seat knows: its own cards and discards, who is out, and how many cards it is offered, if it is to pick.

    It is no more than a peer is told on the wire: how many cards the others hold is nobody's business but that of
    whoever picks one of them.
    """

    hand: tuple[Card, ...]
    discarded: tuple[tuple[Card, Card], ...]
    out: tuple[Seat, ...]
    offered: int | None


class Ring:
    """One game in which seats 0 … n − 1 sit in the order of drawing; it changes as it is played.

    `turn` is CHANCE while the cards are drawn, then the seat that is to pick, then OVER. `taker` draws the next card.
    `offerer` holds out his hand: first the last one who has drawn, or the next one with cards if he has none (O9).
    `due` are the pairs that have to be discarded, with who holds them; a seat that has one neither offers nor picks.
    `out` are the seats without cards, in the order in which they got rid of them. `pairs_in` is 26 but for a small
    pack, which has the first cards and the joker.
    """

    __slots__ = ("_holders", "discarded", "discarders", "drawn", "due", "hands", "offerer", "out", "pairs_in", "turn")

    def __init__(self, players: int = 4, pairs_in: int = PAIRS) -> None:
        """Before the first card. Raises ValueError."""
        if not FEWEST <= players <= MOST:
            raise ValueError(f"found {players} players; allowed: {FEWEST} to {MOST}")
        if not 1 <= pairs_in <= PAIRS:
            raise ValueError(f"found {pairs_in} pairs in the pack; allowed: 1 to {PAIRS}")
        self.pairs_in = pairs_in
        self.turn: Seat | Turn = Turn.CHANCE
        self.hands: list[list[Card]] = [[] for _ in range(players)]
        self.drawn = 0
        self.due: list[tuple[Seat, Card, Card]] = []
        self.discarded: list[tuple[Card, Card]] = []
        self.discarders: list[Seat] = []
        self.out: list[Seat] = []
        self.offerer: Seat = 2 * pairs_in % players
        self._holders = [_DECK] * (2 * pairs_in) + [_GONE] * (JOKER - 2 * pairs_in) + [_DECK]

    @property
    def taker(self) -> Seat:
        """Who draws the next card: player1, player2, … in turn until the deck is empty (O6)."""
        return self.drawn % len(self.hands)

    @property
    def deck(self) -> tuple[Card, ...]:
        """The cards that have not been drawn, in no order that means anything."""
        return tuple(card for card, holder in enumerate(self._holders) if holder == _DECK)

    @property
    def loser(self) -> Seat | None:
        """Who holds the joker at the end; None before."""
        return self._holders[JOKER] if self.turn is Turn.OVER else None

    def deal(self, card: Card) -> None:
        """The taker draws a card. Raises IllegalMove."""
        holders = self._holders
        if not 0 <= card <= JOKER or holders[card] != _DECK:
            raise IllegalMove(_told(card), [*map(_told, self.deck)])
        seat = self.drawn % len(self.hands)
        self.hands[seat].append(card)
        holders[card] = seat
        if card != JOKER and holders[card ^ 1] == seat:
            self.due.append((seat, card & ~1, card | 1))
        self.drawn += 1
        if self.drawn > 2 * self.pairs_in:
            self.out = [seat for seat, hand in enumerate(self.hands) if not hand]
            self._pass_on()

    def discard(self, seat: Seat, a: Card, b: Card) -> None:
        """A seat throws a pair away, as soon as it has drawn both cards or later (O7). Raises IllegalMove."""
        pair = (a, b) if a < b else (b, a)
        entry = (seat, *pair)
        if entry not in self.due:
            raise IllegalMove(
                f"{_told(a)} with {_told(b)}",
                [f"{_told(one)} with {_told(other)}" for holder, one, other in self.due if holder == seat],
            )
        self.due.remove(entry)
        hand = self.hands[seat]
        hand.remove(a)
        hand.remove(b)
        self._holders[a] = self._holders[b] = _GONE
        self.discarded.append(pair)
        self.discarders.append(seat)
        if self.turn is not Turn.CHANCE:
            if not hand:
                self.out.append(seat)
            self._pass_on()

    def settle(self) -> None:
        """Everybody discards every pair he holds; the lower seats do so first."""
        for entry in sorted(self.due) if len(self.due) > 1 else self.due[:]:
            self.discard(*entry)

    def pick(self, position: int) -> Card:
        """Whose turn it is takes the card at this position of the offerer's hand. Raises IllegalMove.

        It is put behind his other cards: whoever is to pick from them next must not know that (a mind of ours sees a
        number of cards, and no order).
        """
        seat, offerer = self.turn, self.offerer
        if not isinstance(seat, int):
            raise IllegalMove(f"a pick at {position}", ["a card"] if seat is Turn.CHANCE else [])
        held = [entry for entry in self.due if entry[0] in {seat, offerer}] if self.due else ()
        if held:
            raise IllegalMove(f"a pick at {position}", [f"to discard {_told(a)} with {_told(b)}" for _, a, b in held])
        hands, holders = self.hands, self._holders
        hand, own = hands[offerer], hands[seat]
        if not 0 <= position < len(hand):
            raise IllegalMove(f"a pick at {position}", range(len(hand)))
        card = hand.pop(position)
        own.append(card)
        holders[card] = seat
        if card != JOKER and holders[card ^ 1] == seat:
            self.due.append((seat, card & ~1, card | 1))
        if not hand:
            self.out.append(offerer)
        self.offerer = seat
        self._pass_on()
        return card

    def _pass_on(self) -> None:
        """Find who offers, and who picks from him: an empty hand is passed over (O9)."""
        hands = self.hands
        if len(self.discarded) == self.pairs_in:
            self.turn = Turn.OVER
            return
        seats, offerer = len(hands), self.offerer
        while not hands[offerer]:
            offerer = (offerer + 1) % seats
        seat = (offerer + 1) % seats
        while not hands[seat]:
            seat = (seat + 1) % seats
        self.offerer, self.turn = offerer, seat

    def view(self, seat: Seat) -> View:
        """All that this seat may know."""
        own = zip(self.discarders, self.discarded, strict=True)
        return View(
            tuple(self.hands[seat]),
            tuple(pair for who, pair in own if who == seat),
            tuple(self.out),
            len(self.hands[self.offerer]) if self.turn == seat else None,
        )

    def copy(self) -> "Ring":
        """Another game in the same state."""
        twin = object.__new__(Ring)
        twin.pairs_in, twin.turn, twin.drawn, twin.offerer = self.pairs_in, self.turn, self.drawn, self.offerer
        twin.hands = [hand[:] for hand in self.hands]
        twin.due, twin.discarded, twin.discarders = self.due[:], self.discarded[:], self.discarders[:]
        twin.out, twin._holders = self.out[:], self._holders[:]
        return twin

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ring) and all(getattr(self, name) == getattr(other, name) for name in Ring.__slots__)

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __repr__(self) -> str:
        hands = "; ".join(", ".join(NAMES[card] for card in hand) or "out" for hand in self.hands)
        return f"<{self.turn}, {self.offerer} offers, {hands}>"


def _told(card: Card) -> str:
    """A card's name, or the number where there is no such card."""
    return NAMES[card] if 0 <= card <= JOKER else f"card {card}"


class OldMaid:
    """The rules as questions about a `Ring` that nobody changes.

    Nobody decides anything in this game: pairs have to be discarded, and whoever picks cannot tell the backs apart. So
    it is always CHANCE's turn: she gives cards by their names (`3 spades`), from the deck to the taker, and then from
    the offerer's hand to the one who picks. Pairs are discarded in the same move, when all cards are out (O7).
    """

    def __init__(self, players: int = 4, pairs_in: int = PAIRS) -> None:
        self._start = Ring(players, pairs_in)
        self.seats = players

    def start(self) -> Ring:
        """Before the first card."""
        return self._start.copy()

    def turn(self, state: Ring) -> Turn:
        """CHANCE or OVER."""
        return Turn.OVER if state.turn is Turn.OVER else Turn.CHANCE

    def legal(self, state: Ring) -> tuple[str, ...]:
        """The cards that may be drawn, or those of the offerer, by their names."""
        if state.turn is Turn.OVER:
            return ()
        return tuple(NAMES[card] for card in (state.deck if state.turn is Turn.CHANCE else state.hands[state.offerer]))

    def odds(self, state: Ring) -> Mapping[str, Fraction]:
        """Each of these cards is as likely as any other."""
        legal = self.legal(state)
        return {name: Fraction(1, len(legal)) for name in legal}

    def play(self, state: Ring, move: str) -> Ring:
        """The game after a card has gone where it goes, and the pairs have been discarded. Raises IllegalMove."""
        legal = self.legal(state)
        if move not in legal:
            raise IllegalMove(move, legal)
        after = state.copy()
        if state.turn is Turn.CHANCE:
            after.deal(NAMES.index(move))
        else:
            after.pick(legal.index(move))
        if after.turn is not Turn.CHANCE:
            after.settle()
        return after

    def payoff(self, state: Ring) -> tuple[int, ...]:
        """−1 for the loser and 0 for the others, when OVER."""
        return tuple(-(seat == state.loser) for seat in range(self.seats))

    def view(self, state: Ring, seat: Seat) -> View:
        """All that this seat may know."""
        return state.view(seat)
