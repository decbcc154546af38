"""`croupier check`: tests of servers and clients, reports, exit statuses and errors."""

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import trustme

from croupier.cli import app
from croupier.cli.check import parse_reports
from croupier.cli.options import build_options, changed_options
from croupier.clients.tls import TlsOptions
from croupier.conformance.case import select
from croupier.conformance.report.reports import REPORT_FORMATS
from croupier.conformance.suite import Role, find_suite
from croupier.rooms import ROOMS, find_room
from tests.conformance import programs
from tests.processes import COMMAND, ROOT, Serving, croupier, environment, is_running
from tests.sampling import extended

TIMEOUT_SECONDS = 90.0


def dialect_server(dialect: str, room: str = "kuhn") -> str:
    """Return the command of a server that writes its messages in another dialect."""
    return shlex.join([sys.executable, "-m", "tests.conformance.dialect_server", room, "{port}", dialect])


HONEST = dialect_server("honest")


def check(*arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
    texts = {"COLUMNS": "200", "PYTHONPATH": str(ROOT), **variables}
    return croupier("check", *arguments, variables=texts, cwd=ROOT, timeout=TIMEOUT_SECONDS)


def cases(text: str, outcome: str) -> set[str]:
    """Return the ids of the printed cases with an outcome."""
    return {*re.findall(rf"^\S {outcome} +(\S+/\S+/\S+) ", text, re.MULTILINE)}


def test_croupiers_server_passes_and_every_case_is_printed() -> None:
    with Serving("kuhn", "--port", "0") as server:
        result = check("kuhn/2.7", server.address)
    assert (result.returncode, result.stderr) == (0, "")
    assert len(cases(result.stdout, "PASS")) >= 1
    assert result.stdout.rstrip().endswith("No case fails.")
    assert f"kuhn: the server {server.address}" in result.stdout


def test_a_holdem_server_is_tested_at_its_url() -> None:
    with Serving("holdem", "--port", "0", "--log-level", "error") as server:
        result = check("holdem/2.2/a-new-user", f"http://{server.address}/")
    assert (result.returncode, result.stderr) == (0, "")
    assert cases(result.stdout, "PASS")


@pytest.mark.extended
@pytest.mark.parametrize(("room", "section"), [("kuhn", "kuhn/2.7"), ("holdem", "holdem/2.2/a-new-user")])
def test_a_server_is_tested_over_tls(room: str, section: str, tmp_path: Path) -> None:
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1")
    certificate.private_key_pem.write_to_path(tmp_path / "key.pem")
    certificate.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    keys = ["--tls-cert", str(tmp_path / "cert.pem"), "--tls-key", str(tmp_path / "key.pem")]
    with Serving(room, "--port", "0", "--log-level", "error", *keys) as server:
        trusted = check(section, server.address, "--tls-ca", tmp_path / "ca.pem")
        assert (trusted.returncode, trusted.stderr) == (0, "")
        assert cases(trusted.stdout, "PASS")
        untrusted = check(section, server.address, "--tls")
        assert (untrusted.returncode, "certificate verify failed" in untrusted.stderr) == (2, True)
        if room == "holdem":
            trusted = check(section, f"https://{server.address}/", "--tls-ca", tmp_path / "ca.pem")
            assert (trusted.returncode, trusted.stderr) == (0, "")
            untrusted = check(section, f"https://{server.address}")
            assert (untrusted.returncode, "certificate verify failed" in untrusted.stderr) == (2, True)
        plain = check(section, server.address)
        assert (plain.returncode, "speaks TLS. Test it with TLS: --tls," in plain.stderr) == (2, True)


def test_the_options_of_tls_are_part_of_the_command_that_repeats_a_case() -> None:
    given = TlsOptions(tls=True, tls_ca=Path("ca.pem"), tls_cert=Path("me.pem"), tls_key=Path("key.pem"))
    assert shlex.join(changed_options(given)) == "--tls --tls-ca ca.pem --tls-cert me.pem --tls-key key.pem"
    assert [*changed_options(TlsOptions())] == []


def test_a_server_is_started_tested_and_stopped(tmp_path: Path) -> None:
    """All report formats are written."""
    files = [f"{kind}={tmp_path / kind}" for kind in REPORT_FORMATS]
    result = check("kuhn/2.7", "--server", HONEST, "--report", *files)
    assert (result.returncode, result.stderr) == (0, "")
    report = json.loads((tmp_path / "json").read_text())
    assert (report["status"], report["counts"]["FAIL"]) == (0, 0)
    assert ET.parse(tmp_path / "junit").getroot().get("failures") == "0"
    assert (tmp_path / "tap").read_text().startswith("TAP version 14\n1..")
    assert (tmp_path / "html").read_text().startswith("<!DOCTYPE html>")
    assert json.loads((tmp_path / "gradescope").read_text())["tests"][0]["status"] == "passed"
    assert (tmp_path / "md").read_text().startswith("# kuhn: the server ")


def test_a_dialect_is_reported_once_and_other_cases_are_tested_in_it() -> None:
    result = check("kuhn/4", "--server", dialect_server("ends its messages with a NUL"))
    assert result.returncode == 1
    assert "dialect: the server departs from the protocol all along: it ends its messages with a NUL" in result.stdout
    assert re.search(r"✘ 1 FAIL", result.stdout)
    assert re.search(r"✔ \d\d PASS", result.stdout)


def test_a_known_dialect_is_accepted_and_an_unknown_one_is_rejected() -> None:
    known = build_options([ROOMS["holdem"].options, ROOMS["holdem"].settings], {"dialect": "hspe-go"}, ROOMS["holdem"])
    assert known.dialect == "hspe-go"
    with pytest.raises(ValueError, match=r"found \{'dialect': 'welsh'\}"):
        build_options([ROOMS["holdem"].options, ROOMS["holdem"].settings], {"dialect": "welsh"}, ROOMS["holdem"])


def test_a_failure_shows_clause_bytes_cause_and_the_command_to_repeat_it(tmp_path: Path) -> None:
    command = dialect_server("writes its integers as text", "sevenhalf")
    result = check("sevenhalf/4.1", "--server", command, "--timeout", 1, "--report", f"json={tmp_path / 'found'}")
    assert result.returncode == 1
    report = json.loads((tmp_path / "found").read_text())
    failed = [case for case in report["results"] if case["outcome"] == "FAIL"]
    assert failed[0]["failure"]["cause"] == "it writes its integers as text"
    assert failed[0]["failure"]["text"]
    options = f"--server {shlex.quote(command)} --seed 1 --timeout 1.0"
    assert failed[0]["repeat"] == f"croupier check {failed[0]['case']} {options}"
    assert failed[0]["repeat"] in result.stdout
    assert "likely" in result.stdout
    again = check(*shlex.split(failed[0]["repeat"])[2:])
    assert again.returncode == 1
    assert cases(again.stdout, "FAIL") == {failed[0]["case"]}


def test_a_client_is_tested() -> None:
    honest_result = check("kuhn/4.1", "--client", programs.command("kuhn", "client"))
    assert (honest_result.returncode, honest_result.stderr) == (0, "")
    assert "kuhn: the client" in honest_result.stdout
    rogue_result = check("kuhn/4.1", "--client", programs.command("kuhn", "client", "no-space"), "--timeout", 1)
    assert rogue_result.returncode == 1
    assert "it forgets the space" in rogue_result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["chess"], "found the room 'chess'; allowed: kuhn, sevenhalf, blackjack"),
        (["kuhn/4.99"], "found 'kuhn/4.99'; allowed: ROOM[/SECTION[/CASE]], as in kuhn/4.9"),
        (["kuhn", "127.0.0.1:1", "--server", "true"], "found HOST:PORT and --server; allowed: one of them"),
        (["kuhn", "127.0.0.1:nowhere"], "found '127.0.0.1:nowhere'; allowed: HOST or HOST:PORT"),
        (["kuhn", "http://127.0.0.1:1"], "found 'http://127.0.0.1:1', a URL; allowed: HOST or HOST:PORT"),
        (["holdem", "http://h:1/x"], "found 'http://h:1/x'; allowed: http://HOST:PORT or https://HOST:PORT, without a"),
        (["holdem", "http://h:1", "--tls"], "found http://h:1 and --tls; allowed: an https URL, or HOST:PORT"),
        (["kuhn", "--report", "pdf=x"], "found --report pdf=x; allowed: KIND=FILE, KIND one of html, junit, tap, json"),
        (["kuhn", "--report", "md=/nowhere/x"], "found --report md=/nowhere/x; allowed: a file in an existing folder"),
        (["kuhn", "--decks", "2"], "found --decks 2; allowed: nothing of the kind in Kuhn poker"),
        (["sevenhalf", "--dialect", "welsh"], "found {'dialect': 'welsh'}"),
        (
            ["kuhn", "--deck-flag", "--deck {file}"],
            "found --deck-flag '--deck {file}'; allowed: a value that contains {file}",
        ),
        (["kuhn", "--tls", "--client", "true"], "found --tls; allowed: tests of servers, except in Old Maid"),
        (["oldmaid", "--tls-ca", "ca.pem"], "found --tls-ca ca.pem; allowed: tests of servers, except in Old Maid"),
        (["kuhn", "--tls-ca", "/nowhere.pem"], "cannot read /nowhere.pem: No such file"),
        (["kuhn", "--timeout", "0"], "found --timeout 0; allowed: more than 0"),
        (["kuhn", "--max-failures", "0"], "found --max-failures 0; allowed: 1 or more"),
        (["kuhn", "--server", "no-such-program {port}"], "no-such-program"),
        (["kuhn", "--server", "true {port} {no}"], "found {no} in 'true {port} {no}'; allowed: {host}, {port}"),
        (["kuhn", "--server", "true 1212"], "found --server 'true 1212'; allowed: a command with {port} in it"),
        (["kuhn", "--client", "true {url}"], "found --client 'true {url}'; allowed: a command with {port} in it"),
        (["holdem", "--client", "true"], "found --client 'true'; allowed: a command with {port} or {url} in it"),
    ],
)
def test_invalid_arguments_are_rejected_with_status_2(arguments: list[str], message: str) -> None:
    result = check(*arguments)
    assert result.returncode == 2
    assert result.stderr.startswith("croupier: ")
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_an_unreachable_server_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    result = check("kuhn", f"127.0.0.1:{port}")
    assert result.returncode == 2
    assert f"127.0.0.1:{port}" in result.stderr


