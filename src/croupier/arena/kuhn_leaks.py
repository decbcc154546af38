"""Leaks in Kuhn poker: every choice is compared with the best response to how the opponent has played."""

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from typing import Final

from croupier.arena.baselines.kuhn import Policy
from croupier.arena.leaks import Leak
from croupier.core.rules import Seat
from croupier.rooms.kuhn.bots import equilibrium_bot
from croupier.rooms.kuhn.rules import (
    BETTING_TREE,
    CARDS,
    DEALS,
    KUHN,
    BettingHistory,
    KuhnAction,
    KuhnState,
    Move,
    View,
)
from croupier.strategy.best_response import sequence_values
from croupier.strategy.game_tree import GameTree, realization_plan

VERBS: Final[Mapping[KuhnAction, str]] = {"CHK": "checks", "BET": "bets", "CAL": "calls", "FLD": "folds"}
SITUATIONS: Final[Mapping[BettingHistory, str]] = {
    (): "as P_1",
    ("CHK",): "after a check",
    ("BET",): "facing a bet",
    ("CHK", "BET"): "facing a bet after its check",
}

ASSUMED_DECISIONS: Final = 10
"""How many decisions of the equilibrium are added to those that a bot made at a view."""

ASSUMED_BOT: Final = equilibrium_bot(Fraction(1, 6))
"""The equilibrium that is assumed: the middle one of P_1's."""

type Choice = tuple[View, KuhnAction]


def count_choices(ends: Mapping[KuhnState, int], seat: Seat) -> Counter[Choice]:
    """How often a seat made each choice in hands with these ends."""
    choices: Counter[Choice] = Counter()
    for end, count in ends.items():
        card = end.cards[seat]
        for place in range(seat, len(end.history), 2):
            choices[View(card, end.history[:place]), end.history[place]] += count
    return choices


def estimated_policy(choices: Mapping[Choice, int], seat: Seat) -> Policy:
    """How a seat plays, from its choices: their frequencies, with `ASSUMED_DECISIONS` of the equilibrium at each view.

    At a view that has not occurred, an opponent is assumed to play the equilibrium. Anything weaker would charge the
    other bot with gains that nobody knows to be there.
    """
    policy: dict[View, Mapping[Move, Fraction]] = {}
    for history, (turn, actions) in BETTING_TREE.items():
        for card in CARDS if turn == seat else ():
            view = View(card, history)
            assumed = ASSUMED_BOT.policy(view, actions)
            counts = {action: choices.get((view, action), 0) for action in actions}
            total = sum(counts.values()) + ASSUMED_DECISIONS
            policy[view] = {
                action: (count + ASSUMED_DECISIONS * assumed[action]) / total for action, count in counts.items()
            }
    return policy


@cache
def kuhn_tree() -> GameTree:
    """The game tree, made once in each process."""
    return GameTree(KUHN)


def choice_costs(seat: Seat, opponent: Policy) -> Mapping[Choice, Fraction]:
    """For every choice of a seat, the coins that it wins less than a best response to the opponent from there on."""
    tree = kuhn_tree()
    values = sequence_values(tree, seat, realization_plan(tree, 1 - seat, dict(opponent.items())))
    costs: dict[Choice, Fraction] = {}
    for view, info_set in tree.info_sets[seat].items():
        assert isinstance(view, View), "it is a tree of Kuhn poker"
        reach = _reach(view, seat, opponent)
        best = max(values[sequence] for sequence in info_set.sequences)
        for action, sequence in zip(info_set.moves, info_set.sequences, strict=True):
            costs[view, action] = (best - values[sequence]) / reach if reach else Fraction(0)
    return costs


def kuhn_leaks(ends: tuple[Mapping[KuhnState, int], Mapping[KuhnState, int]]) -> Mapping[str, Leak]:
    """The leaks of a bot that was P_1 in hands with the first ends, and P_2 in hands with the second."""
    leaks = {}
    for seat in (0, 1):
        costs = choice_costs(seat, estimated_policy(count_choices(ends[seat], 1 - seat), 1 - seat))
        for (view, action), count in count_choices(ends[seat], seat).items():
            text = f"{VERBS[action]} with {view.card} {SITUATIONS[view.history]}"
            leaks[text] = Leak(count, float(costs[view, action] * count))
    return leaks


def _reach(view: View, seat: Seat, opponent: Policy) -> Fraction:
    """The probability that chance and the opponent play as they have to for a view of a seat."""
    reach = Fraction(0)
    for card in CARDS:
        if card != view.card:
            chance = Fraction(1, len(DEALS))
            for place in range(1 - seat, len(view.history), 2):
                chance *= opponent[View(card, view.history[:place])].get(view.history[place], Fraction(0))
            reach += chance
    return reach
