"""Seven and a half: draw to 7½ and not over it, then the bank tries to do better (docs/protocols/sevenhalf.md, 3).

All values are counted in halves. The automaton of the game is built once for each of the two orders of moves: the
document's, and that of the dialect `lenient`.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import product
from typing import Final, Literal

from croupier.core.bank import BANK, CLIENT, BankRules, Node, State
from croupier.core.cards import Pack
from croupier.core.rules import Turn

type Phase = Literal["bet", "hand", "raised"]
"""What the client has done last: nothing yet, drawn a card, or raised the bet."""

RANKS: Final = "1234567scr"
SUITS: Final = "oceb"

VALUE: Final[Mapping[str, int]] = {rank: 2 * int(rank) if rank.isdigit() else 1 for rank in RANKS}
"""What a card counts, in halves: 1 to 7 as printed, sota, cavall and rei one half (§1)."""

CARDS: Final = tuple(rank + suit for suit, rank in product(SUITS, RANKS))
PACK: Final = Pack(CARDS)

HALVES: Final[Mapping[str, int]] = {card: VALUE[card[0]] for card in CARDS}
"""The same by the card."""

BEST: Final = 15
"""Seven and a half, in halves."""

MOST: Final = 2**30 - 1
"""The largest total bet: twice as much still fits a GAIN (S5)."""

MOVES: Final[Mapping[bool, Mapping[Phase, tuple[str, ...]]]] = {
    False: {"bet": ("DRAW",), "hand": ("DRAW", "PASS"), "raised": ("DRAW",)},
    True: {"bet": ("DRAW", "PASS"), "hand": ("DRAW", "PASS"), "raised": ("DRAW", "PASS")},
}
"""What the client may do besides raising, in the document (False) and in the dialect `lenient` (True) (S4)."""

RAISES: Final[Mapping[bool, frozenset[Phase]]] = {
    False: frozenset({"hand", "raised"}),
    True: frozenset({"bet", "hand", "raised"}),
}
"""When the client may raise."""


def total(cards: Sequence[str]) -> int:
    """What cards count together, in halves."""
    return sum(map(HALVES.__getitem__, cards))


@cache
def score(halves: int) -> str:
    """A total as the wire writes it: two digits, a point, one digit."""
    return f"{halves // 2:02}.{halves % 2 * 5}"


def pays(client: int, bank: int) -> int:
    """What the client wins, in bets, when both are done (S6 to S8)."""
    if client > BEST:
        return -1
    if bank == client:
        return 0
    if client < bank <= BEST:
        return -1
    return 2 if client == BEST else 1


@cache
def _first(cards: tuple[str, ...], *, lenient: bool) -> Node:
    """The automaton, from before the first card."""
    bust = Node("the bank draws against a bust", Turn.CHANCE, BANK)
    over = {result: Node(f"the client wins {result}", Turn.OVER, BANK, 2 * result) for result in (-1, 0, 1, 2)}
    bust.next = dict.fromkeys(cards, over[-1])

    def bank(client: int) -> Node:
        """The bank draws at least one card, and on while it has no more than the client (S7)."""
        rows = {halves: Node(f"bank {halves} against {client}", Turn.CHANCE, BANK) for halves in range(BEST)}
        for halves, node in rows.items():
            for card in cards:
                after = halves + HALVES[card]
                done = after > client or after == BEST
                node.next[card] = over[pays(client, after)] if done else rows[after]
        return rows[0]

    draws = {halves: Node(f"a card to {halves}", Turn.CHANCE, CLIENT) for halves in range(BEST + 1)}
    banks = {halves: bank(halves) for halves in range(BEST + 1)}
    decides: dict[tuple[Phase, int], Node] = {}
    for phase, halves in product(MOVES[lenient], range(BEST + 1)):
        node = decides[phase, halves] = Node(f"{phase} {halves}", CLIENT)
        node.moves = MOVES[lenient][phase]
        node.next = {move: draws[halves] if move == "DRAW" else banks[halves] for move in node.moves}
    for halves, node in draws.items():
        for card in cards:
            after = halves + HALVES[card]
            node.next[card] = decides["hand", after] if after <= BEST else bust
    for (phase, halves), node in decides.items():
        if phase in RAISES[lenient]:
            node.raised = decides["raised", halves]
    return decides["bet", 0]


class SevenHalf(BankRules):
    """The rules of seven and a half as questions about a `State`, with a limit on the total bet."""

    def __init__(self, max_bet: int = MOST, *, lenient: bool = False, cards: Sequence[str] = CARDS) -> None:
        super().__init__(_first(tuple(cards), lenient=lenient), cards, max_bet=max_bet)


SEVENHALF: Final = SevenHalf()
LENIENT: Final = SevenHalf(lenient=True)


def client_cards(state: State) -> tuple[str, ...]:
    """The client's cards: those before the bank's."""
    return state.cards[: len(state.cards) - state.banked]


def bank_cards(state: State) -> tuple[str, ...]:
    """The bank's cards: the last ones."""
    return state.cards[len(state.cards) - state.banked :]
