"""Missing features are reported as unimplemented, not as failures."""

import pytest

from croupier.conformance.case import select
from croupier.conformance.results import Outcome
from tests.conformance.holdem.faulty_programs import ACTS, FaultyServer, Reply
from tests.conformance.holdem.test_server import ALL, check

OPTIONAL_CLAUSES = {f"holdem-9.{number}" for number in (1, 2, 3, 5, 6, 7, 8, 9, 12)}
LEAVE = "DELETE games/:/players/:"


def test_document_only_server_lacks_optional_features_without_failing() -> None:
    cases = select(ALL, "holdem/9")
    results = check(cases, faulty=FaultyServer(frozenset(), document_only=True))
    lacks = [result for result in results if result.outcome is Outcome.UNIMPLEMENTED]
    assert {result.clause for result in lacks} == OPTIONAL_CLAUSES
    assert [result for result in results if not result.is_good] == []
    assert all("found" in result.note for result in lacks)


def test_different_optional_feature_is_a_choice() -> None:
    def stale(reply: Reply) -> Reply:
        return reply._replace(status=200, body=b"{}") if reply.status == 304 else reply

    results = check(select(ALL, "holdem/9.2"), faulty=FaultyServer(frozenset(), stale))
    assert {result.outcome for result in results} == {Outcome.CHOICE}


@pytest.mark.extended
def test_route_that_is_always_refused_is_unimplemented() -> None:
    results = check(select(ALL, "holdem/3.10"), faulty=FaultyServer(frozenset(), missing_route=LEAVE))
    assert {result.outcome for result in results} == {Outcome.UNIMPLEMENTED}
    assert not any(result.is_good for result in results)
    assert {result.failure.actual for result in results if result.failure} == {"405"}


def test_route_that_is_refused_sometimes_is_a_failure() -> None:
    acts = iter(range(1000))

    def only_once(reply: Reply) -> Reply:
        here = reply.route == ACTS and reply.status == 201
        return reply._replace(status=404) if here and next(acts) else reply

    (result,) = check(select(ALL, "holdem/4.6/folding-for-nothing"), faulty=FaultyServer(frozenset(), only_once))
    assert result.outcome is Outcome.FAIL
