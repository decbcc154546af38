"""Messages and codec of blackjack (docs/protocols/blackjack.md, section 2).

Messages without an amount are a finite set: each is a single object with a single encoding, and both directions are
look-ups. Amounts are binary; the parser takes the length of a frame from its header and never searches for delimiters.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from struct import Struct as Layout
from typing import Any, Final, Literal

from msgspec import Struct
from msgspec.structs import astuple

from croupier.core.bank import BankState
from croupier.core.codec import ParseResult, StreamCodec, printable_bytes
from croupier.core.errors import Violation
from croupier.rooms.blackjack.rules import CARDS, HIT, MAX_BET, MAX_INT32, RANKS, STAND, SUITS

type Dialect = Literal["document", "char8"]
type TenSpelling = Literal["T", "X", "10", "digits"]
type Owner = Literal["C", "S"]
type RoundResult = Literal["W", "L"]


class BlackjackMessage(Struct, frozen=True, gc=False):
    """A message; as text, its header and its fields."""

    def __str__(self) -> str:
        return " ".join([type(self).__name__.upper(), *map(str, astuple(self))])


class Ply(BlackjackMessage, frozen=True, gc=False):
    """PLY: the client begins a round (§2)."""


class Bet(BlackjackMessage, frozen=True, gc=False):
    """BET: the client's bet on this round (§2)."""

    coins: int


class Mov(BlackjackMessage, frozen=True, gc=False):
    """MOV: the client hits (H) or stands (S) (§2)."""

    move: str


class Srd(BlackjackMessage, frozen=True, gc=False):
    """SRD: the client surrenders (§2)."""


class Stp(BlackjackMessage, frozen=True, gc=False):
    """STP: the sender ends the conversation (§2)."""


class Mon(BlackjackMessage, frozen=True, gc=False):
    """MON: the client's balance (§2)."""

    coins: int


class Crd(BlackjackMessage, frozen=True, gc=False):
    """CRD: a card for the client (C) or the bank (S); the ten is always T here, however the wire writes it (§2)."""

    owner: Owner
    card: str


class Trn(BlackjackMessage, frozen=True, gc=False):
    """TRN: the client has to decide (§2)."""


class Res(BlackjackMessage, frozen=True, gc=False):
    """RES: the client has won (W) or lost (L); `coins` are paid back (§2)."""

    result: RoundResult
    coins: int


class Err(BlackjackMessage, frozen=True, gc=False):
    """ERR: an error; 300 announces that the house closes (§2)."""

    number: int


type Message = Ply | Bet | Mov | Srd | Stp | Mon | Crd | Trn | Res | Err

PLY: Final = Ply()
SRD: Final = Srd()
STP: Final = Stp()
TRN: Final = Trn()
MOV: Final[Mapping[str, Mov]] = {move: Mov(move) for move in (HIT, STAND)}
CRD: Final[Mapping[Owner, Mapping[str, Crd]]] = {
    "C": {card: Crd("C", card) for card in CARDS},
    "S": {card: Crd("S", card) for card in CARDS},
}
LEAVING: Final = Err(300)
NO_COINS: Final = Err(400)
INVALID: Final = Err(500)
UNEXPECTED: Final = Err(501)
UNKNOWN: Final = Err(502)

GOODBYE: Final = (LEAVING, STP)
"""What a house sends before every close that the client has not requested (blackjack-8.2)."""

LISTED_MESSAGES: Final[tuple[Message, ...]] = (
    PLY,
    SRD,
    STP,
    TRN,
    *MOV.values(),
    *(card for owner in CRD.values() for card in owner.values()),
    LEAVING,
    NO_COINS,
    INVALID,
    UNEXPECTED,
    UNKNOWN,
)
"""All messages without an amount, with the five numbers of ERR."""

