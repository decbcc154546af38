"""Judging: who broke which clause, told from the events of both ends."""

from collections.abc import Callable, Sequence
from typing import Final, Protocol

from msgspec import Struct

from croupier.core.errors import Violation
from croupier.core.talk import Drop, Effect, Event, Garbled, Joined, Left, Peer, Said, Say

CLIENT: Final[Peer] = 1
HOUSE: Final[Peer] = 0
"""The two ends of a conversation, as a referee calls them."""


class Verdict(Struct, frozen=True):
    """One end broke a clause."""

    side: Peer
    violation: Violation


class Referee[M](Protocol):
    """Judges one conversation from the events of both ends (CLIENT and HOUSE), in the order in which they were seen.

    `alarm` is when a silence becomes a fault; Rang tells it. After a fault of the house nothing more is judged: what
    follows cannot be told from its consequences. Faults of the client are judged on, for the house has to answer them.
    """

    @property
    def alarm(self) -> float | None: ...  # noqa: D102 -- told above

    def on(self, event: Event[M], now: float) -> Sequence[Verdict]: ...  # noqa: D102 -- told above


class Bench[M]:
    """The tap of a referee at every table of a hall; it hands on each verdict with the peer at whose table it fell."""

    def __init__(self, referee: Callable[[], Referee[M]], told: Callable[[Peer, Verdict], None]) -> None:
        self._referee = referee
        self._told = told
        self._referees: dict[Peer, Referee[M]] = {}

    def __call__(self, event: Event[M], effects: Sequence[Effect[M]], now: float) -> None:
        """Hear the facts of the hall: an event, and what the house does about it."""
        match event:
            case Joined(peer):
                self._referees[peer] = self._referee()
            case Said(peer, message):
                self._hear(peer, Said(CLIENT, message), now)
            case Garbled(peer, violation):
                self._hear(peer, Garbled(CLIENT, violation), now)
            case Left(peer):
                self._hear(peer, Left(CLIENT), now)
                del self._referees[peer]
                return
            case _:
                pass  # the alarm and the closing of the room show in what the house says
        for effect in effects:
            match effect:
                case Say(peer, message):
                    self._hear(peer, Said(HOUSE, message), now)
                case Drop(peer):
                    self._hear(peer, Left(HOUSE), now)
                case _:
                    pass  # a fact, not a deed on the wire

    def _hear(self, peer: Peer, event: Event[M], now: float) -> None:
        for verdict in self._referees[peer].on(event, now):
            self._told(peer, verdict)
