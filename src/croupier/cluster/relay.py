"""Connections of clients that another node serves: their bytes go over the bus, in both directions.

The node that has accepted a connection checks nothing but limits, PROXY protocol and TLS; the other node has the client
as a connection of its own, with the address of the client. The messages of all streams between two nodes go over one
link (`cluster/link.py`), which keeps them in order. When the link is broken, so are its streams, as by a broken cable:
nothing is ever sent twice.
"""

import asyncio
from collections.abc import Callable, Collection
from contextlib import suppress
from itertools import count
from typing import Any, Final, cast

from msgspec import Struct
from msgspec.msgpack import Decoder, encode
from msgspec.structs import replace

from croupier.cluster.bus import Bus, BusUnavailable, NotDelivered
from croupier.cluster.link import (
    ANSWER_SECONDS,
    CHECK_SECONDS,
    Bytes,
    Closed,
    Link,
    StreamMessage,
    Taken,
    decode_batch,
    link_subject,
)
from croupier.core.logger import Logger
from croupier.core.session import Address

MAX_UNTAKEN_BYTES: Final = 65_536
"""One end of a stream has sent at most this many bytes that the other end has not passed on."""


class Opened(Struct, frozen=True):
    """A client of a room, whose stream begins. `process` has accepted it, and `link` is the number of its link.

    `certificate` is the TLS certificate of the client.
    """

    stream: str
    process: str
    link: int
    room: str
    address: Address | None
    certificate: dict[str, Any] | None = None


class Answered(Struct, frozen=True):
    """Whether a node serves a client, and the number of its link."""

    is_served: bool
    link: int


decode_opened: Final = Decoder(Opened).decode
decode_answered: Final = Decoder(Answered).decode


def relay_subject(process: str) -> str:
    """Return the subject on which the process of a node takes clients."""
    return f"croupier.relay.{process}"


