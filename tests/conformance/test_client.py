"""Client tests: correct clients pass with any cards, and a run is orderly."""

import asyncio
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from croupier.conformance.case import select
from croupier.conformance.case_runner import MUTE_RESULTS
from croupier.conformance.diagnosis.cause import WAITS_FOR_LINE_END
from croupier.conformance.program import ProgramError
from croupier.conformance.results import Outcome, Report, Result
from croupier.core.room import HouseRoom
from croupier.rooms import HOUSE_ROOMS
from croupier.rooms.kuhn import ROOM as KUHN
from tests.conformance.programs import FOLDER, command
from tests.conformance.suites import check_client, client_cases
from tests.processes import COMMAND, PATIENCE, is_running
from tests.sampling import extended

rooms = pytest.mark.parametrize("room", HOUSE_ROOMS.values(), ids=HOUSE_ROOMS)


def tried(
    room: HouseRoom, line: str, part: slice = slice(None), *, strict: bool = False, seed: int = 1, timeout: float = 10.0
) -> Sequence[Result]:
    cases = client_cases(room)[part]
    return asyncio.run(check_client(room, line, cases=cases, strict=strict, seed=seed, timeout=timeout))


def alarms(results: Sequence[Result]) -> list[Result]:
    """What would be a false alarm about a client that is right."""
    return [result for result in results if not result.outcome.is_good or result.outcome is Outcome.NON_STRICT]


@pytest.mark.parametrize("step", extended([24, 2], 2))
@rooms
def test_an_honest_client_passes(room: HouseRoom, step: int) -> None:
    results = tried(room, command(room.name, "client"), slice(0, None, step))
    assert alarms(results) == []
    assert sum(result.outcome is Outcome.PASS for result in results) >= 50 // step
    assert sum(result.outcome is Outcome.SKIP for result in results) <= max(2, len(results) // 6)  # by luck


@pytest.mark.parametrize("room", extended(HOUSE_ROOMS.values(), 3), ids=HOUSE_ROOMS)
def test_an_honest_client_passes_a_strict_run(room: HouseRoom) -> None:
    assert alarms(tried(room, command(room.name, "client"), slice(1, None, 7), strict=True)) == []


@pytest.mark.parametrize("room", extended(HOUSE_ROOMS.values(), 3), ids=HOUSE_ROOMS)
def test_our_own_client_passes(room: HouseRoom) -> None:
    line = shlex.join([*COMMAND, "play", room.name, "HOST", "--bot", "random", "--games", "3"])
    results = tried(room, line.replace("HOST", "{host}:{port}"), slice(2, None, 60))
    assert alarms(results) == []


def test_a_client_may_read_on_after_what_cannot_be_read() -> None:
    room = HOUSE_ROOMS["sevenhalf"]
    cases = select(client_cases(room), "sevenhalf/2.9/house-unknown-code")
    line = f"{command(room.name, 'client')} --habit reads-on"
    (result,) = asyncio.run(check_client(room, line, cases=cases))
    assert result.outcome is Outcome.CHOICE
    assert result.note.startswith("when the tester broke sevenhalf-2.9 on purpose, it went on with ")


@pytest.mark.slow
@pytest.mark.parametrize("bot", ["random", "own"])
@rooms
def test_our_own_client_passes_all_cases(room: HouseRoom, bot: str) -> None:
    line = shlex.join(
        [*COMMAND, "play", room.name, "HOST", "--bot", room.default_bot if bot == "own" else bot, "-n", "3"]
    )
    assert alarms(tried(room, line.replace("HOST", "{host}:{port}"), timeout=20.0)) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 9))
@rooms
def test_an_honest_client_passes_with_every_luck(room: HouseRoom, seed: int) -> None:
    line = command(room.name, "client", "honest", "--seed", seed)
    assert alarms(tried(room, line, seed=seed, timeout=20.0)) == []


@pytest.mark.parametrize("games", extended([2, 1, 3], 3))
def test_the_exit_status_of_a_client_that_has_played_its_games_proves_nothing(games: int) -> None:
    room = HOUSE_ROOMS["blackjack"]
    line = command("blackjack", "client", "ends-with-status-1", "--games", games, "--seed", 4)
    chosen = ("blackjack/3.5", "blackjack/4.4", "blackjack/4.5", "blackjack/5.1", "blackjack/5.2")
    cases = [case for selection in chosen for case in select(client_cases(room), selection)]
    assert alarms(asyncio.run(check_client(room, line, cases=cases))) == []


