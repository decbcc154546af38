"""Benchmark: duration of a matrix of ten students, every client at every server in all three house games."""

import argparse
import asyncio
import os
import resource
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from croupier.conformance.matrix.cells import Cell, CellKind
from croupier.conformance.matrix.matrix import Matrix, MatrixPlan, write_results
from croupier.conformance.matrix.programs import PairingTerms
from croupier.conformance.matrix.submission import load_submissions
from croupier.rooms import HOUSE_ROOMS

TARGET_SECONDS = 60.0
PYTHON = f"{shlex.quote(sys.executable)} -I -S {shlex.quote(str(Path(__file__).with_name('student_program.py')))}"


def compiled(folder: Path) -> str:
    """Compile the student program written in C, and return the command that starts it."""
    program = folder / "student_program"
    subprocess.run(
        [os.environ.get("CC", "cc"), "-O2", "-o", program, Path(__file__).with_name("student_program.c")], check=True
    )
    return shlex.quote(str(program))


def hand_in(folder: Path, students: int, program: str) -> None:
    """Write the submissions of a class whose programs all follow the protocol."""
    for number in range(1, students + 1):
        submission = folder / f"student-{number:02}"
        submission.mkdir(parents=True)
        tables = [
            f"[{room}]\n"
            f"server = '{program} {room} server {{port}}'\n"
            f"client = '{program} {room} client {{host}} {{port}}'\n"
            for room in HOUSE_ROOMS
        ]
        (submission / "submission.toml").write_text("".join((f'name = "Student {number}"\n', *tables)))


def cpu() -> float:
    """Return the CPU seconds of this process and its finished children."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def main() -> None:
    """Run the matrix once and print its duration."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--students", type=int, default=10)
    parser.add_argument("--conversations", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--language", choices=("c", "python"), default="c", help="language of the student programs")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder, out = Path(place, "class"), Path(place, "out")
        hand_in(folder, given.students, PYTHON if given.language == "python" else compiled(Path(place)))
        submissions = load_submissions(folder, out)
        cells: list[Cell] = []
        plan = MatrixPlan(
            terms=[PairingTerms(room=room, conversations=given.conversations) for room in HOUSE_ROOMS.values()],
            submissions=submissions,
            output_folder=out,
            parallel_servers=given.jobs,
        )
        started, before = perf_counter(), cpu()
        matrix = Matrix(plan, lambda cell, _: cells.append(cell))
        is_complete = asyncio.run(matrix.play())
        write_results(plan.results(matrix.cells, is_complete=is_complete), out)
        seconds, used = perf_counter() - started, cpu() - before
    assert is_complete
    well = sum(cell.finding.kind is CellKind.WELL for cell in cells)
    conversations = sum(cell.connections for cell in cells)
    print(
        f"{given.students} × {given.students} in {len(HOUSE_ROOMS)} rooms, programs in {given.language}: "
        f"{seconds:.1f} s with {given.jobs} jobs, {used:.1f} s of processor time; "
        f"{len(cells):,} cells, {well:,} well played, {conversations:,} conversations"
    )
    for cell in cells:
        if cell.finding.kind is not CellKind.WELL:
            print(f"  {cell.room}: {cell.client} at {cell.server}: {cell.finding.note}")
    print(f"  target under {TARGET_SECONDS:g} s: {'met' if seconds < TARGET_SECONDS else 'MISSED'}")


if __name__ == "__main__":
    main()
