"""What is shown of a fault of a house."""

from croupier.conformance.conversation import Conversation, DialogueLine
from croupier.conformance.servers.verdicts import canonical_messages, describe_failure, shown_dialogue, whole_messages
from croupier.core.referee import CLIENT, HOUSE
from croupier.rooms.blackjack import Options
from croupier.rooms.blackjack.wire import MOV
from tests.conformance.suites import SERVER_TEST_DATA

KUHN = SERVER_TEST_DATA["kuhn"]
BLACKJACK = SERVER_TEST_DATA["blackjack"]


def test_silence_is_not_compared_with_an_earlier_message() -> None:
    conversation = Conversation(KUHN.room)
    conversation.on_data(CLIENT, b"STRT P_2", 0.0)
    conversation.on_data(HOUSE, b"CARD C_Q", 0.0)
    (fault,) = conversation.on_timeout(9.0)
    failure = describe_failure(conversation, fault)
    assert (failure.clause, failure.actual, failure.got) == ("kuhn-4.2", "silence", b"")


def test_a_wrong_message_is_compared_with_the_only_right_one() -> None:
    conversation = Conversation(KUHN.room)
    conversation.on_data(CLIENT, b"ACTN BET", 0.0)
    (fault,) = [each for each in conversation.on_data(HOUSE, b"FAIL N_C", 0.0) if each.verdict.party == HOUSE]
    failure = describe_failure(conversation, fault)
    assert (failure.clause, failure.wanted, failure.got) == ("kuhn-6.6", b"FAIL W_A", b"FAIL N_C")


def test_the_case_of_letters_is_no_difference_where_it_does_not_matter() -> None:
    conversation = Conversation(KUHN.room)
    conversation.on_data(CLIENT, b"ACTN BET", 0.0)
    (fault,) = [each for each in conversation.on_data(HOUSE, b"fail n_c", 0.0) if each.verdict.party == HOUSE]
    failure = describe_failure(conversation, fault)
    assert (failure.wanted, failure.got) == (b"fail W_A", b"fail n_c")


def test_bytes_of_a_number_are_no_letters() -> None:
    sevenhalf = SERVER_TEST_DATA["sevenhalf"]
    conversation = Conversation(sevenhalf.room)
    conversation.on_data(CLIENT, b"STRT", 0.0)
    conversation.on_data(HOUSE, b"STBT \0\0\0\x9f", 0.0)
    conversation.on_data(CLIENT, b"DRAWPASS", 0.0)
    (fault,) = conversation.on_data(HOUSE, b"card sobksc \0\0\0\x011o 01.0gain \xff\xff\xffA", 0.0)
    failure = describe_failure(conversation, fault)
    assert (failure.wanted, failure.got) == (b"GAIN \xff\xff\xffa", b"gain \xff\xff\xffA")


def test_the_only_right_message_and_those_of_the_client_are_spelled_in_their_dialect() -> None:
    conversation = Conversation(BLACKJACK.room, Options(dialect="char8"))
    conversation.on_data(CLIENT, b"PLY", 0.0)
    conversation.on_data(HOUSE, b"MON\0\0\x03\xe8", 0.0)
    conversation.on_data(CLIENT, b"BET\0\0\0\x0a", 0.0)
    conversation.on_data(HOUSE, b"CRDC9HCRDC8DCRDS7STRN", 0.0)
    conversation.on_data(CLIENT, b"SRD", 0.0)
    (fault,) = conversation.on_data(HOUSE, b"RESL\0\0\0\x0a", 0.0)
    assert describe_failure(conversation, fault).wanted == b"RESL\0\0\0\5"
    stand = DialogueLine(CLIENT, b"MOVS", MOV["S"], 0.0)
    assert canonical_messages(conversation, [stand]) == [b"MOVS"]


def test_the_beginning_of_a_message_is_shown_before_its_early_answer() -> None:
    conversation = Conversation(KUHN.room)
    conversation.on_data(CLIENT, b"STRT P_1", 0.0)
    conversation.on_data(HOUSE, b"CARD C_Q", 0.0)
    conversation.on_data(CLIENT, b"ACTN ", 0.0)
    (fault,) = conversation.on_data(HOUSE, b"FAIL W_A", 0.0)
    shown = shown_dialogue(conversation, fault)
    assert [(line.side, line.data) for line in shown[2:]] == [(CLIENT, b"ACTN "), (HOUSE, b"FAIL W_A")]
    assert whole_messages(shown) == conversation.lines


def test_the_beginning_of_a_message_is_shown_before_an_early_goodbye() -> None:
    conversation = Conversation(KUHN.room)
    conversation.on_data(CLIENT, b"STRT ", 0.0)
    (fault, *_) = conversation.on_data(HOUSE, b"FAIL W_ADISC", 0.0)
    assert fault.verdict.violation.allowed == "nothing, until the message is complete"
    shown = shown_dialogue(conversation, fault)
    assert [(line.side, line.data) for line in shown] == [(CLIENT, b"STRT "), (HOUSE, b"FAIL W_A")]


def test_the_beginning_of_a_message_is_shown_behind_one_that_is_not_answered() -> None:
    conversation = Conversation(KUHN.room)
    conversation.on_data(CLIENT, b"STRT P_1AC", 0.0)
    (fault,) = conversation.on_timeout(9.0)
    shown = shown_dialogue(conversation, fault)
    assert [(line.side, line.data) for line in shown] == [(CLIENT, b"STRT P_1"), (CLIENT, b"AC")]
    assert whole_messages(shown) == conversation.lines
