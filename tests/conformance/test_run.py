"""Whole runs: a dialect is detected and named once, and further errors are found after it."""

import asyncio
import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from croupier.conformance.case import select
from croupier.conformance.diagnosis.cause import SENDS_BACK
from croupier.conformance.plan import Plan
from croupier.conformance.program import ProgramError
from croupier.conformance.report.summary import repeat_command, verdict_sentence
from croupier.conformance.results import Outcome, Report, Result
from croupier.conformance.run import check
from croupier.conformance.suite import ROLES, Role, find_suite
from croupier.rooms import HOUSE_ROOMS, ROOMS
from tests.conformance.dialect_samples import HABITS, Habit
from tests.conformance.dialect_server import lucky, open_house
from tests.conformance.mutants.simulated_time import run_in_simulated_time
from tests.conformance.programs import command
from tests.sampling import extended

SECTIONS = {"kuhn": "kuhn/4", "sevenhalf": "sevenhalf/5", "blackjack": "blackjack/5"}
"""Cases in which every message of a room comes up."""


def run(
    room: str,
    selection: str,
    habit: Habit,
    say: Callable[[Result | str], None] = lambda _: None,
    *,
    dialect: str = "document",
    spoken: str = "",
    greeting: bytes = b"",
) -> Report:
    """Test a server of ours with a habit, which speaks a dialect, as if it spoke another one, in simulated time."""

    async def story() -> Report:
        server = await open_house(room, 0, habit, lucky(), spoken, greeting)
        port = server.sockets[0].getsockname()[1]
        try:
            options = HOUSE_ROOMS[room].settings(dialect=dialect) if dialect != "document" else None
            plan = Plan(
                room=HOUSE_ROOMS[room],
                role="server",
                selection=selection,
                port=port,
                known_options=options,
                timeout=1.0,
            )
            return await check(plan, say, time.time())
        finally:
            server.close()

    return run_in_simulated_time(story())


NOT_SHOWN = {"sends its integers in one byte", "counts the characters of its texts, and not their bytes"}
"""Amounts above 127 have no room in one byte, and the texts of our server have no characters of several bytes."""

ALL = [(room, words) for room in HABITS for words in HABITS[room] if words not in NOT_SHOWN]

TOLERATED = {
    ("kuhn", "ends its messages with a line end"),
    ("kuhn", "puts blanks between its messages"),
    ("kuhn", "puts quotes around its arguments"),
    ("sevenhalf", "ends its messages with a line end"),
}
"""What a client has to take."""

FEW = [
    ("kuhn", "writes a card as its rank alone"),
    ("sevenhalf", "sends its integers with the least significant byte first"),
    ("blackjack", "sends characters of one byte"),
]


