"""Messages and codec of seven and a half (docs/protocols/sevenhalf.md, section 2).

Commands and cards are a finite set: each is a single object with a single encoding, and both directions are look-ups. A
NUMBER is binary, so the parser reads it by its length and never searches its bytes for delimiters.
"""

from collections.abc import Callable, Mapping, Sequence
from struct import Struct as Layout
from typing import Final

from msgspec import Struct

from croupier.core.codec import ParseResult, StreamCodec, printable_bytes
from croupier.core.errors import Violation
from croupier.rooms.sevenhalf.rules import CARDS, MAX_TOTAL_BET

MIN_NUMBER, MAX_NUMBER = -(2**31), 2**31 - 1
"""The bounds of a NUMBER."""


class Strt(Struct, frozen=True, gc=False):
    """STRT: the client starts a game (§3.1)."""

    def __str__(self) -> str:
        return "STRT"


class Draw(Struct, frozen=True, gc=False):
    """DRAW: the client asks for a card (§3.1)."""

    def __str__(self) -> str:
        return "DRAW"


class Ante(Struct, frozen=True, gc=False):
    """ANTE: the client raises its bet by `coins` (§3.1)."""

    coins: int

    def __str__(self) -> str:
        return f"ANTE {self.coins}"


class Pass(Struct, frozen=True, gc=False):
    """PASS: the client ends its turn, and the bank draws (§3.1)."""

    def __str__(self) -> str:
        return "PASS"


class Stbt(Struct, frozen=True, gc=False):
    """STBT: the starting bet (§3.2)."""

    coins: int

    def __str__(self) -> str:
        return f"STBT {self.coins}"


class Card(Struct, frozen=True, gc=False):
    """CARD: the client's next card (§3.2)."""

    card: str

    def __str__(self) -> str:
        return f"CARD {self.card}"


class Bstg(Struct, frozen=True, gc=False):
    """BSTG: the client is over seven and a half (§3.2)."""

    def __str__(self) -> str:
        return "BSTG"


class Bksc(Struct, frozen=True, gc=False):
    """BKSC: the bank's cards in the order in which it drew them, and its score as four characters (§3.2)."""

    cards: tuple[str, ...]
    score: str

    def __str__(self) -> str:
        return f"BKSC {len(self.cards)}{''.join(self.cards)} {self.score}"


class Gain(Struct, frozen=True, gc=False):
    """GAIN: the client's net in coins, negative for a loss (§3.2)."""

    coins: int

    def __str__(self) -> str:
        return f"GAIN {self.coins}"


class Erro(Struct, frozen=True, gc=False):
    """ERRO: an error, with a text for people in Latin-1, one byte per character (§3.4)."""

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

LISTED_MESSAGES: Final[Sequence[Message]] = (STRT, DRAW, PASS, BSTG, *CARD.values())
MESSAGE_BY_FRAME: Final[Mapping[bytes, Message]] = {str(message).encode(): message for message in LISTED_MESSAGES}
CANONICAL: Final[Mapping[bytes, tuple[Message, ...]]] = {
    **{frame: (message,) for frame, message in MESSAGE_BY_FRAME.items()},
    b"STRTDRAW": (STRT, DRAW),
}
"""Fast path: reads that are exactly one listed message, or STRT and DRAW, with which every game starts."""

NUMBER_MESSAGES: Final[Mapping[bytes, Callable[[int], Message]]] = {b"STBT": Stbt, b"ANTE": Ante, b"GAIN": Gain}
BARE_CODES: Final = frozenset({b"STRT", b"DRAW", b"PASS", b"BSTG"})
CODES: Final = ("STRT", "DRAW", "ANTE", "PASS", "STBT", "CARD", "BSTG", "BKSC", "GAIN", "ERRO")
MAX_BANK_CARDS: Final = 40
"""The deck has no more cards than these (sevenhalf-2.4)."""

VOCABULARY: Final[tuple[Message, ...]] = (
    *(STRT, DRAW, PASS, BSTG),
    *(kind(coins) for kind in (Ante, Stbt, Gain) for coins in (1, 100, 0x0A0D200A, MAX_TOTAL_BET, 0, -100, MIN_NUMBER)),
    *(Gain(coins) for coins in (200, 218959114, MAX_NUMBER)),
    *(CARD[card] for card in ("1o", "7c", "5b", "se", "cc", "rb")),
    *(Bksc((), "00.0"), Bksc(("7c", "cc"), "07.5"), Bksc(("2o",), "02.0"), Bksc(("rb", "4b", "sc", "3c"), "08.0")),
    *(Erro(), Erro("Syntax error"), Erro("STRT"), Erro("\r\n"), UNREADABLE, TIMED_OUT, CLOSING, FULL, NO_COINS),
)
"""Sample messages of every kind."""

INT32: Final = Layout(">i")


def _render_bksc(message: Bksc) -> bytes:
    return b"BKSC " + INT32.pack(len(message.cards)) + f"{''.join(message.cards)} {message.score}".encode()


