"""A failure of a table is blamed on messages in pieces if it fails only by that, and luck is no explanation."""

import asyncio
from collections.abc import Callable
from random import Random

import pytest

from croupier.conformance.channel.delivery import Delivery
from croupier.conformance.diagnosis.cause import ONE_READ_CAUSE
from croupier.conformance.oldmaid.case import OldMaidCase
from croupier.conformance.oldmaid.outcomes import Failed
from croupier.conformance.oldmaid.table_bench import CONCURRENT_CASES, MAX_GROUPS, TableBench
from croupier.conformance.oldmaid.table_context import TableContext
from croupier.conformance.oldmaid.table_under_test import TableUnderTest
from croupier.conformance.suite import Attempt, Config
from croupier.core.errors import FoundKind
from croupier.rooms.oldmaid.rules import MIN_PLAYERS
from tests.conformance.mutants.simulated_time import run_in_simulated_time

PIECES = Delivery(5)


def confirmed(fails: Callable[[TableContext], bool]) -> Attempt:
    """What is reported of a case in pieces, of a table that is silent where `fails` says so, and at first."""
    tries: list[Delivery] = []

    async def play(context: TableContext) -> None:
        tries.append(context.delivery)
        if len(tries) == 1 or fails(context):
            raise Failed("oldmaid-4.1", "nothing", "a card", kind=FoundKind.SILENCE)

    case = OldMaidCase[TableContext](clause="oldmaid-1.4", slug="some", title="", play=play, delivery=PIECES)

    async def run() -> Attempt:
        bench = TableBench(Config())
        await bench.open(("127.0.0.1", 1))
        return await bench.confirm(case, await bench.attempt(case, 0), 1)

    return run_in_simulated_time(run())


def test_a_fault_that_shows_by_luck_is_not_blamed_on_the_delivery() -> None:
    for rate in (0.2, 0.5, 0.8):
        luck = Random(1)
        for _ in range(100):
            failure = confirmed(lambda _: luck.random() < rate).failure  # noqa: B023
            assert failure is not None
            assert (failure.clause, failure.cause) == ("oldmaid-4.1", None)


@pytest.mark.parametrize("rate", [1.0, 0.8])
def test_a_table_that_fails_only_in_pieces_takes_one_read_for_one_message(rate: float) -> None:
    luck = Random(1)
    failure = confirmed(lambda context: context.delivery == PIECES and luck.random() < rate).failure
    assert failure is not None
    assert (failure.clause, failure.cause) == ("oldmaid-1.4", ONE_READ_CAUSE)


def test_a_fault_that_needs_another_game_at_the_same_time_is_not_blamed_on_the_delivery() -> None:
    """A game in pieces is slow: another one is more likely to begin during it."""
    failure = confirmed(lambda context: context.delivery == PIECES and not context.table.lobby.locked()).failure
    assert failure is not None
    assert (failure.clause, failure.cause) == ("oldmaid-4.1", None)


def test_a_fault_that_does_not_come_up_again_keeps_its_clause() -> None:
    failure = confirmed(lambda _: False).failure
    assert failure is not None
    assert failure.clause == "oldmaid-4.1"


@pytest.mark.parametrize(
    ("answer_seconds", "max_clients", "groups"),
    [(0.5, 1000, MAX_GROUPS), (0.5, 2 * CONCURRENT_CASES * MIN_PLAYERS, 2), (0.5, 1, 1), (0.001, 1000, 1)],
    ids=["slow", "of few clients", "of one client", "fast"],
)
def test_more_cases_run_at_once_at_a_slow_table_of_many_clients(
    monkeypatch: pytest.MonkeyPatch, answer_seconds: float, max_clients: int, groups: int
) -> None:
    async def measure(_: TableUnderTest) -> float:
        return answer_seconds

    async def serves(_: TableUnderTest, clients: int) -> bool:
        return clients <= max_clients

    async def play(_: TableContext) -> None:
        pass

    async def lanes() -> tuple[int, int]:
        bench = TableBench(Config())
        await bench.open(("127.0.0.1", 0))
        before = bench.lanes
        await bench.attempt(OldMaidCase[TableContext](clause="oldmaid-1.1", slug="nothing", title="", play=play), 0)
        return before, bench.lanes

    monkeypatch.setattr(TableUnderTest, "measure", measure)
    monkeypatch.setattr(TableUnderTest, "serves", serves)
    assert asyncio.run(lanes()) == (1, groups * CONCURRENT_CASES)
