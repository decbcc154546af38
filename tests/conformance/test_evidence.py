"""What a client does not wait for, does not read, or never goes on after is named from its conversations."""

from collections.abc import Sequence
from dataclasses import replace

from msgspec import structs

from croupier.conformance.channel.delivery import Delivery
from croupier.conformance.clients.cases import CaseKind
from croupier.conformance.clients.evidence import EarlyReaction, Evidence, early_reaction, last_position
from croupier.conformance.clients.observation import ClientObservation
from croupier.conformance.clients.setup import HouseSetup
from croupier.conformance.conversation import Conversation
from croupier.conformance.diagnosis.cause import Cause
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.session import Peer
from croupier.rooms import HOUSE_ROOMS
from tests.conformance.suites import CLIENT_TEST_DATA, client_cases
from tests.conformance.test_test_server import ClientFixture

KUHN = CLIENT_TEST_DATA["kuhn"]
CASE = client_cases(HOUSE_ROOMS["kuhn"])[0]
RICH = {"coins": 1000, "bot": "script:BET"}


def endless(**setup: object) -> HouseSetup:
    return HouseSetup(is_reached=lambda _: False, max_games=1000, **setup)  # type: ignore[arg-type]


def observed(client: ClientFixture) -> ClientObservation:
    client.leave()
    return ClientObservation(KUHN, CASE, client.stand, 1, "exit status 1", 5.0, b"", False)


def conversation(*messages: bytes, settings: dict[str, object] = RICH) -> ClientObservation:
    """A client that sends these messages and breaks off."""
    client = ClientFixture(endless(), settings)
    for message in messages:
        client.say(message)
    return observed(client)


def cause(failed: Sequence[ClientObservation], survived: Sequence[ClientObservation]) -> tuple[str, str] | None:
    """The clause and the text of the cause of the last failure."""
    evidence = Evidence()
    for observation in survived:
        evidence.add(observation, has_failed=False)
    for observation in failed:
        evidence.add(observation, has_failed=True)
    position = last_position(failed[-1])
    assert position is not None
    found = evidence.cause(position)
    return found and (found.clause, found.text)


FOLD = conversation(b"STRT P_2", b"ACTN FLD")
BROKEN_OFF_AT_A_BET = conversation(b"STRT P_2", b"ACTN FLD", b"STRT P_1", b"ACTN CHK")


def test_a_reply_after_which_a_client_never_goes_on_is_the_cause() -> None:
    assert cause(2 * [BROKEN_OFF_AT_A_BET], [FOLD]) == (
        "kuhn-4.3",
        "it never goes on after ACTN, the reply of kuhn-4.3",
    )


def test_a_client_that_fails_within_a_message_that_it_otherwise_reads_does_not_fail_at_its_code() -> None:
    evidence, position = Evidence(), last_position(BROKEN_OFF_AT_A_BET)
    assert position is not None
    evidence.add(FOLD, has_failed=False)
    for _ in range(2):
        evidence.add(BROKEN_OFF_AT_A_BET, has_failed=True)
    evidence.add_reaction(
        position, EarlyReaction(Cause("it does not read the whole of ACTN"), "ACTN", has_gone_on=False)
    )
    found = evidence.cause(position)
    assert found is not None
    assert found.text == "it never goes on in the state 'P_1 checks, the house bets, and the client calls or folds'"


def test_a_message_that_is_not_read_to_its_end_explains_a_failure_at_the_next_one() -> None:
    evidence, position = Evidence(), last_position(BROKEN_OFF_AT_A_BET)
    assert position is not None
    unread = Cause("it does not read the whole of CARD")
    assert evidence.unread_before(BROKEN_OFF_AT_A_BET) is None
    evidence.add_reaction(position, EarlyReaction(unread, "CARD", has_gone_on=True))
    assert evidence.unread_before(BROKEN_OFF_AT_A_BET) == unread
    assert evidence.unread_before(FOLD) is None
    assert evidence.unread_before(conversation()) is None


def test_a_client_that_complains_of_a_reply_has_not_gone_on_after_it() -> None:
    complains = conversation(b"STRT P_2", b"ACTN FLD", b"STRT P_1", b"ACTN CHK", b"FAIL W_A")
    assert cause(2 * [complains], [FOLD]) == cause(2 * [BROKEN_OFF_AT_A_BET], [FOLD])


