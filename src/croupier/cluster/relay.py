"""Connections of clients that another node serves: their bytes go over the bus, in both directions.

The node that has accepted a connection checks nothing but limits, PROXY protocol and TLS; the other node has the client
as a connection of its own, with the address of the client. Each end of a stream sends one message at a time, and the
next one when that was taken, so the bytes keep their order. A message that is not answered ends the stream, as a broken
cable would: nothing is ever sent twice.
"""

import asyncio
import secrets
from collections.abc import Callable, Collection
from itertools import count
from typing import Any, Final, cast

from msgspec import Struct
from msgspec.msgpack import Decoder, encode
from msgspec.structs import replace

from croupier.cluster.bus import Bus, BusUnavailable, NotDelivered
from croupier.core.logger import Logger
from croupier.core.session import Address
from croupier.net.event_loop import start_task

ANSWER_SECONDS: Final = 2.5
"""The time that the other node has to take a message."""

MAX_MESSAGE_BYTES: Final = 65_536
"""The bytes of a stream in one message."""

TAKEN: Final = b"taken"
FULL: Final = b"full"
"""Taken, but the sender has to wait for `Resumed`: the peer does not read."""

UNKNOWN: Final = b"unknown"
"""There is no such stream, or this node does not serve the client."""


class Opened(Struct, frozen=True, tag="open"):
    """A client of a room, whose stream begins. `node` has accepted it; `certificate` is its TLS certificate."""

    stream: str
    node: str
    room: str
    address: Address | None
    certificate: dict[str, Any] | None = None


class Bytes(Struct, frozen=True, tag="bytes"):
    """Bytes of a stream, and whether its direction ends after them."""

    stream: str
    data: bytes
    is_end: bool = False


class Resumed(Struct, frozen=True, tag="resume"):
    """The sender of a stream may go on."""

    stream: str


class Closed(Struct, frozen=True, tag="close"):
    """A stream is closed in both directions."""

    stream: str


type StreamMessage = Opened | Bytes | Resumed | Closed

decode_message: Final = Decoder(StreamMessage).decode


def relay_subject(node: str) -> str:
    """Return the subject on which a node takes the messages of streams."""
    return f"croupier.relay.{node}"


