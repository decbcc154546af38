"""A stand is a house for one client under test: set for a case, honest or not, and it notes what the client does."""

from collections.abc import Callable, Mapping
from enum import Enum, auto
from math import inf
from typing import Any, Final

from msgspec import Struct

from croupier.conformance.clients.responders import Reply, Voice
from croupier.conformance.conversation import Conversation, Fault
from croupier.conformance.stall import excuse
from croupier.conformance.tap.outbox import Manner, Way
from croupier.core.client_session import Watch
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.session import Drop, Effect, Event, Joined, Left, Peer, Rang, Said, Say

type Referee = Watch[Any, Any]

type Word = Callable[[Conversation], str]
"""The clause by which the client has the word now, empty where it need not say anything."""

type Point = Callable[[Conversation], bool]
"""Whether a situation has come up; it is asked when everything that the house owes has been said."""

PLAIN: Final = Manner()
REPEATS: Final = 3
"""So many messages of the client are heard behind a situation in which no game goes on."""


MOST: Final = 4000
"""So many messages are heard in one case at most: a client may repeat for ever what it cannot pay."""


class Deed(Enum):
    """What the house does when the situation has come up."""

    PLAY = auto()
    """It plays on."""
    LEAVE = auto()
    """It says goodbye and closes, at once."""
    CLOSE = auto()
    """It says goodbye with the end of the game and closes."""
    HANG_UP = auto()
    """It closes without a word, which is a fault of the house."""


class End(Enum):
    """How a conversation has come to its end."""

    RUNNING = auto()
    """It has not, yet."""
    CLIENT = auto()
    """The client closed."""
    SILENCE = auto()
    """The client had to speak, or has said enough, and was silent."""
    HOUSE = auto()
    """The house said goodbye, or hung up."""


class Times(Struct, frozen=True):
    """How long a stand waits, in seconds.

    `act` is for a client that has to speak, `rest` for one that need not, because no game goes on, and for one that has
    heard something that no house may say; `close` for one that has seen the house close.
    """

    act: float = 5.0
    rest: float = 1.0
    close: float = 1.0


class Scene(Struct, frozen=True, kw_only=True):
    """How a stand behaves: see `Deed` and `Manner`. `games` are enough, whether `point` has come up or not."""

    point: Point
    deed: Deed = Deed.PLAY
    manner: Manner = PLAIN
    games: int = 12
    enough: int = 1
    """So many games are finished when it has come up."""
    listens: bool = False
    """Behind its own fault the house listens until the client has closed; otherwise the next word decides."""
    apart: float = 0.0
    """So many seconds lie between two messages of one flight."""
    late: Mapping[bytes, float] = {}
    """Words of the house that are held back so many seconds."""


