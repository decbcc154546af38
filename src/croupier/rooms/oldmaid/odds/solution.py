"""Solution of Old Maid: the loss probability of each seat. Players decide nothing, but the seats are not equal."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

from croupier.core.rules import Seat
from croupier.rooms.oldmaid.rules import MAX_PLAYERS, MIN_PLAYERS, drawn_count, last_drawer
from croupier.strategy.solution import Grid, Solution, SolutionRecord, Tracker

DEFAULT_SAMPLED_GAMES = 1_000_000
"""The number of games sampled when there are too many positions for an exact solution."""

MAX_SOLVED_PLAYERS = 4
"""The most players with an exact solution: four have 3.6 million positions, five more than 10⁹."""

Z_SCORE_95_PERCENT = 1.959963984540054
"""Half the width of a 95 % interval, in standard errors."""


MAX_ROUNDING_ERROR = 1e-12
"""An upper bound of the rounding error: a few parts in 2⁵³ for each of some hundred picks."""


@dataclass(frozen=True)
class LossProbability:
    """The probability that a seat loses.

    An exact value lies between `low` and `high` for certain; `fraction` is set if it is known as a fraction. A sampled
    value comes from `games` games, and `low` to `high` is its 95 % interval; for exact values `games` is 0.
    """

    estimate: float
    low: float
    high: float
    fraction: Fraction | None = None
    games: int = 0

    def __str__(self) -> str:
        if not self.games:
            return f"{self.estimate:.9f}"
        return f"{self.estimate:.4f} ({self.low:.4f} to {self.high:.4f})"


def solve(
    players: int | None = None, games: int = DEFAULT_SAMPLED_GAMES, seed: int = 1, track: Tracker[int] = iter
) -> Solution:
    """Solve the game for a number of players, or for all numbers if it is None.

    The solution is exact for two to four players and sampled from `games` games for more. Raises ValueError for
    arguments out of range, and ModuleNotFoundError if numpy is not installed.

    Example:
        >>> solution = solve(players=3)
        >>> [f"{record['loses']:.4f}" for record in solution.records]
        ['0.2170', '0.3868', '0.3962']
    """
    if players is not None and not MIN_PLAYERS <= players <= MAX_PLAYERS:
        raise ValueError(f"found {players} players; allowed: {MIN_PLAYERS} to {MAX_PLAYERS}")
    if games < 1:
        raise ValueError(f"found {games} games; allowed: 1 or more")
    if seed < 0:
        raise ValueError(f"found the seed {seed}; allowed: 0 or more")
    numbers = range(MIN_PLAYERS, MAX_PLAYERS + 1) if players is None else [players]
    results = {number: loss_probabilities(number, games, seed, track) for number in numbers}
    grids = [overview_grid(results)] if players is None else [seat_grid(results[players])]
    notes = ["player1 draws the first card; * draws the last one, and offers first."]
    if MIN_PLAYERS in results:
        notes.append(f"With two, player1 loses {results[MIN_PLAYERS][0].fraction} of the games.")
    if max(results) > MAX_SOLVED_PLAYERS:
        notes.append(
            f"From {MAX_SOLVED_PLAYERS + 1} players on: {games:,} games each with seed {seed}, and 95 % intervals."
        )
    records = [seat_record(number, seat, chance) for number in results for seat, chance in enumerate(results[number])]
    settings = {"games": games, "seed": seed} if players is None else {"players": players, "games": games, "seed": seed}
    return Solution("Old Maid", settings, None, "how often each seat loses", grids, notes, records)


def loss_probabilities(players: int, games: int, seed: int, track: Tracker[int]) -> Sequence[LossProbability]:
    """The loss probability of each seat, exact or sampled.

    Example:
        >>> first, second = loss_probabilities(2, games=0, seed=1, track=iter)  # exact
        >>> print(first, second)
        0.498724490 0.501275510
    """
    if players > MAX_SOLVED_PLAYERS:
        from croupier.rooms.oldmaid.odds.sampled import count_losses, random_generator

        return [
            wilson_interval(lost, games)
            for lost in count_losses(players, games, random_generator(seed, players), progress=track)
        ]

    from croupier.rooms.oldmaid.odds.exact import loss_probabilities as exact_loss_probabilities
    from croupier.rooms.oldmaid.odds.exact import two_player_loss_probability

    if players == MIN_PLAYERS:
        first = two_player_loss_probability()
        return [LossProbability(float(part), float(part), float(part), part) for part in (first, 1 - first)]
    exact = exact_loss_probabilities(players, progress=track)
    missing = max(0.0, 1 - sum(exact))
    return [LossProbability(low, low - MAX_ROUNDING_ERROR, low + missing + MAX_ROUNDING_ERROR) for low in exact]


def wilson_interval(lost: int, games: int) -> LossProbability:
    """The loss probability estimated from `lost` of `games` games, with its 95 % interval (E. B. Wilson, 1927)."""
    share, weight = lost / games, Z_SCORE_95_PERCENT**2 / games
    middle = (share + weight / 2) / (1 + weight)
    margin = Z_SCORE_95_PERCENT * sqrt(share * (1 - share) / games + weight / games / 4) / (1 + weight)
    return LossProbability(share, max(0.0, middle - margin), min(1.0, middle + margin), games=games)


def overview_grid(results: dict[int, Sequence[LossProbability]]) -> Grid:
    """A grid with one row for each number of players."""
    rows = []
    for players, probabilities in results.items():
        cells = [
            f"{chance.estimate:.4f}{'*' * (seat == last_drawer(players))}" for seat, chance in enumerate(probabilities)
        ]
        rows.append([str(players), *cells, *[""] * (MAX_PLAYERS - players)])
    return Grid("How often a seat loses, by the number of players", ["", *map(seat_name, range(MAX_PLAYERS))], rows)


def seat_grid(results: Sequence[LossProbability]) -> Grid:
    """A grid with one row for each seat."""
    rows = [
        [
            f"{seat_name(seat)}{'*' * (seat == last_drawer(len(results)))}",
            str(drawn_count(seat, len(results))),
            str(chance),
        ]
        for seat, chance in enumerate(results)
    ]
    return Grid(f"How often a seat loses, of {len(results)}", ["", "Cards", "Loses"], rows)


def seat_name(seat: Seat) -> str:
    """The name of a seat as in the protocol document: player1, player2, …"""
    return f"player{seat + 1}"


def seat_record(players: int, seat: Seat, chance: LossProbability) -> SolutionRecord:
    """The record of a seat."""
    return {
        "players": players,
        "seat": seat_name(seat),
        "cards": drawn_count(seat, players),
        "offers_first": seat == last_drawer(players),
        "loses": chance.estimate,
        "low": chance.low,
        "high": chance.high,
        "fraction": "" if chance.fraction is None else str(chance.fraction),
        "games": chance.games,
    }
