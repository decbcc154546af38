"""Measures the tester with the bugs of students: how many it finds, and how many of them on the right clause first.

    python -m tests.conformance.student_bugs.measure [PROGRAM]… [--bug NAME]… [--every N] [--max-failures N]
        [--lines FILE] [--jobs N]

`--every N` tries every N-th bug of each program. With `--max-failures 4` a run is shorter, but its first block can
be another one than that of a whole run. The table goes to standard output; `--lines` appends each trial to a file as a
line of JSON.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from tests.conformance.mutants.measure import Trial, report, write_line
from tests.conformance.simulation.programs import check_simulated
from tests.conformance.strangers import command
from tests.conformance.student_bugs import PROGRAMS, Bug, bugs, faulty_sources


def attempt(bug: Bug, *more: object, selection: str = "") -> Trial:
    """Run `croupier check` on the program with the bug, as its author would, but in simulated time."""
    role = "client" if bug.role in {"client", "player"} else "server"
    options = [selection or bug.room, f"--{role}", command(bug.room, role), *bug.tester_options, *map(str, more)]
    done = check_simulated(options, faulty_sources(bug))
    reasons = done.report["reasons"] if done.report and done.status == 1 else ()
    error = "" if done.report else done.output
    case, clause, cause = (reasons[0][key] for key in ("example", "clause", "cause")) if reasons else ("", "", "")
    name = f"{bug.program} {bug.name}"
    return Trial(bug.room, bug.role, bug.name, name, sorted(bug.clauses), case, clause, cause, error)


def _attempt(more: tuple[object, ...], bug: Bug) -> Trial:
    return attempt(bug, *more)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="*", choices=[*PROGRAMS, []])
    parser.add_argument("--bug", action="append")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--max-failures", type=int)
    parser.add_argument("--lines", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    jobs = [
        bug
        for program in given.program or PROGRAMS
        for bug in bugs(program)[:: given.every]
        if given.bug is None or bug.name in given.bug
    ]
    more = ("--max-failures", given.max_failures) if given.max_failures else ()
    trials = []
    with ProcessPoolExecutor(given.jobs, get_context("fork")) as workers:
        for trial in workers.map(partial(_attempt, more), jobs):
            trials.append(trial)
            write_line(trial, given.lines)
    report(trials)


if __name__ == "__main__":
    main()
