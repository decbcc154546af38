"""A stand is a house for one client under test: set for a case, honest or not, and it notes what the client does."""

from collections.abc import Callable, Mapping
from enum import Enum, auto
from math import inf
from typing import Any, Final

from msgspec import Struct

from croupier.conformance.clients.responders import HouseReply, Responder
from croupier.conformance.conversation import Conversation, Fault
from croupier.conformance.stall import extra_wait
from croupier.conformance.tap.outbox import Delivery, Outbox
from croupier.core.client_session import ClientReferee
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.session import Drop, Effect, Event, Joined, Left, Peer, Received, Send, TimedOut

type AnyClientReferee = ClientReferee[Any, Any]

type Obligation = Callable[[Conversation], str]
"""The clause by which the client has the word now, empty where it need not say anything."""

type StateReached = Callable[[Conversation], bool]
"""Whether a situation has come up; it is asked when everything that the house owes has been said."""

PLAIN_DELIVERY: Final = Delivery()
MAX_IDLE_MESSAGES: Final = 3
"""So many messages of the client are heard behind a situation in which no game goes on."""


MAX_MESSAGES: Final = 4000
"""So many messages are heard in one case at most: a client may repeat for ever what it cannot pay."""


class HouseAction(Enum):
    """What the house does when the situation has come up."""

    PLAY = auto()
    """It plays on."""
    LEAVE = auto()
    """It says goodbye and closes, at once."""
    CLOSE = auto()
    """It says goodbye with the end of the game and closes."""
    HANG_UP = auto()
    """It closes without a word, which is a fault of the house."""


class ConversationEnd(Enum):
    """How a conversation has come to its end."""

    RUNNING = auto()
    """It has not, yet."""
    CLIENT = auto()
    """The client closed."""
    SILENCE = auto()
    """The client had to speak, or has said enough, and was silent."""
    HOUSE = auto()
    """The house said goodbye, or hung up."""


class ClientTimeouts(Struct, frozen=True):
    """How long a stand waits, in seconds.

    `act` is for a client that has to speak, `rest` for one that need not, because no game goes on, and for one that has
    heard something that no house may say; `close` for one that has seen the house close.
    """

    act_seconds: float = 5.0
    idle_seconds: float = 1.0
    close_seconds: float = 1.0


class HouseSetup(Struct, frozen=True, kw_only=True):
    """How a stand behaves: see `Deed` and `Manner`. `games` are enough, whether `point` has come up or not."""

    is_reached: StateReached
    action: HouseAction = HouseAction.PLAY
    delivery: Delivery = PLAIN_DELIVERY
    max_games: int = 12
    min_games: int = 1
    """So many games are finished when it has come up."""
    listens_after_fault: bool = False
    """Behind its own fault the house listens until the client has closed; otherwise the next word decides."""
    message_gap_seconds: float = 0.0
    """So many seconds lie between two messages of one flight."""
    delayed_messages: Mapping[bytes, float] = {}
    """Words of the house that are held back so many seconds."""


