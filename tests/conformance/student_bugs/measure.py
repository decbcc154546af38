"""Measures the tester with the bugs of students: how many it finds, and how many of them on the right clause first.

    python -m tests.conformance.student_bugs.measure [PROGRAM]… [--bug NAME]… [--every N] [--max-failures N]
        [--lines FILE]

`--every N` tries every N-th bug of each program. With `--max-failures 4` a run is shorter, but its first block can
be another one than that of a whole run. The table goes to standard output; `--lines` appends each trial to a file as a
line of JSON.
"""

import argparse
import json
import shlex
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import CompletedProcess, TimeoutExpired

from tests.conformance.mutants.measure import WORKERS, Trial, report, write_line
from tests.conformance.stranger_checks import CHECK_SECONDS
from tests.conformance.student_bugs import PROGRAMS, Bug, bugs, faulty_program
from tests.processes import croupier

PLACEHOLDERS = {
    "kuhn_client": "{host} {port}",
    "sevenhalf_client": "{host} {port}",
    "blackjack_client": "{host} {port}",
    "holdem_client": "--url {url} --user {user} --password {password}",
    "oldmaid_player": "{host} {port} {nick}",
}
"""The arguments of the programs that connect; all others get a port."""


def attempt(bug: Bug, *more: object, selection: str = "") -> Trial:
    """Run `croupier check` on the program with the bug, as its author would.

    A run of more than CHECK_SECONDS finds nothing: its `tester_error` says so.
    """
    side = "client" if bug.program in PLACEHOLDERS else "server"
    with faulty_program(bug) as program:
        file = program.parent / "report.json"
        command = f"{shlex.join([sys.executable, '-S', str(program)])} {PLACEHOLDERS.get(bug.program, '{port}')}"
        try:
            ended = croupier(
                *("check", selection or bug.room, f"--{side}", command, *bug.tester_options, *more),
                *("--quiet", "--report", f"json={file}"),
                timeout=CHECK_SECONDS,
            )
        except TimeoutExpired as late:
            ended = CompletedProcess(late.cmd, None, "", str(late))
        found = json.loads(file.read_text()) if file.exists() else None
    name = f"{bug.program} {bug.name}"
    error = "" if found and found["status"] == ended.returncode else ended.stderr
    reasons = found["reasons"] if found and ended.returncode == 1 else ()
    case, clause, cause = (reasons[0][key] for key in ("example", "clause", "cause")) if reasons else ("", "", "")
    return Trial(bug.room, bug.role, bug.name, name, sorted(bug.clauses), case, clause, cause, error)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="*", choices=[*PROGRAMS, []])
    parser.add_argument("--bug", action="append")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--max-failures", type=int)
    parser.add_argument("--lines", type=Path)
    given = parser.parse_args()
    jobs = [
        bug
        for program in given.program or PROGRAMS
        for bug in bugs(program)[:: given.every]
        if given.bug is None or bug.name in given.bug
    ]
    more = ("--max-failures", given.max_failures) if given.max_failures else ()
    trials = []
    with ThreadPoolExecutor(WORKERS) as workers:
        for trial in workers.map(lambda bug: attempt(bug, *more), jobs):
            trials.append(trial)
            write_line(trial, given.lines)
    report(trials)


if __name__ == "__main__":
    main()
