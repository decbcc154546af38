"""Programs play hold'em at a server of the arena: the results of bots in process, and faults with reasons."""

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from croupier.arena import holdem, holdem_programs
from croupier.arena.baselines import holdem as baseline
from croupier.arena.holdem_table import as_played, table_deals
from croupier.arena.plan import Plan
from croupier.arena.play import play_chunk
from croupier.arena.programs import check_programs
from croupier.arena.tally import Tally
from croupier.clients.contestants import parse_contestant
from croupier.rooms import find_room
from croupier.rooms.holdem.engine.hand import Hand
from croupier.rooms.holdem.engine.play import OVER
from tests.arena import faulty_holdem_client
from tests.conformance.strangers import FOLDER

FAULTY = f"{sys.executable} -S {Path(faulty_holdem_client.__file__)} {{url}}"
CALLER = f"{FAULTY} none 1000"
STRANGER = f"{sys.executable} -S {FOLDER}/holdem_client.py --url {{url}} --user {{user}} --password {{password}}"
OURS = (
    f"{sys.executable} -m croupier play holdem {{url}} --user {{user}} --password {{password}} --game {{game}}"
    " --bot tight --hands 100000"
)


def play(*bots: str, duplicate: bool = True, seconds: float = 30, adjust: str | None = None) -> Tally:
    plan = Plan(
        "holdem",
        bots,
        pairs=50,
        seed=1,
        chunk_pairs=10,
        duplicate=duplicate,
        answer_seconds=seconds,
        adjust=adjust,
    )
    check_programs(plan, [parse_contestant(find_room("holdem"), bot) for bot in bots])
    return play_chunk(plan, (0, 1), 1)


def test_a_program_has_the_result_of_a_bot_in_process_that_plays_alike() -> None:
    for duplicate in (False, True):
        for bots in (("caller", "tight"), ("tight", "caller")):
            expected = play(*bots, duplicate=duplicate)
            assert expected.plain.squares
            programs = [CALLER if bot == "caller" else bot for bot in bots]
            assert play(*programs, duplicate=duplicate) == expected


@pytest.mark.extended
def test_two_users_of_a_program_are_not_taken_for_two_programs() -> None:
    tally = play(f"{FAULTY} twins 2", CALLER, seconds=2)
    assert (tally.forfeit, {fault.bot for fault in tally.faults}) == (0, {0})


@pytest.mark.extended
def test_two_programs_of_different_kinds_play_each_other() -> None:
    assert play(OURS, CALLER) == play("tight", "caller")


@pytest.mark.extended
def test_a_program_by_others_plays() -> None:
    tally = play(STRANGER, OURS, duplicate=False)
    assert (tally.pairs, tally.faults) == (10, ())


@pytest.mark.extended
def test_results_of_programs_are_adjusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holdem, "PILOT_PAIRS", 50)
    monkeypatch.setattr(baseline, "PILOT_PAIRS", 50)
    expected = play("caller", "tight", adjust="any")
    assert play(CALLER, "tight", adjust="any") == expected


@pytest.mark.parametrize(
    ("fault", "seconds", "reasons"),
    [
        ("illegal", 30, ["holdem-4.7: found -1; allowed: ", "it ended during the hand with exit status 0"]),
        ("crash", 30, 3 * ["it ended during the hand with exit status 1: ValueError: no idea"]),
        pytest.param("leave", 30, 3 * ["it ended during the hand with exit status 0"], marks=pytest.mark.extended),
        pytest.param("malformed", 2, ["no act for 2 seconds"], marks=pytest.mark.extended),
        ("hang", 2, ["no act for 2 seconds"]),
        ("twins", 2, ["no act for 2 seconds"]),
    ],
)
def test_a_program_that_does_not_play_on_forfeits_with_reasons(
    fault: str, seconds: float, reasons: Sequence[str]
) -> None:
    tally = play(f"{FAULTY} {fault} 2", "caller", seconds=seconds)
    assert (tally.pairs, tally.forfeit) == (0, 0)
    assert all(found.bot == 0 and 20 < found.hand <= 40 for found in tally.faults)
    assert all(found.reason.startswith(reason) for found, reason in zip(tally.faults, reasons, strict=False))
    assert len(tally.faults) >= len(reasons)