VOCABULARY: Final[tuple[Message, ...]] = (
    *(message for message in LISTED_MESSAGES if not isinstance(message, Crd)),
    *(CRD["C"][card] for card in ("8S", "TD", "AH", "KC")),
    *(CRD["S"][card] for card in ("TC", "2S", "JD")),
    *(Bet(coins) for coins in (1, 10, 300, 1000, 5262425, 0x0D0A0D0A, MAX_BET, MAX_INT32, 0, -5, -MAX_INT32 - 1)),
    *(Mon(coins) for coins in (0, 1000, 5262425, 0x0D0A0D0A, MAX_INT32, -1)),
    *(Res("W", coins) for coins in (600, 20, 0x00504C59, 2 * MAX_BET)),
    *(Res("L", coins) for coins in (0, 5, 0x0D0A0D0A)),
)
"""Sample messages of every kind, some with amounts whose bytes look like frames or line ends."""


def result_message(state: BankState) -> Res:
    """The RES message for the end of a round, with the coins paid back (blackjack-5)."""
    net = state.bet * state.node.payoff_half_bets // 2
    return Res("W" if net > 0 else "L", state.bet + net)


FIELD_COUNTS: Final[Mapping[bytes, tuple[int, int]]] = {
    b"PLY": (0, 0),
    b"BET": (0, 1),
    b"MOV": (1, 0),
    b"SRD": (0, 0),
    b"STP": (0, 0),
    b"MON": (0, 1),
    b"CRD": (3, 0),
    b"TRN": (0, 0),
    b"RES": (1, 1),
    b"ERR": (0, 1),
}
"""The number of char16 fields and of int32 fields of each header (blackjack-2.2)."""

TEN_SPELLINGS: Final[Mapping[Dialect, Mapping[TenSpelling, bytes]]] = {
    "document": {"T": b"\0T", "X": b"\0X", "10": b"\0\n", "digits": b"10"},
    "char8": {"T": b"T", "X": b"X", "10": b"\n"},
}
"""The ways to write the ten, by dialect (blackjack-2.7, blackjack-2.8)."""

INT32: Final = Layout(">i")

type CharacterEncoding = Mapping[str, bytes]
"""The bytes of each character in a field."""

RENDERERS: Final[Mapping[type, Callable[[Any, CharacterEncoding], bytes]]] = {
    Ply: lambda _, __: b"PLY",
    Bet: lambda message, _: b"BET" + INT32.pack(message.coins),
    Mov: lambda message, letters: b"MOV" + letters[message.move],
    Srd: lambda _, __: b"SRD",
    Stp: lambda _, __: b"STP",
    Mon: lambda message, _: b"MON" + INT32.pack(message.coins),
    Crd: lambda message, letters: b"CRD" + b"".join(letters[letter] for letter in message.owner + message.card),
    Trn: lambda _, __: b"TRN",
    Res: lambda message, letters: b"RES" + letters[message.result] + INT32.pack(message.coins),
    Err: lambda message, _: b"ERR" + INT32.pack(message.number),
}


MAX_CACHED_FRAMES: Final = 2048
"""The most frames that a cache keeps; later amounts are encoded each time."""


class FrameCache(dict[Message, bytes]):
    """The frame of each message. Listed messages are always cached, others up to `MAX_CACHED_FRAMES`."""

    def __init__(self, dialect: Dialect, ten: TenSpelling = "T") -> None:
        width = len(TEN_SPELLINGS[dialect]["T"])
        self._letters = {letter: ord(letter).to_bytes(width) for letter in RANKS + SUITS + "CSHWL"}
        self._letters["T"] = TEN_SPELLINGS[dialect][ten]
        super().__init__({message: self[message] for message in LISTED_MESSAGES})

    def __missing__(self, message: Message) -> bytes:
        frame = RENDERERS[type(message)](message, self._letters)
        if len(self) < MAX_CACHED_FRAMES:
            self[message] = frame
        return frame


class ParseTables(Struct, frozen=True):
    """The look-up tables for parsing a dialect.

    `lengths` has the frame length by header in bytes, `canonical` the messages of listed frames, `tens` the messages of
    frames that write the ten in another way, and `results` the result field of RES.
    """

    lengths: Mapping[bytes, int]
    canonical: Mapping[bytes, tuple[Message]]
    tens: Mapping[bytes, Message]
    results: Mapping[bytes, RoundResult]


