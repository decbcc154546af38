"""A long dialogue with a failure is shortened to the few messages that show it."""

import asyncio
from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

import pytest

from croupier.conformance.case import Case
from croupier.conformance.conversation import Conversation, DialogueLine
from croupier.conformance.results import Failure, Outcome
from croupier.conformance.servers.closes import MAX_CLOSE_TRIES, find_unasked_close
from croupier.conformance.servers.scenarios import send_each
from croupier.conformance.servers.scripted_client import ScriptedClient
from croupier.conformance.servers.test_data import ScenarioContext
from croupier.conformance.shrink import SHORT_DIALOGUE_LINES, Shrinker
from croupier.conformance.suite import Attempt, Bench
from croupier.core.referee import CLIENT
from tests.conformance.house_fixture import HouseFixture, new_bench
from tests.conformance.suites import SERVER_TEST_DATA, server_cases
from tests.rooms.conversation_fixture import HANG_UP, Habit, followed, honest, instead

KUHN = SERVER_TEST_DATA["kuhn"]
EVENING = [*[b"STRT P_1", b"ACTN BET"] * 6, b"FAIL W_A", b"STRT P_1"]
CASE = next(case for case in server_cases(KUHN.room) if case.id == "kuhn/4.10/games-in-a-row")


@pytest.fixture(autouse=True)
def has_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten as far as possible on a slow machine, too."""
    for name in ("SHRINK_SECONDS", "MAX_TOTAL_SECONDS"):
        monkeypatch.setattr(f"croupier.conformance.shrink.{name}", 60.0)


def shorten(habit: Habit, words: Sequence[bytes] = EVENING) -> tuple[Attempt, Attempt]:
    """The failure of a house with a mutation that is sent these messages, and its shortest form."""
    house = HouseFixture(KUHN.room, {"deck": "Q K J", "house": "CAL", "coins": "100"}, habit)

    async def main() -> tuple[Attempt, Attempt]:
        bench = new_bench(KUHN.room, house)
        long = await bench.replay(CASE, words)
        return long, await Shrinker(bench).shorten(CASE, long)

    return asyncio.run(main())


def test_messages_without_a_part_in_the_fault_are_left_out() -> None:
    long, short = shorten(instead(b"FAIL W_A", b"FAIL W_A"))
    assert long.failure
    assert short.failure
    assert short.failure.clause == long.failure.clause == "kuhn-6.5"
    assert len(short.dialogue) <= SHORT_DIALOGUE_LINES
    assert len(short.steps) < len(long.steps)
    assert short.steps[-1] == b"FAIL W_A"


def test_messages_that_were_sent_ahead_are_sent_one_by_one() -> None:
    long, short = shorten(instead(b"ACTN CAL", b"CARD C_K"), [b"".join([*EVENING[:-2], b"STRT P_1", b"ACTN CAL"])])
    assert len(long.steps) == 1
    assert short.shows(long)
    assert len(short.dialogue) <= len(long.dialogue)


def test_a_fault_that_does_not_recur_is_not_shortened() -> None:
    wrong = [True]

    def habit(heard: bytes, answers: list[bytes]) -> Sequence[bytes]:
        return [b"CARD C_A"] if heard == b"STRT P_1" and wrong and wrong.pop() else honest(heard, answers)

    long, short = shorten(habit)
    assert short is long


class CountingBench(Bench):
    """Shows a failure if these steps occur in this order; it may never return."""

    def __init__(self, needed: Sequence[int], starts: Iterable[Sequence[int]] = (), *, hangs: bool = False) -> None:
        self.needed = needed
        self.starts = starts
        self.hangs = hangs
        self.replays = 0

    async def replay(self, case: Case, steps: Sequence[Any]) -> Attempt:
        self.replays += 1
        if self.hangs:
            await asyncio.Event().wait()
        remaining = iter(steps)
        return attempt(steps) if all(step in remaining for step in self.needed) else Attempt(Outcome.PASS)

    def short_starts(self, attempt: Attempt) -> Iterable[Sequence[Any]]:
        return self.starts


def attempt(steps: Sequence[int]) -> Attempt:
    lines = [DialogueLine(CLIENT, b"%d" % step, step, 0.0) for step in steps for _ in range(SHORT_DIALOGUE_LINES + 1)]
    return Attempt(Outcome.FAIL, failure=Failure("kuhn-4.1", "a card", "nothing"), dialogue=lines, steps=steps)


def shrunk(bench: Bench, steps: Sequence[int]) -> Sequence[int]:
    async def main() -> Sequence[int]:
        return (await Shrinker(bench).shorten(CASE, attempt(steps))).steps

    return asyncio.run(main())


def test_only_necessary_steps_are_kept() -> None:
    assert shrunk(CountingBench([7, 9]), [*range(12)]) == [7, 9]


def test_a_short_start_is_tried_first() -> None:
    bench = CountingBench([7], [[3], [7]])
    assert shrunk(bench, [*range(12)]) == [7]
    assert bench.replays <= 4


def test_a_replay_that_never_returns_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("croupier.conformance.shrink.SHRINK_SECONDS", 0.01)
    assert shrunk(CountingBench([7], hangs=True), [*range(12)]) == [*range(12)]


def listen(habit: Habit, clause: str, *words: bytes) -> tuple[ScriptedClient | None, int]:
    """The conversation in which the house closes before it receives the last message, and the number of tries."""
    house = HouseFixture(KUHN.room, {"deck": "Q K J", "house": "CAL", "coins": "100"}, habit)

    async def says(messages: Sequence[bytes]) -> ScriptedClient:
        context = ScenarioContext(Conversation(KUHN.room), Random(0), KUHN, KUHN.room.codec(True, None).encode)
        script = send_each(*messages)(context)
        probe = ScriptedClient(context.conversation, script, quiet_seconds=0.01, grace_seconds=0.02)
        await house.converse(probe)
        return probe

    found = asyncio.run(find_unasked_close(words, clause, says, "kuhn-8.2"))
    return found, house.met


def test_a_house_that_hangs_up_by_itself_was_not_made_to() -> None:
    found, tries = listen(followed(b"ACTN BET", HANG_UP), "kuhn-4.1", b"STRT P_1", b"ACTN BET", b"STRT P_1")
    assert found is not None
    assert [line.data for line in found.conversation.lines] == [b"STRT P_1", b"CARD C_Q", b"ACTN BET", b"CARD C_K"]
    assert tries == 1


def test_a_house_that_hangs_up_in_the_place_of_an_answer_has_not_answered() -> None:
    found, tries = listen(instead(b"ACTN BET", HANG_UP), "kuhn-4.4", b"STRT P_1", b"ACTN BET")
    assert found is None
    assert tries == MAX_CLOSE_TRIES