def test_a_client_that_complains_within_a_reply_may_have_waited_for_it() -> None:
    client = ClientFixture(endless(message_gap_seconds=0.3), {"coins": 9, "bot": "script:BET"})
    client.say(b"STRT P_2")
    client.say(b"FAIL W_A")
    assert early_reaction(observed(client)) is None


def test_a_client_that_complains_of_a_code_may_have_expected_another_message() -> None:
    client = ClientFixture(endless(delivery=Delivery(max_piece_bytes=1, delay_seconds=0.03)))
    client.say(b"STRT P_1")
    while b"".join(client.heard) != b"CARD":
        client.wait()
    client.say(b"FAIL W_A")
    client.say(b"DISC")
    assert early_reaction(observed(client)) is None


def test_a_single_failure_proves_nothing() -> None:
    assert cause([BROKEN_OFF_AT_A_BET], [FOLD]) is None


def test_a_client_that_has_gone_on_after_a_reply_is_not_accused_of_it() -> None:
    goes_on = conversation(b"STRT P_1", b"ACTN CHK", b"ACTN FLD")
    assert cause(2 * [BROKEN_OFF_AT_A_BET], [FOLD, goes_on]) is None


def test_a_failure_after_a_variation_is_explained_by_one_without_it() -> None:
    plain = BROKEN_OFF_AT_A_BET
    position = last_position(plain)
    assert position is not None
    varied = structs.replace(plain, case=replace(CASE, kind=CaseKind.VARIATION))
    evidence = Evidence()
    evidence.add(FOLD, has_failed=False)
    for _ in range(2):
        evidence.add(varied, has_failed=True)
    assert evidence.cause_without_variation(position) is None
    evidence.add(plain, has_failed=True)
    assert evidence.cause_without_variation(position) == evidence.cause(position) is not None


def test_a_client_that_never_goes_on_is_not_explained() -> None:
    assert cause(2 * [conversation(b"STRT P_1")], []) is None


def test_a_client_that_has_sent_something_has_nothing_to_handle() -> None:
    assert last_position(FOLD) is None


def transcribed(room: str, *said: tuple[Peer, bytes], early_rest: bytes = b"") -> ClientObservation:
    """A conversation with a client that breaks off, and the bytes of the house that crossed a message of the client."""
    client = ClientFixture(endless())
    client.stand.conversation = Conversation(HOUSE_ROOMS[room], answer_timeout=1e9)
    for side, data in said:
        client.stand.conversation.on_data(side, data, 0.0)
    client.stand.early_rest = early_rest
    return structs.replace(observed(client), test_data=CLIENT_TEST_DATA[room])


def showdown(card: bytes, *after: bytes) -> ClientObservation:
    """A client that bets, is shown a card, sends these messages, and breaks off."""
    return transcribed(
        "kuhn",
        (CLIENT, b"STRT P_1"),
        (HOUSE, b"CARD C_Q"),
        (CLIENT, b"ACTN BET"),
        (HOUSE, b"CARD " + card),
        *((CLIENT, message) for message in after),
    )


def blackjack_round(*said: tuple[Peer, str]) -> ClientObservation:
    """A client that bets 10 of 1000, says and receives these cards and codes, and breaks off."""
    start = [(CLIENT, b"PLY"), (HOUSE, b"MON\0\0\x03\xe8"), (CLIENT, b"BET\0\0\0\x0a")]
    codes = {"hit": b"MOV\0H", "TRN": b"TRN", "lost": b"RES\0L\0\0\0\0", "PLY": b"PLY"}
    rest = [(side, codes.get(word) or b"CRD" + word.encode("utf-16-be")) for side, word in said]
    return transcribed("blackjack", *start, *rest)


