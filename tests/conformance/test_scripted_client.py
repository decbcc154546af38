"""A scripted client sends when the house owes nothing, in any chunks, and stops at the first fault."""

import pytest

from croupier.conformance.channel.delivery import Delivery
from croupier.conformance.conversation import Conversation
from croupier.conformance.servers.scripted_client import ClientScript, HangUp, ScriptedClient, Wait
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.session import Closing, Drop, Joined, Left, Received, Send, TimedOut
from croupier.rooms.kuhn import ROOM


def script(*deeds: object, ends: str | None = None) -> ClientScript:
    for deed in deeds:
        if isinstance(deed, Violation):
            raise deed
        yield deed
    return ends


def probe(*deeds: object, ends: str | None = None, **more: object) -> ScriptedClient:
    return ScriptedClient(Conversation(ROOM, answer_timeout=2.0), script(*deeds, ends=ends), **more)


def clause(probe: ScriptedClient) -> str | None:
    return probe.fault.verdict.violation.clause if probe.fault else None


def test_the_script_goes_on_when_the_house_has_answered() -> None:
    talk = probe(b"STRT P_2", b"ACTN CHK", goodbye=b"DISC")
    assert talk.on(Joined(HOUSE), 0.0) == [Send(HOUSE, b"STRT P_2")]
    assert talk.on(Received(HOUSE, b"CARD C_Q"), 0.25) == [], "an action is still owed"
    assert talk.on(Received(HOUSE, b"ACTN CHK"), 0.5) == [Send(HOUSE, b"ACTN CHK")]
    assert talk.on(Received(HOUSE, b"CARD C_K"), 0.6) == [Send(HOUSE, b"DISC"), Drop(HOUSE)]
    assert (talk.is_over, talk.skip_reason, talk.fault) == (True, None, None)
    assert talk.sent == [b"STRT P_2", b"ACTN CHK"]
    assert talk.wire_log[1] == (HOUSE, b"CARD C_Q")
    assert talk.slowest_seconds == 0.5
    assert talk.on(Received(HOUSE, b"MORE"), 0.7) == []


def test_bytes_leave_in_pieces_with_a_pause_between_them() -> None:
    talk = probe(b"STRT P_1", delivery=Delivery(3, 0.5))
    assert talk.on(Joined(HOUSE), 0.0) == [Send(HOUSE, b"STR")]
    assert talk.deadline == 0.5
    assert talk.on(TimedOut(), 0.5) == [Send(HOUSE, b"T P")]
    assert talk.on(TimedOut(), 0.75) == [], "too early"
    assert talk.on(TimedOut(), 1.0) == [Send(HOUSE, b"_1")]
    assert talk.deadline == 3.0, "the patience of the judge"


def test_silence_is_a_fault_after_the_answer_timeout() -> None:
    talk = probe(b"STRT P_1")
    talk.on(Joined(HOUSE), 1.0)
    assert talk.deadline == 3.0
    assert talk.on(TimedOut(), 3.0) == [Drop(HOUSE)]
    assert clause(talk) == "kuhn-4.1"
    assert talk.slowest_seconds == 0.0, "it was no answer"


def test_a_stalled_tester_extends_the_deadline() -> None:
    talk = probe(b"STRT P_1")
    talk.on(Joined(HOUSE), 0.0)
    assert talk.deadline == 2.0
    assert talk.on(TimedOut(), 2.5) == []
    assert talk.deadline == 3.0, "as long as it has slept"
    assert talk.on(TimedOut(), 9.0) == []
    assert talk.deadline == 10.0, "but not for ever"
    assert talk.on(TimedOut(), 10.01) == [Drop(HOUSE)]
    assert clause(talk) == "kuhn-4.1"


def test_data_received_during_a_stall_is_an_answer() -> None:
    talk = probe(b"STRT P_1", b"ACTN BET")
    talk.on(Joined(HOUSE), 0.0)
    assert talk.on(TimedOut(), 2.5) == []
    assert talk.on(Received(HOUSE, b"CARD C_Q"), 2.5) == [Send(HOUSE, b"ACTN BET")]
    assert talk.deadline == 4.5, "what was excused is over"
    assert talk.fault is None


def test_it_stops_at_the_first_fault() -> None:
    talk = probe(b"STRT P_1", b"ACTN BET", goodbye=b"DISC")
    talk.on(Joined(HOUSE), 0.0)
    assert talk.on(Received(HOUSE, b"ACTN CHK"), 0.0) == [Drop(HOUSE)]
    assert clause(talk) == "kuhn-4.1"
    assert talk.skip_reason is not None


