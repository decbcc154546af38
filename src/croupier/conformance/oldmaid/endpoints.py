"""All connections of a player under test: to the table, to players it calls, and from players that call it."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final, cast

from croupier.conformance.channel.delivery import WHOLE, Delivery
from croupier.conformance.conversation import DialogueLine
from croupier.conformance.listening import HOST
from croupier.conformance.oldmaid.answers import ReceivedMessage
from croupier.conformance.oldmaid.dialect import JsonDialect
from croupier.conformance.oldmaid.outcomes import dialogue_line
from croupier.conformance.oldmaid.reader import MessageReader, with_line_ends
from croupier.conformance.program import ProgramUnderTest, error_suffix
from croupier.conformance.timeouts import StallTolerantTimeout
from croupier.core.referee import CLIENT, HOUSE
from croupier.core.session import Address
from croupier.core.spans import Span, SpanReader
from croupier.net.event_loop import wait_set
from croupier.net.prompt_connection import acknowledge_at_once
from croupier.net.stop_listening import stop_listening
from croupier.rooms.oldmaid.wire import Dialect, Join, Message, Wire

MIN_CONNECT_SECONDS: Final = 0.2
"""How long one attempt to connect to the program may take at least; a busy machine needs more than a moment."""

MIN_DIALOGUE_LINES: Final = 500
"""The number of dialogue lines that are kept at least: a program may talk forever."""


type StartProgram = Callable[[Mapping[str, object]], Awaitable[ProgramUnderTest]]
"""Starts the program under test with host, port and nick."""

STATUS_POLL_SECONDS: Final = 0.1
"""The interval at which the program's exit status is checked."""

LAST_LOOK_SECONDS: Final = 0.02
"""How long activity is awaited that a program has shown before its end was noticed."""


class ProgramConnection(asyncio.Protocol):
    """A connection with the program. `name` is the peer at our end ("table" for the table).

    `received` are the unprocessed messages of the program; `has_ended`: the program has disconnected, and `was_reset`:
    by a reset.
    """

    def __init__(self, endpoints: "ProgramEndpoints", name: str, *, called: bool) -> None:
        self.name = name
        self.is_outgoing = called
        self.received: deque[ReceivedMessage] = deque()
        self.has_received = False
        self.has_ended = False
        self.was_reset = False
        self.is_closed = False
        self.address: Address = (HOST, 0)
        self.reader = MessageReader(
            "table" if name == "table" else "player", detected_dialect=endpoints.detected_dialect
        )
        self._own_spans = SpanReader[Message](Wire("player", dialect=endpoints.dialect))
        self._endpoints = endpoints
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Register the connection."""
        self._transport = cast(asyncio.Transport, transport)
        name = transport.get_extra_info("peername")
        self.address = (name[0], name[1]) if name else (HOST, 0)
        self._endpoints.add_connection(self)

    def data_received(self, data: bytes) -> None:
        """Read messages of the program."""
        acknowledge_at_once(self._transport)
        for message in self.reader.feed(data):
            self.has_received = True
            self._endpoints.add_line(CLIENT, self, message.data)
            self.received.append(message)
        self._endpoints.notify()

    def eof_received(self) -> bool:
        """Handle the end of the program's input."""
        self._set_ended()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """Handle the closed connection."""
        self.was_reset = not self.has_ended and isinstance(exc, ConnectionError)
        self._set_ended()

    @property
    def incomplete(self) -> bytes:
        """The beginning of a message that the program has not ended; a reset may have cut one that it has."""
        return b"" if self.was_reset else self.reader.incomplete

    @property
    def is_unused(self) -> bool:
        """Whether the program has sent nothing on it."""
        return not (self.has_received or self.incomplete)

    def _set_ended(self) -> None:
        self.has_ended = True
        self._endpoints.notify()

    def send(self, data: bytes) -> None:
        """Send bytes to the program; if there is a pause before whole messages, each of them in one piece."""
        spans = [*self._own_spans.feed(data)]
        ended = with_line_ends(data, spans)
        self._endpoints.has_open_lines |= ended != data
        if self._endpoints.ends_lines:
            data = ended
        self._endpoints.add_line(HOUSE, self, data)
        for piece in self._whole_messages(spans) if self._is_spaced else [data]:
            self._endpoints.send(self, piece)

    @property
    def _is_spaced(self) -> bool:
        return self._endpoints.delivery.is_spaced and not self._endpoints.ends_lines

    def _whole_messages(self, spans: Sequence[Span[Message]]) -> Sequence[bytes]:
        """Return each message that is complete, the last one with the white space after it; a begun one waits."""
        messages, rest = [span.data.lstrip() for span in spans], self._own_spans.incomplete
        if rest.strip():
            return messages
        return [*messages[:-1], messages[-1] + rest] if messages else [rest]

    def close(self) -> None:
        """Disconnect after everything that was sent."""
        if self._is_spaced:
            self._endpoints.send(self, self._own_spans.incomplete.lstrip())
        self._endpoints.send(self, None)

    def abort(self) -> None:
        """Disconnect at once; what was not sent yet is lost."""
        self.is_closed = True
        self._transport.abort()

    def write(self, data: bytes | None) -> None:
        """Write bytes; None closes the connection."""
        if data is None:
            self.is_closed = True
            self._transport.close()
        elif not (self.is_closed or self._transport.is_closing()):
            self._transport.write(data)


