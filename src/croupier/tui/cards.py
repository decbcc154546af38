"""Cards drawn with letters: they need no special font and no colour."""

import sys
from collections.abc import Sequence
from typing import Final, NamedTuple

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

CARD_HEIGHT_LINES: Final = 5
CARD_WIDTH_COLUMNS: Final = 9
CARD_INNER_COLUMNS: Final = CARD_WIDTH_COLUMNS - 2
MIN_VISIBLE_COLUMNS: Final = 3
"""Columns of a card that stay visible when the next card overlaps it."""
HAND_GAP_COLUMNS: Final = 4
"""Columns between two hands."""

SPANISH_RANKS: Final = {**{rank: rank for rank in "1234567"}, "s": "sota", "c": "cavall", "r": "rei"}
SPANISH_SUITS: Final = {"o": "oros", "c": "copes", "e": "espases", "b": "bastos"}
FRENCH_RANKS: Final = {
    **{rank: rank for rank in "23456789"},
    "A": "ace",
    "T": "10",
    "J": "jack",
    "Q": "queen",
    "K": "king",
}
FRENCH_SUITS: Final = {"H": ("♥", "hearts"), "D": ("♦", "diamonds"), "S": ("♠", "spades"), "C": ("♣", "clubs")}


def encodable_or(text: str, fallback: str) -> str:
    """Return `text`, or `fallback` if standard output cannot encode it."""
    try:
        text.encode(getattr(sys.__stdout__, "encoding", "ascii"))  # sys.stdout may be a proxy without encoding
    except UnicodeEncodeError:
        return fallback
    return text


class Face(NamedTuple):
    """The rank and suit printed on a card, and its name."""

    rank: str
    suit: str
    name: str


def spanish_face(card: str) -> Face:
    """Return the face of a Spanish card, given by its two letters in seven and a half.

    >>> spanish_face("so").name
    'the sota of oros'
    """
    rank, suit = SPANISH_RANKS[card[0]], SPANISH_SUITS[card[1]]
    return Face(rank, suit, f"the {rank} of {suit}")


def french_face(card: str) -> Face:
    """Return the face of a French card, given by its two letters in blackjack.

    >>> french_face("TH").name
    'the 10 of hearts'
    """
    symbol, suit = FRENCH_SUITS[card[1]]
    rank = "10" if card[0] == "T" else card[0]
    return Face(rank, encodable_or(symbol, card[1]), f"the {FRENCH_RANKS[card[0]]} of {suit}")


def render_card(rank: str | None, *, is_active: bool = False) -> Text:
    """Draw a card without a suit, face down if `rank` is None; bold if `is_active`."""
    if rank is None:
        lines = _add_border(*[encodable_or("░", "#") * CARD_INNER_COLUMNS] * (CARD_HEIGHT_LINES - 2))
    else:
        lines = _add_border(f" {rank:<2}    ", f"   {rank:<2}  ", f"    {rank:>2} ")
    return Text("\n".join(lines), style="bold" if is_active else "dim" if rank is None else "")


def fan_lines(faces: Sequence[Face], width: int) -> list[str]:
    """Draw cards in `width` columns. They overlap as far as necessary, and continue in further rows."""
    row = max(1, 1 + (width - CARD_WIDTH_COLUMNS) // MIN_VISIBLE_COLUMNS)
    if len(faces) > row:
        return fan_lines(faces[:row], width) + fan_lines(faces[row:], width)
    step = min(CARD_WIDTH_COLUMNS + 1, (width - CARD_WIDTH_COLUMNS) // max(1, len(faces) - 1))
    cards = [
        _add_border(
            f"{face.rank:<{CARD_INNER_COLUMNS}}",
            f"{face.suit:<{CARD_INNER_COLUMNS}}",
            f"{face.rank:>{CARD_INNER_COLUMNS}}",
        )
        for face in faces
    ]
    return [
        "".join(f"{line:<{step}}"[:step] for line in lines[:-1]) + "".join(lines[-1:])
        for lines in _transpose_lines(cards)
    ]


class TwoHands:
    """Two hands with captions, side by side if they fit, else one below the other."""

    def __init__(self, *hands: tuple[Sequence[Face], str], is_active: bool = False) -> None:
        self._hands = hands
        self._is_active = is_active

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        half = (options.max_width - HAND_GAP_COLUMNS) // 2
        side_by_side = all(
            CARD_WIDTH_COLUMNS + MIN_VISIBLE_COLUMNS * (len(faces) - 1) <= half for faces, _ in self._hands
        )
        styles = ["bold" if self._is_active else "", ""]
        drawn = [
            Text("\n".join(fan_lines(faces, half if side_by_side else options.max_width)), style, no_wrap=True)
            for (faces, _), style in zip(self._hands, styles, strict=True)
        ]
        captions = [Text(caption, "dim") for _, caption in self._hands]
        if side_by_side:
            grid = Table.grid(padding=(0, HAND_GAP_COLUMNS, 0, 0))
            grid.add_row(*drawn)
            grid.add_row(*captions)
            yield grid
            return
        for (faces, _), hand, caption in zip(self._hands, drawn, captions, strict=True):
            if faces:
                yield hand
            yield caption


def _add_border(*lines: str) -> list[str]:
    side, line = encodable_or("│", "|"), encodable_or("─", "-") * CARD_INNER_COLUMNS
    top, bottom = (encodable_or("╭", "+"), encodable_or("╮", "+")), (encodable_or("╰", "+"), encodable_or("╯", "+"))
    return [f"{top[0]}{line}{top[1]}", *(f"{side}{inside}{side}" for inside in lines), f"{bottom[0]}{line}{bottom[1]}"]


def _transpose_lines(cards: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return for each line of a card the list of all cards' lines; empty lists without cards."""
    return [[lines[at] for lines in cards] for at in range(CARD_HEIGHT_LINES)]