def test_quiet_and_grace_periods_follow_messages_without_and_with_an_answer() -> None:
    talk = probe(b"FAIL W_A", b"STRT P_1", quiet_seconds=0.1, grace_seconds=0.5)
    assert talk.on(Joined(HOUSE), 0.0) == []
    assert talk.deadline == 0.5, "before anything is said it is listened to, too"
    assert talk.on(TimedOut(), 0.5) == [Send(HOUSE, b"FAIL W_A")]
    assert talk.deadline == 0.6
    assert talk.on(TimedOut(), 0.6) == [Send(HOUSE, b"STRT P_1")]
    assert talk.on(Received(HOUSE, b"CARD C_Q"), 0.7) == []
    assert talk.deadline == pytest.approx(1.2)
    assert talk.on(Received(HOUSE, b"CARD C_K"), 0.8) == [Drop(HOUSE)]
    assert clause(talk) == "kuhn-4.9"


def test_a_script_may_wait_and_hang_up() -> None:
    talk = probe(Wait(2.0), b"STRT", HangUp(), goodbye=b"DISC")
    assert talk.on(Joined(HOUSE), 0.0) == []
    assert talk.deadline == 2.0
    assert talk.on(TimedOut(), 2.0) == [Send(HOUSE, b"STRT"), Drop(HOUSE)]
    assert (talk.is_over, talk.skip_reason) == (True, None)


def test_a_client_that_hangs_up_does_not_wait_for_its_last_answers() -> None:
    talk = probe(HangUp(b"STRT P_1ACTN BET"), goodbye=b"DISC")
    assert talk.on(Joined(HOUSE), 0.0) == [Send(HOUSE, b"STRT P_1ACTN BET"), Drop(HOUSE)]
    assert (talk.is_over, talk.skip_reason, talk.fault) == (True, None, None)


def test_a_client_that_resets_its_connection_does_not_drop_it_before() -> None:
    talk = probe(HangUp(b"STRT P_1", resets=True), goodbye=b"DISC")
    assert not talk.resets
    assert talk.on(Joined(HOUSE), 0.0) == [Send(HOUSE, b"STRT P_1")]
    assert (talk.is_over, talk.resets, talk.skip_reason, talk.fault) == (True, True, None, None)


def test_the_skip_reason_is_kept_when_the_house_leaves() -> None:
    off = probe(b"STRT P_1", ends="the king did not come up")
    off.on(Joined(HOUSE), 0.0)
    off.on(Received(HOUSE, b"CARD C_Q"), 0.0)
    assert off.skip_reason == "the king did not come up"
    left = probe(b"DISC")
    left.on(Joined(HOUSE), 0.0)
    assert left.on(Left(HOUSE), 0.0) == []
    assert (left.skip_reason, left.fault, left.house_has_left) == (None, None, True)
    early = probe(b"STRT P_1", b"ACTN CHK")
    early.on(Joined(HOUSE), 0.0)
    early.on(Received(HOUSE, b"DISC"), 0.0)
    early.on(Left(HOUSE), 0.0)
    assert (early.skip_reason, early.fault) == ("the house has ended the conversation", None)


def test_a_house_that_just_hangs_up_is_at_fault() -> None:
    talk = probe(b"STRT P_1", b"ACTN CHK")
    talk.on(Joined(HOUSE), 0.0)
    talk.on(Left(HOUSE), 0.0)
    assert clause(talk) == "kuhn-4.1"


def test_a_client_whose_connection_is_refused_may_connect_again() -> None:
    talk = probe(b"STRT P_1")
    assert talk.on(Left(HOUSE, "refused"), 0.0) == []
    assert (talk.is_over, talk.connect_error, talk.fault, talk.wire_log) == (False, "refused", None, [])
    assert talk.on(Joined(HOUSE), 1.0) == [Send(HOUSE, b"STRT P_1")]
    assert (talk.is_over, talk.connect_error) == (False, "")


def test_a_script_may_accuse_the_house() -> None:
    talk = probe(b"STRT P_1", Violation("kuhn-7.1", "an empty purse", "a full one"))
    talk.on(Joined(HOUSE), 0.0)
    assert talk.on(Received(HOUSE, b"CARD C_Q"), 0.0) == [Drop(HOUSE)]
    assert clause(talk) == "kuhn-7.1"


def test_it_disconnects_when_the_endpoint_closes() -> None:
    talk = probe(b"STRT P_1")
    talk.on(Joined(HOUSE), 0.0)
    assert talk.on(Closing(is_final=True), 0.0) == [Drop(HOUSE)]
    assert talk.deadline is None
    assert talk.wire_log == [(CLIENT, b"STRT P_1")]
