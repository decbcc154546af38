"""Dialects are read as what they mean, however the stream is chunked; correct streams are not changed."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.conformance.diagnosis.dialect import MAX_UNREAD_BYTES, Dialect, DialectReader
from croupier.conformance.diagnosis.layouts import LAYOUTS, dialects
from croupier.core.errors import Violation
from croupier.core.room import HouseRoom
from croupier.rooms import HOUSE_ROOMS
from tests.conformance.dialect_samples import HABITS, TALKS, Habit
from tests.sampling import in_one_test

every_habit = pytest.mark.parametrize(
    ("room", "words", "habit"),
    [
        pytest.param(room, words, habit, id=f"{room}: {words}")
        for room in HABITS
        for words, habit in HABITS[room].items()
    ],
)


def spelling(room: str, words: str) -> Dialect:
    return next(each for each in dialects(room) if each.description == words)


@in_one_test
@every_habit
def test_what_is_spelt_otherwise_is_read_as_what_it_means(room: str, words: str, habit: Habit) -> None:
    messages = TALKS[room]
    assert any(habit(message) != message for message in messages)
    found = DialectReader(spelling(room, words))
    for message in messages:
        assert found.feed(habit(message)) == message
    assert found.unread == b""


@in_one_test
@every_habit
def test_messages_may_be_glued_together(room: str, words: str, habit: Habit) -> None:
    messages = TALKS[room]
    assert DialectReader(spelling(room, words)).feed(b"".join(map(habit, messages))) == b"".join(messages)


ENDLESS = ("as text", "in another form")
"""What ends only with the bytes that come together."""


@in_one_test
@every_habit
def test_messages_may_be_cut_at_any_byte(room: str, words: str, habit: Habit) -> None:
    if any(part in words for part in ENDLESS):
        return
    messages = TALKS[room]
    found = DialectReader(spelling(room, words))
    data = b"".join(map(habit, messages))
    assert b"".join(found.feed(bytes((byte,))) for byte in data) == b"".join(messages)


@pytest.mark.parametrize("room", LAYOUTS)
def test_every_spelling_has_an_example_here(room: str) -> None:
    throughout = {each.description for each in dialects(room) if each.is_consistent}
    signs = {words for words in throughout if room == "blackjack" and re.search("minus|negative|one byte", words)}
    assert throughout - HABITS[room].keys() <= signs - {"sends characters of one byte"}


@pytest.mark.parametrize("room", LAYOUTS)
def test_spellings_can_be_told_apart_by_their_words(room: str) -> None:
    words = [each.description for each in dialects(room)]
    assert len(set(words)) == len(words)


def test_several_spellings_are_read_at_the_same_time() -> None:
    both = spelling("kuhn", "ends its messages with a line end") + spelling("kuhn", "puts quotes around its arguments")
    assert DialectReader(both).feed(b'CARD "C_Q"\nACTN "BET"\n') == b"CARD C_QACTN BET"
    assert both.description == "ends its messages with a line end, and it puts quotes around its arguments"


def test_a_sum_of_dialects_has_them_as_its_parts() -> None:
    first, second, third = dialects("kuhn")[:3]
    assert (first + second + third).parts == (first, second, third)
    assert first.parts == (first,)


def test_what_two_spellings_spell_otherwise_may_be_spelt_in_either_way() -> None:
    words = spelling("kuhn", "writes BRT, which is a slip of the document's")
    both = spelling("kuhn", "writes a card as its rank alone") + words
    assert DialectReader(both).feed(b"CARD QACTN BRTCARD C_KACTN CHK") == b"CARD C_QACTN BETCARD C_KACTN CHK"
    found = DialectReader(both)
    assert b"".join(found.feed(bytes((byte,))) for byte in b"ACTN BRT") == b"ACTN BET"
    assert DialectReader(both).feed(b"CARD 7o") == b"CARD 7o"


@pytest.mark.parametrize("room", HOUSE_ROOMS.values(), ids=HOUSE_ROOMS)
def test_what_is_in_no_dialect_is_handed_on_as_it_came(room: HouseRoom) -> None:
    for each in dialects(room.name):
        for data in (b"HELLO WORLD", b"\xff" * 9, b"?"):
            assert DialectReader(each).feed(data) in {data, b""}
        assert DialectReader(each).feed(b"#" * 2 * MAX_UNREAD_BYTES) == b"#" * 2 * MAX_UNREAD_BYTES


@pytest.mark.parametrize("cut", range(31))
def test_messages_in_a_dialect_are_read_also_after_one_that_is_spelt_as_in_the_protocol(cut: int) -> None:
    found = DialectReader(spelling("sevenhalf", "writes the suit of a card before its rank"))
    data = b"CARD o7BKSC \0\0\0\x012o 02.0CARD cs"
    assert found.feed(data[:cut]) + found.feed(data[cut:]) == b"CARD 7oBKSC \0\0\0\x012o 02.0CARD sc"
    assert (found.has_failed, found.message_count) == (True, 2)


ORDINARY = (
    "ends its messages with a line end",
    "ends its messages with a NUL",
    "forgets the space",
    "puts quotes around its arguments",
    "spells its codes in another way",
)


@given(st.data())
def test_whoever_speaks_as_the_document_has_it_is_understood_as_well(data: st.DataObject) -> None:
    room = data.draw(st.sampled_from(list(HOUSE_ROOMS.values())))
    one = data.draw(st.sampled_from([each for each in dialects(room.name) if each.description in ORDINARY]))
    codec = room.codec(True, None)
    messages = data.draw(st.lists(st.sampled_from(room.sample_messages), max_size=6))
    sent = b"".join(map(codec.encode, messages))
    cut = data.draw(st.integers(0, len(sent)))
    found = DialectReader(one)
    assert found.feed(sent[:cut]) + found.feed(sent[cut:]) == sent


@given(st.sampled_from([*LAYOUTS]), st.data(), st.lists(st.binary(max_size=12), max_size=6))
def test_no_bytes_are_too_strange_to_be_read(room: str, data: st.DataObject, pieces: Sequence[bytes]) -> None:
    one = data.draw(st.sampled_from(dialects(room)))
    found = DialectReader(one)
    codec = HOUSE_ROOMS[room].codec(True, None)
    for piece in pieces:
        assert all(isinstance(item, Violation) or item is not None for item in codec.feed(found.feed(piece)))
    assert len(found.unread) < MAX_UNREAD_BYTES