@pytest.mark.extended
@rooms
def test_a_client_of_one_game_has_nothing_to_fear(room: HouseRoom) -> None:
    line = command(room.name, "client", "honest", "--games", 1)
    assert alarms(tried(room, line, slice(0, None, 6))) == []


# The run.


def test_results_are_in_the_order_of_the_cases_and_told_as_they_come() -> None:
    cases = select(client_cases(KUHN), "kuhn/4")[::4]
    told: list[Result] = []
    results = asyncio.run(check_client(KUHN, command("kuhn", "client"), cases=cases, on_result=told.append))
    assert [result.case for result in results] == [case.id for case in cases]
    assert sorted(told, key=lambda result: result.case) == sorted(results, key=lambda result: result.case)


def test_enough_failures_end_the_run() -> None:
    cases = client_cases(KUHN)
    line = command("kuhn", "client", "no-space")
    results = asyncio.run(check_client(KUHN, line, cases=cases, max_failures=2))
    failed = [result for result in results if result.outcome is Outcome.FAIL]
    assert 2 <= len(failed) <= 3  # one more may have been begun
    assert len(results) < len(cases)


def test_a_failure_comes_with_what_the_program_has_written() -> None:
    said: list[bytes] = []
    cases = select(client_cases(KUHN), "kuhn/4.1/p1-acts")
    line = command("kuhn", "client", "crashes")
    (result,) = asyncio.run(check_client(KUHN, line, cases=cases, on_stderr=said.append))
    assert result.failure is not None
    assert "exit status 1: RuntimeError: index out of range" in result.failure.actual
    assert [b"Traceback" in text for text in said] == [True]


def test_a_program_that_never_connects_is_reported_as_not_tested() -> None:
    results = tried(KUHN, command("kuhn", "client", "ends-at-once"))
    assert {result.outcome for result in results} == {Outcome.SKIP}
    report = Report("kuhn", "client", "x", "x", "0", 1, 0.0, 0.0, tuple(results))
    assert report.exit_status == 2


def test_the_run_ends_early_at_a_client_that_connects_and_says_nothing() -> None:
    silent = "import socket, sys; socket.create_connection((sys.argv[1], int(sys.argv[2]))).recv(100)"
    line = shlex.join([sys.executable, "-S", "-c", silent]) + " {host} {port}"
    results = asyncio.run(check_client(KUHN, line, cases=client_cases(KUHN), timeout=0.5))
    assert MUTE_RESULTS <= sum(result.outcome is Outcome.FAIL for result in results) <= len(results) < 2 * MUTE_RESULTS


READS_LINES = """
import socket, sys
line = socket.create_connection((sys.argv[1], int(sys.argv[2]))).makefile("rw", newline="\\n")
for words in ("STRT P_1", "ACTN CHK", "ACTN FLD"):
    print(words, end=sys.argv[3], file=line, flush=True)
    if line.readline() == "ACTN CHK":
        break
"""


@pytest.mark.parametrize("ending", extended(["", "\n"], 2))
def test_a_client_that_waits_for_lines_is_told_so_and_the_run_ends_early(ending: str) -> None:
    line = shlex.join([sys.executable, "-S", "-c", READS_LINES]) + f" {{host}} {{port}} {shlex.quote(ending)}"
    results = asyncio.run(check_client(KUHN, line, cases=client_cases(KUHN), timeout=0.5))
    failures = [result.failure for result in results if result.failure is not None]
    assert MUTE_RESULTS <= len(failures) < 2 * MUTE_RESULTS
    assert {(failure.clause, failure.cause) for failure in failures} == {("kuhn-2.1", WAITS_FOR_LINE_END)}


READS_TOO_FAR = """
import socket, sys
connection = socket.create_connection((sys.argv[1], int(sys.argv[2])))
connection.sendall(b"STRT P_1")
if len(connection.recv(9, socket.MSG_WAITALL)) == 9:
    connection.sendall(b"ACTN CHK")
"""


def test_a_client_that_waits_for_one_more_byte_does_not_wait_for_a_line_end() -> None:
    line = shlex.join([sys.executable, "-S", "-c", READS_TOO_FAR]) + " {host} {port}"
    cases = [case for case in client_cases(KUHN) if case.id == "kuhn/1.2/the-client-speaks-first"]
    (result,) = asyncio.run(check_client(KUHN, line, cases=cases, timeout=0.5))
    assert result.failure is not None
    assert (result.failure.clause, result.failure.cause == WAITS_FOR_LINE_END) == ("kuhn-4.1", False)


def test_a_program_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ProgramError, match="'/no/such/client' cannot be started"):
        tried(KUHN, "/no/such/client {host} {port}", slice(0, 3))


