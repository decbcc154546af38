"""Reports for programs: JUnit XML, TAP, JSON, Gradescope results, and Markdown."""

import json as text_json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from textwrap import indent
from typing import Any, Final
from xml.etree import ElementTree as ET

from croupier.conformance.clauses import find_clause
from croupier.conformance.report.hexdump import first_difference, printable
from croupier.conformance.report.html import html
from croupier.conformance.report.summary import (
    LOOKS,
    MEANINGS,
    ShownLine,
    count_outcomes,
    dialogue,
    facts,
    failed_results,
    failure_bytes,
    failure_groups,
    headline,
    repeat_command,
    result_note,
    show_line,
    verdict_sentence,
)
from croupier.conformance.results import Failure, Outcome, Report, Result

JSON_SCHEMA: Final = "croupier-check/1"
"""The version of the JSON format; within it, fields keep their names and meanings."""


def failure_text(report: Report, result: Result) -> str:
    """All details of a failure as plain text."""
    return "\n".join(_block(report, result))


def _block(report: Report, result: Result) -> Iterator[str]:
    yield from (f"{name}: {printable(text)}" for name, text in facts(result))
    yield from map(str, failure_bytes(result))
    if lines := dialogue(result):
        yield "dialogue:"
        yield from (indent(str(line), "  ") for line in lines)
    yield f"repeat: {repeat_command(report, result)}"


def junit(report: Report) -> str:
    """JUnit XML: a suite per run, a test per case. SKIP is a skipped test; other notes are the output of a test."""
    failed = len(failed_results(report))
    skipped = report.count(Outcome.SKIP)
    numbers = {"tests": str(len(report.results)), "failures": str(failed), "errors": "0", "skipped": str(skipped)}
    numbers["time"] = f"{report.seconds:.3f}"
    suites = ET.Element("testsuites", {"name": "croupier check", **numbers})
    suite = ET.SubElement(suites, "testsuite", {"name": f"{report.room} {report.role}", **numbers})
    suite.set("timestamp", _timestamp(report))
    properties = ET.SubElement(suite, "properties")
    for name, value in (
        ("target", report.target),
        ("version", report.version),
        ("seed", report.seed),
        ("dialect", report.dialect),
        *(("cause", group.title) for group in failure_groups(report.results)),
    ):
        ET.SubElement(properties, "property", {"name": name, "value": printable(str(value))})
    for result in report.results:
        _junit_case(suite, report, result)
    if report.stderr:
        ET.SubElement(suite, "system-err").text = printable(report.stderr)
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _junit_case(suite: ET.Element, report: Report, result: Result) -> None:
    room, section, slug = result.case.split("/", 2)
    case = ET.SubElement(suite, "testcase", {"classname": f"{room}.{section}", "name": slug})
    case.set("time", f"{result.seconds:.3f}")
    if result.outcome is Outcome.SKIP:
        ET.SubElement(case, "skipped", {"message": printable(result.note)})
    elif not result.is_good:
        failure = ET.SubElement(
            case, "failure", {"type": result.outcome.value, "message": printable(result_note(result))}
        )
        failure.text = printable(failure_text(report, result))
    elif result.note:
        ET.SubElement(case, "system-out").text = printable(f"{result.outcome}: {result.note}")


def _timestamp(report: Report) -> str:
    return datetime.fromtimestamp(report.started_at, UTC).isoformat(timespec="seconds")


def tap(report: Report) -> str:
    """TAP version 14: a test point per case, with the details of a failure as YAML."""
    lines = ["TAP version 14", f"1..{len(report.results)}"]
    lines += [f"# {_line(group.title)}" for group in failure_groups(report.results)]
    for number, result in enumerate(report.results, 1):
        name = f"{result.case} {result.title}".replace("\\", "\\\\").replace("#", r"\#")
        point = f"{'ok' if result.is_good else 'not ok'} {number} - {_line(name)}"
        if result.outcome is Outcome.SKIP:
            point += f" # SKIP {_line(result.note)}".rstrip()
        lines.append(point)
        if result.outcome not in {Outcome.PASS, Outcome.SKIP}:
            lines += ["  ---", *(f"  {name}: {_yaml(value)}" for name, value in _tap_details(report, result)), "  ..."]
    return "\n".join(lines) + "\n"


def _tap_details(report: Report, result: Result) -> Iterator[tuple[str, Any]]:
    yield "outcome", result.outcome.value
    yield "message", result_note(result)
    if result.failure is not None:
        yield "clause", result.failure.clause
        yield "expected", result.failure.expected
        yield "actual", result.failure.actual
        yield "cause", str(result.failure.cause or "")
    yield "dialogue", [_tap_line(line) for line in dialogue(result)]
    yield "repeat", repeat_command(report, result)


def _tap_line(line: ShownLine) -> str:
    pieces = f" ({line.pieces})" if line.pieces else ""
    return f"{line.side}: {line.text}{pieces}".removeprefix(": ")


def _line(text: str) -> str:
    return " ".join(printable(text).split())


def _yaml(value: Any) -> str:
    """A value in YAML, of which JSON's strings and lists are a subset."""
    return text_json.dumps(_printable(value), ensure_ascii=False)


