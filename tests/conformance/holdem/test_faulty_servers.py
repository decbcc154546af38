"""Servers that each break one rule, the way students do, and the clause by which each is found out."""

import asyncio
from collections import Counter

import pytest

from croupier.conformance.holdem import check_server, server_cases
from croupier.conformance.results import Outcome, Result
from tests.conformance.holdem.faulty_programs import ROGUES, Rogue, opened
from tests.sampling import sampled

CASES = [case for case in server_cases() if not case.wait_seconds and case.dialect != "hspe-go"]


def check(rogue: Rogue, *, whole: bool, seed: int = 1) -> tuple[Result, ...]:
    """What comes of a rogue: in the cases about its clauses, or in all of them."""
    cases = CASES if whole else [case for case in CASES if case.clause in rogue.clauses]

    async def main() -> tuple[Result, ...]:
        async with opened(rogue, seed) as found:
            return await check_server(None, *found.address, cases=cases, seed=seed)

    return asyncio.run(main())


@pytest.mark.parametrize("name", sampled(ROGUES, 2))
def test_a_server_that_breaks_a_rule_is_found_by_its_clause(name: str) -> None:
    rogue = ROGUES[name]
    failed = [result for result in check(rogue, whole=False) if result.outcome is Outcome.FAIL]
    assert {result.failure.clause for result in failed if result.failure} & rogue.clauses, name
    assert all(0 < len(result.dialogue) <= 6 for result in failed)


def test_there_are_rogues_enough() -> None:
    assert len(ROGUES) >= 20
    assert {clause for rogue in ROGUES.values() for clause in rogue.clauses} <= {
        clause for case in CASES for clause in case.clauses
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", ROGUES)
def test_among_all_cases_a_rogue_is_found_by_its_clause(name: str) -> None:
    results = check(ROGUES[name], whole=True, seed=2)
    clauses = Counter(result.failure.clause for result in results if result.failure)
    assert clauses.keys() & ROGUES[name].clauses, clauses
