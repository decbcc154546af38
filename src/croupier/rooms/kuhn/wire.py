"""Messages and codec of Kuhn poker (docs/protocols/kuhn.md, section 2).

The vocabulary is finite, so each message has a single encoding: both directions are look-ups.
"""

from collections.abc import Iterable, Mapping
from typing import Final, Literal

from croupier.core.codec import printable_bytes
from croupier.core.errors import Violation
from croupier.core.frames import Field, Frame, FrameCodec, FrameMessage, FrameTable, ParseResult, choice
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


class Strt(FrameMessage, frozen=True, gc=False):
    """STRT: the client starts a game as `player` (§3.1).

    Example:
        >>> print(Strt("P_1"))
        STRT P_1
    """

    player: SeatName


class Actn(FrameMessage, frozen=True, gc=False):
    """ACTN: either side acts (§3.1, §3.2).

    Example:
        >>> print(Actn("BET"), Actn("BET").action)
        ACTN BET BET
    """

    action: KuhnAction


class Card(FrameMessage, frozen=True, gc=False):
    """CARD: the client's card, or at a showdown the house's (§3.2). On the wire a queen is C_Q.

    Example:
        >>> print(Card("Q"), Card("Q").rank)
        CARD C_Q Q
    """

    rank: Rank

    def __str__(self) -> str:
        return f"CARD C_{self.rank}"


class Fail(FrameMessage, frozen=True, gc=False):
    """FAIL: the house refuses; W_A is a wrong action, N_C not enough coins (§3.2).

    Example:
        >>> Fail("N_C").errcode
        'N_C'
    """

    errcode: Errcode


class Disc(FrameMessage, frozen=True, gc=False):
    """DISC: either side ends the conversation (§3.1, §3.2).

    Example:
        >>> print(Disc())
        DISC
    """


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


def _word[V](values: Iterable[V], prefix: str = "", clause: str = "kuhn-2.6") -> Field[V]:
    """An argument of three characters, in any case (kuhn-2.3)."""
    return choice({value: f"{prefix}{value}".encode() for value in values}, normalize=bytes.upper, clause=clause)


TABLE: Final = FrameTable[Message](
    (
        Frame(Strt, _word(STRT)),
        Frame(Actn, _word(ACTN)),
        Frame(Card, _word(CARD, "C_")),
        Frame(Fail, _word(("W_A", "N_C"), clause="kuhn-2.8")),
        Frame(Disc),
    ),
    VOCABULARY,
    [(ACTN["FLD"], start) for start in STRT.values()],  # a fold together with the start of the next game
    ignores_case=True,
)

HOUSE_DECISIONS: Final[Mapping[BettingHistory, Mapping[KuhnAction | Literal["CARD"], BettingHistory]]] = {
    history: {
        "CARD" if TERMINAL_HISTORIES.get((*history, action), ("", 0))[0] == SHOWDOWN else action: (*history, action)
        for action in actions
    }
    for history, (_, actions) in BETTING_TREE.items()
}
"""The house's possible replies at its own decisions, with the history after each; CARD is a showdown (kuhn-4.8)."""


class Wire(FrameCodec[Message]):
    """The codec of both ends, which share one vocabulary. See `FrameCodec`."""

    MAX_FRAME_BYTES = 10
    WHITESPACE_CLAUSE = "kuhn-2.4"
    UNREADABLE_CLAUSE = "kuhn-2.7"

    __slots__ = ()

    encode = staticmethod(TABLE.__getitem__)
    """Encode a message. This is the look-up itself, to save a call."""

    def __init__(self, *, strict: bool = False) -> None:
        super().__init__(TABLE, strict=strict)

    def _read(self, data: bytes) -> ParseResult[Message]:
        """Parse the frame at the start of the data; its argument may be in quotes (kuhn-2.5)."""
        frame = TABLE.frames.get(data[:4].upper())
        if self._strict or data[4:6] != b' "' or frame is None or not frame.fields:
            return super()._read(data)
        self.tolerated |= {"kuhn-2.5"}
        if len(data) < 10:
            return None, 0
        if data[9:] != b'"':
            return self._unreadable(data, "a closing quote after three characters")
        item, _ = super()._read(data[:5] + data[6:9])
        if isinstance(item, Violation):
            item = item.replace(found=printable_bytes(data))
        return item, 10
