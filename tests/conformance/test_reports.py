"""Reports: every format describes the same run, is well-formed, and escapes hostile text."""

import io
import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest
from msgspec.structs import replace
from rich.console import Console

from croupier.conformance.conversation import UNFINISHED_MESSAGE, DialogueLine
from croupier.conformance.report.html import html
from croupier.conformance.report.reports import (
    REPORT_FORMATS,
    failure_text,
    gradescope,
    junit,
    markdown,
    tap,
)
from croupier.conformance.report.reports import json as as_json
from croupier.conformance.report.summary import (
    LOOKS,
    ShownLine,
    count_outcomes,
    dialogue,
    failure_bytes,
    failure_groups,
    show_line,
    verdict_sentence,
)
from croupier.conformance.report.terminal import print_parts, result_line, terminal
from croupier.conformance.results import Failure, Outcome, Report, Result
from croupier.core.referee import CLIENT, HOUSE
from croupier.rooms.kuhn.wire import STRT
from tests.conformance.sample_report import NASTY, QUOTED, QUOTES, REPORT, RESULTS

EMPTY = replace(REPORT, results=(), stderr="")
CLEAN = replace(REPORT, results=RESULTS[:1], stderr="", dialect="the server shouts")
FAILURES = ("kuhn/4.2/deal-and-act", "kuhn/4.3/check", "kuhn/4.4/prose", "kuhn/4.6/call")

every_kind = pytest.mark.parametrize("kind", REPORT_FORMATS)
every_run = pytest.mark.parametrize("report", [REPORT, CLEAN, EMPTY], ids=["mixed", "clean", "empty"])


def shown(report: Report, *, is_complete: bool = False, **options: object) -> str:
    console = Console(file=io.StringIO(), width=100, **options)
    print_parts(console, terminal(report, is_complete=is_complete))
    return console.file.getvalue()


