"""All clauses of the protocol pages are found, as plain text."""

import re

import pytest

from croupier.conformance.clauses import clauses, find_clause
from croupier.rooms import ROOMS
from tests.processes import ROOT


@pytest.mark.parametrize("room", ROOMS)
def test_every_clause_of_a_page_is_there_with_its_words_and_its_source(room: str) -> None:
    page = (ROOT / "docs" / "protocols" / f"{room}.md").read_text()
    found = clauses(room)
    assert [*found] == re.findall(rf"^\(({room}-\d+\.\d+)\)=$", page, re.MULTILINE)
    for each in found.values():
        assert each.text
        assert not re.search(r"\]\(|\*|\n", each.text), each.text
        assert re.match(r"§\d|[A-Z]\d", each.source), each.source
        assert each.document != "the document"


def test_a_clause_tells_where_it_comes_from() -> None:
    found = find_clause("kuhn-4.1")
    assert found.text == "`STRT P_1` is answered by CARD with the client's card. The client acts next."
    assert found.citation == "A protocol for the Poker Kuhn game, §3.1, §5; ruling K5"
    assert find_clause("sevenhalf-2.9").citation == "rulings G2, S10, P18"
    assert find_clause("sevenhalf-4.1").citation == "A protocol for the 7 and a half game, §2, §3.1"


def test_tolerances_are_marked() -> None:
    assert [each.id for each in clauses("kuhn").values() if each.is_tolerated] == ["kuhn-2.4", "kuhn-2.5"]


@pytest.mark.parametrize("room", ROOMS)
def test_the_words_of_a_mark_stand_in_a_clause_as_its_mark_only(room: str) -> None:
    for each in clauses(room).values():
        assert re.findall("NON-STRICT|OPEN", each.text) == [each.mark] * bool(each.mark), each.id


def test_a_clause_is_open_by_its_mark_or_if_only_the_project_has_ruled_on_it() -> None:
    found = clauses("holdem")
    assert found["holdem-1.6"].is_open
    assert found["holdem-1.4"].is_open
    assert not found["holdem-1.1"].is_open
    assert "H8" in found["holdem-2.9"].source
    assert found["holdem-2.9"].is_open


def test_a_clause_that_is_none_has_no_words() -> None:
    assert find_clause("kuhn-99.1").text == find_clause("nowhere-1.1").text == ""
    with pytest.raises(ValueError, match="found no page of 'nowhere'"):
        clauses("nowhere")
