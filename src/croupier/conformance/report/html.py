"""The HTML report: a single self-contained page without scripts."""

import re
from collections.abc import Iterator
from typing import Final

from croupier.conformance.report.hexdump import DumpLine
from croupier.conformance.report.summary import (
    LOOKS,
    MEANINGS,
    by_section,
    dialogue,
    facts,
    failure_bytes,
    failure_groups,
    headline,
    repeat_command,
    verdict_sentence,
)
from croupier.conformance.results import Outcome, Report, Result
from croupier.core.html_page import html_text, page
from croupier.core.plural import format_count

CODE_PATTERN: Final = re.compile(r"`([^`]*)`")

STYLESHEET: Final = """
:root { --mark: #ffd75e; --ink: #000; }
h1 { margin-bottom: 0; } h2 { font-size: 1.1rem; }
.dialogue { font: 0.875rem/1.45 ui-monospace, monospace; }
pre { background: var(--shade); padding: 0.5rem 0.75rem; overflow-x: auto; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.25rem 1rem; margin: 0.5rem 0; }
dt { opacity: 0.7; } dd { margin: 0; overflow-wrap: anywhere; } dd pre { margin: 0; } dd.likely { font-weight: 600; }
.note { opacity: 0.8; }
td, th { padding: 0 0.6rem 0 0; text-align: left; vertical-align: top; }
.dialogue td { white-space: pre-wrap; overflow-wrap: anywhere; } .dialogue .side, .dialogue .hex { opacity: 0.7; }
mark { background: var(--mark); color: var(--ink); outline: 2px solid currentColor; font-weight: bold; }
.causes { border-left: 0.3rem solid var(--mark); padding-left: 1rem; }
.verdict { font-size: 1.25rem; }
fieldset { border: 0; padding: 0; margin: 1rem 0; } fieldset label { margin-right: 1.25rem; white-space: nowrap; }
"""


def html(report: Report) -> str:
    """The page of a run: the verdict, the causes with an example each, and every case, folded; boxes filter."""
    rules = (f"{look.rule(f'.word-{kind.value}')}\n{_filter_rule(kind)}\n" for kind, look in LOOKS.items())
    return page(headline(report), f"{STYLESHEET}{''.join(rules)}", _body(report))


def _filter_rule(kind: Outcome) -> str:
    return f"body:has(#show-{kind.value}:not(:checked)) .{kind.value} {{ display: none; }}"


def _body(report: Report) -> Iterator[str]:
    yield f'<p class="verdict"><strong>{_with_code(verdict_sentence(report))}</strong></p>'
    yield f"<p>croupier {html_text(report.version)}, seed {report.seed}, {report.seconds:.1f} s.</p>"
    if report.dialect:
        yield f'<p class="causes"><strong>Dialect:</strong> {html_text(report.dialect)}</p>'
    for group in failure_groups(report.results):
        yield f'<section class="causes"><h2>{_with_code(group.title)}</h2>'
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
                f'<label title="{html_text(MEANINGS[kind])}"><input type="checkbox" id="show-{kind.value}" checked> '
                f"{_outcome(kind)} {count}</label>"
            )
    yield "</fieldset>"
    if report.stderr:
        yield f"<h2>What it wrote to stderr</h2>\n<pre>{html_text(report.stderr)}</pre>"
    for section, results in by_section([result for result in report.results if result.is_good]).items():
        yield f"<details><summary>{html_text(section)}: {format_count(len(results), 'case')}</summary>"
        for result in results:
            yield from _result(report, result)
        yield "</details>"


def _outcome(kind: Outcome) -> str:
    return f'<span class="word-{kind.value}">{LOOKS[kind].sign} {kind.value}</span>'


def _result(report: Report, result: Result, *, is_open: bool = False) -> Iterator[str]:
    open_attribute = " open" if is_open else ""
    yield f'<details class="{result.outcome.value}"{open_attribute}>'
    title = html_text(result.title)
    yield f"<summary>{_outcome(result.outcome)} <code>{html_text(result.case)}</code> {title}</summary>"
    yield from result_html(report, result)
    yield "</details>"


def result_html(report: Report, result: Result) -> Iterator[str]:
    """The details of a result as HTML."""
    yield "<dl>"
    for name, text in facts(result):
        shown = _with_code(text) if name == "clause" else html_text(text)
        yield f'<dt>{name}</dt><dd class="{name}">{shown}</dd>'
    if lines := dialogue(result):
        yield '<dt>dialogue</dt><dd><table class="dialogue">'
        for line in lines:
            text, details = html_text(line.text), html_text(line.details)
            yield f'<tr><td class="side">{line.side}</td><td>{text}</td><td class="hex">{details}</td></tr>'
        yield "</table></dd>"
    if dump := failure_bytes(result):
        shown = "\n".join(map(_dump_line, dump))
        yield f"<dt>bytes</dt><dd><pre>{shown}</pre></dd>"
    yield f"<dt>repeat</dt><dd><code>{html_text(repeat_command(report, result))}</code></dd>\n</dl>"


def _with_code(text: str) -> str:
    """A text as HTML, in which what stands between backquotes is code."""
    return CODE_PATTERN.sub(r"<code>\1</code>", html_text(text))


def _dump_line(line: DumpLine) -> str:
    mark = f'<mark title="the first wrong byte">{line.mark}</mark>' if line.mark else ""
    return f"{html_text(line.text)}{mark}"
