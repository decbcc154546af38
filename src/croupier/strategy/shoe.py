"""What the cards left in a shoe are worth where nobody decides any more, counted instead of tried.

Which cards the bank may draw, and in which orders, depends on the game alone; how likely each is depends on the shoe
alone. So the first is listed once, as a polynomial in the numbers of cards left, and the second is put in for every
shoe, one kind of card after the other, which shoes that begin alike share.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from math import perm

from croupier.core.bank import BankNode
from croupier.core.rules import Turn

type CardCounts = tuple[int, ...]
"""How many cards of each kind are left in the shoe."""


def without_card(counts: CardCounts, kind: int) -> CardCounts:
    """The shoe with one card of this kind less."""
    return (*counts[:kind], counts[kind] - 1, *counts[kind + 1 :])


def reachable_nodes(first: BankNode) -> list[BankNode]:
    """Every node that can come after this one, and itself; later ones first."""
    found: dict[BankNode, None] = {}
    seen = set()

    def visit(node: BankNode) -> None:
        if node not in seen:
            seen.add(node)
            for after in successors(node):
                visit(after)
            found[node] = None

    visit(first)
    return list(found)


def successors(node: BankNode) -> Iterator[BankNode]:
    """Where a node leads, once each."""
    yield from dict.fromkeys(node.successors.values())
    if node.after_raise is not None and node.after_raise is not node:
        yield node.after_raise


def card_kinds(found: Sequence[BankNode], cards: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The cards, those together that lead to the same node everywhere: no strategy has to tell them apart."""
    chances = [node for node in found if node.turn is Turn.CHANCE]
    alike: dict[tuple[BankNode, ...], list[str]] = {}
    for card in cards:
        alike.setdefault(tuple(node.successors[card] for node in chances), []).append(card)
    return tuple(map(tuple, alike.values()))


@cache
def falling_factorials(count: int, most: int) -> Sequence[int]:
    """In how many orders 0, 1, … `most` of so many cards can be drawn."""
    return tuple(perm(count, drawn) for drawn in range(most + 1))


class ExpectedPayout:
    """What is paid below a node where only chance moves, on average over all orders of any shoe.

    `leads` is where each kind of card leads from each node, `pays` the coins of each end, `shoe` the full shoe.
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
        found: dict[tuple[int, ...], int] = defaultdict(int)
        for (drawn, end), orders in ends.items():
            found[sum(drawn), *drawn] += orders * (payouts[end] - self._base_payout)
        terms = {key: coins for key, coins in found.items() if coins}
        self._coefficients: dict[CardCounts, Sequence[int]] = {(): tuple(terms.values())}
        self._steps: list[tuple[int, Sequence[tuple[int, int]]]] = []
        keys = list(terms)
        for _ in shoe:
            merged = {(drawn, *later): None for drawn, _, *later in keys}
            place = {key: index for index, key in enumerate(merged)}
            self._steps.append((len(place), [(key[1], place[key[0], *key[2:]]) for key in keys]))
            keys = list(merged)
        self._drawn = [drawn for (drawn,) in keys]
        self._max_drawn = max(self._drawn, default=0)

    def total_coins(self, left: CardCounts, depth: int) -> int:
        """The coins that are paid, summed over all orders in which the next `depth` cards of this shoe may come."""
        cards = sum(left)
        found = self._base_payout * perm(cards, depth)
        for drawn, coins in zip(self._drawn, self._evaluate(left), strict=True):
            if coins:
                found += coins * perm(cards - drawn, depth - drawn)
        return found

    def _evaluate(self, left: CardCounts) -> Sequence[int]:
        """The coefficients of the polynomial when the numbers of the first kinds have been put in."""
        found = self._coefficients.get(left)
        if found is None:
            orders = falling_factorials(left[-1], self._max_drawn)
            size, steps = self._steps[len(left) - 1]
            sums = [0] * size
            for coins, (drawn, place) in zip(self._evaluate(left[:-1]), steps, strict=True):
                sums[place] += coins * orders[drawn]
            found = sums
            if len(left) < len(self._steps):
                self._coefficients[left] = found
        return found


def _terminal_draws(
    first: BankNode, leads: Mapping[BankNode, Sequence[BankNode]], shoe: CardCounts
) -> Mapping[tuple[CardCounts, BankNode], int]:
    """Which cards may have been drawn when it is over, where that is, and in how many orders of kinds."""
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
