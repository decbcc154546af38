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
    FailureReason,
    broken_clause,
    count_outcomes,
    dialogue,
    examples,
    failed_results,
    failure_reasons,
    headline,
    repeat_command,
    result_note,
    verdict_sentence,
)
from croupier.conformance.results import Failure, Outcome, Report, Result

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

MAX_CASES_SHOWN: Final = 12
"""At most this many cases of one reason are listed."""


def result_line(result: Result) -> Text:
    """A result in a line, printed as soon as it is known."""
    text = Text.assemble(outcome_text(result.outcome), f" {result.case} ", (printable(result.title), "dim"))
    if result.outcome is not Outcome.PASS and (note := result_note(result)):
        text.append(f"\n{'':16}{' '.join(printable(note).split())}")
    return text


def outcome_text(kind: Outcome) -> Text:
    """An outcome with its sign, name and colour."""
    return Text(f"{SIGNS[kind]} {kind:13}", STYLES[kind])


def terminal(report: Report) -> Sequence[RenderableType]:
    """A report: failures with their details, one for each reason and clause, and the counts."""
    parts: list[RenderableType] = []
    for result in examples(report):
        parts += [
            Rule(Text.assemble(outcome_text(result.outcome), f" {result.case} "), align="left"),
            *failure_block(report, result),
        ]
    parts += [_reason(reason) for reason in failure_reasons(report) if len(reason.results) > 1]
    if report.stderr and failed_results(report):
        parts += [Rule(Text("what it wrote to stderr "), align="left"), _unwrapped(report.stderr)]
    parts += [Rule(), _unwrapped(headline(report), "bold")]
    if report.dialect:
        parts.append(Text.assemble(("dialect: ", "bold"), report.dialect))
    return [*parts, _counts(report), Text(verdict_sentence(report), "bold")]


def print_parts(console: Console, parts: Iterable[RenderableType]) -> None:
    """Print a report. Lines meant for pasting are never wrapped, however narrow the terminal is."""
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


def _reason(reason: FailureReason) -> RenderableType:
    cases = [result.case for result in reason.results]
    more = f" and {len(cases) - MAX_CASES_SHOWN} more" if len(cases) > MAX_CASES_SHOWN else ""
    return Text.assemble((reason.title, "bold"), f"\n  {', '.join(cases[:MAX_CASES_SHOWN])}{more}")


def _counts(report: Report) -> Text:
    text = Text()
    for kind in Outcome:
        if count := report.count(kind):
            text.append(f"{SIGNS[kind]} {count} {kind}", STYLES[kind])
            text.append("   ")
    return text.append(f"in {report.seconds:.1f} s") if report.results else Text(count_outcomes(report))
