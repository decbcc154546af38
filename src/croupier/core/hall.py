"""The hall of the house games: every peer that joins gets a private table and a dealer of its own."""

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from math import inf

from croupier.core.dealer import Dealer, commitment
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


class HallTable[In, Out]:
    """A table of the hall: its session, its dealer, and when the hall will next look at its alarm."""

    __slots__ = ("dealer", "next_check", "session")

    def __init__(self, session: Session[In, Out], dealer: Dealer) -> None:
        self.session = session
        self.dealer = dealer
        self.next_check = inf


class Hall[In, Out]:
    """A session that hands every event to the private table of the peer it is about.

    The dealer's promise is told when a peer joins and its seed when the peer has left. Alarms are lazy: a table that
    keeps putting off its alarm, as an idle limit does with every message, is looked at only when the old one would have
    rung.

    What is said may also be told to a peer's `table` itself, which saves the way through the hall. It then puts its
    alarm `glance` seconds ahead at the least, so the hall looks at every table that often.
    """

    def __init__(
        self,
        open_table: Callable[[Peer, Dealer], Session[In, Out]],
        dealer_for: Callable[[Peer], Dealer],
        shortest_timeout: float = inf,
    ) -> None:
        self.deadline: float | None = None
        self._shortest_timeout = shortest_timeout
        self._open_table = open_table
        self._dealer_for = dealer_for
        self._tables: dict[Peer, HallTable[In, Out]] = {}
        self._deadlines: list[tuple[float, Peer]] = []

    def __len__(self) -> int:
        return len(self._tables)

    def on(self, event: Event[In], now: float) -> Sequence[Effect[Out]]:
        """Hand the event to the table it is about; Rang and Halted are about all of them."""
        if type(event) is Received or type(event) is Malformed:
            place = self._tables[event.peer]
            effects = place.session.on(event, now)
            self._schedule_check(event.peer, place, now)
            return effects
        match event:
            case Joined(peer):
                return self._on_joined(event, peer, now)
            case Left(peer):
                return self._on_left(event, peer, now)
            case TimedOut():
                return self._on_timed_out(event, now)
            case Closing():
                effects = [effect for place in self._tables.values() for effect in place.session.on(event, now)]
                for peer, place in self._tables.items():
                    self._schedule_check(peer, place, now)
                return effects
            case _:
                raise AssertionError(f"{event} is not for a hall: its peers choose for themselves")

    def table(self, peer: Peer) -> Session[In, Out]:
        """The private table of a peer that has joined."""
        return self._tables[peer].session

    def _on_joined(self, event: Event[In], peer: Peer, now: float) -> Sequence[Effect[Out]]:
        dealer = self._dealer_for(peer)
        session = self._open_table(peer, dealer)
        place = self._tables[peer] = HallTable(session, dealer)
        effects = session.on(event, now)
        self._schedule_check(peer, place, now)
        return [Commit(peer, dealer.algorithm, commitment(dealer.server_seed)), *effects]

    def _on_left(self, event: Event[In], peer: Peer, now: float) -> Sequence[Effect[Out]]:
        place = self._tables.pop(peer)
        dealer = place.dealer
        effects = place.session.on(event, now)
        if len(self._deadlines) > 2 * len(self._tables) + 64:
            self._deadlines = sorted((p.next_check, n) for n, p in self._tables.items() if p.next_check < inf)
        return [*effects, Reveal(peer, dealer.algorithm, dealer.server_seed, dealer.client_seed, dealer.hands)]

    def _on_timed_out(self, event: Event[In], now: float) -> Sequence[Effect[Out]]:
        effects: list[Effect[Out]] = []
        while self._deadlines and self._deadlines[0][0] <= now:
            due, peer = heappop(self._deadlines)
            place = self._tables.get(peer)
            if place is None or place.next_check != due:
                continue  # an alarm that was moved forward, or of a peer that has left
            place.next_check = inf
            alarm = place.session.deadline
            if alarm is not None and alarm <= now:
                effects += place.session.on(event, now)
            self._schedule_check(peer, place, now)
        self.deadline = self._deadlines[0][0] if self._deadlines else None
        return effects

    def _schedule_check(self, peer: Peer, table: HallTable[In, Out], now: float) -> None:
        """See to it that the table is looked at no later than when its alarm rings."""
        alarm = table.session.deadline
        if alarm is not None and (due := min(alarm, now + self._shortest_timeout)) < table.next_check:
            table.next_check = due
            heappush(self._deadlines, (due, peer))
            self.deadline = self._deadlines[0][0]
