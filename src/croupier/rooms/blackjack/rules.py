"""Blackjack without splits and doubles, against a bank that stands on 17 (docs/protocols/blackjack.md, 3).

The automaton of the game knows hands as totals, with or without an ace that may count 11. It is built once.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Final, NamedTuple

from croupier.core.bank import BANK_SEAT, CLIENT_SEAT, BankNode, BankRules, BankState
from croupier.core.cards import Pack
from croupier.core.rules import Seat, Turn

RANKS: Final = "A23456789TJQK"
SUITS: Final = "HDSC"

RANK_VALUES: Final[Mapping[str, int]] = {
    rank: int(rank) if rank.isdigit() else 1 if rank == "A" else 10 for rank in RANKS
}
"""What a card counts; an ace counts 1, or 11 where that is not too much (B5)."""

CARDS: Final = tuple(rank + suit for suit, rank in product(SUITS, RANKS))
PACK: Final = Pack(CARDS)

TARGET_TOTAL: Final = 21
BANK_STANDS_AT: Final = 17
"""The bank draws to this total or more, and then stands, with or without an ace (B6)."""

HIT, STAND, SURRENDER = "H", "S", "SRD"
MOVES: Final = (HIT, STAND, SURRENDER)

CLIENT_WON: Final = BankNode("the client wins", Turn.OVER, BANK_SEAT, 2)
CLIENT_LOST: Final = BankNode("the bank wins", Turn.OVER, BANK_SEAT, -2)
CLIENT_SURRENDERED: Final = BankNode("the client has surrendered", Turn.OVER, BANK_SEAT, -1)


class HandTotal(NamedTuple):
    """The total of a hand with every ace as 1, and whether there is an ace."""

    low: int = 0
    has_ace: bool = False

    @property
    def total(self) -> int:
        """The best total: one ace counts 11 if that is not too much."""
        return self.low + 10 if self.has_ace and self.low + 10 <= TARGET_TOTAL else self.low

    @property
    def is_soft(self) -> bool:
        """Whether an ace counts 11."""
        return self.total > self.low

    def with_card(self, card: str) -> "HandTotal":
        """The hand with another card, told by its rank."""
        return HandTotal(self.low + RANK_VALUES[card[0]], self.has_ace or card[0] == "A")


def hand_total(cards: Sequence[str]) -> HandTotal:
    """The hand that cards make."""
    found = HandTotal()
    for card in cards:
        found = found.with_card(card)
    return found


def client_wins(client: int, bank: int) -> bool:
    """Whether the client wins when both have stood: a tie is the client's, except at 21 (B6)."""
    return bank > TARGET_TOTAL or client > bank or client == bank < TARGET_TOTAL


@cache
def _build_automaton(cards: tuple[str, ...]) -> BankNode:
    """The automaton, from before the first card."""
    ranks = dict.fromkeys(card[0] for card in cards)

    def chance(name: str, taker: Seat, after: Callable[[str], BankNode]) -> BankNode:
        """Every card leads where its rank does."""
        node = BankNode(name, Turn.CHANCE, taker)
        led = {rank: after(rank) for rank in ranks}
        node.successors = {card: led[card[0]] for card in cards}
        return node

    @cache
    def bank(client: int, has: HandTotal) -> BankNode:
        """The client stands; the bank draws."""
        if has.total >= BANK_STANDS_AT:
            return CLIENT_WON if client_wins(client, has.total) else CLIENT_LOST
        return chance(f"bank {has.total} against {client}", BANK_SEAT, lambda rank: bank(client, has.with_card(rank)))

    @cache
    def decide(has: HandTotal, up: HandTotal) -> BankNode:
        """The client decides; `up` is the bank's card."""
        node = BankNode(f"{'soft ' if has.is_soft else ''}{has.total} against {up.total}", CLIENT_SEAT)
        node.moves = MOVES
        node.successors = {HIT: hit(has, up), STAND: bank(has.total, up), SURRENDER: CLIENT_SURRENDERED}
        return node

    @cache
    def hit(has: HandTotal, up: HandTotal) -> BankNode:
        """One more card for the client."""
        return chance(f"a card to {has.total}", CLIENT_SEAT, lambda rank: drawn(has.with_card(rank), up))

    def drawn(has: HandTotal, up: HandTotal) -> BankNode:
        """The client has drawn: 21 wins at once, more loses at once (B5)."""
        return CLIENT_WON if has.total == TARGET_TOTAL else CLIENT_LOST if has.total > TARGET_TOTAL else decide(has, up)

    @cache
    def deal(has: HandTotal, left: int) -> BankNode:
        """So many of the client's two cards are still to come, and then the bank's."""
        if left:
            return chance("the deal", CLIENT_SEAT, lambda rank: deal(has.with_card(rank), left - 1))
        return chance("the deal", BANK_SEAT, lambda rank: decide(has, HandTotal().with_card(rank)))

    return deal(HandTotal(), 2)


class Blackjack(BankRules):
    """The rules of blackjack as questions about a `State`, for a shoe of so many decks."""

    def __init__(self, decks: int = 1, cards: Sequence[str] = CARDS) -> None:
        super().__init__(_build_automaton(tuple(cards)), cards, decks)


BLACKJACK: Final = Blackjack()

MAX_BET: Final = 2**30 - 1
"""The largest bet: twice as much still fits a number (B9)."""

MAX_INT32: Final = 2**31 - 1
"""The largest number there is, and so the largest balance."""


def largest_bet(balance: int, staked_elsewhere: int = 0) -> int:
    """The largest bet that a balance can pay, and whose win it can take; 0 where there is none (B9).

    Bets of the same purse that run `elsewhere` may be won as well (blackjack-7.6).
    """
    return max(0, min(balance, MAX_INT32 - balance - 2 * staked_elsewhere, MAX_BET))


def client_cards(state: BankState) -> tuple[str, ...]:
    """The client's cards: all but the third, and what the bank has drawn at the end."""
    return state.cards[:2] + state.cards[3 : _bank_draw_start(state)]


def bank_cards(state: BankState) -> tuple[str, ...]:
    """The bank's cards: the third that was dealt, and what it has drawn at the end."""
    return state.cards[2:3] + state.cards[max(3, _bank_draw_start(state)) :]


def _bank_draw_start(state: BankState) -> int:
    """Where the cards begin that the bank has drawn after the client was done."""
    return len(state.cards) - max(0, state.bank_card_count - 1)


MAX_DECKS: Final = 8
"""As many decks as casinos shuffle together."""


def check_decks(decks: int) -> int:
    """The number of decks, if a shoe may have so many. Raises ValueError."""
    if not 1 <= decks <= MAX_DECKS:
        raise ValueError(f"found {decks} decks; allowed: 1 to {MAX_DECKS}")
    return decks