def test_a_client_may_go_on_after_a_game_in_the_state_that_it_cannot_act_in() -> None:
    dealt_ten = blackjack_round(*((HOUSE, word) for word in ("CTH", "C4D", "S7C", "TRN")))
    deal = [(HOUSE, word) for word in ("C9H", "C5D", "S7C", "TRN")]
    drawn_ten = blackjack_round(*deal, (CLIENT, "hit"), (HOUSE, "CTD"), (HOUSE, "lost"), (CLIENT, "PLY"))
    assert cause(2 * [dealt_ten], [drawn_ten]) == (
        "blackjack-2.6",
        "it never goes on in the state 'A ten is dealt as T'",
    )


def test_a_failure_after_one_value_needs_many_conversations() -> None:
    evidence = Evidence()
    position = last_position(showdown(b"C_K"))
    assert position is not None
    for _ in range(8):
        assert not evidence.is_fatal(position)
        evidence.add(showdown(b"C_K"), has_failed=True)
        evidence.add(showdown(b"C_J", b"STRT P_2"), has_failed=False)
    assert evidence.is_fatal(position)
    evidence.add(showdown(b"C_J"), has_failed=True)
    assert not evidence.is_fatal(position), "it breaks off after other cards, too"


def test_a_certain_message_is_the_cause_of_failures_in_several_cases_only() -> None:
    failed = [showdown(b"C_K") for _ in range(3)]
    survived = [showdown(b"C_J", b"STRT P_2")]
    assert cause(failed, survived) is None, "the same cards may come in each try of a case"
    failed[0] = structs.replace(failed[0], case=replace(CASE, slug="another"))
    assert cause(failed, survived) == ("kuhn-4.4", "it never goes on after CARD C_K, the reply of kuhn-4.4")


def test_a_client_that_does_not_wait_for_a_reply_is_found_when_the_reply_is_late() -> None:
    client = ClientFixture(endless(message_gap_seconds=0.3), {"coins": 9, "bot": "script:BET"})
    client.say(b"STRT P_2")
    client.say(b"ACTN FLD")
    reaction = early_reaction(observed(client))
    assert reaction is not None
    assert (reaction.cause.clause, reaction.has_gone_on) == ("kuhn-4.2", True)
    assert reaction.cause.text == "it does not wait for the reply that kuhn-4.2 requires"


def test_a_client_that_goes_on_within_a_message_does_not_read_all_of_it() -> None:
    client = ClientFixture(endless(delivery=Delivery(max_piece_bytes=1, delay_seconds=0.03)))
    client.say(b"STRT P_1")
    while b"".join(client.heard) != b"CARD C":
        client.wait()
    client.say(b"ACTN BET")
    reaction = early_reaction(observed(client))
    assert reaction is not None
    assert (reaction.cause.clause, reaction.cause.text, reaction.code) == (
        "kuhn-2.2",
        "it does not read the whole of CARD",
        "CARD",
    )


def test_a_client_that_waits_reacts_to_nothing_early() -> None:
    assert early_reaction(BROKEN_OFF_AT_A_BET) is None


def test_a_client_that_goes_on_within_a_message_may_have_misread_it() -> None:
    client = ClientFixture(endless(delivery=Delivery(max_piece_bytes=1, delay_seconds=0.01)), RICH)
    client.say(b"STRT P_1")
    while not client.stand.conversation.incomplete(HOUSE).startswith(b"CARD C"):
        client.wait()
    client.say(b"ACTN CHK")
    assert observed(client).may_have_misread
    in_time = conversation(b"STRT P_1", b"ACTN CHK", b"ACTN FLD")
    assert not in_time.may_have_misread


def test_a_client_may_take_one_read_for_one_message_at_a_certain_message_only() -> None:
    passed = [(CLIENT, b"PASS"), (HOUSE, b"BKSC \0\0\0\x017o 07.0"), (HOUSE, b"GAIN \xff\xff\xff\x9c")]
    bust = [(CLIENT, b"DRAW"), (HOUSE, b"CARD 7c"), (HOUSE, b"BSTG")]
    start = [(CLIENT, b"STRT"), (HOUSE, b"STBT \0\0\0\x64"), (CLIENT, b"DRAW"), (HOUSE, b"CARD 1o")]
    assert transcribed("sevenhalf", *start, *passed, *start, *bust).may_have_misread
    assert not transcribed("sevenhalf", *start, *passed, *start, *passed).may_have_misread


