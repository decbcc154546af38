"""Rules of seven and a half: draw to at most 7½, then the bank draws to beat it (docs/protocols/sevenhalf.md, 3).

All card values and totals are in halves of a point. The automaton of the game is built once per dialect: `document`
and `lenient`, which allows moves in more places.
"""

from collections.abc import Mapping, Sequence
from functools import cache, partial
from itertools import product
from typing import Final, Literal

from croupier.core.bank import BANK_SEAT, CLIENT_SEAT, BankNode, BankRules
from croupier.core.cards import Pack
from croupier.core.rules import Turn

type Phase = Literal["bet", "hand", "raised"]
"""The client's last action: none yet, drew a card, or raised the bet."""

RANKS: Final = "1234567scr"
SUITS: Final = "oceb"

RANK_HALVES: Final[Mapping[str, int]] = {rank: 2 * int(rank) if rank.isdigit() else 1 for rank in RANKS}
"""The value of each rank in halves: 1 to 7 count their number; sota, cavall and rei count one half (§1)."""

CARDS: Final = tuple(rank + suit for suit, rank in product(SUITS, RANKS))
PACK: Final = Pack(CARDS)

CARD_HALVES: Final[Mapping[str, int]] = {card: RANK_HALVES[card[0]] for card in CARDS}
"""The value of each card, in halves."""

TARGET_HALVES: Final = 15
"""Seven and a half, in halves."""

MAX_TOTAL_BET: Final = 2**30 - 1
"""The largest total bet: twice this amount still fits into a GAIN (S5)."""

MOVES: Final[Mapping[bool, Mapping[Phase, tuple[str, ...]]]] = {
    False: {"bet": ("DRAW",), "hand": ("DRAW", "PASS"), "raised": ("DRAW",)},
    True: {"bet": ("DRAW", "PASS"), "hand": ("DRAW", "PASS"), "raised": ("DRAW", "PASS")},
}
"""The client's moves other than raises in each phase, by whether the dialect is `lenient` (S4)."""

RAISE_PHASES: Final[Mapping[bool, frozenset[Phase]]] = {
    False: frozenset({"hand", "raised"}),
    True: frozenset({"bet", "hand", "raised"}),
}
"""The phases in which the client may raise, by whether the dialect is `lenient`."""


def total(cards: Sequence[str]) -> int:
    """The total of cards, in halves.

    >>> total(["7o", "sc"])
    15
    """
    return sum(map(CARD_HALVES.__getitem__, cards))


@cache
def score(halves: int) -> str:
    """A total in halves as written on the wire: two digits, a point, one digit.

    >>> score(15)
    '07.5'
    """
    return f"{halves // 2:02}.{halves % 2 * 5}"


def payout_in_bets(client: int, bank: int) -> int:
    """The client's net in bets, by the final totals of both in halves (S6 to S8).

    >>> payout_in_bets(15, 14), payout_in_bets(14, 15), payout_in_bets(16, 16)
    (2, -1, -1)
    """
    if client > TARGET_HALVES:
        return -1
    if bank == client:
        return 0
    if client < bank <= TARGET_HALVES:
        return -1
    return 2 if client == TARGET_HALVES else 1


@cache
def _build_automaton(cards: tuple[str, ...], *, lenient: bool) -> BankNode:
    """Build the automaton; return its node before the first card."""
    bust = BankNode("the bank draws against a bust", Turn.CHANCE, BANK_SEAT)
    over = {result: BankNode(f"the client wins {result}", Turn.OVER, BANK_SEAT, 2 * result) for result in (-1, 0, 1, 2)}
    bust.successors = dict.fromkeys(cards, over[-1])

    def bank(client: int) -> BankNode:
        """The bank's draws: at least one card, and more while its total is not above the client's (S7)."""
        rows = {
            halves: BankNode(f"bank {halves} against {client}", Turn.CHANCE, BANK_SEAT)
            for halves in range(TARGET_HALVES)
        }
        for halves, node in rows.items():
            for card in cards:
                after = halves + CARD_HALVES[card]
                done = after > client or after == TARGET_HALVES
                node.successors[card] = over[payout_in_bets(client, after)] if done else rows[after]
        return rows[0]

    draws = {halves: BankNode(f"a card to {halves}", Turn.CHANCE, CLIENT_SEAT) for halves in range(TARGET_HALVES + 1)}
    banks = {halves: bank(halves) for halves in range(TARGET_HALVES + 1)}
    decides: dict[tuple[Phase, int], BankNode] = {}
    for phase, halves in product(MOVES[lenient], range(TARGET_HALVES + 1)):
        node = decides[phase, halves] = BankNode(f"{phase} {halves}", CLIENT_SEAT)
        node.moves = MOVES[lenient][phase]
        node.successors = {move: draws[halves] if move == "DRAW" else banks[halves] for move in node.moves}
    for halves, node in draws.items():
        for card in cards:
            after = halves + CARD_HALVES[card]
            node.successors[card] = decides["hand", after] if after <= TARGET_HALVES else bust
    for (phase, halves), node in decides.items():
        if phase in RAISE_PHASES[lenient]:
            node.after_raise = decides["raised", halves]
    return decides["bet", 0]


class SevenHalf(BankRules):
    """The rules of seven and a half, with a limit on the total bet. See `BankRules`.

    Example:
        >>> rules = SevenHalf(max_bet=300)
        >>> state = rules.play(rules.play(rules.start(bet=100), "DRAW"), "7o")
        >>> rules.legal(state)  # the raise is the highest one
        ('DRAW', 'PASS', 200)
    """

    def __init__(self, max_bet: int = MAX_TOTAL_BET, *, lenient: bool = False, cards: Sequence[str] = CARDS) -> None:
        super().__init__(partial(_build_automaton, tuple(cards), lenient=lenient), cards, max_bet=max_bet)


SEVENHALF: Final = SevenHalf()
LENIENT_RULES: Final = SevenHalf(lenient=True)