def json(report: Report) -> str:
    """The whole report as JSON. The fields are described in docs/check.md; bytes are hexadecimal."""
    report_data = {
        "schema": JSON_SCHEMA,
        "room": report.room,
        "role": report.role,
        "target": report.target,
        "version": report.version,
        "seed": report.seed,
        "begun": _timestamp(report),
        "seconds": report.seconds,
        "status": report.exit_status,
        "dialect": report.dialect,
        "stderr": report.stderr,
        "counts": {outcome.value: report.count(outcome) for outcome in Outcome},
        "reasons": [
            {
                "cause": str(group.cause or ""),
                "clause": group.clause,
                "example": group.example.case,
                "cases": [result.case for result in group.results],
            }
            for group in failure_groups(report.results)
        ],
        "results": [_json_result(report, result) for result in report.results],
    }
    return text_json.dumps(_printable(report_data), indent=2, ensure_ascii=False) + "\n"


def _json_result(report: Report, result: Result) -> dict[str, Any]:
    return {
        "case": result.case,
        "title": result.title,
        "clause": result.clause,
        "outcome": result.outcome.value,
        "note": result.note,
        "failure": None if result.failure is None else _json_failure(result.failure),
        "dialogue": [
            {"side": shown.side, "text": shown.text, "hex": line.data.hex(), "pieces": shown.pieces, "at": line.at}
            for shown, line in zip(map(show_line, result.dialogue), result.dialogue, strict=True)
        ],
        "repeat": repeat_command(report, result),
        "seconds": result.seconds,
    }


def _json_failure(failure: Failure) -> dict[str, Any]:
    clause = find_clause(failure.clause)
    return {
        "clause": failure.clause,
        "text": clause.text,
        "source": clause.citation,
        "expected": failure.expected,
        "actual": failure.actual,
        "wanted": None if failure.wanted is None else failure.wanted.hex(),
        "got": failure.got.hex(),
        "first_wrong": None if failure.wanted is None else first_difference(failure.wanted, failure.got),
        "cause": str(failure.cause or ""),
    }


def gradescope(report: Report) -> str:
    """Gradescope's results.json: a point for every case that does not fail; skipped cases are worth nothing."""
    tests = []
    for result in report.results:
        points = 0 if result.outcome is Outcome.SKIP else 1
        test: dict[str, Any] = {
            "name": f"{result.case}: {result.title}",
            "score": points if result.is_good else 0,
            "max_score": points,
            "status": "passed" if result.is_good else "failed",
            "output": failure_text(report, result) if result.outcome is not Outcome.PASS else MEANINGS[Outcome.PASS],
            "output_format": "text",
            "visibility": "visible",
            "tags": [result.clause, result.outcome.value],
        }
        tests.append(test)
    report_data = {
        "output": "\n".join(
            [
                headline(report),
                verdict_sentence(report),
                count_outcomes(report),
                report.dialect,
                *(group.title for group in failure_groups(report.results)),
            ]
        ).strip(),
        "output_format": "text",
        "execution_time": report.seconds,
        "visibility": "visible",
        "stdout_visibility": "visible",
        "tests": tests,
    }
    return text_json.dumps(_printable(report_data), indent=2, ensure_ascii=False) + "\n"


def _printable(value: Any) -> Any:
    """Escape all strings in a value."""
    match value:
        case str():
            return printable(value)
        case list():
            return [_printable(each) for each in value]
        case dict():
            return {name: _printable(each) for name, each in value.items()}
    return value


def markdown(report: Report) -> str:
    """Markdown: counts, reasons, every failure with its details, and a table of all cases."""
    lines = [
        f"# {_escaped(headline(report))}",
        "",
        f"**{verdict_sentence(report)}** {count_outcomes(report)} in {report.seconds:.1f} s.",
    ]
    if report.dialect:
        lines += ["", f"Dialect: {_escaped(report.dialect)}"]
    if found := failure_groups(report.results):
        lines += ["", "## Causes", "", *(f"- {_escaped(group.title)}" for group in found)]
    if failures := failed_results(report):
        lines += ["", "## Failures"]
    for result in failures:
        lines += ["", f"### {LOOKS[result.outcome].sign} {result.outcome} `{result.case}` {_escaped(result.title)}", ""]
        lines += [f"    {line}".rstrip() for line in failure_text(report, result).splitlines()]
    if report.stderr:
        lines += ["", "## What it wrote to stderr", "", *(f"    {line}" for line in _lines(report.stderr))]
    lines += ["", "## All cases", "", "| | Outcome | Case | Title | |", "|---|---|---|---|---|"]
    for result in report.results:
        cells = (LOOKS[result.outcome].sign, result.outcome, f"`{result.case}`", _escaped(result.title))
        lines.append(f"| {' | '.join(cells)} | {_escaped(result_note(result))} |")
    return "\n".join(lines) + "\n"


def _lines(text: str) -> list[str]:
    return printable(text).splitlines()


def _escaped(text: str) -> str:
    """Text in one line, with the special characters of Markdown escaped."""
    return "".join(f"\\{c}" if c in "\\`*_[]<>|#~" else c for c in _line(text))


REPORT_FORMATS: Final[Mapping[str, Callable[[Report], str]]] = {
    "html": html,
    "junit": junit,
    "tap": tap,
    "json": json,
    "gradescope": gradescope,
    "md": markdown,
}
"""The report formats by the name of their option."""