frame_cache: Final = cache(FrameCache)


@cache
def parse_tables(dialect: Dialect) -> ParseTables:
    """Build the parse tables of a dialect."""
    width = len(TEN_SPELLINGS[dialect]["T"])
    return ParseTables(
        {header: 3 + chars * width + ints * 4 for header, (chars, ints) in FIELD_COUNTS.items()},
        {frame: (message,) for message, frame in frame_cache(dialect).items()},
        {
            frame_cache(dialect, ten)[message]: message
            for ten in TEN_SPELLINGS[dialect]
            if ten != "T"
            for message in LISTED_MESSAGES
            if isinstance(message, Crd) and message.card[0] == "T"
        },
        {frame_cache(dialect)[Res(kind, 0)][3:-4]: kind for kind in ("W", "L")},
    )


INVALID_FIELD_CLAUSES: Final[Mapping[bytes, tuple[str, str]]] = {
    b"MOV": ("blackjack-2.11", "MOV with H or S"),
    b"CRD": ("blackjack-2.9", "CRD with C or S, a rank of A23456789TJQK and a suit of HDSC"),
    b"RES": ("blackjack-2.9", "RES with W or L"),
    b"ERR": ("blackjack-2.12", "ERR with 300, 400, 500, 501 or 502"),
}
"""The clause that a frame with an invalid field breaks, and the allowed values, by header."""


class Wire(StreamCodec[Message]):
    """The codec of both ends, which share one vocabulary. See `StreamCodec`."""

    MAX_FRAME_BYTES = 9

    __slots__ = ("_tables", "encode")

    encode: Callable[[Message], bytes]
    """Encode a message. This is the look-up itself, to save a call."""

    def __init__(self, *, strict: bool = False, dialect: Dialect = "document", ten: TenSpelling = "T") -> None:
        self.encode = frame_cache(dialect, ten).__getitem__
        self._tables = parse_tables(dialect)
        super().__init__(self._tables.canonical, strict=strict)

    def feed(self, data: bytes) -> Sequence[Message | Violation]:
        """As in `StreamCodec`, with a fast path for BET alone and after PLY, which are just as frequent."""
        if not self._buffer:
            messages = self._canonical.get(data)
            if messages is not None:
                return messages
            if len(data) == 7 and data[:3] == b"BET":
                return (Bet(INT32.unpack_from(data, 3)[0]),)
            if len(data) == 10 and data[:6] == b"PLYBET":
                return (PLY, Bet(INT32.unpack_from(data, 6)[0]))
        return self._parse_messages(self._buffer + data)

    def _read(self, data: bytes) -> ParseResult[Message]:
        header = data[:3]
        if len(header) < 3:
            return None, 0
        length = self._tables.lengths.get(header)
        if length is None:
            headers = ", ".join(known.decode() for known in FIELD_COUNTS)
            return Violation("blackjack-2.10", printable_bytes(header), f"one of the headers {headers}", fatal=True), 3
        frame = data[:length]
        if len(frame) < length:
            return None, 0
        messages = self._canonical.get(frame)
        return messages[0] if messages else self._read_unlisted(header, frame), length

    def _read_unlisted(self, header: bytes, frame: bytes) -> Message | Violation:
        """Parse a frame that is not one of the listed messages."""
        if header == b"BET":
            return Bet(INT32.unpack_from(frame, 3)[0])
        if header == b"MON":
            return Mon(INT32.unpack_from(frame, 3)[0])
        if header == b"RES" and (kind := self._tables.results.get(frame[3:-4])):
            return Res(kind, INT32.unpack(frame[-4:])[0])
        if header == b"CRD" and (card := self._tables.tens.get(frame)):
            if self._strict:
                return Violation("blackjack-2.7", printable_bytes(frame), "the ten as T")
            self.tolerated |= {"blackjack-2.7"}
            return card
        clause, allowed = INVALID_FIELD_CLAUSES[header]
        return Violation(clause, printable_bytes(frame), allowed)
