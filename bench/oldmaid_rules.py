"""How many whole games of Old Maid the rules play in a second, in one process and without a wire.

The packs were shuffled before, and the picks are Python's; every card is dealt, every pair discarded and every card
picked by the public calls of a `Ring`. The best of several rounds of processor time counts, for whatever else a machine
does only ever slows one down.
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
PACKS: Final = 997
TARGETS: Final = {4: 5_000}
"""The games a second that are wanted, by the number of players."""


def play(players: int, games: int, packs: Sequence[Sequence[int]]) -> int:
    """Play whole games; how many cards were picked."""
    draw, over, picks = Random(SEED).random, Turn.OVER, 0
    for number in range(games):
        ring = RingGame(players)
        deal, pick, hands = ring.deal, ring.pick, ring.hands
        for card in packs[number % PACKS]:
            deal(card)
        ring.discard_all()
        while ring.turn is not over:
            pick(int(draw() * len(hands[ring.offerer])))
            if ring.due_pairs:
                ring.discard_all()
            picks += 1
        assert ring.loser is not None
    return picks


def measure(players: int, seconds: float, rounds: int, packs: Sequence[Sequence[int]]) -> bool:
    """Print the best rate for so many players, and tell whether the target is met, if there is one."""
    games, took = 64, 0.0
    while took < seconds:
        games *= 2
        started = process_time()
        picks = play(players, games, packs)
        took = process_time() - started
    for _ in range(rounds - 1):
        started = process_time()
        play(players, games, packs)
        took = min(took, process_time() - started)
    rate, target = games / took, TARGETS.get(players)
    judged = "" if target is None else f"   target {target:,}: {verdict(rate >= target)}"
    print(f"  {players} players {rate:>8,.0f} games/s of {picks / games:>5.1f} picks{judged}")
    return target is None or rate >= target


def main() -> int:
    """Run the benchmark from the command line; the exit status tells whether the target is met."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    luck = Random(SEED)
    packs = [luck.sample(range(len(CARD_NAMES)), len(CARD_NAMES)) for _ in range(PACKS)]
    print(f"Old Maid; one process, best of {options.rounds} rounds of {options.seconds:g} s or more")
    met = [measure(players, options.seconds, options.rounds, packs) for players in range(MIN_PLAYERS, MAX_PLAYERS + 1)]
    return 0 if all(met) else 1


if __name__ == "__main__":
    raise SystemExit(main())
