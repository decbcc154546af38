"""What was found, for a terminal: with colours where there are any, and always with a sign and a word."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from croupier.conformance.report.hexdump import MISSING, Row, dump, hexed, letter, printable, rows
from croupier.conformance.report.summary import (
    SIGNS,
    Reason,
    bad,
    broken,
    counted,
    dialogue,
    examples,
    headline,
    reasons,
    repeat,
    told,
    verdict,
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
"""Blue and red can be told apart by nearly everybody, and the sign and the word by all."""

WRONG: Final = "bold reverse"
"""The first wrong byte."""

IDS: Final = 12
"""So many cases of one reason are listed."""


def line(result: Result) -> Text:
    """A result in a line, as it comes."""
    text = Text.assemble(outcome(result.outcome), f" {result.case} ", (printable(result.title), "dim"))
    if result.outcome is not Outcome.PASS and (said := told(result)):
        text.append(f"\n{'':16}{' '.join(printable(said).split())}")
    return text


def outcome(kind: Outcome) -> Text:
    """An outcome: its sign, its word, and its colour."""
    return Text(f"{SIGNS[kind]} {kind:13}", STYLES[kind])


def terminal(report: Report) -> Sequence[RenderableType]:
    """A run: failures with all that is known of them, one for each reason and clause, and the numbers."""
    parts: list[RenderableType] = []
    for result in examples(report):
        parts += [
            Rule(Text.assemble(outcome(result.outcome), f" {result.case} "), align="left"),
            *block(report, result),
        ]
    parts += [_reason(reason) for reason in reasons(report) if len(reason.results) > 1]
    if report.stderr and bad(report):
        parts += [Rule(Text("what it wrote to stderr "), align="left"), _whole(report.stderr)]
    parts += [Rule(), _whole(headline(report), "bold")]
    if report.dialect:
        parts.append(Text.assemble(("dialect: ", "bold"), report.dialect))
    return [*parts, _numbers(report), Text(verdict(report), "bold")]


def show(console: Console, parts: Iterable[RenderableType]) -> None:
    """Print a run. Lines that are to be pasted are not broken, however narrow the terminal is."""
    for part in parts:
        console.print(part, soft_wrap=isinstance(part, Text) and bool(part.no_wrap))


def _whole(text: str, style: str = "") -> Text:
    return Text(printable(text), style, no_wrap=True)


def block(report: Report, result: Result) -> Iterator[RenderableType]:
    """All that is known of a failure."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("case", Text(printable(result.title)))
    failure = result.failure
    if failure is not None:
        clause = broken(failure)
        table.add_row("clause", Text.assemble((failure.clause, "bold"), f" {clause.text}"))
        if clause.source:
            table.add_row("source", Text(clause.told))
        table.add_row("expected", Text(printable(failure.expected)))
        table.add_row("actual", Text(printable(failure.actual)))
    elif result.told:
        table.add_row("told", Text(printable(result.told)))
    if dialogue(result):
        table.add_row("dialogue", _dialogue(result))
    if failure is not None and failure.cause:
        table.add_row("likely", Text(failure.cause, "bold"))
    yield table
    yield from _bytes(failure)
    yield _whole(f"repeat: {repeat(report, result)}")


def _dialogue(result: Result) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_column(overflow="fold")
    for spoken in dialogue(result):
        table.add_row(Text(spoken.side, "dim"), Text(spoken.text), Text(spoken.hex, "dim"))
    return table


def _bytes(failure: Failure | None) -> Iterator[RenderableType]:
    if failure is not None and failure.wanted is not None:
        yield Padding(_side_by_side(failure.wanted, failure.got), (1, 0, 0, 2))
    elif failure is not None and failure.got:
        yield Padding(Text(dump(failure.got[:64])), (1, 0, 0, 2))


def _side_by_side(wanted: bytes, got: bytes) -> Table:
    """Both strings of bytes, and a mark below the first wrong byte."""
    table = Table.grid(padding=(0, 2))
    for _ in range(5):
        table.add_column(no_wrap=True)
    table.add_row("", Text("expected", "dim"), "", Text("actual", "dim"), "")
    for row in rows(wanted, got):
        table.add_row(
            Text(f"{row.at:04X}", "dim"),
            Text(" ".join(map(hexed, row.wanted))),
            Text("".join(map(letter, row.wanted))),
            _came(row),
            Text("".join(map(letter, row.got))),
        )
        if row.wrong is not None:
            table.add_row("", "", "", Text(f"{'':{3 * row.wrong}}^^"), "")
    return table


def _came(row: Row) -> Text:
    text = Text()
    for place, (byte, differs) in enumerate(zip(row.got, row.differs, strict=True)):
        shown = MISSING if place == row.wrong and byte is None else hexed(byte)
        text.append(shown, WRONG if place == row.wrong else "bold" if differs else "")
        text.append(" " if place < len(row.got) - 1 else "")
    return text


def _reason(reason: Reason) -> RenderableType:
    cases = [result.case for result in reason.results]
    more = f" and {len(cases) - IDS} more" if len(cases) > IDS else ""
    return Text.assemble((reason.told, "bold"), f"\n  {', '.join(cases[:IDS])}{more}")


def _numbers(report: Report) -> Text:
    text = Text()
    for kind in Outcome:
        if count := report.count(kind):
            text.append(f"{SIGNS[kind]} {count} {kind}", STYLES[kind])
            text.append("   ")
    return text.append(f"in {report.seconds:.1f} s") if report.results else Text(counted(report))
