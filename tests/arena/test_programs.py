"""Programs play over real connections: the same deals as in process, and what they do wrong is a result."""

import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread

import pytest
from msgspec.structs import replace

from croupier.arena import client_programs
from croupier.arena.plan import Plan
from croupier.arena.play import play_chunk
from croupier.arena.programs import check_programs
from croupier.arena.tally import Tally
from croupier.clients.contestants import parse_contestant
from croupier.rooms import find_room
from tests.arena import faulty_kuhn_client
from tests.conformance.strangers import FOLDER
from tests.processes import Serving
from tests.sampling import extended

CLIENT = f"{sys.executable} -S {FOLDER}/kuhn_client.py {{host}} {{port}} --choice seed=1 --choice games=1000"
FAULTY = f"{sys.executable} -S {Path(faulty_kuhn_client.__file__)} {{host}} {{port}}"


def plan(*bots: str, duplicate: bool = True, seconds: float = 30) -> Plan:
    return Plan(
        "kuhn", bots, pairs=100, seed=1, chunk_pairs=40, duplicate=duplicate, answer_seconds=seconds, adjust="any"
    )


def play(*bots: str, duplicate: bool = True, seconds: float = 30) -> Tally:
    return play_chunk(plan(*bots, duplicate=duplicate, seconds=seconds), (0, 1), 1)


@pytest.mark.parametrize("duplicate", [False, True])
@pytest.mark.parametrize("is_first", [False, True])
def test_a_program_has_the_result_of_a_bot_in_process_that_plays_alike(duplicate: bool, is_first: bool) -> None:
    def against(bot: str) -> Tally:
        bots = (bot, "script:BET,CAL") if is_first else ("script:BET,CAL", bot)
        return play(*bots, duplicate=duplicate)

    assert against(f"{FAULTY} none 1000") == against("script:CHK,FLD")


def test_a_bot_that_publishes_its_probabilities_is_known_beside_a_program() -> None:
    tally = play(CLIENT, "equilibrium")
    assert (tally.pairs, tally.known, tally.faults) == (40, (False, True), ())
    assert tally.adjusted is not None
    assert sum(tally.ends.values()) == 40


def test_a_program_that_ends_is_started_again() -> None:
    tally = play("book", f"{CLIENT} --choice games=30 --choice sessions=game")
    assert (tally.pairs, tally.faults) == (40, ())


@pytest.mark.parametrize(
    ("fault", "hands", "reasons"),
    [
        ("illegal", 10, ["kuhn-6.1: found ACTN CAL; allowed: ACTN CHK, ACTN BET", "kuhn-6.3: found STRT P_1"]),
        ("unreadable", 10, ["kuhn-2.7: found 'HELL'", "it left the hand", "kuhn-2.7: found 'HELL'"]),
        ("crash", 10, ["it ended during the hand with exit status 1: ValueError: no idea"] * 3),
        ("leave", 10, ["it ended during the hand with exit status 0"] * 3),
        ("hang", 10, ["no message for 3 seconds"]),
        ("first", 1000, ["it plays as P_1 too often; allowed: both seats, as often as each other"]),
    ],
)
def test_a_program_that_does_not_play_on_forfeits_with_reasons(fault: str, hands: int, reasons: list[str]) -> None:
    tally = play(f"{FAULTY} {fault} {hands}", "random", seconds=3 if fault == "hang" else 30)
    assert (tally.pairs, tally.forfeit) == (0, 0)
    assert all(found.bot == 0 and 40 < found.hand <= 240 for found in tally.faults)
    assert all(found.reason.startswith(reason) for found, reason in zip(tally.faults, reasons, strict=False))
    assert len(tally.faults) >= len(reasons)


def test_a_program_that_never_connects_forfeits(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(client_programs, "START_SECONDS", 1.0)
    (fault,) = play("random", f"{FAULTY} absent {tmp_path / 'id'}", seconds=1).faults
    assert (fault.bot, fault.reason) == (1, "no message for 1 seconds")


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("no-such-program {port}", "'no-such-program' cannot be started: No such file or directory"),
        (f"{sys.executable} -c 'import sys; sys.exit(\"no idea\")'", "it ended with exit status 1: no idea"),
        (f"{sys.executable} -c pass", "it ended with exit status 0"),
    ],
)
def test_a_program_that_plays_nothing_forfeits(command: str, reason: str) -> None:
    tally = play(command, "random")
    assert tally.forfeit == 0
    assert [fault.reason for fault in tally.faults] == [reason]


@pytest.mark.extended
def test_the_time_of_the_other_bot_is_not_that_of_the_program(tmp_path: Path) -> None:
    bot = tmp_path / "slow.py"
    bot.write_text(
        "import time\nclass Slow:\n    slept = False\n    def choose(self, view, legal, luck):\n"
        "        time.sleep(0 if self.slept else 6)\n        self.slept = True\n        return legal[0]\n"
    )
    tally = play(f"{CLIENT}", f"{bot}:Slow", seconds=5)
    assert (tally.pairs, tally.faults) == (40, ())


def test_a_fault_of_the_bot_in_process_is_its_own(tmp_path: Path) -> None:
    bot = tmp_path / "mine.py"
    bot.write_text("class Illegal:\n    def choose(self, view, legal, luck):\n        return 'ALL'\n")
    tally = play(CLIENT, f"{bot}:Illegal")
    assert tally.forfeit == 1
    assert [fault.bot for fault in tally.faults] == [1, 1, 1]
    assert {fault.reason for fault in tally.faults} <= {
        f"the illegal move 'ALL'; allowed: {legal}" for legal in ("CHK, BET", "CAL, FLD")
    }


