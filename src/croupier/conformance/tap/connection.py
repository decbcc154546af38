"""A connection through a relay, and what is told of it as it goes on."""

from collections import Counter
from collections.abc import Sequence, Set
from typing import Protocol

from msgspec import Struct

from croupier.conformance.conversation import DialogueLine, Fault
from croupier.core.session import Address, Peer


class ConversationMonitor(Protocol):
    """A conversation as a relay needs it: it hears all bytes of both ends, and judges them. See `Conversation`."""

    @property
    def lines(self) -> list[DialogueLine]:
        """What was said since `forget`."""
        ...

    @property
    def faults(self) -> list[Fault]:
        """What was wrong since `forget`."""
        ...

    @property
    def line_count(self) -> int:
        """How many lines there were in all."""
        ...

    @property
    def violation_counts(self) -> Counter[tuple[Peer, str]]:
        """How often each side has broken each clause."""
        ...

    @property
    def games(self) -> int:
        """How many games were finished."""
        ...

    @property
    def deadline(self) -> float | None:
        """When a silence of the house becomes a fault."""
        ...

    def on_data(self, side: Peer, data: bytes, now: float) -> Sequence[Fault]:
        """One end has sent these bytes."""
        ...

    def on_end_of_input(self, side: Peer, now: float) -> Sequence[Fault]:
        """One end says no more, and still listens."""
        ...

    def on_disconnect(self, side: Peer, now: float) -> Sequence[Fault]:
        """One end is gone."""
        ...

    def on_timeout(self, now: float) -> Sequence[Fault]:
        """The alarm has rung."""
        ...

    def incomplete(self, side: Peer) -> bytes:
        """What one end has sent behind its last message."""
        ...

    def tolerated(self, side: Peer) -> Set[str]:
        """The clauses whose tolerance one end has needed."""
        ...

    def forget(self) -> None:
        """Let go of lines and faults."""
        ...


class TappedConnection:
    """One connection through the relay: client, house, and what they have said to each other.

    `begun` and `ended` are times in s. `note` tells, in a sentence, why it ended if neither end did that: nobody
    answered at the target, it was cut, one end did not read.
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
        """The ends that have closed, in their order."""


class ConnectionOpened(Struct, frozen=True):
    """A client has come."""

    connection: TappedConnection
    at: float


class BytesRelayed(Struct, frozen=True):
    """These bytes of one end were passed on; `lines` are the messages that they complete, `faults` what they show."""

    connection: TappedConnection
    at: float
    side: Peer
    data: bytes
    lines: Sequence[DialogueLine]
    faults: Sequence[Fault]


class SilenceFound(Struct, frozen=True):
    """The house should have said something by now."""

    connection: TappedConnection
    at: float
    faults: Sequence[Fault]


class SideClosed(Struct, frozen=True):
    """One end has closed the connection, or it was closed for it behind a cut."""

    connection: TappedConnection
    at: float
    side: Peer
    reason: str
    faults: Sequence[Fault]


class ConnectionEnded(Struct, frozen=True):
    """Both ends are gone."""

    connection: TappedConnection
    at: float


type TapEvent = ConnectionOpened | BytesRelayed | SilenceFound | SideClosed | ConnectionEnded
