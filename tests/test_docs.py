"""The documentation matches the code and builds without warnings."""

import re
import shlex
import subprocess
import sys
from itertools import groupby
from pathlib import Path

import pytest
from cyclopts import CycloptsError
from docs.generate import cell, pages

from croupier.cli import app
from croupier.rooms import ROOMS
from tests.processes import ROOT
from tests.sampling import in_one_test

DOCS = ROOT / "docs"
WRITTEN = [ROOT / "README.md", *sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts)]
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
every_page = pytest.mark.parametrize("page", [pytest.param(path, id=str(path.relative_to(ROOT))) for path in WRITTEN])


@pytest.mark.extended
def test_generated_pages_are_up_to_date() -> None:
    assert [path.name for path, text in pages() if path.read_text() != text] == [], "run `make docs` to update them"


@pytest.mark.extended
def test_the_pages_build_without_a_warning(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", ROOT / "docs", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "protocols" / "kuhn.html").exists()


def broken_rows(text: str) -> list[str]:
    """Return table rows with another number of cells than the header, and other lines inside a table.

    A table ends with an empty line, so any other line below a row is a row that was wrapped.
    """
    broken = []
    for filled, block in groupby(FENCED.sub("", text).splitlines(), key=lambda line: bool(line.strip())):
        lines = [*block]
        starts = [number for number, line in enumerate(lines) if line.startswith("|")]
        if filled and starts:
            table = lines[starts[0] :]
            broken += [row for row in table if cells(row) != cells(table[0])]
    return broken


def cells(row: str) -> int:
    """Return the number of cells of a table row, 0 for any other line."""
    whole = row.startswith("|") and row.endswith("|")
    return len(re.findall(r"(?<!\\)\|", row)) - 1 if whole else 0


@every_page
def test_every_row_of_a_table_has_as_many_cells_as_its_header(page: Path) -> None:
    assert broken_rows(page.read_text()) == []


def test_a_broken_row_of_a_table_is_found() -> None:
    table = "| Flag | Help |\n|---|---|\n"
    assert broken_rows(f"{table}| `-a` | one \\| two |\n\nMore.") == []
    assert broken_rows(f"{table}| `-a` | one\n    two |") == ["| `-a` | one", "    two |"]
    assert broken_rows(f"{table}| `-a` |") == ["| `-a` |"]
    assert broken_rows(f"{table}| `-a` | one | two |") == ["| `-a` | one | two |"]


def test_a_text_of_several_lines_becomes_one_cell() -> None:
    assert cell("durable: kept;\n    off: not | kept.") == "durable: kept; off: not \\| kept."


CITED = re.compile(r"\b[GKSBHO][1-9]\d?\b")
RULING = re.compile(r"^\(ruling-([a-z]\d+)\)=\n\*\*([A-Z]\d+)\*\* \S", re.MULTILINE)
CITING = [*WRITTEN, *sorted((ROOT / "src").rglob("*.py"))]


def rulings() -> list[str]:
    """Return the names of the rulings in the documentation, after checking their anchors."""
    found = [ruling for page in WRITTEN for ruling in RULING.findall(page.read_text())]
    assert [anchor for anchor, _ in found] == [name.lower() for _, name in found]
    return [name for _, name in found]


def without_text(text: str, known: list[str]) -> set[str]:
    """Return the rulings that a text cites and the documentation lacks."""
    return {*CITED.findall(text)} - {*known}


def test_every_ruling_that_is_cited_has_its_text_in_the_documentation() -> None:
    known = rulings()
    assert {path.name: missing for path in CITING if (missing := without_text(path.read_text(), known))} == {}


def test_every_ruling_has_one_text_and_none_is_left_out() -> None:
    known = rulings()
    counts = {"G": 7, "K": 10, "S": 11, "B": 10, "H": 10, "O": 10}
    assert sorted(known) == sorted(f"{letter}{n + 1}" for letter, count in counts.items() for n in range(count))


def test_a_citation_of_a_ruling_without_a_text_is_found() -> None:
    assert without_text("It is refused. [§3.1; K5, K99]", rulings()) == {"K99"}
    assert without_text("The player left (ruling H11).", rulings()) == {"H11"}


BLOCK = re.compile(r"^ *```(?:console|text|)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^ *(?:\$ )?croupier (?!: )(.+?)(?:  +#.*)?$", re.MULTILINE)


def commands() -> list[tuple[str, str]]:
    """Return every croupier command in a code block, with its page and without `croupier`."""
    return [
        (page.stem, part.strip().removeprefix("croupier "))
        for page in WRITTEN
        for block in BLOCK.findall(page.read_text())
        for line in COMMAND.findall(block)
        for part in re.split(r" [&|] ", line)
    ]


@in_one_test
@pytest.mark.parametrize("command", [pytest.param(command, id=f"{page}: {command}") for page, command in commands()])
def test_a_command_on_a_page_exists_with_its_flags(command: str) -> None:
    words = shlex.split(command.removeprefix("--config room.toml "))
    app.parse_args(words, print_error=False, exit_on_error=False)


def test_a_command_with_an_unknown_flag_is_found() -> None:
    with pytest.raises(CycloptsError):
        app.parse_args(["serve", "kuhn", "--brain", "random"], print_error=False, exit_on_error=False)


def test_the_first_screen_of_the_readme_has_ways_in_for_students_bot_authors_and_players() -> None:
    screen = "\n".join((ROOT / "README.md").read_text().splitlines()[:48])
    assert "docs/images/lobby.png" in screen, "it shows what it is"
    for way in ("croupier check kuhn 127.0.0.1:1212", "croupier play kuhn --bot ", "croupier play kuhn\n"):
        assert way in screen


def test_the_readme_leads_to_every_room_and_to_files_that_exist() -> None:
    text = (ROOT / "README.md").read_text()
    links = re.findall(r"\]\(([^)#:]+)\)", text)
    assert {f"docs/{kind}/{room}.md" for kind in ("protocols", "transcripts") for room in ROOMS} <= {*links}
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_index_begins_with_the_quick_start_and_its_groups_have_captions() -> None:
    groups = re.findall(r"```{toctree}\n(.*?)```", (DOCS / "index.md").read_text(), re.DOTALL)
    assert groups[0].split()[-1] == "quickstart"
    assert len(groups) >= 5
    assert all(":caption: " in group for group in groups)


SOURCE_PATH = re.compile(r"`((?:[a-z_]+/)+[a-z_]+\.py)`")
"""A module as pages write it: a path below the repository or below src/croupier, without capital letters."""


@in_one_test
@pytest.mark.parametrize("page", [ROOT / "CONTRIBUTING.md", *WRITTEN], ids=lambda page: str(page.relative_to(ROOT)))
def test_every_module_that_a_page_names_exists(page: Path) -> None:
    paths = {*SOURCE_PATH.findall(page.read_text())}
    known = (ROOT, ROOT / "src", ROOT / "src" / "croupier")
    assert {path for path in paths if not any((folder / path).exists() for folder in known)} == set()


def test_operating_has_a_heading_for_each_task() -> None:
    headings = re.findall(r"^## (.+)$", (DOCS / "operating.md").read_text(), re.MULTILINE)
    tasks = {"Starting and stopping", "Logs", "Limits", "TLS", "Behind a proxy", "The store", "Recovery"}
    assert tasks | {"Backup and restore", "Accounts", "Monitoring"} <= {*headings}
