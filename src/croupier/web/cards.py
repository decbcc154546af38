"""Own drawings of the French and the Spanish deck, as SVG sprites.

A sprite has one `<symbol>` for each face of `CardView`, and `back`; a page shows one with `<use href="french.svg#KS">`.
Colours are attributes, because styles of the page do not reach into the symbols of another file.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from croupier.web.card_shapes import FRENCH_SUITS, RANK_STROKES, STAR

WIDTH: Final = 100
FRENCH_HEIGHT: Final = 140
SPANISH_HEIGHT: Final = 154

PAPER: Final = "#fdfcf7"
EDGE: Final = "#cfc8b8"
GOLD: Final = "#e0a93b"
DARK_GOLD: Final = "#8a5a12"
SKIN: Final = "#f4ddc3"
HAIR: Final = "#6e4a2f"
INK: Final = "#2b2622"
WHITE: Final = "#fffefb"
PLUM: Final = "#54307a"

type Points = Mapping[str, Sequence[tuple[float, float]]]

FRENCH_COLOURS: Final = {"S": "#15202b", "H": "#b3192b", "D": "#1c4fa0", "C": "#1f5d3a"}
SPANISH_COLOURS: Final = {"o": DARK_GOLD, "c": "#b3192b", "e": "#1c4fa0", "b": "#1f5d3a"}
FRENCH_RANKS: Final = "A23456789TJQK"
SPANISH_RANKS: Final = "1234567scr"
FRAME_GAPS: Final = {"o": 0, "c": 1, "e": 2, "b": 3}
"""Gaps in the upper and the lower edge of the frame: the suit of a Spanish card, readable where only its edge shows."""

FRENCH_PIPS: Final[Points] = {
    "A": [(50, 70)],
    "2": [(50, 25), (50, 115)],
    "3": [(50, 25), (50, 70), (50, 115)],
    "4": [(34, 25), (66, 25), (34, 115), (66, 115)],
    "5": [(34, 25), (66, 25), (50, 70), (34, 115), (66, 115)],
    "6": [(34, 25), (66, 25), (34, 70), (66, 70), (34, 115), (66, 115)],
    "7": [(34, 25), (66, 25), (50, 47.5), (34, 70), (66, 70), (34, 115), (66, 115)],
    "8": [(34, 25), (66, 25), (50, 47.5), (34, 70), (66, 70), (50, 92.5), (34, 115), (66, 115)],
    "9": [(34, 25), (66, 25), (34, 55), (66, 55), (50, 70), (34, 85), (66, 85), (34, 115), (66, 115)],
    "T": [(34, 25), (66, 25), (50, 40), (34, 55), (66, 55), (34, 85), (66, 85), (50, 100), (34, 115), (66, 115)],
}
SPANISH_PIPS: Final[Points] = {
    "1": [(50, 77)],
    "2": [(50, 44), (50, 110)],
    "3": [(50, 38), (50, 77), (50, 116)],
    "4": [(34, 50), (66, 50), (34, 104), (66, 104)],
    "5": [(34, 46), (66, 46), (50, 77), (34, 108), (66, 108)],
    "6": [(34, 44), (66, 44), (34, 77), (66, 77), (34, 110), (66, 110)],
    "7": [(33, 44), (67, 44), (50, 60.5), (33, 77), (67, 77), (33, 110), (67, 110)],
}


def sprite(deck: str) -> str:
    """Return the SVG file of a deck, `french` or `spanish`. Raises KeyError for another one."""
    symbols = "".join(DECKS[deck]())
    return f'<svg xmlns="http://www.w3.org/2000/svg">{symbols}</svg>'


def french_deck() -> Iterator[str]:
    """Draw the 52 French cards, the ranks of Kuhn poker without a suit, the joker, the back, and the sign of spades."""
    yield f'<symbol id="spade" viewBox="-11 -11 22 22"><path d="{FRENCH_SUITS["S"]}"/></symbol>'
    for suit, colour in FRENCH_COLOURS.items():
        for rank in FRENCH_RANKS:
            if rank in FIGURES:
                face = _french_figure(rank, colour) + _mirrored(_suit(suit, colour, 33.5, 22.5, 0.5), FRENCH_HEIGHT)
            else:
                face = _french_pips(rank, suit, colour)
            corner = _rank(rank, colour, 5.5, 8) + _suit(suit, colour, 14, 43.5, 0.82)
            yield _symbol(rank + suit, FRENCH_HEIGHT, face + _mirrored(corner, FRENCH_HEIGHT))
    for rank in FIGURES:
        corner = _mirrored(_rank(rank, PLUM, 5.5, 8), FRENCH_HEIGHT)
        yield _symbol(rank, FRENCH_HEIGHT, _french_figure(rank, PLUM) + corner)
    yield _symbol("JOKER", FRENCH_HEIGHT, _joker())
    yield _symbol("back", FRENCH_HEIGHT, _back(FRENCH_HEIGHT, "#2c5480"))


def spanish_deck() -> Iterator[str]:
    """Draw the 40 Spanish cards and their back.

    Figures have the letters of the protocol, s, c and r, not 10, 11 and 12: they count half a point.
    """
    for suit, colour in SPANISH_COLOURS.items():
        for rank in SPANISH_RANKS:
            if rank in SPANISH_PIPS:
                face = _spanish_pips(rank, suit)
            else:
                bust = f'<g transform="translate(-4 -1) scale(1.08 1.115)">{SPANISH_FIGURES[rank](colour)}</g>'
                face = _mirrored(bust + _spanish_suit(suit, 79, 30, 0.86), SPANISH_HEIGHT)
            corner = _mirrored(_rank(rank, INK, 11, 13, 0.78), SPANISH_HEIGHT)
            yield _symbol(rank + suit, SPANISH_HEIGHT, _frame(suit) + face + corner)
    yield _symbol("back", SPANISH_HEIGHT, _back(SPANISH_HEIGHT, "#7c3040"))


DECKS: Final[Mapping[str, Callable[[], Iterator[str]]]] = MappingProxyType(
    {"french": french_deck, "spanish": spanish_deck}
)

# Parts of cards.


def _symbol(name: str, height: int, face: str) -> str:
    paper = (
        f'<rect x=".75" y=".75" width="98.5" height="{height - 1.5}" rx="8" '
        f'fill="{PAPER}" stroke="{EDGE}" stroke-width="1.5"/>'
    )
    return f'<symbol id="{name}" viewBox="0 0 {WIDTH} {height}">{paper}{face}</symbol>'


def _mirrored(drawing: str, height: int) -> str:
    """Return a drawing twice, the second time upside down."""
    return f'{drawing}<g transform="rotate(180 {WIDTH // 2} {height / 2:g})">{drawing}</g>'


def _path(data: str, fill: str, stroke: str = "", width: float = 1) -> str:
    edge = f' stroke="{stroke}" stroke-width="{width:g}" stroke-linejoin="round"' if stroke else ""
    return f'<path d="{data}" fill="{fill}"{edge}/>'


def _circle(x: float, y: float, radius: float, fill: str, stroke: str = "") -> str:
    edge = f' stroke="{stroke}"' if stroke else ""
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{fill}"{edge}/>'


def _rank(rank: str, colour: str, x: float, y: float, scale: float = 0.86) -> str:
    return (
        f'<path transform="translate({x:g} {y:g}) scale({scale:g})" d="{RANK_STROKES[rank]}" fill="none" '
        f'stroke="{colour}" stroke-width="4.6" stroke-linecap="round" stroke-linejoin="round"/>'
    )


def _suit(suit: str, colour: str, x: float, y: float, scale: float, *, turned: bool = False) -> str:
    rotation = " rotate(180)" if turned else ""
    transform = f"translate({x:g} {y:g}) scale({scale:g}){rotation}"
    return f'<path transform="{transform}" d="{FRENCH_SUITS[suit]}" fill="{colour}"/>'


def _french_pips(rank: str, suit: str, colour: str) -> str:
    scale = 2.5 if rank == "A" else 0.84
    return "".join(_suit(suit, colour, x, y, scale, turned=y > FRENCH_HEIGHT / 2) for x, y in FRENCH_PIPS[rank])


def _spanish_pips(rank: str, suit: str) -> str:
    scale = {"1": 2.3, "2": 1.3, "6": 0.9, "7": 0.9}.get(rank, 1.1)
    return "".join(_spanish_suit(suit, x, y, scale) for x, y in SPANISH_PIPS[rank])


def _frame(suit: str) -> str:
    """Return the frame of a Spanish card, with the gaps of the suit."""
    left, right, top, gap = 6.5, 93.5, 6.5, 8.0
    gaps = FRAME_GAPS[suit]
    piece = (right - left - gaps * gap) / (gaps + 1)
    edge = "".join(f"M{left + n * (piece + gap):g} {top}h{piece:g}" for n in range(gaps + 1))
    side = f"M{left} {top}V{SPANISH_HEIGHT - top}"
    line = f'<path d="{edge}{side}" fill="none" stroke="{INK}" stroke-width="1.4" stroke-linecap="square"/>'
    return _mirrored(line, SPANISH_HEIGHT)


def _back(height: int, colour: str) -> str:
    """Return a lattice within a border."""
    step = 10.25
    across, down = 8 * step, (height - 16) // step * step
    left, top = (WIDTH - across) / 2, (height - down) / 2
    lines = []
    for n in range(1, round((across + down) / step)):
        along = n * step
        start_x, start_y = left + min(along, across), top + max(0, along - across)
        end_x, end_y = left + max(0, along - down), top + min(along, down)
        lines.append(f"M{start_x:g} {start_y:g}L{end_x:g} {end_y:g}")
        lines.append(f"M{WIDTH - start_x:g} {start_y:g}L{WIDTH - end_x:g} {end_y:g}")
    lattice = f'<path d="{"".join(lines)}" stroke-width="1.3" stroke-opacity=".55"/>'
    border = f'<rect x="{left:g}" y="{top:g}" width="{across:g}" height="{down:g}" stroke-width="1.6"/>'
    return (
        f'<rect x="4.5" y="4.5" width="91" height="{height - 9}" rx="5" fill="{colour}"/>'
        f'<g fill="none" stroke="{PAPER}">{lattice}{border}</g>'
    )


# Busts: the upper half of a figure, in x from 26 to 74 and y from 12 to 70.


def _robe(colour: str) -> str:
    return _path("M26 70v-6c0-8 8-12 17-14h14c9 2 17 6 17 14v6Z", colour)


def _face(y: float = 39.5) -> str:
    eyes = _circle(46.6, y - 1.5, 1.15, INK) + _circle(53.4, y - 1.5, 1.15, INK)
    return f'<ellipse cx="50" cy="{y:g}" rx="8.6" ry="10.4" fill="{SKIN}"/>{eyes}'


def _mouth(y: float, colour: str = "#a8453a") -> str:
    return (
        f'<path d="M47.4 {y:g}q2.6 1.8 5.2 0" fill="none" stroke="{colour}" stroke-width="1.3" stroke-linecap="round"/>'
    )


def _king(colour: str) -> str:
    crown = _path("M39.5 31 37.5 17.5 44.5 23.5 50 14.5 55.5 23.5 62.5 17.5 60.5 31Z", GOLD, DARK_GOLD)
    return (
        _robe(colour)
        + _path("M37 51.5 50 70 63 51.5 56 48H44Z", WHITE)
        + _path("M43.5 50 50 60.5 56.5 50Z", GOLD)
        + _path("M40 31v14h20V31Z", HAIR)
        + _face()
        + _path(
            "M41.4 40.500C41 50 45 56.5 50 56.500S59 50 58.6 40.500C56.5 44 53.5 44 50 44S43.5 44 41.4 40.500Z", HAIR
        )
        + _mouth(47.3, SKIN)
        + crown
        + _circle(44.5, 27.8, 1.3, colour)
        + _circle(50, 27.3, 1.6, colour)
        + _circle(55.5, 27.8, 1.3, colour)
    )


def _queen(colour: str) -> str:
    crown = _path("M40.5 28 38.5 20 44.5 23.5 50 18 55.5 23.5 61.5 20 59.5 28Z", GOLD, DARK_GOLD)
    return (
        _path("M50 23c-9 0-12.5 7-12.5 15 0 7-1 11-3.5 16h32c-2.5-5-3.5-9-3.5-16 0-8-3.5-15-12.5-15Z", "#a5682a")
        + _robe(colour)
        + _path("M42.5 49.5 50 64 57.5 49.500Z", SKIN)
        + _path("M41 50 50 66 59 50", "none", WHITE, 2.6)
        + _face()
        + _path("M41 36c1-6 4-9 9-9s8 3 9 9c-3-1.5-5-3-9-5.5-4 2.5-6 4-9 5.500Z", "#a5682a")
        + _mouth(45)
        + crown
        + "".join(_circle(x, y, 1.5, WHITE, DARK_GOLD) for x, y in ((38.5, 19.5), (50, 17), (61.5, 19.5)))
        + _circle(50, 58, 1.9, GOLD)
    )


def _jack(colour: str) -> str:
    return (
        _path("M39 31c-2.5 6-2.5 12-1 17h24c1.5-5 1.5-11-1-17Z", "#c08a3a")
        + _robe(colour)
        + _path("M40 49 50 61 60 49 64.5 52.5 50 70 35.5 52.500Z", GOLD)
        + _path("M43.5 49 50 56.5 56.5 49Z", WHITE)
        + _face()
        + _mouth(45)
        + _path("M59 26c6-2 9-7 8.5-13C61.5 14.5 58 19 57 25Z", WHITE, DARK_GOLD, 0.9)
        + _path("M37.5 31c-1-8 4-13.5 12.5-13.500S63.5 23 62.5 31Z", colour)
        + _path("M37 28.500h26v4.500H37Z", GOLD, DARK_GOLD, 0.8)
    )


def _horse(colour: str) -> str:
    """Return the head of a horse with its bridle: the Spanish knight."""
    return (
        _path(
            "M30 70c2-9 8-13 11-20 2-5 1-12 4-18 1-3 3-6 6-8l1-8 5 6 4-3 .5 6c6 5 10 12 13 18 1.5 3 .5 7-3 8.5"
            "-4 1.5-8-.5-11-2.5-2.5 1.5-2.5 5-1 8.5 2 4.5 6 8 7 12.500Z",
            "#8b5e3c",
            INK,
            0.9,
        )
        + _path("M51 23c-6 4-9 10-10 17-1 8-6 14-13 19l-1-5c5-4 7-9 8-15 1-9 7-16 16-19Z", INK)
        + _circle(59, 33, 1.7, INK)
        + _circle(71, 45.5, 1.1, INK)
        + _path("M64 49.500c-2-4-2-9 1-13M63.5 36.500c-5-1-11-1-17 1M64 43c-6 4-11 9-15 16", "none", GOLD, 2.2)
        + _path("M30 70c3-8 10-11 19-11 8 0 14 4 17.5 11Z", colour)
        + _path("M31.5 67c4-5 10-7 17.5-7 7 0 12 2.5 15.5 7", "none", GOLD, 2)
    )


FIGURES: Final = {"J": _jack, "Q": _queen, "K": _king}
SPANISH_FIGURES: Final = {"s": _jack, "c": _horse, "r": _king}


def _french_figure(rank: str, colour: str) -> str:
    bust = _mirrored(FIGURES[rank](colour), FRENCH_HEIGHT)
    return (
        f'<rect x="26" y="11.5" width="48" height="117" rx="3" fill="{colour}" fill-opacity=".06"/>{bust}'
        f'<path d="M26 70h48" stroke="{PAPER}" stroke-width="1.6"/>'
        f'<rect x="26" y="11.5" width="48" height="117" rx="3" fill="none" stroke="{colour}" stroke-width="1.2"/>'
    )


def _joker() -> str:
    """Return a jester with a cap of three points."""
    bust = (
        _robe(PLUM)
        + _path("M36 52 43 62 46.5 54 50 65 53.5 54 57 62 64 52 56 48H44Z", GOLD, DARK_GOLD, 0.8)
        + _face(41)
        + _path("M45.2 45.500q4.8 5 9.6 0", "none", "#a8453a", 1.5)
        + _path("M40 34C34 30 28 34 27.5 42 23 28 32 19 42 25Z", PLUM, INK, 0.7)
        + _path("M60 34c6-4 12 0 12.5 8C77 28 68 19 58 25Z", "#b3192b", INK, 0.7)
        + _path("M40.5 33.500C40 24 44 19 50 13c6 6 10 11 9.5 20.500Z", GOLD, DARK_GOLD, 0.8)
        + _circle(28, 43, 2.4, GOLD, DARK_GOLD)
        + _circle(72, 43, 2.4, GOLD, DARK_GOLD)
        + _circle(50, 13.5, 2.4, GOLD, DARK_GOLD)
    )
    star = f'<path transform="translate(15 19) scale(1)" d="{STAR}" fill="{PLUM}"/>'
    return (
        _mirrored(star, FRENCH_HEIGHT)
        + f'<g transform="translate(-25 8) scale(1.5)">{bust}</g>'
        + f'<path d="M14 113h72" stroke="{GOLD}" stroke-width="2"/>'
    )


# Spanish suits, around the point 0, 0.


def _spanish_suit(suit: str, x: float, y: float, scale: float) -> str:
    return f'<g transform="translate({x:g} {y:g}) scale({scale:g})">{SPANISH_SUITS[suit]}</g>'


SPANISH_SUITS: Final = {
    "o": _circle(0, 0, 11.5, GOLD, DARK_GOLD)
    + _circle(0, 0, 8, "none", DARK_GOLD)
    + _path("M0-6 1.8-1.8 6 0 1.8 1.8 0 6-1.8 1.8-6 0-1.8-1.800Z", "#b3192b"),
    "c": _path(
        "M-10-13h20C10-4 7 1 2.2 2.500V8H7.500v4.500h-15V8h5.300V2.500C-7 1-10-4-10-13Z", "#c42a3a", "#7d1220", 1
    )
    + _path("M-9.8-9.500h19.600l-.5 4h-18.600Z", GOLD)
    + _path("M-2.2 4.500h4.4", "none", GOLD, 1.8),
    "e": _path("M0-16.5 2.8-12V5.500h-5.600V-12Z", "#8fb4de", "#1c4fa0", 1)
    + _path("M0-13V5", "none", "#1c4fa0", 0.9)
    + _path("M-8 5.500h16v3H-8Z", GOLD, DARK_GOLD, 0.7)
    + _path("M-1.5 8.500h3V14h-3Z", "#b3192b")
    + _circle(0, 15, 2, GOLD, DARK_GOLD),
    "b": _path("M-3 7.5-8.5 3M3-1.5 8.5-7M-3.5-3-7.5-7.5", "none", "#1f5d3a", 4.4)
    + _path("M-2.6 16-5.6-12h11.200L2.6 16Z", "#4c9a5c", "#1f5d3a", 1)
    + '<ellipse cx="0" cy="-12.5" rx="5.6" ry="3" fill="#cfe3b4" stroke="#1f5d3a"/>',
}
