"""Expected payouts where only chance moves, computed with polynomials in the numbers of cards left in the shoe.

The sequences of cards that the bank may draw depend only on the game; their probabilities depend only on the shoe.
The sequences are therefore listed once, as a polynomial, which is evaluated for every shoe, one kind of card at a
time; shoes with the same numbers of the first kinds share these steps.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from math import perm

from croupier.core.bank import BankNode
from croupier.core.rules import Turn

type CardCounts = tuple[int, ...]
"""The number of cards of each kind that are left in the shoe."""


def without_card(counts: CardCounts, kind: int) -> CardCounts:
    """The shoe without one card of this kind.

    >>> without_card((4, 4, 16), 2)
    (4, 4, 15)
    """
    return (*counts[:kind], counts[kind] - 1, *counts[kind + 1 :])


def reachable_nodes(first: BankNode) -> list[BankNode]:
    """All nodes reachable from `first`, including itself, each after its successors."""
    ordered: dict[BankNode, None] = {}
    seen = set()

    def visit(node: BankNode) -> None:
        if node not in seen:
            seen.add(node)
            for after in successors(node):
                visit(after)
            ordered[node] = None

    visit(first)
    return list(ordered)


def successors(node: BankNode) -> Iterator[BankNode]:
    """The distinct successors of a node, including the node after a raise if that is another one."""
    yield from dict.fromkeys(node.successors.values())
    if node.after_raise is not None and node.after_raise is not node:
        yield node.after_raise


def card_kinds(nodes: Sequence[BankNode], cards: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The cards, grouped into kinds: cards of the same kind lead to the same successor at every node."""
    chances = [node for node in nodes if node.turn is Turn.CHANCE]
    alike: dict[tuple[BankNode, ...], list[str]] = {}
    for card in cards:
        alike.setdefault(tuple(node.successors[card] for node in chances), []).append(card)
    return tuple(map(tuple, alike.values()))


@cache
def falling_factorials(count: int, max_drawn: int) -> Sequence[int]:
    """The number of ordered draws of 0, 1, …, `max_drawn` out of `count` cards.

    >>> falling_factorials(4, 3)
    (1, 4, 12, 24)
    """
    return tuple(perm(count, drawn) for drawn in range(max_drawn + 1))


class ExpectedPayout:
    """The payout below a node after which only chance moves, summed over all orders of any shoe.

    `leads` has the successors of each node by kind of card, `payouts` the coins of each terminal node, and `shoe` the
    numbers of cards in the full shoe.
    """

    def __init__(
        self,
        node: BankNode,
        leads: Mapping[BankNode, Sequence[BankNode]],
        payouts: Mapping[BankNode, int],
        shoe: CardCounts,
    ) -> None:
        ends = _terminal_draws(node, leads, shoe)
        self._base_payout = max(payouts.values(), key=lambda coins: sum(payouts[end] == coins for _, end in ends))
        sums: dict[tuple[int, ...], int] = defaultdict(int)
        for (drawn, end), orders in ends.items():
            sums[sum(drawn), *drawn] += orders * (payouts[end] - self._base_payout)
        terms = {key: coins for key, coins in sums.items() if coins}
        self._coefficients: dict[CardCounts, Sequence[int]] = {(): tuple(terms.values())}
        self._steps: list[tuple[int, Sequence[tuple[int, int]]]] = []
        keys = list(terms)
        for _ in shoe:
            merged = {(drawn, *later): None for drawn, _, *later in keys}
            index = {key: at for at, key in enumerate(merged)}
            self._steps.append((len(index), [(key[1], index[key[0], *key[2:]]) for key in keys]))
            keys = list(merged)
        self._drawn = [drawn for (drawn,) in keys]
        self._max_drawn = max(self._drawn, default=0)

    def total_coins(self, left: CardCounts, depth: int) -> int:
        """The coins paid, summed over all orders of the next `depth` cards of this shoe."""
        cards = sum(left)
        total = self._base_payout * perm(cards, depth)
        for drawn, coins in zip(self._drawn, self._evaluate(left), strict=True):
            if coins:
                total += coins * perm(cards - drawn, depth - drawn)
        return total

    def _evaluate(self, left: CardCounts) -> Sequence[int]:
        """The coefficients of the polynomial after substituting the numbers of the first kinds."""
        coefficients = self._coefficients.get(left)
        if coefficients is None:
            orders = falling_factorials(left[-1], self._max_drawn)
            size, steps = self._steps[len(left) - 1]
            sums = [0] * size
            for coins, (drawn, at) in zip(self._evaluate(left[:-1]), steps, strict=True):
                sums[at] += coins * orders[drawn]
            coefficients = sums
            if len(left) < len(self._steps):
                self._coefficients[left] = coefficients
        return coefficients


def _terminal_draws(
    first: BankNode, leads: Mapping[BankNode, Sequence[BankNode]], shoe: CardCounts
) -> Mapping[tuple[CardCounts, BankNode], int]:
    """For the cards drawn by kind and the terminal node that they lead to: the number of orders of kinds."""
    ends: dict[tuple[CardCounts, BankNode], int] = defaultdict(int)
    draws = {((0,) * len(shoe), first): 1}
    while draws:
        longer: dict[tuple[CardCounts, BankNode], int] = defaultdict(int)
        for (drawn, node), orders in draws.items():
            for kind, after in enumerate(leads[node]):
                if drawn[kind] < shoe[kind]:
                    more = (*drawn[:kind], drawn[kind] + 1, *drawn[kind + 1 :])
                    (ends if after.turn is Turn.OVER else longer)[more, after] += orders
        draws = longer
    return ends
