"""The HTML report: a single self-contained page without scripts."""

import re
from collections.abc import Iterator, Mapping
from html import escape
from typing import Final

from croupier.conformance.report.hexdump import MISSING_BYTE, hex_byte, hex_dump, hex_rows, printable, printable_byte
from croupier.conformance.report.summary import (
    MEANINGS,
    SIGNS,
    broken_clause,
    by_section,
    dialogue,
    failure_groups,
    headline,
    repeat_command,
    result_note,
    verdict_sentence,
)
from croupier.conformance.results import Failure, Outcome, Report, Result
from croupier.core.plural import format_count

COLOURS: Final[Mapping[Outcome, tuple[str, str]]] = {
    Outcome.PASS: ("#0060a8", "#6fb8ff"),
    Outcome.FAIL: ("#b03a00", "#ff8f57"),
    Outcome.NON_STRICT: ("#7a5c00", "#e8c454"),
    Outcome.CHOICE: ("#006b5b", "#5fd3bd"),
    Outcome.UNIMPLEMENTED: ("#8a2a73", "#f09bd6"),
    Outcome.SKIP: ("#5d5d5d", "#a8a8a8"),
}
"""The colour of each outcome in light and in dark mode, chosen for contrast and colour-blind readers."""

CODE_PATTERN: Final = re.compile(r"`([^`]*)`")

STYLESHEET: Final = """
:root { color-scheme: light dark; --line: #8884; --paper: #8881; --mark: #ffd75e; --ink: #000; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: 0; } h2 { font-size: 1.1rem; margin-top: 2rem; }
pre, code, table.bytes, .dialogue { font: 0.875rem/1.45 ui-monospace, monospace; }
pre { background: var(--paper); padding: 0.5rem 0.75rem; overflow-x: auto; white-space: pre-wrap; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.25rem 1rem; margin: 0.5rem 0; }
dt { opacity: 0.7; } dd { margin: 0; overflow-wrap: anywhere; }
details { border: 1px solid var(--line); border-radius: 0.3rem; margin: 0.25rem 0; padding: 0.25rem 0.75rem; }
summary { cursor: pointer; } .note { opacity: 0.8; }
table { border-collapse: collapse; } td, th { padding: 0 0.6rem 0 0; text-align: left; vertical-align: top; }
table.bytes td { white-space: pre; } td.side { opacity: 0.7; } td.hex { opacity: 0.7; }
mark { background: var(--mark); color: var(--ink); outline: 2px solid currentColor; font-weight: bold; }
.causes { border-left: 0.3rem solid var(--mark); padding-left: 1rem; }
.verdict { font-size: 1.25rem; }
fieldset { border: 0; padding: 0; margin: 1rem 0; } fieldset label { margin-right: 1.25rem; white-space: nowrap; }
"""


def html(report: Report) -> str:
    """The page of a run: the verdict, the causes with an example each, and every case, folded; boxes filter."""
    return "\n".join(_page(report)) + "\n"


def _page(report: Report) -> Iterator[str]:
    title = _text(headline(report))
    yield f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<style>{STYLESHEET}{''.join(map(_rule, Outcome))}</style>\n</head>\n<body>\n<h1>{title}</h1>"
    yield f'<p class="verdict"><strong>{_text(verdict_sentence(report))}</strong></p>'
    yield f"<p>croupier {_text(report.version)}, seed {report.seed}, {report.seconds:.1f} s.</p>"
    if report.dialect:
        yield f'<p class="causes"><strong>Dialect:</strong> {_text(report.dialect)}</p>'
    for group in failure_groups(report):
        yield f'<section class="causes"><h2>{_text(group.title)}</h2>'
        yield from _result(report, group.example, is_open=True)
        others = [result for result in group.results if result is not group.example]
        if others:
            yield f"<details><summary>{format_count(len(others), 'more case')}</summary>"
            for result in others:
                yield from _result(report, result)
            yield "</details>"
        yield "</section>"
    yield "<fieldset><legend>Show</legend>"
    for kind in Outcome:
        if count := report.count(kind):
            yield (
                f'<label title="{_text(MEANINGS[kind])}"><input type="checkbox" id="show-{kind.value}" checked> '
                f"{_outcome(kind)} {count}</label>"
            )
    yield "</fieldset>"
    if report.stderr:
        yield f"<h2>What it wrote to stderr</h2>\n<pre>{_text(report.stderr)}</pre>"
    for section, results in by_section([result for result in report.results if result.is_good]).items():
        yield f"<details><summary>{_text(section)}: {format_count(len(results), 'case')}</summary>"
        for result in results:
            yield from _result(report, result)
        yield "</details>"
    yield "</body>\n</html>"