def test_a_program_that_ends_is_started_again() -> None:
    tally = play("caller", f"{FAULTY} leave 15", duplicate=False)
    assert (tally.pairs, tally.forfeit) == (10, None)
    assert [(fault.bot, fault.reason) for fault in tally.faults] == [(1, "it ended during the hand with exit status 0")]


@pytest.mark.parametrize("index", [0, 1])
def test_a_program_that_never_joins_forfeits(monkeypatch: pytest.MonkeyPatch, index: int) -> None:
    monkeypatch.setattr(holdem_programs, "START_SECONDS", 1.0)
    bots = [f"{FAULTY} absent 0", "caller"]
    tally = play(*(bots[::-1] if index else bots), seconds=1)
    assert tally.forfeit == index
    assert [fault.reason for fault in tally.faults] == ["it has not joined the game for 1 seconds"]


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("no-such-program {port}", "'no-such-program' cannot be started: No such file or directory"),
        (
            f"{sys.executable} -c 'import sys; sys.exit(\"│ no idea │\\n╰─╯\")' {{url}}",
            "it ended with exit status 1: no idea",
        ),
    ],
)
def test_a_program_that_plays_nothing_forfeits(command: str, reason: str) -> None:
    tally = play("caller", command)
    assert tally.forfeit == 1
    assert [fault.reason for fault in tally.faults] == [reason]


def test_a_program_that_uses_too_much_time_for_a_hand_forfeits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holdem_programs, "START_SECONDS", 5.0)
    monkeypatch.setattr(holdem_programs, "MAX_HAND_MESSAGES", 0)
    tally = play(f"{FAULTY} hang 2", "caller")
    assert [fault.reason for fault in tally.faults] == ["it has used 5 seconds for a hand"]


@pytest.mark.extended
def test_the_time_of_the_bot_in_process_is_not_that_of_the_program(tmp_path: Path) -> None:
    bot = tmp_path / "slow.py"
    bot.write_text(
        "import time\nclass Slow:\n    slept = False\n    def choose(self, view, legal, luck):\n"
        "        time.sleep(0 if self.slept else 6)\n        Slow.slept = True\n        return view.call\n"
    )
    tally = play(CALLER, f"{bot}:Slow", duplicate=False, seconds=5)
    assert (tally.pairs, tally.faults) == (10, ())


def test_faults_of_the_bot_in_process_are_its_own(tmp_path: Path) -> None:
    bot = tmp_path / "mine.py"
    bot.write_text("class Illegal:\n    def choose(self, view, legal, luck):\n        return -1\n")
    tally = play(CALLER, f"{bot}:Illegal")
    assert tally.forfeit == 1
    assert [fault.bot for fault in tally.faults] == [1, 1, 1]
    assert all(fault.reason.startswith("the illegal move -1; allowed: fold, ") for fault in tally.faults)


def test_duplicates_are_dealt_at_two_tables() -> None:
    assert table_deals(3, duplicate=False) == [(range(3), range(3))]
    assert [[[*numbers] for numbers in table] for table in table_deals(5, duplicate=True)] == [
        [[0, 2, 4], [1, 3]],
        [[1, 3], [0, 2, 4]],
    ]


@pytest.mark.parametrize("button", [0, 1])
def test_a_hand_of_the_table_is_played_again_with_seat_0_on_the_button(button: int) -> None:
    cards = range(9)
    hand = Hand([1000, 1000], button=button)
    hand.deal_from(cards)
    hand.bet(30)
    hand.bet(20)
    hand.bet(0)
    assert as_played(hand, cards).turn == 0
    hand.leave(1 - button)
    played = as_played(hand, cards)
    assert played.turn is OVER
    assert played.payoff() == (40, -40)
    assert played.hole_of(0) == (0, 2)
