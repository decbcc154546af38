"""Bots that each break one rule, the way students do, and the clause by which each is found out."""

import asyncio
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from croupier.conformance.case import select
from croupier.conformance.holdem import check_client, client_cases
from croupier.conformance.results import Outcome, Result
from croupier.rooms.holdem.settings import Settings
from tests.sampling import sampled

BOT = Path(__file__).parent / "programs" / "bot.py"
COMMAND = (
    f"{sys.executable} -S {BOT} --host {{host}} --port {{port}} --user {{user}} --password {{password}} --game {{game}}"
)


def check(
    habit: str, *selections: str, settings: Settings | None = None, strict: bool = False, timeout: float = 20.0
) -> tuple[Result, ...]:
    cases = [case for selection in selections for case in select(client_cases(), selection)]
    return asyncio.run(
        check_client(None, f"{COMMAND} --habit {habit}", cases=cases, settings=settings, strict=strict, timeout=timeout)
    )


class Found(NamedTuple):
    """What comes of a rogue: in which case, and by which clause."""

    case: str
    clause: str
    outcome: Outcome = Outcome.FAIL
    settings: Settings | None = None


CALLS = "holdem/4.1/against-one-who-calls"
RAISES = "holdem/4.11/against-small-raises"
HASTY = Settings(turn_seconds=1.0)

ROGUES = {
    "text-amount": Found(CALLS, "holdem-4.4"),
    "float-amount": Found(CALLS, "holdem-4.4"),
    "no-json": Found(CALLS, "holdem-4.4"),
    "no-password": Found(CALLS, "holdem-2.7"),
    "no-user": Found(CALLS, "holdem-2.7"),
    "out-of-turn": Found("holdem/4.15/a-slow-opponent", "holdem-4.13"),
    "acts-twice": Found("holdem/4.15/a-slow-opponent", "holdem-4.14"),
    "raises-too-little": Found(RAISES, "holdem-4.11"),
    "calls-too-little": Found(RAISES, "holdem-4.10"),
    "bets-too-much": Found(CALLS, "holdem-4.9"),
    "bets-below-nothing": Found(CALLS, "holdem-4.8"),
    "never-acts": Found(CALLS, "holdem-4.15", settings=HASTY),
    "never-joins": Found(CALLS, "holdem-3.5"),
    "another-path": Found(CALLS, "holdem-8.3"),
    "somebody-else": Found(CALLS, "holdem-8.8"),
    "puts": Found(CALLS, "holdem-8.6", settings=HASTY),
    "no-http": Found(CALLS, "holdem-1.1"),
    "crashes": Found(CALLS, "holdem-4.1"),
    "one-recv": Found("holdem/1.8/byte-by-byte", "holdem-1.8"),
    "other-keys": Found(CALLS, "holdem-4.2", Outcome.NON_STRICT),
    "looks-too-often": Found("holdem/4.15/a-slow-opponent", "holdem-9.10", Outcome.CHOICE),
    "joins-twice": Found(CALLS, "holdem-3.7", Outcome.CHOICE),
    "gives-up-when-busy": Found("holdem/3.15/busy-when-looking", "holdem-3.15", Outcome.CHOICE),
}


@pytest.mark.parametrize("habit", sampled(ROGUES, 3))
def test_a_bot_that_breaks_a_rule_is_found_by_its_clause(habit: str) -> None:
    found = ROGUES[habit]
    (result,) = check(habit, found.case, settings=found.settings, timeout=4.0)
    assert result.outcome is found.outcome, result
    if result.failure is not None:
        assert result.failure.clause == found.clause
        assert result.dialogue or found.clause == "holdem-1.1"
        assert len(result.dialogue) <= 6


def test_a_departure_that_is_tolerated_fails_when_the_run_is_strict() -> None:
    (result,) = check("other-keys", CALLS, strict=True)
    assert result.failure is not None
    assert result.failure.clause == "holdem-4.2"


HONEST = (
    CALLS, RAISES, "holdem/4.5/against-three-who-gamble", "holdem/4.13/alone-at-first", "holdem/1.8/byte-by-byte",
    "holdem/3.14/broke", "holdem/3.16/cut-off-when-acting", "holdem/6.9/short-all-ins",
)  # fmt: skip


def test_an_honest_bot_passes() -> None:
    results = check("honest", *HONEST)
    assert [result for result in results if result.outcome is not Outcome.PASS] == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_an_honest_bot_passes_every_case(seed: int) -> None:
    results = asyncio.run(
        check_client(None, f"{COMMAND} --habit honest", cases=client_cases(), seed=seed, timeout=60.0)
    )
    assert {result.case for result in results if result.outcome is Outcome.SKIP} <= {"holdem/3.6/in-the-queue"}
    assert [result for result in results if result.outcome not in {Outcome.PASS, Outcome.SKIP}] == []
    assert len(results) >= 50
