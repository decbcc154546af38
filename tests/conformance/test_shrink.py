"""A long conversation with a fault is shortened to the few messages that show it."""

import asyncio
from collections.abc import Sequence
from random import Random

from croupier.conformance.conversation import Conversation
from croupier.conformance.servers import TEST_DATA_BY_ROOM
from croupier.conformance.servers.scenarios import send_each
from croupier.conformance.servers.scripted_client import ScriptedClient
from croupier.conformance.servers.shrink import MAX_CLOSE_TRIES, SHORT_DIALOGUE_LINES, find_unasked_close, shrink
from croupier.conformance.servers.test_data import ScenarioContext
from croupier.core.referee import HOUSE
from tests.conformance.house_fixture import HouseFixture
from tests.rooms.conversation_fixture import HANG_UP, Habit, followed, honest, instead, without

KUHN = TEST_DATA_BY_ROOM["kuhn"]
EVENING = [*[b"STRT P_1", b"ACTN BET"] * 6, b"FAIL W_A", b"STRT P_1"]


class DialogueRecorder:
    """Sends messages to a house with a mutation, and counts the conversations."""

    def __init__(self, habit: Habit) -> None:
        self.times = 0
        self.grace = 0.02
        self._parlour = HouseFixture(KUHN.room, {"deck": "Q K J", "house": "CAL", "coins": "100"}, habit)

    async def says(self, words: Sequence[bytes]) -> ScriptedClient:
        self.times += 1
        talk = ScenarioContext(Conversation(KUHN.room), Random(0), KUHN, KUHN.room.codec(True, None).encode)
        probe = ScriptedClient(
            [talk.conversation], send_each(*words)(talk), quiet_seconds=0.01, grace_seconds=self.grace
        )
        await self._parlour.converse(probe)
        return probe


def told(
    habit: Habit, words: Sequence[bytes] = EVENING, seconds: float = 30.0
) -> tuple[ScriptedClient, ScriptedClient, DialogueRecorder]:
    teller = DialogueRecorder(habit)

    async def shown() -> tuple[ScriptedClient, ScriptedClient]:
        probe = await teller.says(words)
        return probe, await shrink(probe, teller.says, seconds)

    return *asyncio.run(shown()), teller


def test_what_has_no_part_in_the_fault_is_left_out() -> None:
    long, short, _ = told(instead(b"FAIL W_A", b"FAIL W_A"))
    assert long.fault
    assert short.fault
    assert short.fault.verdict.violation.clause == long.fault.verdict.violation.clause == "kuhn-4.9"
    assert len(short.conversation.lines) <= SHORT_DIALOGUE_LINES < len(long.conversation.lines)
    assert short.sent[-1] == b"FAIL W_A"


def test_what_was_sent_ahead_is_taken_apart() -> None:
    long, short, _ = told(instead(b"ACTN CAL", b"CARD C_K"), [b"".join([*EVENING, b"ACTN CAL"])])
    assert len(long.sent) == 1
    assert len(short.conversation.lines) <= SHORT_DIALOGUE_LINES < len(long.conversation.lines)


def test_what_is_short_is_only_said_once_more() -> None:
    long, short, teller = told(instead(b"STRT P_1", b"CARD C_A"))
    assert [fault.fault and fault.fault.verdict.violation.clause for fault in (long, short)] == ["kuhn-2.6"] * 2
    assert teller.times == 2


def test_a_silence_is_not_waited_for_again() -> None:
    long, short, teller = told(without(b"CARD"), [b"STRT P_1"])
    assert short is long
    assert teller.times == 1


def test_a_fault_that_does_not_recur_is_not_shortened() -> None:
    """Once the house has been wrong, it is wise."""
    wrong = [True]

    def habit(heard: bytes, answers: list[bytes]) -> Sequence[bytes]:
        return [b"CARD C_A"] if heard == b"STRT P_1" and wrong and wrong.pop() else honest(heard, answers)

    long, short, _ = told(habit)
    assert short is long
    assert any(fault.verdict.party == HOUSE for fault in short.conversation.faults)


def test_without_time_nothing_is_tried() -> None:
    long, short, teller = told(instead(b"FAIL W_A", b"FAIL W_A"), seconds=0.0)
    assert short is long
    assert teller.times == 1


def listened(habit: Habit, *words: bytes) -> tuple[ScriptedClient, ScriptedClient, DialogueRecorder]:
    teller = DialogueRecorder(habit)

    async def shown() -> tuple[ScriptedClient, ScriptedClient]:
        teller.grace = 0.0
        probe = await teller.says(words)
        teller.grace = 0.02
        return probe, await find_unasked_close(probe, teller.says, "kuhn-8.2")

    return *asyncio.run(shown()), teller


def test_a_house_that_hangs_up_while_it_is_spoken_to_was_not_made_to() -> None:
    crossed, found, teller = listened(followed(b"ACTN BET", HANG_UP), b"STRT P_1", b"ACTN BET", b"STRT P_1")
    assert [probe.fault and probe.fault.verdict.violation.clause for probe in (crossed, found)] == [
        "kuhn-4.1",
        "kuhn-8.2",
    ]
    assert [line.data for line in found.conversation.lines] == [b"STRT P_1", b"CARD C_Q", b"ACTN BET", b"CARD C_K"]
    assert teller.times == 2


def test_a_house_that_hangs_up_in_the_place_of_an_answer_has_not_answered() -> None:
    alone, found, teller = listened(instead(b"ACTN BET", HANG_UP), b"STRT P_1", b"ACTN BET")
    assert found is alone
    assert found.fault
    assert found.fault.verdict.violation.clause == "kuhn-4.4"
    assert teller.times == 1 + MAX_CLOSE_TRIES
