"""A series counts its chunks in their order, and ends where the plan says."""

import pytest

from croupier.arena.intervals import sequence_interval, student_interval
from croupier.arena.plan import Plan
from croupier.arena.play import play_chunk
from croupier.arena.series import MIN_CHUNKS, Series
from croupier.arena.tally import Fault, Moments, Tally, merge

PLAN = Plan("kuhn", ("equilibrium", "book:always-bet"), pairs=3000, seed=4, duplicate=True, until_sure=True)
TALLIES = {chunk: play_chunk(PLAN, (0, 1), chunk) for chunk in range(PLAN.chunks)}


def series_of(plan: Plan, tallies: dict[int, Tally]) -> Series:
    series = Series(plan, (0, 1))
    for chunk, tally in tallies.items():
        series.add(chunk, tally)
    return series


def test_the_order_in_which_chunks_arrive_does_not_matter() -> None:
    expected = series_of(PLAN, TALLIES)
    assert series_of(PLAN, dict(reversed([*TALLIES.items()]))).result() == expected.result()
    assert expected.result().status == "decided"


def test_chunks_after_the_stop_do_not_count() -> None:
    series = series_of(PLAN, TALLIES)
    stop = len(series.tallies)
    assert 0 < stop < PLAN.chunks
    assert series.tallies == [TALLIES[chunk] for chunk in range(stop)]
    intervals = [
        sequence_interval(merge([TALLIES[chunk] for chunk in range(count)]).plain, PLAN.alpha, PLAN.t_star)
        for count in range(1, stop + 1)
    ]
    assert [interval.is_decided for interval in intervals] == [False] * (stop - 1) + [True]


def test_chunks_after_a_gap_do_not_count_yet() -> None:
    series = series_of(PLAN, {0: TALLIES[0], 2: TALLIES[2]})
    assert (series.result().hands, series.result().status, 2 in series, 1 in series) == (
        200,
        "interrupted",
        True,
        False,
    )
    series.add(1, TALLIES[1])
    assert series.result().hands == 600


def test_a_forfeit_ends_a_series_and_the_chunks_before_it_count() -> None:
    lost = Tally(0, faults=(Fault(1, 201, "no move"),), forfeit=1)
    result = series_of(PLAN, {0: TALLIES[0], 1: lost, 2: TALLIES[2]}).result()
    assert (result.status, result.hands, result.fault_counts) == ("forfeit", 200, {"a": 0, "b": 1})
    assert result.mean == TALLIES[0].plain.mean


@pytest.mark.parametrize("until_sure", [False, True])
def test_where_a_bot_may_remember_every_chunk_is_one_value(until_sure: bool) -> None:
    plan = Plan("kuhn", ("random", "script:BET,CAL"), pairs=3000, seed=4, until_sure=until_sure)
    tallies = {chunk: play_chunk(plan, (0, 1), chunk) for chunk in range(plan.chunks)}
    series = series_of(plan, tallies)
    means = [tally.plain.mean for tally in series.tallies]
    moments = Moments(len(means), sum(means), sum(mean * mean for mean in means))
    expected = sequence_interval(moments, t_star=10) if until_sure else student_interval(moments)
    assert series.interval() == pytest.approx(expected)
    assert len(means) == (MIN_CHUNKS if until_sure else plan.chunks)
    assert series.result().method.statistic == "chunk"
