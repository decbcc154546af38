"""Benchmark: a house that several processes serve, compared with one process and with as many bare uvloop echoes.

Server and load share two cores. So two processes cannot be twice as fast as one here; what counts is the processor time
of a message, which the target is about, and the ratio to the echo with the same number of processes.
"""

import argparse
import sys
from collections.abc import Sequence
from statistics import median

from harness import BenchError, Load, Result, allow_open_files, fail, pick_cores, run_load, running, verdict
from servers import ECHO, Contestant, Setting, echo_beside, house, parse_counts

CPU_TARGET = 1.1
WARMUP_SECONDS = 3.0
"""Time for all processes of a server to start."""


def measure(contestant: Contestant, processes: int, setting: Setting, connections: int) -> Result:
    """Measure a new server of several processes once, on both cores."""
    load = Load(contestant.speak, connections, 0, setting.seconds, WARMUP_SECONDS, contestant.size, spin=0)
    command = [*contestant.command, *(["--workers"] if contestant.speak != "echo" else []), str(processes)]
    cores = (setting.cores.server, setting.cores.load)
    with running(command, *cores) as server:
        return run_load(server, load, *cores)


def compare(room: str, setting: Setting, counts: Sequence[int], processes: Sequence[int], rounds: int) -> None:
    """Print a table: a line for each number of connections and of processes."""
    ours = house(room)
    echo = Contestant("echo", ECHO, "echo", echo_beside(ours, setting).size)
    print(f"{room}, medians of {rounds} rounds of {setting.seconds:g} s; the processor time is in µs a message.")
    print("connections processes    echo/s   house/s  ratio    CPU to one  target")
    for connections in counts:
        seen: dict[int, list[tuple[Result, Result]]] = {each: [] for each in processes}
        for _ in range(rounds):
            for each in processes:
                pair = [measure(contestant, each, setting, connections) for contestant in (echo, ours)]
                seen[each].append((pair[0], pair[1]))
        for each in processes:
            against_one = median(
                now.cpu_us_a_message / one.cpu_us_a_message
                for (_, now), (_, one) in zip(seen[each], seen[processes[0]], strict=True)
            )
            target = "" if each == processes[0] else f"{CPU_TARGET} {verdict(against_one <= CPU_TARGET)}"
            rates = [median(pair[index].messages_per_s for pair in seen[each]) for index in range(2)]
            ratio = median(after.messages_per_s / before.messages_per_s for before, after in seen[each])
            cpu = median(after.cpu_us_a_message for _, after in seen[each])
            print(
                f"{connections:>11,} {each:>9} {rates[0]:>9,.0f} {rates[1]:>9,.0f} {ratio:>6.3f} {cpu:>6.2f}"
                f" {against_one:>6.2f}  {target}",
                flush=True,
            )


def main() -> int:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("room", nargs="?", default="kuhn", choices=["kuhn", "sevenhalf", "blackjack"])
    parser.add_argument("--seconds", type=float, default=5.0, help="length of one measured window")
    parser.add_argument("--rounds", type=int, default=3, help="measurements of each server")
    parser.add_argument("--connections", type=parse_counts, default=[100, 1000], metavar="N,N,…")
    parser.add_argument(
        "--processes", type=parse_counts, default=[1, 2], metavar="N,N,…", help="the first is compared with"
    )
    options = parser.parse_args()
    try:
        allow_open_files(max(options.connections))
        setting = Setting(pick_cores(), options.seconds)
        compare(options.room, setting, options.connections, options.processes, options.rounds)
    except BenchError as error:
        return fail(error)
    return 0


if __name__ == "__main__":
    sys.exit(main())