def test_a_command_that_makes_no_sense_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"found \{prot\}"):
        tried(KUHN, "client {host} {prot}", slice(0, 3))


def test_a_failure_shows_the_dialogue_and_the_bytes() -> None:
    cases = select(client_cases(KUHN), "kuhn/2.2/many-games")
    line = command("kuhn", "client", "spells-it-out", "--seed", 5)
    (result,) = asyncio.run(check_client(KUHN, line, cases=cases))
    assert result.failure is not None
    assert (result.failure.clause, result.failure.got) == ("kuhn-2.6", b"ACTN RAI")
    assert result.dialogue[-1].data == b"ACTN RAI"
    assert len(result.dialogue) <= 6


def test_a_dialect_is_named_as_the_cause() -> None:
    cases = select(client_cases(HOUSE_ROOMS["sevenhalf"]), "sevenhalf/7.3/largest-bet")
    line = command("sevenhalf", "client", "little-endian")
    (result,) = asyncio.run(check_client(HOUSE_ROOMS["sevenhalf"], line, cases=cases))
    assert result.failure is not None
    assert str(result.failure.cause) == "it sends its integers with the least significant byte first"


@pytest.mark.extended
@pytest.mark.parametrize("habit", ["one-read", "one-late-read"])
def test_one_read_taken_for_one_message_is_confirmed_by_experiment(habit: str) -> None:
    cases = select(client_cases(KUHN), "kuhn/4.2/p2-is-bet-at")
    (result,) = asyncio.run(check_client(KUHN, command("kuhn", "client", habit), cases=cases, timeout=1.0))
    assert result.failure is not None
    assert result.failure.clause == "kuhn-1.3"
    assert result.failure.cause is not None
    assert not result.failure.cause.is_guess
    assert "what one read brings for one message" in result.failure.cause.text


def test_a_spelling_that_a_dialect_does_not_have_is_not_tried_in_it() -> None:
    room = HOUSE_ROOMS["blackjack"]
    cases = select(client_cases(room), "blackjack/2.7/ten-as-two-digits")
    settings = room.settings(dialect="char8")
    (result,) = asyncio.run(check_client(room, command("blackjack", "client"), cases=cases, options=settings))
    assert (result.outcome, result.note) == (Outcome.SKIP, "only in the dialect document")


DAWDLER = """
import sys, time
from pathlib import Path
folder, marker = sys.argv.pop(1), Path(sys.argv.pop(1))
sys.path.insert(0, folder)
import kuhn_client
game = kuhn_client.Client.game

def dawdled(self, seat):
    goes_on = game(self, seat)
    if not marker.exists():
        marker.touch()
        time.sleep(0.9)
    return goes_on

kuhn_client.Client.game = dawdled
kuhn_client.main()
"""


def test_a_client_that_dawdles_once_between_two_games_is_not_silent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("croupier.conformance.clients.bench.IDLE_TIMEOUT_SECONDS", 0.3)
    script, marker = tmp_path / "dawdler.py", tmp_path / "dawdled"
    script.write_text(DAWDLER)
    line = shlex.join([sys.executable, "-S", str(script), str(FOLDER), str(marker)]) + " {host} {port}"
    cases = select(client_cases(KUHN), "kuhn/1.3/byte-by-byte-p1-acts")
    (result,) = asyncio.run(check_client(KUHN, line, cases=cases))
    assert marker.exists()
    assert result.outcome.is_good, result


SLEEPER = """
import os, socket, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open(sys.argv[3], "a").write(f"{os.getpid()} {child.pid}\\n")
line = socket.create_connection((sys.argv[1], int(sys.argv[2])))
time.sleep(600)
"""


def test_nothing_is_left_behind_when_the_run_is_broken_off(tmp_path: Path) -> None:
    file = tmp_path / "pids"
    script = tmp_path / "sleeper.py"
    script.write_text(SLEEPER)
    line = f"{shlex.quote(sys.executable)} {shlex.quote(str(script))} {{host}} {{port}} {shlex.quote(str(file))}"

    async def main() -> None:
        run = asyncio.create_task(check_client(KUHN, line, cases=client_cases(KUHN), timeout=60))
        async with asyncio.timeout(PATIENCE):
            while not file.exists() or file.read_text().count("\n") < 2:
                await asyncio.sleep(0.01)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        async with asyncio.timeout(PATIENCE):
            while any(is_running(int(pid)) for pid in file.read_text().split()):
                await asyncio.sleep(0.01)  # a killed process ends a little later, and only its parent is notified

    asyncio.run(main())