def test_a_server_that_does_not_start_shows_its_output() -> None:
    command = shlex.join([sys.executable, "-c", "import sys; sys.exit('no such deck')", "{port}"])
    result = check("kuhn", "--server", command)
    assert result.returncode == 2
    assert "no such deck" in result.stderr


def test_a_client_that_does_not_connect_shows_its_output() -> None:
    command = shlex.join([sys.executable, "-c", "import sys; sys.exit('no such house')", "{port}"])
    result = check("kuhn", "--client", command, "--quiet")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.endswith("; its stderr: no such house\n")


def test_a_program_that_cannot_be_tested_has_a_report_that_says_why(tmp_path: Path) -> None:
    file, page = tmp_path / "results.json", tmp_path / "found.html"
    command = f"{sys.executable} -c 'import nosuch' {{port}}"
    result = check("kuhn/4", "--server", command, "--quiet", "--report", f"gradescope={file}", f"html={page}")
    assert result.returncode == 2
    report = json.loads(file.read_text())
    assert "Nothing could be tested: " in report["output"]
    assert "No module named 'nosuch'" in report["output"]
    assert {(test["score"], test["max_score"]) for test in report["tests"]} == {(0, 0)}
    assert "Nothing could be tested: " in page.read_text()


def test_a_client_that_cannot_be_started_is_an_error_in_one_line() -> None:
    result = check("kuhn", "--client", "./no-such-client {host} {port}")
    message = "croupier: './no-such-client' cannot be started: No such file or directory\n"
    assert (result.returncode, result.stderr) == (2, message)