def named_once(room: str, words: str) -> None:
    section = "sevenhalf/6" if words.startswith("counts") else SECTIONS[room]  # those about errors
    report = run(room, section, HABITS[room][words])
    failures = [result for result in report.results if not result.outcome.is_good]
    assert report.dialect == f"the server departs from the protocol all along: it {words}"
    assert [str(result.failure.cause) for result in failures if result.failure] == [f"it {words}"]
    skipped = report.count(Outcome.SKIP)  # the fewer games a slow machine plays, the rarer are rare hands
    assert report.count(Outcome.PASS) >= max(len(report.results) - 2 - skipped, len(report.results) // 2)
    assert report.exit_status == 1


@pytest.mark.parametrize(("room", "words"), FEW)
def test_a_dialect_is_found_and_named_once(room: str, words: str) -> None:
    named_once(room, words)


@pytest.mark.slow
@pytest.mark.parametrize(("room", "words"), [each for each in ALL if each not in TOLERATED])
def test_every_dialect_is_found_and_named_once(room: str, words: str) -> None:
    named_once(room, words)


@pytest.mark.parametrize(("room", "words"), sorted(TOLERATED))
def test_what_is_tolerated_is_no_dialect(room: str, words: str) -> None:
    report = run(room, f"{room}/4.1", HABITS[room][words])
    assert (report.exit_status, report.dialect) == (0, "")
    assert report.count(Outcome.NON_STRICT) >= 1


@pytest.mark.extended
def test_two_dialects_are_found_one_behind_the_other() -> None:
    def habit(message: bytes) -> bytes:
        return HABITS["kuhn"]["writes a card as its rank alone"](message).replace(b"BET", b"BRT")

    report = run("kuhn", "kuhn/4", habit)
    assert "it writes a card as its rank alone" in report.dialect
    assert "it writes BRT, which is a slip of the document's" in report.dialect
    assert 1 <= report.count(Outcome.FAIL) <= 2
    assert verdict_sentence(report) == f"It breaks the protocol: {report.dialect.partition(': ')[2]}."


@pytest.mark.extended
def test_behind_a_dialect_what_else_is_wrong_is_found() -> None:
    def habit(message: bytes) -> bytes:
        return message.replace(b"W_A", b"N_C") + b"\0"

    news: list[Result | str] = []
    report = run("kuhn", "kuhn/6", habit, news.append)
    assert "it ends its messages with a NUL" in report.dialect
    wrong = {result.failure.clause for result in report.results if result.failure and not result.failure.cause}
    assert "kuhn-6.6" in wrong
    assert f"{report.dialect}; from here on it is read as what it means" in news


def test_what_only_some_messages_are_in_is_no_dialect() -> None:
    swap = HABITS["sevenhalf"]["sends its integers with the least significant byte first"]
    news: list[Result | str] = []
    report = run("sevenhalf", "sevenhalf/4", lambda data: swap(data) if data.startswith(b"STBT") else data, news.append)
    assert report.dialect == ""
    assert "the server sends only a part of its messages so; from here on they are read as they are" in news
    found = {(str(result.failure.cause), result.failure.actual[:4]) for result in report.results if result.failure}
    assert found == {("it sends its integers with the least significant byte first", "STBT")}


@pytest.mark.parametrize(("room", "dialect"), [("blackjack", "char8"), ("sevenhalf", "lenient")])
def test_a_server_that_does_not_speak_the_given_dialect_has_one_cause(room: str, dialect: str) -> None:
    report = run(room, room, bytes, dialect=dialect)
    assert (
        report.stopped_reason == f"the server does not speak the dialect {dialect}: test it without --dialect {dialect}"
    )
    assert len(report.results) < len(find_suite(HOUSE_ROOMS[room], "server").cases) / 10
    assert {str(result.failure.cause) for result in report.results if result.failure} == {
        f"it does not speak the dialect {dialect}: the same messages pass without --dialect {dialect}"
    }


@pytest.mark.parametrize("room", HOUSE_ROOMS)
def test_a_greeting_is_named_once_and_read_over(room: str) -> None:
    report = run(room, f"{room}/1", bytes, greeting=b"Welcome, client %d!\r\nType anything.\r\n")
    words = "it greets every client with 'Welcome, client 1!' before the client has sent anything"
    assert report.dialect == f"the server departs from the protocol all along: {words}"
    (failed,) = [result for result in report.results if not result.outcome.is_good and result.failure]
    assert failed.failure is not None
    assert (failed.failure.clause, str(failed.failure.cause)) == (f"{room}-1.2", words)
    assert failed.dialogue is not None
    assert b"Type anything.\r\n" in b"".join(line.data for line in failed.dialogue)


def test_a_prompt_is_a_greeting_and_a_dialect() -> None:
    report = run("kuhn", "kuhn/4", lambda data: data + b"> ", greeting=b"> ")
    assert report.dialect == (
        "the server departs from the protocol all along: it greets every client with '> ' before the client has sent "
        "anything, and it sends '> ' after its messages"
    )
    assert report.count(Outcome.FAIL) <= 2


def test_an_echo_is_the_cause_of_all_failures() -> None:
    async def story() -> Report:
        async def send_back(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while data := await reader.read(1 << 16):
                writer.write(data)
            writer.close()

        async with await asyncio.start_server(send_back, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            plan = Plan(room=HOUSE_ROOMS["kuhn"], role="server", selection="kuhn/4.1", port=port, timeout=1.0)
            return await check(plan, lambda _: None, time.time())

    report = run_in_simulated_time(story())
    assert {result.failure and result.failure.cause for result in report.results} == {SENDS_BACK}


def test_a_server_that_speaks_a_dialect_of_the_room_is_tested_in_it() -> None:
    news: list[Result | str] = []
    report = run("blackjack", "blackjack/4", bytes, news.append, spoken="char8")
    assert f"{report.dialect}; from here on it is tested with --dialect char8" in news
    (failed,) = [result for result in report.results if not result.outcome.is_good]
    assert failed.failure is not None
    assert (failed.failure.clause, str(failed.failure.cause)) == ("blackjack-2.4", "it sends characters of one byte")
    passed = [result for result in report.results if result.outcome is Outcome.PASS]
    assert len(passed) > len(report.results) / 2
    assert "--dialect" not in repeat_command(report, failed)
    assert repeat_command(report, passed[0]).endswith(f"{passed[0].case} --dialect char8")


def test_a_server_that_fails_in_every_dialect_is_tested_in_the_given_one() -> None:
    news: list[Result | str] = []
    report = run(
        "sevenhalf", "sevenhalf/4", lambda data: data.replace(b"STBT", b"STRT"), news.append, dialect="lenient"
    )
    assert report.stopped_reason == ""
    assert sorted(news, key=str) == sorted(report.results, key=str)


def test_the_results_are_in_the_order_of_the_cases_and_each_is_told() -> None:
    news: list[Result | str] = []
    report = run("kuhn", "kuhn/4.1", bytes, news.append)
    chosen = select(find_suite(HOUSE_ROOMS["kuhn"], "server").cases, "kuhn/4.1")
    ranked = sorted(chosen, key=lambda case: case.rank)
    assert [result.case for result in report.results] == [case.id for case in ranked]
    assert sorted(news, key=str) == sorted(report.results, key=str)
    assert (report.room, report.role, report.exit_status, report.dialect) == ("kuhn", "server", 0, "")


@pytest.mark.parametrize(
    ("habit", "selection", "expected", "cause"),
    [
        ("serves-once", "kuhn/1.2", {"kuhn-1.2"}, "it ends when a client leaves (exit status 0)"),
        ("serves-once", "kuhn/5.1", set(), ""),
        ("ends-at-hang-up", "kuhn/8.1", {"kuhn-8.1"}, "it ends when a client hangs up (exit status 3)"),
    ],
)
def test_a_server_that_ends_with_its_clients_is_started_for_each_one(
    habit: str, selection: str, expected: set[str], cause: str
) -> None:
    line = command("kuhn", "server", habit)
    plan = Plan(room=HOUSE_ROOMS["kuhn"], role="server", selection=selection, command=line)
    report = asyncio.run(check(plan, lambda _: None, time.time()))
    failures = [result.failure for result in report.results if result.failure]
    assert {failure.clause for failure in failures} == expected
    assert [str(failure.cause) for failure in failures] == [cause] * len(failures)
    assert report.count(Outcome.PASS) >= 1
    assert report.stopped_reason == ""


def test_a_server_that_ends_with_its_clients_is_told_so_at_once() -> None:
    """Its cases may take minutes: a new process for each of them."""
    line = command("kuhn", "server", "serves-once")
    plan = Plan(room=HOUSE_ROOMS["kuhn"], role="server", selection="kuhn", command=line, max_failures=1)
    report = asyncio.run(check(plan, lambda _: None, time.time()))
    (failed,) = [result for result in report.results if result.failure]
    assert failed.clause == "kuhn-1.2"
    assert len(report.results) <= 5


BUSY_TRIES = 3
"""A busy machine may show the end of a server only when its message is whole: then it is on kuhn-8.2."""

ENDS_WITH_THE_SECOND_CLIENT = """
import socket, sys
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
first, _ = server.accept()
if len(sys.argv) > 2 and first.recv(1000):
    first.sendall(sys.argv[2].encode())
first.close()
server.accept()
sys.exit("no more clients")
"""


def check_ending_server(tmp_path: Path, selection: str, *arguments: str) -> Report:
    program = tmp_path / "server.py"
    program.write_text(ENDS_WITH_THE_SECOND_CLIENT, encoding="ascii")
    line = shlex.join([sys.executable, f"{program}", "{port}", *arguments])
    plan = Plan(room=ROOMS["oldmaid"], role="server", selection=selection, command=line)
    return asyncio.run(check(plan, lambda _: None, time.time()))


def test_a_table_that_ends_with_the_first_case_is_blamed_for_that(tmp_path: Path) -> None:
    report = check_ending_server(tmp_path, "oldmaid/3.8", '{"result": "error", "message": "no"}')
    failures = [result.failure for result in report.results if result.failure]
    found = {(str(failure.cause), failure.actual) for failure in failures}
    assert ("it has ended (exit status 1)", "the end of the server (exit status 1: no more clients)") in found
    assert "no more clients" in report.stderr


def test_the_end_of_a_server_before_the_first_case_is_reported_with_its_last_words(tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match=r"It has ended \(exit status 1\); its stderr: no more clients$"):
        check_ending_server(tmp_path, "oldmaid/3.8")


@pytest.mark.parametrize("name", extended(HOUSE_ROOMS, 3))
def test_a_server_that_ends_at_a_reset_fails_the_cases_about_that(name: str) -> None:
    line = command(name, "server", "ends-at-reset")
    plan = Plan(room=HOUSE_ROOMS[name], role="server", selection=f"{name}/8.1", command=line)
    report = asyncio.run(check(plan, lambda _: None, time.time()))
    failed = [result for result in report.results if not result.is_good]
    assert {result.case.rpartition("/")[2] for result in failed} >= {"reset-at-once", "reset-in-a-game"}
    for result in failed:
        assert "reset" in result.case
        assert result.failure is not None
        assert result.failure.clause == f"{name}-8.1"
        assert str(result.failure.cause) == "it has ended (exit status 4)"


@pytest.mark.parametrize("selection", extended(["kuhn/1.3/3-bytes-at-a-time", "kuhn/1.3/cut-anywhere"], 2))
def test_a_server_that_ends_in_a_message_breaks_the_clause_of_the_stream(selection: str) -> None:
    line = command("kuhn", "server", "ends-in-a-message")
    plan = Plan(room=HOUSE_ROOMS["kuhn"], role="server", selection=selection, command=line)
    for _ in range(BUSY_TRIES):
        (result,) = asyncio.run(check(plan, lambda _: None, time.time())).results
        assert result.failure is not None
        if result.failure.clause != "kuhn-8.2":
            break
    assert (result.failure.clause, str(result.failure.cause)) == ("kuhn-1.3", "it has ended (exit status 5)")


@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize("role", ROLES)
def test_programs_of_every_room_and_role_can_be_tested(room: str, role: Role) -> None:
    found = find_suite(ROOMS[room], role).cases
    assert len(found) >= 50
    assert len({case.id for case in found}) == len(found)
