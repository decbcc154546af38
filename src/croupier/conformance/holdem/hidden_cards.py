"""Finds the hole cards of other players in any key of an answer."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from msgspec.json import encode

from croupier.conformance.channel.json_values import parse_json

CARD_PATTERN: Final = re.compile(r"(?:10|[2-9TJQKA])[CDHS]")
CARDS_PATTERN: Final = re.compile(rf'"((?:{CARD_PATTERN.pattern}[ ,-]*)+)"')
"""A card, and a string of JSON with nothing but cards."""

BOARD_KEYS: Final = frozenset({"flop", "turn", "river"})


def leaked_hand(body: bytes, own: Collection[str], hands: Mapping[str, Collection[str]]) -> tuple[str, Collection[str]]:
    """Return the player whose hand an answer to another one contains as a whole, and that hand; ("", ()) if none.

    `own` are the cards that the viewer may see, and `hands` the hole cards of the other players in the running hand.
    """
    for text in _searched_texts(body):
        texts = CARDS_PATTERN.findall(text)
        shown = {card.replace("10", "T") for text in texts for card in CARD_PATTERN.findall(text)} - {*own}
        if found := next(((player, hand) for player, hand in hands.items() if hand and {*hand} <= shown), None):
            return found
    return "", ()


def _searched_texts(body: bytes) -> Iterator[str]:
    """Yield each Game of an answer, or else all of it, without the boards: those of other games have other decks."""
    try:
        answer = parse_json(body)
    except ValueError:
        yield body.decode(errors="replace")
        return
    is_list = isinstance(answer, list) and all(isinstance(part, dict) for part in answer)
    for part in answer if is_list else [answer]:
        yield encode(_without_board(part)).decode()


def _without_board(part: Any) -> Any:
    if not isinstance(part, dict) or not isinstance(part.get("cards"), dict):
        return part
    return {**part, "cards": {key: cards for key, cards in part["cards"].items() if key not in BOARD_KEYS}}
