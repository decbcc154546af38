"""Old Maid for two to eight: pairs go, hands are offered round the ring, and who keeps the joker has lost.

A `Ring` is one game and changes as it is played; `OldMaid` asks the questions that all our rules answer of rings that
stay as they are (docs/protocols/oldmaid.md).
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Final, NamedTuple

from croupier.core.errors import IllegalMove
from croupier.core.rules import Seat, Turn
from croupier.rooms.oldmaid.cards import CARD_NAMES, JOKER, PAIR_COUNT, Card

MIN_PLAYERS: Final = 2
MAX_PLAYERS: Final = 8
"""So many play at one table (the document's first paragraph)."""

_IN_DECK: Final = -1
_DISCARDED: Final = -2


class View(NamedTuple):
    """What a seat knows: its own cards and discards, who is out, and how many cards it is offered, if it is to pick.

    It is no more than a peer is told on the wire: how many cards the others hold is nobody's business but that of
    whoever picks one of them.
    """

    hand: tuple[Card, ...]
    discarded_pairs: tuple[tuple[Card, Card], ...]
    out_seats: tuple[Seat, ...]
    offer_size: int | None


class RingGame:
    """One game in which seats 0 … n − 1 sit in the order of drawing; it changes as it is played.

    `turn` is CHANCE while the cards are drawn, then the seat that is to pick, then OVER. `taker` draws the next card.
    `offerer` holds out his hand: first the last one who has drawn, or the next one with cards if he has none (O9).
    `due` are the pairs that have to be discarded, with who holds them; a seat that has one neither offers nor picks.
    `out` are the seats without cards, in the order in which they got rid of them. `pairs_in` is 26 but for a small
    pack, which has the first cards and the joker.
    """

    __slots__ = (
        "_holders",
        "discarded_pairs",
        "discarders",
        "drawn_count",
        "due_pairs",
        "hands",
        "offerer",
        "out_seats",
        "pairs_in",
        "turn",
    )

    def __init__(self, players: int = 4, pairs_in: int = PAIR_COUNT) -> None:
        """Before the first card. Raises ValueError."""
        if not MIN_PLAYERS <= players <= MAX_PLAYERS:
            raise ValueError(f"found {players} players; allowed: {MIN_PLAYERS} to {MAX_PLAYERS}")
        if not 1 <= pairs_in <= PAIR_COUNT:
            raise ValueError(f"found {pairs_in} pairs in the pack; allowed: 1 to {PAIR_COUNT}")
        self.pairs_in = pairs_in
        self.turn: Seat | Turn = Turn.CHANCE
        self.hands: list[list[Card]] = [[] for _ in range(players)]
        self.drawn_count = 0
        self.due_pairs: list[tuple[Seat, Card, Card]] = []
        self.discarded_pairs: list[tuple[Card, Card]] = []
        self.discarders: list[Seat] = []
        self.out_seats: list[Seat] = []
        self.offerer: Seat = 2 * pairs_in % players
        self._holders = [_IN_DECK] * (2 * pairs_in) + [_DISCARDED] * (JOKER - 2 * pairs_in) + [_IN_DECK]

    @property
    def drawer(self) -> Seat:
        """Who draws the next card: player1, player2, … in turn until the deck is empty (O6)."""
        return self.drawn_count % len(self.hands)

    @property
    def deck(self) -> tuple[Card, ...]:
        """The cards that have not been drawn, in no order that means anything."""
        return tuple(card for card, holder in enumerate(self._holders) if holder == _IN_DECK)

    @property
    def loser(self) -> Seat | None:
        """Who holds the joker at the end; None before."""
        return self._holders[JOKER] if self.turn is Turn.OVER else None

    def deal(self, card: Card) -> None:
        """The taker draws a card. Raises IllegalMove."""
        holders = self._holders
        if not 0 <= card <= JOKER or holders[card] != _IN_DECK:
            raise IllegalMove(_card_name(card), [*map(_card_name, self.deck)])
        seat = self.drawn_count % len(self.hands)
        self.hands[seat].append(card)
        holders[card] = seat
        if card != JOKER and holders[card ^ 1] == seat:
            self.due_pairs.append((seat, card & ~1, card | 1))
        self.drawn_count += 1
        if self.drawn_count > 2 * self.pairs_in:
            self.out_seats = [seat for seat, hand in enumerate(self.hands) if not hand]
            self._advance_turn()

    def discard(self, seat: Seat, a: Card, b: Card) -> None:
        """A seat throws a pair away, as soon as it has drawn both cards or later (O7). Raises IllegalMove."""
        pair = (a, b) if a < b else (b, a)
        entry = (seat, *pair)
        if entry not in self.due_pairs:
            raise IllegalMove(
                f"{_card_name(a)} with {_card_name(b)}",
                [
                    f"{_card_name(one)} with {_card_name(other)}"
                    for holder, one, other in self.due_pairs
                    if holder == seat
                ],
            )
        self.due_pairs.remove(entry)
        hand = self.hands[seat]
        hand.remove(a)
        hand.remove(b)
        self._holders[a] = self._holders[b] = _DISCARDED
        self.discarded_pairs.append(pair)
        self.discarders.append(seat)
        if self.turn is not Turn.CHANCE:
            if not hand:
                self.out_seats.append(seat)
            self._advance_turn()

    def discard_all(self) -> None:
        """Everybody discards every pair he holds; the lower seats do so first."""
        for entry in sorted(self.due_pairs) if len(self.due_pairs) > 1 else self.due_pairs[:]:
            self.discard(*entry)

    def pick(self, position: int) -> Card:
        """Whose turn it is takes the card at this position of the offerer's hand. Raises IllegalMove.

        It is put behind his other cards: whoever is to pick from them next must not know that (a mind of ours sees a
        number of cards, and no order).
        """
        seat, offerer = self.turn, self.offerer
        if not isinstance(seat, int):
            raise IllegalMove(f"a pick at {position}", ["a card"] if seat is Turn.CHANCE else [])
        held = [entry for entry in self.due_pairs if entry[0] in {seat, offerer}] if self.due_pairs else ()
        if held:
            raise IllegalMove(
                f"a pick at {position}", [f"to discard {_card_name(a)} with {_card_name(b)}" for _, a, b in held]
            )
        hands, holders = self.hands, self._holders
        hand, own = hands[offerer], hands[seat]
        if not 0 <= position < len(hand):
            raise IllegalMove(f"a pick at {position}", range(len(hand)))
        card = hand.pop(position)
        own.append(card)
        holders[card] = seat
        if card != JOKER and holders[card ^ 1] == seat:
            self.due_pairs.append((seat, card & ~1, card | 1))
        if not hand:
            self.out_seats.append(offerer)
        self.offerer = seat
        self._advance_turn()
        return card

    def _advance_turn(self) -> None:
        """Find who offers, and who picks from him: an empty hand is passed over (O9)."""
        hands = self.hands
        if len(self.discarded_pairs) == self.pairs_in:
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
        own = zip(self.discarders, self.discarded_pairs, strict=True)
        return View(
            tuple(self.hands[seat]),
            tuple(pair for who, pair in own if who == seat),
            tuple(self.out_seats),
            len(self.hands[self.offerer]) if self.turn == seat else None,
        )

    def copy(self) -> "RingGame":
        """Another game in the same state."""
        twin = object.__new__(RingGame)
        twin.pairs_in, twin.turn, twin.drawn_count, twin.offerer = (
            self.pairs_in,
            self.turn,
            self.drawn_count,
            self.offerer,
        )
        twin.hands = [hand[:] for hand in self.hands]
        twin.due_pairs, twin.discarded_pairs, twin.discarders = (
            self.due_pairs[:],
            self.discarded_pairs[:],
            self.discarders[:],
        )
        twin.out_seats, twin._holders = self.out_seats[:], self._holders[:]
        return twin

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RingGame) and all(
            getattr(self, name) == getattr(other, name) for name in RingGame.__slots__
        )

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __repr__(self) -> str:
        hands = "; ".join(", ".join(CARD_NAMES[card] for card in hand) or "out" for hand in self.hands)
        return f"<{self.turn}, {self.offerer} offers, {hands}>"


