"""The page of results: one self-contained file of HTML without scripts."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from croupier.arena.bank import BankGame
from croupier.arena.game import find_game
from croupier.arena.leaks import LeakLine
from croupier.arena.ratings import Standing
from croupier.arena.report.plots import BANKROLLS, STANDINGS, inline
from croupier.arena.report.style import STYLESHEET
from croupier.arena.report.summary import (
    Report,
    command,
    decimals_for,
    fault_lines,
    format_interval,
    format_number,
    headline,
)
from croupier.core.html_page import page
from croupier.core.plural import format_count
from croupier.core.text import printable
from croupier.version import __version__

SECTIONS: Final = ("setting", "standings", "pairings", "bankrolls", "leaks", "faults", "method")
"""The ids of the sections, in the order of the page; each is a macro of the template."""

MAX_OPEN_LEAKS: Final = 6
"""The lists of leaks that are open; in larger tournaments all are folded."""

MAX_SHOWN_LEAKS: Final = 10
LEAK_DECIMALS: Final = 4
ESTIMATE_DECIMALS: Final = 1


class Cell(NamedTuple):
    """A result in the table of pairings: its class, its text, and its interval if it has one."""

    kind: str
    text: str
    interval: str | None = None


class LeakList(NamedTuple):
    """The choices of a bot against another one, each with the cells of its row; further ones are `omitted`."""

    name: str
    title: str
    rows: Sequence[tuple[str, Sequence[str]]]
    omitted: int


def html(report: Report) -> str:
    """The page of a tournament. Raises ModuleNotFoundError without the extra `arena`."""
    return file_of(headline(report), sections(report))


def file_of(title: str, parts: Mapping[str, str]) -> str:
    """The page with these sections as one self-contained file."""
    made = (f'<section id="{name}">\n{part}\n</section>' for name, part in parts.items() if part)
    return page(title, STYLESHEET, made)


def sections(report: Report) -> Mapping[str, str]:
    """The sections of the page as HTML, by their ids, the `SECTIONS`; empty if there is nothing to say.

    Raises ModuleNotFoundError without the extra `arena`.
    """
    macros = _template().make_module(_context(report))
    return {name: str(getattr(macros, name)()).strip() for name in SECTIONS}


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("croupier.arena.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("results.html")


def _printable(value: object) -> str:
    """A value as it is shown; control characters in the names of bots are escaped."""
    if isinstance(value, Markup):
        return value
    text = str(value)
    return printable(text, len(text), keep="\n\t")


def _context(report: Report) -> dict[str, Any]:
    """The variables of the template: the tournament, its plots, and the rows of its tables as text."""
    plan, game = report.plan, find_game(report.plan.room)
    leak_lists = [*_leak_lists(report, is_estimated=game.estimates_leaks)]
    return {
        "report": report,
        "plan": plan,
        "hands": sum(pair.hands for pair in report.result.pairs),
        "is_against_bank": isinstance(game, BankGame),
        "sure": f"{1 - plan.alpha:.0%}",
        "standings_plot": Markup(inline(report, STANDINGS)),  # noqa: S704 -- of matplotlib
        "standing_rows": [(each.bot, _standing(each)) for each in report.standings],
        "pairing_rows": [*_pairing_rows(report)],
        "bankrolls_plot": Markup(inline(report, BANKROLLS)),  # noqa: S704 -- of matplotlib
        "leak_lists": leak_lists,
        "is_estimated": game.estimates_leaks,
        "max_open_leaks": MAX_OPEN_LEAKS,
        "fault_lines": [line for pair in report.result.pairs for line in fault_lines(pair)],
        "command": command(plan),
        "statistic": report.result.pairs[0].method.statistic,
        "version": __version__,
        "counted": format_count,
    }


def _standing(each: Standing) -> Sequence[str]:
    decimals, strength_decimals = decimals_for(each.low, each.high), decimals_for(each.strength_low, each.strength_high)
    mean = "" if each.mean is None else format_number(each.mean, decimals, signed=True)
    return (
        f"{each.hands:,}",
        "forfeits" if each.forfeits else mean,
        format_interval(each.low, each.high, decimals),
        format_number(each.strength, strength_decimals, signed=True),
        format_interval(each.strength_low, each.strength_high, strength_decimals),
    )


def _pairing_rows(report: Report) -> Iterator[tuple[str, Sequence[Cell]]]:
    """Yield each bot with its results against all bots, both in the order of their places."""
    places = [each.index for each in report.standings]
    for bot in places:
        yield report.plan.bots[bot], [_cell(report, bot, other) for other in places]


def _cell(report: Report, bot: int, other: int) -> Cell:
    pairing = (min(bot, other), max(bot, other))
    result = report.pairs.get(pairing)
    if result is None:
        return Cell("unplayed", "")
    loser = report.series[pairing].forfeit
    if loser is not None:
        return Cell("lost", "forfeits") if loser == bot else Cell("won", "forfeit")
    if not result.hands:
        return Cell("", "…")
    mean, low, high = result.mean, result.low, result.high
    if bot != pairing[0]:
        mean, low, high = -mean, _negative(result.high), _negative(result.low)
    decimals = decimals_for(low, high)
    kind = "won" if low is not None and low > 0 else "lost" if high is not None and high < 0 else "even"
    return Cell(kind, format_number(mean, decimals, signed=True), format_interval(low, high, decimals))


def _negative(bound: float | None) -> float | None:
    return None if bound is None else -bound


def _leak_lists(report: Report, *, is_estimated: bool) -> Iterator[LeakList]:
    """Yield the leaks of each bot against each other one, where there are any."""
    row = _estimate if is_estimated else _leak
    for (a, b), result in report.pairs.items():
        for key, bot, other in (("a", a, b), ("b", b, a)):
            if lines := result.leaks[key]:
                name = f"{report.plan.bots[bot]} against {report.plan.bots[other]}"
                total = f": {format_number(sum(line.cost for line in lines), LEAK_DECIMALS)} {report.unit}"
                rows = [(line.choice, row(line)) for line in lines[:MAX_SHOWN_LEAKS]]
                yield LeakList(name, name if is_estimated else name + total, rows, len(lines) - len(rows))


def _leak(line: LeakLine) -> Sequence[str]:
    return format_number(line.cost, LEAK_DECIMALS), f"{line.share:.0%}", f"{100 * line.frequency:.1f}"


def _estimate(line: LeakLine) -> Sequence[str]:
    return (
        format_number(line.cost, ESTIMATE_DECIMALS),
        format_interval(line.low, line.high, ESTIMATE_DECIMALS),
        f"{100 * line.frequency:.1f}",
        line.better,
    )
