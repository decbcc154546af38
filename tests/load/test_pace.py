"""The open loop does not wait for the server; the closed loop does."""

from itertools import pairwise
from random import Random
from statistics import fmean

from croupier.load.pace import ClosedLoop, OpenLoop


def test_an_act_of_the_closed_loop_is_due_at_once() -> None:
    pace = ClosedLoop()
    assert [pace.take(now) for now in (1.0, 5.0)] == [1.0, 5.0]
    assert pace.behind(100.0) == 0


def test_due_times_do_not_depend_on_when_acts_are_taken() -> None:
    eager, late = OpenLoop(10.0, 5.0, Random(1)), OpenLoop(10.0, 5.0, Random(1))
    assert [eager.take(5.0) for _ in range(100)] == [late.take(1000.0) for _ in range(100)]


def test_gaps_are_exponential_with_the_mean_of_the_rate() -> None:
    pace = OpenLoop(10.0, 5.0, Random(1))
    dues = [5.0, *(pace.take(0.0) for _ in range(20_000))]
    gaps = [later - earlier for earlier, later in pairwise(dues)]
    assert abs(fmean(gaps) - 0.1) < 0.003
    assert abs(sum(gap > 0.1 for gap in gaps) / len(gaps) - 0.3679) < 0.01


def test_acts_that_were_not_taken_are_behind() -> None:
    pace, dues = OpenLoop(10.0, 0.0, Random(1)), OpenLoop(10.0, 0.0, Random(1))
    times = [dues.take(0.0) for _ in range(3)]
    assert pace.behind(times[0] - 0.001) == 0
    assert pace.behind(times[1]) == 2
    assert pace.oldest_due == times[0]
    assert pace.take(times[1]) == times[0]
    assert pace.behind(times[1]) == 1
    assert pace.oldest_due == times[1]
    assert [pace.take(times[1]) for _ in range(2)] == times[1:]
