"""A relay between clients and a house: forwards and judges every byte, and can slow down, split and cut."""

from collections.abc import Callable, Sequence
from typing import Final

from croupier.conformance.channel.delivery import Delivery, Outbox
from croupier.conformance.conversation import ConversationMonitor, Fault
from croupier.conformance.tap.connection import (
    BytesRelayed,
    ConnectionEnded,
    ConnectionOpened,
    SideClosed,
    SilenceFound,
    TapEvent,
    TappedConnection,
)
from croupier.core.codec import RawCodec
from croupier.core.logger import SilentLogger
from croupier.core.referee import CLIENT, HOUSE, OTHER_END
from croupier.core.session import (
    HUNG_UP,
    Address,
    Closing,
    Connect,
    Drop,
    Effect,
    EndOfInput,
    EndOutput,
    Event,
    Joined,
    Left,
    Peer,
    Received,
    Send,
    TimedOut,
)
from croupier.net.endpoint import Endpoint, EndpointLimits

MAX_BUFFER_BYTES: Final = 1 << 20
"""At most this many bytes wait for one end; a conversation that needs more is cut."""

IDLE_TIMEOUT_SECONDS: Final = 60.0
"""How long a connection that is closed in one direction may be idle: the other end may be gone."""


class _Pipe:
    """The state of one relayed connection. `open_sides` are the ends that can be sent to."""

    def __init__(self, connection: TappedConnection, to_house: Delivery, to_client: Delivery) -> None:
        self.connection = connection
        self.outboxes = {HOUSE: Outbox(to_house), CLIENT: Outbox(to_client)}
        self.open_sides = {CLIENT}
        self.ended_inputs: dict[Peer, str] = {}
        """The ends that have ended their output, and why."""
        self.left_sides: set[Peer] = set()
        """The ends that have disconnected."""
        self.reset_sides: set[Peer] = set()
        """Those of them that have reset their connection."""
        self.informed_sides: set[Peer] = set()
        """The ends that were sent the end of output of the other one."""
        self.idle_deadline: float | None = None
        """When it ends if nothing more is relayed."""

    def peer(self, side: Peer) -> Peer:
        """The number of an end on the relay's endpoint."""
        return self.connection.number if side == CLIENT else -self.connection.number

    def is_over(self) -> bool:
        """Whether the relay itself has ended the conversation, so that nothing is judged any more."""
        return bool(self.connection.note)

    def is_empty(self) -> bool:
        """Whether nothing is on its way to an end that still reads."""
        return not any(self.outboxes[side].waiting_bytes for side in (CLIENT, HOUSE) if side not in self.left_sides)

    @property
    def deadline(self) -> float | None:
        """When a piece is due, a silence of the house becomes a fault, or the connection has been idle for too long."""
        times = [self.answer_deadline, self.idle_deadline, *(self.outboxes[side].deadline for side in self.open_sides)]
        return min((time for time in times if time is not None), default=None)

    @property
    def answer_deadline(self) -> float | None:
        """When a silence of the house becomes a fault; None after a cut."""
        return None if self.is_over() else self.connection.conversation.deadline