FRAGILE_SERVER = """
import socket, sys

listening = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    connection, _ = listening.accept()
    while data := connection.recv(100):
        data.decode("ascii")
        connection.sendall(b"FAIL W_A")
"""
"""A server that refuses everything, and ends with an exception at bytes that are no letters."""


def test_a_case_at_which_the_server_ends_shows_what_was_said_before(tmp_path: Path) -> None:
    path = tmp_path / "fragile.py"
    path.write_text(FRAGILE_SERVER)
    command = shlex.join([sys.executable, str(path), "{port}"])
    case = "kuhn/2.7/bytes-that-are-no-letters-at-start"
    result = check(case, "--server", command, "--report", f"json={tmp_path / 'found'}")
    assert result.returncode == 1
    (found,) = json.loads((tmp_path / "found").read_text())["results"]
    assert found["failure"]["actual"].startswith(
        "the end of the server (exit status 1: UnicodeDecodeError: 'ascii' codec"
    )
    assert found["failure"]["cause"] == "it has ended (exit status 1)"
    assert [line["side"] for line in found["dialogue"]] == ["client"]
    assert "UnicodeDecodeError" in result.stdout


FALLING_SERVER = """
import socket, sys

listening = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    connection, _ = listening.accept()
    while data := connection.recv(100):
        connection.sendall({b"ACTN": b"FAIL W_A", b"CARD": sys.exit}[data[:4]])
"""
"""A server that refuses every action, and ends with an exception at everything else."""


def test_the_end_of_the_server_is_blamed_on_the_answer_that_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "falling.py"
    path.write_text(FALLING_SERVER)
    command = shlex.join([sys.executable, str(path), "{port}"])
    case = "kuhn/6.7/refused-twice-at-start"
    check(case, "--server", command, "--report", f"json={tmp_path / 'found'}")
    (found,) = json.loads((tmp_path / "found").read_text())["results"]
    assert found["failure"]["clause"] == "kuhn-6.4"
    assert found["dialogue"][-1]["text"].startswith("CARD ")


