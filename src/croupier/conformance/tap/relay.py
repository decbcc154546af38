"""A relay between clients and a house: it passes every byte on, hears both ends, and can slow down, chop and cut."""

from collections.abc import Callable, Sequence
from typing import Final

from croupier.conformance.tap.connection import Closed, Dialogue, Ended, Heard, News, Opened, Passage, Silent
from croupier.conformance.tap.outbox import Manner, Way
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.session import (
    Address,
    Call,
    Cease,
    Ceased,
    Drop,
    Effect,
    Event,
    Halted,
    Joined,
    Left,
    Peer,
    Rang,
    Said,
    Say,
)
from croupier.logs import Log, silence
from croupier.net.endpoint import Limits, Switchboard

__all__ = ["BUFFER", "STILL", "Manner", "Raw", "Relay", "Way", "switchboard"]

BUFFER: Final = 1 << 20
"""So many bytes wait for one end at most; a conversation that would need more is cut."""

STILL: Final = 60.0
"""So many seconds nothing may pass on a connection that is closed in one direction: nobody may be there any more."""


class Raw:
    """The codec of a wire that is only passed on: what is read is the message."""

    departures: frozenset[str] = frozenset()

    def feed(self, data: bytes) -> Sequence[bytes]:
        """The bytes as they came."""
        return (data,)

    def encode(self, message: bytes) -> bytes:
        """The bytes as they leave."""
        return message


class _Pipe:
    """A passage as the relay drives it: `here` are the ends that can be spoken to."""

    def __init__(self, passage: Passage, to_house: Manner, to_client: Manner) -> None:
        self.passage = passage
        self.ways = {HOUSE: Way(to_house), CLIENT: Way(to_client)}
        self.here = {CLIENT}
        self.ceased: dict[Peer, str] = {}
        """The ends that say no more, and why."""
        self.gone: set[Peer] = set()
        """Those of them that do not listen any more, either."""
        self.told: set[Peer] = set()
        """The ends that know that the other one has ceased."""
        self.still: float | None = None
        """When it ends if nothing more passes."""

    def peer(self, side: Peer) -> Peer:
        """What the switchboard calls an end."""
        return self.passage.number if side == CLIENT else -self.passage.number

    def over(self) -> bool:
        """Whether neither end has ended it, so that nothing is judged any more."""
        return bool(self.passage.note)

    def empty(self) -> bool:
        """Whether nothing is on its way to who can still hear it."""
        return not any(self.ways[side].size for side in (CLIENT, HOUSE) if side not in self.gone)

    @property
    def alarm(self) -> float | None:
        """When a piece can leave, the house's silence becomes a fault, or the connection has been still for long."""
        times = [self.patience, self.still, *(self.ways[side].alarm for side in self.here)]
        return min((time for time in times if time is not None), default=None)

    @property
    def patience(self) -> float | None:
        """When the house's silence becomes a fault; never behind a cut."""
        return None if self.over() else self.passage.conversation.alarm


