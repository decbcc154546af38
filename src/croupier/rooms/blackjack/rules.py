"""Blackjack without splits and doubles, against a bank that stands on 17 (docs/protocols/blackjack.md, 3).

The automaton of the game knows hands as totals, with or without an ace that may count 11. It is built once.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Final, NamedTuple

from croupier.core.bank import BANK, CLIENT, BankRules, Node, State
from croupier.core.cards import Pack
from croupier.core.rules import Seat, Turn

RANKS: Final = "A23456789TJQK"
SUITS: Final = "HDSC"

VALUE: Final[Mapping[str, int]] = {rank: int(rank) if rank.isdigit() else 1 if rank == "A" else 10 for rank in RANKS}
"""What a card counts; an ace counts 1, or 11 where that is not too much (B5)."""

CARDS: Final = tuple(rank + suit for suit, rank in product(SUITS, RANKS))
PACK: Final = Pack(CARDS)

BEST: Final = 21
STANDS: Final = 17
"""The bank draws to this total or more, and then stands, with or without an ace (B6)."""

HIT, STAND, SURRENDER = "H", "S", "SRD"
MOVES: Final = (HIT, STAND, SURRENDER)

WON: Final = Node("the client wins", Turn.OVER, BANK, 2)
LOST: Final = Node("the bank wins", Turn.OVER, BANK, -2)
SURRENDERED: Final = Node("the client has surrendered", Turn.OVER, BANK, -1)


class Hand(NamedTuple):
    """The total of a hand with every ace as 1, and whether there is an ace."""

    low: int = 0
    ace: bool = False

    @property
    def total(self) -> int:
        """The best total: one ace counts 11 if that is not too much."""
        return self.low + 10 if self.ace and self.low + 10 <= BEST else self.low

    @property
    def soft(self) -> bool:
        """Whether an ace counts 11."""
        return self.total > self.low

    def with_card(self, card: str) -> "Hand":
        """The hand with another card, told by its rank."""
        return Hand(self.low + VALUE[card[0]], self.ace or card[0] == "A")


def hand(cards: Sequence[str]) -> Hand:
    """The hand that cards make."""
    found = Hand()
    for card in cards:
        found = found.with_card(card)
    return found


def wins(client: int, bank: int) -> bool:
    """Whether the client wins when both have stood: a tie is the client's, except at 21 (B6)."""
    return bank > BEST or client > bank or client == bank < BEST


@cache
def _first(cards: tuple[str, ...]) -> Node:
    """The automaton, from before the first card."""
    ranks = dict.fromkeys(card[0] for card in cards)

    def chance(name: str, taker: Seat, after: Callable[[str], Node]) -> Node:
        """Every card leads where its rank does."""
        node = Node(name, Turn.CHANCE, taker)
        led = {rank: after(rank) for rank in ranks}
        node.next = {card: led[card[0]] for card in cards}
        return node

    @cache
    def bank(client: int, has: Hand) -> Node:
        """The client stands; the bank draws."""
        if has.total >= STANDS:
            return WON if wins(client, has.total) else LOST
        return chance(f"bank {has.total} against {client}", BANK, lambda rank: bank(client, has.with_card(rank)))

    @cache
    def decide(has: Hand, up: Hand) -> Node:
        """The client decides; `up` is the bank's card."""
        node = Node(f"{'soft ' if has.soft else ''}{has.total} against {up.total}", CLIENT)
        node.moves = MOVES
        node.next = {HIT: hit(has, up), STAND: bank(has.total, up), SURRENDER: SURRENDERED}
        return node

    @cache
    def hit(has: Hand, up: Hand) -> Node:
        """One more card for the client."""
        return chance(f"a card to {has.total}", CLIENT, lambda rank: drawn(has.with_card(rank), up))

    def drawn(has: Hand, up: Hand) -> Node:
        """The client has drawn: 21 wins at once, more loses at once (B5)."""
        return WON if has.total == BEST else LOST if has.total > BEST else decide(has, up)

    @cache
    def deal(has: Hand, left: int) -> Node:
        """So many of the client's two cards are still to come, and then the bank's."""
        if left:
            return chance("the deal", CLIENT, lambda rank: deal(has.with_card(rank), left - 1))
        return chance("the deal", BANK, lambda rank: decide(has, Hand().with_card(rank)))

    return deal(Hand(), 2)


class Blackjack(BankRules):
    """The rules of blackjack as questions about a `State`, for a shoe of so many decks."""

    def __init__(self, decks: int = 1, cards: Sequence[str] = CARDS) -> None:
        super().__init__(_first(tuple(cards)), cards, decks)


BLACKJACK: Final = Blackjack()

MOST: Final = 2**30 - 1
"""The largest bet: twice as much still fits a number (B9)."""

LARGEST: Final = 2**31 - 1
"""The largest number there is, and so the largest balance."""


def limit(balance: int, elsewhere: int = 0) -> int:
    """The largest bet that a balance can pay, and whose win it can take; 0 where there is none (B9).

    Bets of the same purse that run `elsewhere` may be won as well (blackjack-7.6).
    """
    return max(0, min(balance, LARGEST - balance - 2 * elsewhere, MOST))


def client_cards(state: State) -> tuple[str, ...]:
    """The client's cards: all but the third, and what the bank has drawn at the end."""
    return state.cards[:2] + state.cards[3 : _drawn(state)]


def bank_cards(state: State) -> tuple[str, ...]:
    """The bank's cards: the third that was dealt, and what it has drawn at the end."""
    return state.cards[2:3] + state.cards[max(3, _drawn(state)) :]


def _drawn(state: State) -> int:
    """Where the cards begin that the bank has drawn after the client was done."""
    return len(state.cards) - max(0, state.banked - 1)


MOST_DECKS: Final = 8
"""As many decks as casinos shuffle together."""


def decks_allowed(decks: int) -> int:
    """The number of decks, if a shoe may have so many. Raises ValueError."""
    if not 1 <= decks <= MOST_DECKS:
        raise ValueError(f"found {decks} decks; allowed: 1 to {MOST_DECKS}")
    return decks
