"""The hall of the house games: every peer that joins gets a private table and a dealer of its own."""

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from math import inf

from croupier.core.dealer import Dealer, commitment
from croupier.core.session import (
    Commit,
    Effect,
    Event,
    Garbled,
    Halted,
    Joined,
    Left,
    Peer,
    Rang,
    Reveal,
    Said,
    Session,
)


class Place[In, Out]:
    """A table of the hall: its session, its dealer, and when the hall will next look at its alarm."""

    __slots__ = ("dealer", "due", "session")

    def __init__(self, session: Session[In, Out], dealer: Dealer) -> None:
        self.session = session
        self.dealer = dealer
        self.due = inf


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
        seat: Callable[[Peer, Dealer], Session[In, Out]],
        dealers: Callable[[Peer], Dealer],
        glance: float = inf,
    ) -> None:
        self.alarm: float | None = None
        self._glance = glance
        self._seat = seat
        self._dealers = dealers
        self._places: dict[Peer, Place[In, Out]] = {}
        self._alarms: list[tuple[float, Peer]] = []

    def __len__(self) -> int:
        return len(self._places)

    def on(self, event: Event[In], now: float) -> Sequence[Effect[Out]]:
        """Hand the event to the table it is about; Rang and Halted are about all of them."""
        if type(event) is Said or type(event) is Garbled:
            place = self._places[event.peer]
            effects = place.session.on(event, now)
            self._watch(event.peer, place, now)
            return effects
        match event:
            case Joined(peer):
                return self._joined(event, peer, now)
            case Left(peer):
                return self._left(event, peer, now)
            case Rang():
                return self._rang(event, now)
            case Halted():
                effects = [effect for place in self._places.values() for effect in place.session.on(event, now)]
                for peer, place in self._places.items():
                    self._watch(peer, place, now)
                return effects
            case _:
                raise AssertionError(f"{event} is not for a hall: its peers choose for themselves")

    def table(self, peer: Peer) -> Session[In, Out]:
        """The private table of a peer that has joined."""
        return self._places[peer].session

    def _joined(self, event: Event[In], peer: Peer, now: float) -> Sequence[Effect[Out]]:
        dealer = self._dealers(peer)
        session = self._seat(peer, dealer)
        place = self._places[peer] = Place(session, dealer)
        effects = session.on(event, now)
        self._watch(peer, place, now)
        return [Commit(peer, dealer.algorithm, commitment(dealer.server_seed)), *effects]

    def _left(self, event: Event[In], peer: Peer, now: float) -> Sequence[Effect[Out]]:
        place = self._places.pop(peer)
        dealer = place.dealer
        effects = place.session.on(event, now)
        if len(self._alarms) > 2 * len(self._places) + 64:
            self._alarms = sorted((p.due, n) for n, p in self._places.items() if p.due < inf)
        return [*effects, Reveal(peer, dealer.algorithm, dealer.server_seed, dealer.client_seed, dealer.hands)]

    def _rang(self, event: Event[In], now: float) -> Sequence[Effect[Out]]:
        effects: list[Effect[Out]] = []
        while self._alarms and self._alarms[0][0] <= now:
            due, peer = heappop(self._alarms)
            place = self._places.get(peer)
            if place is None or place.due != due:
                continue  # an alarm that was moved forward, or of a peer that has left
            place.due = inf
            alarm = place.session.alarm
            if alarm is not None and alarm <= now:
                effects += place.session.on(event, now)
            self._watch(peer, place, now)
        self.alarm = self._alarms[0][0] if self._alarms else None
        return effects

    def _watch(self, peer: Peer, place: Place[In, Out], now: float) -> None:
        """See to it that the table is looked at no later than when its alarm rings."""
        alarm = place.session.alarm
        if alarm is not None and (due := min(alarm, now + self._glance)) < place.due:
            place.due = due
            heappush(self._alarms, (due, peer))
            self.alarm = self._alarms[0][0]