class StreamEnd(asyncio.Protocol):
    """One end of a stream: what arrives at its transport goes to the other end in `process`, and vice versa.

    Without `process` there is no other end yet, or none any more. `link` is the number of the link of the other side:
    the stream ends when that begins a new one.
    """

    def __init__(self, relay: "Relay", stream: str, process: str = "", link: int = 0) -> None:
        self.stream = stream
        self.process = process
        self.link = link
        self.is_lost = False
        self.transport: asyncio.Transport
        self._relay = relay
        self._outgoing = bytearray()
        self._allowed_bytes = MAX_UNTAKEN_BYTES
        self._taken_bytes = 0  # that the other end does not know of
        self._is_full = False
        self._has_input_ended = False
        self._is_end_sent = False
        self._is_end_taken = False

    # Called by the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin the stream."""
        self.transport = cast(asyncio.Transport, transport)  # uvloop's transports are no subclass of it
        self._relay.add(self)

    def data_received(self, data: bytes) -> None:
        """Send bytes to the other end."""
        self._outgoing += data
        self._send()
        if len(self._outgoing) >= MAX_UNTAKEN_BYTES:
            self.transport.pause_reading()

    def eof_received(self) -> bool:
        """Send the end of the input; the other end decides when the stream is closed."""
        self._has_input_ended = True
        self._send()
        return True

    def pause_writing(self) -> None:
        """Note that the peer does not read."""
        self._is_full = True

    def resume_writing(self) -> None:
        """Let the other end go on: the peer has caught up."""
        self._is_full = False
        self._note_taken()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 -- the signature of a protocol
        """Send what waits, and close the other end."""
        self.is_lost = True
        self._allowed_bytes = len(self._outgoing)
        self._send()
        self.end()

    # To the other end.

    def connect(self, process: str, link: int) -> None:
        """Send what has arrived, and what will arrive, to the other end in a process."""
        self.process, self.link = process, link
        self._send()
        self._read_on()
        if self.is_lost:
            self.end()

    def end(self) -> None:
        """Close the other end, if there is one, and let it know nothing more of this one."""
        self._relay.forget(self)
        if self.process:
            process, self.process = self.process, ""
            self._relay.send(process, Closed(self.stream))

    def _send(self) -> None:
        """Send as much as the other end allows, if there is one."""
        if not self.process or self._is_end_sent:
            return
        while self._outgoing and self._allowed_bytes:
            data = bytes(self._outgoing[: min(self._allowed_bytes, MAX_UNTAKEN_BYTES)])
            del self._outgoing[: len(data)]
            self._allowed_bytes -= len(data)
            self._is_end_sent = self._has_input_ended and not self._outgoing
            self._relay.send(self.process, Bytes(self.stream, data, self._is_end_sent))
        if self._has_input_ended and not self._outgoing and not self._is_end_sent:
            self._is_end_sent = True
            self._relay.send(self.process, Bytes(self.stream, b"", True))
        self._close_if_ended()

    def _read_on(self) -> None:
        """Read again, unless much waits to be sent."""
        if len(self._outgoing) < MAX_UNTAKEN_BYTES and not self.transport.is_closing():
            self.transport.resume_reading()

    def _note_taken(self) -> None:
        """Let the other end send more, unless the peer does not read."""
        if self.process and self._taken_bytes and not self._is_full:
            self._relay.send(self.process, Taken(self.stream, self._taken_bytes))
            self._taken_bytes = 0

    def _close_if_ended(self) -> None:
        """Close the connection when both of its directions have ended."""
        if self._is_end_sent and self._is_end_taken:
            self.transport.close()

    def abort(self) -> None:
        """Close the connection at once, and the other end."""
        self.end()
        self.transport.abort()

    # From the other end.

    def take(self, data: bytes, *, is_end: bool) -> None:
        """Write bytes from the other end."""
        if self.transport.is_closing():
            return  # the peer is gone, and the other end will know
        if data:
            self.transport.write(data)
            self._taken_bytes += len(data)
            if self._taken_bytes >= MAX_UNTAKEN_BYTES // 2:
                self._note_taken()
        if is_end:
            self._is_end_taken = True
            if self.transport.can_write_eof():
                with suppress(OSError, RuntimeError):  # the peer is gone
                    self.transport.write_eof()
                self._close_if_ended()
            else:
                self.transport.close()

    def allow(self, count: int) -> None:
        """Send more: the other end has passed on this many bytes."""
        self._allowed_bytes += count
        self._send()
        self._read_on()

    def close(self) -> None:
        """Close the connection after what has been written, because the other end is closed."""
        self.process = ""
        self._relay.forget(self)
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
        elif len(self._outgoing) >= MAX_UNTAKEN_BYTES:
            self.transport.resume_reading()

    @property
    def certificate(self) -> dict[str, Any] | None:
        """The client's verified TLS certificate."""
        certificate: dict[str, Any] | None = self.transport.get_extra_info("peercert")
        return certificate

    def refuse(self, data: bytes) -> None:
        """Send last bytes to the client, and close its connection."""
        self.end()
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

    `process` is that of `Node`: a node that is started again has none of the streams of its former process. `servers`
    connect such a client to a room, and return whether the room serves it here.
    """

    def __init__(self, bus: Bus, process: str, log: Logger) -> None:
        self.servers: dict[str, Callable[[StreamEnd, Opened], bool]] = {}
        self._bus = bus
        self._process = process
        self._log = log
        self._names = (f"{process}.{number}" for number in count(1))
        self._link_ids = count(1)
        self._links: dict[str, Link] = {}
        self._ends: dict[str, StreamEnd] = {}
        self._check_task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Take clients and the messages of streams. Raises BusUnavailable."""
        await self._bus.subscribe(link_subject(self._process), self._on_batch)
        await self._bus.serve(relay_subject(self._process), self._answer)
        self._check_task = asyncio.get_running_loop().create_task(self._check_forever())

    def stop(self) -> None:
        """Close all streams, and send nothing more."""
        self.close()
        if self._check_task is not None:
            self._check_task.cancel()
        for link in self._links.values():
            link.close()

    def new_stream(self) -> str:
        """Return a name that no other stream has."""
        return next(self._names)

    async def open(
        self, end: StreamEnd, process: str, room: str, address: Address | None, certificate: dict[str, Any] | None
    ) -> bool:
        """Begin the stream of a client of a room in the process of another node; whether that serves it."""
        message = Opened(end.stream, self._process, self._link(process).id, room, address, certificate)
        try:
            answer = await self._bus.request(relay_subject(process), encode(message), ANSWER_SECONDS)
        except NotDelivered:
            return False
        except BusUnavailable:  # the stream may have begun there
            self.send(process, Closed(end.stream))
            self.forget(end)
            end.stream = next(self._names)
            self.add(end)
            return False
        answered = decode_answered(answer)
        self._link(process).observe(answered.link)
        if answered.is_served:
            end.connect(process, answered.link)
        return answered.is_served

    def add(self, end: StreamEnd) -> None:
        """Note a stream that begins."""
        self._ends[end.stream] = end

    def forget(self, end: StreamEnd) -> None:
        """Forget a stream that is closed."""
        self._ends.pop(end.stream, None)

    def end_dead(self, live: Collection[str], before: float) -> None:
        """Close the streams to processes that are not alive, if they were last heard of before this time.

        A node that comes back may begin a stream before this one has seen its lease renewed.
        """
        for process in [each for each, link in self._links.items() if each not in live and link.heard_at < before]:
            self._break_streams(process, None)
            self._links.pop(process).close()

    def close(self) -> None:
        """Close all streams."""
        for end in [*self._ends.values()]:
            end.abort()

    def send(self, process: str, message: StreamMessage) -> None:
        """Send a message to a process."""
        self._link(process).send(message)

    def _link(self, process: str) -> Link:
        link = self._links.get(process)
        if link is None:
            link = self._links[process] = Link(
                self._bus,
                self._process,
                process,
                self._link_ids,
                on_message=self._on_message,
                on_broken=self._break_streams,
            )
        return link

    def _break_streams(self, process: str, link: int | None) -> None:
        """Close the streams to a process: all, or those from before it has begun a link with this number."""
        ends = [end for end in self._ends.values() if end.process == process and (link is None or end.link < link)]
        if ends:
            self._log.debug("streams broken", process=process, streams=len(ends))
        for end in ends:
            end.abort()

    async def _check_forever(self) -> None:
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            for link in [*self._links.values()]:
                link.check()

    async def _answer(self, body: bytes) -> bytes:
        opened = decode_opened(body)
        link = self._link(opened.process)
        link.observe(opened.link)
        opened = replace(opened, certificate=_with_tuples(opened.certificate))
        serve = self.servers.get(opened.room)
        end = StreamEnd(self, opened.stream, opened.process, opened.link)
        return encode(Answered(serve is not None and serve(end, opened), link.id))

    def _on_batch(self, _: str, body: bytes) -> None:
        batch = decode_batch(body)
        self._link(batch.process).receive(batch)

    def _on_message(self, process: str, message: StreamMessage) -> None:
        end = self._ends.get(message.stream)
        match message:
            case Closed():
                if end is not None:
                    end.close()
            case _ if end is None:
                self.send(process, Closed(message.stream))
            case Bytes(_, data, is_end):
                end.take(data, is_end=is_end)
            case Taken(_, count):
                end.allow(count)
