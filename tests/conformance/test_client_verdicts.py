"""What is judged of a conversation with a client of a house game, without a program."""

from collections.abc import Mapping
from math import inf
from typing import Any

import pytest

from croupier.conformance.clients.blackjack_states import LARGE_PURSE
from croupier.conformance.clients.evidence import last_position
from croupier.conformance.clients.observation import ClientObservation
from croupier.conformance.clients.setup import ClientTimeouts
from croupier.conformance.clients.sevenhalf_states import LARGEST_STARTING_BET
from croupier.conformance.clients.test_server import MAX_MESSAGES, MAX_REPEATS, HouseTestServer
from croupier.conformance.clients.verdicts import judge
from croupier.conformance.conversation import Conversation
from croupier.conformance.responders import LiveResponder
from croupier.conformance.results import Outcome
from croupier.core.session import Joined, Left, Received, TimedOut
from croupier.rooms import HOUSE_ROOMS
from croupier.rooms.sevenhalf.rules import MAX_TOTAL_BET
from tests.conformance.suites import CLIENT_TEST_DATA, client_cases

PEER = 1


def observe(
    name: str,
    *messages: bytes,
    settings: Mapping[str, Any] | None = None,
    exit_status: int = 1,
    interval: float = 0.0,
    waits: bool = False,
    has_status: bool = False,
) -> ClientObservation:
    """A client that sends these messages in a case, each after the answer to the one before it, and ends.

    There may be an `interval` in seconds between them. If it `waits`, late answers arrive before it ends.
    """
    room = HOUSE_ROOMS[name.partition("/")[0]]
    data = CLIENT_TEST_DATA[room.name]
    (case,) = (each for each in client_cases(room) if each.id == name)
    own = room.settings(**{**case.state.settings, **(settings or {})})
    server = HouseTestServer(
        LiveResponder(room, own, case.mutation, decks=case.state.decks),
        case.setup,
        Conversation(room, own, answer_timeout=inf),
        obligation=data.obligation,
        timeouts=ClientTimeouts(),
        is_unforeseeable=data.is_unforeseeable,
        is_limit_of_house=data.is_limit_of_house,
    )
    events = (
        Joined(PEER, ("192.0.2.1", 40_000)),
        *(Received(PEER, message) for message in messages),
        Left(PEER, "hung up"),
    )
    for number, event in enumerate(events):
        while waits and isinstance(event, Left) and server.deadline is not None:
            server.on(TimedOut(), server.deadline)
        server.on(event, number * interval)
    return ClientObservation(data, case, server, exit_status, f"exit status {exit_status}", 5.0, b"", False, has_status)


def ante(coins: int) -> bytes:
    return b"ANTE " + coins.to_bytes(4)


def test_a_client_that_acts_before_the_house_has_acted_does_not_wait_for_its_reply() -> None:
    failure = judge(observe("kuhn/4.2/p2-is-bet-at", b"STRT P_2ACTN CHK"), None).failure
    assert failure is not None
    assert failure.cause is not None
    assert (failure.clause, failure.cause.clause) == ("kuhn-4.2", "kuhn-4.2")
    assert (failure.expected, failure.actual) == ("ACTN CAL, ACTN FLD", "ACTN CHK")


def test_a_client_that_complains_and_fails_has_broken_off() -> None:
    game = (b"STRT", b"DRAW", b"PASS")
    assert observe("sevenhalf/5.1/bank-shows-one", *game).has_broken_off
    assert observe("sevenhalf/5.1/bank-shows-one", *game, b"ERRO 10not my sum").has_broken_off
    assert not observe("sevenhalf/5.1/bank-shows-one", *game, b"ERRO 10not my sum", b"STRT").has_broken_off


def test_a_goodbye_behind_a_complaint_does_not_hide_a_failure() -> None:
    game = (b"STRT P_1", b"ACTN CHK")
    name, settings = "kuhn/3.1/house-shows-king", {"bot": "script:CHK"}
    assert observe(name, *game, b"FAIL W_A", b"DISC", settings=settings).has_broken_off
    assert observe(name, *game, b"FAIL W_A", b"DISC", settings=settings, exit_status=0).has_broken_off
    assert not observe(name, *game, b"DISC", settings=settings, exit_status=0).has_broken_off
    assert not observe(name, *game, b"DISC", settings=settings).has_broken_off


