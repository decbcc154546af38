"""Cards drawn with letters: they need no special font and no colour."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from croupier.core.presentation import CardView
from croupier.tui.encoding import encodable_or, terminal_text

CARD_HEIGHT_LINES: Final = 5
CARD_WIDTH_COLUMNS: Final = 9
CARD_INNER_COLUMNS: Final = CARD_WIDTH_COLUMNS - 2
MIN_VISIBLE_COLUMNS: Final = 3
"""Columns of a card that stay visible when the next card overlaps it."""

SUITS: Final = {
    "H": "♥",
    "D": "♦",
    "S": "♠",
    "C": "♣",
    "o": "oros",
    "c": "copes",
    "e": "espases",
    "b": "bastos",
}
"""What is printed for the suits of French and of Spanish cards."""
RANKS: Final = {"T": "10", "s": "sota", "c": "cavall", "r": "rei"}
"""What is printed for the ranks that are not printed as they are."""


class Print(NamedTuple):
    """What is printed on a card: its rank and its suit, which is empty in a game without suits."""

    rank: str
    suit: str


def card_print(face: str) -> Print:
    """Return what is printed on a card; see `CardView`.

    >>> card_print("TH"), card_print("so"), card_print("K")
    (Print(rank='10', suit='♥'), Print(rank='sota', suit='oros'), Print(rank='K', suit=''))
    """
    if len(face) != 2 or face[1] not in SUITS:
        name = terminal_text(face)[:CARD_INNER_COLUMNS]
        return Print(name.lower() if len(name) > 2 else name, "")
    return Print(RANKS.get(face[0], face[0]), encodable_or(SUITS[face[1]], face[1]))


def card_text(face: str | None) -> str:
    """Return a card as a short text; None is a card face down."""
    if face is None:
        return encodable_or("░", "#")
    rank, suit = card_print(face)
    return f"{rank} {suit}" if len(suit) > 1 else rank + suit


def cards_text(faces: Iterable[str | None]) -> str:
    """Return cards as text. Cards face down stand close to each other.

    >>> cards_text(["AS", "TH"]), cards_text(["7o", "so"])
    ('A♠ 10♥', '7 oros, sota oros')
    """
    texts = [*faces]
    if all(face is None for face in texts):
        return card_text(None) * len(texts)
    has_words = any(face is not None and len(card_print(face).suit) > 1 for face in texts)
    return (", " if has_words else " ").join(map(card_text, texts))


def draw_cards(cards: Sequence[CardView], width: int) -> list[str]:
    """Draw cards in `width` columns. They overlap as far as necessary, and continue in further rows."""
    row = max(1, 1 + (width - CARD_WIDTH_COLUMNS) // MIN_VISIBLE_COLUMNS)
    if len(cards) > row:
        return draw_cards(cards[:row], width) + draw_cards(cards[row:], width)
    step = min(CARD_WIDTH_COLUMNS + 1, (width - CARD_WIDTH_COLUMNS) // max(1, len(cards) - 1))
    covered = len(cards) - 1 if step < CARD_WIDTH_COLUMNS else 0
    drawn = [_draw_card(card.face, is_covered=at < covered) for at, card in enumerate(cards)]
    return [
        "".join(f"{lines[at]:<{step}}"[:step] for lines in drawn[:-1]) + "".join(lines[at] for lines in drawn[-1:])
        for at in range(CARD_HEIGHT_LINES if drawn else 0)
    ]


def _draw_card(face: str | None, *, is_covered: bool) -> list[str]:
    """The lines of a card; one that is covered in part has its rank at the top only, since the other one may be cut."""
    if face is None:
        inside = [encodable_or("░", "#") * CARD_INNER_COLUMNS] * (CARD_HEIGHT_LINES - 2)
    else:
        rank, suit = card_print(face)
        corner = "" if is_covered else rank
        inside = [f"{rank:<{CARD_INNER_COLUMNS}}", f"{suit:<{CARD_INNER_COLUMNS}}", f"{corner:>{CARD_INNER_COLUMNS}}"]
    side, line = encodable_or("│", "|"), encodable_or("─", "-") * CARD_INNER_COLUMNS
    top, bottom = (encodable_or("╭", "+"), encodable_or("╮", "+")), (encodable_or("╰", "+"), encodable_or("╯", "+"))
    return [f"{top[0]}{line}{top[1]}", *(f"{side}{text}{side}" for text in inside), f"{bottom[0]}{line}{bottom[1]}"]
