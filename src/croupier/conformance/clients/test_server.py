"""A test server: the house for one client under test, correct or faulty, which observes what the client does."""

from collections.abc import Sequence, Set
from enum import Enum, auto
from math import inf
from typing import Any, Final, NamedTuple

from croupier.conformance.channel.delivery import Outbox
from croupier.conformance.clients.setup import (
    ClientTimeouts,
    HouseAction,
    HouseLimit,
    HouseSetup,
    Obligation,
    Unforeseeable,
    never,
    no_limit,
)
from croupier.conformance.conversation import AnyClientReferee, Conversation, DialogueLine, Fault
from croupier.conformance.diagnosis.causes import REFUSAL_CODES, is_error, message_code
from croupier.conformance.responders import HouseReply, Responder, message_kind
from croupier.conformance.timeouts import extra_wait
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.session import CLOSED, Drop, Effect, Event, Joined, Left, Peer, Received, Send, TimedOut


class Decision(NamedTuple):
    """What a client has to decide.

    `clause` is the one by which it has to send something, empty if it need not; `kinds` are those of the legal
    messages. `has_played`: a game has been finished.
    """

    clause: str = ""
    kinds: Set[str] = frozenset()
    has_played: bool = False


NO_DECISION: Final = Decision()

MAX_IDLE_MESSAGES: Final = 3
"""After the state was reached, a client may send this many messages without starting a game."""


MAX_MESSAGES: Final = 4000
"""At most this many messages are processed in one case: a client may go on forever with what it cannot pay."""

MAX_REPEATS: Final = 100
"""A client that has sent one and the same refused message this often in a row will not stop."""

MAX_SILENT_VISITS: Final = 20
"""A client that has connected, and left without sending anything, this often in a row will not stop either."""


class ConversationEnd(Enum):
    """How a conversation has ended."""

    RUNNING = auto()
    """It has not ended yet."""
    CLIENT = auto()
    """The client closed."""
    SILENCE = auto()
    """The client was silent, although it had to act or nothing was left to do."""
    ENDLESS = auto()
    """The client repeated what the house refused."""
    HOUSE = auto()
    """The house said goodbye, or closed."""


