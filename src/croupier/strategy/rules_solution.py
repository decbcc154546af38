"""Solutions of any two-player zero-sum game that implements the rules interface."""

from croupier.core.plural import format_count
from croupier.strategy.game_tree import GameTree, behaviour_strategy
from croupier.strategy.solution import Grid, Solution, SolutionRecord
from croupier.strategy.zero_sum import Equilibrium

SEATS = ("first seat", "second seat")


def describe_equilibrium(
    title: str, tree: GameTree, equilibrium: Equilibrium, *, rounds: int | None = None
) -> Solution:
    """The solution with these plans: the size of the game, and a record for every move of every information set.

    The probabilities of the moves are exact if the value is. `rounds` are those of CFR+, None for the linear program.
    """
    is_exact = equilibrium.value.exact is not None
    records: list[SolutionRecord] = []
    for seat, plan in enumerate(equilibrium.plans):
        records += [
            {
                "seat": seat + 1,
                "view": str(view),
                "move": str(move),
                "probability": probability if is_exact else float(probability),
            }
            for view, row in behaviour_strategy(tree, seat, plan).items()
            for move, probability in row.items()
        ]
    sizes = [
        ["information sets", *(f"{len(info_sets):,}" for info_sets in tree.info_sets)],
        ["their moves", *(f"{count - 1:,}" for count in tree.sequence_counts)],
    ]
    method = "linear program" if rounds is None else f"CFR+, {format_count(rounds, 'round')}"
    return Solution(
        title,
        {} if rounds is None else {"rounds": rounds},
        equilibrium.value if equilibrium.value.exact is None else equilibrium.value.exact,
        f"coins a game to the {SEATS[0]}",
        [Grid("Size of the game", ["", *SEATS], sizes)],
        [f"{tree.state_count:,} states. Method: {method}."],
        records,
    )