def test_a_client_that_says_goodbye_in_a_game_and_fails_is_stuck_if_it_can_end_without_a_failure() -> None:
    bet = b"BET" + (9).to_bytes(4)
    for name, said, clause, expected, actual in (
        ("kuhn/3.1/jack", (b"STRT P_1", b"DISC"), "kuhn-4.1", "ACTN CHK, ACTN BET", "DISC (exit status 1)"),
        ("blackjack/4.2/dealt", (b"PLY", bet, b"STP"), "blackjack-4.6", "MOV H, MOV S, SRD", "STP (exit status 1)"),
    ):
        failure = judge(observe(name, *said, has_status=True), None).failure
        assert failure is not None
        assert (failure.clause, failure.expected, failure.actual) == (clause, expected, actual)
        for status in ({"exit_status": 0, "has_status": True}, {"exit_status": 1, "has_status": False}):
            assert judge(observe(name, *said, **status), None).outcome is Outcome.CHOICE
    refused = (b"STRT P_1", b"ACTN BET", b"DISC")
    assert not observe("kuhn/7.3/no-coin-for-a-bet", *refused, has_status=True).is_stuck
    assert not observe("kuhn/3.1/jack", b"STRT P_1", b"ACTN BET", b"DISC", has_status=True).is_stuck


def test_a_client_that_complains_and_ends_without_a_failure_has_broken_off() -> None:
    game = (b"STRT", b"DRAW", b"PASS")
    assert observe("sevenhalf/5.1/bank-shows-one", *game, b"ERRO 10not my sum", exit_status=0).has_broken_off
    assert not observe("sevenhalf/5.1/bank-shows-one", *game, exit_status=0).has_broken_off
    attempt = judge(observe("sevenhalf/4.3/decides", b"STRT", b"DRAW", b"ERRO 07no card", exit_status=0), None)
    assert attempt.outcome is Outcome.FAIL
    leaving = [b"ERR" + code.to_bytes(4) for code in (300, 502)]
    for error, outcome in zip(leaving, (Outcome.CHOICE, Outcome.FAIL), strict=True):
        said = (b"PLY", b"BET" + (9).to_bytes(4), error)
        assert judge(observe("blackjack/4.2/dealt", *said, exit_status=0), None).outcome is outcome


def test_a_client_that_complains_in_a_game_is_stuck_unless_it_was_refused() -> None:
    name = "kuhn/4.2/p2-is-bet-at"
    attempt = judge(observe(name, b"STRT P_2", b"FAIL W_A", b"DISC"), None)
    assert attempt.failure is not None
    assert (attempt.failure.clause, attempt.failure.expected) == ("kuhn-4.2", "ACTN CAL, ACTN FLD, DISC")
    assert attempt.failure.actual == "the end of the connection (exit status 1)"
    refused = observe(name, b"STRT P_2", b"ACTN CAL", b"FAIL W_A", b"DISC", settings={"coins": 1})
    assert not refused.is_stuck


def test_a_client_that_repeats_forever_what_is_refused_has_not_gone_on() -> None:
    name, settings = "kuhn/7.3/no-coin-for-a-call", {"bot": "script:BET"}
    attempt = judge(observe(name, b"STRT P_2", *[b"ACTN CAL"] * MAX_MESSAGES, settings=settings), None)
    assert attempt.failure is not None
    assert (attempt.failure.clause, attempt.failure.expected) == ("kuhn-7.3", "ACTN FLD, DISC")
    assert attempt.failure.actual == "ACTN CAL again and again"


def test_a_client_that_asks_forever_for_a_game_that_it_cannot_pay_does_not_end() -> None:
    name = "kuhn/7.2/no-coin-for-the-ante"
    attempt = judge(observe(name, *[b"STRT P_1"] * (MAX_REPEATS + 1)), None)
    assert attempt.failure is not None
    assert (attempt.failure.clause, attempt.failure.expected) == ("kuhn-7.2", "the end")
    assert attempt.failure.actual == "STRT P_1 again and again"
    assert judge(observe(name, *[b"STRT P_1"] * MAX_REPEATS), None).outcome is Outcome.PASS


def test_a_wrong_action_after_the_reply_of_the_house_is_no_early_one() -> None:
    failure = judge(observe("kuhn/4.2/p2-is-bet-at", b"STRT P_2", b"ACTN CHK"), None).failure
    assert failure is not None
    assert (failure.clause, failure.cause) == ("kuhn-6.1", None)


