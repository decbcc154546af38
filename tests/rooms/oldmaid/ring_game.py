"""A whole game of Old Maid with all hands (docs/protocols/oldmaid.md): the oracle of the odds and of the players.

The product has no such model, because nobody in a ring knows all hands. `RingGame` is one game and mutable. `OldMaid`
implements the `Rules` protocol on top of it, with immutable states.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from croupier.core.errors import IllegalMove
from croupier.core.rules import Seat, Turn
from croupier.rooms.oldmaid.cards import CARD_NAMES, JOKER, PAIR_COUNT, Card
from croupier.rooms.oldmaid.rules import MAX_PLAYERS, MIN_PLAYERS, View

_IN_DECK: Final = -1
_DISCARDED: Final = -2


class RingGame:
    """One game; seats 0 … n − 1 are in the order of drawing. Mutable.

    `turn` is CHANCE while cards are drawn, then the seat that is to pick, then OVER. `drawer` draws the next card.
    `offerer` offers its hand: first the seat that drew last, or the next one with cards if it has none (O9).
    `due_pairs` are the pairs that have to be discarded, with their holders; a seat with a due pair neither offers nor
    picks. `out_seats` are the seats without cards, in the order in which they ran out. `pairs_in` is the number of
    pairs in the pack, 26 or fewer: a smaller pack has the first cards and the joker.
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
        """Start a game before the first draw. Raises ValueError if a number is out of range."""
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
        """The seat that draws the next card; all seats draw in turn until the deck is empty (O6)."""
        return self.drawn_count % len(self.hands)

    @property
    def deck(self) -> tuple[Card, ...]:
        """The cards that have not been drawn, sorted by number."""
        return tuple(card for card, holder in enumerate(self._holders) if holder == _IN_DECK)

    @property
    def loser(self) -> Seat | None:
        """The seat that holds the joker at the end; None before."""
        return self._holders[JOKER] if self.turn is Turn.OVER else None

    def deal(self, card: Card) -> None:
        """Deal a card to the drawer. Raises IllegalMove if it is not in the deck."""
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
        """Discard a due pair of a seat (O7). Raises IllegalMove if it is not due."""
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
        """Discard all due pairs, lower seats first."""
        for entry in sorted(self.due_pairs) if len(self.due_pairs) > 1 else self.due_pairs[:]:
            self.discard(*entry)

    def pick(self, position: int) -> Card:
        """Move the card at a position of the offerer's hand to the seat whose turn it is. Raises IllegalMove.

        The card is appended to the picker's hand. The next picker must not learn this order; a bot sees only the number
        of cards.
        """
        seat, offerer = self.turn, self.offerer
        if not isinstance(seat, int):
            raise IllegalMove(f"a pick at {position}", ["a card"] if seat is Turn.CHANCE else [])
        blocking = [entry for entry in self.due_pairs if entry[0] in {seat, offerer}] if self.due_pairs else ()
        if blocking:
            raise IllegalMove(
                f"a pick at {position}", [f"to discard {_card_name(a)} with {_card_name(b)}" for _, a, b in blocking]
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
        """Set the next offerer and picker; empty hands are skipped (O9)."""
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
        """Everything that a seat may know."""
        discards = zip(self.discarders, self.discarded_pairs, strict=True)
        return View(
            tuple(self.hands[seat]),
            tuple(pair for discarder, pair in discards if discarder == seat),
            tuple(self.out_seats),
            len(self.hands[self.offerer]) if self.turn == seat else None,
        )

    def copy(self) -> "RingGame":
        """Return an independent copy."""
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

    __hash__ = None  # type: ignore[assignment]  # mutable

    def __repr__(self) -> str:
        hands = "; ".join(", ".join(CARD_NAMES[card] for card in hand) or "out" for hand in self.hands)
        return f"<{self.turn}, {self.offerer} offers, {hands}>"


def _card_name(card: Card) -> str:
    """The name of a card, or its number if there is no such card."""
    return CARD_NAMES[card] if 0 <= card <= JOKER else f"card {card}"


class OldMaid:
    """The rules of Old Maid. See `croupier.core.rules.Rules`. A state is a `RingGame` that is never modified.

    Players decide nothing: pairs must be discarded, and cards are picked face down. All moves are therefore chance
    moves, cards by name (`3 spades`): from the deck to the drawer, and then from the offerer's hand to the picker. Once
    the deck is empty, each move also discards all pairs (O7).
    """

    def __init__(self, players: int = 4, pairs_in: int = PAIR_COUNT) -> None:
        self._start = RingGame(players, pairs_in)
        self.seats = players

    def start(self) -> RingGame:
        """The state before the first draw."""
        return self._start.copy()

    def turn(self, state: RingGame) -> Turn:
        """Turn.CHANCE or Turn.OVER."""
        return Turn.OVER if state.turn is Turn.OVER else Turn.CHANCE

    def legal(self, state: RingGame) -> tuple[str, ...]:
        """The names of the cards that may be drawn, or of the offerer's cards."""
        if state.turn is Turn.OVER:
            return ()
        return tuple(
            CARD_NAMES[card] for card in (state.deck if state.turn is Turn.CHANCE else state.hands[state.offerer])
        )

    def odds(self, state: RingGame) -> Mapping[str, Fraction]:
        """The probability of each legal move; all are equal."""
        legal = self.legal(state)
        return {name: Fraction(1, len(legal)) for name in legal}

    def play(self, state: RingGame, move: str) -> RingGame:
        """Return the state after a move and the discards it causes. Raises IllegalMove."""
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
        """−1 for the loser and 0 for the others; the game must be over."""
        return tuple(-(seat == state.loser) for seat in range(self.seats))

    def view(self, state: RingGame, seat: Seat) -> View:
        """Everything that a seat may know."""
        return state.view(seat)
