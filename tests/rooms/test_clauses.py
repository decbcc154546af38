"""The page of every room and its transcripts: every clause is shown, and nothing else is."""

import re
from functools import cached_property
from importlib import import_module
from pathlib import Path

import pytest

from croupier.core.transcript import Transcript
from croupier.rooms import HOUSE_ROOMS
from tests.transcripts import transcripts

PAGES = Path(__file__).parents[2] / "docs" / "protocols"
SOURCE = re.compile(r"\[[^\]]*(§\d|[A-Z]\d)[^\]]*\]$")


class Page:
    """What the page of a room says about its clauses."""

    def __init__(self, room: str) -> None:
        self.room = room
        self.name = re.compile(rf"{room}-\d+\.\d+")
        self.text = (PAGES / f"{room}.md").read_text()
        self.anchors: list[tuple[str, str, str]] = re.findall(
            rf"^\(({room}-\d+\.\d+)\)=\n\*\*({room}-\d+\.\d+)\*\* (.+?)(?=\n\n|\Z)", self.text, re.MULTILINE | re.DOTALL
        )
        self.clauses = [anchor for anchor, _, _ in self.anchors]
        unshown = self.text.partition("## Clauses that no conversation shows")[2]
        self.unshown = re.findall(rf"^- \*\*({room}-\d+\.\d+)\*\*", unshown, re.MULTILINE)
        self.sources = sorted(Path(str(import_module(f"croupier.rooms.{room}").__file__)).parent.glob("*.py"))

    @cached_property
    def papers(self) -> list[Transcript]:
        return transcripts(self.room)

    def named(self, paper: Transcript) -> set[str]:
        """All clauses in the head of a transcript."""
        return {*paper.clauses, *self.name.findall(paper.head.get("fault", ""))}


ALL = {room: Page(room) for room in HOUSE_ROOMS}

every_page = pytest.mark.parametrize("page", ALL.values(), ids=ALL)
every_clause = pytest.mark.parametrize(
    ("page", "clause"), [pytest.param(page, clause, id=clause) for page in ALL.values() for clause in page.clauses]
)
every_paper = pytest.mark.parametrize(
    ("page", "paper"), [pytest.param(page, paper, id=paper.name) for page in ALL.values() for paper in page.papers]
)
every_source = pytest.mark.parametrize(
    ("page", "source"),
    [pytest.param(page, file, id=f"{page.room}/{file.name}") for page in ALL.values() for file in page.sources],
)


@every_page
def test_the_page_has_clauses_each_once_and_under_its_own_name(page: Page) -> None:
    assert len(page.clauses) >= 40
    assert len(set(page.clauses)) == len(page.clauses)
    assert all(anchor == shown for anchor, shown, _ in page.anchors)
    anchors = re.findall(rf"^\({page.room}-", page.text, re.MULTILINE)
    assert len(page.clauses) == len(anchors), "an anchor without its clause"


@every_page
def test_clauses_are_numbered_without_a_gap(page: Page) -> None:
    numbers = [tuple(map(int, clause.removeprefix(f"{page.room}-").split("."))) for clause in page.clauses]
    assert numbers == [
        (section, number)
        for section in range(1, 1 + max(section for section, _ in numbers))
        for number in range(1, 1 + sum(section == other for other, _ in numbers))
    ]


@every_clause
def test_a_clause_is_shown_by_a_transcript_or_listed_as_one_that_cannot_be(page: Page, clause: str) -> None:
    assert any(clause in paper.clauses for paper in page.papers) or clause in page.unshown


@every_paper
def test_a_transcript_names_clauses_that_exist(page: Page, paper: Transcript) -> None:
    assert page.named(paper)
    assert page.named(paper) <= set(page.clauses)


@every_source
def test_the_code_names_clauses_that_exist(page: Page, source: Path) -> None:
    assert {*page.name.findall(source.read_text())} <= set(page.clauses)


@every_page
def test_the_code_of_a_room_names_some_clause(page: Page) -> None:
    assert any(page.name.search(source.read_text()) for source in page.sources)


@every_page
def test_the_clauses_listed_as_not_shown_exist(page: Page) -> None:
    assert page.unshown
    assert set(page.unshown) <= set(page.clauses)


@every_page
def test_every_clause_names_its_source(page: Page) -> None:
    assert [anchor for anchor, _, told in page.anchors if not SOURCE.search(told.partition("\n|")[0].strip())] == []


@every_page
def test_links_on_the_page_lead_to_clauses(page: Page) -> None:
    linked = {*re.findall(rf"\(#({page.room}-[\d.]+)\)", page.text)}
    assert linked
    assert linked <= set(page.clauses)


@every_page
def test_there_are_transcripts_enough_and_no_two_tell_the_same(page: Page) -> None:
    assert len(page.papers) >= 30
    assert len({paper.title for paper in page.papers}) == len(page.papers)
    assert len({paper.lines for paper in page.papers}) == len(page.papers)
