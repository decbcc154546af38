"""The cases of hold'em: there are enough, and every clause has one or says why not."""

import re
from collections import Counter

import pytest

from croupier.conformance.case import select
from croupier.conformance.clauses import clauses
from croupier.conformance.holdem import UNTESTABLE, client_cases, server_cases
from croupier.conformance.holdem.cases import (
    CARD_DEPENDENT_TRANSCRIPTS,
    FRESH_SERVER_TRANSCRIPTS,
    README_ONLY_TRANSCRIPTS,
    RULING_ONLY_TRANSCRIPTS,
)
from croupier.conformance.holdem.replay import transcripts_by_name
from croupier.conformance.holdem.walks import WALK_CLAUSES

PAGE = clauses("holdem")
BOTH = pytest.mark.parametrize("cases", [server_cases(), client_cases()], ids=["server", "client"])


@BOTH
def test_there_are_fifty_cases_or_more(cases: tuple[object, ...]) -> None:
    assert len(cases) >= 50


@BOTH
def test_every_case_has_an_id_of_its_own_that_begins_with_its_clause(cases: tuple[object, ...]) -> None:
    ids = [case.id for case in cases]  # type: ignore[attr-defined]
    assert max(Counter(ids).values()) == 1
    for case in cases:
        assert re.fullmatch(r"holdem/\d+\.\d+/[a-z0-9-]+", case.id)  # type: ignore[attr-defined]
        assert case.clause == f"holdem-{case.section}"  # type: ignore[attr-defined]
        assert case.clause in PAGE  # type: ignore[attr-defined]
        assert case.title  # type: ignore[attr-defined]


def test_every_clause_has_a_case_or_says_why_not() -> None:
    shown = {name for case in server_cases() for name in case.clauses} | {case.clause for case in client_cases()}
    assert PAGE.keys() - shown - UNTESTABLE.keys() == set()
    assert UNTESTABLE.keys() <= PAGE.keys()
    assert UNTESTABLE.keys() & {name for case in server_cases() for name in case.clauses} == set()


def test_what_is_left_out_is_there() -> None:
    assert (
        transcripts_by_name().keys()
        >= CARD_DEPENDENT_TRANSCRIPTS | FRESH_SERVER_TRANSCRIPTS | RULING_ONLY_TRANSCRIPTS | README_ONLY_TRANSCRIPTS
    )
    assert PAGE.keys() >= WALK_CLAUSES.keys()


def test_a_selection_takes_in_what_it_names() -> None:
    assert {case.section for case in select(server_cases(), "holdem/4.13")} == {"4.13"}
    assert {case.section.split(".")[0] for case in select(client_cases(), "holdem/3")} == {"3"}
    assert [case.id for case in select(server_cases(), "holdem/4.13/out-of-turn")] == ["holdem/4.13/out-of-turn"]


def test_both_dialects_have_cases() -> None:
    dialects = Counter(case.dialect for case in server_cases())
    assert dialects["readme"] >= 10
    assert dialects["hspe-go"] >= 20
    assert dialects[None] >= 150
