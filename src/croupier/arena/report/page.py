"""The page of results: one self-contained file of HTML without scripts."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from croupier.arena.bank import BankGame
from croupier.arena.game import find_game
from croupier.arena.leaks import LeakLine
from croupier.arena.plan import Pairing
from croupier.arena.ratings import Standing
from croupier.arena.report.plots import BANKROLLS, STANDINGS, Plot, inline
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
from croupier.arena.series import PairResult
from croupier.core.html_page import html_text, page
from croupier.core.plural import format_count
from croupier.version import __version__

MAX_OPEN_LEAKS: Final = 6
"""The lists of leaks that are open; in larger tournaments all are folded."""

MAX_SHOWN_LEAKS: Final = 10
LEAK_DECIMALS: Final = 4
ESTIMATE_DECIMALS: Final = 1
TABLE_END: Final = "</tbody></table></div>"
PAIRINGS_TITLE: Final = "Each against each"


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
    return {name: "\n".join(lines(report)) for name, lines in SECTIONS.items()}


def _setting(report: Report) -> Iterator[str]:
    yield f"<p>{html_text(_setting_text(report))}</p>"


def _setting_text(report: Report) -> str:
    plan = report.plan
    hands = sum(pair.hands for pair in report.result.pairs)
    parts = [
        f"{plan.room}, {len(plan.bots)} bots, {format_count(len(report.series), 'pairing')}, {hands:,} hands",
        "duplicate deals" if plan.duplicate else "",
        "adjusted for luck" if plan.adjust else "",
    ]
    setting = f"{', '.join(part for part in parts if part)}."
    if isinstance(find_game(plan.room), BankGame):
        return f"{setting} Each bot plays alone against the bank; a result is the difference of what two bots win."
    return setting


def _table_start(label: str, kind: str = "") -> str:
    region = f'<div class="wide" tabindex="0" role="region" aria-label="{html_text(label)}">'
    return f'{region}<table class="{kind}"><thead><tr>'


def _name_head(name: str) -> str:
    return f'<th scope="col" class="name">{name}</th>'


def _row_head(name: str) -> str:
    return f'<th scope="row" class="name">{html_text(name)}</th>'


def _heads(columns: Sequence[str]) -> str:
    return "".join(f'<th scope="col">{html_text(column)}</th>' for column in columns)


def _figure(report: Report, plot: Plot, description: str) -> Iterator[str]:
    yield f'<figure role="img" aria-label="{html_text(description)}">{inline(report, plot)}</figure>'


def _standings(report: Report) -> Iterator[str]:
    yield "<h2>Standings</h2>"
    yield from _figure(report, STANDINGS, "Mean winnings and strength of each bot. The numbers are in the next table.")
    sure = f"{1 - report.plan.alpha:.0%} interval"
    columns = ("hands", str(report.unit), sure, "strength", sure)
    yield f"{_table_start('Standings')}{_heads(('place',))}{_name_head('bot')}{_heads(columns)}</tr></thead><tbody>"
    for place, each in enumerate(report.standings, 1):
        cells = "".join(f"<td>{html_text(text)}</td>" for text in _standing(each))
        yield f"<tr><td>{place}</td>{_row_head(each.bot)}{cells}</tr>"
    yield TABLE_END
    yield f'<p class="note">{html_text(_strength_note(report))}</p>'


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


def _strength_note(report: Report) -> str:
    hands = 2 * report.plan.chunk_pairs
    note = (
        f"Bots are ranked by what they win on average, each opponent with the same weight. Strength (Bradley–Terry) "
        f"ranks them by matches of {hands} hands: a bot that is stronger by 1 wins 73% of their matches, by 2 88%, by "
        f"3 95%. The two may differ: poker is not transitive, and strength does not count by how much a match is won."
    )
    if report.plan.until_sure:
        note += " The intervals of strength take the number of matches as given."
    return note


def _pairings(report: Report) -> Iterator[str]:
    yield f"<h2>{PAIRINGS_TITLE}</h2>"
    places = {each.index: place for place, each in enumerate(report.standings, 1)}
    heads = "".join(
        f'<th scope="col" title="{name}" aria-label="against {name}">{place}</th>'
        for name, place in ((html_text(report.plan.bots[bot]), place) for bot, place in places.items())
    )
    start = f"{_table_start(PAIRINGS_TITLE, 'pairings')}{_heads(('place',))}{_name_head('bot')}"
    yield f"{start}{heads}</tr></thead><tbody>"
    for bot, place in places.items():
        cells = "".join(_cell(report, bot, other) for other in places)
        yield f"<tr><td>{place}</td>{_row_head(report.plan.bots[bot])}{cells}</tr>"
    yield TABLE_END
    yield (
        f'<p class="note">What the bot of the row wins against that of the column, in {html_text(str(report.unit))}. '
        f"Coloured and bold: the {1 - report.plan.alpha:.0%} interval below it excludes 0.</p>"
    )


def _cell(report: Report, bot: int, other: int) -> str:
    pairing = (min(bot, other), max(bot, other))
    result = report.pairs.get(pairing)
    if result is None:
        return '<td class="unplayed"></td>'
    loser = report.series[pairing].forfeit
    if loser is not None:
        return f'<td class="{"lost" if loser == bot else "won"}">{"forfeits" if loser == bot else "forfeit"}</td>'
    if not result.hands:
        return "<td>…</td>"
    mean, low, high = result.mean, result.low, result.high
    if bot != pairing[0]:
        mean, low, high = -mean, _negative(result.high), _negative(result.low)
    decimals = decimals_for(low, high)
    kind = "won" if low is not None and low > 0 else "lost" if high is not None and high < 0 else "even"
    interval = f"<small>{format_interval(low, high, decimals)}</small>"
    return f'<td class="{kind}">{format_number(mean, decimals, signed=True)}{interval}</td>'


def _negative(bound: float | None) -> float | None:
    return None if bound is None else -bound


def _bankrolls(report: Report) -> Iterator[str]:
    yield "<h2>Bankrolls</h2>"
    yield from _figure(report, BANKROLLS, "What each bot has won after each number of hands, against every opponent.")
    yield f'<p class="note">{html_text(_band_note(report))}</p>'


def _band_note(report: Report) -> str:
    sure = f"{1 - report.plan.alpha:.0%}"
    how = "after every number of hands at once" if report.plan.until_sure else "after each number of hands by itself"
    return (
        f"The line is what the bot has won{' after luck was removed' if report.plan.adjust else ''}. The band is the "
        f"{sure} interval for its mean winnings, times the hands: with a probability of {sure} it holds what the bot "
        f"would have won without luck, {how}."
    )


def _leaks(report: Report) -> Iterator[str]:
    lists = [
        (bot, other, lines)
        for pairing, result in report.pairs.items()
        for bot, other, lines in _leak_lists(report, pairing, result)
        if lines
    ]
    if not lists:
        return
    yield "<h2>Leaks</h2>"
    yield f'<p class="note">{html_text(_leaks_note(report))}</p>'
    is_estimated = find_game(report.plan.room).estimates_leaks
    is_open = " open" if len(lists) <= MAX_OPEN_LEAKS else ""
    for bot, other, lines in lists:
        name = f"{bot} against {other}"
        if is_estimated:
            title, table = name, _estimate_table(name, str(report.unit), lines)
        else:
            total = format_number(sum(line.cost for line in lines), LEAK_DECIMALS)
            title = f"{name}: {total} {report.unit}"
            table = _leak_table(title, lines)
        yield f'<details{is_open} data-key="{html_text(name)}"><summary>{html_text(title)}</summary>'
        yield from table
        yield "</details>"


def _leaks_note(report: Report) -> str:
    if not find_game(report.plan.room).estimates_leaks:
        return "What the choices of a bot cost it, compared with the best choice."
    return (
        "Estimates. Each hand was played again with another choice at one decision, the same cards and the same bots. "
        "A line says how much more the bot would have won if it had always replaced this choice, at one decision of a "
        "hand and by no other change, so costs do not add up. With a probability of 95% all intervals of a bot hold "
        "at once, at any time; only choices whose interval is above 0 are listed."
    )


def _leak_lists(report: Report, pairing: Pairing, result: PairResult) -> Iterator[tuple[str, str, Sequence[LeakLine]]]:
    first, second = (report.plan.bots[bot] for bot in pairing)
    leaks: Mapping[str, Sequence[LeakLine]] = result.leaks
    yield first, second, leaks["a"]
    yield second, first, leaks["b"]


def _leak_table(label: str, lines: Sequence[LeakLine]) -> Iterator[str]:
    columns = ("costs", "share", "times in 100 hands")
    rows = (
        (format_number(line.cost, LEAK_DECIMALS), f"{line.share:.0%}", f"{100 * line.frequency:.1f}") for line in lines
    )
    yield from _choice_table(label, columns, lines, rows)


def _estimate_table(label: str, unit: str, lines: Sequence[LeakLine]) -> Iterator[str]:
    columns = (f"costs, {unit}", "interval", "times in 100 hands", "better")
    rows = (
        (
            format_number(line.cost, ESTIMATE_DECIMALS),
            format_interval(line.low, line.high, ESTIMATE_DECIMALS),
            f"{100 * line.frequency:.1f}",
            line.better,
        )
        for line in lines
    )
    yield from _choice_table(label, columns, lines, rows)


def _choice_table(
    label: str, columns: Sequence[str], lines: Sequence[LeakLine], rows: Iterable[Sequence[str]]
) -> Iterator[str]:
    """A table of the first choices; `rows` has the cells of each."""
    yield f"{_table_start(label)}{_name_head('choice')}{_heads(columns)}</tr></thead><tbody>"
    for line, texts in zip(lines[:MAX_SHOWN_LEAKS], rows, strict=False):
        yield f"<tr>{_row_head(line.choice)}{''.join(f'<td>{html_text(text)}</td>' for text in texts)}</tr>"
    yield TABLE_END
    if len(lines) > MAX_SHOWN_LEAKS:
        yield f"<p>{format_count(len(lines) - MAX_SHOWN_LEAKS, 'more choice')} in results.json.</p>"


def _faults(report: Report) -> Iterator[str]:
    faulty = [result for result in report.result.pairs if result.faults]
    if not faulty:
        return
    yield "<h2>Faults</h2>\n<ul>"
    for result in faulty:
        for line in fault_lines(result):
            yield f"<li>{html_text(line)}</li>"
    yield "</ul>"


def _method(report: Report) -> Iterator[str]:
    plan, method = report.plan, report.result.pairs[0].method
    pairs = f"pairs of hands{' with the same deal' if plan.duplicate else ''}"
    facts = {
        "command": command(plan),
        "intervals": "confidence sequences, valid at every time" if plan.until_sure else "Student's",
        "values": pairs if method.statistic == "pair" else f"chunks of {plan.chunk_pairs} pairs of hands",
        "adjusted by": plan.adjust or "nothing: luck is not removed",
        "strength": "choix, with a Bayesian bootstrap over matches in which all pairings share the deals",
        "plan": report.result.plan,
        "version": f"croupier {__version__}",
    }
    yield "<h2>How this was made</h2>\n<dl>"
    for name, text in facts.items():
        shown = html_text(text)
        yield f"<dt>{name}</dt><dd>{f'<code>{shown}</code>' if name == 'command' else shown}</dd>"
    yield "</dl>"


SECTIONS: Final[Mapping[str, Callable[[Report], Iterator[str]]]] = {
    "setting": _setting,
    "standings": _standings,
    "pairings": _pairings,
    "bankrolls": _bankrolls,
    "leaks": _leaks,
    "faults": _faults,
    "method": _method,
}
"""What makes the lines of each section, by its id, in the order of the page."""