class Relay:
    """A session that connects to the target for every client that joins, and passes all events to `on_event` in order.

    The conversation is judged from the point of view of the house: client data counts when it is forwarded, house data
    when it arrives. `cut_after` ends every connection after that many messages of both ends together. An end that has
    ended its output still receives data. The conversation may change what the client receives from the house.
    """

    def __init__(
        self,
        target: Address,
        new_monitor: Callable[[], ConversationMonitor],
        on_event: Callable[[TapEvent], None],
        *,
        to_house: Delivery = Delivery(),
        to_client: Delivery = Delivery(),
        cut_after: int | None = None,
    ) -> None:
        self._target = target
        self._new_monitor = new_monitor
        self._on_event = on_event
        self._to_house = to_house
        self._to_client = to_client
        self._cut_after = cut_after
        self._pipes: dict[int, _Pipe] = {}

    @property
    def deadline(self) -> float | None:
        """When a piece is due, a silence of a house becomes a fault, or a connection has been idle for too long."""
        return min((time for pipe in self._pipes.values() if (time := pipe.deadline) is not None), default=None)

    def on(self, event: Event[bytes], now: float) -> list[Effect[bytes]]:
        """Process an event; return its effects."""
        match event:
            case Received(peer, data):
                pipe = self._pipes[abs(peer)]
                return self._on_data(pipe, CLIENT if peer > 0 else HOUSE, data, now)
            case Joined(peer, address):
                return self._on_joined(peer, address, now)
            case EndOfInput(peer):
                pipe = self._pipes[abs(peer)]
                return self._on_end_of_input(pipe, CLIENT if peer > 0 else HOUSE, HUNG_UP, now)
            case Left(peer) as left:
                return self._on_left(self._pipes[abs(peer)], CLIENT if peer > 0 else HOUSE, left, now)
            case TimedOut():
                return [effect for pipe in self._pipes.values() for effect in self._on_timeout(pipe, now)]
            case Closing(is_final=True):
                return [effect for pipe in self._pipes.values() for effect in self._cut(pipe, "the relay closes", now)]
        return []

    def _on_joined(self, peer: Peer, address: Address | None, now: float) -> list[Effect[bytes]]:
        if peer < 0:
            pipe = self._pipes[-peer]
            pipe.connection.has_reached_target = True
            pipe.open_sides.add(HOUSE)
            return self._pump(pipe, now)
        connection = TappedConnection(peer, address, self._new_monitor(), now)
        connection.conversation.max_lines = self._cut_after
        connection.conversation.client_address = address
        self._pipes[peer] = _Pipe(connection, self._to_house, self._to_client)
        self._on_event(ConnectionOpened(connection, now))
        return [Connect(-peer, self._target)]

    def _on_data(self, pipe: _Pipe, side: Peer, data: bytes, now: float) -> list[Effect[bytes]]:
        if pipe.is_over():
            return []
        if pipe.idle_deadline is not None:
            pipe.idle_deadline = now + IDLE_TIMEOUT_SECONDS
        if side == HOUSE:
            data = pipe.connection.conversation.to_client(self._judge(pipe, HOUSE, data, now))
        outbox = pipe.outboxes[OTHER_END[side]]
        outbox.push(data, now)
        if outbox.waiting_bytes > MAX_BUFFER_BYTES:
            return self._cut(pipe, f"found more than {MAX_BUFFER_BYTES} bytes that wait for one end", now)
        return self._pump(pipe, now)

    def _judge(self, pipe: _Pipe, side: Peer, data: bytes, now: float) -> bytes:
        """Judge data; drop what follows the message at which the conversation is cut."""
        conversation = pipe.connection.conversation
        before = len(conversation.lines)
        faults = conversation.on_data(side, data, now)
        if conversation.line_count == self._cut_after:
            pipe.connection.note = f"cut after {self._cut_after} messages"
            data = data[: len(data) - conversation.excess_bytes]
        self._on_event(BytesRelayed(pipe.connection, now, side, data, conversation.lines[before:], faults))
        return data

    def _pump(self, pipe: _Pipe, now: float) -> list[Effect[bytes]]:
        """Forward what is due; once an end has closed and its data has left, close the other one."""
        effects: list[Effect[bytes]] = []
        if HOUSE in pipe.open_sides and not pipe.is_over():
            for piece in pipe.outboxes[HOUSE].pop_due(now):
                effects.append(Send(pipe.peer(HOUSE), self._judge(pipe, CLIENT, piece, now)))
                if pipe.is_over():
                    break
        if pipe.is_over():
            pipe.outboxes[HOUSE].clear()
        if CLIENT in pipe.open_sides:
            effects += (Send(pipe.peer(CLIENT), piece) for piece in pipe.outboxes[CLIENT].pop_due(now))
        if effects and pipe.idle_deadline is not None:
            pipe.idle_deadline = now + IDLE_TIMEOUT_SECONDS
        for side in (CLIENT, HOUSE):
            if side in pipe.open_sides and not pipe.outboxes[side].waiting_bytes:
                effects += self._follow(pipe, side, now)
        return effects

    def _follow(self, pipe: _Pipe, side: Peer, now: float) -> list[Effect[bytes]]:
        """Repeat the close of one end on the other, which has received everything."""
        other = OTHER_END[side]
        both = len(pipe.ended_inputs) == 2 and pipe.is_empty()
        end = pipe.is_over() or other in pipe.left_sides or both
        if not end and (other not in pipe.ended_inputs or side in pipe.informed_sides):
            return []
        if side == HOUSE and CLIENT in pipe.ended_inputs:
            self._close(pipe, CLIENT, now)
        pipe.informed_sides.add(side)
        if not end:
            return [EndOutput(pipe.peer(side))]
        pipe.open_sides.discard(side)
        return [Drop(pipe.peer(side))]

    def _on_end_of_input(self, pipe: _Pipe, side: Peer, reason: str, now: float) -> list[Effect[bytes]]:
        pipe.ended_inputs.setdefault(side, reason)
        pipe.idle_deadline = now + IDLE_TIMEOUT_SECONDS
        if side == HOUSE or not pipe.outboxes[HOUSE].waiting_bytes:
            self._close(pipe, side, now)
        if side == HOUSE and CLIENT in pipe.open_sides:
            pipe.outboxes[CLIENT].push(pipe.connection.conversation.to_client(b""), now)
        return self._pump(pipe, now)

    def _on_left(self, pipe: _Pipe, side: Peer, left: Left, now: float) -> list[Effect[bytes]]:
        connection = pipe.connection
        pipe.open_sides.discard(side)
        pipe.left_sides.add(side)
        if left.was_reset:
            pipe.reset_sides.add(side)
        pipe.outboxes[side].clear()
        if side == HOUSE and not connection.has_reached_target:
            connection.note = connection.note or f"no house answers: {left.reason}"
        effects = self._on_end_of_input(pipe, side, left.reason, now)
        if len(pipe.left_sides) == 2:
            self._close(pipe, CLIENT, now)
            connection.ended_at = now
            del self._pipes[connection.number]
            self._on_event(ConnectionEnded(connection, now))
        return effects

    def _close(self, pipe: _Pipe, side: Peer, now: float) -> None:
        """Report the close of an end after all of its data was judged."""
        connection = pipe.connection
        if side not in connection.closed_sides:
            connection.closed_sides.append(side)
            conversation = connection.conversation
            faults: Sequence[Fault] = ()
            if not pipe.is_over() and side in pipe.left_sides:
                faults = conversation.on_disconnect(side, now, was_reset=side in pipe.reset_sides)
            elif not pipe.is_over():
                faults = conversation.on_end_of_input(side, now)
            self._on_event(SideClosed(connection, now, side, pipe.ended_inputs[side], faults))

    def _on_timeout(self, pipe: _Pipe, now: float) -> list[Effect[bytes]]:
        if pipe.idle_deadline is not None and pipe.idle_deadline <= now:
            pipe.idle_deadline = None if pipe.is_empty() else now + IDLE_TIMEOUT_SECONDS
        if pipe.ended_inputs and pipe.idle_deadline is None:
            return self._cut(
                pipe, f"nothing was relayed for {IDLE_TIMEOUT_SECONDS:g} seconds after one end has closed", now
            )
        deadline = pipe.answer_deadline
        if deadline is not None and deadline <= now and (faults := pipe.connection.conversation.on_timeout(now)):
            self._on_event(SilenceFound(pipe.connection, now, faults))
        return self._pump(pipe, now)

    def _cut(self, pipe: _Pipe, note: str, now: float) -> list[Effect[bytes]]:
        if not pipe.open_sides and len(pipe.ended_inputs) == 2:
            return []  # both ends have already closed
        pipe.connection.note = pipe.connection.note or note
        for outbox in pipe.outboxes.values():
            outbox.clear()
        return self._pump(pipe, now)


def relay_endpoint(relay: Relay, close_timeout: float = 2.0) -> Endpoint:
    """Return an endpoint with a relay, ready to listen."""
    limits = EndpointLimits(
        max_connections_per_address=0,
        max_write_buffer_bytes=MAX_BUFFER_BYTES,
        close_timeout=close_timeout,
        allow_half_close=True,
    )
    return Endpoint(relay, RawCodec, SilentLogger(), limits=limits)
