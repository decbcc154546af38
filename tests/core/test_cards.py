"""Deck files: one card per line, top first, blank lines between decks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.core.cards import Pack

PACK = Pack(("J", "Q", "K"), {"C_J": "J", "C_Q": "Q", "C_K": "K"})
decks = st.lists(st.lists(st.sampled_from(range(3)), min_size=1, max_size=3, unique=True).map(tuple), min_size=1)


@given(decks, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_written_decks_are_parsed(listed: list[tuple[int, ...]], end: str, upper: bool) -> None:
    text = (2 * end).join(end.join(PACK.names[card] for card in deck) for deck in listed)
    assert PACK.parse_decks(text if upper else text.lower()) == tuple(listed)


def test_course_deck_file_is_parsed() -> None:
    assert PACK.parse_decks("C_Q\nC_K\n\nC_J\nC_Q\n") == ((1, 2), (0, 1))


def test_comments_and_extra_blank_lines_are_ignored() -> None:
    text = "# the first\n\n\nQ # top\n# not the end of a deck\n K\n\n\n\n#\nJ\n\n"
    assert PACK.parse_decks(text) == ((1, 2), (0,))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Q\nA\n", "my.deck, line 2: found 'A'; allowed: J, Q, K"),
        ("\n\nQ K\n", "my.deck, line 3: found 'Q K'; allowed: J, Q, K"),
        ("Q\nK\nc_q", "my.deck, line 3: found 'c_q' once more in one deck; allowed: each card once"),
        ("", "my.deck: found no card; allowed: one of J, Q, K a line"),
        ("# nothing\n\n", "my.deck: found no card"),
    ],
)
def test_error_names_its_line(text: str, message: str) -> None:
    with pytest.raises(ValueError, match="found") as refusal:
        PACK.parse_decks(text, "my.deck")
    assert str(refusal.value).startswith(message)


@given(st.text(max_size=60))
def test_any_text_is_parsed_or_raises_value_error(text: str) -> None:
    try:
        found = PACK.parse_decks(text)
    except ValueError as error:
        message = str(error)
    else:
        message = "allowed"
        assert all(len(set(deck)) == len(deck) > 0 for deck in found)
    assert "allowed" in message


def test_pack_has_a_size_and_names() -> None:
    assert len(PACK) == 3
    assert PACK.names == ("J", "Q", "K")


def test_spelling_of_an_unknown_card_raises_key_error() -> None:
    with pytest.raises(KeyError):
        Pack(("J",), {"ACE": "A"})
