"""Leaks in Kuhn poker: every choice is compared with the best response to how the opponent has played."""

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from croupier.arena.baselines.kuhn import Policy
from croupier.arena.leaks import Leak
from croupier.core.rules import Seat, Turn
from croupier.rooms.kuhn.bots import equilibrium_bot
from croupier.rooms.kuhn.rules import (
    BETTING_TREE,
    CARDS,
    START_STATE,
    BettingHistory,
    KuhnAction,
    KuhnState,
    Move,
    View,
)

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


def choice_costs(seat: Seat, opponent: Policy) -> Mapping[Choice, Fraction]:
    """For every choice of a seat, the coins that it wins less than a best response to the opponent from there on."""
    best: dict[View, KuhnAction] = {}
    costs: dict[Choice, Fraction] = {}
    own = [(history, actions) for history, (turn, actions) in BETTING_TREE.items() if turn == seat]
    for history, actions in sorted(own, key=lambda each: -len(each[0])):  # the last decisions first
        for card in CARDS:
            view = View(card, history)
            states = [state for state in _states(seat, view) if _reach(state, seat, opponent)]
            reach = sum((_reach(state, seat, opponent) for state in states), Fraction(0))
            values = {
                action: sum(
                    (
                        _reach(state, seat, opponent) * _value(state.next[action], seat, opponent, best)
                        for state in states
                    ),
                    Fraction(0),
                )
                for action in actions
            }
            best[view] = max(actions, key=values.__getitem__)
            for action in actions:
                costs[view, action] = (values[best[view]] - values[action]) / reach if reach else Fraction(0)
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


def _states(seat: Seat, view: View) -> list[KuhnState]:
    """The states that a seat cannot distinguish at a view."""
    states = []
    for other in CARDS:
        if other != view.card:
            state = START_STATE
            for move in ((view.card, other) if seat == 0 else (other, view.card)) + view.history:
                assert move is not None
                state = state.next[move]
            states.append(state)
    return states


def _reach(state: KuhnState, seat: Seat, opponent: Policy) -> Fraction:
    """The probability that the opponent plays as it has to for this state."""
    reach = Fraction(1)
    for place in range(1 - seat, len(state.history), 2):
        reach *= opponent[View(state.cards[1 - seat], state.history[:place])].get(state.history[place], Fraction(0))
    return reach


def _value(state: KuhnState, seat: Seat, opponent: Policy, best: Mapping[View, KuhnAction]) -> Fraction:
    """The coins that a seat wins from a state with its best choices against the opponent."""
    if state.turn is Turn.OVER:
        return Fraction(state.payoff[seat])
    assert isinstance(state.turn, int)
    view = state.views[state.turn]
    if state.turn == seat:
        return _value(state.next[best[view]], seat, opponent, best)
    return sum(
        (chance * _value(state.next[action], seat, opponent, best) for action, chance in opponent[view].items()),
        Fraction(0),
    )