def _card_name(card: Card) -> str:
    """A card's name, or the number where there is no such card."""
    return CARD_NAMES[card] if 0 <= card <= JOKER else f"card {card}"


class OldMaid:
    """The rules as questions about a `Ring` that nobody changes.

    Nobody decides anything in this game: pairs have to be discarded, and whoever picks cannot tell the backs apart. So
    it is always CHANCE's turn: she gives cards by their names (`3 spades`), from the deck to the taker, and then from
    the offerer's hand to the one who picks. Pairs are discarded in the same move, when all cards are out (O7).
    """

    def __init__(self, players: int = 4, pairs_in: int = PAIR_COUNT) -> None:
        self._start = RingGame(players, pairs_in)
        self.seats = players

    def start(self) -> RingGame:
        """Before the first card."""
        return self._start.copy()

    def turn(self, state: RingGame) -> Turn:
        """CHANCE or OVER."""
        return Turn.OVER if state.turn is Turn.OVER else Turn.CHANCE

    def legal(self, state: RingGame) -> tuple[str, ...]:
        """The cards that may be drawn, or those of the offerer, by their names."""
        if state.turn is Turn.OVER:
            return ()
        return tuple(
            CARD_NAMES[card] for card in (state.deck if state.turn is Turn.CHANCE else state.hands[state.offerer])
        )

    def odds(self, state: RingGame) -> Mapping[str, Fraction]:
        """Each of these cards is as likely as any other."""
        legal = self.legal(state)
        return {name: Fraction(1, len(legal)) for name in legal}

    def play(self, state: RingGame, move: str) -> RingGame:
        """The game after a card has gone where it goes, and the pairs have been discarded. Raises IllegalMove."""
        legal = self.legal(state)
        if move not in legal:
            raise IllegalMove(move, legal)
        after = state.copy()
        if state.turn is Turn.CHANCE:
            after.deal(CARD_NAMES.index(move))
        else:
            after.pick(legal.index(move))
        if after.turn is not Turn.CHANCE:
            after.discard_all()
        return after

    def payoff(self, state: RingGame) -> tuple[int, ...]:
        """−1 for the loser and 0 for the others, when OVER."""
        return tuple(-(seat == state.loser) for seat in range(self.seats))

    def view(self, state: RingGame, seat: Seat) -> View:
        """All that this seat may know."""
        return state.view(seat)