class StreamEnd(asyncio.Protocol):
    """One end of a stream: what arrives at its transport goes to the other end at `node`, and vice versa.

    Without `node` there is no other end yet, or none any more.
    """

    def __init__(self, relay: "Relay", stream: str, node: str = "") -> None:
        self.stream = stream
        self.node = node
        self.is_lost = False
        self.began_at = asyncio.get_running_loop().time()
        self.transport: asyncio.Transport
        self._relay = relay
        self._outgoing = bytearray()
        self._has_input_ended = False
        self._is_end_sent = False
        self._is_end_taken = False
        self._is_peer_full = False
        self._is_full = False
        self._task: asyncio.Task[None] | None = None

    # Called by the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin the stream."""
        self.transport = cast(asyncio.Transport, transport)  # uvloop's transports are no subclass of it
        self._relay.add(self)

    def data_received(self, data: bytes) -> None:
        """Send bytes to the other end."""
        self._outgoing += data
        if len(self._outgoing) >= MAX_MESSAGE_BYTES:
            self.transport.pause_reading()
        self._send_soon()

    def eof_received(self) -> bool:
        """Send the end of the input; the other end decides when the stream is closed."""
        self._has_input_ended = True
        self._send_soon()
        return True

    def pause_writing(self) -> None:
        """Note that the peer does not read."""
        self._is_full = True

    def resume_writing(self) -> None:
        """Let the other end go on: the peer has caught up."""
        self._is_full = False
        self._relay.notify(self.node, Resumed(self.stream))

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 -- the signature of a protocol
        """Send what waits, and close the other end."""
        self.is_lost = self._has_input_ended = True
        self._is_peer_full = False
        if self.node:
            self._send_soon()
        else:
            self._relay.forget(self)

    # To the other end.

    def connect(self, node: str) -> None:
        """Send what has arrived, and what will arrive, to the other end at a node."""
        self.node = node
        self._send_soon()

    def _send_soon(self) -> None:
        """Send what waits, unless a message is on its way, the peer there does not read, or there is no other end."""
        if self.node and self._task is None and not self._is_peer_full:
            self._task = asyncio.get_running_loop().create_task(self._send_all())

    async def _send_all(self) -> None:
        while (message := self._next_message()) is not None:
            reply = await self._relay.send(self.node, message)
            if reply == UNKNOWN:
                node, self.node = self.node, ""
                self._relay.notify(node, Closed(self.stream))
                self.abort()
                break
            self._is_peer_full = reply == FULL and not self.is_lost
            if len(self._outgoing) < MAX_MESSAGE_BYTES and not self.transport.is_closing():
                self.transport.resume_reading()
        self._task = None
        self._close_if_ended()

    def _next_message(self) -> StreamMessage | None:
        """Return the next message to the other end, None if there is none now."""
        if not self.node or self._is_peer_full:
            return None
        if self._outgoing or (self._has_input_ended and not self._is_end_sent and not self.is_lost):
            data = bytes(self._outgoing[:MAX_MESSAGE_BYTES])
            del self._outgoing[: len(data)]
            self._is_end_sent = self._has_input_ended and not self._outgoing
            return Bytes(self.stream, data, self._is_end_sent)
        if self.is_lost:
            self._relay.forget(self)
            node, self.node = self.node, ""
            self._relay.notify(node, Closed(self.stream))
        return None

    def _close_if_ended(self) -> None:
        """Close the connection when both of its directions have ended."""
        if self._is_end_sent and self._is_end_taken:
            self.transport.close()

    def abort(self) -> None:
        """Close the connection at once."""
        if self.is_lost:
            self._relay.forget(self)
        self.transport.abort()

    # From the other end.

    def take(self, data: bytes, *, is_end: bool) -> bytes:
        """Write bytes from the other end; return the reply."""
        if self.transport.is_closing():
            return TAKEN  # the peer is gone, and the other end will know
        if data:
            self.transport.write(data)
        if is_end:
            self._is_end_taken = True
            if self.transport.can_write_eof():
                self.transport.write_eof()
                self._close_if_ended()
            else:
                self.transport.close()
        return FULL if self._is_full else TAKEN

    def resume(self) -> None:
        """Send again: the peer of the other end reads."""
        self._is_peer_full = False
        self._send_soon()

    def close(self) -> None:
        """Close the connection after what has been written, because the other end is closed."""
        self.node = ""
        self.transport.close()
        asyncio.get_running_loop().call_later(ANSWER_SECONDS, self.transport.abort)  # if the peer does not read


class AcceptedClient(StreamEnd):
    """The end of a stream at the node that has accepted the client. `begin` is called when it is connected.

    `address` is the client's; without it, that of the other end of the connection. `on_end` is called when the
    connection is lost, or another protocol handles it.
    """

    def __init__(self, relay: "Relay", address: Address | None, begin: Callable[["AcceptedClient"], None]) -> None:
        super().__init__(relay, relay.new_stream())
        self.address = address
        self.on_end: Callable[[], None] = lambda: None
        self._begin = begin

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin the stream."""
        super().connection_made(transport)
        if self.address is None and (name := transport.get_extra_info("peername")):
            self.address = name[0], name[1]
        self._begin(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Close the other end."""
        super().connection_lost(exc)
        self.on_end()

    def become(self, protocol: asyncio.Protocol) -> None:
        """Let another protocol handle the connection, which has no other end, from its beginning."""
        self._relay.forget(self)
        self.on_end()
        self.transport.set_protocol(protocol)
        protocol.connection_made(self.transport)
        if self._outgoing:
            protocol.data_received(bytes(self._outgoing))
        if self._has_input_ended and not protocol.eof_received():
            self.transport.close()
        elif len(self._outgoing) >= MAX_MESSAGE_BYTES:
            self.transport.resume_reading()

    @property
    def certificate(self) -> dict[str, Any] | None:
        """The client's verified TLS certificate."""
        certificate: dict[str, Any] | None = self.transport.get_extra_info("peercert")
        return certificate

    def refuse(self, data: bytes) -> None:
        """Send last bytes to the client, and close its connection."""
        node, self.node = self.node, ""
        if node:
            self._relay.notify(node, Closed(self.stream))
        if not self.transport.is_closing():
            self.transport.write(data)
            self.close()


