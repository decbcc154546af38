"""The best that a client can do against a bank that plays by a fixed rule, exactly (docs/solutions.md).

A decision is told by what the game has come to, the bet, and how many cards of each kind are left: the order of the
cards, and cards that always lead to the same, make no difference. Every value is the sum of the coins won over all
orders in which the next cards may come, which is an integer; dividing it by the number of orders is left to the end.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import perm

from croupier.core.bank import BankMove, BankNode, BankRules, BankState
from croupier.core.rules import Turn
from croupier.strategy.shoe import CardCounts, ExpectedPayout, card_kinds, reachable_nodes, successors, without_card

type Position = tuple[BankNode, int, CardCounts]
"""What the game has come to, the bet, and what is left in the shoe."""


class SinglePlayerSolver:
    """Best play of the client, for any rules of this kind, from any state of theirs.

    Only the highest raise is tried. An end is worth so many times the bet, and averages and maxima of functions that
    are convex in the bet are convex; so what any position is worth is convex, and greatest at one of the two ends: no
    raise, or the highest. (A raise of nothing would gain nothing: it only takes moves away.)

    The shoe has to outlast every game. Coins are whole, as at the table: the half coin of an odd bet is the bank's.
    """

    def __init__(self, rules: BankRules) -> None:
        found = reachable_nodes(rules.start().node)
        self.rules = rules
        self.card_kinds = card_kinds(found, rules.cards)
        self._kind_of_card = {card: kind for kind, alike in enumerate(self.card_kinds) for card in alike}
        self._shoe = tuple(len(alike) * rules.decks for alike in self.card_kinds)
        self._successors = {
            node: tuple(node.successors[alike[0]] for alike in self.card_kinds)
            for node in found
            if node.turn is Turn.CHANCE
        }
        self._terminals = [node for node in found if node.turn is Turn.OVER]
        self._depth: dict[BankNode, int] = {}
        self._equivalent: dict[BankNode, BankNode] = {}
        self._analyse_nodes(found)
        self._move_results: dict[tuple[BankNode, int], Sequence[tuple[BankNode, int]]] = {}
        self._expected_payouts: dict[tuple[BankNode, int], ExpectedPayout] = {}
        self._values: dict[Position, int] = {}

    def value(self, state: BankState) -> Fraction:
        """The coins that the client wins from here on average, if it plays best."""
        node, bet, left = self._position(state)
        cards = sum(left)
        return Fraction(self._total_coins(node, bet, left, cards), perm(cards, self._remaining_draws(node, cards)))

    def move_values(self, state: BankState) -> Mapping[BankMove, Fraction]:
        """What each move that `legal` lists is worth, in coins, if the client plays best afterwards."""
        return {move: self.value(self.rules.play(state, move)) for move in self.rules.legal(state)}

    def best_move(self, state: BankState) -> BankMove:
        """The best move; of several, the one that is listed first."""
        worth = self.move_values(state)
        return max(worth, key=worth.__getitem__)

    def reachable_decisions(self, state: BankState) -> Sequence[BankState]:
        """Every decision that may come, whatever is done: a state for each that differs; later ones first."""
        found = self._walk_positions(state)
        return [there for (node, _, _), there in found.items() if node.turn is not Turn.CHANCE]

    def decision_probabilities(self, state: BankState) -> Mapping[BankState, Fraction]:
        """How likely best play comes to each decision that it comes to at all; earlier ones first."""
        found = self._walk_positions(state)
        start = self._position(state)
        ways: dict[Position, int] = defaultdict(int, {start: 1})
        whole = sum(start[2])
        reached = {}
        for spot, there in reversed([*found.items()]):
            node, bet, left = spot
            if not (here := ways[spot]):
                continue
            if node.turn is Turn.CHANCE:
                for kind, after in enumerate(self._successors[node]):
                    if left[kind]:
                        ways[after, bet, without_card(left, kind)] += here * left[kind]
            else:
                reached[there] = Fraction(here, perm(whole, whole - sum(left)))
                ways[self._position(self.rules.play(there, self.best_move(there)))] += here
        return reached

    def _analyse_nodes(self, found: Sequence[BankNode]) -> None:
        """How many more cards may be drawn from each node, and which nodes without any decision below are the same."""
        same: dict[object, BankNode] = {}
        for node in found:
            drawn = node.turn is Turn.CHANCE
            self._depth[node] = max((drawn + self._depth[after] for after in successors(node)), default=0)
            if node.turn is Turn.OVER:
                self._equivalent[node] = same.setdefault(node.payoff_half_bets, node)
            elif drawn and all(after in self._equivalent for after in self._successors[node]):
                self._equivalent[node] = same.setdefault(
                    tuple(self._equivalent[after] for after in self._successors[node]), node
                )

    def _position(self, state: BankState) -> Position:
        left = list(self._shoe)
        for card in state.cards:
            left[self._kind_of_card[card]] -= 1
        return state.node, state.bet, tuple(left)

    def _remaining_draws(self, node: BankNode, cards: int) -> int:
        """How many cards the orders have over which a node's value is summed."""
        return min(self._depth[node], cards)

    def _total_coins(self, node: BankNode, bet: int, left: CardCounts, cards: int) -> int:
        """What best play wins, summed over all orders of the next cards; `cards` are left in all."""
        if node.turn is Turn.OVER:
            return bet * node.payoff_half_bets // 2
        deep = self._remaining_draws(node, cards)
        if node in self._equivalent:
            return self._expected_payout(node, bet).total_coins(left, deep)
        if node.turn is Turn.CHANCE:
            return sum(
                left[kind] * self._total_coins_to_depth(deep - 1, after, bet, without_card(left, kind), cards - 1)
                for kind, after in enumerate(self._successors[node])
                if left[kind]
            )
        spot = node, bet, left
        found = self._values.get(spot)
        if found is None:
            found = max(
                self._total_coins_to_depth(deep, *after, left, cards) for after in self._move_outcomes(node, bet)
            )
            self._values[spot] = found
        return found

    def _total_coins_to_depth(self, depth: int, node: BankNode, bet: int, left: CardCounts, cards: int) -> int:
        """The same, summed over all orders of `depth` cards, which may be more than are drawn from here."""
        deep = self._remaining_draws(node, cards)
        return self._total_coins(node, bet, left, cards) * perm(cards - deep, depth - deep)

    def _move_outcomes(self, node: BankNode, bet: int) -> Sequence[tuple[BankNode, int]]:
        """Where the moves lead, and the bet after them: the shoe has no part in it."""
        found = self._move_results.get((node, bet))
        if found is None:
            here = BankState(node, (), 0, bet)
            after = [self.rules.play(here, move) for move in self.rules.legal(here)]
            found = self._move_results[node, bet] = [(there.node, there.bet) for there in after]
        return found

    def _expected_payout(self, node: BankNode, bet: int) -> ExpectedPayout:
        key = self._equivalent[node], bet
        found = self._expected_payouts.get(key)
        if found is None:
            pays = {end: bet * end.payoff_half_bets // 2 for end in self._terminals}
            found = self._expected_payouts[key] = ExpectedPayout(key[0], self._successors, pays, self._shoe)
        return found

    def _walk_positions(self, state: BankState) -> Mapping[Position, BankState]:
        """Every spot from here on that has a decision below it, with a state that is there; later ones first."""
        found: dict[Position, BankState] = {}
        seen = set()

        def visit(state: BankState, left: CardCounts) -> None:
            node, bet = state.node, state.bet
            spot = node, bet, left
            if node in self._equivalent or spot in seen:
                return
            seen.add(spot)
            if node.turn is Turn.CHANCE:
                for kind, cards in enumerate(self.card_kinds):
                    if left[kind]:
                        card = next(card for card in cards if state.cards.count(card) < self.rules.decks)
                        visit(self.rules.play(state, card), without_card(left, kind))
            else:
                for move in self.rules.legal(state):
                    visit(self.rules.play(state, move), left)
            found[spot] = state

        visit(state, self._position(state)[2])
        return found
