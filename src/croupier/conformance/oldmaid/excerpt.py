"""A long dialogue is told in a few lines: how it ended, and what that has to do with."""

import re
from collections.abc import Sequence
from typing import Final

from croupier.conformance.conversation import DialogueLine

MAX_SHOWN_LINES: Final = 6
"""So many messages of a dialogue are shown."""

CARD_PATTERN: Final = re.compile(r"""\[\s*["']?(?:\w+)["']?,\s*["']\w+["']\s*\]""")
"""A card, as messages have it."""

ANSWER_PATTERN: Final = re.compile(r"""["'](?:result|in)["']\s*:""")
"""What is in an answer, and in no request."""


def excerpt(dialogue: Sequence[DialogueLine]) -> tuple[DialogueLine, ...]:
    """The lines of a dialogue that show best what has come of it, in their order: the last is the last of all.

    First comes the last request with its answer; then those that have to do with the same cards; then who has hung up,
    what the same two had to say to each other, and whatever else, the latest first. Nothing is told twice.
    """
    if len(dialogue) <= MAX_SHOWN_LINES:
        return tuple(dialogue)
    exchanges = _exchanges(dialogue)
    last = next(exchange for exchange in exchanges if len(dialogue) - 1 in exchange)
    cards, ends = _cards(dialogue, last), _peers(dialogue[-1])

    def near(exchange: Sequence[int]) -> tuple[bool, bool, bool, int]:
        first = dialogue[exchange[0]]
        return not cards & _cards(dialogue, exchange), bool(first.data), _peers(first) != ends, -exchange[-1]

    chosen = [*last[-MAX_SHOWN_LINES:]]
    told = {tuple(str(dialogue[at].message) for at in last)}
    for exchange in sorted((one for one in exchanges if one is not last), key=near):
        words = tuple(str(dialogue[at].message) for at in exchange)
        if len(chosen) + len(exchange) <= MAX_SHOWN_LINES and words not in told:
            chosen += exchange
            told.add(words)
    return tuple(dialogue[at] for at in sorted(chosen))


def _exchanges(dialogue: Sequence[DialogueLine]) -> list[list[int]]:
    """The lines by their places: every request with what was answered to it."""
    exchanges: list[list[int]] = []
    open_with: dict[frozenset[str], list[int]] = {}
    for at, line in enumerate(dialogue):
        ends = _peers(line)
        if ends in open_with and ANSWER_PATTERN.search(str(line.message)):
            open_with[ends].append(at)
        else:
            open_with[ends] = [at]
            exchanges.append(open_with[ends])
    return exchanges


def _peers(line: DialogueLine) -> frozenset[str]:
    """Who talks there."""
    return frozenset({line.message.sender, line.message.receiver})


def _cards(dialogue: Sequence[DialogueLine], exchange: Sequence[int]) -> set[str]:
    """The cards that an exchange names."""
    return {card for at in exchange for card in CARD_PATTERN.findall(str(dialogue[at].message))}
