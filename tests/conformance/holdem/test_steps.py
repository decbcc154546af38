"""The steps of walks: every bet that is sent has one right outcome."""

from random import Random

import pytest

from croupier.conformance.holdem.steps import StepChoice, random_step, resolve_amount, showdown_step
from croupier.rooms.holdem.engine.hand import Hand

STEPS = 2000
"""An act with a probability of one percent is among 2,000 steps, but for one run in 10^8."""


@pytest.mark.parametrize("choose", [random_step, showdown_step])
def test_a_player_who_faces_a_short_all_in_of_the_last_opponent_never_bets_more_than_the_call(
    choose: StepChoice,
) -> None:
    hand = Hand([1000, 550], button=0)
    hand.deal([0, 1, 2, 3])
    hand.bet(390)
    hand.bet(530)  # all-in: it raises 400 to 550, and does not reopen the betting
    rng, stack = Random(1), hand.stacks[0]
    steps = [choose(rng, hand.legal, stack, 2) for _ in range(STEPS)]
    bets = {
        resolve_amount(step.chips, hand.legal, stack) for step in steps if step.kind == "act" and not step.seat_offset
    }
    assert {chips for chips in bets if chips in hand.legal} == {150}
