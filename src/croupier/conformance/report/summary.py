"""What all reports share: outcomes, what is known of a failure, its bytes and its dialogue, and groups of failures."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from msgspec import Struct

from croupier.conformance.clauses import find_clause
from croupier.conformance.conversation import UNFINISHED_MESSAGE, DialogueLine
from croupier.conformance.diagnosis.cause import CONJUNCTION, Cause
from croupier.conformance.report.hexdump import DumpLine, hex_diff, hex_dump, is_plain_text, is_utf8, printable
from croupier.conformance.report.look import Look
from croupier.conformance.results import CLAUSE_FAILURES_ALONE, Outcome, Report, Result
from croupier.core.errors import Violation
from croupier.core.plural import format_count
from croupier.core.referee import CLIENT, HOUSE, Party
from croupier.http.wire import HttpMessage

LOOKS: Final[Mapping[Outcome, Look]] = {
    Outcome.PASS: Look("✔", "blue", "#0060a8", "#6fb8ff"),
    Outcome.FAIL: Look("✘", "bold bright_red", "#b03a00", "#ff8f57"),
    Outcome.NON_STRICT: Look("≈", "yellow", "#7a5c00", "#e8c454"),
    Outcome.CHOICE: Look("?", "cyan", "#006b5b", "#5fd3bd"),
    Outcome.UNIMPLEMENTED: Look("∅", "bold magenta", "#8a2a73", "#f09bd6"),
    Outcome.SKIP: Look("-", "dim", "#5d5d5d", "#a8a8a8"),
}
"""How outcomes look. No report relies on colour alone: the sign stands before the name of the outcome."""

MEANINGS: Final[Mapping[Outcome, str]] = {
    Outcome.PASS: "as the protocol has it",
    Outcome.FAIL: "breaks the protocol",
    Outcome.NON_STRICT: "departs from the protocol in a way that it tolerates",
    Outcome.CHOICE: "no fault: the document leaves open what the program does",
    Outcome.UNIMPLEMENTED: "refused wherever it was asked for",
    Outcome.SKIP: "not tested, for the reason in the note",
}

END_NAMES: Final[Mapping[Party, str]] = {CLIENT: "client", HOUSE: "server"}
"""The ends of a conversation as the roles of the programs that are under test."""

MAX_CLAUSES_NAMED: Final = 3
"""At most this many broken clauses are named in the verdict."""

MAX_DIALOGUE_LINES: Final = 6
"""At most this many of the last messages of a dialogue are shown."""

MAX_DUMPED_BYTES: Final = 64
"""At most this many bytes are shown in hexadecimal where no others were expected."""

MAX_PIECES_SHOWN: Final = 4
"""The sizes of at most this many pieces of a message are shown."""

MAX_SHOWN_HTTP_BYTES: Final = 8000
"""At most this many bytes of a request or a response are shown; the JSON report has all of them."""


class ShownLine(Struct, frozen=True):
    """A line of a dialogue: its side, its text, and its bytes in hexadecimal unless the text shows them.

    `pieces` says how the tester has sent it, if that was not alone and in one piece, or that it is not complete.
    """

    side: str
    text: str
    hex: str = ""
    pieces: str = ""

    @property
    def details(self) -> str:
        """The bytes in hexadecimal, and the pieces."""
        return "  ".join(filter(None, (self.hex, f"({self.pieces})" if self.pieces else "")))

    def __str__(self) -> str:
        text = self.text.replace("\n", f"\n{'':8}")
        details = (f"[{self.hex}]" if self.hex else "", f"({self.pieces})" if self.pieces else "")
        return "   ".join((f"{self.side:<6}  {text}", *filter(None, details)))


class FailureGroup(Struct, frozen=True):
    """Failures with one confirmed cause, or without one on one clause. `results` are in the order of the run."""

    cause: Cause | None
    results: tuple[Result, ...]

    @property
    def example(self) -> Result:
        """The failure to show: the first with a short dialogue."""
        return next((one for one in self.results if len(one.dialogue) <= MAX_DIALOGUE_LINES), self.results[0])

    @property
    def clause(self) -> str:
        """The clause that the example breaks."""
        return broken_clause(self.example)

    @property
    def shared_clause(self) -> str:
        """The clause that all failures break, empty if they break several."""
        clauses = {broken_clause(result) for result in self.results}
        return self.clause if len(clauses) == 1 else ""

    @property
    def title(self) -> str:
        """A sentence with the cause or the clause, and the number of cases."""
        first_sentence = find_clause(self.clause).first_sentence.rstrip(".:")
        reason = self.cause or f"{self.clause}{f' ({first_sentence})' * bool(first_sentence)}"
        return f"{reason}: {failing(len(self.results), 'case')}"


def failing(count: int, noun: str) -> str:
    """How many cases fail, in words: `1 case fails`, `2 more cases fail`."""
    return f"{format_count(count, noun)} {'fails' if count == 1 else 'fail'}"


def show_line(line: DialogueLine) -> ShownLine:
    """Describe a line for people."""
    side = END_NAMES[line.side]
    if isinstance(line.message, HttpMessage):
        return _show_http(side, line.data)
    text = line.data.decode("latin-1") if isinstance(line.message, Violation) else str(line.message)
    is_all = is_plain_text(line.data) and text.endswith(line.data.decode("latin-1"))  # it may name the ends first
    data = "" if is_all else hexadecimal(line.data)
    return ShownLine(side, printable(text).replace("\n", r"\n"), data, _describe_pieces(line))


def _describe_pieces(line: DialogueLine) -> str:
    """How a message of the tester was sent, empty if that was in one piece; or that it is only the beginning of one.

    A client that does not wait for an answer is noted, too. Several answers to one message are usual.
    """
    if line.message is UNFINISHED_MESSAGE:
        return "only the beginning of a message"
    if line.cuts is None:
        return ""
    starts = [0, *(cut for cut in line.cuts if cut), len(line.data)]
    sizes = [end - start for start, end in pairwise(starts)]
    is_joined = line.side == CLIENT and 0 not in line.cuts
    if len(sizes) == 1:
        return "sent in one piece with the message before" if is_joined else ""
    if {*sizes} == {1}:
        shown = "one byte at a time"
    elif len(sizes) <= MAX_PIECES_SHOWN:
        shown = f"in pieces of {', '.join(map(str, sizes[:-1]))} and {sizes[-1]} bytes"
    else:
        shown = f"in pieces of at most {format_count(max(sizes), 'byte')}"
    return f"sent {shown}" + ", the first with the message before" * is_joined


def _show_http(side: str, data: bytes) -> ShownLine:
    """Show a request or a response line by line, as it was on the wire; in hexadecimal only what is not UTF-8."""
    shown = data[:MAX_SHOWN_HTTP_BYTES]
    omitted = len(data) - len(shown)
    text = shown.decode(errors="backslashreplace").replace("\r\n", "\n").removesuffix("\n")
    more = f" … {format_count(omitted, 'more byte')}" if omitted else ""
    return ShownLine(side, f"{printable(text)}{more}", "" if is_utf8(data) else hexadecimal(data))


def hexadecimal(data: bytes) -> str:
    """The first MAX_DUMPED_BYTES bytes in hexadecimal."""
    return data[:MAX_DUMPED_BYTES].hex(" ").upper() + (" …" if len(data) > MAX_DUMPED_BYTES else "")


def dialogue(result: Result) -> tuple[ShownLine, ...]:
    """The dialogue of a result: its last messages, after a line that counts the messages before them."""
    lines = result.dialogue[-MAX_DIALOGUE_LINES:]
    before = len(result.dialogue) - len(lines)
    omitted = [ShownLine("", f"… {format_count(before, 'message')} before")] if before else []
    return (*omitted, *map(show_line, lines))


def broken_clause(result: Result) -> str:
    """The clause that a result breaks; the clause under test if there is no failure."""
    return result.clause if result.failure is None else result.failure.clause


def facts(result: Result) -> Iterator[tuple[str, str]]:
    """What is known of a result, for people: pairs of a name and a text."""
    failure = result.failure
    if failure is None:
        yield from [("note", result.note)] if result.note else ()
        return
    clause = find_clause(failure.clause)
    yield "clause", f"{failure.clause} {clause.text}".rstrip()
    if clause.source:
        yield "source", clause.citation
    yield "expected", failure.expected
    yield "actual", failure.actual
    if failure.cause:
        yield "likely cause", failure.cause.text
    elif result.passes_alone:
        yield "alone", "it passes at a server that has just started: what earlier clients have done changes it"


def failure_bytes(result: Result) -> Sequence[DumpLine]:
    """The bytes of a failure in hexadecimal: expected and actual side by side, or what came; empty without any.

    The first bytes of a long text would show nothing that its dialogue does not.
    """
    failure = result.failure
    if failure is None:
        return ()
    if failure.wanted is None and len(failure.got) > MAX_DUMPED_BYTES and is_utf8(failure.got):
        return ()
    if failure.wanted is None:
        return hex_dump(failure.got[:MAX_DUMPED_BYTES])
    return hex_diff(failure.wanted, failure.got)


def repeat_command(report: Report, result: Result) -> str:
    """The command that repeats just this case, or all cases if it fails only after others."""
    selection = report.room if result.passes_alone else result.case
    command, spoken = report.repeat_template.replace("{case}", selection), report.spoken_dialect
    dialect = None if result.failure is None or result.failure.cause is None else result.failure.cause.dialect
    is_departure = dialect is not None and dialect.option == spoken
    return command if is_departure or not spoken else f"{command} --dialect {spoken}"


def failed_results(report: Report) -> tuple[Result, ...]:
    """The results with which the run does not pass, in their order."""
    return tuple(result for result in report.results if not result.is_good)


def failure_groups(results: Iterable[Result]) -> tuple[FailureGroup, ...]:
    """The failures by cause, the likeliest first: confirmed causes by their number of cases, then broken clauses.

    What fails only after other cases is a consequence, and comes last.
    """
    by_cause: dict[str, list[Result]] = {}
    by_clause: dict[str, list[Result]] = {}
    for result in results:
        if result.is_good:
            continue
        cause = None if result.failure is None else result.failure.cause
        if cause is not None and not cause.is_guess:
            by_cause.setdefault(cause.text, []).append(result)
        else:
            by_clause.setdefault(broken_clause(result), []).append(result)
    causes = [FailureGroup(Cause(text), tuple(results)) for text, results in by_cause.items()]
    clauses = [FailureGroup(None, tuple(results)) for results in by_clause.values()]
    clauses.sort(key=lambda group: all(result.passes_alone for result in group.results[:CLAUSE_FAILURES_ALONE]))
    return (*sorted(causes, key=lambda group: -len(group.results)), *clauses)


def notes(report: Report, outcome: Outcome) -> Mapping[str, Sequence[Result]]:
    """The results with an outcome by their notes, the most frequent note first."""
    found: dict[str, list[Result]] = {}
    for result in report.results:
        if result.outcome is outcome and result.note:
            found.setdefault(result.note, []).append(result)
    return dict(sorted(found.items(), key=lambda entry: -len(entry[1])))


def count_outcomes(report: Report) -> str:
    """The number of cases per outcome, in a line: `57 PASS, 2 FAIL`."""
    parts = [f"{count} {outcome}" for outcome in Outcome if (count := report.count(outcome))]
    return ", ".join(parts) or "no case was run"


def headline(report: Report) -> str:
    """What was tested."""
    return f"{report.room}: the {report.role} {printable(report.target)}"


def verdict_sentence(report: Report) -> str:
    """The verdict in a sentence, as a person would say it."""
    if report.exit_status == 0:
        count = report.count(Outcome.NON_STRICT)
        departing = f"{format_count(count, 'case')} {'departs' if count == 1 else 'depart'} from the protocol in a way"
        return f"No case fails.{f' {departing} that it tolerates; --strict does not.' * bool(count)}"
    if report.exit_status == 2:
        skipped = report.count(Outcome.SKIP)
        if skipped == len(report.results):
            reason = report.stopped_reason or next((each.reason for each in report.applicable_results), "")
            return f"Nothing could be tested{f': {reason}' * bool(reason)}."
        return f"Too little could be tested: {report.stopped_reason or _skipped_reason(report)}."
    groups = failure_groups(report.results)
    if not report.count(Outcome.FAIL):
        return "It does not have all of the protocol."
    if groups[0].cause is not None:
        departures = _all_departures(report, groups)
        broken = "" if departures else groups[0].shared_clause
        return f"It breaks {broken or 'the protocol'}: {departures or groups[0].cause}."
    clauses = list(dict.fromkeys(group.clause for group in groups))
    if len(clauses) == 1:
        return _broken_sentence(clauses[0])
    more = [f"{len(clauses) - MAX_CLAUSES_NAMED} more"] if len(clauses) > MAX_CLAUSES_NAMED else []
    *names, last = [*clauses[:MAX_CLAUSES_NAMED], *more]
    return f"It breaks {', '.join(names)}{' and ' * bool(names)}{last}."


def _all_departures(report: Report, groups: Sequence[FailureGroup]) -> str:
    """All dialects of a program whose likeliest cause is one, as one predicate; empty for any other program."""
    causes = [result.failure.cause for group in groups for result in group.results[:1] if result.failure is not None]
    dialects = [None if cause is None else cause.dialect for cause in causes]
    if not report.dialect or not dialects or dialects[0] is None:
        return ""
    parts = [part.description for dialect in dialects if dialect is not None for part in dialect.parts]
    return f"it {CONJUNCTION.join(dict.fromkeys(parts))}"


def _broken_sentence(clause: str) -> str:
    """The clause that is broken, with its first sentence."""
    first_sentence = find_clause(clause).first_sentence
    return f"It breaks {clause}: {first_sentence}" if first_sentence else f"It breaks {clause}."


def _skipped_reason(report: Report) -> str:
    """How many cases were skipped, and the most frequent reason if there is one for several of them."""
    applicable = report.applicable_results
    reasons = Counter(result.reason for result in applicable if result.outcome is Outcome.SKIP)
    [(reason, count)] = reasons.most_common(1)
    because = f", {count} of them because {reason}" if reason and count > 1 else ""
    return f"{reasons.total()} of {len(applicable)} cases were skipped{because}"


def result_note(result: Result) -> str:
    """A result in a sentence: expected and actual, or its note."""
    if result.failure is not None:
        return f"expected {result.failure.expected}; actual {result.failure.actual}"
    return result.note


def by_section(results: Sequence[Result]) -> Mapping[str, Sequence[Result]]:
    """Group results by the sections of their clauses: `kuhn-4`, in the order in which they come."""
    found: dict[str, list[Result]] = {}
    for result in results:
        found.setdefault(result.clause.partition(".")[0], []).append(result)
    return found
