"""Protocol pages of all rooms: clauses, sources and transcripts match each other."""

import re
from pathlib import Path

import croupier
from tests.protocol_pages import ProtocolPage, every_page

SOURCE_FOLDER = Path(croupier.__file__).parent
SOURCE = re.compile(r"\[[^\]]*(§\d|[A-Z]\d)[^\]]*\]$")

MIN_CLAUSES = {"holdem": 100, "oldmaid": 90}
MIN_TRANSCRIPTS = {"holdem": 120, "oldmaid": 150}

DISTINGUISHING_HEADS = {"holdem": ("deck", "dialect")}
"""What may differ between two transcripts of a room that have the same lines."""


@every_page
def test_the_page_has_clauses_each_once_and_under_its_own_name(page: ProtocolPage) -> None:
    assert len(page.clauses) >= MIN_CLAUSES.get(page.room, 40)
    assert len(set(page.clauses)) == len(page.clauses)
    assert all(anchor == shown for anchor, shown, _ in page.entries)
    anchors = re.findall(rf"^\({page.room}-", page.text, re.MULTILINE)
    assert len(page.clauses) == len(anchors), "an anchor without its clause"


@every_page
def test_clauses_are_numbered_without_a_gap(page: ProtocolPage) -> None:
    numbers = [tuple(map(int, clause.removeprefix(f"{page.room}-").split("."))) for clause in page.clauses]
    assert numbers == [
        (section, number)
        for section in range(1, 1 + max(section for section, _ in numbers))
        for number in range(1, 1 + sum(section == other for other, _ in numbers))
    ]


@every_page
def test_a_clause_is_shown_by_a_transcript_or_listed_as_one_that_cannot_be(page: ProtocolPage) -> None:
    shown = {clause for transcript in page.transcripts for clause in transcript.clauses}
    assert {*page.clauses} - shown == {*page.unshown}


@every_page
def test_a_transcript_names_clauses_that_exist(page: ProtocolPage) -> None:
    for transcript in page.transcripts:
        assert transcript.clauses, transcript.name
        assert len(set(transcript.clauses)) == len(transcript.clauses), transcript.name
        named = {*transcript.clauses} | page.cited_in(transcript.head.get("fault", ""))
        assert named <= set(page.clauses), transcript.name


@every_page
def test_the_code_names_clauses_that_exist(page: ProtocolPage) -> None:
    named = {source: page.cited_in(source.read_text()) for source in SOURCE_FOLDER.rglob("*.py")}
    assert {source: clauses for source, clauses in named.items() if not clauses <= set(page.clauses)} == {}


@every_page
def test_the_code_of_a_room_names_some_clause(page: ProtocolPage) -> None:
    assert any(page.cited_in(source.read_text()) for source in (SOURCE_FOLDER / "rooms" / page.room).rglob("*.py"))


@every_page
def test_the_clauses_listed_as_not_shown_exist(page: ProtocolPage) -> None:
    assert page.unshown
    assert set(page.unshown) <= set(page.clauses)


@every_page
def test_every_clause_names_its_source(page: ProtocolPage) -> None:
    assert [anchor for anchor, _, text in page.entries if not SOURCE.search(text.partition("\n|")[0].strip())] == []


@every_page
def test_every_ruling_of_the_project_is_cited_and_every_cited_one_is_there(page: ProtocolPage) -> None:
    rulings = re.findall(r"^- \*\*(P\d+)\*\*", page.text.partition("## Rulings of the project")[2], re.MULTILINE)
    sources = [text.partition("\n|")[0].rsplit("[", 1)[1] for _, _, text in page.entries]
    cited = {ruling for source in sources for ruling in re.findall(r"\bP\d+\b", source)}
    assert rulings == [f"P{number}" for number in range(1, len(rulings) + 1)]
    assert cited == set(rulings)


@every_page
def test_links_on_the_page_lead_to_clauses(page: ProtocolPage) -> None:
    linked = {*re.findall(rf"\(#({page.room}-[\d.]+)\)", page.text)}
    assert linked
    assert linked <= set(page.clauses)


@every_page
def test_transcripts_are_sufficient_and_distinct(page: ProtocolPage) -> None:
    heads = DISTINGUISHING_HEADS.get(page.room, ())
    assert len(page.transcripts) >= MIN_TRANSCRIPTS.get(page.room, 30)
    assert len({transcript.title for transcript in page.transcripts}) == len(page.transcripts)
    distinct = {(transcript.lines, *map(transcript.head.get, heads)) for transcript in page.transcripts}
    assert len(distinct) == len(page.transcripts)
