"""Walks on our server: the referee follows every hand, even one that ends unseen."""

import asyncio
from random import Random

from croupier.conformance.holdem.context import HoldemContext
from croupier.conformance.holdem.endpoint import ServerUnderTest
from croupier.conformance.holdem.steps import WalkStep
from croupier.conformance.holdem.walks import Walk
from croupier.conformance.suite import Config
from croupier.core.http_transcript import NOBODY
from croupier.rooms.holdem.wire import ACTION_FOLD, Game
from tests.conformance.holdem.faulty_programs import FaultyServer, open_faulty_server

FOLD_STEP = WalkStep("act", action=ACTION_FOLD)
SHORT_STACK_SCRIPT = (
    FOLD_STEP,
    WalkStep("act", chips="call"),
    WalkStep("act", chips=9960),
    WalkStep("act", chips="everything"),
    FOLD_STEP,
)
SEED = 3
"""With this seed ann, left with 10 chips, is all-in by her small blind, which bob has matched."""


def run_walk(script: tuple[WalkStep, ...], seed: int) -> tuple[Walk, Game]:
    async def main() -> tuple[Walk, Game]:
        async with open_faulty_server(FaultyServer(frozenset()), seed) as found:
            walk = Walk(HoldemContext(ServerUnderTest(found.address, Config())), Random(1), 2, script)
            await walk.play()
            shown = await walk.context.get_game(NOBODY, walk.context.joined_seats[0].game)
            await walk.context.close()
            return walk, shown

    return asyncio.run(main())


def test_a_hand_that_is_over_before_it_is_seen_moves_the_button_all_the_same() -> None:
    walk, shown = run_walk(SHORT_STACK_SCRIPT, SEED)
    assert [one.wealth + one.bet_so_far for one in shown.table] == [20, 19_980], "ann has won the hand that nobody saw"
    assert walk.context.deviations == []


def test_a_script_is_taken_step_by_step() -> None:
    walk, _ = run_walk(SHORT_STACK_SCRIPT, SEED)
    assert walk.steps == [*SHORT_STACK_SCRIPT]
    assert walk.step_starts == sorted(walk.step_starts)
