"""The best answer to a strategy that is known, and how much a strategy gives away to it, exactly."""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from croupier.core.rules import Seat
from croupier.strategy.game_tree import Plan, Strategy, Tree


class Response(NamedTuple):
    """What a best answer wins on average, and at every view the first of the best moves."""

    value: Fraction
    strategy: Strategy


def best_response(tree: Tree, seat: Seat, against: Plan) -> Response:
    """The best that a seat can do against a plan of the other."""
    wins = [Fraction(0)] * tree.sizes[seat]
    for ends, coins in tree.ends.items():
        wins[ends[seat]] += (coins if seat == 0 else -coins) * against[ends[1 - seat]]
    found = {}
    for view, choice in reversed(tree.choices[seat].items()):
        best = max(choice.after, key=wins.__getitem__)
        wins[choice.before] += wins[best]
        found[view] = {choice.moves[best - choice.first]: Fraction(1)}
    return Response(wins[0], found)


def exploitability(tree: Tree, strategies: Sequence[Strategy]) -> Fraction:
    """What a best opponent wins a game from these two strategies, on average over the seats, above the game's value.

    It is 0 for an equilibrium, and for nothing else.
    """
    plans = [tree.plan(seat, strategies[seat]) for seat in (0, 1)]
    return gap(tree, plans) / 2


def gap(tree: Tree, plans: Sequence[Plan]) -> Fraction:
    """What both seats together could win by better answers."""
    return best_response(tree, 0, plans[1]).value + best_response(tree, 1, plans[0]).value
