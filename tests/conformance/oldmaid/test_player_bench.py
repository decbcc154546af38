"""A failure of a player is blamed on how messages arrive if it fails only by that, and luck is no explanation."""

import asyncio
from collections.abc import Callable
from random import Random

import pytest

from croupier.conformance.channel.delivery import WHOLE, Delivery
from croupier.conformance.diagnosis.cause import ONE_READ_CAUSE
from croupier.conformance.diagnosis.pairs import MAX_EXPERIMENT_SECONDS
from croupier.conformance.oldmaid.case import OldMaidCase
from croupier.conformance.oldmaid.outcomes import Failed
from croupier.conformance.oldmaid.player_bench import PlayerBench
from croupier.conformance.oldmaid.player_context import PlayerContext
from croupier.conformance.suite import Attempt, Config
from croupier.core.errors import FoundKind
from tests.conformance.mutants.simulated_time import run_in_simulated_time

SINGLE_BYTES = Delivery(1)
LATE = Delivery(delay_seconds=0.05)

type Fault = Callable[[PlayerContext], bool]


def confirmed(
    fails: Fault, delivery: Delivery = WHOLE, *, shared: bool = False, cases: int = 1, seconds: float = 0.0
) -> list[Attempt]:
    """What is reported of cases with this delivery, of a player that is silent where `fails` says so.

    A try takes `seconds`.
    """

    async def play(context: PlayerContext) -> None:
        await asyncio.sleep(seconds)
        if fails(context):
            raise Failed("oldmaid-7.9", "nothing", "an offer", kind=FoundKind.SILENCE)

    async def play_shared(context: PlayerContext) -> None:
        await context.share(play, "game")

    case = OldMaidCase[PlayerContext](
        clause="oldmaid-7.9", slug="some", title="", play=play_shared if shared else play, delivery=delivery
    )

    async def run() -> list[Attempt]:
        bench, found = PlayerBench(Config()), []
        for number in range(cases):
            attempt = await bench.attempt(case, number)
            found.append(await bench.confirm(case, attempt, number + 1))
        await bench.close()
        return found

    return run_in_simulated_time(run())


def blamed_clauses(attempts: list[Attempt]) -> set[str]:
    return {attempt.failure.clause for attempt in attempts if attempt.failure is not None}


@pytest.mark.parametrize("delivery", [WHOLE, SINGLE_BYTES, LATE])
@pytest.mark.parametrize("shared", [False, True])
def test_a_fault_that_shows_by_luck_is_not_blamed_on_the_delivery(delivery: Delivery, *, shared: bool) -> None:
    for rate in (0.2, 0.5, 0.8):
        luck = Random(1)
        for _ in range(100):
            attempts = confirmed(lambda _: luck.random() < rate, delivery, shared=shared)  # noqa: B023
            assert blamed_clauses(attempts) <= {"oldmaid-7.9"}


@pytest.mark.parametrize("delivery", [WHOLE, SINGLE_BYTES])
def test_a_player_that_fails_only_by_the_delivery_takes_one_read_for_one_message(delivery: Delivery) -> None:
    """It need not fail each time: how many messages come in one read is luck."""
    for rate in (1.0, 0.8):
        luck = Random(1)
        attempts = confirmed(lambda context: context.delivery == delivery and luck.random() < rate, delivery, cases=8)  # noqa: B023
        assert blamed_clauses(attempts) == {"oldmaid-1.4"}
        assert {attempt.failure.cause for attempt in attempts if attempt.failure is not None} == {ONE_READ_CAUSE}


def test_a_player_that_fails_only_by_late_messages_keeps_its_cause() -> None:
    (attempt,) = confirmed(lambda context: context.delivery == LATE, LATE)
    assert attempt.failure is not None
    assert (attempt.failure.clause, attempt.failure.cause) == ("oldmaid-1.4", None)


def test_a_pair_of_tries_is_enough_once_the_reader_is_known() -> None:
    tries: list[Delivery] = []

    def fails(context: PlayerContext) -> bool:
        tries.append(context.delivery)
        return context.delivery == WHOLE

    confirmed(fails)
    first_count = len(tries)
    confirmed(fails, cases=2)
    assert len(tries) - first_count == first_count + len(["failure", "spaced", "as it was"])


def test_an_experiment_ends_in_time() -> None:
    tries: list[Delivery] = []

    def fails(context: PlayerContext) -> bool:
        tries.append(context.delivery)
        return context.delivery == WHOLE

    assert blamed_clauses(confirmed(fails, seconds=MAX_EXPERIMENT_SECONDS / 10)) == {"oldmaid-7.9"}
    assert len(tries) == 1 + 10


def test_an_experiment_ends_if_the_failure_does_not_come_up_again() -> None:
    tries: list[Delivery] = []

    def fails(context: PlayerContext) -> bool:
        tries.append(context.delivery)
        return len(tries) == 1

    assert blamed_clauses(confirmed(fails)) == {"oldmaid-7.9"}
    assert len(tries) == 1 + 4
