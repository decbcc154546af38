"""Conversations: every line has its own bytes and every fault its place, however the stream is chunked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.conformance.conversation import Conversation
from croupier.core.errors import Violation
from croupier.core.referee import CLIENT, HOUSE
from croupier.rooms import HOUSE_ROOMS
from croupier.rooms.kuhn import ROOM
from croupier.rooms.kuhn.wire import ACTN, CARD, STRT

TALK = [(CLIENT, b"STRT P_1"), (HOUSE, b"CARD C_Q"), (CLIENT, b"\r\nACTN BET"), (HOUSE, b'CARD "C_Q"')]


@pytest.mark.parametrize("chop", [1, 2, 3, 7, 100])
def test_lines_have_their_bytes_and_a_fault_its_place(chop: int) -> None:
    conversation = Conversation(ROOM)
    for side, data in TALK:
        for at in range(0, len(data), chop):
            conversation.on_data(side, data[at : at + chop], 1.0)
    assert [(line.side, line.data) for line in conversation.lines] == TALK
    assert [line.message for line in conversation.lines] == [STRT["P_1"], CARD["Q"], ACTN["BET"], CARD["Q"]]
    assert [
        (fault.verdict.party, fault.verdict.violation.clause, fault.line_count) for fault in conversation.faults
    ] == [(HOUSE, "kuhn-5.4", 4)]
    assert conversation.tolerated(CLIENT) == {"kuhn-2.4"}
    assert conversation.tolerated(HOUSE) == {"kuhn-2.5"}


def test_what_is_glued_together_is_told_apart() -> None:
    conversation = Conversation(ROOM)
    conversation.on_data(HOUSE, b"", 0.0)
    conversation.on_data(CLIENT, b"STRT P_1ACTN CHKSTR", 0.0)
    assert [line.data for line in conversation.lines] == [b"STRT P_1", b"ACTN CHK"]
    assert conversation.incomplete(CLIENT) == b"STR"
    assert conversation.deadline == 5.0
    conversation.on_data(HOUSE, b"CARD C_KCARD C_J", 1.0)
    assert conversation.faults == []
    assert conversation.deadline is None


@pytest.mark.parametrize(
    ("pieces", "cuts"),
    [
        ([b"STRT P_1", b"ACTN CHK"], [(0,), (0,)]),
        ([b"STRT P_1ACTN CHK"], [(0,), ()]),
        ([b"ST", b"RT P_1", b"ACTN CHK"], [(0, 2), (0,)]),
        ([b"STRT P_1AC", b"TN ", b"CHKSTR"], [(0,), (2, 5)]),
    ],
)
def test_the_lines_of_the_sender_show_its_pieces(pieces: list[bytes], cuts: list[tuple[int, ...]]) -> None:
    conversation = Conversation(ROOM)
    conversation.sender = CLIENT
    for piece in pieces:
        conversation.on_data(CLIENT, piece, 0.0)
    conversation.on_data(HOUSE, b"CARD C_K", 0.0)
    assert [line.cuts for line in conversation.lines] == [*cuts, None]


def test_silence_and_an_early_end_are_faults_of_the_house() -> None:
    for end, found in (
        (lambda c: c.on_timeout(c.deadline), "silence"),
        (lambda c: c.on_disconnect(HOUSE, 1.0), "the end of the convers"),
    ):
        conversation = Conversation(ROOM, answer_timeout=2.0)
        conversation.on_data(CLIENT, b"STRT P_1", 0.0)
        assert conversation.deadline == 2.0
        (fault,) = end(conversation)
        assert fault.verdict.violation.clause == "kuhn-4.1"
        assert fault.verdict.violation.found.startswith(found)
        assert fault.line_count == 1


def test_what_cannot_be_read_is_kept_within_bounds() -> None:
    conversation = Conversation(ROOM, strict=True)
    conversation.on_data(CLIENT, b"hello" + b"?" * 100_000, 0.0)
    (line,) = conversation.lines
    assert isinstance(line.message, Violation)
    assert line.data == b"hell"
    assert len(conversation.incomplete(CLIENT)) == 1 << 16


@given(st.data())
def test_what_is_heard_at_once_is_what_is_heard_byte_by_byte(data: st.DataObject) -> None:
    room = data.draw(st.sampled_from(list(HOUSE_ROOMS.values())))
    strict = data.draw(st.booleans())
    codec = room.codec(strict, None)
    spelt = st.sampled_from(room.sample_messages).map(codec.encode)
    strange = st.one_of(spelt.map(bytes.lower), st.sampled_from([b"\r\n", b" ", b"\0", b'"', b"?" * 40]))
    reads = data.draw(st.lists(st.lists(st.one_of(spelt, spelt, strange), max_size=3).map(b"".join), max_size=4))
    whole, chopped = (Conversation(room, strict=strict) for _ in range(2))
    for read in reads:
        whole.on_data(HOUSE, read, 0.0)
        for byte in read:
            chopped.on_data(HOUSE, bytes((byte,)), 0.0)
    assert whole.lines == chopped.lines
    assert whole.incomplete(HOUSE) == chopped.incomplete(HOUSE)
    assert whole.tolerated(HOUSE) == chopped.tolerated(HOUSE)
    assert whole.faults == chopped.faults


def house_clauses(conversation: Conversation) -> list[str]:
    return [fault.verdict.violation.clause for fault in conversation.faults if fault.verdict.party == HOUSE]


def test_a_message_that_is_cut_off_is_no_message() -> None:
    for end in (lambda c: c.on_timeout(c.deadline), lambda c: c.on_disconnect(HOUSE, 1.0)):
        conversation = Conversation(ROOM)
        conversation.on_data(CLIENT, b"STRT P_1", 0.0)
        conversation.on_data(HOUSE, b"CARD C_", 0.0)
        end(conversation)
        assert house_clauses(conversation) == ["kuhn-2.1"]
        assert conversation.faults[0].verdict.violation.found == "'CARD C_'"


def test_bytes_after_the_last_message_are_a_fault_unless_they_are_tolerated() -> None:
    for room, talk, expected in (
        ("blackjack", [(CLIENT, b"STP"), (HOUSE, b"STP\0")], ["blackjack-2.1"]),
        ("kuhn", [(HOUSE, b"DISC\r\n")], []),
        ("kuhn", [(CLIENT, b"STRT P_1"), (HOUSE, b"CARD C_QDISCDI")], ["kuhn-2.1"]),
    ):
        conversation = Conversation(HOUSE_ROOMS[room])
        for side, data in talk:
            conversation.on_data(side, data, 0.0)
        conversation.on_disconnect(HOUSE, 1.0)
        assert house_clauses(conversation) == expected


def test_a_message_that_a_reset_has_cut_is_no_fault() -> None:
    conversation = Conversation(ROOM)
    conversation.on_data(CLIENT, b"STRT P_1", 0.0)
    conversation.on_data(HOUSE, b"CARD C_", 0.0)
    assert conversation.on_disconnect(HOUSE, 1.0, was_reset=True) == []
    assert conversation.is_house_cut
    assert conversation.deadline is None
    assert conversation.on_disconnect(CLIENT, 2.0) == []


def test_a_reset_between_two_messages_is_a_close() -> None:
    conversation = Conversation(ROOM)
    conversation.on_data(CLIENT, b"STRT P_1", 0.0)
    conversation.on_disconnect(HOUSE, 1.0, was_reset=True)
    assert house_clauses(conversation) == ["kuhn-4.1"]


def test_what_a_client_that_has_left_does_not_get_is_no_fault() -> None:
    conversation = Conversation(ROOM)
    conversation.on_data(CLIENT, b"STRT P_1", 0.0)
    conversation.on_data(HOUSE, b"CAR", 0.0)
    conversation.on_disconnect(CLIENT, 1.0)
    conversation.on_disconnect(HOUSE, 1.0)
    assert house_clauses(conversation) == []


def test_an_answer_to_the_beginning_of_a_message_breaks_the_clause_about_the_stream() -> None:
    conversation = Conversation(ROOM)
    conversation.on_data(CLIENT, b"STR", 0.0)
    conversation.on_data(HOUSE, b"FAIL W_A", 0.0)
    assert house_clauses(conversation) == ["kuhn-1.3"]


@pytest.mark.parametrize("rest", [b"\r", b'1"', b"\r\n AC"])
def test_bytes_that_begin_no_code_may_be_refused_before_the_code_is_complete(rest: bytes) -> None:
    conversation = Conversation(ROOM, strict=True)
    for side, data in ((CLIENT, b"STRT P_1" + rest), (HOUSE, b"CARD C_Q"), (HOUSE, b"FAIL W_ADISC")):
        conversation.on_data(side, data, 0.0)
    conversation.on_disconnect(HOUSE, 1.0)
    assert house_clauses(conversation) == []


MISSING_SPACES = [
    ("kuhn", b"STRT-", b"P_1", b"FAIL W_A"),
    ("sevenhalf", b"ANTE-\0\0\0", b"\x0a", b"ERRO 00"),
    ("sevenhalf", b"BKSC \0\0\0\x017o-07", b".0", b"ERRO 00"),
]


@pytest.mark.parametrize(("room", "start", "rest", "refusal"), MISSING_SPACES)
def test_a_house_may_read_all_of_a_message_before_it_misses_its_space(
    room: str, start: bytes, rest: bytes, refusal: bytes
) -> None:
    conversation = Conversation(HOUSE_ROOMS[room])
    conversation.on_data(CLIENT, start, 0.0)
    assert conversation.deadline is None
    conversation.on_data(CLIENT, rest, 1.0)
    assert conversation.deadline == 6.0
    assert [fault.verdict.party for fault in conversation.faults] == [CLIENT]


@pytest.mark.parametrize(("room", "start", "rest", "refusal"), MISSING_SPACES)
def test_a_house_may_refuse_a_message_at_its_missing_space(
    room: str, start: bytes, rest: bytes, refusal: bytes
) -> None:
    conversation = Conversation(HOUSE_ROOMS[room])
    for side, data in ((CLIENT, start), (HOUSE, refusal), (CLIENT, rest)):
        conversation.on_data(side, data, 0.0)
    assert [(line.side, line.data) for line in conversation.lines] == [(CLIENT, start), (HOUSE, refusal)]
    assert conversation.incomplete(CLIENT) == rest
    assert [(fault.verdict.party, fault.line_count) for fault in conversation.faults] == [(CLIENT, 1)]


@pytest.mark.parametrize("ends_input", [False, True])
def test_what_only_the_end_decides_is_a_fault_however_the_client_leaves(ends_input: bool) -> None:
    conversation = Conversation(HOUSE_ROOMS["sevenhalf"])
    for side, data in (
        (CLIENT, b"STRTDRAW"),
        (HOUSE, b"STBT \0\0\0\x64CARD 3e"),
        (CLIENT, b"ANTE \0\0\0\x19PASS"),
        (HOUSE, b"ERRO 00"),  # to the ANTE or to the PASS
    ):
        conversation.on_data(side, data, 0.0)
    (conversation.on_end_of_input if ends_input else conversation.on_disconnect)(CLIENT, 1.0)
    conversation.on_disconnect(HOUSE, 1.0)
    assert [fault.verdict.violation.clause for fault in conversation.faults] == ["sevenhalf-6.4"]
