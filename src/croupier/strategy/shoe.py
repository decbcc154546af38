"""What the cards left in a shoe are worth where nobody decides any more, counted instead of tried.

Which cards the bank may draw, and in which orders, depends on the game alone; how likely each is depends on the shoe
alone. So the first is listed once, as a polynomial in the numbers of cards left, and the second is put in for every
shoe, one kind of card after the other, which shoes that begin alike share.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from math import perm

from croupier.core.bank import Node
from croupier.core.rules import Turn

type Left = tuple[int, ...]
"""How many cards of each kind are left in the shoe."""


def without(left: Left, kind: int) -> Left:
    """The shoe with one card of this kind less."""
    return (*left[:kind], left[kind] - 1, *left[kind + 1 :])


def nodes(first: Node) -> list[Node]:
    """Every node that can come after this one, and itself; later ones first."""
    found: dict[Node, None] = {}
    seen = set()

    def visit(node: Node) -> None:
        if node not in seen:
            seen.add(node)
            for after in below(node):
                visit(after)
            found[node] = None

    visit(first)
    return list(found)


def below(node: Node) -> Iterator[Node]:
    """Where a node leads, once each."""
    yield from dict.fromkeys(node.next.values())
    if node.raised is not None and node.raised is not node:
        yield node.raised


def kinds(found: Sequence[Node], cards: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The cards, those together that lead to the same node everywhere: no strategy has to tell them apart."""
    chances = [node for node in found if node.turn is Turn.CHANCE]
    alike: dict[tuple[Node, ...], list[str]] = {}
    for card in cards:
        alike.setdefault(tuple(node.next[card] for node in chances), []).append(card)
    return tuple(map(tuple, alike.values()))


@cache
def falling(count: int, most: int) -> Sequence[int]:
    """In how many orders 0, 1, … `most` of so many cards can be drawn."""
    return tuple(perm(count, drawn) for drawn in range(most + 1))


class Outlook:
    """What is paid below a node where only chance moves, on average over all orders of any shoe.

    `leads` is where each kind of card leads from each node, `pays` the coins of each end, `shoe` the full shoe.
    """

    def __init__(self, node: Node, leads: Mapping[Node, Sequence[Node]], pays: Mapping[Node, int], shoe: Left) -> None:
        ends = _ends(node, leads, shoe)
        self._base = max(pays.values(), key=lambda coins: sum(pays[end] == coins for _, end in ends))
        found: dict[tuple[int, ...], int] = defaultdict(int)
        for (drawn, end), orders in ends.items():
            found[sum(drawn), *drawn] += orders * (pays[end] - self._base)
        terms = {key: coins for key, coins in found.items() if coins}
        self._known: dict[Left, Sequence[int]] = {(): tuple(terms.values())}
        self._steps: list[tuple[int, Sequence[tuple[int, int]]]] = []
        keys = list(terms)
        for _ in shoe:
            merged = {(drawn, *later): None for drawn, _, *later in keys}
            place = {key: index for index, key in enumerate(merged)}
            self._steps.append((len(place), [(key[1], place[key[0], *key[2:]]) for key in keys]))
            keys = list(merged)
        self._drawn = [drawn for (drawn,) in keys]
        self._most = max(self._drawn, default=0)

    def coins(self, left: Left, depth: int) -> int:
        """The coins that are paid, summed over all orders in which the next `depth` cards of this shoe may come."""
        cards = sum(left)
        found = self._base * perm(cards, depth)
        for drawn, coins in zip(self._drawn, self._counted(left), strict=True):
            if coins:
                found += coins * perm(cards - drawn, depth - drawn)
        return found

    def _counted(self, left: Left) -> Sequence[int]:
        """The coefficients of the polynomial when the numbers of the first kinds have been put in."""
        found = self._known.get(left)
        if found is None:
            orders = falling(left[-1], self._most)
            size, steps = self._steps[len(left) - 1]
            sums = [0] * size
            for coins, (drawn, place) in zip(self._counted(left[:-1]), steps, strict=True):
                sums[place] += coins * orders[drawn]
            found = sums
            if len(left) < len(self._steps):
                self._known[left] = found
        return found


def _ends(first: Node, leads: Mapping[Node, Sequence[Node]], shoe: Left) -> Mapping[tuple[Left, Node], int]:
    """Which cards may have been drawn when it is over, where that is, and in how many orders of kinds."""
    ends: dict[tuple[Left, Node], int] = defaultdict(int)
    draws = {((0,) * len(shoe), first): 1}
    while draws:
        longer: dict[tuple[Left, Node], int] = defaultdict(int)
        for (drawn, node), orders in draws.items():
            for kind, after in enumerate(leads[node]):
                if drawn[kind] < shoe[kind]:
                    more = (*drawn[:kind], drawn[kind] + 1, *drawn[kind + 1 :])
                    (ends if after.turn is Turn.OVER else longer)[more, after] += orders
        draws = longer
    return ends
