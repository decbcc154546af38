"""Excerpts the few lines of a long dialogue that explain its end."""

import re
from collections.abc import Sequence
from typing import Final

from croupier.conformance.conversation import DialogueLine

MAX_SHOWN_LINES: Final = 6

CARD_PATTERN: Final = re.compile(r"""\[\s*["']?(?:\w+)["']?,\s*["']\w+["']\s*\]""")
"""A card in a message."""

ANSWER_PATTERN: Final = re.compile(r"""["'](?:result|in)["']\s*:""")
"""A key that answers have and requests do not."""


def excerpt(dialogue: Sequence[DialogueLine]) -> tuple[DialogueLine, ...]:
    """Return the lines that explain the end of a dialogue best, in their order; the last line is always included.

    Priority: the last exchange; exchanges that name the same cards; disconnects; exchanges of the same two peers; any
    others, the latest first. Repeated exchanges are skipped.
    """
    if len(dialogue) <= MAX_SHOWN_LINES:
        return tuple(dialogue)
    exchanges = _exchanges(dialogue)
    last = next(exchange for exchange in exchanges if len(dialogue) - 1 in exchange)
    cards, ends = _cards(dialogue, last), _peers(dialogue[-1])

    def priority(exchange: Sequence[int]) -> tuple[bool, bool, bool, int]:
        first = dialogue[exchange[0]]
        return not cards & _cards(dialogue, exchange), bool(first.data), _peers(first) != ends, -exchange[-1]

    chosen = [*last[-MAX_SHOWN_LINES:]]
    shown = {tuple(str(dialogue[index].message) for index in last)}
    for exchange in sorted((one for one in exchanges if one is not last), key=priority):
        texts = tuple(str(dialogue[index].message) for index in exchange)
        if len(chosen) + len(exchange) <= MAX_SHOWN_LINES and texts not in shown:
            chosen += exchange
            shown.add(texts)
    return tuple(dialogue[index] for index in sorted(chosen))


def _exchanges(dialogue: Sequence[DialogueLine]) -> list[list[int]]:
    """Group the line indices into exchanges: each request with its answer."""
    exchanges: list[list[int]] = []
    open_with: dict[frozenset[str], list[int]] = {}
    for index, line in enumerate(dialogue):
        ends = _peers(line)
        if ends in open_with and ANSWER_PATTERN.search(str(line.message)):
            open_with[ends].append(index)
        else:
            open_with[ends] = [index]
            exchanges.append(open_with[ends])
    return exchanges


def _peers(line: DialogueLine) -> frozenset[str]:
    """The sender and receiver of a line."""
    return frozenset({line.message.sender, line.message.receiver})


def _cards(dialogue: Sequence[DialogueLine], exchange: Sequence[int]) -> set[str]:
    """The cards that an exchange names."""
    return {card for index in exchange for card in CARD_PATTERN.findall(str(dialogue[index].message))}
