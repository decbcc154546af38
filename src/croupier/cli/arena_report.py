"""The results of `croupier arena` as text."""

from collections.abc import Iterator, Sequence
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from croupier.arena.leaks import LeakLine
from croupier.arena.report.summary import Unit, fault_lines
from croupier.arena.series import PairResult
from croupier.arena.tournament import TournamentResult
from croupier.cli.output import print_line
from croupier.core.plural import format_count

MAX_PRINTED_LEAKS: Final = 10

MIN_TABLE_COLUMNS: Final = 60
"""A narrower terminal shows the results as lines: a table would have no room for the bots."""


def print_results(result: TournamentResult, *, with_leaks: bool = False) -> None:
    """Print the pairings, then the faults of bots, and what their choices cost them."""
    console = Console(highlight=False, markup=False)
    if console.width < MIN_TABLE_COLUMNS:
        for pair in result.pairs:
            console.print(pair_text(pair))
    else:
        console.print(_pair_table(result))
    for pair in result.pairs:
        for line in fault_lines(pair):
            print_line(line)
        if with_leaks:
            for line in leak_texts(pair):
                print_line(line)
    if with_leaks and not any(lines for pair in result.pairs for lines in pair.leaks.values()):
        print_line("No choice is known to cost a bot anything.")


def pair_text(pair: PairResult) -> str:
    """The result of a pairing as text."""
    result = f"{format_mean(pair)} {pair.unit}, " if pair.hands else ""
    return f"{pair.a} against {pair.b}: {result}{format_count(pair.hands, 'hand')}, {pair.status}"


def _pair_table(result: TournamentResult) -> Table:
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in ("bot", "against"):
        table.add_column(name, overflow="fold")
    table.add_column("", no_wrap=True)
    for name in (result.pairs[0].unit, "hands"):
        table.add_column(name, justify="right", no_wrap=True)
    for pair in result.pairs:
        table.add_row(pair.a, pair.b, pair.status, format_mean(pair), f"{pair.hands:,}")
    return table


def format_mean(pair: PairResult) -> str:
    """The mean of a result with half the width of its interval; empty if no hands were played."""
    if not pair.hands:
        return ""
    return f"{pair.mean:+.4f}" + ("" if pair.high is None else f" ± {pair.high - pair.mean:.4f}")


def leak_texts(pair: PairResult) -> Iterator[str]:
    """What the choices of both bots cost them, the most expensive first."""
    for name, bot, other in (("a", pair.a, pair.b), ("b", pair.b, pair.a)):
        lines: Sequence[LeakLine] = pair.leaks[name]
        if not lines:
            continue
        is_estimated = lines[0].share is None
        total = f"{sum(line.cost for line in lines):.4f} {pair.unit}"
        loses = "would win more with other choices" if is_estimated else f"loses {total} by its choices"
        yield f"{bot} against {other} {loses}:"
        for line in lines[:MAX_PRINTED_LEAKS]:
            yield f"  {_leak_text(line, Unit.parse(pair.unit))}"
        if len(lines) > MAX_PRINTED_LEAKS:
            yield f"  and {len(lines) - MAX_PRINTED_LEAKS} more"


def _leak_text(line: LeakLine, unit: Unit) -> str:
    if line.low is None or line.high is None:
        return f"{line.choice}: costs {line.cost:.4f} {unit.period}, {line.share:.0%} of its losses"
    interval = f"{line.low:.1f} to {line.high:.1f}"
    return f"{line.choice}: costs {line.cost:.1f} {unit} ({interval}); better: {line.better}"
