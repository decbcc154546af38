"""Finds the hole cards of other players in any key of an answer."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from msgspec import DecodeError
from msgspec.json import decode

CARD_PATTERN: Final = re.compile(r"(?:10|[2-9TJQKA])[CDHS]")
CARDS_PATTERN: Final = re.compile(rf"(?:{CARD_PATTERN.pattern}[ ,-]*)+")
"""A card, and a text of nothing but cards."""


def leaked_hand(body: bytes, own: Collection[str], hands: Mapping[str, Collection[str]]) -> tuple[str, Collection[str]]:
    """Return the player whose hand an answer to another one contains as a whole, and that hand; ("", ()) if none.

    `own` are the cards that the viewer may see, and `hands` the hole cards of the other players in the running hand.
    """
    try:
        shown = {card for text in _texts(decode(body)) for card in _cards(text)} - {*own}
    except (DecodeError, UnicodeDecodeError, RecursionError):
        return "", ()
    return next(((player, hand) for player, hand in hands.items() if hand and {*hand} <= shown), ("", ()))


def _texts(value: Any) -> Iterator[str]:
    """All strings and keys in a JSON value."""
    if isinstance(value, dict):
        yield from value
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, str):
        yield value


def _cards(text: str) -> Iterator[str]:
    """The cards in a text of nothing but cards."""
    if CARDS_PATTERN.fullmatch(text):
        yield from (card.replace("10", "T") for card in CARD_PATTERN.findall(text))