def _rule(kind: Outcome) -> str:
    light, dark = COLOURS[kind]
    name = kind.value
    return (
        f".word-{name} {{ color: {light}; font-weight: 600; }}\n"
        f"@media (prefers-color-scheme: dark) {{ .word-{name} {{ color: {dark}; }} }}\n"
        f"body:has(#show-{name}:not(:checked)) .{name} {{ display: none; }}\n"
    )


def _outcome(kind: Outcome) -> str:
    return f'<span class="word-{kind.value}">{SIGNS[kind]} {kind.value}</span>'


def _result(report: Report, result: Result, *, is_open: bool = False) -> Iterator[str]:
    open_attribute = " open" if is_open else ""
    yield f'<details class="{result.outcome.value}"{open_attribute}>'
    yield f"<summary>{_outcome(result.outcome)} <code>{_text(result.case)}</code> {_text(result.title)}</summary>"
    yield from result_html(report, result)
    yield "</details>"


def result_html(report: Report, result: Result) -> Iterator[str]:
    """The details of a result as HTML."""
    failure = result.failure
    yield "<dl>"
    if failure is not None:
        clause = broken_clause(failure)
        yield f"<dt>clause</dt><dd><strong>{_text(failure.clause)}</strong> {_clause(clause.text)}</dd>"
        if clause.source:
            yield f"<dt>source</dt><dd>{_text(clause.citation)}</dd>"
        yield f"<dt>expected</dt><dd>{_text(failure.expected)}</dd>"
        yield f"<dt>actual</dt><dd>{_text(failure.actual)}</dd>"
        if failure.cause:
            yield f"<dt>likely cause</dt><dd><strong>{_text(failure.cause.text)}</strong></dd>"
    elif note := result_note(result):
        yield f'<dt>note</dt><dd class="note">{_text(note)}</dd>'
    yield f"<dt>repeat</dt><dd><code>{_text(repeat_command(report, result))}</code></dd>\n</dl>"
    if failure is not None:
        yield from _bytes(failure)
    if lines := dialogue(result):
        yield '<table class="dialogue">'
        for line in lines:
            row = f'<td class="side">{line.side}</td><td>{_text(line.text)}</td><td class="hex">{line.hex}</td>'
            yield f"<tr>{row}</tr>"
        yield "</table>"


def _bytes(failure: Failure) -> Iterator[str]:
    if failure.wanted is None:
        if failure.got:
            yield f"<pre>{_text(hex_dump(failure.got[:64]))}</pre>"
        return
    yield '<table class="bytes">\n<tr><th></th><th>expected</th><th></th><th>actual</th><th></th></tr>'
    for row in hex_rows(failure.wanted, failure.got):
        came = [hex_byte(byte) for byte in row.actual]
        if row.first_wrong is not None:
            shown = came[row.first_wrong].strip() or MISSING_BYTE
            came[row.first_wrong] = f'<mark title="the first wrong byte">{shown}</mark>'
        cells = (
            f"{row.offset:04X}",
            " ".join(map(hex_byte, row.expected)),
            _text("".join(map(printable_byte, row.expected))),
            " ".join(came),
            _text("".join(map(printable_byte, row.actual))),
        )
        yield f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
    yield "</table>"


def _clause(text: str) -> str:
    """The text of a clause: what stands between backquotes is code."""
    return CODE_PATTERN.sub(r"<code>\1</code>", _text(text))


def _text(text: str) -> str:
    return escape(printable(text))
