"""Servers that each break one rule, the way students do, and the clause by which each is found out."""

import asyncio
from collections import Counter
from collections.abc import Collection

import pytest

from croupier.conformance.results import Outcome, Result
from croupier.rooms.holdem import ROOM
from tests.conformance.holdem.faulty_programs import FAULTY_SERVERS, FaultyServer, open_faulty_server
from tests.conformance.suites import check_server, server_cases
from tests.sampling import one_for_each

CASES = [case for case in server_cases(ROOM) if not case.beside and case.dialect != "hspe-go"]


def check(faulty: FaultyServer, clauses: Collection[str] | None = None, *, seed: int = 1) -> tuple[Result, ...]:
    """Run the cases about some clauses, by default all cases."""
    cases = [case for case in CASES if clauses is None or case.clause in clauses]

    async def main() -> tuple[Result, ...]:
        async with open_faulty_server(faulty, seed) as server:
            return await check_server(ROOM, *server.address, cases=cases, seed=seed)

    return asyncio.run(main())


@pytest.mark.parametrize("name", one_for_each(FAULTY_SERVERS, lambda name: FAULTY_SERVERS[name].clauses, 2, first_of=8))
def test_faulty_server_fails_by_its_clause(name: str) -> None:
    faulty = FAULTY_SERVERS[name]
    failed = [result for result in check(faulty, faulty.clauses) if result.outcome is Outcome.FAIL]
    assert {result.failure.clause for result in failed if result.failure} & faulty.clauses, name
    assert all(result.dialogue for result in failed)


@pytest.mark.extended
def test_reversed_blinds_of_two_are_named_by_every_case_that_needs_the_first_button() -> None:
    results = check(FAULTY_SERVERS["blinds-of-two-reversed"], {"holdem-3.5", "holdem-4.14", "holdem-6.5"})
    failures = [result.failure for result in results if result.failure is not None]
    assert len(failures) >= 4
    for failure in failures:
        assert failure.clause == "holdem-6.4"
        assert "who has posted the big blind" in failure.expected
        assert "who has posted the small blind" in failure.actual


@pytest.mark.extended
def test_a_malformed_act_that_folds_is_found_in_its_case_and_in_walks() -> None:
    failed = {result.case: result.failure for result in check(FAULTY_SERVERS["malformed-folds"], {"holdem-4.4"})}
    found = {case: failure and failure.clause for case, failure in failed.items()}
    assert found["holdem/4.4/amounts-that-are-none"] == "holdem-4.4"
    assert found["holdem/4.4/played"] == "holdem-4.4"


@pytest.mark.extended
def test_what_is_wrong_all_the_time_does_not_come_from_a_malformed_act() -> None:
    (result,) = [
        one for one in check(FAULTY_SERVERS["minimum-raise-20"], {"holdem-4.4"}) if one.case.endswith("/played")
    ]
    assert result.outcome is Outcome.PASS


@pytest.mark.extended
def test_a_button_that_is_elsewhere_when_somebody_has_joined_is_blamed_and_not_the_refused_act() -> None:
    results = check(FAULTY_SERVERS["button-stays"], {"holdem-3.5"})
    assert {result.failure.clause for result in results if result.failure} == {"holdem-6.2"}


def test_faulty_servers_cover_known_clauses() -> None:
    assert len(FAULTY_SERVERS) >= 20
    assert {clause for faulty in FAULTY_SERVERS.values() for clause in faulty.clauses} <= {
        clause for case in CASES for clause in case.clauses
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTY_SERVERS)
def test_faulty_server_fails_by_its_clause_in_a_full_run(name: str) -> None:
    results = check(FAULTY_SERVERS[name], seed=2)
    clauses = Counter(result.failure.clause for result in results if result.failure)
    assert clauses.keys() & FAULTY_SERVERS[name].clauses, clauses
