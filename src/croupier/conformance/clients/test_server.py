"""A test server: the house for one client under test, correct or faulty, which observes what the client does."""

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
"""Returns the clause by which the client has to send something now, empty if it need not."""

type StateReached = Callable[[Conversation], bool]
"""Whether a state has come up; called when the house has sent everything that it owes."""

PLAIN_DELIVERY: Final = Delivery()
MAX_IDLE_MESSAGES: Final = 3
"""After the state was reached, a client may send this many messages without starting a game."""


MAX_MESSAGES: Final = 4000
"""At most this many messages are processed in one case: a client may repeat forever what it cannot pay."""


class HouseAction(Enum):
    """What the house does when the state was reached."""

    PLAY = auto()
    """Play on."""
    LEAVE = auto()
    """Say goodbye and close at once."""
    CLOSE = auto()
    """Say goodbye with the end of the game and close."""
    HANG_UP = auto()
    """Close without a goodbye, which is a fault of the house."""


class ConversationEnd(Enum):
    """How a conversation has ended."""

    RUNNING = auto()
    """It has not ended yet."""
    CLIENT = auto()
    """The client closed."""
    SILENCE = auto()
    """The client was silent, although it had to act or nothing was left to do."""
    HOUSE = auto()
    """The house said goodbye, or closed."""


class ClientTimeouts(Struct, frozen=True):
    """How long to wait for the client, in seconds.

    `act_seconds` is for a client that has to send something; `idle_seconds` for one that need not, because no game is
    in progress, and for one that has received a fault of the house; `close_seconds` for one that has seen the house
    close.
    """

    act_seconds: float = 5.0
    idle_seconds: float = 1.0
    close_seconds: float = 1.0


class HouseSetup(Struct, frozen=True, kw_only=True):
    """How the test server behaves; see `HouseAction` and `Delivery`.

    After `max_games` games the conversation ends, whether the state was reached or not.
    """

    is_reached: StateReached
    action: HouseAction = HouseAction.PLAY
    delivery: Delivery = PLAIN_DELIVERY
    max_games: int = 12
    min_games: int = 1
    """At least this many games are finished once the state was reached."""
    listens_after_fault: bool = False
    """After its own fault the house waits until the client closes; otherwise the next message decides."""
    message_gap_seconds: float = 0.0
    """The pause between two messages that are sent together."""
    delayed_messages: Mapping[bytes, float] = {}
    """Messages of the house that are held back for some seconds."""


