"""Programs play over real connections: the same deals as in process, and what they do wrong is a result."""

import sys
from pathlib import Path

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
        ("hang", 10, ["no message for 1 seconds"]),
        ("first", 1000, ["it plays as P_1 too often; allowed: both seats, as often as each other"]),
    ],
)
def test_a_program_that_does_not_play_on_forfeits_with_reasons(fault: str, hands: int, reasons: list[str]) -> None:
    tally = play(f"{FAULTY} {fault} {hands}", "random", seconds=1 if fault == "hang" else 30)
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


def test_a_fault_of_the_bot_in_process_is_its_own(tmp_path: Path) -> None:
    bot = tmp_path / "mine.py"
    bot.write_text("class Illegal:\n    def choose(self, view, legal, luck):\n        return 'ALL'\n")
    tally = play(CLIENT, f"{bot}:Illegal")
    assert tally.forfeit == 1
    assert [(fault.bot, fault.reason) for fault in tally.faults] == [(1, "the illegal move 'ALL'")] * 3


@pytest.mark.parametrize(
    ("room", "bots", "error"),
    [
        ("kuhn", ("random", "a {port}", "b {port}"), "both are clients"),
        ("kuhn", ("a {port}", "random", "b {port}"), "both are clients"),
        ("holdem", ("random", "a {port}"), "'a {port}' (command); allowed: a built-in bot, FILE.py:CLASS"),
        ("kuhn", ("random", "localhost:1212"), "(address); allowed: a built-in bot, FILE.py:CLASS, a command"),
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


@pytest.mark.parametrize("room", ["sevenhalf", "blackjack"])
def test_at_a_bank_a_program_plays_the_same_shoes(room: str) -> None:
    command = f"{sys.executable} -m croupier play {room} -s {{host}} -p {{port}} --bot book --games 100000"
    tally = play_chunk(replace(plan("book", command), room=room), (0, 1), 1)
    assert (tally.pairs, tally.faults) == (40, ())
    assert tally.plain.squares == 0, "the program plays like the bot in process"
    assert tally.adjusted is not None
    assert tally.adjusted.squares == 0
    assert tally.leaks[0] == tally.leaks[1]


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
