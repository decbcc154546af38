"""A connection through the relay, and the events that a tap reports about it."""

from collections import Counter
from collections.abc import Sequence, Set
from typing import Protocol

from msgspec import Struct

from croupier.conformance.conversation import DialogueLine, Fault
from croupier.core.referee import Party
from croupier.core.session import Address, Peer


class ConversationMonitor(Protocol):
    """What a relay needs of a conversation: it judges the bytes of both ends. See `Conversation`."""

    @property
    def lines(self) -> list[DialogueLine]:
        """The messages since `forget`."""
        ...

    @property
    def faults(self) -> list[Fault]:
        """The faults since `forget`."""
        ...

    @property
    def line_count(self) -> int:
        """The number of all messages."""
        ...

    @property
    def violation_counts(self) -> Counter[tuple[Party, str]]:
        """How often each side has broken each clause."""
        ...

    @property
    def games(self) -> int:
        """The number of finished games."""
        ...

    @property
    def deadline(self) -> float | None:
        """When a silence of the house becomes a fault."""
        ...

    def on_data(self, side: Peer, data: bytes, now: float) -> Sequence[Fault]:
        """Process bytes of one end."""
        ...

    def on_end_of_input(self, side: Peer, now: float) -> Sequence[Fault]:
        """Process the end of output of one end, which may still read."""
        ...

    def on_disconnect(self, side: Peer, now: float) -> Sequence[Fault]:
        """Process a connection closed by one end."""
        ...

    def on_timeout(self, now: float) -> Sequence[Fault]:
        """Process a deadline that has passed."""
        ...

    def incomplete(self, side: Peer) -> bytes:
        """What one end has sent after its last message."""
        ...

    def tolerated(self, side: Peer) -> Set[str]:
        """The clauses whose tolerance one end has needed."""
        ...

    def forget(self) -> None:
        """Drop the lines and faults so far."""
        ...


class TappedConnection:
    """One connection through the relay: client, house, and their conversation.

    `started_at` and `ended_at` are times in seconds. `note` is a sentence that says why it ended if neither end closed
    it: the target did not answer, it was cut, one end did not read.
    """

    def __init__(self, number: int, address: Address | None, conversation: ConversationMonitor, now: float) -> None:
        self.number = number
        self.address = address
        self.conversation = conversation
        self.started_at = now
        self.ended_at: float | None = None
        self.has_reached_target = False
        self.note = ""
        self.closed_sides: list[Peer] = []


class ConnectionOpened(Struct, frozen=True):
    """A client has connected."""

    connection: TappedConnection
    at: float


class BytesRelayed(Struct, frozen=True):
    """Bytes of one end were relayed; `lines` are the messages that they complete, `faults` what they show."""

    connection: TappedConnection
    at: float
    side: Peer
    data: bytes
    lines: Sequence[DialogueLine]
    faults: Sequence[Fault]


class SilenceFound(Struct, frozen=True):
    """The house has missed a deadline."""

    connection: TappedConnection
    at: float
    faults: Sequence[Fault]


class SideClosed(Struct, frozen=True):
    """One end has closed the connection, or it was closed for that end after a cut."""

    connection: TappedConnection
    at: float
    side: Peer
    reason: str
    faults: Sequence[Fault]


class ConnectionEnded(Struct, frozen=True):
    """Both ends are disconnected."""

    connection: TappedConnection
    at: float


type TapEvent = ConnectionOpened | BytesRelayed | SilenceFound | SideClosed | ConnectionEnded
