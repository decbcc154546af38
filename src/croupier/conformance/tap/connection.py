"""A connection through a relay, and what is told of it as it goes on."""

from collections import Counter
from collections.abc import Sequence, Set
from typing import Protocol

from msgspec import Struct

from croupier.conformance.conversation import Fault, Line
from croupier.core.session import Address, Peer


class Dialogue(Protocol):
    """A conversation as a relay needs it: it hears all bytes of both ends, and judges them. See `Conversation`."""

    @property
    def lines(self) -> list[Line]:
        """What was said since `forget`."""
        ...

    @property
    def faults(self) -> list[Fault]:
        """What was wrong since `forget`."""
        ...

    @property
    def count(self) -> int:
        """How many lines there were in all."""
        ...

    @property
    def broken(self) -> Counter[tuple[Peer, str]]:
        """How often each side has broken each clause."""
        ...

    @property
    def games(self) -> int:
        """How many games were finished."""
        ...

    @property
    def alarm(self) -> float | None:
        """When a silence of the house becomes a fault."""
        ...

    def heard(self, side: Peer, data: bytes, now: float) -> Sequence[Fault]:
        """One end has sent these bytes."""
        ...

    def ceased(self, side: Peer, now: float) -> Sequence[Fault]:
        """One end says no more, and still listens."""
        ...

    def left(self, side: Peer, now: float) -> Sequence[Fault]:
        """One end is gone."""
        ...

    def rang(self, now: float) -> Sequence[Fault]:
        """The alarm has rung."""
        ...

    def rest(self, side: Peer) -> bytes:
        """What one end has sent behind its last message."""
        ...

    def departures(self, side: Peer) -> Set[str]:
        """The clauses whose tolerance one end has needed."""
        ...

    def forget(self) -> None:
        """Let go of lines and faults."""
        ...


class Passage:
    """One connection through the relay: client, house, and what they have said to each other.

    `begun` and `ended` are times in s. `note` tells, in a sentence, why it ended if neither end did that: nobody
    answered at the target, it was cut, one end did not read.
    """

    def __init__(self, number: int, address: Address | None, conversation: Dialogue, now: float) -> None:
        self.number = number
        self.address = address
        self.conversation = conversation
        self.begun = now
        self.ended: float | None = None
        self.reached = False
        self.note = ""
        self.closed: list[Peer] = []
        """The ends that have closed, in their order."""


class Opened(Struct, frozen=True):
    """A client has come."""

    passage: Passage
    at: float


class Heard(Struct, frozen=True):
    """These bytes of one end were passed on; `lines` are the messages that they complete, `faults` what they show."""

    passage: Passage
    at: float
    side: Peer
    data: bytes
    lines: Sequence[Line]
    faults: Sequence[Fault]


class Silent(Struct, frozen=True):
    """The house should have said something by now."""

    passage: Passage
    at: float
    faults: Sequence[Fault]


class Closed(Struct, frozen=True):
    """One end has closed the connection, or it was closed for it behind a cut."""

    passage: Passage
    at: float
    side: Peer
    reason: str
    faults: Sequence[Fault]


class Ended(Struct, frozen=True):
    """Both ends are gone."""

    passage: Passage
    at: float


type News = Opened | Heard | Silent | Closed | Ended