class HouseTestServer:
    """The house's side of one conversation with a client under test. See `Session`; its messages are bytes.

    Who comes first is the client, or who comes next if he has gone without a word. `end` is how it ended, `reached`
    whether the situation came up, `spoke` whether the client has said a whole message, `fault` its first fault, and
    `broken` that of the house. `playing` is the clause by which it had the word at the end, if any, `waited` whether it
    left when all was said, and `owing` whether it was silent because something was still to come from the house.
    `parted` is how many seconds after the house's close the client closed, None if it did not.
    """

    def __init__(
        self,
        responder: Responder,
        setup: HouseSetup,
        conversation: Conversation,
        codec: Any,
        *,
        obligation: Obligation,
        timeouts: ClientTimeouts,
        strict: bool = False,
    ) -> None:
        self.conversation = conversation
        self.deadline: float | None = None
        self.has_connected = False
        self.has_spoken = False
        self.has_reached_state = False
        self.messages_since_state = 0
        self.reaction: Any = None
        """What the client has said behind a fault of the house."""
        self.conversation_end = ConversationEnd.RUNNING
        self.pending_obligation = ""
        self.has_waited = False
        self.is_answer_owed = False
        self.fault: Fault | None = None
        self.house_fault: Fault | None = None
        self.close_delay_seconds: float | None = None
        self.on_over: Callable[[], None] = lambda: None
        """Called when there is nothing more to see."""
        self._responder = responder
        self._setup = setup
        self._obligation = obligation
        self._codec = codec
        self._times = timeouts
        self._strict = strict
        self._peer: Peer | None = None
        self._outbox = Outbox(setup.delivery)
        self._held: list[tuple[float, bytes]] = []
        self._closes = False
        self._closed: float | None = None
        self._since = inf
        self._halting = False
        self._finished = 0

    @property
    def referee(self) -> AnyClientReferee:
        """The referee of the conversation."""
        return self.conversation.referee

    @property
    def deviation(self) -> str:
        """What the client has said instead of what was to be shown, in a sentence; empty while it has not."""
        return self._responder.deviation

    def on(self, event: Event[bytes], now: float) -> list[Effect[bytes]]:
        """What the stand does about an event."""
        effects: list[Effect[bytes]] = []
        match event:
            case Joined(peer):
                effects += self._joined(peer, now)
            case Received(peer, message) if peer == self._peer and self._closed is None:
                effects += self._said(message, now)
            case Left(peer, reason) if peer == self._peer:
                self._left(reason, now)
            case TimedOut():
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
        self.has_connected = True
        self._since = now
        return self._do(self._responder.greet(), now)

    def _said(self, data: bytes, now: float) -> list[Effect[bytes]]:
        """Every message is heard and answered before the next one: what stands behind it may cross the answer."""
        effects: list[Effect[bytes]] = []
        begun = 0
        for end in range(1, len(data) + 1):
            for item in self._codec.feed(data[end - 1 : end]):
                self._since = now  # who sends a byte now and then says nothing
                self.conversation.on_data(CLIENT, data[begun:end], now)
                begun = end
                effects += self._answered(item, now)
            if self._closes:
                return effects
        self.conversation.on_data(CLIENT, data[begun:], now)
        return effects

    def _answered(self, item: Any, now: float) -> list[Effect[bytes]]:
        """What is done about a message that was heard."""
        self.has_spoken = True
        self.messages_since_state += self.has_reached_state
        if self.house_fault is not None:
            self.reaction = item
            if self._setup.listens_after_fault:
                return []
        if self._judged() or self.house_fault is not None:
            return self._finish(now)
        return self._do(self._responder.answer(item), now)

    def _left(self, reason: str, now: float) -> None:
        silent = not self.has_spoken and not self.conversation.incomplete(CLIENT)
        if silent and self._closed is None and self.conversation_end is ConversationEnd.RUNNING:
            self._peer = None  # he may have looked whether anybody is there
            self._since = inf
            return
        if self.on_over is _nothing:
            return  # its program is ended once everything has been seen
        if self._closed is not None:
            self.close_delay_seconds = None if reason == "closed" else now - self._closed
        else:
            self.pending_obligation = self._obligation(self.conversation)
            self.has_waited = not self._outbox.waiting_bytes and not self._held
            self.conversation.on_disconnect(CLIENT, now)
            self.conversation_end = ConversationEnd.CLIENT
        self._over()

    # The house speaks.

    def _do(self, reply: HouseReply, now: float) -> list[Effect[bytes]]:
        """Let a reply leave as the scene delivers it."""
        self._closes |= reply.closes
        flight = (
            reply.messages
            if self._setup.message_gap_seconds or self._setup.delayed_messages
            else [b"".join(reply.messages)]
        )
        due = max([now, *(at for at, _ in self._held)])
        for said in filter(None, flight):
            due += self._setup.delayed_messages.get(said, 0.0)
            self._held.append((due, said))
            due += self._setup.message_gap_seconds
        return self._send(now)

    def _send(self, now: float) -> list[Effect[bytes]]:
        """Send what is due. What is said in one go leaves in one piece."""
        assert self._peer is not None, "somebody is there"
        while self._held and self._held[0][0] <= now:
            self._outbox.push(self._held.pop(0)[1], now)
        effects: list[Effect[bytes]] = []
        for piece in self._outbox.pop_due(now):
            self._since = now
            effects.append(Send(self._peer, piece))
            self.conversation.on_data(HOUSE, piece, now)
        if self._outbox.deadline is not None or self._held:
            return effects
        if self._closes and self._closed is None:
            self.has_reached_state |= self._responder.is_over
            return [*effects, *self._drop(now)]
        return effects + self._look(now)

    def _look(self, now: float) -> list[Effect[bytes]]:
        """Everything that was owed is said: see what it has come to."""
        if self._closed is not None or self._outbox.deadline is not None or self._held or self._peer is None:
            return []
        if self._judged():
            return self._finish(now)
        if self.house_fault is not None:
            return []
        if len(self.conversation.lines) > MAX_MESSAGES:
            return self._finish(now)
        if self._responder.is_over or (not self._responder.deviation and self._setup.is_reached(self.conversation)):
            if not self.has_reached_state:
                self.has_reached_state = True
                self._finished = self.referee.finished_count
                return self._act(now)
        elif not self.has_reached_state:
            return self._finish(now) if self._resting(self._setup.max_games) else []
        return self._finish(now) if self._resting(self._setup.min_games) else []

    def _resting(self, games: int) -> bool:
        """Whether no game goes on, and so many games, or words without one, are enough.

        Who has come to the situation plays the game to its end, or another one where it was the end of a game.
        """
        if self.referee.game is not None or not self.referee.legal:
            return False
        return (
            self.referee.finished_count >= max(games, self._finished + 1)
            or self.messages_since_state >= MAX_IDLE_MESSAGES
        )

    def _act(self, now: float) -> list[Effect[bytes]]:
        match self._setup.action:
            case HouseAction.LEAVE:
                return self._do(self._responder.leave(at_once=True), now)
            case HouseAction.CLOSE:
                return self._do(self._responder.leave(at_once=False), now)
            case HouseAction.HANG_UP:
                return self._drop(now)
            case HouseAction.PLAY:
                return self._finish(now) if self._resting(self._setup.min_games) else []

    def _finish(self, now: float) -> list[Effect[bytes]]:
        """It is decided: end the conversation as the protocol has it."""
        self._closes = True
        if self.fault is None and self.house_fault is None and not self._halting:
            self._halting = True
            return self._do(self._responder.leave(at_once=True), now)
        return self._drop(now)

    def _drop(self, now: float) -> list[Effect[bytes]]:
        assert self._peer is not None, "somebody is there"
        self._closed = now
        if self.conversation_end is ConversationEnd.RUNNING:
            self.pending_obligation = self._obligation(self.conversation)
            self.conversation_end = ConversationEnd.HOUSE
            self.conversation.on_disconnect(HOUSE, now)
            self._judged()
        return [Drop(self._peer)]

    # What is wrong, and silence.

    def _judged(self) -> bool:
        """Take note of the first fault; whether there is one of the client."""
        for fault in self.conversation.faults:
            if fault.verdict.end == HOUSE:
                self.house_fault = self.house_fault or fault
            elif self.fault is None and self.house_fault is None:
                self.fault = fault
        return self.fault is not None or (self._strict and bool(self.conversation.tolerated(CLIENT)))

    def _rang(self, now: float) -> list[Effect[bytes]]:
        if self._closed is not None:
            self._over()
            return []
        if self._outbox.deadline is not None or self._held:
            return self._send(now)
        late = now - (self._since + self._patience())
        if more := extra_wait(late):
            self._since += late + more
        if late < 0.0 or more:
            return []
        self.pending_obligation = self._obligation(self.conversation)
        self.conversation_end = ConversationEnd.SILENCE
        self.is_answer_owed = self.house_fault is None and (
            self.referee.deadline is not None or bool(self.conversation.incomplete(HOUSE))
        )
        self._halting = True
        if self.house_fault is not None:
            return self._drop(now)
        self._closes = True
        return self._do(self._responder.leave(at_once=True), now)

    def _patience(self) -> float:
        resting = (
            self.has_spoken and not self._obligation(self.conversation) and not self.conversation.incomplete(CLIENT)
        )
        broken = self.house_fault is not None and not self._setup.listens_after_fault
        return self._times.idle_seconds if resting or broken else self._times.act_seconds

    def _watch(self) -> None:
        """When to look next."""
        if self.on_over is _nothing:
            self.deadline = None
        elif self._closed is not None:
            self.deadline = self._closed + self._times.close_seconds
        else:
            due = [
                self._outbox.deadline if self._outbox.deadline is not None else inf,
                *(at for at, _ in self._held[:1]),
            ]
            self.deadline = min(due) if min(due) < inf else self._since + self._patience()
            self.deadline = None if self.deadline == inf else self.deadline

    def _over(self) -> None:
        over, self.on_over = self.on_over, _nothing
        over()


def _nothing() -> None:
    """Everything has been seen."""
