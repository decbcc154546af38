"""Exact optimal play of a client against a bank with a fixed rule (docs/solutions.md).

A position consists of the node, the bet, and the numbers of cards of each kind left in the shoe; the order of the cards
dealt so far does not matter, nor do differences between cards of the same kind. Internally a value is the integer sum
of the coins won over all orders of the next cards; it is divided by the number of orders only at the end.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import perm

from croupier.core.bank import BankMove, BankNode, BankRules, BankState
from croupier.core.rules import Turn
from croupier.strategy.shoe import CardCounts, ExpectedPayout, card_kinds, reachable_nodes, successors, without_card

type Position = tuple[BankNode, int, CardCounts]
"""The node, the bet in coins, and the cards left in the shoe."""


class SinglePlayerSolver:
    """Computes optimal play of the client from any state of the rules.

    Only the highest raise is tried. The payoff of a terminal node is proportional to the bet, and averages and maxima
    of convex functions are convex; so the value of every position is convex in the bet and is greatest at one of the
    two ends: no raise, or the highest. (A raise of 0 gains nothing: it only removes moves.)

    The shoe must have enough cards for every game. Coins are whole, as at the table: the bank keeps half coins.
    """

    def __init__(self, rules: BankRules) -> None:
        nodes = reachable_nodes(rules.start().node)
        self.rules = rules
        self.card_kinds = card_kinds(nodes, rules.cards)
        self._kind_of_card = {card: kind for kind, alike in enumerate(self.card_kinds) for card in alike}
        self._shoe = tuple(len(alike) * rules.decks for alike in self.card_kinds)
        self._successors = {
            node: tuple(node.successors[alike[0]] for alike in self.card_kinds)
            for node in nodes
            if node.turn is Turn.CHANCE
        }
        self._terminals = [node for node in nodes if node.turn is Turn.OVER]
        self._depth: dict[BankNode, int] = {}
        self._equivalent: dict[BankNode, BankNode] = {}
        self._analyse_nodes(nodes)
        self._move_results: dict[tuple[BankNode, int], Sequence[tuple[BankNode, int]]] = {}
        self._expected_payouts: dict[tuple[BankNode, int], ExpectedPayout] = {}
        self._values: dict[Position, int] = {}

    def value(self, state: BankState) -> Fraction:
        """The coins that the client wins on average from this state with optimal play."""
        node, bet, left = self.position(state)
        cards = sum(left)
        return Fraction(self._total_coins(node, bet, left, cards), perm(cards, self._remaining_draws(node, cards)))

    def move_values(self, state: BankState) -> Mapping[BankMove, Fraction]:
        """The value in coins of each listed legal move, with optimal play afterwards."""
        return {move: self.value(self.rules.play(state, move)) for move in self.rules.legal(state)}

    def best_move(self, state: BankState) -> BankMove:
        """The move with the highest value; the first in the list if several have it."""
        values = self.move_values(state)
        return max(values, key=values.__getitem__)

    def reachable_decisions(self, state: BankState) -> Sequence[BankState]:
        """All decisions reachable from a state, one state per position; each after the decisions that can follow it."""
        positions = self._walk_positions(state)
        return [example for (node, _, _), example in positions.items() if node.turn is not Turn.CHANCE]

    def decision_probabilities(self, state: BankState) -> Mapping[BankState, Fraction]:
        """The probability that optimal play reaches each decision, if it is not 0; earlier decisions first."""
        positions = self._walk_positions(state)
        start = self.position(state)
        orders: dict[Position, int] = defaultdict(int, {start: 1})
        start_cards = sum(start[2])
        probabilities = {}
        for position, example in reversed([*positions.items()]):
            node, bet, left = position
            if not (count := orders[position]):
                continue
            if node.turn is Turn.CHANCE:
                for kind, after in enumerate(self._successors[node]):
                    if left[kind]:
                        orders[after, bet, without_card(left, kind)] += count * left[kind]
            else:
                probabilities[example] = Fraction(count, perm(start_cards, start_cards - sum(left)))
                orders[self.position(self.rules.play(example, self.best_move(example)))] += count
        return probabilities

    def _analyse_nodes(self, nodes: Sequence[BankNode]) -> None:
        """Find the maximum number of cards drawn from each node, and equivalent nodes below which only chance moves."""
        same: dict[object, BankNode] = {}
        for node in nodes:
            is_chance = node.turn is Turn.CHANCE
            self._depth[node] = max((is_chance + self._depth[after] for after in successors(node)), default=0)
            if node.turn is Turn.OVER:
                self._equivalent[node] = same.setdefault(node.payoff_half_bets, node)
            elif is_chance and all(after in self._equivalent for after in self._successors[node]):
                self._equivalent[node] = same.setdefault(
                    tuple(self._equivalent[after] for after in self._successors[node]), node
                )

    def position(self, state: BankState) -> Position:
        """What the value of a state depends on."""
        left = list(self._shoe)
        for card in state.cards:
            left[self._kind_of_card[card]] -= 1
        return state.node, state.bet, tuple(left)

    def _remaining_draws(self, node: BankNode, cards: int) -> int:
        """The length of the orders of cards over which the value of a node is summed."""
        return min(self._depth[node], cards)

    def _total_coins(self, node: BankNode, bet: int, left: CardCounts, cards: int) -> int:
        """The coins won with optimal play, summed over all orders of the next cards; `cards` is the sum of `left`."""
        if node.turn is Turn.OVER:
            return node.net(bet)
        depth = self._remaining_draws(node, cards)
        if node in self._equivalent:
            return self._expected_payout(node, bet).total_coins(left, depth)
        if node.turn is Turn.CHANCE:
            return sum(
                left[kind] * self._total_coins_to_depth(depth - 1, after, bet, without_card(left, kind), cards - 1)
                for kind, after in enumerate(self._successors[node])
                if left[kind]
            )
        position = node, bet, left
        total = self._values.get(position)
        if total is None:
            total = max(
                self._total_coins_to_depth(depth, *after, left, cards) for after in self._move_outcomes(node, bet)
            )
            self._values[position] = total
        return total

    def _total_coins_to_depth(self, depth: int, node: BankNode, bet: int, left: CardCounts, cards: int) -> int:
        """As `_total_coins`, but summed over all orders of `depth` cards, at least as many as are drawn from here."""
        draws = self._remaining_draws(node, cards)
        return self._total_coins(node, bet, left, cards) * perm(cards - draws, depth - draws)

    def _move_outcomes(self, node: BankNode, bet: int) -> Sequence[tuple[BankNode, int]]:
        """The node and the bet after each move, which do not depend on the shoe; cached."""
        outcomes = self._move_results.get((node, bet))
        if outcomes is None:
            state = BankState(node, bet=bet)
            after = [self.rules.play(state, move) for move in self.rules.legal(state)]
            outcomes = self._move_results[node, bet] = [(next_state.node, next_state.bet) for next_state in after]
        return outcomes

    def _expected_payout(self, node: BankNode, bet: int) -> ExpectedPayout:
        key = self._equivalent[node], bet
        payout = self._expected_payouts.get(key)
        if payout is None:
            coins = {end: end.net(bet) for end in self._terminals}
            payout = self._expected_payouts[key] = ExpectedPayout(key[0], self._successors, coins, self._shoe)
        return payout

    def _walk_positions(self, state: BankState) -> Mapping[Position, BankState]:
        """All reachable positions with a decision at or below them, each with an example state; later ones first."""
        positions: dict[Position, BankState] = {}
        seen = set()

        def visit(state: BankState, left: CardCounts) -> None:
            node, bet = state.node, state.bet
            position = node, bet, left
            if node in self._equivalent or position in seen:
                return
            seen.add(position)
            if node.turn is Turn.CHANCE:
                for kind, cards in enumerate(self.card_kinds):
                    if left[kind]:
                        card = next(card for card in cards if state.cards.count(card) < self.rules.decks)
                        visit(self.rules.play(state, card), without_card(left, kind))
            else:
                for move in self.rules.legal(state):
                    visit(self.rules.play(state, move), left)
            positions[position] = state

        visit(state, self.position(state)[2])
        return positions
