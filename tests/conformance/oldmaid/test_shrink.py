"""Replay and shrinking of failed games."""

import asyncio
from random import Random

import pytest

from croupier.conformance.oldmaid.driven_game import GameAction
from croupier.conformance.oldmaid.table_context import TableContext
from croupier.conformance.oldmaid.table_under_test import TableUnderTest
from croupier.conformance.suite import Config
from croupier.core.referee import HOUSE
from tests.conformance.oldmaid.faulty_tables import FAULTY_TABLES, open_faulty_table
from tests.conformance.oldmaid.test_tables import HONEST
from tests.conformance.oldmaid.test_tables import run as run_table
from tests.sampling import extended


def test_replay_skips_impossible_actions() -> None:
    actions = [
        *20 * [GameAction("draw")],
        GameAction("throw", 1),
        GameAction("out", 0),
        GameAction("say", 2, b"[]\n"),
        GameAction("say", 2, b"[] []"),
    ]
    actions += [
        *40 * [GameAction("draw")],
        GameAction("pick"),
        GameAction("leave", 1),
        GameAction("leave", 1),
        GameAction("throw", 1),
        GameAction("draw"),
    ]

    async def play() -> TableContext:
        async with open_faulty_table(HONEST) as address:
            table = TableUnderTest(address, Config())
            context = TableContext(table, Random(1))
            await (await context.start_game()).replay(actions)
            await context.close()
            return context

    context = asyncio.run(play())
    (driven_game,) = context.games
    assert driven_game.game.drawn_count == 53
    assert driven_game.actions.count(GameAction("leave", 1)) == 1
    assert [str(one.message) for one in context.dialogue if '"message":"oldmaid-8.4' in str(one.message)] != []


@pytest.mark.parametrize("name", extended(["card-twice", "throws-twice"], 2))
@pytest.mark.extended
def test_table_failure_is_shrunk(name: str) -> None:
    faulty = next(faulty for faulty in FAULTY_TABLES if faulty.name == name)
    result = next(result for result in run_table(faulty, faulty.selection, timeout=5.0) if result.failure is not None)
    assert result.failure is not None
    assert result.failure.clause in faulty.clauses
    assert len(result.dialogue) < 120  # of some 250 in a whole game
    assert result.dialogue[-1].data == result.failure.got
    assert result.dialogue[-1].side == HOUSE
