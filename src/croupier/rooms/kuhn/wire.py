"""Messages and codec of Kuhn poker (docs/protocols/kuhn.md, section 2).

The vocabulary is finite, so each message is a single object with a single encoding: both directions are look-ups.
"""

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

from croupier.core.codec import ParseResult, StreamCodec, printable_bytes
from croupier.core.errors import Violation
from croupier.rooms.kuhn.rules import (
    ACTION_COST,
    BETTING_TREE,
    CARDS,
    SHOWDOWN,
    TERMINAL_HISTORIES,
    BettingHistory,
    KuhnAction,
    Rank,
)

type SeatName = Literal["P_1", "P_2"]
type Errcode = Literal["W_A", "N_C"]


class Strt(Struct, frozen=True, gc=False):
    """STRT: the client starts a game as `player` (§3.1)."""

    player: SeatName

    def __str__(self) -> str:
        return f"STRT {self.player}"


class Actn(Struct, frozen=True, gc=False):
    """ACTN: either side acts (§3.1, §3.2)."""

    action: KuhnAction

    def __str__(self) -> str:
        return f"ACTN {self.action}"


class Card(Struct, frozen=True, gc=False):
    """CARD: the client's card, or at a showdown the house's (§3.2). On the wire a queen is C_Q."""

    rank: Rank

    def __str__(self) -> str:
        return f"CARD C_{self.rank}"


class Fail(Struct, frozen=True, gc=False):
    """FAIL: the house refuses; W_A is a wrong action, N_C not enough coins (§3.2)."""

    errcode: Errcode

    def __str__(self) -> str:
        return f"FAIL {self.errcode}"


class Disc(Struct, frozen=True, gc=False):
    """DISC: either side ends the conversation (§3.1, §3.2)."""

    def __str__(self) -> str:
        return "DISC"


type Message = Strt | Actn | Card | Fail | Disc

STRT: Final[Mapping[str, Strt]] = {"P_1": Strt("P_1"), "P_2": Strt("P_2")}
ACTN: Final[Mapping[KuhnAction, Actn]] = {action: Actn(action) for action in ACTION_COST}
CARD: Final[Mapping[Rank, Card]] = {rank: Card(rank) for rank in CARDS}
WRONG_ACTION: Final = Fail("W_A")
NO_COINS: Final = Fail("N_C")
DISC: Final = Disc()

VOCABULARY: Final[tuple[Message, ...]] = (
    *STRT.values(),
    *ACTN.values(),
    *CARD.values(),
    WRONG_ACTION,
    NO_COINS,
    DISC,
)
"""All messages (kuhn-2.2)."""

FRAME_BY_MESSAGE: Final[Mapping[Message, bytes]] = {message: str(message).encode() for message in VOCABULARY}
MESSAGE_BY_FRAME: Final[Mapping[bytes, Message]] = {frame: message for message, frame in FRAME_BY_MESSAGE.items()}
CANONICAL: Final[Mapping[bytes, tuple[Message, ...]]] = {
    frame: (message,) for frame, message in MESSAGE_BY_FRAME.items()
} | {FRAME_BY_MESSAGE[ACTN["FLD"]] + FRAME_BY_MESSAGE[start]: (ACTN["FLD"], start) for start in STRT.values()}
"""Fast path: reads that are exactly one canonical message, or a fold together with the start of the next game."""

ARGUMENTS_BY_CODE: Final[Mapping[bytes, tuple[bytes, ...]]] = {
    code: tuple(frame[5:] for frame in MESSAGE_BY_FRAME if frame[:4] == code and len(frame) > 4)
    for code in dict.fromkeys(frame[:4] for frame in MESSAGE_BY_FRAME)
}
"""The valid arguments of each code."""

HOUSE_DECISIONS: Final[Mapping[BettingHistory, Mapping[KuhnAction | Literal["CARD"], BettingHistory]]] = {
    history: {
        "CARD" if TERMINAL_HISTORIES.get((*history, action), ("", 0))[0] == SHOWDOWN else action: (*history, action)
        for action in actions
    }
    for history, (_, actions) in BETTING_TREE.items()
}
"""The house's possible replies at its own decisions, with the history after each; CARD is a showdown (kuhn-4.8)."""


class Wire(StreamCodec[Message]):
    """The codec of both ends, which share one vocabulary. See `StreamCodec`."""

    MAX_FRAME_BYTES = 10
    WHITESPACE_CLAUSE = "kuhn-2.4"

    __slots__ = ()

    encode = staticmethod(FRAME_BY_MESSAGE.__getitem__)
    """Encode a message. This is the look-up itself, to save a call."""

    def __init__(self, *, strict: bool = False) -> None:
        super().__init__(CANONICAL, strict=strict)

    def _read(self, data: bytes) -> ParseResult[Message]:
        message = MESSAGE_BY_FRAME.get(data[:8])
        if message is not None:
            return message, len(data[:8])
        code = data[:4].upper()
        if len(code) < 4:
            return None, 0
        if code not in ARGUMENTS_BY_CODE:
            return _unreadable(data[:4], "one of the codes STRT, ACTN, CARD, FAIL, DISC"), 4
        if code == b"DISC":
            return DISC, 4
        if data[4:5] not in {b"", b" "}:
            return _unreadable(data[:5], f"one space after {code.decode()}"), 5
        quoted = data[5:6] == b'"' and not self._strict
        argument, length = (data[6:9], 10) if quoted else (data[5:8], 8)
        if quoted:
            self.tolerated |= {"kuhn-2.5"}
        if len(data) < length:
            return None, 0
        if quoted and data[9:] != b'"':
            return _unreadable(data, "a closing quote after three characters"), length
        message = MESSAGE_BY_FRAME.get(code + b" " + argument.upper())
        if message is None:
            clause = "kuhn-2.8" if code == b"FAIL" else "kuhn-2.6"
            allowed = ", ".join(known.decode() for known in ARGUMENTS_BY_CODE[code])
            return Violation(clause, printable_bytes(data[:length]), f"{code.decode()} with {allowed}"), length
        return message, length


def _unreadable(data: bytes, allowed: str) -> Violation:
    return Violation("kuhn-2.7", printable_bytes(data), allowed, fatal=True)