def _with_tuples(value: Any) -> Any:
    """Return a decoded certificate as `ssl` has it: its sequences are tuples."""
    if isinstance(value, dict):
        return {key: _with_tuples(each) for key, each in value.items()}
    return tuple(map(_with_tuples, value)) if isinstance(value, list) else value


class Relay:
    """The streams of a node: of clients that other nodes serve, and of clients that other nodes have accepted.

    `serve` connects such a client to a room, and returns whether the room serves it here.
    """

    def __init__(self, bus: Bus, node: str, log: Logger) -> None:
        self.servers: dict[str, Callable[[StreamEnd, Opened], bool]] = {}
        self._bus = bus
        self._node = node
        self._log = log
        process = secrets.token_hex(8)
        self._names = (f"{process}.{number}" for number in count(1))
        self._ends: dict[str, StreamEnd] = {}
        self._tasks: set[asyncio.Task[bytes]] = set()

    async def start(self) -> None:
        """Take the messages of streams. Raises BusUnavailable."""
        await self._bus.serve(relay_subject(self._node), self._answer)

    def new_stream(self) -> str:
        """Return a name that no other stream has."""
        return next(self._names)

    async def open(
        self, end: StreamEnd, node: str, room: str, address: Address | None, certificate: dict[str, Any] | None
    ) -> bool:
        """Begin the stream of a client of a room at another node; whether that node serves it."""
        message = Opened(end.stream, self._node, room, address, certificate)
        try:
            reply = await self._bus.request(relay_subject(node), encode(message), ANSWER_SECONDS)
        except NotDelivered:
            return False
        except BusUnavailable:  # the stream may have begun there
            self.notify(node, Closed(end.stream))
            self.forget(end)
            end.stream = next(self._names)
            self.add(end)
            return False
        if reply == UNKNOWN:
            return False
        end.connect(node)
        return True

    def add(self, end: StreamEnd) -> None:
        """Note a stream that begins."""
        self._ends[end.stream] = end

    def forget(self, end: StreamEnd) -> None:
        """Forget a stream that is closed."""
        self._ends.pop(end.stream, None)

    def end_dead(self, live: Collection[str], before: float) -> None:
        """Close the streams to nodes that are not alive, if they began before this time.

        A node that comes back may begin a stream before this one has seen its lease renewed.
        """
        for end in [each for each in self._ends.values() if each.node not in {"", *live} and each.began_at < before]:
            end.node = ""
            end.abort()

    def close(self) -> None:
        """Close all streams."""
        for end in [*self._ends.values()]:
            end.abort()

    async def send(self, node: str, message: StreamMessage) -> bytes:
        """Send a message to a node; return its reply, UNKNOWN if there is none."""
        try:
            return await self._bus.request(relay_subject(node), encode(message), ANSWER_SECONDS)
        except BusUnavailable as error:
            self._log.debug("stream broken", node=node, reason=str(error))
            return UNKNOWN

    def notify(self, node: str, message: StreamMessage) -> None:
        """Send a message to a node whose reply does not matter."""
        start_task(self._tasks, self.send(node, message))

    async def _answer(self, body: bytes) -> bytes:
        message = decode_message(body)
        if isinstance(message, Opened):
            message = replace(message, certificate=_with_tuples(message.certificate))
            serve = self.servers.get(message.room)
            is_served = serve is not None and serve(StreamEnd(self, message.stream, message.node), message)
            return TAKEN if is_served else UNKNOWN
        end = self._ends.get(message.stream)
        if end is None:
            return UNKNOWN
        match message:
            case Bytes(_, data, is_end):
                return end.take(data, is_end=is_end)
            case Resumed():
                end.resume()
            case Closed():
                end.close()
        return TAKEN
