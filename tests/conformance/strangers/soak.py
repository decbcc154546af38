"""Checks the programs with many seeds, in a different reading for each: every FAIL is a false alarm of the tester.

    python -m tests.conformance.strangers.soak [--seeds N] [--first N] [--only kuhn-server] [--jobs N]

It prints every alarm with the command that repeats it, and then the number of runs, cases and alarms.
"""

import argparse
import json
import shlex
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from tests.conformance.strangers import CHOICES, Choices, command, draw_choices, is_strict, tester_options
from tests.processes import croupier

RUN_TIMEOUT_SECONDS = 600.0


class Run(NamedTuple):
    """A run of the tester on a right program: its arguments, exit status, and results as in the JSON report."""

    arguments: list[str]
    status: int
    results: list[dict[str, Any]]
    is_strict: bool

    @property
    def alarms(self) -> list[dict[str, Any]]:
        """The results that accuse the program: also NON-STRICT, if it does nothing that is only tolerated."""
        accusing = {"FAIL", "UNIMPLEMENTED", *["NON-STRICT"][: self.is_strict]}
        return [result for result in self.results if result["outcome"] in accusing]

    @property
    def skipped_count(self) -> int:
        """The number of cases that did not come up."""
        return sum(result["outcome"] == "SKIP" for result in self.results)


def check(room: str, role: str, choices: Choices, *, seed: int = 1, selection: str = "") -> Run:
    """Run `croupier check` on a program with these choices."""
    arguments = [selection or room, f"--{role}", command(room, role, choices), "--seed", str(seed)]
    arguments += tester_options(choices)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.json"
        ended = croupier("check", *arguments, "--quiet", "--report", f"json={file}", timeout=RUN_TIMEOUT_SECONDS)
        if not file.exists():
            crash = {"outcome": "FAIL", "case": selection or room, "note": ended.stderr}
            return Run(arguments, ended.returncode, [crash], is_strict(choices))
        return Run(arguments, ended.returncode, json.loads(file.read_text())["results"], is_strict(choices))


def lines(run: Run) -> Iterator[str]:
    """The alarms of a run as text."""
    if not run.alarms and run.status == 0:
        return
    yield f"croupier check {shlex.join(run.arguments)}  # exit status {run.status}"
    for result in run.alarms:
        failure = result.get("failure") or {}
        yield f"  {result['outcome']} {result['case']} {result['note']}"
        for key in ("clause", "expected", "actual"):
            yield f"    {key}: {failure.get(key, '')}"
        for line in result.get("dialogue", ()):
            yield f"    {line['side']:6} {line['text']}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--only", action="append", help="ROOM-ROLE; several are possible")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    programs = [pair for pair in CHOICES if not options.only or "-".join(pair) in options.only]
    jobs = [(*pair, seed) for seed in range(options.first, options.first + options.seeds) for pair in programs]
    outcomes: Counter[str] = Counter()
    alarms: Counter[str] = Counter()
    statuses: Counter[int] = Counter()
    with ThreadPoolExecutor(options.jobs) as pool:
        for run in pool.map(lambda job: check(*job[:2], draw_choices(*job), seed=job[2]), jobs):
            outcomes.update(result["outcome"] for result in run.results)
            alarms.update(result["case"] for result in run.alarms)
            statuses[run.status] += 1
            for line in lines(run):
                print(line, flush=True)
    print(f"{options.seeds} seeds, {len(jobs)} runs, exit statuses {dict(statuses)}, outcomes {dict(outcomes)}")
    print(f"{alarms.total()} false alarms in {len(alarms)} cases")
    for case, count in alarms.most_common():
        print(f"  {count:6} {case}")
    return 1 if alarms else 0


if __name__ == "__main__":
    sys.exit(main())