def test_a_client_that_leaves_within_a_message_may_have_misread_it() -> None:
    begun = transcribed("kuhn", (CLIENT, b"STRT P_1"), (HOUSE, b"CA"))
    assert begun.may_have_misread
    assert not transcribed("kuhn", (CLIENT, b"STRT P_1"), (HOUSE, b"CARD C_Q"), (CLIENT, b"ACTN BET")).may_have_misread


def test_a_message_that_a_client_may_send_ahead_is_no_reaction_to_the_reply_that_it_crosses() -> None:
    said = (
        (CLIENT, b"STRT"),
        (HOUSE, b"STBT \0\0\0\x64"),
        (CLIENT, b"DRAW"),
        (HOUSE, b"CARD 1o"),
        (CLIENT, b"ANTE \0\0\0\x64"),
        (HOUSE, b"E"),
        (CLIENT, b"DRAW"),
        (HOUSE, b"RRO 34ANTE"),
    )
    expected_a_card = transcribed("sevenhalf", *said[:-1], (HOUSE, b"RRO 34"), early_rest=b"E")
    assert early_reaction(expected_a_card) is None
    reaction = early_reaction(transcribed("sevenhalf", *said, early_rest=b"E"))
    assert reaction is not None
    assert (reaction.cause.clause, reaction.cause.text) == ("sevenhalf-2.6", "it does not read the whole of ERRO")


def test_a_client_that_handles_one_message_of_a_reply_but_not_several_is_named() -> None:
    begin = (
        (CLIENT, b"PLY"),
        (HOUSE, b"MON\0\0\x03\xe8"),
        (CLIENT, b"BET\0\0\0\x0a"),
        (HOUSE, b"CRD\0C\0T\0HCRD\0C\0Q\0DCRD\0S\x009\0STRN"),
        (CLIENT, b"MOV\0S"),
    )
    one = transcribed("blackjack", *begin, (HOUSE, b"CRD\0S\0T\0SRES\0W\0\0\0\x14"), (CLIENT, b"PLY"))
    several = transcribed("blackjack", *begin, (HOUSE, b"CRD\0S\x005\0CCRD\0S\0T\0S"))
    assert cause([several, several], [one]) == (
        "blackjack-4.4",
        "it never goes on after several CRD in the reply of blackjack-4.4",
    )


def test_two_replies_to_messages_that_were_sent_together_are_not_several_of_one_reply() -> None:
    begin = (CLIENT, b"STRT P_2"), (HOUSE, b"CARD C_QACTN BET")
    one = transcribed("kuhn", *begin, (CLIENT, b"ACTN CAL"), (HOUSE, b"CARD C_K"), (CLIENT, b"STRT P_2"))
    together = transcribed("kuhn", *begin, (CLIENT, b"ACTN CALSTRT P_2"), (HOUSE, b"CARD C_KCARD C_JACTN BET"))
    position = last_position(together)
    assert position is not None
    assert not any("several" in feature.words for feature in position)
    assert last_position(one) is None


def test_a_client_that_fails_after_a_number_of_games_is_not_blamed_for_how_the_last_one_ended() -> None:
    folds = [b"STRT P_2", b"ACTN FLD"]
    failed = [conversation(*folds * 3, *last) for last in ((b"STRT P_2", b"ACTN CAL"), (b"STRT P_1", b"ACTN BET"))]
    assert cause(2 * failed, []) == ("kuhn-4.10", "it never goes on after 4 games on one connection")
    goes_on = conversation(*folds * 3, b"STRT P_2", b"ACTN CAL", *folds)
    assert cause(2 * failed, [goes_on]) == ("kuhn-4.4", "it never goes on after CARD, the reply of kuhn-4.4")


def test_nobody_waits_for_a_refusal() -> None:
    before = [(CLIENT, b"STRT"), (HOUSE, b"STBT \x3f\xff\xff\xff"), (CLIENT, b"DRAW"), (HOUSE, b"CARD 1o")]
    raised = (CLIENT, b"ANTE \0\0\0\x01")
    assert early_reaction(transcribed("sevenhalf", *before, raised, (CLIENT, b"DRAW"), (HOUSE, b"ERRO 00"))) is None
    assert not Evidence().has_handled("")
