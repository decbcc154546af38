"""What all reports share: signs of outcomes, failures with their clause, reasons and dialogues."""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from croupier.conformance.clauses import Clause, find_clause
from croupier.conformance.conversation import DialogueLine
from croupier.conformance.report.hexdump import is_plain_text, printable
from croupier.conformance.results import Failure, Outcome, Report, Result
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT

SIGNS: Final[Mapping[Outcome, str]] = {
    Outcome.PASS: "✔",
    Outcome.FAIL: "✘",
    Outcome.NON_STRICT: "≈",
    Outcome.CHOICE: "?",
    Outcome.UNIMPLEMENTED: "∅",
    Outcome.SKIP: "-",
}
"""The sign before the name of an outcome; no report relies on colour alone."""

MEANINGS: Final[Mapping[Outcome, str]] = {
    Outcome.PASS: "as the protocol has it",
    Outcome.FAIL: "breaks the protocol",
    Outcome.NON_STRICT: "departs from the protocol in a way that it tolerates",
    Outcome.CHOICE: "the document is silent; the note says what was chosen",
    Outcome.UNIMPLEMENTED: "refused wherever it was asked for",
    Outcome.SKIP: "could not be shown",
}

END_NAMES: Final = {CLIENT: "client"}
"""The name of an end; every other is the server."""

MAX_DIALOGUE_LINES: Final = 6
"""At most this many of the last messages of a dialogue are shown."""


class ShownLine(Struct, frozen=True):
    """A line of a dialogue: its side, its text, and its bytes in hexadecimal unless the text shows them."""

    side: str
    text: str
    hex: str


class FailureReason(Struct, frozen=True):
    """A cause, and the cases that fail because of it."""

    cause: str
    results: tuple[Result, ...]

    @property
    def title(self) -> str:
        """A sentence with the cause and the number of cases."""
        count = len(self.results)
        return f"{self.cause}: {count} cases fail for this one reason" if count > 1 else f"{self.cause}: 1 case fails"


def show_line(line: DialogueLine) -> ShownLine:
    """Describe a line for people."""
    side = END_NAMES.get(line.side, "server")
    if isinstance(line.message, Violation):
        text = line.data.decode("latin-1")
        return ShownLine(
            side, printable(text).replace("\n", r"\n"), "" if is_plain_text(line.data) else hexadecimal(line.data)
        )
    text = str(line.message)
    same = is_plain_text(line.data) and text.encode("latin-1", "replace").endswith(
        line.data
    )  # the text may name the ends first
    return ShownLine(side, printable(text).replace("\n", r"\n"), "" if same else hexadecimal(line.data))


def hexadecimal(data: bytes, max_bytes: int = 64) -> str:
    """Bytes in hexadecimal, at most the first `max_bytes` of them."""
    return data[:max_bytes].hex(" ").upper() + (" …" if len(data) > max_bytes else "")


def dialogue(result: Result) -> tuple[ShownLine, ...]:
    """The last messages of a result's dialogue."""
    return tuple(show_line(line) for line in result.dialogue[-MAX_DIALOGUE_LINES:])


def broken_clause(failure: Failure) -> Clause:
    """The clause that a failure has broken."""
    return find_clause(failure.clause)


def repeat_command(report: Report, result: Result) -> str:
    """The command that repeats just this case."""
    return report.repeat_template.replace("{case}", result.case)


def failed_results(report: Report) -> tuple[Result, ...]:
    """The results with which the run does not pass, in their order."""
    return tuple(result for result in report.results if not result.is_good)


def failure_reasons(report: Report) -> tuple[FailureReason, ...]:
    """The causes of failures, the one with the most cases first, without mere guesses."""
    found: dict[str, list[Result]] = {}
    for result in failed_results(report):
        if (cause := _confirmed_cause(result)) is not None:
            found.setdefault(cause, []).append(result)
    reasons = [FailureReason(cause, tuple(results)) for cause, results in found.items()]
    return tuple(sorted(reasons, key=lambda reason: -len(reason.results)))


def _confirmed_cause(result: Result) -> str | None:
    """The cause of a failure, None without one or if it is a guess."""
    cause = None if result.failure is None else result.failure.cause
    return None if cause is None or cause.is_guess else cause.text


def examples(report: Report) -> tuple[Result, ...]:
    """The failures to show: for every reason the first on each clause, and all without a reason."""
    found: dict[tuple[str, str], Result] = {}
    single = []
    causes = {reason.cause for reason in failure_reasons(report)}
    for result in failed_results(report):
        if result.failure is not None and (cause := _confirmed_cause(result)) in causes:
            found.setdefault((str(cause), result.failure.clause), result)
        else:
            single.append(result)
    shown = {result.case for result in (*found.values(), *single)}
    return tuple(result for result in failed_results(report) if result.case in shown)


def count_outcomes(report: Report) -> str:
    """The number of cases per outcome, in a line: `57 PASS, 2 FAIL`."""
    parts = [f"{count} {outcome}" for outcome in Outcome if (count := report.count(outcome))]
    return ", ".join(parts) or "no case was run"


def headline(report: Report) -> str:
    """What was tested."""
    return f"{report.room}: the {report.role} {printable(report.target)}"


def verdict_sentence(report: Report) -> str:
    """The verdict in a sentence."""
    if report.exit_status == 1 and not report.count(Outcome.FAIL):
        return "It does not have all of the protocol."
    if report.exit_status == 2 and report.count(Outcome.SKIP) < len(report.results):
        skipped = f"{report.count(Outcome.SKIP)} of {len(report.results)} cases were skipped"
        return f"Too little could be tested: {report.stopped_reason or skipped}."
    return ("No case fails.", "It breaks the protocol.", "Nothing could be tested.")[report.exit_status]


def result_note(result: Result) -> str:
    """A result in a sentence: expected and actual, or its note."""
    if result.failure is not None:
        return f"expected {result.failure.expected}; came {result.failure.actual}"
    return result.note


def by_section(results: Sequence[Result]) -> Mapping[str, Sequence[Result]]:
    """Group results by the sections of their clauses: `kuhn-4`, in the order in which they come."""
    found: dict[str, list[Result]] = {}
    for result in results:
        found.setdefault(result.clause.partition(".")[0], []).append(result)
    return found
