"""The drawn cards: every face has a symbol, in files of their own that need nothing else."""

import re
import xml.etree.ElementTree as ET

import pytest

from croupier.web.cards import DECKS, FRENCH_RANKS, SPANISH_RANKS, sprite

SVG = "{http://www.w3.org/2000/svg}"
FACES = {
    "french": {rank + suit for rank in FRENCH_RANKS for suit in "CDHS"} | {"J", "Q", "K", "JOKER", "back", "spade"},
    "spanish": {rank + suit for rank in SPANISH_RANKS for suit in "oceb"} | {"back"},
}


@pytest.mark.parametrize("deck", DECKS)
def test_a_sprite_has_every_face_once(deck: str) -> None:
    symbols = ET.fromstring(sprite(deck)).findall(f"{SVG}symbol")
    assert sorted(symbol.attrib["id"] for symbol in symbols) == sorted(FACES[deck])


@pytest.mark.parametrize("deck", DECKS)
def test_no_two_cards_look_the_same(deck: str) -> None:
    symbols = ET.fromstring(sprite(deck)).findall(f"{SVG}symbol")
    drawings = {tuple(ET.tostring(part) for part in symbol) for symbol in symbols}
    assert len(drawings) == len(symbols)


@pytest.mark.parametrize("deck", DECKS)
def test_a_sprite_refers_to_no_other_file_and_has_no_styles(deck: str) -> None:
    assert not re.search(r"href|url\(|style=|class=|<script", sprite(deck))


def test_there_are_no_other_decks() -> None:
    with pytest.raises(KeyError):
        sprite("tarot")