class Page(HTMLParser):
    """Reads a page strictly: every element is closed in its turn, and nothing comes from elsewhere."""

    VOID = frozenset({"meta", "input", "br", "link", "img"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.ids: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id" and value]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.text += data


def test_a_report_fits_80_columns_and_breaks_no_word() -> None:
    console = Console(file=io.StringIO(), width=80)
    print_parts(console, terminal(REPORT))
    text = console.file.getvalue()
    assert max(len(line) for line in text.splitlines() if not line.startswith("repeat: ")) <= 80
    assert not any(line.endswith(" ") for line in text.splitlines())
    words = set(text.split())
    for result in REPORT.results:
        for each in dialogue(result):
            assert each.side in words


@every_kind
@every_run
def test_a_report_is_text_that_can_be_written_and_harms_no_terminal(kind: str, report: Report) -> None:
    text = REPORT_FORMATS[kind](report)
    assert text.endswith("\n")
    text.encode()
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202e]", text)


@every_run
def test_the_page_is_well_formed_and_needs_nothing_but_itself(report: Report) -> None:
    page = Page(html(report))
    tags = {tag for tag, _ in page.seen}
    assert not tags & {"script", "link", "img", "iframe", "base"}
    assert not any(name in {"src", "href"} or name.startswith("on") for _, attrs in page.seen for name in attrs)
    assert not re.search(r"url\(|@import|https?:", html(report))
    assert len(page.ids) == len(set(page.ids))


def test_the_page_shows_every_case_and_filters_by_outcome() -> None:
    text = html(REPORT)
    page = Page(text)
    details = [attrs for tag, attrs in page.seen if tag == "details" and "class" in attrs]
    assert len(details) == len(RESULTS)
    assert sum("open" in attrs for attrs in details) == len(failure_groups(REPORT.results))
    report = replace(REPORT, results=(replace(RESULTS[6], clause="kuhn-4.1"),))
    assert "<h2>kuhn-4.1 (<code>STRT P_1</code> is answered" in html(report)
    assert page.text.index("It breaks kuhn-2.6: it puts quotes") < page.text.index("kuhn/4.2/deal-and-act")
    for outcome in Outcome:
        assert f"show-{outcome.value}" in page.ids
        assert f"body:has(#show-{outcome.value}:not(:checked)) .{outcome.value} {{ display: none; }}" in text
        assert f"{LOOKS[outcome].sign} {outcome.value}" in page.text
    assert page.text.count("<script>alert('x')</script>") >= 2, "it is text, and no script"
    assert "light-dark(" in text
    assert ("mark", {"title": "the first wrong byte"}) in page.seen


def test_the_page_of_a_run_shows_no_filter_for_what_did_not_come_up() -> None:
    assert Page(html(CLEAN)).ids == ["show-PASS"]


def test_a_failure_shows_all_that_is_known_of_it() -> None:
    assert failure_text(REPORT, RESULTS[1]).splitlines() == [
        "clause: kuhn-2.6 A known code and a space followed by three characters that are not one of its arguments "
        "(`STRT P_3`) form a message without a meaning. Its length is known, so the conversation continues after it. "
        "A house answers FAIL W_A.",
        "source: ruling K6",
        "expected: CARD with C_J, C_Q, C_K",
        "actual: 'CARD \"C_'",
        f"likely cause: {QUOTES}",
        "      expected                           actual",
        '0000  43 41 52 44 20 43 5F 51  CARD C_Q  43 41 52 44 20 22 43 5F  CARD "C_',
        "                                                        ^^",
        '0008                                     51 22                    Q"',
        "dialogue:",
        "  client  STRT P_1",
        '  server  CARD "C_',
        "repeat: croupier check kuhn/4.2/deal-and-act 127.0.0.1:1212 --seed 7",
    ]


def test_bytes_that_are_no_text_are_shown_in_hexadecimal_as_well() -> None:
    assert r"  server  \x1b[2J   [1B 5B 32 4A]" in failure_text(REPORT, RESULTS[3])


def test_a_long_text_is_not_shown_in_hexadecimal() -> None:
    long = Failure("kuhn-2.7", "a", "b", None, b"POST /games/1/players/ HTTP/1.1\r\n" * 3)
    assert failure_bytes(replace(RESULTS[3], failure=long)) == ()
    assert failure_bytes(replace(RESULTS[3], failure=replace(long, got=b"\xff" * 99)))
    assert failure_bytes(replace(RESULTS[3], failure=replace(long, got=b"ACTN CAL")))


@pytest.mark.parametrize(
    ("side", "cuts", "pieces"),
    [
        (CLIENT, None, ""),
        (CLIENT, (0,), ""),
        (CLIENT, (0, 5), "sent in pieces of 5 and 3 bytes"),
        (CLIENT, (2, 5), "sent in pieces of 2, 3 and 3 bytes, the first with the message before"),
        (CLIENT, (), "sent in one piece with the message before"),
        (CLIENT, (0, 1, 2, 3, 4, 5, 6, 7), "sent one byte at a time"),
        (CLIENT, (0, 1, 3, 4, 5, 6, 7), "sent in pieces of at most 2 bytes"),
        (HOUSE, (), ""),
        (HOUSE, (3,), "sent in pieces of 3 and 5 bytes"),
    ],
)
def test_a_line_says_how_the_tester_has_sent_it(side: int, cuts: tuple[int, ...] | None, pieces: str) -> None:
    line = DialogueLine(side, b"STRT P_1", STRT["P_1"], 0.0, cuts)
    assert show_line(line).pieces == pieces
    beginning = DialogueLine(side, b"STR", UNFINISHED_MESSAGE, 0.0, cuts)
    assert show_line(beginning).pieces == "only the beginning of a message"


@every_kind
def test_the_pieces_of_a_message_are_in_every_report(kind: str) -> None:
    line = DialogueLine(CLIENT, b"STRT P_1", STRT["P_1"], 0.0, (0, 5))
    report = replace(REPORT, results=(replace(RESULTS[1], dialogue=(line,)),))
    assert "sent in pieces of 5 and 3 bytes" in REPORT_FORMATS[kind](report)
    assert "sent in pieces of 5 and 3 bytes" in shown(report)


def test_the_lines_of_a_request_stay_in_their_column() -> None:
    line = ShownLine("client", "GET /games HTTP/1.1\nHost: example", "C3")
    assert str(line).splitlines() == ["client  GET /games HTTP/1.1", "        Host: example   [C3]"]


def test_failures_are_grouped_by_cause_and_then_by_clause() -> None:
    first, *others = failure_groups(REPORT.results)
    assert first.title == f"{QUOTES}: 2 cases fail"
    assert [result.case for result in first.results] == ["kuhn/4.2/deal-and-act", "kuhn/4.3/check"]
    assert [group.title for group in others] == [
        "kuhn-2.7 (Anything else is unreadable: four bytes that are not a code, a code that takes an argument and is "
        "not followed by a space, an opening quote without its closing quote): 1 case fails",
        "kuhn-4.6 (When the house has bet and the client calls, the house answers CARD: a showdown): 1 case fails",
    ]


def test_a_long_dialogue_counts_the_messages_before_those_shown() -> None:
    lines = tuple(QUOTED.lines) * 5
    shown_lines = dialogue(replace(RESULTS[1], dialogue=lines))
    assert [line.text for line in shown_lines] == [
        "… 4 messages before",
        *[line.text for line in dialogue(RESULTS[1])] * 3,
    ]


def test_many_causes_are_counted_and_a_complete_report_shows_them() -> None:
    failures = [
        replace(RESULTS[3], case=f"kuhn/4.4/{number}", failure=Failure(f"kuhn-6.{number}", "a", "b"))
        for number in range(1, 8)
    ]
    report = replace(REPORT, results=tuple(failures))
    assert "2 more clauses broken in 2 cases: --all shows them" in shown(report)
    assert "kuhn/4.4/7" not in shown(report)
    assert "kuhn/4.4/7" in shown(report, is_complete=True)
    assert verdict_sentence(report) == "It breaks kuhn-6.1, kuhn-6.2, kuhn-6.3 and 4 more."
    assert verdict_sentence(replace(report, results=tuple(failures[:1]))) == (
        "It breaks kuhn-6.1: The house answers FAIL W_A to an ACTN with an action that is not among the choices at "
        "this point of the game."
    )


def test_on_a_terminal_each_reason_is_shown_once_and_every_failure_is_named() -> None:
    text = shown(REPORT)
    assert all(case in text for case in FAILURES)
    assert text.count("43 41 52 44 20 22") == 1
    assert "1 more case fails for this reason\n  kuhn/4.3/check\n" in text
    assert text.rstrip().endswith(f"It breaks kuhn-2.6: {QUOTES}.")


def test_a_line_names_the_broken_clause_unless_it_is_that_of_the_case() -> None:
    result = replace(RESULTS[3], case="kuhn/4.4/x", clause="kuhn-4.4", failure=Failure("kuhn-6.1", "a", "b"))
    assert "kuhn-6.1: expected a; actual b" in result_line(result).plain
    result = replace(result, failure=Failure("kuhn-4.4", "a", "b"))
    assert result_line(result).plain.endswith("  expected a; actual b")


def test_outcomes_are_told_by_sign_and_word_where_there_are_no_colours() -> None:
    for options in ({"no_color": True, "force_terminal": True}, {"force_terminal": False}):
        text = shown(REPORT, **options)
        for outcome in Outcome:
            assert re.search(rf"{re.escape(LOOKS[outcome].sign)} \d+ {outcome.value}", text)
    assert "\x1b" not in shown(REPORT, force_terminal=False)


def test_a_terminal_is_not_told_what_to_do_by_a_program_under_test() -> None:
    text = shown(REPORT, force_terminal=True, color_system=None)
    assert r"\x1b[31m" in text
    assert "\x1b[31m" not in text


def test_junit_counts_and_names_every_case() -> None:
    suites = ET.fromstring(junit(REPORT))
    (suite,) = suites
    assert (suites.tag, suite.tag) == ("testsuites", "testsuite")
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "8",
        "failures": "4",
        "errors": "0",
        "skipped": "1",
    }
    cases = suite.findall("testcase")
    assert [f"{case.get('classname')}/{case.get('name')}".replace(".", "/", 1) for case in cases] == [
        result.case for result in RESULTS
    ]
    assert [[child.tag for child in case] for case in cases] == [
        [],
        ["failure"],
        ["failure"],
        ["failure"],
        ["system-out"],
        ["system-out"],
        ["failure"],
        ["skipped"],
    ]
    failure = cases[1].find("failure")
    assert failure is not None
    assert "likely cause" in str(failure.text)
    assert str(suite.findtext("system-err")).startswith("Traceback\n\tat <script>")


