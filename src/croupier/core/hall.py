"""The hall of a house game: every peer that joins gets a private table and its own dealer."""

from collections.abc import Callable, Reversible, Sequence
from typing import NamedTuple

from croupier.core.alarms import Alarms
from croupier.core.dealer import Dealer
from croupier.core.session import (
    Closing,
    Commit,
    Effect,
    Event,
    Joined,
    Left,
    Malformed,
    Peer,
    Received,
    Reveal,
    Session,
    TimedOut,
)


class HallTable[In, Out](NamedTuple):
    """A table of the hall: its session and its dealer."""

    session: Session[In, Out]
    dealer: Dealer


class Hall[In, Out]:
    """A session that passes every event to the private table of its peer.

    It emits the dealer's promise (Commit) when a peer joins, and the seed (Reveal) after the peer has left. A table may
    postpone its deadline, as an idle timeout does with every message, without any work here: see `Alarms`.

    Messages and violations must set no deadline that is nearer than `shortest_timeout` seconds, and none at a table
    that has had none: the hall does not look at the deadline after each of them, but at least that often. Callers may
    therefore also pass them directly to a peer's `table`, which is faster.
    """

    def __init__(
        self,
        open_table: Callable[[Peer, Dealer], Session[In, Out]],
        dealer_for: Callable[[Peer], Dealer],
        shortest_timeout: float,
    ) -> None:
        self._shortest_timeout = shortest_timeout
        self._open_table = open_table
        self._dealer_for = dealer_for
        self._tables: dict[Peer, HallTable[In, Out]] = {}
        self._alarms = Alarms[Peer]()

    def __len__(self) -> int:
        return len(self._tables)

    @property
    def deadline(self) -> float | None:
        """The time at which a table has to be checked, None if there is none."""
        return self._alarms.next_at

    def on(self, event: Event[In], now: float) -> Sequence[Effect[Out]]:
        """Pass an event to the table of its peer; TimedOut and Closing concern all tables."""
        if type(event) is Received or type(event) is Malformed:
            return self._tables[event.peer].session.on(event, now)
        match event:
            case Joined(peer):
                return self._on_joined(event, peer, now)
            case Left(peer):
                return self._on_left(event, peer, now)
            case TimedOut():
                return self._on_timed_out(event, now)
            case Closing():
                effects = [effect for table in self._tables.values() for effect in table.session.on(event, now)]
                for peer, table in self._tables.items():
                    self._set_alarm(peer, table, now)
                return effects
            case _:
                raise AssertionError(f"found {event}; allowed: events about peers, TimedOut, Closing")

    def __contains__(self, peer: Peer) -> bool:
        return peer in self._tables

    @property
    def peers(self) -> Reversible[Peer]:
        """The peers that have joined, the oldest first."""
        return self._tables.keys()

    def table(self, peer: Peer) -> Session[In, Out]:
        """The private table of a peer that has joined."""
        return self._tables[peer].session

    def _on_joined(self, event: Event[In], peer: Peer, now: float) -> Sequence[Effect[Out]]:
        dealer = self._dealer_for(peer)
        session = self._open_table(peer, dealer)
        table = self._tables[peer] = HallTable(session, dealer)
        effects = session.on(event, now)
        self._set_alarm(peer, table, now)
        return [Commit.of(peer, dealer), *effects]

    def _on_left(self, event: Event[In], peer: Peer, now: float) -> Sequence[Effect[Out]]:
        session, dealer = self._tables.pop(peer)
        self._alarms.remove(peer)
        effects = session.on(event, now)
        return [*effects, Reveal.of(peer, dealer)]

    def _on_timed_out(self, event: Event[In], now: float) -> Sequence[Effect[Out]]:
        effects: list[Effect[Out]] = []
        for _, peer in self._alarms.ring(now):
            table = self._tables[peer]
            deadline = table.session.deadline
            if deadline is not None and deadline <= now:
                effects += table.session.on(event, now)
            self._set_alarm(peer, table, now)
        return effects

    def _set_alarm(self, peer: Peer, table: HallTable[In, Out], now: float) -> None:
        """Set the alarm of a table, no later than its deadline."""
        deadline = table.session.deadline
        if deadline is not None:
            self._alarms.set(peer, min(deadline, now + self._shortest_timeout))
