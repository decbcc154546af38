"""Benchmark: hands per second of programs: in the arena as clients of its houses, and two of them at hold'em.

The programs are `croupier play`. In the arena each chunk starts one, which takes longer than its hands; larger chunks
show what a hand costs. The hold'em match is that of two processes at a server without a journal.
"""

import argparse
import shlex
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from os import cpu_count
from statistics import median
from time import perf_counter
from typing import Final

from croupier.arena.plan import Plan
from croupier.arena.play import play_chunk
from harness import running, verdict

HOLDEM_TARGET: Final = 400
"""Hands per second of two `croupier play holdem` processes."""

PLAY: Final = (sys.executable, "-m", "croupier", "play")
SERVE: Final = (sys.executable, "-m", "croupier", "serve", "holdem", "--port", "0", "--no-web", "--journal", "off")
BOTS: Final = {"kuhn": "book", "sevenhalf": "book", "blackjack": "book"}
"""The rooms with a bot, which plays against itself: in process, and in a program."""


def arena(room: str, hands: int, chunk_hands: int) -> float:
    """Return hands per second of a bot against the same bot in a program, with the starts of the program."""
    program = shlex.join([*PLAY, room, "-s", "HOST", "-p", "PORT", "--bot", BOTS[room], "--games", "1000000000"])
    program = program.replace("HOST", "{host}").replace("PORT", "{port}")
    plan = Plan(room, (BOTS[room], program), pairs=hands // 2, seed=1, chunk_pairs=chunk_hands // 2, duplicate=True)
    started = perf_counter()
    pairs = sum(play_chunk(plan, (0, 1), chunk).pairs for chunk in range(plan.chunks))
    if pairs < hands // 2:
        raise RuntimeError(f"the program of {room} forfeited")
    return 2 * pairs / (perf_counter() - started)


def holdem(hands: int) -> float:
    """Return hands per second of two callers in processes of their own, with their start."""
    with running([*SERVE, "--log-level", "error"], 0) as server:
        url = f"http://127.0.0.1:{server.port}"
        words = [*PLAY, "holdem", url, "--bot", "caller", "--hands", str(hands)]
        started = perf_counter()
        players = [subprocess.Popen(words, stdout=subprocess.DEVNULL) for _ in range(2)]
        statuses = [player.wait() for player in players]
        if any(statuses):
            raise RuntimeError("a program failed")
        return hands / (perf_counter() - started)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark. Return the exit status: 0 if the target is met."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--hands", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args(arguments)
    print(f"programs; medians of {options.rounds} rounds of {options.hands:,} hands, {cpu_count()} cores")
    for room in BOTS:
        for chunk_hands in (200, options.hands):
            rate = partial(arena, room, options.hands, chunk_hands)
            found = median(rate() for _ in range(options.rounds))
            print(f"  {room:<10} chunks of {chunk_hands:>7,} hands {found:>9,.0f} hands/s")
    found = median(holdem(options.hands) for _ in range(options.rounds))
    print(f"  holdem     two processes        {found:>9,.0f} hands/s   target {HOLDEM_TARGET}", end=": ")
    print(verdict(found >= HOLDEM_TARGET))
    return 0 if found >= HOLDEM_TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
