"""Protocol pages of the rooms against the house: clauses, sources and transcripts match each other."""

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
    """The protocol page of a room, with its clauses and transcripts."""

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
    def transcripts(self) -> list[Transcript]:
        return transcripts(self.room)

    def named(self, transcript: Transcript) -> set[str]:
        """All clauses in the head of a transcript."""
        return {*transcript.clauses, *self.name.findall(transcript.head.get("fault", ""))}


ALL = {room: Page(room) for room in HOUSE_ROOMS}

every_page = pytest.mark.parametrize("page", ALL.values(), ids=ALL)


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


@every_page
def test_a_clause_is_shown_by_a_transcript_or_listed_as_one_that_cannot_be(page: Page) -> None:
    shown = {clause for transcript in page.transcripts for clause in transcript.clauses}
    assert {*page.clauses} - shown - {*page.unshown} == set()


@every_page
def test_a_transcript_names_clauses_that_exist(page: Page) -> None:
    named = {transcript.name: page.named(transcript) for transcript in page.transcripts}
    assert all(named.values())
    assert {name: clauses for name, clauses in named.items() if not clauses <= set(page.clauses)} == {}


@every_page
def test_the_code_names_clauses_that_exist(page: Page) -> None:
    named = {source.name: {*page.name.findall(source.read_text())} for source in page.sources}
    assert {name: clauses for name, clauses in named.items() if not clauses <= set(page.clauses)} == {}


@every_page
def test_the_code_of_a_room_names_some_clause(page: Page) -> None:
    assert any(page.name.search(source.read_text()) for source in page.sources)


@every_page
def test_the_clauses_listed_as_not_shown_exist(page: Page) -> None:
    assert page.unshown
    assert set(page.unshown) <= set(page.clauses)


@every_page
def test_every_clause_names_its_source(page: Page) -> None:
    assert [anchor for anchor, _, text in page.anchors if not SOURCE.search(text.partition("\n|")[0].strip())] == []


@every_page
def test_links_on_the_page_lead_to_clauses(page: Page) -> None:
    linked = {*re.findall(rf"\(#({page.room}-[\d.]+)\)", page.text)}
    assert linked
    assert linked <= set(page.clauses)


@every_page
def test_transcripts_are_sufficient_and_distinct(page: Page) -> None:
    assert len(page.transcripts) >= 30
    assert len({transcript.title for transcript in page.transcripts}) == len(page.transcripts)
    assert len({transcript.lines for transcript in page.transcripts}) == len(page.transcripts)
