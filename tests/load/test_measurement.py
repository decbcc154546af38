"""Measured acts: their histograms, errors and backlog, and the figures of several processes together."""

import pickle
from random import Random

import pytest

from croupier.load.measurement import MAX_KINDS, OTHER_KIND, Figures, Measurement, decode, merge
from croupier.load.pace import OpenLoop

NO_LAG = (0,) * 19


def figures_of(measurement: Measurement, now: float = 10.0, busy: float = 0.5) -> Figures:
    return measurement.figures(0.0, now, busy, NO_LAG)


def test_response_counts_from_when_an_act_was_due_and_service_from_when_it_was_sent() -> None:
    measurement = Measurement()
    measurement.send(3, due=1.0, now=1.5)
    measurement.answer(3, now=1.75)
    figures = figures_of(measurement)
    assert decode(figures.response).get_value_at_percentile(50) == pytest.approx(750_000, rel=0.001)
    assert decode(figures.service).get_value_at_percentile(50) == pytest.approx(250_000, rel=0.001)
    assert (figures.offered, figures.achieved, figures.backlog) == (1, 1, 0)


def test_an_abandoned_act_is_in_no_histogram() -> None:
    measurement = Measurement()
    measurement.send(1, due=1.0, now=1.0)
    measurement.abandon(1)
    measurement.fail("the server closed the connection")
    figures = figures_of(measurement)
    assert decode(figures.response).get_total_count() == 0
    assert (figures.offered, figures.answered, figures.errors.total()) == (1, 0, 1)


def test_the_backlog_has_acts_in_flight_and_acts_that_were_not_taken() -> None:
    measurement, pace = Measurement(), OpenLoop(1.0, 0.0, Random(1))
    measurement.watch(pace)
    due = pace.take(10.0)
    measurement.send(1, due, now=10.0)
    waiting = pace.behind(10.0)
    figures = figures_of(measurement)
    assert waiting > 2
    assert (figures.offered, figures.backlog) == (waiting + 1, waiting + 1)
    assert figures.oldest_seconds == 10.0 - due


def test_a_warm_up_is_forgotten_but_not_the_acts_that_have_no_answer_yet() -> None:
    measurement = Measurement()
    for player in (1, 2):
        measurement.send(player, due=0.0, now=0.0)
    measurement.answer(1, now=5.0)
    measurement.fail("refused")
    measurement.reset()
    measurement.answer(2, now=1.0)
    figures = figures_of(measurement)
    assert (figures.offered, figures.answered, figures.errors.total()) == (1, 1, 0)
    assert decode(figures.response).get_max_value() == pytest.approx(1_000_000, rel=0.001)


def test_durations_outside_the_histogram_count_as_its_limits() -> None:
    measurement = Measurement()
    for player, now in ((1, 0.0), (2, 1000.0)):
        measurement.send(player, due=0.0, now=0.0)
        measurement.answer(player, now)
    found = decode(figures_of(measurement).response)
    assert found.get_min_value() == 1
    assert found.get_max_value() == pytest.approx(60_000_000, rel=0.001)


def test_kinds_of_errors_are_limited() -> None:
    measurement = Measurement()
    for number in range(10 * MAX_KINDS):
        measurement.fail(f"error {number}")
    assert len(measurement.errors) == MAX_KINDS + 1
    assert measurement.errors[OTHER_KIND] == 9 * MAX_KINDS


def test_figures_of_processes_are_merged() -> None:
    both, apart = Measurement(), (Measurement(), Measurement())
    for number in range(100):
        for measurement in (both, apart[number % 2]):
            measurement.send(number, due=0.0, now=0.0)
            measurement.answer(number, now=number / 1000)
            measurement.fail("refused")
    merged = merge(
        [pickle.loads(pickle.dumps(figures_of(each, busy=busy))) for each, busy in zip(apart, (0.2, 0.9), strict=True)]
    )
    whole = figures_of(both, busy=0.9)
    assert decode(merged.response).get_percentile_to_value_dict([50, 99]) == decode(
        whole.response
    ).get_percentile_to_value_dict([50, 99])
    assert (merged.answered, merged.errors, merged.busy_share) == (100, {"refused": 100}, 0.9)


def test_lag_is_bounded_by_the_bucket_of_its_99th_percentile() -> None:
    counts = [990, *[0] * 9, 10, *[0] * 8]
    assert Measurement().figures(0.0, 1.0, 0.0, counts).lag_p99 == 1e-05
    counts = [980, *[0] * 9, 20, *[0] * 8]
    assert Measurement().figures(0.0, 1.0, 0.0, counts).lag_p99 == pytest.approx(0.02)
