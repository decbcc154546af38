"""A connection through the relay, and the events that a tap reports about it."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from croupier.conformance.conversation import ConversationMonitor, DialogueLine, Fault
from croupier.core.referee import CLIENT
from croupier.core.session import Address, Peer


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

    @property
    def has_client_spoken(self) -> bool:
        """Whether anything has come from the client, and is not forgotten."""
        said = any(line.side == CLIENT for line in self.conversation.lines)
        return said or bool(self.conversation.incomplete(CLIENT))


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

    @property
    def entries(self) -> Iterator[DialogueLine | Fault]:
        """The messages, each followed by the faults that it shows; faults of earlier messages come first."""
        before = self.connection.conversation.line_count - len(self.lines)
        yield from (fault for fault in self.faults if fault.line_count <= before)
        for number, line in enumerate(self.lines, start=before + 1):
            yield line
            yield from (fault for fault in self.faults if fault.line_count == number)


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
