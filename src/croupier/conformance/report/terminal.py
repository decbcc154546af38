"""The terminal report: coloured where possible, and always with a sign and a word."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from croupier.conformance.report.hexdump import (
    MISSING_BYTE,
    HexRow,
    hex_byte,
    hex_dump,
    hex_rows,
    printable,
    printable_byte,
)
from croupier.conformance.report.summary import (
    SIGNS,
    FailureGroup,
    broken_clause,
    count_outcomes,
    dialogue,
    failed_results,
    failure_groups,
    headline,
    notes,
    repeat_command,
    result_note,
    verdict_sentence,
)
from croupier.conformance.results import Failure, Outcome, Report, Result
from croupier.core.plural import format_count

STYLES: Final[Mapping[Outcome, str]] = {
    Outcome.PASS: "blue",
    Outcome.FAIL: "bold bright_red",
    Outcome.NON_STRICT: "yellow",
    Outcome.CHOICE: "cyan",
    Outcome.UNIMPLEMENTED: "bold magenta",
    Outcome.SKIP: "dim",
}
"""The style of each outcome. Blue and red are distinguishable to most readers; sign and word help the others."""

WRONG_BYTE_STYLE: Final = "bold reverse"
"""The style of the first wrong byte."""

MAX_GROUPS_SHOWN: Final = 5
MAX_CASES_SHOWN: Final = 12
MAX_NOTES_SHOWN: Final = 8
"""At most this many groups of failures, further cases of one group, and notes of one outcome are shown."""


def result_line(result: Result) -> Text:
    """A result in a line, printed as soon as it is known."""
    text = Text.assemble(outcome_text(result.outcome), f" {result.case} ", (printable(result.title), "dim"))
    if result.outcome is not Outcome.PASS and (note := result_note(result)):
        text.append(f"\n{'':16}{' '.join(printable(note).split())}")
    return text


def outcome_text(kind: Outcome) -> Text:
    """An outcome with its sign, name and colour."""
    return Text(f"{SIGNS[kind]} {kind:13}", STYLES[kind])


def terminal(report: Report, *, is_complete: bool = False) -> Sequence[RenderableType]:
    """A report: one block for each of the likeliest causes, what was noted, and the counts.

    A complete one has a block for every failure instead, and every note.
    """
    groups = failure_groups(report)
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
    return [Text.assemble((group.title, "bold"), f"\n  {shown}{more}")]


def _notes(report: Report, outcome: Outcome, *, is_complete: bool) -> Iterator[RenderableType]:
    """The notes of the results with an outcome, with the number of cases or, in a complete report, their ids."""
    found = notes(report, outcome)
    if not found:
        return
    yield Rule(outcome_text(outcome), align="left")
    for note, results in [*found.items()][: None if is_complete else MAX_NOTES_SHOWN]:
        cases = ", ".join(result.case for result in results[: None if is_complete else 1])
        more = f" and {len(results) - 1} more" if len(results) > 1 and not is_complete else ""
        yield Text.assemble((f"{cases}{more}: ", "dim"), printable(note))
    if not is_complete and len(found) > MAX_NOTES_SHOWN:
        yield Text(f"and {format_count(len(found) - MAX_NOTES_SHOWN, 'more note')}: --all shows them", "dim")


def print_parts(console: Console, parts: Iterable[RenderableType]) -> None:
    """Print a report. Lines meant for pasting are never wrapped, on a terminal of any width."""
    for part in parts:
        console.print(part, soft_wrap=isinstance(part, Text) and bool(part.no_wrap))


def _unwrapped(text: str, style: str = "") -> Text:
    return Text(printable(text), style, no_wrap=True)


def failure_block(report: Report, result: Result) -> Iterator[RenderableType]:
    """All details of a failure."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("case", Text(printable(result.title)))
    failure = result.failure
    if failure is not None:
        clause = broken_clause(failure)
        table.add_row("clause", Text.assemble((failure.clause, "bold"), f" {clause.text}"))
        if clause.source:
            table.add_row("source", Text(clause.citation))
        table.add_row("expected", Text(printable(failure.expected)))
        table.add_row("actual", Text(printable(failure.actual)))
    elif result.note:
        table.add_row("note", Text(printable(result.note)))
    if dialogue(result):
        table.add_row("dialogue", _dialogue(result))
    if failure is not None and failure.cause:
        table.add_row("likely", Text(failure.cause.text, "bold"))
    yield table
    yield from _bytes(failure)
    yield _unwrapped(f"repeat: {repeat_command(report, result)}")


def _dialogue(result: Result) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_column(overflow="fold")
    for line in dialogue(result):
        table.add_row(Text(line.side, "dim"), Text(line.text), Text(line.hex, "dim"))
    return table


def _bytes(failure: Failure | None) -> Iterator[RenderableType]:
    if failure is not None and failure.wanted is not None:
        yield Padding(_side_by_side(failure.wanted, failure.got), (1, 0, 0, 2))
    elif failure is not None and failure.got:
        yield Padding(Text(hex_dump(failure.got[:64])), (1, 0, 0, 2))


def _side_by_side(wanted: bytes, got: bytes) -> Table:
    """Both byte strings, with a mark below the first wrong byte."""
    table = Table.grid(padding=(0, 2))
    for _ in range(5):
        table.add_column(no_wrap=True)
    table.add_row("", Text("expected", "dim"), "", Text("actual", "dim"), "")
    for row in hex_rows(wanted, got):
        table.add_row(
            Text(f"{row.offset:04X}", "dim"),
            Text(" ".join(map(hex_byte, row.expected))),
            Text("".join(map(printable_byte, row.expected))),
            _actual_bytes(row),
            Text("".join(map(printable_byte, row.actual))),
        )
        if row.first_wrong is not None:
            table.add_row("", "", "", Text(f"{'':{3 * row.first_wrong}}^^"), "")
    return table


def _actual_bytes(row: HexRow) -> Text:
    text = Text()
    for place, (byte, differs) in enumerate(zip(row.actual, row.differs, strict=True)):
        shown = MISSING_BYTE if place == row.first_wrong and byte is None else hex_byte(byte)
        text.append(shown, WRONG_BYTE_STYLE if place == row.first_wrong else "bold" if differs else "")
        text.append(" " if place < len(row.actual) - 1 else "")
    return text


def _counts(report: Report) -> Text:
    text = Text()
    for kind in Outcome:
        if count := report.count(kind):
            text.append(f"{SIGNS[kind]} {count} {kind}", STYLES[kind])
            text.append("   ")
    return text.append(f"in {report.seconds:.1f} s") if report.results else Text(count_outcomes(report))
