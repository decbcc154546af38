"""The protocol pages as HTML have every clause, its transcripts, and links that lead somewhere."""

import re

import pytest

from croupier.conformance.clauses import clauses
from croupier.conformance.resources import transcripts
from croupier.rooms import ROOMS
from croupier.web.protocols import ProtocolPage, protocol_page

PAGES = [*ROOMS, "rulings"]


def page(name: str) -> ProtocolPage:
    found = protocol_page(name)
    assert found is not None
    return found


@pytest.mark.parametrize("room", ROOMS)
def test_every_clause_is_a_section_of_its_own(room: str) -> None:
    ids = [section.id for section in page(room).sections if re.fullmatch(r"\w+-\d+\.\d+", section.id)]
    assert ids == [*clauses(room)]


@pytest.mark.parametrize("room", ROOMS)
def test_every_transcript_is_an_example_of_its_clauses(room: str) -> None:
    shown = {(section.id, example.name) for section in page(room).sections for example in section.examples}
    assert shown == {(clause, transcript.name) for transcript in transcripts(room) for clause in transcript.clauses}


@pytest.mark.parametrize("name", PAGES)
def test_every_link_leads_to_a_part_of_a_page(name: str) -> None:
    anchors = {
        other: {section.id for section in page(other).sections}
        | {anchor for section in page(other).sections for anchor in re.findall(r'id="([^"]+)"', section.html)}
        for other in PAGES
    }
    links = [link for section in page(name).sections for link in re.findall(r'href="([^"]*)"', section.html)]
    assert links
    for link in links:
        target, _, anchor = link.partition("#")
        other = target.removeprefix("/protocols/") or name
        assert other in PAGES, link
        assert not anchor or anchor in anchors[other], link


def test_tables_and_code_are_rendered_and_html_is_escaped() -> None:
    html = "".join(section.html for section in page("kuhn").sections)
    assert "<table>" in html
    assert "<code>ACTN</code>" in html
    assert "<!--" not in html
    assert "**" not in html
    assert ")=" not in html


def test_headings_are_listed_with_their_ids() -> None:
    assert ("the-connection", "1. The connection") in page("kuhn").headings


def test_a_ruling_that_a_clause_cites_is_a_link_to_its_text() -> None:
    clause = next(section for section in page("kuhn").sections if section.id == "kuhn-2.7")
    assert '<a href="#ruling-k6">K6</a>; <a href="/protocols/rulings#ruling-g2">G2</a>]' in clause.html


def test_an_unknown_page_is_none() -> None:
    assert protocol_page("../README") is None
    assert protocol_page("poker") is None
