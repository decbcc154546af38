"""Measures the tester with the mutants: how many it finds, and how many of them on the right clause first.

    python -m tests.conformance.mutants.measure [ROOM] [ROLE] [--first] [--every N] [--operator NAME] [--lines FILE]

`--first` ends each run at its first finding, which takes a fifth of the time. `--every N` tries every N-th mutant.
The table goes to standard output; `--lines` appends each trial to a file as a line of JSON.
"""

import argparse
import json
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from tests.conformance.mutants.catalogue import ROLES, ROOMS, examine, mutations
from tests.conformance.mutants.mutation import Role

WORKERS = 2


class Trial(NamedTuple):
    """What the tester made of a mutant; `case` and `clause` are empty if it was missed."""

    room: str
    role: str
    operator: str
    name: str
    expected: Sequence[str]
    case: str
    clause: str
    text: str
    tester_error: str

    @property
    def is_found(self) -> bool:
        return bool(self.case)

    @property
    def is_right(self) -> bool:
        return self.clause in self.expected


def attempt(room: str, role: Role, number: int, *, first_only: bool) -> Trial:
    """Examine one mutant."""
    mutation = mutations(room, role)[number]
    findings, error = examine(mutation, first_only=first_only)
    case, clause, text = findings[0] if findings else ("", "", "")
    return Trial(room, role, mutation.operator, mutation.name, sorted(mutation.clauses), case, clause, text, error)


def _attempt(job: tuple[str, Role, int, bool]) -> Trial:
    *place, first_only = job
    return attempt(*place, first_only=first_only)  # type: ignore[arg-type]


def percentage(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else "-"


def table(trials: Sequence[Trial]) -> Iterable[str]:
    """A row for each room and role, and one for all."""
    yield "| room | role | mutants | found % | first clause right % |"
    yield "|---|---|---:|---:|---:|"
    groups = sorted({(trial.room, trial.role) for trial in trials})
    for room, role in [*groups, ("all", "")]:
        own = [trial for trial in trials if room == "all" or (trial.room, trial.role) == (room, role)]
        found = sum(trial.is_found for trial in own)
        right = sum(trial.is_right for trial in own)
        yield f"| {room} | {role} | {len(own)} | {percentage(found, len(own))} | {percentage(right, len(own))} |"


class Level(NamedTuple):
    """The shares of bugs that are found at least, and found on the right clause first."""

    found: float
    right: float

    def check(self, trials: Sequence[Trial]) -> None:
        """Assert that these trials reach the level."""
        missed = [trial.name for trial in trials if not trial.is_found]
        wrong = [(trial.name, trial.clause, trial.case) for trial in trials if trial.is_found and not trial.is_right]
        assert len(missed) <= (1 - self.found) * len(trials), missed
        assert len(missed) + len(wrong) <= (1 - self.right) * len(trials), (missed, wrong)


def report(trials: Sequence[Trial]) -> None:
    """Print the table, and what was missed, found on a wrong clause first, or made the tester fail."""
    print("\n".join(table(trials)))
    for trial in trials:
        if not trial.is_found:
            print(f"MISSED {trial.name}: {', '.join(trial.expected)}")
    for trial in trials:
        if trial.is_found and not trial.is_right:
            print(f"WRONG  {trial.name}: {', '.join(trial.expected)}; {trial.clause} in {trial.case}: {trial.text}")
    for trial in trials:
        if trial.tester_error:
            print(f"TESTER {trial.name}: {trial.tester_error}")


def write_line(trial: Trial, file: Path | None) -> None:
    """Append a trial to a file as a line of JSON."""
    if file is not None:
        with file.open("a") as lines:
            lines.write(json.dumps(trial._asdict()) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("room", nargs="?", choices=[*ROOMS])
    parser.add_argument("role", nargs="?", choices=ROLES)
    parser.add_argument("--first", action="store_true")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--operator")
    parser.add_argument("--lines", type=Path)
    given = parser.parse_args()
    jobs = [
        (room, role, number, given.first)
        for room in ([given.room] if given.room else [*ROOMS])
        for role in ([given.role] if given.role else ROLES)
        for number, mutation in enumerate(mutations(room, role))
        if number % given.every == 0 and given.operator in (None, mutation.operator)
    ]
    with ProcessPoolExecutor(WORKERS, get_context("fork")) as workers:
        trials = []
        for trial in workers.map(_attempt, jobs):
            trials.append(trial)
            write_line(trial, given.lines)
    report(trials)


if __name__ == "__main__":
    main()
