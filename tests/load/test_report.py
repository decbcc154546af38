"""What is shown of a load: text, JSON, and a log for the tools of HdrHistogram."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

from croupier.load.measurement import Figures, Measurement
from croupier.load.report import headline, is_too_busy, summary, to_json, write_log
from tests.load.plans import make_plan

OPEN = make_plan("kuhn", players=2, rate=5.0)
CLOSED = make_plan("kuhn", players=2)


def make_figures(**changes: Any) -> Figures:
    """Figures of 100 acts in 10 seconds, that were answered after 1 to 100 ms, each a millisecond after it was due."""
    measurement = Measurement()
    for number in range(1, 101):
        measurement.send(1, due=0.0, now=0.001)
        measurement.answer(1, now=(number + 1) / 1000)
    figures = measurement.figures(0.0, 10.0, 0.5, (100, *[0] * 18))
    return replace(figures, **changes)


def test_the_open_loop_shows_response_and_service_time() -> None:
    lines = [*summary(OPEN, make_figures(backlog=2, oldest_seconds=1.5, errors=Counter({"refused": 3})))]
    assert lines == [
        "kuhn at 127.0.0.1:1: 2 players, open loop, 5 acts/s a player, 10.0 s",
        "acts        100 offered, 10.0/s; 100 achieved, 10.0/s",
        "response    p50 51.0 ms, p90 91.0 ms, p99 100 ms, p99.9 101 ms, max 101 ms",
        "service     p50 50.0 ms, p90 90.0 ms, p99 99.0 ms, p99.9 100 ms, max 100 ms",
        "connecting  nothing was measured, 0 connections",
        "games       0 finished, counted for each player",
        "backlog     2 acts without an answer at the end, the oldest due for 1.5 s",
        "errors      3",
        "  3 × refused",
        "generator   50% busy, 99 % of its timers at most 0.01 ms late",
    ]


def test_the_closed_loop_says_that_its_percentiles_omit_waiting() -> None:
    text = "\n".join(summary(CLOSED, make_figures()))
    assert "the percentiles omit the acts that a slow server has delayed" in text
    assert "response" not in text
    assert to_json(CLOSED, make_figures())["percentiles_omit_waiting"] is True


@pytest.mark.parametrize(("busy_share", "is_busy"), [(0.9, False), (0.91, True)])
def test_a_busy_generator_is_reported(busy_share: float, is_busy: bool) -> None:
    figures = make_figures(busy_share=busy_share)
    assert is_too_busy(figures) is is_busy
    assert ("figures of the generator" in "\n".join(summary(OPEN, figures))) is is_busy


def test_late_timers_of_the_generator_are_reported() -> None:
    late = make_figures(lag_counts=(*[0] * 15, 100, *[0] * 3))
    assert late.lag_p99 > 0.1
    assert "The timers of the generator were late" in "\n".join(summary(OPEN, late))
    assert "The timers of the generator were late" not in "\n".join(summary(OPEN, make_figures()))


def test_timers_that_are_later_than_the_last_bucket_have_no_bound() -> None:
    late = make_figures(lag_counts=(*[0] * 18, 100))
    assert "more than 1 % of its timers over 5 s late" in "\n".join(summary(OPEN, late))
    assert to_json(OPEN, late)["lag_p99"] is None


def test_the_headline_has_the_figures_so_far() -> None:
    assert headline(make_figures(connected=2)) == (
        "10 s: 2 connected, 10.0 acts/s, p50 51.0 ms, p99 100 ms, backlog 0, errors 0"
    )


def test_json_has_seconds_and_rates() -> None:
    found = to_json(OPEN, make_figures())
    assert (found["offered_rate"], found["achieved_rate"], found["backlog"]) == (10.0, 10.0, 0)
    assert found["response"]["p50"] == pytest.approx(0.051, rel=0.001)
    assert found["service"]["max"] == pytest.approx(0.1, rel=0.001)
    assert found["connecting"] is None


def test_the_log_is_read_by_the_tools_of_hdrhistogram(tmp_path: Path) -> None:
    path = tmp_path / "load.hlog"
    with path.open("w") as file:
        write_log(file, OPEN, make_figures(), 1_700_000_000.123456)
    reader = HistogramLogReader(str(path), HdrHistogram(1, 60_000_000, 3))
    found = [reader.get_next_interval_histogram() for _ in range(3)]
    reader.close()
    assert [(each.get_tag(), each.get_total_count()) for each in found] == [
        ("response", 100),
        ("service", 100),
        ("connecting", 0),
    ]
    assert found[0].get_value_at_percentile(50) == pytest.approx(51_000, rel=0.001)
    assert found[0].get_start_time_stamp() == pytest.approx(1_700_000_000_123.456)
