"""The best that a client can do against a bank that plays by a fixed rule, exactly (docs/solutions.md).

A decision is told by what the game has come to, the bet, and how many cards of each kind are left: the order of the
cards, and cards that always lead to the same, make no difference. Every value is the sum of the coins won over all
orders in which the next cards may come, which is an integer; dividing it by the number of orders is left to the end.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import perm

from croupier.core.bank import BankRules, Move, Node, State
from croupier.core.rules import Turn
from croupier.strategy.shoe import Left, Outlook, below, kinds, nodes, without

type Spot = tuple[Node, int, Left]
"""What the game has come to, the bet, and what is left in the shoe."""


class OnePlayer:
    """Best play of the client, for any rules of this kind, from any state of theirs.

    Only the highest raise is tried. An end is worth so many times the bet, and averages and maxima of functions that
    are convex in the bet are convex; so what any position is worth is convex, and greatest at one of the two ends: no
    raise, or the highest. (A raise of nothing would gain nothing: it only takes moves away.)

    The shoe has to outlast every game. Coins are whole, as at the table: the half coin of an odd bet is the bank's.
    """

    def __init__(self, rules: BankRules) -> None:
        found = nodes(rules.start().node)
        self.rules = rules
        self.kinds = kinds(found, rules.cards)
        self._kind = {card: kind for kind, alike in enumerate(self.kinds) for card in alike}
        self._shoe = tuple(len(alike) * rules.decks for alike in self.kinds)
        self._next = {
            node: tuple(node.next[alike[0]] for alike in self.kinds) for node in found if node.turn is Turn.CHANCE
        }
        self._ends = [node for node in found if node.turn is Turn.OVER]
        self._depth: dict[Node, int] = {}
        self._alike: dict[Node, Node] = {}
        self._sort(found)
        self._moves: dict[tuple[Node, int], Sequence[tuple[Node, int]]] = {}
        self._outlooks: dict[tuple[Node, int], Outlook] = {}
        self._known: dict[Spot, int] = {}

    def value(self, state: State) -> Fraction:
        """The coins that the client wins from here on average, if it plays best."""
        node, bet, left = self._spot(state)
        cards = sum(left)
        return Fraction(self._coins(node, bet, left, cards), perm(cards, self._deep(node, cards)))

    def worth(self, state: State) -> Mapping[Move, Fraction]:
        """What each move that `legal` lists is worth, in coins, if the client plays best afterwards."""
        return {move: self.value(self.rules.play(state, move)) for move in self.rules.legal(state)}

    def best(self, state: State) -> Move:
        """The best move; of several, the one that is listed first."""
        worth = self.worth(state)
        return max(worth, key=worth.__getitem__)

    def decisions(self, state: State) -> Sequence[State]:
        """Every decision that may come, whatever is done: a state for each that differs; later ones first."""
        found = self._walk(state)
        return [there for (node, _, _), there in found.items() if node.turn is not Turn.CHANCE]

    def reached(self, state: State) -> Mapping[State, Fraction]:
        """How likely best play comes to each decision that it comes to at all; earlier ones first."""
        found = self._walk(state)
        start = self._spot(state)
        ways: dict[Spot, int] = defaultdict(int, {start: 1})
        whole = sum(start[2])
        reached = {}
        for spot, there in reversed([*found.items()]):
            node, bet, left = spot
            if not (here := ways[spot]):
                continue
            if node.turn is Turn.CHANCE:
                for kind, after in enumerate(self._next[node]):
                    if left[kind]:
                        ways[after, bet, without(left, kind)] += here * left[kind]
            else:
                reached[there] = Fraction(here, perm(whole, whole - sum(left)))
                ways[self._spot(self.rules.play(there, self.best(there)))] += here
        return reached

    def _sort(self, found: Sequence[Node]) -> None:
        """How many more cards may be drawn from each node, and which nodes without any decision below are the same."""
        same: dict[object, Node] = {}
        for node in found:
            drawn = node.turn is Turn.CHANCE
            self._depth[node] = max((drawn + self._depth[after] for after in below(node)), default=0)
            if node.turn is Turn.OVER:
                self._alike[node] = same.setdefault(node.pays, node)
            elif drawn and all(after in self._alike for after in self._next[node]):
                self._alike[node] = same.setdefault(tuple(self._alike[after] for after in self._next[node]), node)

    def _spot(self, state: State) -> Spot:
        left = list(self._shoe)
        for card in state.cards:
            left[self._kind[card]] -= 1
        return state.node, state.bet, tuple(left)

    def _deep(self, node: Node, cards: int) -> int:
        """How many cards the orders have over which a node's value is summed."""
        return min(self._depth[node], cards)

    def _coins(self, node: Node, bet: int, left: Left, cards: int) -> int:
        """What best play wins, summed over all orders of the next cards; `cards` are left in all."""
        if node.turn is Turn.OVER:
            return bet * node.pays // 2
        deep = self._deep(node, cards)
        if node in self._alike:
            return self._outlook(node, bet).coins(left, deep)
        if node.turn is Turn.CHANCE:
            return sum(
                left[kind] * self._summed(deep - 1, after, bet, without(left, kind), cards - 1)
                for kind, after in enumerate(self._next[node])
                if left[kind]
            )
        spot = node, bet, left
        found = self._known.get(spot)
        if found is None:
            found = max(self._summed(deep, *after, left, cards) for after in self._choices(node, bet))
            self._known[spot] = found
        return found

    def _summed(self, depth: int, node: Node, bet: int, left: Left, cards: int) -> int:
        """The same, summed over all orders of `depth` cards, which may be more than are drawn from here."""
        deep = self._deep(node, cards)
        return self._coins(node, bet, left, cards) * perm(cards - deep, depth - deep)

    def _choices(self, node: Node, bet: int) -> Sequence[tuple[Node, int]]:
        """Where the moves lead, and the bet after them: the shoe has no part in it."""
        found = self._moves.get((node, bet))
        if found is None:
            here = State(node, (), 0, bet)
            after = [self.rules.play(here, move) for move in self.rules.legal(here)]
            found = self._moves[node, bet] = [(there.node, there.bet) for there in after]
        return found

    def _outlook(self, node: Node, bet: int) -> Outlook:
        key = self._alike[node], bet
        found = self._outlooks.get(key)
        if found is None:
            pays = {end: bet * end.pays // 2 for end in self._ends}
            found = self._outlooks[key] = Outlook(key[0], self._next, pays, self._shoe)
        return found

    def _walk(self, state: State) -> Mapping[Spot, State]:
        """Every spot from here on that has a decision below it, with a state that is there; later ones first."""
        found: dict[Spot, State] = {}
        seen = set()

        def visit(state: State, left: Left) -> None:
            node, bet = state.node, state.bet
            spot = node, bet, left
            if node in self._alike or spot in seen:
                return
            seen.add(spot)
            if node.turn is Turn.CHANCE:
                for kind, cards in enumerate(self.kinds):
                    if left[kind]:
                        card = next(card for card in cards if state.cards.count(card) < self.rules.decks)
                        visit(self.rules.play(state, card), without(left, kind))
            else:
                for move in self.rules.legal(state):
                    visit(self.rules.play(state, move), left)
            found[spot] = state

        visit(state, self._spot(state)[2])
        return found
