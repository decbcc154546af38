"""Messages and codec of blackjack (docs/protocols/blackjack.md, section 2).

Messages without an amount are a finite set: each has a single encoding, and both directions are look-ups. Amounts are
binary; the parser takes the length of a frame from its header and never searches for delimiters.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any, Final, Literal

from croupier.core.bank import BankState
from croupier.core.errors import Violation
from croupier.core.frames import (
    BIG_ENDIAN_INT32,
    INT32,
    Field,
    Frame,
    FrameCodec,
    FrameMessage,
    FrameTable,
    choice,
)
from croupier.rooms.blackjack.rules import CARDS, HIT, MAX_BET, MAX_INT32, RANKS, STAND, SUITS

type Dialect = Literal["document", "char8"]
type TenSpelling = Literal["T", "X", "10", "digits"]
type Owner = Literal["C", "S"]
type RoundResult = Literal["W", "L"]


class Ply(FrameMessage, frozen=True, gc=False):
    """PLY: the client begins a round (§2).

    Example:
        >>> print(Ply())
        PLY
    """


class Bet(FrameMessage, frozen=True, gc=False):
    """BET: the client's bet on this round (§2).

    Example:
        >>> print(Bet(10), Bet(10).coins)
        BET 10 10
    """

    coins: int


class Mov(FrameMessage, frozen=True, gc=False):
    """MOV: the client hits (H) or stands (S) (§2).

    Example:
        >>> print(Mov("H"), Mov("H").move)
        MOV H H
    """

    move: str


class Srd(FrameMessage, frozen=True, gc=False):
    """SRD: the client surrenders (§2).

    Example:
        >>> print(Srd())
        SRD
    """


class Stp(FrameMessage, frozen=True, gc=False):
    """STP: the sender ends the conversation (§2).

    Example:
        >>> print(Stp())
        STP
    """


class Mon(FrameMessage, frozen=True, gc=False):
    """MON: the client's balance (§2).

    Example:
        >>> Mon(1000).coins
        1000
    """

    coins: int


class Crd(FrameMessage, frozen=True, gc=False):
    """CRD: a card for the client (C) or the bank (S); the ten is `T`, in every spelling on the wire (§2).

    Example:
        >>> Crd("C", "8S").owner, Crd("C", "8S").card
        ('C', '8S')
    """

    owner: Owner
    card: str


class Trn(FrameMessage, frozen=True, gc=False):
    """TRN: the client has to decide (§2).

    Example:
        >>> print(Trn())
        TRN
    """


class Res(FrameMessage, frozen=True, gc=False):
    """RES: the client has won (W) or lost (L); `coins` are paid back (§2).

    Example:
        >>> Res("W", 20).result, Res("W", 20).coins
        ('W', 20)
    """

    result: RoundResult
    coins: int


class Err(FrameMessage, frozen=True, gc=False):
    """ERR: an error; 300 announces that the house closes (§2).

    Example:
        >>> Err(400).number
        400
    """

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
ERRORS: Final = (LEAVING, NO_COINS, INVALID, UNEXPECTED, UNKNOWN)

GOODBYE: Final = (LEAVING, STP)
"""What a house sends before every close that the client has not requested (blackjack-8.2)."""

LISTED_MESSAGES: Final[tuple[Message, ...]] = (
    PLY,
    SRD,
    STP,
    TRN,
    *MOV.values(),
    *(card for owner in CRD.values() for card in owner.values()),
    *ERRORS,
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
    net = state.node.net(state.bet)
    return Res("W" if net > 0 else "L", state.bet + net)


TEN_SPELLINGS: Final[Mapping[Dialect, Mapping[TenSpelling, bytes]]] = {
    "document": {"T": b"\0T", "X": b"\0X", "10": b"\0\n", "digits": b"10"},
    "char8": {"T": b"T", "X": b"X", "10": b"\n"},
}
"""The ways to write the ten, by dialect (blackjack-2.7, blackjack-2.8)."""


@cache
def frame_table(dialect: Dialect, ten: TenSpelling = "T") -> FrameTable[Message]:
    """The frames of a dialect in which the ten is written like this."""
    width = len(TEN_SPELLINGS[dialect]["T"])
    bytes_by_letter = {letter: ord(letter).to_bytes(width) for letter in RANKS + SUITS + "CSHWL"}
    bytes_by_letter["T"] = TEN_SPELLINGS[dialect][ten]

    def letters(texts: Iterable[str], allowed: str, clause: str = "blackjack-2.9") -> Field[str]:
        values = {text: b"".join(bytes_by_letter[letter] for letter in text) for text in texts}
        return choice(values, allowed, clause=clause)

    a_card = "C or S, a rank of A23456789TJQK and a suit of HDSC"
    errors = choice({error.number: INT32.render(error.number) for error in ERRORS}, "300, 400, 500, 501 or 502")
    frame = partial(Frame, separator=b"")
    return FrameTable(
        (
            frame(Ply),
            frame(Bet, INT32),
            frame(Mov, letters(MOV, "H or S", "blackjack-2.11")),
            frame(Srd),
            frame(Stp),
            frame(Mon, INT32),
            frame(Crd, letters(CRD, a_card), letters(CARDS, a_card)),
            frame(Trn),
            frame(Res, letters("WL", "W or L"), INT32),
            frame(Err, replace(errors, render=INT32.render, clause="blackjack-2.12")),
        ),
        LISTED_MESSAGES,
    )


@cache
def other_tens(dialect: Dialect) -> Mapping[bytes, Message]:
    """The messages of the frames of a dialect that write the ten in another way than T."""
    tens = [CRD[owner]["T" + suit] for owner in CRD for suit in SUITS]
    spellings = [ten for ten in TEN_SPELLINGS[dialect] if ten != "T"]
    return {frame_table(dialect, ten)[card]: card for ten in spellings for card in tens}


class Wire(FrameCodec[Message]):
    """The codec of both ends, which share one vocabulary. See `FrameCodec`."""

    MAX_FRAME_BYTES = 9
    UNREADABLE_CLAUSE = "blackjack-2.10"
    CODE_NOUN = "headers"

    __slots__ = ("_letter_bytes", "_other_tens", "encode")

    encode: Callable[[Message], bytes]
    """Encode a message. This is the look-up itself, to save a call."""

    def __init__(self, *, strict: bool = False, dialect: Dialect = "document", ten: TenSpelling = "T") -> None:
        self.encode = frame_table(dialect, ten).__getitem__
        self._other_tens = other_tens(dialect)
        self._letter_bytes = len(TEN_SPELLINGS[dialect]["T"])
        super().__init__(frame_table(dialect), strict=strict)

    def feed(self, data: bytes) -> Sequence[Message | Violation]:
        """As in `FrameCodec`, with a fast path for BET alone and after PLY, which are just as frequent."""
        if not self._buffer:
            messages = self._canonical.get(data)
            if messages is not None:
                return messages
            if len(data) == 7 and data[:3] == b"BET":
                return (Bet(BIG_ENDIAN_INT32.unpack_from(data, 3)[0]),)
            if len(data) == 10 and data[:6] == b"PLYBET":
                return (PLY, Bet(BIG_ENDIAN_INT32.unpack_from(data, 6)[0]))
        return self._parse_messages(self._buffer + data)

    def _read_invalid(self, frame: Frame[Message], field: Field[Any], data: bytes) -> Message | Violation:
        """The violation, or the card if only the ten is written in another way (blackjack-2.7)."""
        card = self._other_tens.get(data)
        if card is None:
            return super()._read_invalid(frame, field, data)
        if self._strict:
            rank = data[-2 * self._letter_bytes : -self._letter_bytes]
            return Violation("blackjack-2.7", f"the ten as U+{rank.hex().upper():0>4}", "the ten as T")
        self.tolerated |= {"blackjack-2.7"}
        return card