def test_tap_has_a_point_a_case_and_yaml_that_json_can_read() -> None:
    version, plan, *lines = tap(REPORT).splitlines()
    assert (version, plan) == ("TAP version 14", "1..8")
    assert lines[0] == f"# {QUOTES}: 2 cases fail"
    points = [line for line in lines if not line.startswith((" ", "#"))]
    for number, (point, result) in enumerate(zip(points, RESULTS, strict=True), 1):
        match = re.fullmatch(r"(ok|not ok) (\d+) - (\S+)(?: (?:\\.|[^\\#])*?)?( # SKIP .+)?", point)
        assert match, point
        assert (match[1] == "ok", int(match[2]), match[3]) == (result.outcome.is_good, number, result.case)
        assert bool(match[4]) == (result.outcome is Outcome.SKIP)
    for line in lines:
        if line.startswith("  ") and line.strip() not in {"---", "..."}:
            json.loads(line.partition(": ")[2])
    assert lines.count("  ---") == lines.count("  ...") == 6


def test_the_json_has_everything() -> None:
    told = json.loads(as_json(REPORT))
    assert told["schema"] == "croupier-check/1"
    assert (told["room"], told["role"], told["status"], told["begun"]) == (
        "kuhn",
        "server",
        1,
        "2023-11-14T22:13:20+00:00",
    )
    assert told["counts"] == {
        "PASS": 1,
        "FAIL": 3,
        "NON-STRICT": 1,
        "CHOICE": 1,
        "UNIMPLEMENTED": 1,
        "SKIP": 1,
    }
    assert told["reasons"][0] == {
        "cause": QUOTES,
        "clause": "kuhn-2.6",
        "example": "kuhn/4.2/deal-and-act",
        "cases": ["kuhn/4.2/deal-and-act", "kuhn/4.3/check"],
    }
    assert [result["case"] for result in told["results"]] == [result.case for result in RESULTS]
    failure = told["results"][1]["failure"]
    assert bytes.fromhex(failure["wanted"]) == b"CARD C_Q"
    assert bytes.fromhex(failure["got"]) == b'CARD "C_Q"'
    assert (failure["first_wrong"], failure["cause"], failure["source"]) == (5, QUOTES, "ruling K6")
    assert told["results"][3]["failure"]["wanted"] is None
    assert told["results"][1]["dialogue"][0] == {
        "side": "client",
        "text": "STRT P_1",
        "hex": b"STRT P_1".hex(),
        "pieces": "",
        "at": 1.0,
    }
    assert told["results"][0]["repeat"] == "croupier check kuhn/4.1/deal 127.0.0.1:1212 --seed 7"