class Stand:
    """The house's side of one conversation with a client under test. See `Session`; its messages are bytes.

    Who comes first is the client, or who comes next if he has gone without a word. `end` is how it ended, `reached`
    whether the situation came up, `spoke` whether the client has said a whole message, `fault` its first fault, and
    `broken` that of the house. `playing` is the clause by which it had the word at the end, if any, `waited` whether it
    left when all was said, and `owing` whether it was silent because something was still to come from the house.
    `parted` is how many seconds after the house's close the client closed, None if it did not.
    """

    def __init__(
        self,
        voice: Voice,
        scene: Scene,
        conversation: Conversation,
        codec: Any,
        *,
        word: Word,
        times: Times,
        strict: bool = False,
    ) -> None:
        self.conversation = conversation
        self.alarm: float | None = None
        self.came = False
        self.spoke = False
        self.reached = False
        self.spoken_since = 0
        self.reaction: Any = None
        """What the client has said behind a fault of the house."""
        self.end = End.RUNNING
        self.playing = ""
        self.waited = False
        self.owing = False
        self.fault: Fault | None = None
        self.broken: Fault | None = None
        self.parted: float | None = None
        self.over: Callable[[], None] = lambda: None
        """Called when there is nothing more to see."""
        self._voice = voice
        self._scene = scene
        self._word = word
        self._codec = codec
        self._times = times
        self._strict = strict
        self._peer: Peer | None = None
        self._way = Way(scene.manner)
        self._held: list[tuple[float, bytes]] = []
        self._closes = False
        self._closed: float | None = None
        self._since = inf
        self._halting = False
        self._finished = 0

    @property
    def referee(self) -> Referee:
        """The referee of the conversation."""
        return self.conversation.referee

    @property
    def stray(self) -> str:
        """What the client has said instead of what was to be shown, in a sentence; empty while it has not."""
        return self._voice.stray

    def on(self, event: Event[bytes], now: float) -> list[Effect[bytes]]:
        """What the stand does about an event."""
        effects: list[Effect[bytes]] = []
        match event:
            case Joined(peer):
                effects += self._joined(peer, now)
            case Said(peer, message) if peer == self._peer and self._closed is None:
                effects += self._said(message, now)
            case Left(peer, reason) if peer == self._peer:
                self._left(reason, now)
            case Rang():
                effects += self._rang(now)
            case _:
                pass  # a visitor who has come too late, or what crosses our close
        self._watch()
        return effects

    # The client comes, speaks and goes.

    def _joined(self, peer: Peer, now: float) -> list[Effect[bytes]]:
        if self._peer is not None:
            return [Drop(peer)]
        self._peer = peer
        self.came = True
        self._since = now
        return self._do(self._voice.first(), now)

    def _said(self, data: bytes, now: float) -> list[Effect[bytes]]:
        """Every message is heard and answered before the next one: what stands behind it may cross the answer."""
        effects: list[Effect[bytes]] = []
        begun = 0
        for end in range(1, len(data) + 1):
            for item in self._codec.feed(data[end - 1 : end]):
                self._since = now  # who sends a byte now and then says nothing
                self.conversation.heard(CLIENT, data[begun:end], now)
                begun = end
                effects += self._answered(item, now)
            if self._closes:
                return effects
        self.conversation.heard(CLIENT, data[begun:], now)
        return effects

    def _answered(self, item: Any, now: float) -> list[Effect[bytes]]:
        """What is done about a message that was heard."""
        self.spoke = True
        self.spoken_since += self.reached
        if self.broken is not None:
            self.reaction = item
            if self._scene.listens:
                return []
        if self._judged() or self.broken is not None:
            return self._finish(now)
        return self._do(self._voice.hear(item), now)

    def _left(self, reason: str, now: float) -> None:
        silent = not self.spoke and not self.conversation.rest(CLIENT)
        if silent and self._closed is None and self.end is End.RUNNING:
            self._peer = None  # he may have looked whether anybody is there
            self._since = inf
            return
        if self.over is _nothing:
            return  # its program is ended once everything has been seen
        if self._closed is not None:
            self.parted = None if reason == "closed" else now - self._closed
        else:
            self.playing = self._word(self.conversation)
            self.waited = not self._way.size and not self._held
            self.conversation.left(CLIENT, now)
            self.end = End.CLIENT
        self._over()

    # The house speaks.

    def _do(self, reply: Reply, now: float) -> list[Effect[bytes]]:
        """Let a reply leave as the scene delivers it."""
        self._closes |= reply.closes
        flight = reply.said if self._scene.apart or self._scene.late else [b"".join(reply.said)]
        due = max([now, *(at for at, _ in self._held)])
        for said in filter(None, flight):
            due += self._scene.late.get(said, 0.0)
            self._held.append((due, said))
            due += self._scene.apart
        return self._send(now)

    def _send(self, now: float) -> list[Effect[bytes]]:
        """Send what is due. What is said in one go leaves in one piece."""
        assert self._peer is not None, "somebody is there"
        while self._held and self._held[0][0] <= now:
            self._way.put(self._held.pop(0)[1], now)
        effects: list[Effect[bytes]] = []
        for piece in self._way.take(now):
            self._since = now
            effects.append(Say(self._peer, piece))
            self.conversation.heard(HOUSE, piece, now)
        if self._way.alarm is not None or self._held:
            return effects
        if self._closes and self._closed is None:
            self.reached |= self._voice.over
            return [*effects, *self._drop(now)]
        return effects + self._look(now)

    def _look(self, now: float) -> list[Effect[bytes]]:
        """Everything that was owed is said: see what it has come to."""
        if self._closed is not None or self._way.alarm is not None or self._held or self._peer is None:
            return []
        if self._judged():
            return self._finish(now)
        if self.broken is not None:
            return []
        if len(self.conversation.lines) > MOST:
            return self._finish(now)
        if self._voice.over or (not self._voice.stray and self._scene.point(self.conversation)):
            if not self.reached:
                self.reached = True
                self._finished = self.referee.finished
                return self._deed(now)
        elif not self.reached:
            return self._finish(now) if self._resting(self._scene.games) else []
        return self._finish(now) if self._resting(self._scene.enough) else []

    def _resting(self, games: int) -> bool:
        """Whether no game goes on, and so many games, or words without one, are enough.

        Who has come to the situation plays the game to its end, or another one where it was the end of a game.
        """
        if self.referee.game is not None or not self.referee.legal:
            return False
        return self.referee.finished >= max(games, self._finished + 1) or self.spoken_since >= REPEATS

    def _deed(self, now: float) -> list[Effect[bytes]]:
        match self._scene.deed:
            case Deed.LEAVE:
                return self._do(self._voice.leave(at_once=True), now)
            case Deed.CLOSE:
                return self._do(self._voice.leave(at_once=False), now)
            case Deed.HANG_UP:
                return self._drop(now)
            case Deed.PLAY:
                return self._finish(now) if self._resting(self._scene.enough) else []

    def _finish(self, now: float) -> list[Effect[bytes]]:
        """It is decided: end the conversation as the protocol has it."""
        self._closes = True
        if self.fault is None and self.broken is None and not self._halting:
            self._halting = True
            return self._do(self._voice.leave(at_once=True), now)
        return self._drop(now)

    def _drop(self, now: float) -> list[Effect[bytes]]:
        assert self._peer is not None, "somebody is there"
        self._closed = now
        if self.end is End.RUNNING:
            self.playing = self._word(self.conversation)
            self.end = End.HOUSE
            self.conversation.left(HOUSE, now)
            self._judged()
        return [Drop(self._peer)]

    # What is wrong, and silence.

    def _judged(self) -> bool:
        """Take note of the first fault; whether there is one of the client."""
        for fault in self.conversation.faults:
            if fault.verdict.side == HOUSE:
                self.broken = self.broken or fault
            elif self.fault is None and self.broken is None:
                self.fault = fault
        return self.fault is not None or (self._strict and bool(self.conversation.departures(CLIENT)))

    def _rang(self, now: float) -> list[Effect[bytes]]:
        if self._closed is not None:
            self._over()
            return []
        if self._way.alarm is not None or self._held:
            return self._send(now)
        late = now - (self._since + self._patience())
        if more := excuse(late):
            self._since += late + more
        if late < 0.0 or more:
            return []
        self.playing = self._word(self.conversation)
        self.end = End.SILENCE
        self.owing = self.broken is None and (self.referee.alarm is not None or bool(self.conversation.rest(HOUSE)))
        self._halting = True
        if self.broken is not None:
            return self._drop(now)
        self._closes = True
        return self._do(self._voice.leave(at_once=True), now)

    def _patience(self) -> float:
        resting = self.spoke and not self._word(self.conversation) and not self.conversation.rest(CLIENT)
        broken = self.broken is not None and not self._scene.listens
        return self._times.rest if resting or broken else self._times.act

    def _watch(self) -> None:
        """When to look next."""
        if self.over is _nothing:
            self.alarm = None
        elif self._closed is not None:
            self.alarm = self._closed + self._times.close
        else:
            due = [self._way.alarm if self._way.alarm is not None else inf, *(at for at, _ in self._held[:1])]
            self.alarm = min(due) if min(due) < inf else self._since + self._patience()
            self.alarm = None if self.alarm == inf else self.alarm

    def _over(self) -> None:
        over, self.over = self.over, _nothing
        over()


def _nothing() -> None:
    """Everything has been seen."""
