"""The terminal report: coloured where possible, and always with a sign and a word."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from croupier.conformance.report.hexdump import printable
from croupier.conformance.report.summary import (
    LOOKS,
    MEANINGS,
    FailureGroup,
    broken_clause,
    count_outcomes,
    dialogue,
    facts,
    failed_results,
    failing,
    failure_bytes,
    failure_groups,
    headline,
    notes,
    repeat_command,
    result_note,
    verdict_sentence,
)
from croupier.conformance.results import Outcome, Report, Result
from croupier.core.plural import format_count

MAX_GROUPS_SHOWN: Final = 5
MAX_CASES_SHOWN: Final = 12
MAX_NOTES_SHOWN: Final = 8
"""At most this many groups of failures, further cases of one group, and notes of one outcome are shown."""


def result_line(result: Result) -> Text:
    """A result in a line, printed as soon as it is known."""
    text = Text.assemble(outcome_text(result.outcome), f" {result.case} ", (printable(result.title), "dim"))
    if result.outcome is not Outcome.PASS and (note := result_note(result)):
        clause = f"{broken_clause(result)}: " if broken_clause(result) != result.clause else ""
        text.append(f"\n{'':16}{clause}{' '.join(printable(note).split())}")
    return text


def outcome_text(kind: Outcome) -> Text:
    """An outcome with its sign, name and colour."""
    return Text(f"{LOOKS[kind].sign} {kind:13}", LOOKS[kind].style)


def terminal(report: Report, *, is_complete: bool = False) -> Sequence[RenderableType]:
    """A report: one block for each of the likeliest causes, what was noted, and the counts.

    A complete one has a block for every failure instead, and every note.
    """
    groups = failure_groups(report.results)
    parts: list[RenderableType] = []
    if is_complete:
        for result in failed_results(report):
            parts += _block(report, result)
    else:
        for group in groups[:MAX_GROUPS_SHOWN]:
            parts += [*_block(report, group.example), *_others(group)]
        if hidden := groups[MAX_GROUPS_SHOWN:]:
            cases = sum(len(group.results) for group in hidden)
            kinds, failures = format_count(len(hidden), "more clause"), format_count(cases, "case")
            parts.append(Text(f"{kinds} broken in {failures}: --all shows them", "bold"))
    for outcome in (Outcome.NON_STRICT, Outcome.CHOICE, Outcome.SKIP):
        parts += _notes(report, outcome, is_complete=is_complete)
    if report.stderr and failed_results(report):
        parts += [Rule(Text("what it wrote to stderr "), align="left"), _unwrapped(report.stderr)]
    parts += [Rule(), _unwrapped(headline(report), "bold")]
    if report.dialect:
        parts.append(Text.assemble(("dialect: ", "bold"), report.dialect))
    return [*parts, _counts(report), Text(verdict_sentence(report), "bold")]


def _block(report: Report, result: Result) -> Sequence[RenderableType]:
    title = Text.assemble(outcome_text(result.outcome), f" {result.case} ")
    return [Rule(title, align="left"), *failure_block(report, result)]


def _others(group: FailureGroup) -> Sequence[RenderableType]:
    """The other cases of a group."""
    others = [result.case for result in group.results if result is not group.example]
    if not others:
        return []
    shown = ", ".join(others[:MAX_CASES_SHOWN])
    more = f" and {len(others) - MAX_CASES_SHOWN} more" if len(others) > MAX_CASES_SHOWN else ""
    reason = "on this clause" if group.cause is None else "for this reason"
    head = Text(f"{failing(len(others), 'more case')} {reason}", "bold")
    return [head, Padding(Text(f"{shown}{more}"), (0, 0, 0, 2))]


def _notes(report: Report, outcome: Outcome, *, is_complete: bool) -> Iterator[RenderableType]:
    """The notes of the results with an outcome, with the number of cases or, in a complete report, their ids."""
    found = notes(report, outcome)
    if not found:
        return
    yield Rule(Text.assemble(outcome_text(outcome), (f" {MEANINGS[outcome]} ", "dim")), align="left")
    for note, results in [*found.items()][: None if is_complete else MAX_NOTES_SHOWN]:
        cases = ", ".join(result.case for result in results[: None if is_complete else 1])
        more = f" and {len(results) - 1} more" if len(results) > 1 and not is_complete else ""
        yield Text.assemble((f"{cases}{more}: ", "dim"), printable(note))
    if not is_complete and len(found) > MAX_NOTES_SHOWN:
        yield Text(f"and {format_count(len(found) - MAX_NOTES_SHOWN, 'more note')}: --all shows them", "dim")


def print_parts(console: Console, parts: Iterable[RenderableType]) -> None:
    """Print a report, without spaces at the end of lines if it goes to a file.

    Lines meant for pasting are never wrapped, on a terminal of any width.
    """
    for part in parts:
        with console.capture() as capture:
            console.print(part, soft_wrap=isinstance(part, Text) and bool(part.no_wrap))
        console.file.writelines(f"{line.rstrip(' ')}\n" for line in capture.get().splitlines())


def _unwrapped(text: str, style: str = "") -> Text:
    return Text(printable(text), style, no_wrap=True)


def failure_block(report: Report, result: Result) -> Iterator[RenderableType]:
    """All details of a failure."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("case", Text(printable(result.title)))
    for name, text in facts(result):
        table.add_row(name, Text(printable(text), "bold" if name == "likely cause" else ""))
    if dialogue(result):
        table.add_row("dialogue", _dialogue(result))
    yield table
    if dump := failure_bytes(result):
        yield Padding(Text("\n".join(map(str, dump))), (1, 0, 0, 2))
    yield _unwrapped(f"repeat: {repeat_command(report, result)}")


def _dialogue(result: Result) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_column(overflow="fold")
    for line in dialogue(result):
        table.add_row(Text(line.side, "dim"), Text(line.text), Text(line.details, "dim"))
    return table


def _counts(report: Report) -> Text:
    text = Text()
    for kind in Outcome:
        if count := report.count(kind):
            text.append(f"{LOOKS[kind].sign} {count} {kind}", LOOKS[kind].style)
            text.append("   ")
    return text.append(f"in {report.seconds:.1f} s") if report.results else Text(count_outcomes(report))