def test_gradescope_gives_a_point_a_case_and_none_for_what_was_skipped() -> None:
    told = json.loads(gradescope(REPORT))
    assert told["execution_time"] == 2.5
    tests = told["tests"]
    assert [(test["score"], test["max_score"], test["status"]) for test in tests] == [
        (1, 1, "passed"),
        (0, 1, "failed"),
        (0, 1, "failed"),
        (0, 1, "failed"),
        (1, 1, "passed"),
        (1, 1, "passed"),
        (0, 1, "failed"),
        (0, 0, "passed"),
    ]
    assert {test["visibility"] for test in tests} == {"visible"}
    assert QUOTES in tests[1]["output"]


def test_markdown_means_nothing_but_itself() -> None:
    text = markdown(REPORT)
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len(table) == 2 + len(RESULTS)
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 6 for line in table)
    prose = [line for line in text.splitlines() if not line.startswith("    ")]
    assert not any(re.search(r"(?<!\\)<", line) for line in prose)
    assert f"- {QUOTES}: 2 cases fail" in prose


def test_of_a_dialogue_the_last_six_messages_are_shown() -> None:
    longer = replace(RESULTS[1], dialogue=RESULTS[1].dialogue * 5)
    assert failure_text(REPORT, longer).count("\n  client") == 3
    dialogue = json.loads(as_json(replace(REPORT, results=(longer,))))["results"][0]["dialogue"]
    assert [line["side"] for line in dialogue] == ["client", "server"] * 5


