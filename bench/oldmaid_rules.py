"""Benchmark: games of Old Maid per second with the rules engine alone, in one process without network.

Decks are shuffled in advance; every card is dealt and picked, and every pair discarded, through the public methods of
`RingGame`. The best round in CPU time counts, because other load on the machine can only slow it down.
"""

import argparse
from collections.abc import Sequence
from random import Random
from time import process_time
from typing import Final

from croupier.core.rules import Turn
from croupier.rooms.oldmaid.cards import CARD_NAMES
from croupier.rooms.oldmaid.rules import MAX_PLAYERS, MIN_PLAYERS, RingGame
from harness import verdict

SEED: Final = 1
DECKS: Final = 997
TARGETS: Final = {4: 5_000}
"""Targets in games per second, by number of players."""


def play(players: int, games: int, decks: Sequence[Sequence[int]]) -> int:
    """Play whole games and return the number of cards picked."""
    draw, over, picks = Random(SEED).random, Turn.OVER, 0
    for number in range(games):
        ring = RingGame(players)
        deal, pick, hands = ring.deal, ring.pick, ring.hands
        for card in decks[number % DECKS]:
            deal(card)
        ring.discard_all()
        while ring.turn is not over:
            pick(int(draw() * len(hands[ring.offerer])))
            if ring.due_pairs:
                ring.discard_all()
            picks += 1
        assert ring.loser is not None
    return picks


def measure(players: int, seconds: float, rounds: int, decks: Sequence[Sequence[int]]) -> bool:
    """Print the best rate for a number of players. Return whether the target, if there is one, is met."""
    games, took = 64, 0.0
    while took < seconds:
        games *= 2
        started = process_time()
        picks = play(players, games, decks)
        took = process_time() - started
    for _ in range(rounds - 1):
        started = process_time()
        play(players, games, decks)
        took = min(took, process_time() - started)
    rate, target = games / took, TARGETS.get(players)
    judged = "" if target is None else f"   target {target:,}: {verdict(rate >= target)}"
    print(f"  {players} players {rate:>8,.0f} games/s of {picks / games:>5.1f} picks{judged}")
    return target is None or rate >= target


def main() -> int:
    """Run the benchmark. Return the exit status: 0 if the target is met."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    luck = Random(SEED)
    decks = [luck.sample(range(len(CARD_NAMES)), len(CARD_NAMES)) for _ in range(DECKS)]
    print(f"Old Maid; one process, best of {options.rounds} rounds of {options.seconds:g} s or more")
    met = [measure(players, options.seconds, options.rounds, decks) for players in range(MIN_PLAYERS, MAX_PLAYERS + 1)]
    return 0 if all(met) else 1


if __name__ == "__main__":
    raise SystemExit(main())
