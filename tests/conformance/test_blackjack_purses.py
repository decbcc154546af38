"""First balances of blackjack: the purse of every connection is new, and refusals before the first round are free."""

import asyncio

import pytest

from croupier.conformance.results import Outcome, Result
from croupier.rooms import HOUSE_ROOMS
from tests.conformance.house_fixture import HouseFixture, run_cases
from tests.conformance.mutants.blackjack import state_of
from tests.conformance.mutants.catalogue import mutations
from tests.conformance.mutants.mutant_house import MutantHouse
from tests.conformance.suites import server_cases

ROOM = HOUSE_ROOMS["blackjack"]


def run_case(house: HouseFixture, case: str) -> Result:
    (result,) = asyncio.run(run_cases(house, ROOM, [each for each in server_cases(ROOM) if each.id == case]))
    return result


@pytest.mark.parametrize(
    ("words", "case"),
    [
        ("one purse for all", "blackjack/7.1/a-new-purse"),
        (
            "MOV H (ERR\x00\x00\x01\xf5): 10 coins are taken, before the first round",
            "blackjack/6.1/refusals-cost-nothing",
        ),
    ],
)
def test_a_connection_that_begins_with_other_coins_is_found(words: str, case: str) -> None:
    mutation = next(each for each in mutations("blackjack", "server") if words in each.name)
    result = run_case(MutantHouse(ROOM, mutation, state_of, {}), case)
    assert result.failure is not None, result
    assert result.failure.clause == result.clause
    assert run_case(HouseFixture(ROOM), case).outcome is Outcome.PASS
