"""The hold'em cases: their number, ids, and coverage of the clauses."""

import re
from collections import Counter

import pytest

from croupier.conformance.case import select
from croupier.conformance.clauses import clauses
from croupier.conformance.holdem.untestable import UNTESTABLE
from croupier.conformance.holdem.walk_clauses import WALK_CLAUSES
from croupier.conformance.resources import transcripts
from croupier.http.routes import OPERATIONS
from croupier.rooms.holdem import ROOM
from tests.conformance.suites import client_cases, server_cases

CLAUSES = clauses("holdem")
both_roles = pytest.mark.parametrize("cases", [server_cases(ROOM), client_cases(ROOM)], ids=["server", "client"])


@both_roles
def test_at_least_fifty_cases(cases: tuple[object, ...]) -> None:
    assert len(cases) >= 50


@both_roles
def test_case_ids_are_unique_and_begin_with_the_clause(cases: tuple[object, ...]) -> None:
    ids = [case.id for case in cases]  # type: ignore[attr-defined]
    assert max(Counter(ids).values()) == 1
    for case in cases:
        assert re.fullmatch(r"holdem/\d+\.\d+/[a-z0-9-]+", case.id)  # type: ignore[attr-defined]
        assert case.clause == f"holdem-{case.section}"  # type: ignore[attr-defined]
        assert case.clause in CLAUSES  # type: ignore[attr-defined]
        assert case.title  # type: ignore[attr-defined]


def test_every_clause_has_a_case_or_a_reason() -> None:
    tested = {name for case in server_cases(ROOM) for name in case.clauses} | {
        case.clause for case in client_cases(ROOM)
    }
    assert CLAUSES.keys() - tested - UNTESTABLE.keys() == set()
    assert UNTESTABLE.keys() <= CLAUSES.keys()
    assert UNTESTABLE.keys() & {name for case in server_cases(ROOM) for name in case.clauses} == set()


def test_heads_of_transcripts_and_walk_clauses_are_known() -> None:
    heads = [transcript.head for transcript in transcripts("holdem")]
    assert {head.get("needs") for head in heads} == {None, "luck", "a fresh server"}
    assert {head.get("dialect") for head in heads} == {None, "readme", "hspe-go"}
    assert {head["free"] for head in heads if "free" in head} == {"yes"}
    assert CLAUSES.keys() >= WALK_CLAUSES.keys()


def test_the_requests_that_fail_are_those_of_operations() -> None:
    failing = [fault.operation for case in client_cases(ROOM) for fault in case.setup.faults]
    assert len({*failing}) == 4
    assert {each.id for each in OPERATIONS} >= {*failing}


def test_selection() -> None:
    assert {case.section for case in select(server_cases(ROOM), "holdem/4.13")} == {"4.13"}
    assert {case.section.split(".")[0] for case in select(client_cases(ROOM), "holdem/3")} == {"3"}
    assert [case.id for case in select(server_cases(ROOM), "holdem/4.13/out-of-turn")] == ["holdem/4.13/out-of-turn"]


def test_both_dialects_have_cases() -> None:
    dialects = Counter(case.dialect for case in server_cases(ROOM))
    assert dialects["readme"] >= 10
    assert dialects["hspe-go"] >= 20
    assert dialects[""] >= 150
