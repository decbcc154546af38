"""The protocol pages as HTML have every clause, its transcripts, and links that lead somewhere."""

import re

import pytest
from markupsafe import escape

from croupier.conformance.clauses import clauses
from croupier.conformance.resources import transcripts
from croupier.rooms import ROOMS
from croupier.web.protocols import PAGES, Clause, ProtocolPage, protocol_page
from tests.net.raw_client import Run
from tests.web.app_fixture import Browser, web_app


def page_html(name: str) -> str:
    shown = page(name)
    parts = [part for section in shown.sections for part in (section.intro, *(each.html for each in section.clauses))]
    return "".join(map(str, [shown.intro, *parts]))


def all_clauses(name: str) -> list[Clause]:
    return [clause for section in page(name).sections for clause in section.clauses]


def page(name: str) -> ProtocolPage:
    found = protocol_page(name)
    assert found is not None
    return found


@pytest.mark.parametrize("room", ROOMS)
def test_every_clause_is_a_section_of_its_own(room: str) -> None:
    ids = [clause.id for clause in all_clauses(room) if re.fullmatch(r"\w+-\d+\.\d+", clause.id)]
    assert ids == [*clauses(room)]


@pytest.mark.parametrize("room", ROOMS)
def test_every_transcript_is_an_example_of_its_clauses(room: str) -> None:
    shown = {(clause.id, example.id) for clause in all_clauses(room) for example in clause.transcripts}
    assert shown == {(clause, transcript.name) for transcript in transcripts(room) for clause in transcript.clauses}


@pytest.mark.parametrize("name", PAGES)
def test_every_link_leads_to_a_part_of_a_page(name: str) -> None:
    anchors = {
        other: {section.id for section in page(other).sections}
        | {clause.id for clause in all_clauses(other)}
        | {*re.findall(r'id="([^"]+)"', page_html(other))}
        for other in PAGES
    }
    links = re.findall(r'href="([^"]*)"', page_html(name))
    assert links
    for link in links:
        target, _, anchor = link.partition("#")
        other = target.removeprefix("/protocols/") or name
        assert other in PAGES, link
        assert not anchor or anchor in anchors[other], link


def test_tables_and_code_are_rendered_and_html_is_escaped() -> None:
    html = page_html("kuhn")
    assert '<table tabindex="0">' in html
    assert "<code>ACTN</code>" in html
    assert "<!--" not in html
    assert "**" not in html
    assert ")=" not in html


def test_a_clause_is_named_once() -> None:
    names = {clause.id: clause.name for clause in all_clauses("kuhn")}
    assert (names["kuhn-2.7"], names["ruling-k6"]) == ("kuhn-2.7", "K6")
    assert not [clause.id for clause in all_clauses("kuhn") if f"<strong>{clause.name}</strong>" in clause.html]


def test_sections_have_ids() -> None:
    assert ("the-connection", "1. The connection") in [(part.id, part.title) for part in page("kuhn").sections]


def test_a_ruling_that_a_clause_cites_is_a_link_to_its_text() -> None:
    clause = next(clause for clause in all_clauses("kuhn") if clause.id == "kuhn-2.7")
    assert '<a href="#ruling-k6">K6</a>; <a href="/protocols/rulings#ruling-g2">G2</a>, P9, P10]' in clause.html


def test_an_unknown_page_is_none() -> None:
    assert protocol_page("../README") is None
    assert protocol_page("poker") is None


@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_served_with_its_clauses(run: Run, name: str) -> None:
    async def main() -> None:
        async with web_app() as (app, _):
            served = (await Browser(app).get(f"/protocols/{name}")).text
            assert f'<h1 lang="en">{escape(page(name).title)}</h1>' in served
            for clause in all_clauses(name):
                assert f'id="{clause.id}"' in served

    run(main())


def test_the_pages_are_listed_and_others_are_not_found(run: Run) -> None:
    async def main() -> None:
        async with web_app() as (app, _):
            browser = Browser(app)
            listed = (await browser.get("/protocols")).text
            assert all(f'href="/protocols/{name}"' in listed for name in PAGES)
            assert (await browser.get("/protocols/poker")).status_code == 404
            assert (await browser.get("/protocols/..%2FREADME")).status_code == 404

    run(main())
