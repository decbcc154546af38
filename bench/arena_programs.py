"""Benchmark: hands per second of programs: in the arena as clients of its servers, and two of them at hold'em.

The programs are `croupier play`. In the arena each chunk starts one, which takes longer than its hands; larger chunks
show what a hand costs. The hold'em match is that of two processes at a server without a journal; its yardstick is what
two clients in C play there, which poll, check and call.
"""

import argparse
import resource
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from os import cpu_count
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Final

from croupier.arena.plan import Plan
from croupier.arena.play import play_chunk
from harness import pick_cores, running, verdict
from rest import IN_MEMORY, SCENARIOS, Setting, play

HOLDEM_TARGET: Final = 400
"""Hands per second of two `croupier play holdem` processes."""

PLAY: Final = (sys.executable, "-m", "croupier", "play")
SERVE: Final = (sys.executable, "-m", "croupier", "serve", "holdem", "--port", "0", "--no-web", "--journal", "off")
BOTS: Final = {"kuhn": "book", "sevenhalf": "book", "blackjack": "book", "holdem": "caller"}
"""The rooms with a bot, which plays against itself: in process, and in a program."""

HOUSE_OPTIONS: Final = ("-s", "{host}", "-p", "{port}", "--games", "1000000000")
HOLDEM_OPTIONS: Final = ("{url}", "--user", "{user}", "--password", "{password}", "--hands", "1000000000")


def arena(room: str, hands: int, chunk_hands: int) -> float:
    """Return hands per second of a bot against the same bot in a program, with the starts of the program."""
    options = HOLDEM_OPTIONS if room == "holdem" else HOUSE_OPTIONS
    program = " ".join((shlex.join([*PLAY, room, "--bot", BOTS[room]]), *options))
    plan = Plan(room, (BOTS[room], program), pairs=hands // 2, seed=1, chunk_pairs=chunk_hands // 2, duplicate=True)
    started = perf_counter()
    pairs = sum(play_chunk(plan, (0, 1), chunk).pairs for chunk in range(plan.chunks))
    if pairs < hands // 2:
        raise RuntimeError(f"the program of {room} forfeited")
    return 2 * pairs / (perf_counter() - started)


def holdem(hands: int) -> tuple[float, float]:
    """Return hands per second of two callers in processes of their own, and the processor time of a hand in ms.

    The time is that of both and of the server. Both figures include the start of the processes that play.
    """
    with running([*SERVE, "--log-level", "error"], 0) as server:
        url = f"http://127.0.0.1:{server.port}"
        words = [*PLAY, "holdem", url, "--bot", "caller", "--hands", str(hands)]
        started, cpu_started = perf_counter(), server.cpu_s() + children_cpu_s()
        players = [subprocess.Popen(words, stdout=subprocess.DEVNULL) for _ in range(2)]
        statuses = [player.wait() for player in players]
        if any(statuses):
            raise RuntimeError("a program failed")
        cpu_ms = (server.cpu_s() + children_cpu_s() - cpu_started) * 1e3
        return hands / (perf_counter() - started), cpu_ms / hands


def children_cpu_s() -> float:
    """Return the processor time of all processes that this one has started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def holdem_in_c(seconds: float = 3.0) -> float:
    """Return hands per second of two clients in C."""
    with tempfile.TemporaryDirectory() as folder:
        found = play(Setting(pick_cores(), seconds, 1, Path(folder)), SCENARIOS[0], IN_MEMORY)
    return found.hands / found.seconds


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
    rates = [(holdem(options.hands), holdem_in_c()) for _ in range(options.rounds)]
    found, cpu_ms = (median(figure) for figure in zip(*(ours for ours, _ in rates), strict=True))
    in_c = median(yardstick for _, yardstick in rates)
    ratio = median(ours / yardstick for (ours, _), yardstick in rates)
    print(f"  holdem     two processes        {found:>9,.0f} hands/s   target {HOLDEM_TARGET}", end=": ")
    print(f"{verdict(found >= HOLDEM_TARGET)}; {cpu_ms:.2f} ms of processor time a hand, of all three processes")
    print(f"  holdem     two clients in C     {in_c:>9,.0f} hands/s   {ratio:.2f} of them by the processes")
    return 0 if found >= HOLDEM_TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