def test_the_end_after_too_many_failures_is_announced(tmp_path: Path) -> None:
    path = tmp_path / "fragile.py"
    path.write_text(FRAGILE_SERVER)
    command = shlex.join([sys.executable, str(path), "{port}"])
    result = check("kuhn/4", "--server", command, "--max-failures", 1)
    assert result.returncode == 1
    assert "as many cases have failed as --max-failures allows; the others were not run" in result.stdout


def test_list_prints_the_cases_of_both_roles_and_untestable_clauses() -> None:
    result = check("kuhn", "--list")
    assert (result.returncode, result.stderr) == (0, "")
    server, client = result.stdout.split("client: ", 1)
    assert len(re.findall(r"^  kuhn/\d+\.\d+/\S+  \S", server, re.MULTILINE)) >= 50
    assert len(re.findall(r"^  kuhn/\d+\.\d+/\S+  \S", client, re.MULTILINE)) >= 50
    assert "  kuhn-8.5  " in server
    assert "  kuhn-8.5  " in client
    part = check("kuhn/4.3", "--list").stdout
    assert {*re.findall(r"kuhn[/-](\d+\.\d+)", part)} == {"4.3"}


def test_help_names_the_placeholders_of_a_client() -> None:
    text = check("--help").stdout
    assert all(f"{{{name}}}" in text for name in ("host", "port", "url", "user", "password", "game", "nick"))


def test_a_deck_flag_reaches_cases_that_random_deals_miss() -> None:
    stubborn = dialect_server("stubborn")
    assert check("kuhn/4.4", "--server", stubborn).stdout.count("SKIP") > 0
    result = check("kuhn/4.4", "--server", stubborn, "--deck-flag", "{file}")
    assert result.returncode == 0
    assert cases(result.stdout, "SKIP") <= cases(result.stdout, "PASS")


def test_without_deck_support_the_server_is_tested_with_random_deals() -> None:
    result = check(
        "kuhn/4.4", "--server", dialect_server("stubborn"), "--deck-flag", "{file} but not so", "--timeout", 1
    )
    assert result.returncode == 2
    assert "takes no connections" in result.stdout
    assert cases(result.stdout, "SKIP")


def test_a_terminal_without_unicode_gets_outcomes_as_words() -> None:
    result = check("kuhn/2.7", "--server", HONEST, PYTHONIOENCODING="ascii")
    assert (result.returncode, result.stderr) == (0, "")
    assert "? PASS" in result.stdout


def test_a_room_without_dialects_has_settings() -> None:
    result = check("kuhn/2.7", "--server", HONEST, "--coins", 10)
    assert (result.returncode, result.stderr) == (0, "")


def test_quiet_prints_only_the_result() -> None:
    result = check("kuhn/2.7", "--server", HONEST, "--quiet")
    assert result.returncode == 0
    assert len(result.stdout.splitlines()) == 2
    assert re.match(r"✔ \d+ PASS", result.stdout)


@pytest.mark.parametrize(("number", "status"), extended([(signal.SIGINT, 130), (signal.SIGTERM, 143)], 2))
def test_a_signal_also_ends_the_server_under_test(number: int, status: int) -> None:
    process = subprocess.Popen(
        [*COMMAND, "check", "kuhn", "--server", HONEST],
        env=environment({"COLUMNS": "200"}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        assert "PASS" in process.stdout.readline()
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        process.send_signal(number)
        output, _ = process.communicate(timeout=TIMEOUT_SECONDS)
    assert process.returncode == status
    assert ("the run was interrupted; the other cases were not run" in output) is (number == signal.SIGINT)
    assert children
    end = time.monotonic() + TIMEOUT_SECONDS
    while any(is_running(int(child)) for child in children):
        assert time.monotonic() < end, "the server is still running"
        os.sched_yield()


DOCUMENTED = re.findall(r"^croupier (check .+)$", (ROOT / "docs" / "check.md").read_text(), re.MULTILINE)


@pytest.mark.parametrize("command", DOCUMENTED)
def test_documented_commands_parse_and_select_existing_cases(command: str) -> None:
    _, bound, *_ = app.parse_args(shlex.split(command), exit_on_error=False, print_error=False)
    selection = bound.arguments["selection"]
    role: Role = "client" if bound.arguments.get("client") else "server"
    assert select(find_suite(find_room(selection.partition("/")[0]), role).cases, selection)
    reports = bound.arguments.get("report") or []
    assert len(parse_reports(reports)) == len(reports)
