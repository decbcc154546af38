"""`make test` shows every clause of the five protocols; `make test-extended` runs what it leaves out."""

import re
import subprocess
import sys
from itertools import product

from croupier.core.transcript import parse_transcript
from croupier.rooms import ROOMS
from tests.processes import ROOT
from tests.protocol_pages import PROTOCOL_PAGES
from tests.transcripts import TRANSCRIPT_FOLDER

REPLAYS = (
    "tests/test_transcripts.py",
    "tests/rooms/holdem/test_transcripts.py",
    "tests/rooms/oldmaid/test_table_transcripts.py",
    "tests/rooms/oldmaid/test_player_transcripts.py",
)
"""The tests that play transcripts; a test's id has the name of its transcript."""

MARKS = ("slow", "long", "extended", "hypothesis", "browser", "interop")


def selection(target: str) -> str:
    """The marker expression of a target of the Makefile."""
    (found,) = re.findall(rf'^{target}:.*\n\t\$\(PYTEST\).* -m "(.+?)"', (ROOT / "Makefile").read_text(), re.MULTILINE)
    return str(found)


def selected_ids() -> set[str]:
    """What stands in brackets behind the names of the tests that `make test` selects."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", selection("test"), *REPLAYS],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return {*re.findall(r"\[(.+)\]$", done.stdout, re.MULTILINE)}


def test_a_transcript_of_each_clause_is_played_or_the_page_lists_it_as_not_shown() -> None:
    selected = selected_ids()
    for room in ROOMS:
        assert not_played(room, selected) == set()


def not_played(room: str, selected: set[str]) -> set[str]:
    """The clauses of a room that neither these tests show nor the page lists as not shown."""
    page = PROTOCOL_PAGES[room]
    shown = {
        clause
        for path in (TRANSCRIPT_FOLDER / room).glob("*.txt")
        if selected & {f"{room}/{path.stem}", f"{path.stem}-whole"}
        for clause in parse_transcript(path.read_text(), path.stem).clauses
    }
    return {*page.clauses} - shown - {*page.unshown}


def test_both_parts_are_all_tests_but_those_that_run_for_minutes() -> None:
    for values in product([False, True], repeat=len(MARKS)):
        marks = dict(zip(MARKS, values, strict=True))
        first, second = (eval(selection(target), {}, marks) for target in ("test", "test-extended"))
        assert (first or second) != any(marks[mark] for mark in ("slow", "long", "browser", "interop")), marks
        assert not (first and second) or marks["hypothesis"], "only random tests are run twice"


def test_the_ci_job_runs_both_and_those_with_a_browser_or_other_libraries() -> None:
    job = (ROOT / ".ci" / "run").read_text()
    assert "for tests in test test-extended test-browser test-interop; do\n" in job
    assert "make check\n" in job
