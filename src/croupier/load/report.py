"""Shows the figures of a load generator: text, JSON, and a log for the tools of HdrHistogram."""

from collections.abc import Iterator, Mapping
from math import isinf
from typing import Any, Final, TextIO

from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogWriter

from croupier.core.plural import format_count
from croupier.load.measurement import MICROSECONDS, Figures, decode
from croupier.load.plan import Plan

PERCENTILES: Final = (50.0, 90.0, 99.0, 99.9)

MAX_BUSY_SHARE: Final = 0.9
"""A generator that was busier has measured itself, not the server."""

CLOSED_LOOP_NOTE: Final = (
    "In the closed loop a player waits for its answer before the next act: the percentiles omit the acts that a slow "
    "server has delayed. --rate measures them."
)
MAX_LAG_SECONDS: Final = 0.01
"""A generator whose timers are later than this shares its processor with other programs, or has too much to do."""

LAG_NOTE: Final = (
    "The timers of the generator were late, so latencies of that size need not be the server's; use a processor that "
    "no other program needs, or --processes."
)
BUSY_NOTE: Final = (
    "The generator was {:.0%} busy, so these are figures of the generator and not of the server; use --processes, "
    "fewer --players or a lower --rate."
)


def is_too_busy(figures: Figures) -> bool:
    """Whether the generator has measured itself."""
    return figures.busy_share > MAX_BUSY_SHARE


def headline(figures: Figures) -> str:
    """The figures so far, in one line."""
    response = decode(figures.response)
    phase = "warm-up, " if figures.is_warmup else ""
    return (
        f"{phase}{figures.seconds:.0f} s: {figures.connected:,} connected, {_rate(figures.achieved, figures)} acts/s, "
        f"p50 {_milliseconds(response, 50)}, p99 {_milliseconds(response, 99)}, backlog {figures.backlog:,}, "
        f"errors {figures.error_count:,}"
    )


def summary(plan: Plan, figures: Figures) -> Iterator[str]:
    """Yield the lines of the result."""
    loop = "closed loop" if plan.rate is None else f"open loop, {plan.rate:g} acts/s a player"
    yield f"{plan.room_name} at {plan.server}: {format_count(plan.players, 'player')}, {loop}, {figures.seconds:.1f} s"
    unanswerable = f" ({figures.unanswerable:,} of them have no answer)" if figures.unanswerable else ""
    yield (
        f"acts        {figures.offered:,} offered, {_rate(figures.offered, figures)}/s; "
        f"{figures.achieved:,} achieved, {_rate(figures.achieved, figures)}/s{unanswerable}"
    )
    if plan.rate is not None:
        yield f"response    {_percentiles(figures.response)}"
    yield f"service     {_percentiles(figures.service)}"
    yield f"connecting  {_percentiles(figures.connect)}, {format_count(figures.connections, 'connection')}"
    yield f"games       {figures.games:,} finished, counted for each player"
    oldest = f", the oldest due for {figures.oldest_seconds:.1f} s" if figures.backlog else ""
    yield f"backlog     {format_count(figures.backlog, 'act')} without an answer at the end{oldest}"
    yield f"errors      {figures.error_count:,}"
    for kind, count in figures.errors.most_common():
        yield f"  {count:,} × {kind}"
    lag = "more than 1 % of its timers over 5 s late"
    if not isinf(figures.lag_p99):
        lag = f"99 % of its timers at most {figures.lag_p99 * 1000:g} ms late"
    yield f"generator   {figures.busy_share:.0%} busy, {lag}"
    if plan.rate is None:
        yield CLOSED_LOOP_NOTE
    if figures.lag_p99 > MAX_LAG_SECONDS:
        yield LAG_NOTE
    if is_too_busy(figures):
        yield BUSY_NOTE.format(figures.busy_share)


def to_json(plan: Plan, figures: Figures) -> Mapping[str, Any]:
    """The result for programs; times are in seconds, rates per second."""
    return {
        "room": plan.room_name,
        "server": plan.server,
        "bot": plan.bot.text,
        "players": plan.players,
        "processes": plan.processes,
        "loop": "closed" if plan.rate is None else "open",
        "seconds": figures.seconds,
        "offered": figures.offered,
        "offered_rate": figures.offered / figures.seconds,
        "achieved": figures.achieved,
        "achieved_rate": figures.achieved / figures.seconds,
        "answered": figures.answered,
        "response": None if plan.rate is None else _percentile_values(figures.response),
        "service": _percentile_values(figures.service),
        "connecting": _percentile_values(figures.connect),
        "connections": figures.connections,
        "connected": figures.connected,
        "games": figures.games,
        "backlog": figures.backlog,
        "oldest_seconds": figures.oldest_seconds,
        "unanswerable": figures.unanswerable,
        "errors": dict(figures.errors.most_common()),
        "busy": figures.busy_share,
        "lag_p99": None if isinf(figures.lag_p99) else figures.lag_p99,
        "percentiles_omit_waiting": plan.rate is None,
    }


def write_log(file: TextIO, plan: Plan, figures: Figures, start: float) -> None:
    """Write the histograms as a V2 log: one interval, whose start is in seconds since the epoch, for each tag.

    The values are in microseconds, the maximum of an interval in milliseconds.
    """
    writer = HistogramLogWriter(file)
    writer.output_comment(f"[croupier load {plan.room_name}: {plan.players} players, times in microseconds]")
    writer.output_log_format_version()
    writer.output_comment(f"[StartTime: {start:f} (seconds since epoch)]")
    writer.output_legend()
    for tag, encoded in _histograms(plan, figures).items():
        file.write(f"Tag={tag},")
        writer.output_interval_histogram(decode(encoded), start, start + figures.seconds, 1000.0)


def _histograms(plan: Plan, figures: Figures) -> Mapping[str, bytes]:
    response = {} if plan.rate is None else {"response": figures.response}
    return {**response, "service": figures.service, "connecting": figures.connect}


def _percentiles(encoded: bytes) -> str:
    histogram = decode(encoded)
    if not histogram.get_total_count():
        return "nothing was measured"
    shown = ", ".join(f"p{percentile:g} {_milliseconds(histogram, percentile)}" for percentile in PERCENTILES)
    return f"{shown}, max {_milliseconds(histogram, 100)}"


def _percentile_values(encoded: bytes) -> Mapping[str, float] | None:
    histogram = decode(encoded)
    if not histogram.get_total_count():
        return None
    values = {f"p{percentile:g}": histogram.get_value_at_percentile(percentile) for percentile in PERCENTILES}
    return {name: value / MICROSECONDS for name, value in {**values, "max": histogram.get_max_value()}.items()}


def _milliseconds(histogram: HdrHistogram, percentile: float) -> str:
    """A percentile in milliseconds, with three digits.

    >>> histogram = HdrHistogram(1, 60_000_000, 3)
    >>> _ = histogram.record_value(1_234_000)
    >>> _milliseconds(histogram, 50)
    '1,230 ms'
    """
    milliseconds = histogram.get_value_at_percentile(percentile) / 1000
    rounded = float(f"{milliseconds:.3g}")
    digits = max(0, 3 - len(str(int(rounded)))) if rounded >= 1 else 3
    return f"{rounded:,.{digits}f} ms"


def _rate(count: int, figures: Figures) -> str:
    return f"{count / max(figures.seconds, 1e-9):,.1f}"
