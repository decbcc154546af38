"""Leaks in hold'em are what other choices win in the same hands, and only sure ones are listed."""

from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from msgspec.structs import replace

from croupier.arena.baselines.holdem.values import Runouts
from croupier.arena.game import Chunk
from croupier.arena.holdem import HoldemGame
from croupier.arena.holdem_trials import BOARD_LIMITS, COMPARISONS, MIN_PAIRS, MIN_TRIALS, trial_lines
from croupier.arena.leaks import Gain, Trial
from croupier.arena.plan import Plan
from croupier.arena.play import play_chunk
from croupier.arena.tally import Tally, merge
from croupier.core.bots import Bot
from croupier.core.dealer import Luck
from croupier.rooms.holdem.bots import CallerBot
from croupier.rooms.holdem.engine.legal import FOLD, Move
from croupier.rooms.holdem.engine.streets import BOARD_CARDS
from croupier.rooms.holdem.table.views import View

WEAK_CALL = "calls with a weak hand facing a bet on the river"
PLAN = Plan("holdem", ("a", "b"), pairs=60, seed=3, duplicate=True, leaks=True, chunk_pairs=60)


class RiverBettor(CallerBot):
    """Bets the pot on the river, whatever it has."""

    def choose(self, view: View, legal: Sequence[Move], luck: Luck) -> Move:
        return view.pot if len(view.board) == BOARD_CARDS and not view.call else view.call


class RiverFolder(CallerBot):
    """Folds weak hands to a bet on the river."""

    def choose(self, view: View, legal: Sequence[Move], luck: Luck) -> Move:
        if len(view.board) < BOARD_CARDS or not view.call or river_level(view) >= BOARD_LIMITS[0]:
            return view.call
        return FOLD


def river_level(view: View) -> int:
    (one, two), seen = view.hole, {*view.hole, *view.board}
    other, another = [card for card in range(52) if card not in seen][:2]
    return int(Runouts.of(np.array([[one, other, two, another, *view.board]])).levels[3][0][0])


def play(one: Bot[View, Move], other: Bot[View, Move], plan: Plan = PLAN) -> Tally:
    return HoldemGame().play_chunk(Chunk(plan, (0, 1), 0, (lambda: one, lambda: other)))


def test_a_trial_wins_what_a_bot_wins_that_always_chooses_so() -> None:
    caller, folder = play(CallerBot(), RiverBettor()), play(RiverFolder(), RiverBettor())
    trial = caller.trials[0][WEAK_CALL]
    gain = trial.gains["a fold"]
    assert gain.total == pytest.approx(folder.plain.total - caller.plain.total)
    assert gain.total
    assert trial.count == folder.trials[0][WEAK_CALL.replace("calls", "folds")].count > 10
    back = folder.trials[0][WEAK_CALL.replace("calls", "folds")].gains["a call"]
    assert back.total == pytest.approx(-gain.total)
    assert back.squares == pytest.approx(gain.squares)


def test_trials_cover_all_choices_of_both_bots_and_change_no_result() -> None:
    tried = play(CallerBot(), RiverBettor())
    assert replace(tried, trials=({}, {})) == play(CallerBot(), RiverBettor(), replace(PLAN, leaks=False))
    own, others = ({choice.split(" with a ")[0] for choice in trials} for trials in tried.trials)
    assert own == {"calls", "checks"}
    assert others == {"calls", "checks", "bets"}
    # Heads-up, each bot decides once on each of four streets, and the caller also answers each bet on the river.
    counts = [sum(trial.count for trial in trials.values()) for trials in tried.trials]
    assert counts[1] == 4 * 2 * PLAN.pairs
    assert counts[0] == 4 * 2 * PLAN.pairs + PLAN.pairs


def test_trials_are_a_function_of_the_plan_and_merge() -> None:
    plan = replace(PLAN, bots=("random", "caller"), chunk_pairs=5)
    tallies = [play_chunk(plan, (0, 1), number) for number in (0, 1)]
    assert tallies[0] == play_chunk(plan, (0, 1), 0) == Tally.from_json(tallies[0].to_json())
    both = merge(tallies).trials[0]
    assert {*both} == {*tallies[0].trials[0], *tallies[1].trials[0]}
    counts = [sum(trial.count for trial in each.trials[0].values()) for each in tallies]
    assert sum(trial.count for trial in both.values()) == sum(counts)


def test_a_bot_that_has_to_see_a_hand_from_its_beginning_has_no_trials_and_no_faults() -> None:
    class Follower(CallerBot):
        def __init__(self) -> None:
            self.holes: set[object] = set()

        def choose(self, view: View, legal: Sequence[Move], luck: Luck) -> Move:
            if not view.board:
                self.holes.add(view.hole)
            elif view.hole not in self.holes:
                raise ValueError("where does this hand come from?")
            return view.call

    chunk = Chunk(replace(PLAN, chunk_pairs=5), (0, 1), 0, (Follower, CallerBot))
    assert HoldemGame().play_chunk(chunk).trials == ({}, {})
    assert chunk.faults == []


def trial_of(values: Sequence[float], name: str = "a fold") -> Trial:
    gain = Gain(len(values), sum(values), sum(value * value for value in values), max(0.0, -min(values)))
    return Trial(len(values), {name: gain})


def test_only_choices_that_are_worse_for_sure_are_listed_with_the_best_other_one() -> None:
    sure, small = trial_of([3.0, 1.0] * 500), trial_of([1.0, 0.9] * 500, "a raise by the pot")
    trials = {
        "sure": Trial(1000, {**sure.gains, **small.gains}),
        "seldom": trial_of([3.0] * (MIN_TRIALS - 1)),
        "unsure": trial_of([3.0, -2.9] * 500),
        "good": trial_of([-1.0] * 1000),
    }
    (line,) = trial_lines(trials, pairs=2000)
    assert (line.choice, line.better, line.cost, line.frequency) == ("sure", "a fold", 1.0, 0.25)
    assert line.low is not None
    assert line.high is not None
    assert 0 < line.low < line.cost < line.high
    assert line.share is None
    assert not trial_lines({"sure": trial_of([3.0] * (MIN_PAIRS - 1))}, MIN_PAIRS - 1)


def test_losses_that_may_not_have_come_yet_are_assumed() -> None:
    lucky = trial_of([1.0] * MIN_TRIALS)
    assert trial_lines({"bluffs": lucky}, pairs=2000)
    assert not trial_lines({"bluffs": lucky, "others": trial_of([-100.0, 99.0] * 500)}, pairs=2000)


def test_choices_that_cost_nothing_are_not_listed() -> None:
    """Simulated: another choice wins a little in nine of ten trials, and loses as much in the tenth."""
    random = Random(1)
    for _ in range(200):
        values = [-9.0 if random.random() < 0.1 else 1.0 for _ in range(300)]
        assert not trial_lines({"bluffs": trial_of(values)}, pairs=2000)


def test_the_intervals_of_all_comparisons_hold_at_once() -> None:
    # Each of 4 streets and 4 strengths has 6 comparisons without a bet, and 9 facing a bet, a raise and an overbet.
    assert COMPARISONS == 4 * 4 * (6 + 3 * 9)
