"""Who loses at Old Maid: nobody decides anything, but where one sits and who draws last makes a difference."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

from croupier.core.rules import Seat
from croupier.rooms.oldmaid.cards import JOKER
from croupier.rooms.oldmaid.rules import FEWEST, MOST
from croupier.strategy.solution import Grid, Portions, Record, Solved

GAMES = 1_000_000
"""So many games are played where there are too many positions to solve them all."""

SOLVED = 4
"""So many players can be solved: 3.6 million positions; five have more than a thousand million."""

SURE = 1.959963984540054
"""So many standard errors away on either side lie the ends of a 95 % interval."""


ROUNDING = 1e-12
"""More than all rounding makes of a chance: a few parts in 2⁵³ with each of some hundred picks."""


@dataclass(frozen=True)
class Chance:
    """How often a seat loses: as a number, between what it lies for certain, and as a fraction where that is short.

    Where it was sampled, `games` says from how many, and it lies between these in 95 of 100 such samples.
    """

    number: float
    low: float
    high: float
    fraction: Fraction | None = None
    games: int = 0

    def __str__(self) -> str:
        if not self.games:
            return f"{self.number:.9f}"
        return f"{self.number:.4f} ({self.low:.4f} to {self.high:.4f})"


def solve(players: int | None = None, games: int = GAMES, seed: int = 1, watch: Portions = iter) -> Solved:
    """Solve it for so many players, or for every number of them: two, three and four are solved, for more of them
    so many games are played. Raises ValueError, and ModuleNotFoundError where numpy is not installed.
    """
    if players is not None and not FEWEST <= players <= MOST:
        raise ValueError(f"found {players} players; allowed: {FEWEST} to {MOST}")
    if games < 1:
        raise ValueError(f"found {games} games; allowed: 1 or more")
    if seed < 0:
        raise ValueError(f"found the seed {seed}; allowed: 0 or more")
    numbers = range(FEWEST, MOST + 1) if players is None else [players]
    found = {number: chances(number, games, seed, watch) for number in numbers}
    grids = [overview(found)] if players is None else [by_seat(found[players])]
    notes = ["player1 draws the first card; * draws the last one, and offers first."]
    if FEWEST in found:
        notes.append(f"With two, player1 loses {found[FEWEST][0].fraction} of the games.")
    if max(found) > SOLVED:
        notes.append(f"From {SOLVED + 1} players on: {games:,} games each with seed {seed}, and 95 % intervals.")
    records = [record(number, seat, chance) for number in found for seat, chance in enumerate(found[number])]
    settings = {"games": games, "seed": seed} if players is None else {"players": players, "games": games, "seed": seed}
    return Solved("Old Maid", settings, None, "how often each seat loses", grids, notes, records)


def chances(players: int, games: int, seed: int, watch: Portions) -> Sequence[Chance]:
    """How often each seat loses."""
    if players > SOLVED:
        from croupier.rooms.oldmaid.odds.sampled import losses, luck

        return [sampled(lost, games) for lost in losses(players, games, luck(seed, players), watch=watch)]

    from croupier.rooms.oldmaid.odds.exact import chances as reckoned
    from croupier.rooms.oldmaid.odds.exact import first_of_two

    if players == FEWEST:
        first = first_of_two()
        return [Chance(float(part), float(part), float(part), part) for part in (first, 1 - first)]
    found = reckoned(players, watch=watch)
    missing = max(0.0, 1 - sum(found))
    return [Chance(low, low - ROUNDING, low + missing + ROUNDING) for low in found]


def sampled(lost: int, games: int) -> Chance:
    """How often a seat loses that has lost so many games, with its interval (E. B. Wilson, 1927)."""
    number, weight = lost / games, SURE**2 / games
    middle = (number + weight / 2) / (1 + weight)
    reach = SURE * sqrt(number * (1 - number) / games + weight / games / 4) / (1 + weight)
    return Chance(number, max(0.0, middle - reach), min(1.0, middle + reach), games=games)


def last(players: int) -> Seat:
    """Who draws the last card."""
    return JOKER % players


def cards(players: int, seat: Seat) -> int:
    """How many cards a seat draws."""
    return (JOKER - seat) // players + 1


def overview(found: dict[int, Sequence[Chance]]) -> Grid:
    """A row for every number of players."""
    rows = []
    for players, all_of_them in found.items():
        cells = [f"{chance.number:.4f}{'*' * (seat == last(players))}" for seat, chance in enumerate(all_of_them)]
        rows.append([str(players), *cells, *[""] * (MOST - players)])
    return Grid("How often a seat loses, by the number of players", ["", *map(name, range(MOST))], rows)


def by_seat(found: Sequence[Chance]) -> Grid:
    """A row for every seat."""
    rows = [
        [f"{name(seat)}{'*' * (seat == last(len(found)))}", str(cards(len(found), seat)), str(chance)]
        for seat, chance in enumerate(found)
    ]
    return Grid(f"How often a seat loses, of {len(found)}", ["", "Cards", "Loses"], rows)


def name(seat: Seat) -> str:
    """What the document calls a seat."""
    return f"player{seat + 1}"


def record(players: int, seat: Seat, chance: Chance) -> Record:
    """A seat for programs."""
    return {
        "players": players,
        "seat": name(seat),
        "cards": cards(players, seat),
        "offers_first": seat == last(players),
        "loses": chance.number,
        "low": chance.low,
        "high": chance.high,
        "fraction": "" if chance.fraction is None else str(chance.fraction),
        "games": chance.games,
    }
