"""Servers and clients that share no code with croupier, in every reading: the tester accuses none of them."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import product

import pytest

from tests.conformance.simulation.programs import check_simulated
from tests.conformance.strangers import FOLDER, HOUSE_GAMES, PROGRAMS, Reading, command, readings
from tests.conformance.strangers.soak import Run, check, check_seed, lines
from tests.processes import Serving, croupier
from tests.sampling import extended

SEEDS = 1000
"""`make fuzz` checks the programs with this many seeds, `make test-extended` with one for each program."""

BLOCK = 25
"""How many seeds one test of `make fuzz` has."""

BYTE_BY_BYTE = "--choice pieces=byte"

SELECTIONS = [
    ("kuhn", "server", "kuhn/8", BYTE_BY_BYTE),
    ("holdem", "client", "holdem/4.5", ""),
    ("holdem", "client", "holdem/5.1/more-than-one-game", ""),
    ("oldmaid", "server", "oldmaid/6", "--join-window 1 --early-status empty"),
    ("oldmaid", "server", "oldmaid/4", "--errors printed"),
    ("oldmaid", "server", "oldmaid/3.9", "--pieces byte"),
    ("sevenhalf", "server", "sevenhalf/8", BYTE_BY_BYTE),
    ("sevenhalf", "client", "sevenhalf/5", BYTE_BY_BYTE),
    ("blackjack", "client", "blackjack/5", BYTE_BY_BYTE),
    ("blackjack", "server", "blackjack/5", BYTE_BY_BYTE),
    ("kuhn", "client", "kuhn/5", BYTE_BY_BYTE),
    ("holdem", "server", "holdem/6", ""),
    ("holdem", "server", "holdem/4.3", "--created never --pause 0.3"),
    ("holdem", "server", "holdem/4.14", "--created game"),
    ("holdem", "server", "holdem/3", "--created slash"),
    ("holdem", "server", "holdem/2.5", "--parser loose"),
    ("holdem", "server", "holdem/4.11", "--unanswered-raises calls"),
    ("holdem", "server", "holdem/6.9", "--minimum-raise own"),
    ("holdem", "server", "holdem/6.9", "--minimum-raise wealth"),
    ("holdem", "server", "holdem/8", "--methods routed"),
    ("holdem", "server", "holdem/1", "--framing http10"),
    ("oldmaid", "client", "oldmaid/7.2", ""),
    ("oldmaid", "client", "oldmaid/7.9/left-is-out", "--out again"),
    ("oldmaid", "client", "oldmaid/1.2", "--discards late"),
]
"""A program with options, and the cases that it passes."""


def assert_no_alarm(run: Run) -> None:
    """The tester accuses the program of nothing."""
    assert run.alarms == [], "\n".join(lines(run))


@pytest.mark.extended
def test_a_client_that_speaks_a_dialect_untold_is_tested_in_it() -> None:
    run = check_simulated(["blackjack/2", "--client", command("blackjack", "client", "--choice char_bytes=1")])
    assert run.report is not None, run.output
    assert "it sends characters of one byte" in run.report["dialect"]
    (failed,) = [result for result in run.report["results"] if result["outcome"] == "FAIL"]
    assert failed["failure"]["clause"] == "blackjack-2.4"
    assert run.report["counts"]["PASS"] > 1


@pytest.mark.parametrize(("room", "role", "selection", "options"), extended(SELECTIONS, 3))
def test_a_stranger_is_not_accused(room: str, role: str, selection: str, options: str) -> None:
    run = check(room, role, Reading(options), selection=selection)
    assert_no_alarm(run)
    assert (run.status, {result["outcome"] for result in run.results} >= {"PASS"}) == (0, True)


@pytest.mark.extended
def test_a_server_with_one_game_has_its_first_button_where_a_case_needs_it() -> None:
    run = check("holdem", "server", Reading("--created never --games one --button random"), selection="holdem/4")
    notes = {result["note"] for result in run.results if result["outcome"] == "SKIP"}
    luck = {"the cards decide it: --deck-flag has the server deal them", "it did not occur in any hand"}
    assert notes <= luck


def test_a_parser_that_does_not_tell_numbers_apart_is_tolerated() -> None:
    run = check("holdem", "server", Reading("--parser loose"), selection="holdem/4.17")
    assert (run.status, {result["outcome"] for result in run.results}) == (0, {"NON-STRICT"})


def test_json_with_a_charset_is_told_as_json() -> None:
    run = check("holdem", "server", Reading("--json pretty"), selection="holdem/1.5")
    assert (run.status, {result["outcome"] for result in run.results}) == (0, {"PASS"})


def test_a_player_with_a_nick_of_its_own_is_not_accused() -> None:
    program = command("oldmaid", "client").replace("{nick}", "student")
    assert check_simulated(["oldmaid/1.4/table-in-pieces", "--client", program]).status == 0


@pytest.mark.extended
def test_the_pauses_of_a_server_that_deals_from_a_file_are_waited_for() -> None:
    reading = Reading("--pause 0.15", ["--deck-flag", "--deck {file}"])
    run = check("holdem", "server", reading, selection="holdem/6.15/a-pot-is-shared")
    assert {result["outcome"] for result in run.results} == {"PASS"}


def test_a_pot_of_an_odd_size_is_shared_by_a_server_that_deals_from_a_file() -> None:
    reading = Reading("", ["--deck-flag", "--deck {file}"])
    run = check("holdem", "server", reading, selection="holdem/6.15/a-pot-of-an-odd-size")
    assert {result["outcome"] for result in run.results} == {"PASS"}


def test_the_blinds_of_a_server_that_deals_from_a_file_are_learned_before() -> None:
    reading = Reading("--small-blind 5 --big-blind 10 --stack 500", ["--deck-flag", "--deck {file}"])
    run = check("holdem", "server", reading, selection="holdem/6.15/a-pot-is-shared")
    assert {result["outcome"] for result in run.results} == {"PASS"}


@pytest.mark.slow
@pytest.mark.parametrize(("room", "role"), PROGRAMS)
def test_no_reading_of_the_document_is_accused(room: str, role: str) -> None:
    usual, *others = readings(room, role)
    run = check(room, role, usual)
    assert_no_alarm(run)
    assert run.status == 0
    for reading in others:
        assert_no_alarm(check(room, role, reading))


@pytest.mark.extended
@pytest.mark.parametrize("seed", range(len(PROGRAMS)))
def test_no_program_is_accused_with_a_seed(seed: int) -> None:
    assert_no_alarm(check_seed(seed))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1, SEEDS + 1, BLOCK))
def test_no_program_is_accused_with_any_seed(first: int) -> None:
    for seed in range(first, first + BLOCK):
        assert_no_alarm(check_seed(seed))


# Strangers and our own programs at one table.

PURSES = {"kuhn": "coins", "blackjack": "money"}
MANY_COINS = 1_000_000


@contextmanager
def stranger_serves(room: str) -> Iterator[int]:
    """Run a server that is not ours; return its port."""
    options = ["--choice", f"{PURSES[room]}={MANY_COINS}"] if room in PURSES else []
    words = [sys.executable, "-S", str(FOLDER / f"{room}_server.py"), "0", *options]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield int(server.stdout.readline().split()[-1])
        finally:
            server.terminate()


@contextmanager
def croupier_serves(room: str) -> Iterator[int]:
    """Run our own server; return its port."""
    options = [f"--{PURSES[room]}", MANY_COINS] if room in PURSES else []
    with Serving(room, "--port", 0, *options) as server:
        yield server.port


@pytest.mark.parametrize("games", extended([100, 3000], 2))
@pytest.mark.parametrize(("room", "serves"), extended(product(HOUSE_GAMES, [stranger_serves, croupier_serves]), 3))
def test_strangers_and_our_programs_play_by_the_same_rules(
    room: str, serves: Callable[[str], AbstractContextManager[int]], games: int
) -> None:
    client = [sys.executable, "-S", str(FOLDER / f"{room}_client.py")]
    with serves(room) as port:
        stranger = subprocess.run(
            [
                *client,
                "127.0.0.1",
                str(port),
                *["--choice", "check=yes", "--choice", "status=5", "--choice"],
                f"games={games}",
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        assert (stranger.returncode, stranger.stdout, stranger.stderr) == (0, f"{games} games\n", "")
        ours = croupier("play", room, f"127.0.0.1:{port}", "--bot", "random", "-n", games, "--strict", "--json")
        found = json.loads(ours.stdout)
        assert (found["games"], found["fault"]) == (games, None)


def test_a_house_that_ends_its_lines_may_refuse_quotes() -> None:
    reading = Reading("--choice ending=line --choice quotes=refuse")
    assert_no_alarm(check("kuhn", "server", reading, selection="kuhn/2.7/unclosed-quote"))


def test_a_house_may_refuse_an_unclosed_quote_as_an_argument() -> None:
    reading = Reading("--choice quotes=frame")
    assert_no_alarm(check("kuhn", "server", reading, selection="kuhn/2.7/unclosed-quote"))


def test_a_house_may_refuse_at_once_what_begins_no_message() -> None:
    reading = Reading("--choice garbage=early --choice spaces=refuse")
    assert_no_alarm(check("sevenhalf", "server", reading, selection="sevenhalf/2.9/quotes-around-a-card"))
