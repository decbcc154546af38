"""The talk at a table: events tell a session what happened, effects say what is to be done about it.

Events and effects are frozen values, made by the million: sessions ask `type(event) is Said` first, because that is the
hot path and matching a class pattern costs three times as much, and `match` the rest.

Those that only tell a fact (Settle, Finished, Changed, Commit, Reveal, Tell) are performed by nobody: the taps that
listen to a session's facts act on them.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec import Struct

from croupier.core.errors import Violation

type Peer = int
"""Who is meant: the number of a connection, counted from 1 in the order in which they came."""

type Address = tuple[str, int]
"""Host and port."""


class Joined(Struct, frozen=True, gc=False):
    """A peer is there. `address` is where it comes from, None where nobody knows."""

    peer: Peer
    address: Address | None = None


class Received[M](Struct, frozen=True, gc=False):
    """A peer said something."""

    peer: Peer
    message: M


class Malformed(Struct, frozen=True, gc=False):
    """A peer sent something that is not a message of its protocol."""

    peer: Peer
    violation: Violation


class Left(Struct, frozen=True, gc=False):
    """A peer is gone. Told exactly once of every peer that joined, also after a Drop, and of a Call that failed."""

    peer: Peer
    reason: str = ""


class EndOfInput(Struct, frozen=True, gc=False):
    """A peer has said all that it will say, and still listens. Told only where that is asked for; Left follows."""

    peer: Peer


class TimedOut(Struct, frozen=True, gc=False):
    """The session's alarm rang."""


class Closing(Struct, frozen=True, gc=False):
    """The room is about to close: no new games. When `final`, running games are void now."""

    is_final: bool = False


class Submitted[M](Struct, frozen=True, gc=False):
    """Whoever plays on our side has decided to say this."""

    message: M


type Event[M] = Joined | Received[M] | Malformed | Left | EndOfInput | TimedOut | Closing | Submitted[M]


class Send[M](Struct, frozen=True, gc=False):
    """Send a message to a peer."""

    peer: Peer
    message: M


class Drop(Struct, frozen=True, gc=False):
    """End the conversation with a peer, after everything said so far has reached it."""

    peer: Peer


class EndOutput(Struct, frozen=True, gc=False):
    """Tell a peer that nothing more will be said to it, behind everything said so far, and listen on."""

    peer: Peer


class Connect(Struct, frozen=True, gc=False):
    """Connect to an address and call the new connection `peer`. Joined follows, or Left."""

    peer: Peer
    address: Address


class Settle(Struct, frozen=True, gc=False):
    """A game with a peer is over: `net` is what the peer has won (lost, if negative), `state` is where its rules ended.

    `hand` counts the games of the conversation from 1; `seat` is the peer's. `risk` is all that its purse had at stake
    right before the end, in this game and in those that still run on other connections; a house gives it.
    """

    peer: Peer
    hand_number: int
    seat: int
    net: int
    state: object
    risk: int = 0


class HandFinished(Struct, frozen=True, gc=False):
    """A hand at a shared table is over: `nets` is what each seat has won, `state` is where its rules ended.

    `deal` counts the hands of the house from 1; its Commit and its Reveal name it as their peer.
    """

    hand_number: int
    nets: tuple[int, ...]
    state: object


class TableChanged(Struct, frozen=True, gc=False):
    """What there is to be seen at a shared table has changed; versions of a table grow."""

    table: str
    version: int


class Commit(Struct, frozen=True, gc=False):
    """Before the first deal: the promise that binds the dealer (see docs/fair-deal.md)."""

    peer: Peer
    algorithm: str
    commitment: bytes


class Reveal(Struct, frozen=True, gc=False):
    """After the last deal: the seed that was promised, and how many hands were dealt from it."""

    peer: Peer
    algorithm: str
    server_seed: bytes
    client_seed: bytes
    hands: int


class Notify[M](Struct, frozen=True, gc=False):
    """News for our own side: what the peer said, which clause it broke, or that it is gone."""

    notice: M | Violation | Left


type Effect[M] = (
    Send[M] | Drop | EndOutput | Connect | Settle | HandFinished | TableChanged | Commit | Reveal | Notify[M]
)


class Session[In, Out](Protocol):
    """One side of a protocol, without a clock or a socket.

    `alarm` is the time at which the session wants to hear Rang, None for never. It never raises on anything that a peer
    did; a Chose that the protocol does not allow raises IllegalMove, for it is our own side's mistake.
    """

    @property
    def deadline(self) -> float | None: ...  # noqa: D102 -- told above

    def on(self, event: Event[In], now: float) -> Sequence[Effect[Out]]: ...  # noqa: D102 -- told above


type Observer = Callable[[Event[object], Sequence[Effect[object]], float], None]
"""A listener: it hears every event with its effects before the effects are performed. What it raises stops nobody."""


class Timeouts(Struct, frozen=True, gc=False):
    """How long a peer may take, in seconds: between two messages, and (None: no limit of its own) over one decision."""

    idle: float = 500.0
    move: float | None = None

    def deadline(self, last_received: float, decision_since: float | None) -> float:
        """When patience ends: `heard` is when the last message came, `asked` since when a decision has been open."""
        end = last_received + self.idle
        if decision_since is not None and self.move is not None:
            return min(end, decision_since + self.move)
        return end

    @property
    def shortest(self) -> float:
        """After nothing that a peer says does patience end sooner than in so many seconds."""
        return self.idle if self.move is None else min(self.idle, self.move)
