"""Faulty houses that each break one rule are found, each on its own clause."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from croupier.conformance.case_runner import CaseRunner
from croupier.conformance.results import Failure, Result
from croupier.conformance.servers.tcp_house import TcpHouse
from croupier.conformance.suite import Bench
from croupier.core.errors import FoundKind
from croupier.core.room import HouseRoom
from croupier.core.transcript import Transcript, house_settings
from croupier.rooms import HOUSE_ROOMS
from tests.conformance.house_fixture import HouseFixture, new_bench, opened, with_effort
from tests.conformance.suites import server_cases
from tests.rooms.blackjack.test_rogue_houses import ROGUES as BLACKJACK
from tests.rooms.kuhn.test_rogue_houses import ROGUES as KUHN
from tests.rooms.sevenhalf.test_rogue_houses import ROGUES as SEVENHALF
from tests.sampling import extended

ROGUES = [
    *((HOUSE_ROOMS["kuhn"], rogue, dict(rogue.head)) for rogue in KUHN),
    *(
        (HOUSE_ROOMS["sevenhalf"], rogue, {"deck": rogue.game[0], "bet": str(rogue.game[1]), **rogue.head})
        for rogue in SEVENHALF
    ),
    *((HOUSE_ROOMS["blackjack"], rogue, {"deck": rogue.deck, **rogue.head}) for rogue in BLACKJACK),
]
"""Each with its room and the head that it is set by: its own deck, for many know one hand only."""

ONE_FOR_EACH_CLAUSE = [*{rogue.clause: (room, rogue, head) for room, rogue, head in ROGUES}.values()]

MISSED = 0.02
"""The largest share of faulty servers that may be missed."""


def known(room: HouseRoom, head: Mapping[str, str]) -> Any:
    return house_settings(room, Transcript("a rogue", "set", (), head, ()))


def names(failure: Failure, room: HouseRoom, clause: str) -> bool:
    """Whether a failure is on a clause, or is explained by a spelling, or shows a part of the message it requires."""
    if failure.cause is not None and failure.cause.clause == failure.clause:
        return True
    is_cut_off = failure.clause == f"{room.name}-2.1" and failure.kind in {FoundKind.SILENCE, FoundKind.CLOSED}
    return failure.clause == clause or is_cut_off


async def found(
    bench: Bench, room: HouseRoom, clause: str, effort: float, port: int = 0
) -> tuple[Result | None, Counter[str]]:
    """The first result on a clause, and all that was found before it. The cases of the clause run first."""
    before: Counter[str] = Counter()
    await bench.open(("127.0.0.1", port))
    runner = CaseRunner(bench)
    for case in sorted(server_cases(room), key=lambda case: case.clause != clause):
        await runner.run([with_effort(case, effort)])
        result = runner.results[case.id]
        if result.failure is not None:
            if names(result.failure, room, clause):
                return result, before
            before[result.failure.clause] += 1
    return None, before


def tried(room: HouseRoom, rogue: Any, head: Mapping[str, str]) -> tuple[Result | None, Counter[str]]:
    parlour = HouseFixture(room, head, rogue.habit, strict=rogue.strict)
    bench = new_bench(room, parlour, known_options=known(room, head), strict=rogue.strict)
    return asyncio.run(found(bench, room, rogue.clause, 0.05))


def test_there_are_a_hundred_rogues_and_more() -> None:
    assert len(ROGUES) >= 300


@pytest.mark.parametrize(
    ("room", "rogue", "head"),
    extended(ONE_FOR_EACH_CLAUSE, 8),
    ids=[rogue.clause for _, rogue, _ in ONE_FOR_EACH_CLAUSE],
)
def test_a_rogue_of_every_clause_is_found(room: HouseRoom, rogue: Any, head: Mapping[str, str]) -> None:
    result, before = tried(room, rogue, head)
    assert result is not None, before
    assert not result.outcome.is_good


@pytest.mark.parametrize(
    ("room", "rogue", "head"),
    extended(ROGUES[::23], 2),
    ids=[f"{room.name}: {rogue.name}" for room, rogue, _ in ROGUES[::23]],
)
def test_a_rogue_is_found_on_its_own_clause(room: HouseRoom, rogue: Any, head: Mapping[str, str]) -> None:
    result, before = tried(room, rogue, head)
    assert result is not None, before
    assert not result.outcome.is_good
    assert bool(result.dialogue) == bool(rogue.says)


@pytest.mark.slow
def test_nearly_all_rogues_are_found_on_their_own_clauses() -> None:
    missed = []
    for room, rogue, head in ROGUES:
        result, before = tried(room, rogue, head)
        if result is None:
            missed.append((room.name, rogue.name, rogue.clause, dict(before)))
    assert len(missed) <= MISSED * len(ROGUES), missed


@pytest.mark.parametrize(
    ("room", "rogue", "head"),
    extended(ROGUES[5::97], 2),
    ids=[f"{room.name}: {rogue.name}" for room, rogue, _ in ROGUES[5::97]],
)
def test_a_rogue_is_found_over_a_socket(room: HouseRoom, rogue: Any, head: Mapping[str, str]) -> None:
    async def check() -> tuple[Result | None, Counter[str]]:
        async with opened(HouseFixture(room, head, rogue.habit, strict=rogue.strict)) as port:
            bench = new_bench(room, TcpHouse(1.0), known_options=known(room, head), strict=rogue.strict, timeout=1.0)
            try:
                return await found(bench, room, rogue.clause, 0.1, port)
            finally:
                await bench.close()

    result, before = asyncio.run(check())
    assert result is not None, before
