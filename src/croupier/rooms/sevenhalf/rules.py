"""Seven and a half: draw to 7½ and not over it, then the bank tries to do better (docs/protocols/sevenhalf.md, 3).

All values are counted in halves. The automaton of the game is built once for each of the two orders of moves: the
document's, and that of the dialect `lenient`.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import product
from typing import Final, Literal

from croupier.core.bank import BANK_SEAT, CLIENT_SEAT, BankNode, BankRules, BankState
from croupier.core.cards import Pack
from croupier.core.rules import Turn

type Phase = Literal["bet", "hand", "raised"]
"""What the client has done last: nothing yet, drawn a card, or raised the bet."""

RANKS: Final = "1234567scr"
SUITS: Final = "oceb"

RANK_HALVES: Final[Mapping[str, int]] = {rank: 2 * int(rank) if rank.isdigit() else 1 for rank in RANKS}
"""What a card counts, in halves: 1 to 7 as printed, sota, cavall and rei one half (§1)."""

CARDS: Final = tuple(rank + suit for suit, rank in product(SUITS, RANKS))
PACK: Final = Pack(CARDS)

CARD_HALVES: Final[Mapping[str, int]] = {card: RANK_HALVES[card[0]] for card in CARDS}
"""The same by the card."""

TARGET_HALVES: Final = 15
"""Seven and a half, in halves."""

MAX_TOTAL_BET: Final = 2**30 - 1
"""The largest total bet: twice as much still fits a GAIN (S5)."""

MOVES: Final[Mapping[bool, Mapping[Phase, tuple[str, ...]]]] = {
    False: {"bet": ("DRAW",), "hand": ("DRAW", "PASS"), "raised": ("DRAW",)},
    True: {"bet": ("DRAW", "PASS"), "hand": ("DRAW", "PASS"), "raised": ("DRAW", "PASS")},
}
"""What the client may do besides raising, in the document (False) and in the dialect `lenient` (True) (S4)."""

RAISE_PHASES: Final[Mapping[bool, frozenset[Phase]]] = {
    False: frozenset({"hand", "raised"}),
    True: frozenset({"bet", "hand", "raised"}),
}
"""When the client may raise."""


def total(cards: Sequence[str]) -> int:
    """What cards count together, in halves."""
    return sum(map(CARD_HALVES.__getitem__, cards))


@cache
def score(halves: int) -> str:
    """A total as the wire writes it: two digits, a point, one digit."""
    return f"{halves // 2:02}.{halves % 2 * 5}"


def payout_in_bets(client: int, bank: int) -> int:
    """What the client wins, in bets, when both are done (S6 to S8)."""
    if client > TARGET_HALVES:
        return -1
    if bank == client:
        return 0
    if client < bank <= TARGET_HALVES:
        return -1
    return 2 if client == TARGET_HALVES else 1


@cache
def _build_automaton(cards: tuple[str, ...], *, lenient: bool) -> BankNode:
    """The automaton, from before the first card."""
    bust = BankNode("the bank draws against a bust", Turn.CHANCE, BANK_SEAT)
    over = {result: BankNode(f"the client wins {result}", Turn.OVER, BANK_SEAT, 2 * result) for result in (-1, 0, 1, 2)}
    bust.successors = dict.fromkeys(cards, over[-1])

    def bank(client: int) -> BankNode:
        """The bank draws at least one card, and on while it has no more than the client (S7)."""
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
    """The rules of seven and a half as questions about a `State`, with a limit on the total bet."""

    def __init__(self, max_bet: int = MAX_TOTAL_BET, *, lenient: bool = False, cards: Sequence[str] = CARDS) -> None:
        super().__init__(_build_automaton(tuple(cards), lenient=lenient), cards, max_bet=max_bet)


SEVENHALF: Final = SevenHalf()
LENIENT_RULES: Final = SevenHalf(lenient=True)


def client_cards(state: BankState) -> tuple[str, ...]:
    """The client's cards: those before the bank's."""
    return state.cards[: len(state.cards) - state.bank_card_count]


def bank_cards(state: BankState) -> tuple[str, ...]:
    """The bank's cards: the last ones."""
    return state.cards[len(state.cards) - state.bank_card_count :]
