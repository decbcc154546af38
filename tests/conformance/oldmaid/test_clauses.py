"""The page of Old Maid and the cases: every clause has one, for a table or for a player, or says why it has none."""

from collections import Counter

import pytest

from croupier.conformance.case import Case
from croupier.conformance.clauses import clauses
from croupier.conformance.oldmaid import client, server
from croupier.conformance.oldmaid.outcomes import (
    Failed,
    ImplementationChoice,
    NonStrict,
    NotReached,
    case_result,
    is_ruling_only,
    likely_framing_cause,
)
from croupier.conformance.oldmaid.untestable import UNTESTABLE
from croupier.conformance.results import Outcome
from croupier.rooms.oldmaid import ROOM

TABLE = server.server_cases(ROOM)
PLAYER = client.client_cases(ROOM)
PAGE = clauses("oldmaid")

roles = pytest.mark.parametrize("cases", [TABLE, PLAYER], ids=["table", "player"])


@pytest.mark.parametrize("clause", PAGE)
def test_a_clause_has_a_case_for_a_table_or_for_a_player_or_says_why_it_has_none(clause: str) -> None:
    tested = clause in {case.clause for case in (*TABLE, *PLAYER)}
    assert tested != (clause in UNTESTABLE)
    for role in (server, client):
        assert role.untestable(ROOM).get(clause, "tested")


def test_what_one_role_does_not_test_is_told_with_the_reason() -> None:
    for role, cases in ((server, TABLE), (client, PLAYER)):
        untested = role.untestable(ROOM)
        assert {*untested} == {*PAGE} - {case.clause for case in cases}
        assert {*UNTESTABLE} <= {*untested}


def test_what_cannot_be_tested_is_on_the_page() -> None:
    assert {*UNTESTABLE} <= {*PAGE}


@roles
def test_there_are_cases_enough_and_each_has_a_name_of_its_own(cases: tuple[Case, ...]) -> None:
    assert len(cases) >= 50
    assert [name for name, times in Counter(case.id for case in cases).items() if times > 1] == []


@roles
def test_a_case_is_named_by_its_clause_which_is_on_the_page(cases: tuple[Case, ...]) -> None:
    assert {case.clause for case in cases} <= {*PAGE}
    assert all(case.id.startswith(f"oldmaid/{case.clause.removeprefix('oldmaid-')}/") for case in cases)


def test_what_stands_on_rulings_of_the_project_alone_is_known_by_its_source() -> None:
    assert {name for name in PAGE if is_ruling_only(name)} == {"oldmaid-2.11", "oldmaid-4.10", "oldmaid-7.13"}


def outcome(error: Exception | None, clause: str = "4.3", *, strict: bool = False, free: bool = False) -> Outcome:
    case = Case(id=f"oldmaid/{clause}/x", title="A case", clause=f"oldmaid-{clause}")
    return case_result(case, error, (), 0.0, strict=strict, failure_is_choice=free).outcome


def test_what_is_broken_fails_unless_only_our_rulings_decide_it() -> None:
    assert outcome(None) is Outcome.PASS
    assert outcome(Failed("oldmaid-4.3", "a card", "an error")) is Outcome.FAIL
    assert outcome(Failed("oldmaid-2.11", "an error", "nothing")) is Outcome.CHOICE
    assert outcome(Failed("oldmaid-4.3", "a card", "an error"), free=True) is Outcome.CHOICE
    assert outcome(ImplementationChoice("it does so")) is Outcome.CHOICE
    assert outcome(NotReached("it never came up")) is Outcome.SKIP
    assert outcome(NonStrict("it does so")) is Outcome.NON_STRICT
    assert outcome(NonStrict("it does so"), strict=True) is Outcome.FAIL


@pytest.mark.parametrize(
    ("said", "cause"),
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
def test_what_has_likely_led_to_a_message_that_is_none_is_told(said: bytes, cause: str) -> None:
    assert cause in likely_framing_cause(said)
    assert bool(likely_framing_cause(said)) is bool(cause)
