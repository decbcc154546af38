"""Dialects: what programs write otherwise is read as what it means, however it is cut, and nothing else is touched."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.conformance.diagnosis.dialect import MOST, Spelling, Translation, named
from croupier.conformance.diagnosis.layouts import TONGUES, spellings
from croupier.core.errors import Violation
from croupier.core.room import HouseRoom
from croupier.rooms import HOUSES
from tests.conformance.dialect_samples import HABITS, TALKS, Habit

every_habit = pytest.mark.parametrize(
    ("room", "words", "habit"),
    [
        pytest.param(room, words, habit, id=f"{room}: {words}")
        for room in HABITS
        for words, habit in HABITS[room].items()
    ],
)


def spelling(room: str, words: str) -> Spelling:
    return next(each for each in spellings(room) if each.told == words)


@every_habit
def test_what_is_spelt_otherwise_is_read_as_what_it_means(room: str, words: str, habit: Habit) -> None:
    messages = TALKS[room]
    assert any(habit(message) != message for message in messages)
    found = Translation(spelling(room, words))
    for message in messages:
        assert found.feed(habit(message)) == message
    assert found.rest == b""


@every_habit
def test_messages_may_be_glued_together(room: str, words: str, habit: Habit) -> None:
    messages = TALKS[room]
    assert Translation(spelling(room, words)).feed(b"".join(map(habit, messages))) == b"".join(messages)


ENDLESS = ("as text", "in another form")
"""What ends only with the bytes that come together."""


@every_habit
def test_messages_may_be_cut_at_any_byte(room: str, words: str, habit: Habit) -> None:
    if any(part in words for part in ENDLESS):
        return
    messages = TALKS[room]
    found = Translation(spelling(room, words))
    data = b"".join(map(habit, messages))
    assert b"".join(found.feed(bytes((byte,))) for byte in data) == b"".join(messages)


@pytest.mark.parametrize("room", TONGUES)
def test_every_spelling_has_an_example_here(room: str) -> None:
    throughout = {each.told for each in spellings(room) if each.throughout}
    signs = {words for words in throughout if room == "blackjack" and re.search("minus|negative|one byte", words)}
    assert throughout - HABITS[room].keys() <= signs - {"sends characters of one byte"}


@pytest.mark.parametrize("room", TONGUES)
def test_spellings_can_be_told_apart_by_their_words(room: str) -> None:
    words = [each.told for each in spellings(room)]
    assert len(set(words)) == len(words)
    for one in spellings(room):
        assert named(f"it {one.told}", spellings(room)) == (one if one.throughout else None)


def test_several_spellings_are_read_at_the_same_time() -> None:
    known = spellings("kuhn")
    both = spelling("kuhn", "ends its messages with a line end") + spelling("kuhn", "puts quotes around its arguments")
    assert Translation(both).feed(b'CARD "C_Q"\nACTN "BET"\n') == b"CARD C_QACTN BET"
    assert both.told == "ends its messages with a line end, and it puts quotes around its arguments"
    assert named(f"it {both.told}", known) == both


def test_what_two_spellings_spell_otherwise_may_be_spelt_in_either_way() -> None:
    words = spelling("kuhn", "writes BRT, which is a slip of the document's")
    both = spelling("kuhn", "writes a card as its rank alone") + words
    assert Translation(both).feed(b"CARD QACTN BRTCARD C_KACTN CHK") == b"CARD C_QACTN BETCARD C_KACTN CHK"
    found = Translation(both)
    assert b"".join(found.feed(bytes((byte,))) for byte in b"ACTN BRT") == b"ACTN BET"
    assert Translation(both).feed(b"CARD 7o") == b"CARD 7o"


def test_another_cause_names_no_spelling() -> None:
    assert named("it leaves out CARD", spellings("kuhn")) is None
    assert named("here it writes its integers as text", spellings("sevenhalf")) is None
    assert named("", spellings("kuhn")) is None


@pytest.mark.parametrize("room", HOUSES.values(), ids=HOUSES)
def test_what_is_in_no_dialect_is_handed_on_as_it_came(room: HouseRoom) -> None:
    for each in spellings(room.name):
        for data in (b"HELLO WORLD", b"\xff" * 9, b"?"):
            assert Translation(each).feed(data) in {data, b""}
        assert Translation(each).feed(b"#" * 2 * MOST) == b"#" * 2 * MOST


ORDINARY = (
    "ends its messages with a line end",
    "ends its messages with a NUL",
    "forgets the space",
    "puts quotes around its arguments",
    "spells its codes in another way",
)


@given(st.data())
def test_whoever_speaks_as_the_document_has_it_is_understood_as_well(data: st.DataObject) -> None:
    room = data.draw(st.sampled_from(list(HOUSES.values())))
    one = data.draw(st.sampled_from([each for each in spellings(room.name) if each.told in ORDINARY]))
    codec = room.codec(True, None)
    messages = data.draw(st.lists(st.sampled_from(room.vocabulary), max_size=6))
    sent = b"".join(map(codec.encode, messages))
    cut = data.draw(st.integers(0, len(sent)))
    found = Translation(one)
    assert found.feed(sent[:cut]) + found.feed(sent[cut:]) == sent


@given(st.sampled_from([*TONGUES]), st.data(), st.lists(st.binary(max_size=12), max_size=6))
def test_no_bytes_are_too_strange_to_be_read(room: str, data: st.DataObject, pieces: Sequence[bytes]) -> None:
    one = data.draw(st.sampled_from(spellings(room)))
    found = Translation(one)
    codec = HOUSES[room].codec(True, None)
    for piece in pieces:
        assert all(isinstance(item, Violation) or item is not None for item in codec.feed(found.feed(piece)))
    assert len(found.rest) < MOST