class Relay:
    """A session that calls the target for every client that joins, and tells `told` everything in its order.

    The conversation is judged as the house sees it: what the client says counts from when it is passed on, what the
    house says from when it comes. `cut_after` ends every connection behind so many messages of both ends together. An
    end that ceases still hears the other one. `reworded` is what the client is told instead of what the house says.
    """

    def __init__(
        self,
        target: Address,
        conversation: Callable[[], Dialogue],
        told: Callable[[News], None],
        *,
        to_house: Manner = Manner(),
        to_client: Manner = Manner(),
        cut_after: int | None = None,
        reworded: Callable[[Passage, bytes], bytes] = lambda _, data: data,
    ) -> None:
        self._target = target
        self._conversation = conversation
        self._told = told
        self._to_house = to_house
        self._to_client = to_client
        self._cut_after = cut_after
        self._reworded = reworded
        self._pipes: dict[int, _Pipe] = {}

    @property
    def alarm(self) -> float | None:
        """When a piece can leave, a house's silence becomes a fault, or a connection has been still for long."""
        return min((time for pipe in self._pipes.values() if (time := pipe.alarm) is not None), default=None)

    def on(self, event: Event[bytes], now: float) -> list[Effect[bytes]]:
        """What is to be done about an event."""
        match event:
            case Said(peer, data):
                pipe = self._pipes[abs(peer)]
                return self._said(pipe, CLIENT if peer > 0 else HOUSE, data, now)
            case Joined(peer, address):
                return self._joined(peer, address, now)
            case Ceased(peer):
                pipe = self._pipes[abs(peer)]
                return self._ceased(pipe, CLIENT if peer > 0 else HOUSE, "hung up", now)
            case Left(peer, reason):
                return self._left(self._pipes[abs(peer)], CLIENT if peer > 0 else HOUSE, reason, now)
            case Rang():
                return [effect for pipe in self._pipes.values() for effect in self._rang(pipe, now)]
            case Halted(final=True):
                return [effect for pipe in self._pipes.values() for effect in self._cut(pipe, "the relay closes", now)]
        return []

    def _joined(self, peer: Peer, address: Address | None, now: float) -> list[Effect[bytes]]:
        if peer < 0:
            pipe = self._pipes[-peer]
            pipe.passage.reached = True
            pipe.here.add(HOUSE)
            return self._pump(pipe, now)
        passage = Passage(peer, address, self._conversation(), now)
        self._pipes[peer] = _Pipe(passage, self._to_house, self._to_client)
        self._told(Opened(passage, now))
        return [Call(-peer, self._target)]

    def _said(self, pipe: _Pipe, side: Peer, data: bytes, now: float) -> list[Effect[bytes]]:
        if pipe.over():
            return []
        if pipe.still is not None:
            pipe.still = now + STILL
        if side == HOUSE:
            data = self._reworded(pipe.passage, self._hear(pipe, HOUSE, data, now))
        way = pipe.ways[CLIENT + HOUSE - side]
        way.put(data, now)
        if way.size > BUFFER:
            return self._cut(pipe, f"found more than {BUFFER} bytes that wait for one end", now)
        return self._pump(pipe, now)

    def _hear(self, pipe: _Pipe, side: Peer, data: bytes, now: float) -> bytes:
        """Let the bytes be judged; those behind the message at which the conversation is cut are not passed on."""
        conversation = pipe.passage.conversation
        before, faults = len(conversation.lines), len(conversation.faults)
        if self._cut_after is None:
            conversation.heard(side, data, now)
        else:
            for at in range(len(data)):
                conversation.heard(side, data[at : at + 1], now)
                if conversation.count >= self._cut_after:
                    pipe.passage.note = f"cut after {self._cut_after} messages"
                    data = data[: at + 1]
                    break
        self._told(Heard(pipe.passage, now, side, data, conversation.lines[before:], conversation.faults[faults:]))
        return data

    def _pump(self, pipe: _Pipe, now: float) -> list[Effect[bytes]]:
        """Pass on what is due; whoever has closed is followed by the other end when all it has said has left."""
        effects: list[Effect[bytes]] = []
        if HOUSE in pipe.here and not pipe.over():
            for piece in pipe.ways[HOUSE].take(now):
                effects.append(Say(pipe.peer(HOUSE), self._hear(pipe, CLIENT, piece, now)))
                if pipe.over():
                    break
        if pipe.over():
            pipe.ways[HOUSE].clear()
        if CLIENT in pipe.here:
            effects += (Say(pipe.peer(CLIENT), piece) for piece in pipe.ways[CLIENT].take(now))
        if effects and pipe.still is not None:
            pipe.still = now + STILL
        for side in (CLIENT, HOUSE):
            if side in pipe.here and not pipe.ways[side].size:
                effects += self._follow(pipe, side, now)
        return effects

    def _follow(self, pipe: _Pipe, side: Peer, now: float) -> list[Effect[bytes]]:
        """Do to an end that has heard everything what the other one has done."""
        other = CLIENT + HOUSE - side
        both = len(pipe.ceased) == 2 and pipe.empty()
        end = pipe.over() or other in pipe.gone or both
        if not end and (other not in pipe.ceased or side in pipe.told):
            return []
        if side == HOUSE and CLIENT in pipe.ceased:
            self._close(pipe, CLIENT, now)
        pipe.told.add(side)
        if not end:
            return [Cease(pipe.peer(side))]
        pipe.here.discard(side)
        return [Drop(pipe.peer(side))]

    def _ceased(self, pipe: _Pipe, side: Peer, reason: str, now: float) -> list[Effect[bytes]]:
        pipe.ceased.setdefault(side, reason)
        pipe.still = now + STILL
        if side == HOUSE or not pipe.ways[HOUSE].size:
            self._close(pipe, side, now)
        if side == HOUSE and CLIENT in pipe.here:
            pipe.ways[CLIENT].put(self._reworded(pipe.passage, b""), now)
        return self._pump(pipe, now)

    def _left(self, pipe: _Pipe, side: Peer, reason: str, now: float) -> list[Effect[bytes]]:
        passage = pipe.passage
        pipe.here.discard(side)
        pipe.gone.add(side)
        pipe.ways[side].clear()
        if side == HOUSE and not passage.reached:
            passage.note = passage.note or f"no house answers: {reason}"
        effects = self._ceased(pipe, side, reason, now)
        if len(pipe.gone) == 2:
            self._close(pipe, CLIENT, now)
            passage.ended = now
            del self._pipes[passage.number]
            self._told(Ended(passage, now))
        return effects

    def _close(self, pipe: _Pipe, side: Peer, now: float) -> None:
        """An end says no more, and all that it had said was heard."""
        passage = pipe.passage
        if side not in passage.closed:
            passage.closed.append(side)
            hear = passage.conversation.left if side in pipe.gone else passage.conversation.ceased
            faults = () if pipe.over() else hear(side, now)
            self._told(Closed(passage, now, side, pipe.ceased[side], faults))

    def _rang(self, pipe: _Pipe, now: float) -> list[Effect[bytes]]:
        if pipe.still is not None and pipe.still <= now:
            pipe.still = None if pipe.empty() else now + STILL
        if pipe.ceased and pipe.still is None:
            return self._cut(pipe, f"nothing has passed for {STILL:g} seconds behind one end's last word", now)
        alarm = pipe.patience
        if alarm is not None and alarm <= now and (faults := pipe.passage.conversation.rang(now)):
            self._told(Silent(pipe.passage, now, faults))
        return self._pump(pipe, now)

    def _cut(self, pipe: _Pipe, note: str, now: float) -> list[Effect[bytes]]:
        if not pipe.here and len(pipe.ceased) == 2:
            return []  # it has ended by itself
        pipe.passage.note = pipe.passage.note or note
        for way in pipe.ways.values():
            way.clear()
        return self._pump(pipe, now)


def switchboard(relay: Relay, *, linger: float = 2.0, log: Log | None = None, half_closed: bool = False) -> Switchboard:
    """A relay behind a switchboard, ready to listen. Unless it may be `half_closed`, who ceases is gone."""
    limits = Limits(per_address=0, buffer=BUFFER, linger=linger, half_closed=half_closed)
    return Switchboard(relay, Raw, silence() if log is None else log, limits=limits)
