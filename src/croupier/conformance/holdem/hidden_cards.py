"""Finds the hole cards of other players in any key of an answer."""

import re
from collections.abc import Collection, Mapping
from typing import Final

CARD_PATTERN: Final = re.compile(r"(?:10|[2-9TJQKA])[CDHS]")
CARDS_PATTERN: Final = re.compile(rf'"((?:{CARD_PATTERN.pattern}[ ,-]*)+)"')
"""A card, and a string of JSON with nothing but cards."""


def leaked_hand(body: bytes, own: Collection[str], hands: Mapping[str, Collection[str]]) -> tuple[str, Collection[str]]:
    """Return the player whose hand an answer to another one contains as a whole, and that hand; ("", ()) if none.

    `own` are the cards that the viewer may see, and `hands` the hole cards of the other players in the running hand.
    """
    texts = CARDS_PATTERN.findall(body.decode(errors="replace"))
    shown = {card.replace("10", "T") for text in texts for card in CARD_PATTERN.findall(text)} - {*own}
    return next(((player, hand) for player, hand in hands.items() if hand and {*hand} <= shown), ("", ()))
