"""Cards for the terminal, in letters, so that no font and no colour is needed to tell them apart."""

import sys
from collections.abc import Sequence
from typing import Final, NamedTuple

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

HEIGHT: Final = 5
WIDTH: Final = 9
INSIDE: Final = WIDTH - 2
SHOWN: Final = 3
"""So many columns of a card have to be seen beneath the next one."""
GAP: Final = 4
"""Columns between two hands."""

SPANISH: Final = {**{rank: rank for rank in "1234567"}, "s": "sota", "c": "cavall", "r": "rei"}
SPANISH_SUITS: Final = {"o": "oros", "c": "copes", "e": "espases", "b": "bastos"}
FRENCH: Final = {**{rank: rank for rank in "23456789"}, "A": "ace", "T": "10", "J": "jack", "Q": "queen", "K": "king"}
FRENCH_SUITS: Final = {"H": ("♥", "hearts"), "D": ("♦", "diamonds"), "S": ("♠", "spades"), "C": ("♣", "clubs")}


def either(text: str, plain: str) -> str:
    """A text, or a plainer one where the terminal cannot show it."""
    try:
        text.encode(getattr(sys.__stdout__, "encoding", "ascii"))  # sys.stdout is a proxy of Live, which knows of none
    except UnicodeEncodeError:
        return plain
    return text


class Face(NamedTuple):
    """What is printed on a card, and how people call it."""

    rank: str
    suit: str
    name: str


def spanish(card: str) -> Face:
    """A Spanish card, by its two letters in seven and a half."""
    rank, suit = SPANISH[card[0]], SPANISH_SUITS[card[1]]
    return Face(rank, suit, f"the {rank} of {suit}")


def french(card: str) -> Face:
    """A French card, by its two letters in blackjack."""
    symbol, suit = FRENCH_SUITS[card[1]]
    rank = "10" if card[0] == "T" else card[0]
    return Face(rank, either(symbol, card[1]), f"the {FRENCH[card[0]]} of {suit}")


def card(rank: str | None, *, lively: bool = False) -> Text:
    """One card without a suit, face up, or face down when `rank` is None; `lively` when it matters now."""
    if rank is None:
        lines = _framed(*[either("░", "#") * INSIDE] * (HEIGHT - 2))
    else:
        lines = _framed(f" {rank:<2}    ", f"   {rank:<2}  ", f"    {rank:>2} ")
    return Text("\n".join(lines), style="bold" if lively else "dim" if rank is None else "")


def fan(faces: Sequence[Face], width: int) -> list[str]:
    """Cards in so many columns: they overlap as far as they have to, and take more rows when that is not enough."""
    row = max(1, 1 + (width - WIDTH) // SHOWN)
    if len(faces) > row:
        return fan(faces[:row], width) + fan(faces[row:], width)
    step = min(WIDTH + 1, (width - WIDTH) // max(1, len(faces) - 1))
    cards = [_framed(f"{face.rank:<{INSIDE}}", f"{face.suit:<{INSIDE}}", f"{face.rank:>{INSIDE}}") for face in faces]
    return ["".join(f"{line:<{step}}"[:step] for line in lines[:-1]) + "".join(lines[-1:]) for lines in _across(cards)]


class Hands:
    """Two hands and what is said of each: beside each other where there is room for them, else below each other."""

    def __init__(self, *hands: tuple[Sequence[Face], str], lively: bool = False) -> None:
        self._hands = hands
        self._lively = lively

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        half = (options.max_width - GAP) // 2
        beside = all(WIDTH + SHOWN * (len(faces) - 1) <= half for faces, _ in self._hands)
        styles = ["bold" if self._lively else "", ""]
        drawn = [
            Text("\n".join(fan(faces, half if beside else options.max_width)), style, no_wrap=True)
            for (faces, _), style in zip(self._hands, styles, strict=True)
        ]
        told = [Text(said, "dim") for _, said in self._hands]
        if beside:
            grid = Table.grid(padding=(0, GAP, 0, 0))
            grid.add_row(*drawn)
            grid.add_row(*told)
            yield grid
            return
        for (faces, _), hand, said in zip(self._hands, drawn, told, strict=True):
            if faces:
                yield hand
            yield said


def _framed(*lines: str) -> list[str]:
    """The lines of a card with its edge around them."""
    side, line = either("│", "|"), either("─", "-") * INSIDE
    top, bottom = (either("╭", "+"), either("╮", "+")), (either("╰", "+"), either("╯", "+"))
    return [f"{top[0]}{line}{top[1]}", *(f"{side}{inside}{side}" for inside in lines), f"{bottom[0]}{line}{bottom[1]}"]


def _across(cards: Sequence[Sequence[str]]) -> list[list[str]]:
    """The first lines of all cards, then the second ones, and so on; without cards as many empty ones."""
    return [[lines[at] for lines in cards] for at in range(HEIGHT)]