def test_a_run_without_cases_is_never_green() -> None:
    assert EMPTY.exit_status == 2
    assert count_outcomes(EMPTY) == "no case was run"
    assert "Nothing could be tested." in shown(EMPTY)


def test_a_run_that_only_lacks_something_says_so() -> None:
    assert "It does not have all of the protocol." in shown(replace(REPORT, results=(RESULTS[0], RESULTS[6])))


def test_the_verdict_counts_what_only_a_strict_run_fails() -> None:
    assert verdict_sentence(replace(REPORT, results=RESULTS[:1])) == "No case fails."
    assert verdict_sentence(replace(REPORT, results=(RESULTS[0], RESULTS[4]))) == (
        "No case fails. 1 case departs from the protocol in a way that it tolerates; --strict does not."
    )


def test_the_notes_of_an_outcome_say_what_it_means() -> None:
    text = shown(REPORT)
    assert re.search(r"CHOICE +no fault: the document leaves open what the program does +─", text)
    assert re.search(r"SKIP +not tested, for the reason in the note +─", text)


def test_nasty_text_is_nasty() -> None:
    with pytest.raises(UnicodeEncodeError):
        NASTY.encode()


@pytest.mark.parametrize(
    ("reasons", "sentence"),
    [
        (
            [("the house would not play on", 20), ("the house would not play on", 3), ("no luck", 1)],
            "Too little could be tested: 3 of 4 cases were skipped, 2 of them because the house would not play on.",
        ),
        ([("no luck", 1), ("no patience", 1)], "Too little could be tested: 2 of 3 cases were skipped."),
    ],
)
def test_the_verdict_names_the_most_frequent_reason_of_skipped_cases(
    reasons: list[tuple[str, int]], sentence: str
) -> None:
    good = Result("kuhn/4.1/deal", "The house deals", "kuhn-4.1", Outcome.PASS)
    skipped = [
        Result(f"kuhn/4.2/{at}", "Skipped", "kuhn-4.2", Outcome.SKIP, reason, try_count=count)
        for at, (reason, count) in enumerate(reasons)
    ]
    assert verdict_sentence(replace(REPORT, results=(good, *skipped))) == sentence


def test_the_note_of_a_skipped_case_has_the_number_of_tries() -> None:
    once = Result("kuhn/4.2/deal", "Skipped", "kuhn-4.2", Outcome.SKIP, "no luck")
    assert (once.note, replace(once, try_count=3).note) == ("no luck", "no luck (in 3 tries)")


def test_cases_about_another_dialect_do_not_count() -> None:
    good = [Result(f"kuhn/4.1/{at}", "The house deals", "kuhn-4.1", Outcome.PASS) for at in range(4)]
    skipped = Result("kuhn/4.2/deal", "Skipped", "kuhn-4.2", Outcome.SKIP, "no luck")
    others = [replace(skipped, reason="only in the dialect tabs", applies=False) for _ in range(3)]
    assert replace(REPORT, results=(*good, skipped, *others)).exit_status == 0
    unlucky = replace(REPORT, results=(*good, skipped, skipped, *others))
    assert unlucky.exit_status == 2
    assert (
        verdict_sentence(unlucky) == "Too little could be tested: 2 of 6 cases were skipped, 2 of them because no luck."
    )
    assert verdict_sentence(replace(REPORT, results=(*others,))) == "Nothing could be tested."