class HouseTestServer:
    """The house's side of one conversation with a client under test. See `Session`; its messages are bytes.

    It serves the first client; if that one leaves without sending anything, the next one. `conversation_end` is how the
    conversation ended, `has_reached_state` whether the state came up, `has_spoken` whether the client has sent a whole
    message, `fault` its first fault, and `house_fault` that of the house. `pending_obligation` is the clause by which
    the client had to act at the end, if any; `has_waited` whether it left after it had received everything;
    `is_answer_owed` whether it was silent because the house still owed it something. `close_delay_seconds` is the time
    from the close of the house to that of the client, None if the client did not close.
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
        """The first message of the client after a fault of the house."""
        self.conversation_end = ConversationEnd.RUNNING
        self.pending_obligation = ""
        self.has_waited = False
        self.is_answer_owed = False
        self.fault: Fault | None = None
        self.house_fault: Fault | None = None
        self.close_delay_seconds: float | None = None
        self.on_over: Callable[[], None] = lambda: None
        """Called when there is nothing more to observe."""
        self._responder = responder
        self._setup = setup
        self._obligation = obligation
        self._codec = codec
        self._timeouts = timeouts
        self._strict = strict
        self._peer: Peer | None = None
        self._outbox = Outbox(setup.delivery)
        self._delayed: list[tuple[float, bytes]] = []
        self._closes = False
        self._closed_at: float | None = None
        self._waiting_since = inf
        self._is_ending = False
        self._games_at_state = 0

    @property
    def referee(self) -> AnyClientReferee:
        """The referee of the conversation."""
        return self.conversation.referee

    @property
    def deviation(self) -> str:
        """A sentence about the message with which the client left the script; empty if it has not."""
        return self._responder.deviation

    def on(self, event: Event[bytes], now: float) -> list[Effect[bytes]]:
        """Process an event; return its effects."""
        effects: list[Effect[bytes]] = []
        match event:
            case Joined(peer):
                effects += self._on_joined(peer, now)
            case Received(peer, message) if peer == self._peer and self._closed_at is None:
                effects += self._on_data(message, now)
            case Left(peer, reason) if peer == self._peer:
                self._on_left(reason, now)
            case TimedOut():
                effects += self._on_timeout(now)
            case _:
                pass  # another client, or data that crosses our close
        self._set_deadline()
        return effects

    # Events of the client.

    def _on_joined(self, peer: Peer, now: float) -> list[Effect[bytes]]:
        if self._peer is not None:
            return [Drop(peer)]
        self._peer = peer
        self.has_connected = True
        self._waiting_since = now
        return self._deliver(self._responder.greet(), now)

    def _on_data(self, data: bytes, now: float) -> list[Effect[bytes]]:
        """Process every message and its answer before the next one: later messages may cross the answer."""
        effects: list[Effect[bytes]] = []
        start = 0
        for end in range(1, len(data) + 1):
            for item in self._codec.feed(data[end - 1 : end]):
                self._waiting_since = now  # single bytes do not extend the timeout
                self.conversation.on_data(CLIENT, data[start:end], now)
                start = end
                effects += self._on_message(item, now)
            if self._closes:
                return effects
        self.conversation.on_data(CLIENT, data[start:], now)
        return effects

    def _on_message(self, item: Any, now: float) -> list[Effect[bytes]]:
        """React to a message."""
        self.has_spoken = True
        self.messages_since_state += self.has_reached_state
        if self.house_fault is not None:
            self.reaction = item
            if self._setup.listens_after_fault:
                return []
        if self._record_faults() or self.house_fault is not None:
            return self._finish(now)
        return self._deliver(self._responder.answer(item), now)

    def _on_left(self, reason: str, now: float) -> None:
        silent = not self.has_spoken and not self.conversation.incomplete(CLIENT)
        if silent and self._closed_at is None and self.conversation_end is ConversationEnd.RUNNING:
            self._peer = None  # it may only have checked whether the server is up
            self._waiting_since = inf
            return
        if self.on_over is _do_nothing:
            return  # the program is stopped after the observation
        if self._closed_at is not None:
            self.close_delay_seconds = None if reason == "closed" else now - self._closed_at
        else:
            self.pending_obligation = self._obligation(self.conversation)
            self.has_waited = not self._outbox.waiting_bytes and not self._delayed
            self.conversation.on_disconnect(CLIENT, now)
            self.conversation_end = ConversationEnd.CLIENT
        self._end_observation()

    # Answers of the house.

    def _deliver(self, reply: HouseReply, now: float) -> list[Effect[bytes]]:
        """Send a reply as the setup delivers it."""
        self._closes |= reply.closes
        messages = (
            reply.messages
            if self._setup.message_gap_seconds or self._setup.delayed_messages
            else [b"".join(reply.messages)]
        )
        due = max([now, *(at for at, _ in self._delayed)])
        for message in filter(None, messages):
            due += self._setup.delayed_messages.get(message, 0.0)
            self._delayed.append((due, message))
            due += self._setup.message_gap_seconds
        return self._send(now)

    def _send(self, now: float) -> list[Effect[bytes]]:
        """Send what is due. Messages without a gap leave in one piece."""
        assert self._peer is not None, "a client is connected"
        while self._delayed and self._delayed[0][0] <= now:
            self._outbox.push(self._delayed.pop(0)[1], now)
        effects: list[Effect[bytes]] = []
        for piece in self._outbox.pop_due(now):
            self._waiting_since = now
            effects.append(Send(self._peer, piece))
            self.conversation.on_data(HOUSE, piece, now)
        if self._outbox.deadline is not None or self._delayed:
            return effects
        if self._closes and self._closed_at is None:
            self.has_reached_state |= self._responder.is_over
            return [*effects, *self._drop(now)]
        return effects + self._check_state(now)

    def _check_state(self, now: float) -> list[Effect[bytes]]:
        """Check what the conversation has come to, once everything that was owed is sent."""
        if self._closed_at is not None or self._outbox.deadline is not None or self._delayed or self._peer is None:
            return []
        if self._record_faults():
            return self._finish(now)
        if self.house_fault is not None:
            return []
        if len(self.conversation.lines) > MAX_MESSAGES:
            return self._finish(now)
        if self._responder.is_over or (not self._responder.deviation and self._setup.is_reached(self.conversation)):
            if not self.has_reached_state:
                self.has_reached_state = True
                self._games_at_state = self.referee.finished_count
                return self._act(now)
        elif not self.has_reached_state:
            return self._finish(now) if self._has_played_enough(self._setup.max_games) else []
        return self._finish(now) if self._has_played_enough(self._setup.min_games) else []

    def _has_played_enough(self, games: int) -> bool:
        """Whether no game is in progress, and enough games were finished, or messages sent without one.

        After the state was reached, the client finishes the game, or another one if the state was the end of a game.
        """
        if self.referee.game is not None or not self.referee.legal:
            return False
        return (
            self.referee.finished_count >= max(games, self._games_at_state + 1)
            or self.messages_since_state >= MAX_IDLE_MESSAGES
        )

    def _act(self, now: float) -> list[Effect[bytes]]:
        match self._setup.action:
            case HouseAction.LEAVE:
                return self._deliver(self._responder.leave(at_once=True), now)
            case HouseAction.CLOSE:
                return self._deliver(self._responder.leave(at_once=False), now)
            case HouseAction.HANG_UP:
                return self._drop(now)
            case HouseAction.PLAY:
                return self._finish(now) if self._has_played_enough(self._setup.min_games) else []

    def _finish(self, now: float) -> list[Effect[bytes]]:
        """End the conversation as the protocol requires."""
        self._closes = True
        if self.fault is None and self.house_fault is None and not self._is_ending:
            self._is_ending = True
            return self._deliver(self._responder.leave(at_once=True), now)
        return self._drop(now)

    def _drop(self, now: float) -> list[Effect[bytes]]:
        assert self._peer is not None, "a client is connected"
        self._closed_at = now
        if self.conversation_end is ConversationEnd.RUNNING:
            self.pending_obligation = self._obligation(self.conversation)
            self.conversation_end = ConversationEnd.HOUSE
            self.conversation.on_disconnect(HOUSE, now)
            self._record_faults()
        return [Drop(self._peer)]

    # Faults and timeouts.

    def _record_faults(self) -> bool:
        """Record the first fault; return whether the client is at fault."""
        for fault in self.conversation.faults:
            if fault.verdict.party == HOUSE:
                self.house_fault = self.house_fault or fault
            elif self.fault is None and self.house_fault is None:
                self.fault = fault
        return self.fault is not None or (self._strict and bool(self.conversation.tolerated(CLIENT)))

    def _on_timeout(self, now: float) -> list[Effect[bytes]]:
        if self._closed_at is not None:
            self._end_observation()
            return []
        if self._outbox.deadline is not None or self._delayed:
            return self._send(now)
        late = now - (self._waiting_since + self._current_timeout())
        if more := extra_wait(late):
            self._waiting_since += late + more
        if late < 0.0 or more:
            return []
        self.pending_obligation = self._obligation(self.conversation)
        self.conversation_end = ConversationEnd.SILENCE
        self.is_answer_owed = self.house_fault is None and (
            self.referee.deadline is not None or bool(self.conversation.incomplete(HOUSE))
        )
        self._is_ending = True
        if self.house_fault is not None:
            return self._drop(now)
        self._closes = True
        return self._deliver(self._responder.leave(at_once=True), now)

    def _current_timeout(self) -> float:
        is_idle = (
            self.has_spoken and not self._obligation(self.conversation) and not self.conversation.incomplete(CLIENT)
        )
        broken = self.house_fault is not None and not self._setup.listens_after_fault
        return self._timeouts.idle_seconds if is_idle or broken else self._timeouts.act_seconds

    def _set_deadline(self) -> None:
        """Set the next deadline."""
        if self.on_over is _do_nothing:
            self.deadline = None
        elif self._closed_at is not None:
            self.deadline = self._closed_at + self._timeouts.close_seconds
        else:
            due = [
                self._outbox.deadline if self._outbox.deadline is not None else inf,
                *(at for at, _ in self._delayed[:1]),
            ]
            self.deadline = min(due) if min(due) < inf else self._waiting_since + self._current_timeout()
            self.deadline = None if self.deadline == inf else self.deadline

    def _end_observation(self) -> None:
        over, self.on_over = self.on_over, _do_nothing
        over()


def _do_nothing() -> None:
    """The callback after the observation has ended."""
