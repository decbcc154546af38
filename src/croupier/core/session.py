"""Sessions without I/O: a session receives events and returns effects for its caller to perform.

Events and effects are frozen structs, created by the million. Sessions test `type(event) is Received` first, because
that is the hot path and a class pattern costs three times as much, and use `match` for the rest.

The caller does not perform effects that only report a fact (Settle, HandFinished, TableChanged, Commit, Reveal,
BotFailed, Notify); observers of the session act on them.
"""

from collections.abc import Callable, Sequence
from typing import Final, Protocol, Self

from msgspec import Struct

from croupier.core.dealer import Dealer, commitment
from croupier.core.errors import Violation

type Peer = int
"""The number of a connection, counted from 1 in the order of arrival."""

type Address = tuple[str, int]
"""Host and port."""


class Joined(Struct, frozen=True, gc=False):
    """A peer has connected. `address` is its address, None if it is unknown."""

    peer: Peer
    address: Address | None = None


class Received[M](Struct, frozen=True, gc=False):
    """A peer sent a message."""

    peer: Peer
    message: M


class Malformed(Struct, frozen=True, gc=False):
    """A peer sent bytes that are not a message of the protocol, or not one that is allowed."""

    peer: Peer
    violation: Violation


HUNG_UP: Final = "hung up"
CLOSED: Final = "closed"
"""The reasons of a Left without an error: the peer has closed the connection, or our own end has."""


class Left(Struct, frozen=True, gc=False):
    """A peer has disconnected, or a Connect has failed. Sent exactly once per joined peer, also after a Drop.

    `reason` is HUNG_UP, CLOSED or, for people, what went wrong.
    `was_reset`: the connection was reset (RST), so the last bytes that the peer has sent may be missing.
    """

    peer: Peer
    reason: str = ""
    was_reset: bool = False


class EndOfInput(Struct, frozen=True, gc=False):
    """A peer has closed only its sending direction (half-close). Sent to sessions that ask for it; Left follows."""

    peer: Peer


class TimedOut(Struct, frozen=True, gc=False):
    """The session's `deadline` has passed."""


class Closing(Struct, frozen=True, gc=False):
    """The room is closing: start no new games. If `is_final`, void running games now."""

    is_final: bool = False


class Submitted[M](Struct, frozen=True, gc=False):
    """The player or bot on our side has chosen this message."""

    message: M


type Event[M] = Joined | Received[M] | Malformed | Left | EndOfInput | TimedOut | Closing | Submitted[M]


class Send[M](Struct, frozen=True, gc=False):
    """Send a message to a peer."""

    peer: Peer
    message: M


class Drop(Struct, frozen=True, gc=False):
    """Close the connection to a peer, after everything sent so far has been delivered."""

    peer: Peer


class EndOutput(Struct, frozen=True, gc=False):
    """Close the sending direction to a peer after everything sent so far (half-close), and continue to receive."""

    peer: Peer


class Connect(Struct, frozen=True, gc=False):
    """Connect to an address; the new connection gets the number `peer`. Joined follows, or Left on failure."""

    peer: Peer
    address: Address


class Settle(Struct, frozen=True, gc=False):
    """A game with a peer is over: `net` is the coins that the peer won (negative: lost), `state` the final state.

    `hand_number` counts the games of the conversation from 1; `seat` is the peer's seat. `risk` is the coins that its
    purse had at stake right before the end, in this game and in games on other connections; only houses set it.
    """

    peer: Peer
    hand_number: int
    seat: int
    net: int
    state: object
    risk: int = 0


class HandFinished(Struct, frozen=True, gc=False):
    """A hand at a shared table is over: `nets` has the coins won by each seat, `state` is the final state.

    `hand_number` counts the hands of the house from 1; the hand's Commit and Reveal have it as their `peer`.
    """

    hand_number: int
    nets: tuple[int, ...]
    state: object


class TableChanged(Struct, frozen=True, gc=False):
    """The visible state of a shared table has changed; the versions of a table increase."""

    table: str
    version: int


class Commit(Struct, frozen=True, gc=False):
    """The dealer's promise, before the first deal: the hash of its server seed (see docs/fair-deal.md)."""

    peer: Peer
    algorithm: str
    commitment: bytes

    @classmethod
    def of(cls, peer: Peer, dealer: Dealer) -> Self:
        """Make the promise of a dealer."""
        return cls(peer, dealer.algorithm, commitment(dealer.server_seed))


class Reveal(Struct, frozen=True, gc=False):
    """The promised seed, after the last deal, and the number of hands dealt from it."""

    peer: Peer
    algorithm: str
    server_seed: bytes
    client_seed: bytes
    hands: int

    @classmethod
    def of(cls, peer: Peer, dealer: Dealer) -> Self:
        """Reveal the seed of a dealer."""
        return cls(peer, dealer.algorithm, dealer.server_seed, dealer.client_seed, dealer.hands)


class BotFailed(Struct, frozen=True, gc=False):
    """The house's bot at the table of a peer has failed, and the house has acted in its place.

    `reason` contains nothing that only the bot may know.
    """

    peer: Peer
    reason: str


class Notify[M](Struct, frozen=True, gc=False):
    """A notice for our own side: a message of the peer, a violation by it, or its disconnection."""

    notice: M | Violation | Left


type Effect[M] = (
    Send[M]
    | Drop
    | EndOutput
    | Connect
    | Settle
    | HandFinished
    | TableChanged
    | Commit
    | Reveal
    | BotFailed
    | Notify[M]
)


class Session[In, Out](Protocol):
    """One side of a protocol, without clocks and sockets.

    `deadline` is the time at which the caller must send TimedOut, None for never; times are in seconds. `on` never
    raises because of a peer's behaviour. It raises IllegalMove for a Submitted message that the protocol does not allow
    now, which is a mistake of our own side.
    """

    @property
    def deadline(self) -> float | None: ...  # noqa: D102 -- see the class

    def on(self, event: Event[In], now: float) -> Sequence[Effect[Out]]: ...  # noqa: D102 -- see the class


type Observer = Callable[[Event[object], Sequence[Effect[object]], float], None]
"""Called with every event, its effects, and the time, before the effects are performed.

An exception that it raises does not stop the session."""


class Timeouts(Struct, frozen=True, gc=False):
    """The time limits of a peer in seconds: between two messages, and for one decision (None: no separate limit).

    >>> Timeouts(idle=500, move=30).deadline(last_received=100, decision_since=120)
    150
    """

    idle: float = 500.0
    move: float | None = None

    def deadline(self, last_received: float, decision_since: float | None) -> float:
        """The time at which the peer times out.

        `last_received` is the time of its last message; `decision_since` is the time at which its current decision
        began, None without one.
        """
        end = last_received + self.idle
        if decision_since is not None and self.move is not None:
            return min(end, decision_since + self.move)
        return end

    @property
    def shortest(self) -> float:
        """The shortest timeout in seconds: a peer's next deadline is always at least this far away."""
        return self.idle if self.move is None else min(self.idle, self.move)
