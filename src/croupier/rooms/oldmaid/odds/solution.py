"""Who loses at Old Maid: nobody decides anything, but where one sits and who draws last makes a difference."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

from croupier.core.rules import Seat
from croupier.rooms.oldmaid.cards import JOKER
from croupier.rooms.oldmaid.rules import MAX_PLAYERS, MIN_PLAYERS
from croupier.strategy.solution import Grid, Solution, SolutionRecord, WorkTracker

DEFAULT_SAMPLED_GAMES = 1_000_000
"""So many games are played where there are too many positions to solve them all."""

MAX_SOLVED_PLAYERS = 4
"""So many players can be solved: 3.6 million positions; five have more than a thousand million."""

Z_SCORE_95_PERCENT = 1.959963984540054
"""So many standard errors away on either side lie the ends of a 95 % interval."""


MAX_ROUNDING_ERROR = 1e-12
"""More than all rounding makes of a chance: a few parts in 2⁵³ with each of some hundred picks."""


@dataclass(frozen=True)
class LossProbability:
    """How often a seat loses: as a number, between what it lies for certain, and as a fraction where that is short.

    Where it was sampled, `games` says from how many, and it lies between these in 95 of 100 such samples.
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
    players: int | None = None, games: int = DEFAULT_SAMPLED_GAMES, seed: int = 1, track: WorkTracker = iter
) -> Solution:
    """Solve it for so many players, or for every number of them: two, three and four are solved, for more of them
    so many games are played. Raises ValueError, and ModuleNotFoundError where numpy is not installed.
    """
    if players is not None and not MIN_PLAYERS <= players <= MAX_PLAYERS:
        raise ValueError(f"found {players} players; allowed: {MIN_PLAYERS} to {MAX_PLAYERS}")
    if games < 1:
        raise ValueError(f"found {games} games; allowed: 1 or more")
    if seed < 0:
        raise ValueError(f"found the seed {seed}; allowed: 0 or more")
    numbers = range(MIN_PLAYERS, MAX_PLAYERS + 1) if players is None else [players]
    found = {number: loss_probabilities(number, games, seed, track) for number in numbers}
    grids = [overview_grid(found)] if players is None else [seat_grid(found[players])]
    notes = ["player1 draws the first card; * draws the last one, and offers first."]
    if MIN_PLAYERS in found:
        notes.append(f"With two, player1 loses {found[MIN_PLAYERS][0].fraction} of the games.")
    if max(found) > MAX_SOLVED_PLAYERS:
        notes.append(
            f"From {MAX_SOLVED_PLAYERS + 1} players on: {games:,} games each with seed {seed}, and 95 % intervals."
        )
    records = [seat_record(number, seat, chance) for number in found for seat, chance in enumerate(found[number])]
    settings = {"games": games, "seed": seed} if players is None else {"players": players, "games": games, "seed": seed}
    return Solution("Old Maid", settings, None, "how often each seat loses", grids, notes, records)


def loss_probabilities(players: int, games: int, seed: int, track: WorkTracker) -> Sequence[LossProbability]:
    """How often each seat loses."""
    if players > MAX_SOLVED_PLAYERS:
        from croupier.rooms.oldmaid.odds.sampled import count_losses, random_generator

        return [
            wilson_interval(lost, games)
            for lost in count_losses(players, games, random_generator(seed, players), progress=track)
        ]

    from croupier.rooms.oldmaid.odds.exact import loss_probabilities as reckoned
    from croupier.rooms.oldmaid.odds.exact import two_player_loss_probability

    if players == MIN_PLAYERS:
        first = two_player_loss_probability()
        return [LossProbability(float(part), float(part), float(part), part) for part in (first, 1 - first)]
    found = reckoned(players, progress=track)
    missing = max(0.0, 1 - sum(found))
    return [LossProbability(low, low - MAX_ROUNDING_ERROR, low + missing + MAX_ROUNDING_ERROR) for low in found]


def wilson_interval(lost: int, games: int) -> LossProbability:
    """How often a seat loses that has lost so many games, with its interval (E. B. Wilson, 1927)."""
    number, weight = lost / games, Z_SCORE_95_PERCENT**2 / games
    middle = (number + weight / 2) / (1 + weight)
    reach = Z_SCORE_95_PERCENT * sqrt(number * (1 - number) / games + weight / games / 4) / (1 + weight)
    return LossProbability(number, max(0.0, middle - reach), min(1.0, middle + reach), games=games)


def last_drawer(players: int) -> Seat:
    """Who draws the last card."""
    return JOKER % players


def cards_drawn(players: int, seat: Seat) -> int:
    """How many cards a seat draws."""
    return (JOKER - seat) // players + 1


def overview_grid(found: dict[int, Sequence[LossProbability]]) -> Grid:
    """A row for every number of players."""
    rows = []
    for players, all_of_them in found.items():
        cells = [
            f"{chance.estimate:.4f}{'*' * (seat == last_drawer(players))}" for seat, chance in enumerate(all_of_them)
        ]
        rows.append([str(players), *cells, *[""] * (MAX_PLAYERS - players)])
    return Grid("How often a seat loses, by the number of players", ["", *map(seat_name, range(MAX_PLAYERS))], rows)


def seat_grid(found: Sequence[LossProbability]) -> Grid:
    """A row for every seat."""
    rows = [
        [f"{seat_name(seat)}{'*' * (seat == last_drawer(len(found)))}", str(cards_drawn(len(found), seat)), str(chance)]
        for seat, chance in enumerate(found)
    ]
    return Grid(f"How often a seat loses, of {len(found)}", ["", "Cards", "Loses"], rows)


def seat_name(seat: Seat) -> str:
    """What the document calls a seat."""
    return f"player{seat + 1}"


def seat_record(players: int, seat: Seat, chance: LossProbability) -> SolutionRecord:
    """A seat for programs."""
    return {
        "players": players,
        "seat": seat_name(seat),
        "cards": cards_drawn(players, seat),
        "offers_first": seat == last_drawer(players),
        "loses": chance.estimate,
        "low": chance.low,
        "high": chance.high,
        "fraction": "" if chance.fraction is None else str(chance.fraction),
        "games": chance.games,
    }
