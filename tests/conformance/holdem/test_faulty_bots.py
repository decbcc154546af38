"""Bots that each break one rule, as students' bots do, and the clause that finds each."""

import asyncio
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from croupier.conformance.case import select
from croupier.conformance.results import Outcome, Result
from croupier.rooms.holdem import ROOM
from croupier.rooms.holdem.settings import Settings
from tests.conformance.suites import check_client, client_cases
from tests.sampling import one_for_each

BOT = Path(__file__).parent / "programs" / "bot.py"
COMMAND = (
    f"{sys.executable} -S {BOT} --host {{host}} --port {{port}} --user {{user}} --password {{password}} --game {{game}}"
)


def check(
    habit: str, *selections: str, settings: Settings | None = None, strict: bool = False, timeout: float = 20.0
) -> tuple[Result, ...]:
    cases = [case for selection in selections for case in select(client_cases(ROOM), selection)]
    return asyncio.run(
        check_client(ROOM, f"{COMMAND} --habit {habit}", cases=cases, options=settings, strict=strict, timeout=timeout)
    )


class ExpectedResult(NamedTuple):
    """The expected result of a faulty bot: the case, clause and outcome, after at most `seconds`."""

    case: str
    clause: str
    outcome: Outcome = Outcome.FAIL
    settings: Settings | None = None
    seconds: float = 10.0


CALLS = "holdem/4.1/against-one-who-calls"
RAISES = "holdem/4.11/against-small-raises"
SHORT_TURNS = Settings(turn_seconds=1.0)

FAULTY_BOTS = {
    "text-amount": ExpectedResult(CALLS, "holdem-4.4"),
    "float-amount": ExpectedResult(CALLS, "holdem-4.4"),
    "no-json": ExpectedResult(CALLS, "holdem-4.4"),
    "no-password": ExpectedResult(CALLS, "holdem-2.7"),
    "no-user": ExpectedResult(CALLS, "holdem-2.7"),
    "out-of-turn": ExpectedResult("holdem/4.15/a-slow-opponent", "holdem-4.13"),
    "acts-twice": ExpectedResult("holdem/4.15/a-slow-opponent", "holdem-4.14"),
    "raises-too-little": ExpectedResult(RAISES, "holdem-4.11"),
    "calls-too-little": ExpectedResult(RAISES, "holdem-4.10"),
    "bets-too-much": ExpectedResult(CALLS, "holdem-4.9"),
    "bets-totals": ExpectedResult(CALLS, "holdem-4.11"),
    "bets-below-nothing": ExpectedResult(CALLS, "holdem-4.8"),
    "never-acts": ExpectedResult(CALLS, "holdem-4.15", settings=SHORT_TURNS),
    "never-joins": ExpectedResult(CALLS, "holdem-3.5", seconds=3.0),
    "another-path": ExpectedResult(CALLS, "holdem-8.3"),
    "somebody-else": ExpectedResult(CALLS, "holdem-8.8"),
    "puts": ExpectedResult(CALLS, "holdem-8.6", settings=SHORT_TURNS),
    "no-http": ExpectedResult(CALLS, "holdem-1.1"),
    "crashes": ExpectedResult(CALLS, "holdem-5.5"),
    "one-recv": ExpectedResult("holdem/1.8/byte-by-byte", "holdem-1.8"),
    "other-keys": ExpectedResult(CALLS, "holdem-4.2", Outcome.NON_STRICT),
    "looks-too-often": ExpectedResult("holdem/4.15/a-slow-opponent", "holdem-9.10", Outcome.CHOICE),
    "joins-twice": ExpectedResult(CALLS, "holdem-3.7", Outcome.CHOICE),
    "reads-an-array": ExpectedResult(CALLS, "holdem-5.2"),
    "keeps-quotes": ExpectedResult(CALLS, "holdem-3.5"),
    "shows-its-cards": ExpectedResult("holdem/4.13/alone-at-first", "holdem-5.6"),
    "takes-the-first-game": ExpectedResult("holdem/5.1/no-game-at-first", "holdem-5.1", Outcome.CHOICE),
    "gives-up-when-busy": ExpectedResult("holdem/3.15/busy-when-looking", "holdem-3.15", Outcome.CHOICE),
}


@pytest.mark.parametrize("habit", one_for_each(FAULTY_BOTS, lambda habit: [FAULTY_BOTS[habit].clause], 3, first_of=3))
def test_faulty_bot_fails_by_its_clause(habit: str) -> None:
    expected = FAULTY_BOTS[habit]
    (result,) = check(habit, expected.case, settings=expected.settings, timeout=expected.seconds)
    assert result.outcome is expected.outcome, result
    if result.failure is not None:
        assert result.failure.clause == expected.clause
        assert result.dialogue or expected.clause == "holdem-1.1"


def test_a_bot_that_bets_totals_is_told_so() -> None:
    (result,) = check("bets-totals", CALLS)
    assert result.failure is not None
    assert str(result.failure.cause) == "it seems to bet the total of the round: betAmount is what it adds"


def test_a_bot_that_raises_too_little_is_not_told_that_it_bets_totals() -> None:
    (result,) = check("raises-too-little", RAISES)
    assert result.failure is not None
    assert result.failure.cause is None


def test_tolerated_deviation_fails_when_strict() -> None:
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


def test_a_bot_may_wait_for_a_seat_in_a_full_game() -> None:
    (result,) = check("queues", "holdem/5.1/more-than-one-game")
    assert result.outcome is Outcome.PASS


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_an_honest_bot_passes_every_case(seed: int) -> None:
    results = asyncio.run(
        check_client(ROOM, f"{COMMAND} --habit honest", cases=client_cases(ROOM), seed=seed, timeout=60.0)
    )
    assert {result.case for result in results if result.outcome is Outcome.SKIP} <= {"holdem/3.6/in-the-queue"}
    assert [result for result in results if result.outcome not in {Outcome.PASS, Outcome.SKIP}] == []
    assert len(results) >= 50
