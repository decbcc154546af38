"""The page of Kuhn poker and its transcripts: every clause is shown, and nothing else is."""

import re
from pathlib import Path

import pytest

import croupier.rooms.kuhn
from croupier.core.transcript import Transcript
from tests.papers import transcripts

PAGE = (Path(__file__).parents[3] / "docs" / "protocols" / "kuhn.md").read_text()
PAPERS = transcripts("kuhn")
ANCHOR = re.compile(r"^\((kuhn-\d+\.\d+)\)=\n\*\*(kuhn-\d+\.\d+)\*\* (.+?)(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)
SOURCE = re.compile(r"\[[^\]]*(§\d|[GKP]\d)[^\]]*\]$")

CLAUSES = [anchor for anchor, _, _ in ANCHOR.findall(PAGE)]
UNSHOWN = re.findall(
    r"^- \*\*(kuhn-\d+\.\d+)\*\*", PAGE.partition("## Clauses that no conversation shows")[2], re.MULTILINE
)


def named(paper: Transcript) -> set[str]:
    """All clauses in the head of a transcript."""
    return {*paper.clauses, *re.findall(r"kuhn-\d+\.\d+", paper.head.get("fault", ""))}


def test_the_page_has_clauses_each_once_and_under_its_own_name() -> None:
    assert len(CLAUSES) >= 40
    assert len(set(CLAUSES)) == len(CLAUSES)
    assert all(anchor == shown for anchor, shown, _ in ANCHOR.findall(PAGE))
    assert len(CLAUSES) == len(re.findall(r"^\(kuhn-", PAGE, re.MULTILINE)), "an anchor without its clause"


def test_clauses_are_numbered_without_a_gap() -> None:
    numbers = [tuple(map(int, clause.removeprefix("kuhn-").split("."))) for clause in CLAUSES]
    assert numbers == [
        (section, number)
        for section in range(1, 1 + max(section for section, _ in numbers))
        for number in range(1, 1 + sum(section == other for other, _ in numbers))
    ]


@pytest.mark.parametrize("clause", CLAUSES)
def test_a_clause_is_shown_by_a_transcript_or_listed_as_one_that_cannot_be(clause: str) -> None:
    assert any(clause in paper.clauses for paper in PAPERS) or clause in UNSHOWN


@pytest.mark.parametrize("paper", PAPERS, ids=[paper.name for paper in PAPERS])
def test_a_transcript_names_clauses_that_exist(paper: Transcript) -> None:
    assert named(paper)
    assert named(paper) <= set(CLAUSES)


@pytest.mark.parametrize("source", sorted(Path(croupier.rooms.kuhn.__file__).parent.glob("*.py")), ids=lambda p: p.name)
def test_the_code_names_clauses_that_exist(source: Path) -> None:
    assert {*re.findall(r"kuhn-\d+\.\d+", source.read_text())} <= set(CLAUSES)


def test_the_clauses_listed_as_not_shown_exist() -> None:
    assert UNSHOWN
    assert set(UNSHOWN) <= set(CLAUSES)


def test_every_clause_names_its_source() -> None:
    assert [
        anchor for anchor, _, told in ANCHOR.findall(PAGE) if not SOURCE.search(told.partition("\n|")[0].strip())
    ] == []


def test_links_on_the_page_lead_to_clauses() -> None:
    linked = {*re.findall(r"\(#(kuhn-[\d.]+)\)", PAGE)}
    assert linked
    assert linked <= set(CLAUSES)


def test_there_are_transcripts_enough_and_no_two_tell_the_same() -> None:
    assert len(PAPERS) >= 30
    assert len({paper.title for paper in PAPERS}) == len(PAPERS)
    assert len({paper.lines for paper in PAPERS}) == len(PAPERS)