class ProgramEndpoints:
    """Listens as the table and as players, and calls the program.

    `nick` is the program's, and `program_address` where it listens; None before it has joined. When
    `is_dialogue_closed` is set, nothing is added to the dialogue: its last line shows the fault. `on_connection` is
    called for each connection, `on_activity` whenever the program does anything, which also sets `activity`. Bytes are
    sent as `delivery` says, with a line end after each message if that `ends_lines`; `has_open_lines`: there was a
    message without one. Players are listed in the `dialect`, and the program's messages are read by
    `detected_dialect` if there is one.
    """

    def __init__(
        self,
        *,
        delivery: Delivery = WHOLE,
        ends_lines: bool = False,
        dialect: Dialect = "document",
        detected_dialect: JsonDialect | None = None,
    ) -> None:
        self.dialect: Dialect = dialect
        self.detected_dialect = detected_dialect
        self.ends_lines = ends_lines
        self.has_open_lines = False
        self.nick: str | None = None
        self.program_address: Address | None = None
        self.is_dialogue_closed = False
        self.dialogue: list[DialogueLine] = []
        self.on_connection: Callable[[ProgramConnection], None] = lambda _: None
        self.on_activity: Callable[[], None] = lambda: None
        self.activity = asyncio.Event()
        self.delivery = delivery
        self._loop = asyncio.get_running_loop()
        self._servers: dict[str, asyncio.Server] = {}
        self._connections: list[ProgramConnection] = []
        self._outbox: deque[tuple[ProgramConnection, bytes | None]] = deque()
        self._is_closed = False

    @property
    def has_connections(self) -> bool:
        """Whether the program has connected."""
        return bool(self._connections)

    async def listen(self, name: str, *, starts: bool = True) -> Address:
        """Listen as the table or as a player; return the address. If not `starts`, connections are refused for now."""
        server = await self._loop.create_server(
            lambda: ProgramConnection(self, name, called=False), HOST, 0, start_serving=False
        )
        self._servers[name] = server  # before the next await: `close` closes it if this is cancelled there
        if starts:
            await server.start_serving()
        address: Address = server.sockets[0].getsockname()[:2]
        return address

    async def start_listening(self, name: str, delay_seconds: float) -> None:
        """Accept connections at the address of a player from some time on."""
        await asyncio.sleep(delay_seconds)
        if name in self._servers and not self._is_closed:
            await self._servers[name].start_serving()

    async def connect(self, name: str, address: Address, seconds: float) -> ProgramConnection | None:
        """Call the program as a player, and retry until it listens; return None if it does not in time."""
        end = self._loop.time() + seconds
        while True:
            with suppress(OSError, TimeoutError):
                async with StallTolerantTimeout(max(MIN_CONNECT_SECONDS, end - self._loop.time())):
                    _, connection = await self._loop.create_connection(
                        lambda: ProgramConnection(self, name, called=True), *address
                    )
                    return connection
            if self._loop.time() >= end:
                return None
            await asyncio.sleep(0.05)

    def stop_listening(self, name: str) -> None:
        """Stop listening as a peer."""
        if name in self._servers:
            stop_listening(self._servers.pop(name))

    async def close(self) -> None:
        """Close all connections and stop listening."""
        self._is_closed = True
        for server in self._servers.values():
            stop_listening(server)
        self._outbox.clear()
        for connection in self._connections:
            connection.abort()
        await asyncio.sleep(0)  # the sockets are closed in the next iteration of the loop

    # Events.

    def record_join(self, connection: ProgramConnection, join: Join) -> None:
        """Record the nick and the address of the program."""
        self.nick = join.nick
        self.program_address = (connection.address[0], join.port or connection.address[1])

    def add_connection(self, connection: ProgramConnection) -> None:
        """Register a connection."""
        if self._is_closed:  # the loop had accepted it before
            connection.abort()
            return
        self._connections.append(connection)
        self.on_connection(connection)
        self.notify()

    def notify(self) -> None:
        """Notify of any activity of the program."""
        self.activity.set()
        self.on_activity()

    def add_line(self, side: int, connection: ProgramConnection, data: bytes) -> None:
        """Add a message to the dialogue; no bytes mean that our end disconnects."""
        if self.is_dialogue_closed:
            return
        peers = (self.nick or "player", connection.name)
        sender, receiver = peers if side == CLIENT else peers[::-1]
        self.dialogue.append(dialogue_line(side, sender, receiver, data, self._loop.time()))
        if len(self.dialogue) > 2 * MIN_DIALOGUE_LINES:
            del self.dialogue[:MIN_DIALOGUE_LINES]

    def end_dialogue(self, last: bytes) -> None:
        """Add nothing more to the dialogue, and end it with these bytes of the program if it has sent them."""
        self.is_dialogue_closed = True
        found = (at for at in reversed(range(len(self.dialogue))) if self.dialogue[at].side == CLIENT)
        at = next((at for at in found if self.dialogue[at].data == last.strip()), len(self.dialogue))
        del self.dialogue[at + 1 :]

    def send(self, connection: ProgramConnection, data: bytes | None) -> None:
        """Send bytes in pieces, in the order of all messages; None closes the connection."""
        if self.delivery == WHOLE:
            connection.write(data)
            return
        was_empty = not self._outbox
        pieces = [None] if data is None else self.delivery.split(data)
        self._outbox += ((connection, piece) for piece in pieces)
        if was_empty:
            self._loop.call_later(self.delivery.delay_seconds, self._send_next)

    def _send_next(self) -> None:
        """Send the next piece."""
        if not self._outbox:
            return
        connection, piece = self._outbox.popleft()
        connection.write(piece)
        if self._outbox:
            self._loop.call_later(self.delivery.delay_seconds, self._send_next)


async def wait_for_activity(endpoints: ProgramEndpoints, program: ProgramUnderTest) -> str | None:
    """Wait a moment for activity since `activity` was cleared; return how the program has ended, None if it runs.

    What the program did just before it ended counts as activity: a busy machine may notice the end first.
    """
    if await wait_set(endpoints.activity, STATUS_POLL_SECONDS) or program.status is None:
        return None
    if await wait_set(endpoints.activity, LAST_LOOK_SECONDS):
        return None
    return f"the end of the program ({program.end_description}{error_suffix(program.stderr)})"
