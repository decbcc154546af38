"""Messages and codec of seven and a half (docs/protocols/sevenhalf.md, section 2).

Commands and cards are a finite set: each has a single encoding, and both directions are look-ups. A NUMBER is binary,
so the parser reads it by its length and never searches its bytes for delimiters.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from croupier.core.codec import printable_bytes
from croupier.core.errors import Violation
from croupier.core.frames import (
    INT32,
    Counted,
    Field,
    Frame,
    FrameCodec,
    FrameMessage,
    FrameTable,
    choice,
)
from croupier.rooms.sevenhalf.rules import CARDS, MAX_TOTAL_BET

MIN_NUMBER, MAX_NUMBER = -(2**31), 2**31 - 1
"""The bounds of a NUMBER."""


class Strt(FrameMessage, frozen=True, gc=False):
    """STRT: the client starts a game (§3.1).

    Example:
        >>> print(Strt())
        STRT
    """


class Draw(FrameMessage, frozen=True, gc=False):
    """DRAW: the client asks for a card (§3.1).

    Example:
        >>> print(Draw())
        DRAW
    """


class Ante(FrameMessage, frozen=True, gc=False):
    """ANTE: the client raises its bet by `coins` (§3.1).

    Example:
        >>> print(Ante(50), Ante(50).coins)
        ANTE 50 50
    """

    coins: int


class Pass(FrameMessage, frozen=True, gc=False):
    """PASS: the client ends its turn, and the bank draws (§3.1).

    Example:
        >>> print(Pass())
        PASS
    """


class Stbt(FrameMessage, frozen=True, gc=False):
    """STBT: the starting bet (§3.2).

    Example:
        >>> Stbt(100).coins
        100
    """

    coins: int


class Card(FrameMessage, frozen=True, gc=False):
    """CARD: the client's next card (§3.2).

    Example:
        >>> print(Card("7o"), Card("7o").card)
        CARD 7o 7o
    """

    card: str


class Bstg(FrameMessage, frozen=True, gc=False):
    """BSTG: the client is over seven and a half (§3.2).

    Example:
        >>> print(Bstg())
        BSTG
    """


class Bksc(FrameMessage, frozen=True, gc=False):
    """BKSC: the bank's cards in the order in which it drew them, and its score as four characters (§3.2).

    Example:
        >>> message = Bksc(("7c", "cc"), "07.5")
        >>> message.cards, message.score
        (('7c', 'cc'), '07.5')
    """

    cards: tuple[str, ...]
    score: str

    def __str__(self) -> str:
        return f"BKSC {len(self.cards)}{''.join(self.cards)} {self.score}"


class Gain(FrameMessage, frozen=True, gc=False):
    """GAIN: the client's net in coins, negative for a loss (§3.2).

    Example:
        >>> print(Gain(-100), Gain(-100).coins)
        GAIN -100 -100
    """

    coins: int


class Erro(FrameMessage, frozen=True, gc=False):
    """ERRO: an error, with a text for people in Latin-1, one byte per character (§3.4).

    Example:
        >>> Erro("out of time").text
        'out of time'
    """

    text: str = ""

    def __str__(self) -> str:
        return f"ERRO {len(self.text):02}{self.text}"


type Message = Strt | Draw | Ante | Pass | Stbt | Card | Bstg | Bksc | Gain | Erro

STRT: Final = Strt()
DRAW: Final = Draw()
PASS: Final = Pass()
BSTG: Final = Bstg()
CARD: Final[Mapping[str, Card]] = {card: Card(card) for card in CARDS}

UNREADABLE: Final = Erro("unreadable; allowed: STRT, DRAW, ANTE, PASS, ERRO")
TIMED_OUT: Final = Erro("out of time")
CLOSING: Final = Erro("the room closes")
FULL: Final = Erro("no seat is free")
NO_COINS: Final = Erro("not enough coins for the starting bet")

VOCABULARY: Final[tuple[Message, ...]] = (
    *(STRT, DRAW, PASS, BSTG),
    *(kind(coins) for kind in (Ante, Stbt, Gain) for coins in (1, 100, 0x0A0D200A, MAX_TOTAL_BET, 0, -100, MIN_NUMBER)),
    *(Gain(coins) for coins in (200, 218959114, MAX_NUMBER)),
    *(CARD[card] for card in ("1o", "7c", "5b", "se", "cc", "rb")),
    *(Bksc((), "00.0"), Bksc(("7c", "cc"), "07.5"), Bksc(("2o",), "02.0"), Bksc(("rb", "4b", "sc", "3c"), "08.0")),
    *(Erro(), Erro("Syntax error"), Erro("STRT"), Erro("\r\n"), UNREADABLE, TIMED_OUT, CLOSING, FULL, NO_COINS),
)
"""Sample messages of every kind."""

MAX_BANK_CARDS: Final = 40
"""The deck has no more cards than these (sevenhalf-2.4)."""

CARD_FIELD: Final = choice(
    {card: card.encode() for card in CARDS}, "one of the forty cards", bytes.lower, "sevenhalf-2.4"
)


def _parse_cards(data: bytes) -> tuple[str, ...] | None:
    cards = [card for at in range(4, len(data), 2) if (card := CARD_FIELD.parse(data[at : at + 2]))]
    return tuple(cards) if 4 + 2 * len(cards) == len(data) else None


def _parse_score(data: bytes) -> str | None:
    return data.decode() if re.fullmatch(rb"[0-9]{2}\.[0-9]", data) else None


BANK_CARDS: Final = Counted(
    count=choice({count: INT32.render(count) for count in range(MAX_BANK_CARDS + 1)}, f"0 to {MAX_BANK_CARDS} cards"),
    item_size=2,
    parse=_parse_cards,
    render=lambda cards: INT32.render(len(cards)) + "".join(cards).encode(),
    allowed="cards of the forty there are",
    clause="sevenhalf-2.4",
)
SCORE: Final = Field(4, _parse_score, str.encode, "a score such as 07.5", name="score", clause="sevenhalf-2.5")
TEXT: Final = Counted(
    count=choice({count: b"%02d" % count for count in range(100)}, "two digits"),
    parse=lambda data: data[2:].decode("latin-1"),
    render=lambda text: f"{len(text):02}{text}".encode("latin-1"),
)

TABLE: Final = FrameTable[Message](
    (
        Frame(Strt),
        Frame(Draw),
        Frame(Ante, INT32),
        Frame(Pass),
        Frame(Stbt, INT32),
        Frame(Card, CARD_FIELD),
        Frame(Bstg),
        Frame(Bksc, BANK_CARDS, SCORE),
        Frame(Gain, INT32),
        Frame(Erro, TEXT),
    ),
    (STRT, DRAW, PASS, BSTG, *CARD.values()),
    [(STRT, DRAW)],  # with which every game starts
    ignores_case=True,
)


class Wire(FrameCodec[Message]):
    """The codec of both ends, which share one vocabulary. See `FrameCodec`."""

    MAX_FRAME_BYTES = 7 + 99
    WHITESPACE_CLAUSE = "sevenhalf-2.8"
    UNREADABLE_CLAUSE = "sevenhalf-2.9"

    __slots__ = ()

    encode = staticmethod(TABLE.__getitem__)
    """Encode a message. This is the look-up itself, to save a call."""

    def __init__(self, *, strict: bool = False) -> None:
        super().__init__(TABLE, strict=strict)

    def _read_invalid(self, frame: Frame[Message], field: Field[Any], data: bytes) -> Violation:
        """The violation, which quotes the bytes after the code and the number of cards (sevenhalf-6.5)."""
        code, quoted = frame.code.decode(), data[9 if frame.kind is Bksc else 5 :]
        return Violation(field.clause, f"{code} {printable_bytes(quoted)}", f"{code} with {field.allowed}", code=code)