@pytest.mark.parametrize(
    ("room", "bots", "error"),
    [
        (
            "kuhn",
            ("random", "a {port}", "b {port}"),
            "'a {port}' (a client) and 'b {port}' (a client) against each other",
        ),
        ("kuhn", ("a {port}", "random", "b {port}"), "against each other; allowed: a program against a bot of ours"),
        ("kuhn", ("random", "a -s {host}"), "which cannot know the port; allowed: {port} in the command"),
        ("blackjack", ("book", "localhost:1214"), "(address); allowed: a built-in bot, FILE.py:CLASS, a command"),
        ("kuhn", ("random", "localhost:1212"), "found --duplicate and the server 'localhost:1212', which deals"),
        ("holdem", ("random", "localhost:8080"), "found --duplicate and the server 'localhost:8080', which deals"),
    ],
)
def test_programs_that_cannot_play_are_refused(room: str, bots: tuple[str, ...], error: str) -> None:
    contestants = [parse_contestant(find_room(room), bot) for bot in bots]
    with pytest.raises(ValueError) as refusal:  # noqa: PT011 -- the text is compared below
        check_programs(replace(plan(*bots), room=room), contestants)
    assert error in str(refusal.value)


def test_programs_may_play_if_they_never_meet() -> None:
    bots = ("random", "a {port}", "b {port}")
    contestants = [parse_contestant(find_room("kuhn"), bot) for bot in bots]
    check_programs(replace(plan(*bots), schedule="gauntlet"), contestants)


@pytest.mark.parametrize("room", extended(["sevenhalf", "blackjack"], 2))
def test_at_a_bank_a_program_plays_the_same_shoes(room: str) -> None:
    command = f"{sys.executable} -m croupier play {room} -s {{host}} -p {{port}} --bot book --games 100000"
    tally = play_chunk(replace(plan("book", command), room=room), (0, 1), 1)
    assert (tally.pairs, tally.faults) == (40, ())
    assert tally.plain.squares == 0, "the program plays like the bot in process"
    assert tally.adjusted is not None
    assert tally.adjusted.squares == 0
    assert tally.leaks[0] == tally.leaks[1]


@pytest.mark.extended
@pytest.mark.parametrize("room", ["sevenhalf", "blackjack"])
def test_two_programs_compare_at_a_bank(room: str) -> None:
    client = f"{sys.executable} -S {FOLDER}/{room}_client.py {{host}} {{port}} --choice games=30 --choice seed=1"
    played = replace(plan(client, f"{client} --choice check=yes"), room=room)
    check_programs(played, [parse_contestant(find_room(room), bot) for bot in played.bots])
    tally = play_chunk(played, (0, 1), 1)
    assert (tally.pairs, tally.faults) == (40, ())


@pytest.mark.parametrize(
    ("room", "message", "reason"),
    [
        ("sevenhalf", "STRT", "it ended during the hand with exit status 0"),
        ("blackjack", "HELLO!", "blackjack-2.10: found"),
    ],
)
def test_a_program_that_leaves_the_bank_forfeits(room: str, message: str, reason: str) -> None:
    script = (
        f"import socket, sys; s = socket.create_connection(('{{host}}', {{port}})); s.send(b'{message}'); s.recv(9)"
    )
    tally = play_chunk(replace(plan(f'{sys.executable} -c "{script}"', "book"), room=room), (0, 1), 1)
    assert (tally.pairs, tally.forfeit) == (0, 0)
    assert tally.faults[0].reason.startswith(reason)


def test_a_server_plays_against_our_client() -> None:
    with Serving("kuhn", "--port", "0", "--journal", "off", "--bot", "script:CHK,FLD") as server:
        bots = ("book:always-bet", f"127.0.0.1:{server.ports['kuhn']}")
        for pairing, won in (((0, 1), 1.0), ((1, 0), -1.0)):
            tally = play_chunk(Plan("kuhn", bots, pairs=200, seed=1, answer_seconds=30), pairing, 0)
            assert (tally.pairs, tally.faults) == (100, ())
            assert (tally.plain.mean, tally.plain.variance) == (won, 0), "every bet is folded to"


@contextmanager
def server(answer: bytes) -> Iterator[str]:
    """A server that sends the same bytes to every client; yields its address."""

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listening.accept()
                with connection:
                    connection.recv(8)
                    connection.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = Thread(target=serve)
        thread.start()
        try:
            yield f"127.0.0.1:{listening.getsockname()[1]}"
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()


def play_server(address: str) -> Sequence[str]:
    """The reasons with which a server forfeits."""
    tally = play_chunk(Plan("kuhn", ("random", address), pairs=200, seed=1, answer_seconds=30), (0, 1), 0)
    assert (tally.pairs, tally.forfeit) == (0, 1)
    assert all(fault.bot == 1 for fault in tally.faults)
    return [fault.reason for fault in tally.faults]


def test_a_server_that_breaks_the_protocol_forfeits() -> None:
    with server(b"HELLO!!!") as address:
        reasons = play_server(address)
    assert [reason[:9] for reason in reasons] == ["kuhn-2.7:"] * 3


def test_a_server_without_coins_forfeits() -> None:
    with Serving("kuhn", "--port", "0", "--journal", "off", "--coins", "0") as serving:
        reasons = play_server(f"127.0.0.1:{serving.ports['kuhn']}")
    assert reasons == ["it gives a new connection no coins to play with"] * 3


def test_a_server_that_is_not_there_forfeits() -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        address = f"127.0.0.1:{unused.getsockname()[1]}"
    assert all("no house answers at" in reason for reason in play_server(address))
