"""Rules of blackjack without splits and doubles, against a bank that stands on 17 (docs/protocols/blackjack.md, 3).

The nodes of the game's automaton hold hands as totals with a flag for an ace. The automaton is built once, on
first use.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from itertools import product
from typing import Final, NamedTuple

from croupier.core.bank import BANK_SEAT, CLIENT_SEAT, BankNode, BankRules
from croupier.core.cards import Pack
from croupier.core.rules import Seat, Turn

RANKS: Final = "A23456789TJQK"
SUITS: Final = "HDSC"

RANK_VALUES: Final[Mapping[str, int]] = {
    rank: int(rank) if rank.isdigit() else 1 if rank == "A" else 10 for rank in RANKS
}
"""The value of each rank; an ace counts 1, or 11 if the total does not exceed 21 (B5)."""

CARDS: Final = tuple(rank + suit for suit, rank in product(SUITS, RANKS))
PACK: Final = Pack(CARDS)

TARGET_TOTAL: Final = 21
BANK_STANDS_AT: Final = 17
"""The bank draws until it has this total or more and then stands, on soft totals too (B6)."""

HIT, STAND, SURRENDER = "H", "S", "SRD"
MOVES: Final = (HIT, STAND, SURRENDER)

CLIENT_WON: Final = BankNode("the client wins", Turn.OVER, BANK_SEAT, 2)
CLIENT_LOST: Final = BankNode("the bank wins", Turn.OVER, BANK_SEAT, -2)
CLIENT_SURRENDERED: Final = BankNode("the client has surrendered", Turn.OVER, BANK_SEAT, -1)


class HandTotal(NamedTuple):
    """A hand as the total with every ace counted as 1, and whether it has an ace.

    Example:
        >>> hand = HandTotal().with_card("AH").with_card("6S")
        >>> hand.total, hand.is_soft, hand.with_card("KD").is_soft
        (17, True, False)
    """

    low: int = 0
    has_ace: bool = False

    @property
    def total(self) -> int:
        """The best total: one ace counts 11 if that does not exceed 21."""
        return self.low + 10 if self.has_ace and self.low + 10 <= TARGET_TOTAL else self.low

    @property
    def is_soft(self) -> bool:
        """Whether an ace counts 11."""
        return self.total > self.low

    def with_card(self, card: str) -> "HandTotal":
        """The hand with another card, of which only the rank counts."""
        return HandTotal(self.low + RANK_VALUES[card[0]], self.has_ace or card[0] == "A")


def hand_total(cards: Sequence[str]) -> HandTotal:
    """The total of cards.

    >>> hand_total(["AH", "6S"]).total
    17
    >>> hand_total(["AH", "6S"]).is_soft
    True
    """
    result = HandTotal()
    for card in cards:
        result = result.with_card(card)
    return result


def client_wins(client: int, bank: int) -> bool:
    """Whether the client wins when both have stood: it also wins a tie, except at 21 (B6)."""
    return bank > TARGET_TOTAL or client > bank or client == bank < TARGET_TOTAL


@cache
def _build_automaton(cards: tuple[str, ...]) -> BankNode:
    """Build the automaton; return its node before the first card."""
    ranks = dict.fromkeys(card[0] for card in cards)

    def chance(name: str, receiver: Seat, after: Callable[[str], BankNode]) -> BankNode:
        """A chance node whose successors depend on the rank of the card only."""
        node = BankNode(name, Turn.CHANCE, receiver)
        by_rank = {rank: after(rank) for rank in ranks}
        node.successors = {card: by_rank[card[0]] for card in cards}
        return node

    @cache
    def bank(client: int, held: HandTotal) -> BankNode:
        """The client has stood; the bank draws."""
        if held.total >= BANK_STANDS_AT:
            return CLIENT_WON if client_wins(client, held.total) else CLIENT_LOST
        return chance(f"bank {held.total} against {client}", BANK_SEAT, lambda rank: bank(client, held.with_card(rank)))

    @cache
    def decide(held: HandTotal, up: HandTotal) -> BankNode:
        """The client decides; `up` is the bank's card."""
        node = BankNode(f"{'soft ' if held.is_soft else ''}{held.total} against {up.total}", CLIENT_SEAT)
        node.moves = MOVES
        node.successors = {HIT: hit(held, up), STAND: bank(held.total, up), SURRENDER: CLIENT_SURRENDERED}
        return node

    @cache
    def hit(held: HandTotal, up: HandTotal) -> BankNode:
        """The client receives one more card."""
        return chance(f"a card to {held.total}", CLIENT_SEAT, lambda rank: after_hit(held.with_card(rank), up))

    def after_hit(held: HandTotal, up: HandTotal) -> BankNode:
        """The client has drawn: 21 wins at once, more loses at once (B5)."""
        if held.total == TARGET_TOTAL:
            return CLIENT_WON
        return CLIENT_LOST if held.total > TARGET_TOTAL else decide(held, up)

    @cache
    def deal(held: HandTotal, left: int) -> BankNode:
        """Deal the `left` remaining cards of the client, and then the bank's card."""
        if left:
            return chance("the deal", CLIENT_SEAT, lambda rank: deal(held.with_card(rank), left - 1))
        return chance("the deal", BANK_SEAT, lambda rank: decide(held, HandTotal().with_card(rank)))

    return deal(HandTotal(), 2)


class Blackjack(BankRules):
    """The rules of blackjack for a shoe of `decks`. See `BankRules`.

    Example:
        >>> rules = Blackjack(decks=2)
        >>> rules.odds(rules.start())["AH"]
        Fraction(1, 52)
    """

    def __init__(self, decks: int = 1, cards: Sequence[str] = CARDS) -> None:
        super().__init__(partial(_build_automaton, tuple(cards)), cards, decks)


BLACKJACK: Final = Blackjack()

MAX_BET: Final = 2**30 - 1
"""The largest bet: twice this amount still fits into an int32 (B9)."""

MAX_INT32: Final = 2**31 - 1
"""The largest int32, and so the largest balance."""


def largest_bet(balance: int, staked_elsewhere: int = 0) -> int:
    """The largest bet that a balance can pay without overflowing if it is won; 0 if there is none (B9).

    `staked_elsewhere` are bets of the same purse on other connections, which may be won as well (blackjack-7.6).

    >>> largest_bet(1000)
    1000
    >>> largest_bet(MAX_INT32)
    0
    """
    return max(0, min(balance, MAX_INT32 - balance - 2 * staked_elsewhere, MAX_BET))


MAX_DECKS: Final = 8
"""The largest number of decks in a shoe, as in casinos."""


def check_decks(decks: int) -> int:
    """Return the number of decks if it is 1 to `MAX_DECKS`. Raises ValueError otherwise."""
    if not 1 <= decks <= MAX_DECKS:
        raise ValueError(f"found {decks} decks; allowed: 1 to {MAX_DECKS}")
    return decks