def test_a_raise_by_the_starting_bet_is_no_fault_where_only_the_sum_is_too_large() -> None:
    for raised, outcome in ((0x22272227, Outcome.CHOICE), (MAX_TOTAL_BET + 1, Outcome.FAIL)):
        attempt = judge(observe("sevenhalf/2.3/bet-quotes", b"STRT", b"DRAW", ante(raised)), None)
        assert attempt.outcome is outcome
    for part in (1, 2, 3, 4, 10):
        name = "sevenhalf/7.3/largest-bet"
        attempt = judge(observe(name, b"STRT", b"DRAW", ante(LARGEST_STARTING_BET // part)), None)
        assert attempt.outcome is Outcome.CHOICE, part


def test_a_client_may_give_up_at_a_limit_of_the_house_that_it_learns_of_after_its_next_message() -> None:
    for raised, outcome in ((572989991, Outcome.CHOICE), (1, Outcome.FAIL)):
        said = (b"STRT", b"DRAW", ante(raised), b"DRAW")
        attempt = judge(observe("sevenhalf/4.4/raises", *said, settings={"bet": 572989991}, exit_status=3), None)
        assert attempt.outcome is outcome


def test_a_bet_of_no_more_than_the_balance_is_no_fault_where_the_win_would_not_fit() -> None:
    for coins, outcome in ((LARGE_PURSE // 2, Outcome.CHOICE), (LARGE_PURSE + 1, Outcome.FAIL)):
        attempt = judge(observe("blackjack/7.4/large-purse", b"PLY", b"BET" + coins.to_bytes(4)), None)
        assert attempt.outcome is outcome


def test_a_client_that_repeats_a_bet_whose_win_would_not_fit_has_not_gone_on() -> None:
    bet = b"BET" + (LARGE_PURSE // 2).to_bytes(4)
    failure = judge(observe("blackjack/7.4/large-purse", b"PLY", *[bet] * (MAX_REPEATS + 1)), None).failure
    assert failure is not None
    assert (failure.clause, failure.actual) == ("blackjack-6.6", f"BET {LARGE_PURSE // 2} again and again")
    assert failure.expected.startswith("BET ")
    attempt = judge(observe("blackjack/7.4/large-purse", b"PLY", bet, b"BET\0\0\0\1", b"MOV\0S", b"STP"), None)
    assert attempt.outcome is Outcome.CHOICE


def test_what_follows_a_goodbye_is_no_fault_after_a_fault_of_the_house() -> None:
    observation = observe("kuhn/4.9/house-deals-twice", b"STRT P_1", b"DISCSTRT P_1")
    assert judge(observation, None).outcome is Outcome.CHOICE
    assert judge(observe("kuhn/4.1/p1-acts", b"STRT P_1", b"DISCSTRT P_1"), None).outcome is Outcome.FAIL


def test_an_argument_that_is_too_long_is_found_where_it_ends() -> None:
    settings = {"bot": "script:BET"}
    for name, *messages in (
        ("kuhn/4.6/bet-call-p2", b"STRT P_2", b"ACTN CALL", b"STRT P_1"),
        ("kuhn/4.6/bet-call-p2", b"STRT P_2", b"ACTN CALL", b"STR"),
    ):
        failure = judge(observe(name, *messages, settings=settings), None).failure
        assert failure is not None
        assert (failure.clause, str(failure.cause)) == ("kuhn-2.1", "it sends 'L' after the end of ACTN CAL")
    failure = judge(observe("kuhn/4.1/p1-acts", b"STRT P_1", b"GET / HTTP/1.1"), None).failure
    assert failure is not None
    assert (failure.clause, failure.cause) == ("kuhn-2.7", None)


def test_a_message_that_is_sent_again_because_the_answer_is_late_is_no_second_one() -> None:
    again = "it sends STRT P_1 again when the answer is late"
    for interval, clause, cause in ((0.1, "kuhn-4.1", again), (0.0, "kuhn-6.3", "None")):
        failure = judge(
            observe("kuhn/1.3/late-answers", *[b"STRT P_1"] * 2, interval=interval, waits=True), None
        ).failure
        assert failure is not None
        assert (failure.clause, str(failure.cause)) == (clause, cause)


def test_a_number_in_another_order_of_bytes_is_explained() -> None:
    attempt = judge(observe("sevenhalf/4.3/decides", b"STRT", b"DRAW", ante(10 << 24 | 0x40000000)), None)
    assert attempt.failure is not None
    assert attempt.failure.cause is not None
    assert attempt.failure.clause == "sevenhalf-2.3"


def test_the_first_card_in_upper_case_is_a_figure() -> None:
    observation = observe("sevenhalf/2.7/upper-case-cards", b"STRT", b"DRAW")
    assert [line.data for line in observation.conversation.lines[-2:]] == [b"DRAW", b"CARD SO"]


def test_a_client_may_give_up_after_a_refusal() -> None:
    attempt = judge(observe("sevenhalf/7.4/refused-ante", b"STRT", b"DRAW", ante(100)), None)
    assert attempt.outcome is Outcome.CHOICE
    assert attempt.note == "it hung up in the middle of the game (exit status 1)"


@pytest.mark.parametrize(
    "ahead", [[ante(100) + b"DRAW"], [ante(100), b"DRAW"], [ante(100), b"DRAW", b"ERRO 09Div error"]]
)
def test_a_client_may_give_up_at_a_refusal_that_it_reads_after_its_next_message(ahead: list[bytes]) -> None:
    observation = observe("sevenhalf/7.4/refused-ante", b"STRT", b"DRAW", *ahead)
    assert not observation.is_stuck
    assert judge(observation, None).outcome is not Outcome.FAIL
    gone_on = observe("sevenhalf/7.4/refused-ante", b"STRT", b"DRAW", *ahead, b"DRAW")
    assert judge(gone_on, None).outcome is Outcome.FAIL


def test_a_signal_after_a_refusal_ends_a_client_that_has_failed() -> None:
    observation = observe("sevenhalf/7.4/refused-ante", b"STRT", b"DRAW", ante(100), exit_status=-11)
    assert judge(observation, None).outcome is Outcome.FAIL


def test_a_client_that_fails_after_a_tolerated_message_does_not_take_it() -> None:
    game = (b"STRT P_1", b"ACTN BET")
    settings = {"bot": "script:FLD"}
    broken_off = observe("kuhn/2.4/line-ends", *game, settings=settings)
    usual = observe("kuhn/2.4/line-ends", *game, *game, settings=settings)
    assert broken_off.has_broken_off
    assert judge(broken_off, usual).note == "it does not accept this: the end of the connection (exit status 1)"


def test_a_client_that_misreads_a_tolerated_message_does_not_take_it() -> None:
    game = (b"STRT P_1", b"ACTN BET")
    settings = {"bot": "script:FLD"}
    misread = observe("kuhn/2.5/quotes", b"STRT P_1", b"STRT P_2", settings=settings)
    usual = observe("kuhn/2.5/quotes", *game, settings=settings)
    assert misread.needs_baseline
    assert judge(misread, None).outcome is Outcome.FAIL
    assert judge(misread, usual).note == "it does not accept this: STRT P_2"


def test_a_client_is_read_in_the_dialect_of_its_house() -> None:
    bet = b"BET" + (10).to_bytes(4)
    observation = observe("blackjack/4.2/dealt", b"PLY", bet, settings={"dialect": "char8"})
    position = last_position(observation)
    assert position is not None
    assert {feature.code for feature in position} - {""} == {"CRD", "TRN"}
    failure = judge(observe("blackjack/4.2/dealt", b"PLY", bet, b"MOVZ", settings={"dialect": "char8"}), None).failure
    assert failure is not None
    assert (failure.clause, failure.got) == ("blackjack-2.11", b"MOVZ")


@pytest.mark.parametrize(
    ("goodbye", "outcome"),
    [(b"DISC", Outcome.PASS), (b"DISC\r\n", Outcome.NON_STRICT), (b"DISC P_1", Outcome.FAIL)],
)
def test_a_goodbye_may_be_followed_by_a_line_end_only(goodbye: bytes, outcome: Outcome) -> None:
    attempt = judge(observe("kuhn/7.2/no-coin-for-the-ante", b"STRT P_1", goodbye, exit_status=0), None)
    assert attempt.outcome is outcome
    assert attempt.failure is None or attempt.failure.clause == "kuhn-2.1"


def test_nobody_has_to_wait_for_a_late_answer() -> None:
    assert judge(observe("kuhn/1.3/late-answers", b"STRT P_1"), None).outcome is Outcome.SKIP
    assert judge(observe("kuhn/1.3/late-answers", b"STRT P_1ACTN CHK"), None).outcome is Outcome.SKIP


def test_a_baseline_without_the_state_of_the_case_does_not_show_what_the_client_does_there() -> None:
    start, case = (b"STRT", b"DRAW"), "sevenhalf/2.6/refusal-no-text"
    gives_up = observe(case, *start, ante(100) + b"DRAW", exit_status=0)
    never_raises = observe(case, *start, b"PASS", exit_status=0)
    raises_in_its_second_game = observe(case, *start, b"PASS", *start, ante(100), exit_status=0)
    is_over_at_once = observe(case, *start, *[b"DRAW"] * 3, ante(100) + b"DRAW", exit_status=0)
    plays_on = observe(case, *start, ante(100) + b"DRAW", b"PASS", exit_status=0)
    assert gives_up.has_given_up
    assert judge(gives_up, never_raises).outcome is not Outcome.FAIL
    assert judge(gives_up, raises_in_its_second_game).outcome is not Outcome.FAIL
    assert judge(gives_up, is_over_at_once).outcome is not Outcome.FAIL
    assert judge(gives_up, plays_on).outcome is Outcome.FAIL


def test_a_verdict_that_waits_for_an_answer_is_about_the_message_that_it_names() -> None:
    attempt = judge(observe("sevenhalf/4.3/decides", b"STRT", b"DRAW", ante(8) + ante(0) + b"DRAW"), None)
    assert attempt.failure is not None
    assert (attempt.failure.clause, attempt.failure.got, attempt.failure.cause) == ("sevenhalf-7.2", ante(0), None)