RENDERERS: Final[Mapping[type, Callable[..., bytes]]] = {
    Stbt: lambda message: b"STBT " + INT32.pack(message.coins),
    Ante: lambda message: b"ANTE " + INT32.pack(message.coins),
    Gain: lambda message: b"GAIN " + INT32.pack(message.coins),
    Bksc: _render_bksc,
    Erro: lambda message: str(message).encode("latin-1"),
}


MAX_CACHED_FRAMES: Final = 2048
"""The most frames that the cache keeps; later amounts are encoded each time."""


class FrameCache(dict[Message, bytes]):
    """The frame of each message. Listed messages are always cached, STBT and GAIN up to `MAX_CACHED_FRAMES`."""

    def __missing__(self, message: Message) -> bytes:
        frame = RENDERERS[type(message)](message)
        if len(self) < MAX_CACHED_FRAMES and type(message) in {Stbt, Gain}:
            self[message] = frame
        return frame


FRAME_BY_MESSAGE: Final = FrameCache({message: frame for frame, message in MESSAGE_BY_FRAME.items()})


class Wire(StreamCodec[Message]):
    """The codec of both ends, which share one vocabulary. See `StreamCodec`."""

    MAX_FRAME_BYTES = 7 + 99
    WHITESPACE_CLAUSE = "sevenhalf-2.8"

    __slots__ = ()

    encode = staticmethod(FRAME_BY_MESSAGE.__getitem__)
    """Encode a message. This is the look-up itself, to save a call."""

    def __init__(self, *, strict: bool = False) -> None:
        super().__init__(CANONICAL, strict=strict)

    def _read(self, data: bytes) -> ParseResult[Message]:
        code = data[:4].upper()
        if len(code) < 4:
            return None, 0
        if code in BARE_CODES:
            return MESSAGE_BY_FRAME[code], 4
        reader = READERS.get(code)
        if reader is None:
            return _unreadable(data[:4], f"one of the codes {', '.join(CODES)}")
        if data[4:5] not in {b"", b" "}:
            return _unreadable(data[:5], f"one space after {code.decode()}")
        return reader(data, code)


def _read_number(data: bytes, code: bytes) -> ParseResult[Message]:
    if len(data) < 9:
        return None, 0
    return NUMBER_MESSAGES[code](INT32.unpack_from(data, 5)[0]), 9


def _read_card(data: bytes, code: bytes) -> ParseResult[Message]:
    if len(data) < 7:
        return None, 0
    message = CARD.get(_decode_cards(data[5:7]))
    if message is None:
        return _invalid_argument(data[:7], code, 5, "one of the forty cards")
    return message, 7


def _read_bksc(data: bytes, code: bytes) -> ParseResult[Message]:
    if len(data) < 9:
        return None, 0
    count = INT32.unpack_from(data, 5)[0]
    if not 0 <= count <= MAX_BANK_CARDS:
        return _unreadable(data[:9], f"{code.decode()} with 0 to {MAX_BANK_CARDS} cards")
    end = 9 + 2 * count
    if data[end : end + 1] not in {b"", b" "}:
        return _unreadable(data[: end + 1], "one space before the score")
    if len(data) < end + 5:
        return None, 0
    cards = tuple(_decode_cards(data[at : at + 2]) for at in range(9, end, 2))
    if not all(card in CARD for card in cards):
        return _invalid_argument(data[: end + 5], code, 9, "cards of the forty there are")
    score = data[end + 1 : end + 5]
    if score[2:3] != b"." or not (score[:2] + score[3:]).isdigit():
        return _invalid_argument(data[: end + 5], code, 9, "a score such as 07.5")
    return Bksc(cards, score.decode()), end + 5


def _read_erro(data: bytes, code: bytes) -> ParseResult[Message]:
    digits = data[5:7]
    if len(digits) < 2:
        return None, 0
    if not digits.isdigit():
        return _unreadable(data[:7], f"{code.decode()} with two digits")
    end = 7 + int(digits)
    return (None, 0) if len(data) < end else (Erro(data[7:end].decode("latin-1")), end)


READERS: Final[Mapping[bytes, Callable[[bytes, bytes], ParseResult[Message]]]] = {
    **dict.fromkeys(NUMBER_MESSAGES, _read_number),
    b"CARD": _read_card,
    b"BKSC": _read_bksc,
    b"ERRO": _read_erro,
}


def _decode_cards(data: bytes) -> str:
    return data.decode("latin-1").lower()


def _invalid_argument(data: bytes, code: bytes, at: int, allowed: str) -> ParseResult[Message]:
    """A message of the house with an invalid argument; its length is known, so parsing goes on (sevenhalf-6.5)."""
    name = code.decode()
    return Violation("sevenhalf-2.9", f"{name} {printable_bytes(data[at:])}", f"{name} with {allowed}"), len(data)


def _unreadable(data: bytes, allowed: str) -> ParseResult[Message]:
    """Input of unknown length, after which the next message cannot be found."""
    return Violation("sevenhalf-2.9", printable_bytes(data), allowed, fatal=True), len(data)
