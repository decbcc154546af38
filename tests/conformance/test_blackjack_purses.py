"""Balances of blackjack: the purse of every connection is new, and what is refused or discarded is free."""

import asyncio

import pytest

from croupier.conformance.results import Outcome, Result
from croupier.rooms import HOUSE_ROOMS
from tests.conformance.house_fixture import HouseFixture, run_cases
from tests.conformance.mutants.blackjack import state_of
from tests.conformance.mutants.catalogue import mutations
from tests.conformance.mutants.mutant_house import MutantHouse
from tests.conformance.mutants.purses import moving
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
    assert "as at the start of the connection before this one" in result.failure.expected
    assert run_case(HouseFixture(ROOM), case).outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("sent", "state", "coins", "case", "clause"),
    [
        ("TRN", "after TRN", -10, "6.4/trn-from-the-client-at-turn", "blackjack-6.1"),
        ("RES", "after TRN", 10, "6.4/res-from-the-client-at-hit", "blackjack-6.1"),
        ("ERR", "after TRN", -1, "6.8/err-500-from-the-client-at-turn", "blackjack-6.8"),
        ("SRD", "after MON", 1, "6.3/surrender-at-bet", "blackjack-6.1"),
        ("CRD", "between rounds", -1, "6.4/crd-from-the-client-at-between", "blackjack-6.1"),
    ],
)
def test_coins_that_a_refused_message_moves_are_found(
    sent: str, state: str, coins: int, case: str, clause: str
) -> None:
    mutation = moving("blackjack", sent, state, coins, clause)
    result = run_case(MutantHouse(ROOM, mutation, state_of, {}), f"blackjack/{case}")
    assert result.failure is not None, result
    assert result.failure.clause == clause
