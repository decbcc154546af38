"""Benchmark: games of Old Maid per second with the table's rules alone, in one process without network.

Decks are shuffled in advance; every card is drawn, every pair discarded, and all players but one run out of cards,
through the public methods of `TableGame`. The best round in CPU time counts, because other load on the machine can only
slow it down.
"""

import argparse
from collections.abc import Sequence
from random import Random
from time import process_time
from typing import Final

from croupier.rooms.oldmaid.cards import CARD_COUNT, JOKER, WIRE_CARDS
from croupier.rooms.oldmaid.rules import MAX_PLAYERS, MIN_PLAYERS
from croupier.rooms.oldmaid.table.game import TableGame
from harness import verdict

SEED: Final = 1
DECKS: Final = 997
TARGETS: Final = {4: 5_000}
"""Targets in games per second, by number of players."""

PAIRS: Final = [(WIRE_CARDS[card], WIRE_CARDS[card + 1]) for card in range(0, JOKER, 2)]
NICKS: Final = ("ann", "bob", "cyd", "dan", "eve", "fay", "gil", "hal")


def play(players: int, games: int, decks: Sequence[Sequence[int]]) -> None:
    """Play whole games. The seats discard in turn, because the table cannot know who holds which pair (oldmaid-5.7)."""
    for number in range(games):
        game = TableGame(number, NICKS[:players], iter(decks[number % DECKS]), 0.0)
        draw, discard = game.draw, game.discard
        for _ in range(CARD_COUNT):
            draw(game.drawer, 0.0)
        for at, pair in enumerate(PAIRS):
            discard(at % players, *pair, 0.0)
        for seat in range(players - 1):
            game.finish(seat, 0.0)
        assert game.ranking == tuple(range(players))


def measure(players: int, seconds: float, rounds: int, decks: Sequence[Sequence[int]]) -> bool:
    """Print the best rate for a number of players. Return whether the target, if there is one, is met."""
    games, took = 64, 0.0
    while took < seconds:
        games *= 2
        started = process_time()
        play(players, games, decks)
        took = process_time() - started
    for _ in range(rounds - 1):
        started = process_time()
        play(players, games, decks)
        took = min(took, process_time() - started)
    rate, target = games / took, TARGETS.get(players)
    judged = "" if target is None else f"   target {target:,}: {verdict(rate >= target)}"
    print(f"  {players} players {rate:>8,.0f} games/s{judged}")
    return target is None or rate >= target


def main() -> int:
    """Run the benchmark. Return the exit status: 0 if the target is met."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    luck = Random(SEED)
    decks = [luck.sample(range(CARD_COUNT), CARD_COUNT) for _ in range(DECKS)]
    print(f"Old Maid; one process, best of {options.rounds} rounds of {options.seconds:g} s or more")
    met = [measure(players, options.seconds, options.rounds, decks) for players in range(MIN_PLAYERS, MAX_PLAYERS + 1)]
    return 0 if all(met) else 1


if __name__ == "__main__":
    raise SystemExit(main())