class HouseTestServer:
    """The house's side of one conversation with a client under test. See `Session`; its messages are bytes.

    It serves the first client; if that one leaves without sending anything, the next one, a few times.
    `conversation_end` is how the conversation ended, `has_reached_state` whether the state came up,
    `is_state_between_games` whether no game was in progress then, `has_spoken` whether the client has sent a whole
    message, `fault` its first fault, and `house_fault` that of the house. `limit_fault` is the client's first message
    that only exceeds a limit of the house.
    `pending` is what the client had to decide at the end, and `decisions` is what it has decided;
    `is_answer_owed` whether it was silent because the house still owed it something. `is_closing`: the house says
    goodbye, or the client has said it; the house ends the conversation by itself at `ending_since`.
    `close_delay_seconds` is the time from the close of the house to that of the client, None if the client did not
    close. `slowest_seconds` is the longest time in which a message of the client came. `was_reset`: the client has
    reset the connection. `was_left_waiting`: the client has left before an answer that was on its way.
    `messages_since_state` does not count errors that the client reports: who complains has not gone on.

    A message that a client has sent before an answer that it could not foresee is no fault (`has_sent_ahead`).
    """

    def __init__(
        self,
        responder: Responder,
        setup: HouseSetup,
        conversation: Conversation,
        *,
        obligation: Obligation,
        timeouts: ClientTimeouts,
        is_unforeseeable: Unforeseeable = never,
        is_limit_of_house: HouseLimit = no_limit,
        strict: bool = False,
    ) -> None:
        self.conversation = conversation
        conversation.sender = HOUSE
        self.deadline: float | None = None
        self.has_connected = False
        self.has_spoken = False
        self.has_reached_state = False
        self.is_state_between_games = False
        self.messages_since_state = 0
        self.reaction: Any = None
        """The first message of the client after a fault of the house."""
        self.conversation_end = ConversationEnd.RUNNING
        self.pending = NO_DECISION
        self.decisions: list[Decision] = []
        self.has_sent_ahead = False
        self.early_rest = b""
        """The beginning of the message that the house was sending when the client sent one, other than a complaint."""
        self.is_closing = False
        self.ending_since = inf
        self.is_answer_owed = False
        self.fault: Fault | None = None
        self.limit_fault: Fault | None = None
        self.house_fault: Fault | None = None
        self.close_delay_seconds: float | None = None
        self.was_reset = False
        self.was_left_waiting = False
        self.slowest_seconds = 0.0
        self.is_over = False
        """Whether there is nothing more to observe."""
        self._responder = responder
        self._setup = setup
        self._obligation = obligation
        self._is_unforeseeable = is_unforeseeable
        self._is_limit_of_house = is_limit_of_house
        self._timeouts = timeouts
        self._strict = strict
        self._peer: Peer | None = None
        self._outbox = Outbox(setup.delivery)
        self._closed_at: float | None = None
        self._waiting_since = inf
        self._sent_at = -inf
        self._games_at_state = self._lines_at_state = 0
        self._idle_messages = 0  # since the state was reached and the last game was over
        self._silent_visits = 0
        self._repeats = 0  # of the message that was refused last
        self._repeating_since = inf

    @property
    def referee(self) -> AnyClientReferee:
        """The referee of the conversation."""
        return self.conversation.referee

    @property
    def is_ending(self) -> bool:
        """Whether the house ends the conversation by itself."""
        return self.ending_since < inf

    @property
    def has_been_left(self) -> bool:
        """Whether the client has played, and left before the state was reached: it may connect again."""
        faults = (self.fault, self.house_fault)
        has_ended = self.is_over or self._closed_at is not None
        is_left = self.conversation_end in {ConversationEnd.CLIENT, ConversationEnd.HOUSE} and not self.is_ending
        return has_ended and is_left and self.has_spoken and not self.has_reached_state and faults == (None, None)

    @property
    def lines_since_state(self) -> Sequence[DialogueLine]:
        """What was said after the state came up."""
        return self.conversation.lines[self._lines_at_state :] if self.has_reached_state else []

    @property
    def last_decision(self) -> Decision:
        """What the client had to decide when it left."""
        has_said_goodbye = self.conversation_end is ConversationEnd.HOUSE
        return self.decisions[-1] if has_said_goodbye and self.decisions else self.pending

    @property
    def pending_obligation(self) -> str:
        """The clause by which the client had to act at the end, empty if it had not."""
        return self.pending.clause

    @property
    def _decision(self) -> Decision:
        """What the client has to decide now."""
        kinds = frozenset(map(message_kind, self.referee.legal))
        return Decision(self._obligation(self.conversation), kinds, self.referee.finished_count > 0)

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
            case Left(peer) as left if peer == self._peer:
                self._on_left(left, now)
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
        """Process the messages of a read, which were all sent before the answer to the first of them."""
        decision = self._decision
        start = len(self.conversation.lines)
        rest = b"" if self.is_closing else self.conversation.incomplete(HOUSE)
        self.conversation.on_data(CLIENT, data, now)
        codes = {message_code(line.message) for line in self.conversation.lines[start:]}
        if not codes or not codes <= REFUSAL_CODES:
            self.early_rest = self.early_rest or rest
        effects: list[Effect[bytes]] = []
        for line in self.conversation.lines[start:]:
            self.slowest_seconds = max(self.slowest_seconds, now - self._waiting_since)
            self._waiting_since = now  # single bytes do not extend the timeout
            self.decisions.append(decision)
            effects += self._on_message(line.message, now)
            if self.is_closing:
                return effects
        return [*effects, *self._settle(now)]

    def _settle(self, now: float) -> list[Effect[bytes]]:
        """Rule out what the referee holds possible only because the house might answer later: it has answered all.

        In seven and a half an ERRO may refuse the last message, or the ANTE before it.
        """
        deadline = self.referee.deadline
        if deadline is None or self.referee.pending is not None or self._outbox.deadline is not None:
            return []
        self.conversation.on_timeout(deadline)
        return self._check_state(now)

    def _on_message(self, message: Any, now: float) -> list[Effect[bytes]]:
        """React to a message."""
        self.has_spoken = True
        self.messages_since_state += self.has_reached_state and not is_error(message)
        self._count_repeats(message, now)
        is_idle_message = self.has_reached_state and (not self._repeats or self._is_late(now))
        self._idle_messages = self._idle_messages + is_idle_message if self.referee.game is None else 0
        if self.house_fault is not None:
            self.reaction = message
        if self._record_faults() or self.house_fault is not None:
            return self._finish(now)
        return self._deliver(self._responder.answer(message), now)

    def _count_repeats(self, message: Any, now: float) -> None:
        """Count how often in a row the client has sent again what the house has just refused."""
        before = [(line.side, line.message) for line in self.conversation.lines[-3:-1]]
        is_refused = len(before) == 2 and before[0] == (CLIENT, message) and before[1][0] == HOUSE
        self._repeats = self._repeats + 1 if is_refused and message_code(before[1][1]) in REFUSAL_CODES else 0
        if self._repeats <= 1:
            self._repeating_since = now

    def _is_late(self, now: float) -> bool:
        """Whether the client has repeated a refused message for longer than it may take to act."""
        return self._repeats > 1 and now - self._repeating_since > self._timeouts.act_seconds

    def _is_endless(self, now: float) -> bool:
        """Whether the client will not stop with its messages. One that has to act does not act by repeating them."""
        is_repeating = self._repeats >= MAX_REPEATS or (self._is_late(now) and bool(self._decision.clause))
        return is_repeating or len(self.conversation.lines) > MAX_MESSAGES

    def _on_left(self, left: Left, now: float) -> None:
        silent = not self.has_spoken and not self.conversation.incomplete(CLIENT)
        self._silent_visits += silent
        if silent and self._is_next_awaited:
            self._peer = None  # it may only have checked whether the server is up
            self._waiting_since = inf
            return
        if self.is_over:
            return  # the program is stopped after the observation
        if self._closed_at is not None:
            self.close_delay_seconds = None if left.reason == CLOSED else now - self._closed_at
        elif self.conversation_end is ConversationEnd.RUNNING:
            self.pending = self._decision
            self.was_reset = left.was_reset
            self.was_left_waiting = self._outbox.deadline is not None
            self.conversation.on_disconnect(CLIENT, now)
            self.conversation_end = ConversationEnd.CLIENT
        self.is_over = True

    @property
    def _is_next_awaited(self) -> bool:
        """Whether another client is served if the first one leaves without sending anything."""
        is_running = self._closed_at is None and self.conversation_end is ConversationEnd.RUNNING
        return is_running and self._silent_visits < MAX_SILENT_VISITS

    # Answers of the house.

    def _deliver(self, reply: HouseReply, now: float) -> list[Effect[bytes]]:
        """Send a reply as the setup delivers it."""
        self.is_closing |= reply.closes
        gap, delayed = self._setup.message_gap_seconds, self._setup.delayed_messages
        messages = reply.messages if gap or delayed else [b"".join(reply.messages)]
        for message in filter(None, messages):
            pause = gap if self._outbox.deadline is not None else max(0.0, self._sent_at + gap - now)
            self._outbox.push(message, now, pause + delayed.get(message, 0.0))
        return self._send(now)

    def _send(self, now: float) -> list[Effect[bytes]]:
        """Send what is due. Messages without a gap leave in one piece."""
        assert self._peer is not None, "a client is connected"
        effects: list[Effect[bytes]] = []
        for piece in self._outbox.pop_due(now):
            self._waiting_since = self._sent_at = now
            effects.append(Send(self._peer, piece))
            self.conversation.on_data(HOUSE, piece, now)
        if self._outbox.deadline is not None:
            return effects
        if self.is_closing and self._closed_at is None:
            self.has_reached_state |= self._responder.is_over
            return [*effects, *self._drop(now)]
        return effects + self._check_state(now)

    def _check_state(self, now: float) -> list[Effect[bytes]]:
        """Check what the conversation has come to, once everything that was owed is sent."""
        if self._closed_at is not None or self._outbox.deadline is not None or self._peer is None:
            return []
        if self._record_faults():
            return self._finish(now)
        if self.house_fault is not None:
            return []
        if self._is_endless(now):
            self.pending = self._decision
            self.conversation_end = ConversationEnd.ENDLESS
            return self._finish(now)
        if self._responder.is_over or (not self._responder.deviation and self._setup.is_reached(self.conversation)):
            if not self.has_reached_state:
                self.has_reached_state = True
                self._games_at_state = self.referee.finished_count
                self._lines_at_state = len(self.conversation.lines)
                self.is_state_between_games = self.referee.game is None
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
            or self._idle_messages >= MAX_IDLE_MESSAGES
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
        self.is_closing = True
        if self.fault is None and self.house_fault is None and not self.is_ending:
            self.ending_since = now
            return self._deliver(self._responder.leave(at_once=True), now)
        return self._drop(now)

    def _drop(self, now: float) -> list[Effect[bytes]]:
        assert self._peer is not None, "a client is connected"
        self._closed_at = now
        if self.conversation_end is ConversationEnd.RUNNING:
            self.pending = self._decision
            self.conversation_end = ConversationEnd.HOUSE
            self.conversation.on_disconnect(HOUSE, now)
            self._record_faults()
        return [Drop(self._peer)]

    # Faults and timeouts.

    def _record_faults(self) -> bool:
        """Record the first fault; return whether the client is at fault."""
        goodbyes_may_cross = self.is_closing and self._setup.action is HouseAction.CLOSE
        for fault in self.conversation.faults:
            if fault.verdict.party == HOUSE:
                self.house_fault = self.house_fault or (None if goodbyes_may_cross else fault)
            elif self.fault is None and self.house_fault is None and not self._is_excused(fault):
                self.fault = fault
        return self.fault is not None or (self._strict and bool(self.conversation.tolerated(CLIENT)))

    def _is_excused(self, fault: Fault) -> bool:
        """Whether a message was sent before an answer which the client could not foresee, or exceeds only a limit."""
        lines = self.conversation.lines
        sent, *later = lines[fault.sent_index : fault.line_count]
        if self._is_limit_of_house(fault.verdict.violation, sent.message, lines[: fault.sent_index]):
            self.limit_fault = self.limit_fault or fault
            return True
        is_excused = any(self._is_unforeseeable(line.message, sent.message) for line in later)
        self.has_sent_ahead |= is_excused
        return is_excused

    def _on_timeout(self, now: float) -> list[Effect[bytes]]:
        if self._closed_at is not None:
            self.is_over = True
            return []
        if self._outbox.deadline is not None:
            return self._send(now)
        late = now - (self._waiting_since + self._current_timeout())
        if more := extra_wait(late):
            self._waiting_since += late + more
        if late < 0.0 or more:
            return []
        self.pending = self._decision
        self.conversation_end = ConversationEnd.SILENCE
        self.is_answer_owed = self.house_fault is None and (
            self.referee.deadline is not None or bool(self.conversation.incomplete(HOUSE))
        )
        self.ending_since = now
        if self.house_fault is not None:
            return self._drop(now)
        self.is_closing = True
        return self._deliver(self._responder.leave(at_once=True), now)

    def _current_timeout(self) -> float:
        is_idle = (
            self.has_spoken and not self._obligation(self.conversation) and not self.conversation.incomplete(CLIENT)
        )
        has_broken = self.house_fault is not None
        return self._timeouts.idle_seconds if is_idle or has_broken else self._timeouts.act_seconds

    def _set_deadline(self) -> None:
        """Set the next deadline."""
        if self.is_over:
            self.deadline = None
        elif self._closed_at is not None:
            self.deadline = self._closed_at + self._timeouts.close_seconds
        elif self._outbox.deadline is not None:
            self.deadline = self._outbox.deadline
        else:
            due = self._waiting_since + self._current_timeout()
            self.deadline = due if due < inf else None
