"""Experiments with bots that fail where responses have another form."""

import asyncio

import pytest

from croupier.conformance.case import select
from croupier.conformance.holdem.bot_experiments import explain_variation
from croupier.conformance.holdem.delivery import DEFAULT_DELIVERY
from croupier.conformance.holdem.setups import HoldemClientCase
from croupier.conformance.results import Failure, Outcome
from croupier.conformance.suite import Attempt
from croupier.rooms.holdem import ROOM
from tests.conformance.suites import client_cases

TIMED_OUT = Attempt(Outcome.FAIL, failure=Failure("holdem-4.15", "an act within its turn", "none"))
CLOSING, PLAIN = "holdem/1.1/closing", "holdem/4.1/against-one-who-calls"


@pytest.mark.parametrize(
    ("case_id", "without", "clause"),
    [
        (CLOSING, Attempt(Outcome.PASS), "holdem-1.1"),
        (CLOSING, Attempt(Outcome.SKIP), "holdem-4.15"),
        (CLOSING, TIMED_OUT, "holdem-4.15"),
        (PLAIN, Attempt(Outcome.PASS), "holdem-4.15"),
    ],
    ids=["passes without it", "unknown without it", "fails without it", "no variation"],
)
def test_a_failure_that_only_another_form_of_responses_causes_is_that_of_the_case(
    case_id: str, without: Attempt, clause: str
) -> None:
    (case,) = select(client_cases(ROOM), case_id)

    async def run(trial: HoldemClientCase) -> Attempt:
        assert trial.setup.delivery == DEFAULT_DELIVERY
        return without

    explained = asyncio.run(explain_variation(case, TIMED_OUT, run))
    assert explained.failure is not None
    assert explained.failure.clause == clause
