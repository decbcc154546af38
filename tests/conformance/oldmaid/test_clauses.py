"""The Old Maid cases cover every clause, or say why not; outcomes of errors."""

from collections import Counter

import pytest

from croupier.conformance.case import Case
from croupier.conformance.clauses import clauses
from croupier.conformance.deviations import NotReached
from croupier.conformance.oldmaid.outcomes import (
    Failed,
    ImplementationChoice,
    NonStrict,
    attempt_that_ended,
    likely_framing_cause,
)
from croupier.conformance.oldmaid.suites import PLAYERS, TABLES
from croupier.conformance.oldmaid.untestable import UNTESTABLE
from croupier.conformance.results import Outcome
from tests.sampling import in_one_test

TABLE = TABLES.cases
PLAYER = PLAYERS.cases
CLAUSES = clauses("oldmaid")

roles = pytest.mark.parametrize("cases", [TABLE, PLAYER], ids=["table", "player"])


@in_one_test
@pytest.mark.parametrize("clause", CLAUSES)
def test_every_clause_has_a_case_or_a_reason(clause: str) -> None:
    tested = clause in {case.clause for case in (*TABLE, *PLAYER)}
    assert tested != (clause in UNTESTABLE)
    for suite in (TABLES, PLAYERS):
        assert suite.untestable.get(clause, "tested")


def test_untested_clauses_of_a_role_have_reasons() -> None:
    for suite, cases in ((TABLES, TABLE), (PLAYERS, PLAYER)):
        untested = suite.untestable
        assert {*untested} == {*CLAUSES} - {case.clause for case in cases}
        assert {*UNTESTABLE} <= {*untested}


def test_untestable_clauses_exist() -> None:
    assert {*UNTESTABLE} <= {*CLAUSES}


@roles
def test_case_ids_are_unique(cases: tuple[Case, ...]) -> None:
    assert len(cases) >= 50
    assert [name for name, times in Counter(case.id for case in cases).items() if times > 1] == []


@roles
def test_case_ids_begin_with_the_clause(cases: tuple[Case, ...]) -> None:
    assert {case.clause for case in cases} <= {*CLAUSES}
    assert all(case.id.startswith(f"oldmaid/{case.clause.removeprefix('oldmaid-')}/") for case in cases)


def test_cases_about_the_last_card_come_after_those_about_a_card() -> None:
    """A player that keeps the cards that it gives sends no out_of_cards either (oldmaid-7.5)."""
    ranks = {
        clause: [case.rank for case in PLAYER if case.clause == clause] for clause in ("oldmaid-7.5", "oldmaid-7.12")
    }
    assert max(ranks["oldmaid-7.5"]) < min(ranks["oldmaid-7.12"])


def test_open_clauses() -> None:
    found = {name for name, clause in clauses("oldmaid").items() if clause.is_open}
    numbers = ("2.11", "2.12", "2.13", "3.20", "4.10", "4.11", "5.13", "6.2", "6.3", "6.13", "7.13")
    assert found == {f"oldmaid-{number}" for number in numbers}


def outcome(
    error: Exception | None, clause: str = "4.3", *, strict: bool = False, failure_is_choice: bool = False
) -> Outcome:
    case = Case(clause=f"oldmaid-{clause}", slug="x", title="A case", failure_is_choice=failure_is_choice)
    return attempt_that_ended(case, error, (), strict=strict).outcome


def test_outcome_of_errors() -> None:
    assert outcome(None) is Outcome.PASS
    assert outcome(Failed("oldmaid-4.3", "a card", "an error")) is Outcome.FAIL
    assert outcome(Failed("oldmaid-2.11", "an error", "nothing")) is Outcome.CHOICE
    assert outcome(Failed("oldmaid-4.3", "a card", "an error"), failure_is_choice=True) is Outcome.CHOICE
    assert outcome(ImplementationChoice("it does so")) is Outcome.CHOICE
    assert outcome(NotReached("it never came up")) is Outcome.SKIP
    assert outcome(NonStrict("it does so")) is Outcome.NON_STRICT
    assert outcome(NonStrict("it does so"), strict=True) is Outcome.FAIL


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        (b"{'result': 'ok'}\n", "Python"),
        ("{“result”: “ok”}".encode(), "printed document"),
        (b'{"result": "ok", "players": ["player1": [["1.2.3.4", 5], "ann"]]}', "keys into an array"),
        (b'{"in": ["ann"], "out": {"bob"}}', "nicks into braces"),
        (b"17 ", "sends a length"),
        (b'{"result": "ok", "card": ["3", "spades"]', "does not end the message"),
        (b'{"result": "ok"}', ""),
        (b"", ""),
        (b"hello", ""),
    ],
)
def test_likely_framing_cause(data: bytes, cause: str) -> None:
    assert cause in str(likely_framing_cause(data))
    assert bool(likely_framing_cause(data)) is bool(cause)
