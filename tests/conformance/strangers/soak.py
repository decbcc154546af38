"""Checks the programs with many seeds, in a different reading for each: every FAIL is a false alarm of the tester.

    python -m tests.conformance.strangers.soak [--seeds N] [--first N] [--only kuhn-server] [--jobs N]

Each seed is one run, with the next program, in simulated time. It prints every alarm with the command that repeats it,
and then the number of runs, cases and alarms.
"""

import argparse
import shlex
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, NamedTuple

from tests.conformance.simulation.programs import check_simulated
from tests.conformance.strangers import HOUSE_GAMES, PROGRAMS, Reading, command, draw

MAX_LINES = 12
"""How many of the last messages of a dialogue are shown."""


class Run(NamedTuple):
    """A run of the tester on a right program: its arguments, exit status, and results as in the JSON report."""

    arguments: Sequence[str]
    status: int
    results: Sequence[dict[str, Any]]
    is_strict: bool

    @property
    def alarms(self) -> list[dict[str, Any]]:
        """The results that accuse the program: also NON-STRICT, if it does nothing that is only tolerated.

        A server of hold'em may leave out additions, and games that clients make.
        """
        is_house = self.arguments[0].partition("/")[0] in HOUSE_GAMES
        accusing = {"FAIL", *["UNIMPLEMENTED"][:is_house], *["NON-STRICT"][: self.is_strict]}
        return [result for result in self.results if result["outcome"] in accusing]

    @property
    def skipped_count(self) -> int:
        """The number of cases that did not come up."""
        return sum(result["outcome"] == "SKIP" for result in self.results)


def check(room: str, role: str, reading: Reading = Reading(), *, seed: int = 1, selection: str = "") -> Run:
    """Run `croupier check` on a program in this reading."""
    program = command(room, role, reading.options)
    arguments = [selection or room, f"--{role}", program, "--seed", str(seed), *reading.tester_options]
    done = check_simulated(arguments)
    results = done.report["results"] if done.report else [{"outcome": "FAIL", "case": room, "note": done.output}]
    return Run(arguments, done.status, results, reading.is_strict)


def check_seed(seed: int, programs: Sequence[tuple[str, str]] = PROGRAMS) -> Run:
    """Check the program and the reading of a seed."""
    room, role = programs[seed % len(programs)]
    return check(room, role, draw(room, role, seed), seed=seed)


def lines(run: Run) -> Iterator[str]:
    """The alarms of a run as text."""
    if not run.alarms:
        return
    yield f"croupier check {shlex.join(run.arguments)}  # exit status {run.status}"
    for result in run.alarms:
        failure = result.get("failure") or {}
        yield f"  {result['outcome']} {result['case']} {result['note']}"
        for key in ("clause", "expected", "actual"):
            yield f"    {key}: {failure.get(key, '')}"
        for line in result.get("dialogue", ())[-MAX_LINES:]:
            yield f"    {line['side']:6} {line['text']}"


def _job(job: tuple[int, Sequence[tuple[str, str]]]) -> Run:
    return check_seed(*job)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--only", action="append", help="ROOM-ROLE; several are possible")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    programs = [pair for pair in PROGRAMS if not options.only or "-".join(pair) in options.only]
    jobs = [(seed, programs) for seed in range(options.first, options.first + options.seeds)]
    outcomes: Counter[str] = Counter()
    alarms: Counter[str] = Counter()
    statuses: Counter[int] = Counter()
    with ProcessPoolExecutor(options.jobs, get_context("fork")) as workers:
        for run in workers.map(_job, jobs):
            outcomes.update(result["outcome"] for result in run.results)
            alarms.update(result["case"] for result in run.alarms)
            statuses[run.status] += 1
            for line in lines(run):
                print(line, flush=True)
    print(f"{len(jobs)} runs, exit statuses {dict(statuses)}, outcomes {dict(outcomes)}")
    print(f"{alarms.total()} false alarms in {len(alarms)} cases")
    for case, count in alarms.most_common():
        print(f"  {count:6} {case}")
    return 1 if alarms else 0


if __name__ == "__main__":
    sys.exit(main())
