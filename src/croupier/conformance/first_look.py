"""A first look at a program before it is tested: finds what would make every case fail, in a server within two seconds.

A server that is slow, silent until it is asked, or serves one client at a time is not suspicious: the look reports only
what no server of the room does.
"""

import asyncio
import json
from collections.abc import Callable, Collection
from contextlib import suppress
from enum import Enum
from ssl import SSLContext
from typing import Final, NamedTuple

from msgspec import Struct

from croupier.clients.identify import speaks_tls
from croupier.conformance.listening import HOST, connect_error, is_accepted
from croupier.conformance.program import ProgramUnderTest
from croupier.conformance.timeouts import StallTolerantTimeout, extra_wait
from croupier.core.codec import printable_bytes, printable_start
from croupier.core.recognition import is_tls, recognise_room
from croupier.core.room import Room
from croupier.core.session import Address
from croupier.net.addresses import connect_error_reason, format_address
from croupier.net.streams import open_streams
from croupier.rooms import ROOMS
from croupier.rooms.holdem import ROOM as HOLDEM
from croupier.rooms.oldmaid import ROOM as OLDMAID

LOOK_SECONDS: Final = 1.9
"""How long a look takes at most; one at a server that answers the probe takes less than half a second.

A server that has answered as one of another room is looked at once more.
"""

GREETING_SECONDS: Final = 0.2
"""How long a new connection is watched before anything is sent."""

SILENT_SECONDS: Final = 0.5
"""A server that has not answered the probe after this time is mentioned, and the look ends. It may only be slow."""

QUIET_SECONDS: Final = 0.3
"""An answer that is not recognised is complete after this time without more of it."""

MAX_CONNECTIONS_CLOSED: Final = 3
CLOSE_PAUSE_SECONDS: Final = 0.3
"""A server that closes this many connections in a row, with this pause between them, closes all of them."""

MAX_ANSWER_BYTES: Final = 256 << 10
"""An unrecognised answer that is longer is garbage: no answer to a probe is longer than a list of games, 128 KiB."""

TABLE_KEYS: Final = frozenset({"result", "in", "out"})
"""Every answer of an Old Maid table has one of these keys. JSON alone does not make a table."""


class End(Enum):
    """How the look at a connection has ended."""

    NOT_ACCEPTED = "the server has not accepted the connection"
    CLOSED_AT_ONCE = "the server has closed the connection before anything was sent"
    CLOSED = "the server has closed the connection after the probe"
    FLOODED = "the server has sent more than MAX_ANSWER_BYTES"
    OPEN = "the server has sent everything, or nothing"


class Answer(Struct, frozen=True):
    """What a server has sent on a connection, the `greeting` before anything was sent, and how the look has ended."""

    data: bytes
    end: End
    greeting: bytes = b""


class FirstLook(NamedTuple):
    """What a first look has found: a paragraph on what is wrong with the server, None if nothing is obviously wrong.

    `greeting` is what the server has sent before anything was sent to it, if that is no message of the room.
    """

    trouble: str | None
    greeting: bytes = b""


async def first_look(
    room: Room,
    host: str,
    port: int,
    ssl: SSLContext | None = None,
    *,
    on_notice: Callable[[str], None] = lambda _: None,
    is_ours: bool = False,
) -> FirstLook:
    """Look at the server of a room.

    It is reached with TLS if there is `ssl`. `on_notice` receives a paragraph on what may be wrong, once that shows.
    If it `is_ours`, it may end: the tester starts it again.
    Nothing changes at a server of the room, which sees one connection with the room's probe. A server that closes or
    is of another kind sees up to three connections, one after the other.
    """
    address = (host, port)
    deadline = asyncio.get_running_loop().time() + LOOK_SECONDS
    shown = format_address(address)

    def on_silence() -> None:
        on_notice(
            f"The server at {shown} has accepted a connection, and has not answered for {SILENT_SECONDS:g} seconds. It "
            "may only be slow, so the test goes on: a missing answer fails after --timeout. If it should have "
            "answered, it may wait for more bytes or a line end, or still serve another client."
        )

    try:
        answer = await _look(room, address, deadline, ssl, on_silence)
    except (OSError, UnicodeError) as error:
        return FirstLook(_unreachable(address, error))
    return FirstLook(await _find_trouble(room, address, answer, ssl, is_ours=is_ours), answer.greeting)


async def _find_trouble(
    room: Room, address: Address, answer: Answer, ssl: SSLContext | None, *, is_ours: bool
) -> str | None:
    """Return the paragraph on what is wrong with a server that has sent this answer; None if nothing is obviously."""
    shown = format_address(address)
    if answer.end is End.NOT_ACCEPTED:
        return (
            f"A program listens at {shown}, but has not accepted a connection for {LOOK_SECONDS:g} seconds. It may "
            "never call accept(), wait for something else such as its keyboard, or still serve another client. End "
            "other clients, and let the server accept a connection as soon as it listens."
        )
    if answer.end is End.CLOSED_AT_ONCE:
        return (
            f"The server at {shown} closes every connection at once, before the client has sent anything. It may have "
            "failed where it begins to serve a client, or still serve another client and refuse a second one. Look at "
            "what the server prints, and end other clients."
        )
    if is_tls(answer.data) or (answer.end is End.CLOSED and not answer.data and await speaks_tls(address)):
        if room is OLDMAID:
            remedy = f", and {room.title_in_sentence} is tested without TLS. Start the server without TLS for the test."
        else:
            remedy = ". Test it with TLS: --tls, or --tls-ca FILE with its certificate authority, in the terminal."
        return f"The server at {shown} speaks TLS{remedy}"
    if answer.end is End.CLOSED and not answer.data and not is_ours and (gone := await connect_error(*address)):
        return (
            f"The server at {shown} has ended its first conversation without an answer, and takes no connections any "
            f"more ({connect_error_reason(gone)}). The client had sent {printable_bytes(room.probe)}. The server may "
            "have failed at these bytes, or end with its first client. Look at what the server prints, and start it "
            "again; or let `croupier check` start it, with --server and its command: then it starts again whenever it "
            "has ended."
        )
    if recognise_room(answer.data, [room]) is not None:
        return None
    if answer.end is End.FLOODED:
        return (
            f"The server at {shown} sends more than {MAX_ANSWER_BYTES:,} bytes that are no message of "
            f"{room.title_in_sentence}, beginning with {printable_start(answer.data)}. It may write to the connection "
            "in a loop, or write a whole buffer instead of the part that it has filled. Let it write nothing but its "
            "messages."
        )
    return await _describe_other_room(room, address, answer, ssl)


async def first_look_at_client(command: str, placeholders: Collection[str], seconds: float) -> None:
    """Start a client, and stop it as soon as it has connected.

    Raises ProgramError if it ends without that, or does not connect within `seconds`, and ValueError if its command has
    a name in braces that is not in `placeholders`.
    """
    connected = asyncio.Event()

    class Waiting(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            connected.set()
            transport.close()

    server = await asyncio.get_running_loop().create_server(Waiting, HOST, 0)
    async with server:
        address = server.sockets[0].getsockname()
        known = {"host": HOST, "port": address[1], "url": f"http://{format_address(address)}"}
        values = {name: known.get(name, name) for name in placeholders}
        async with await ProgramUnderTest.start(command, values) as program:
            await program.wait_connected(connected, address, seconds)


async def _look(
    room: Room, address: Address, deadline: float, ssl: SSLContext | None, on_silence: Callable[[], None]
) -> Answer:
    """Talk to a server, once more if it closes the connection at once. Raises OSError if it cannot be reached."""
    answer = await _talk(room, address, deadline, ssl, on_silence)
    for _ in range(MAX_CONNECTIONS_CLOSED - 1):
        if answer.end is not End.CLOSED_AT_ONCE:
            break
        await asyncio.sleep(CLOSE_PAUSE_SECONDS)
        answer = await _talk(room, address, deadline, ssl, on_silence)
    return answer


async def _talk(
    room: Room,
    address: Address,
    deadline: float,
    ssl: SSLContext | None,
    on_silence: Callable[[], None] = lambda: None,
) -> Answer:
    """Send the probe of a room on a new connection, and receive the answer. Raises OSError without a connection."""
    loop = asyncio.get_running_loop()
    async with StallTolerantTimeout(deadline - loop.time()):
        reader, writer = await open_streams(*address, ssl=ssl)
    try:
        answer = await _receive(room, reader, b"", min(deadline, loop.time() + GREETING_SECONDS))
        if answer.end is End.CLOSED and not answer.data:
            return Answer(b"", End.CLOSED_AT_ONCE)
        if answer.end is not End.OPEN:
            return answer
        is_message = recognise_room(answer.data, [room]) is not None and _may_be(room, answer.data)
        greeting = b"" if is_message else answer.data
        writer.write(room.probe)
        silent_at = min(deadline, loop.time() + SILENT_SECONDS)
        answer = await _receive(room, reader, answer.data, deadline, silent_at)
        if answer.end is End.OPEN and not answer.data:
            if _is_accepted(writer):
                on_silence()
                return answer
            answer = await _receive(room, reader, b"", deadline)
        if extra := extra_wait(loop.time() - deadline):
            answer = await _receive(room, reader, answer.data, loop.time() + extra)
        if answer.end is End.OPEN and not answer.data and not _is_accepted(writer):
            return Answer(b"", End.NOT_ACCEPTED)
        return Answer(answer.data, answer.end, greeting)
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


def _is_accepted(writer: asyncio.StreamWriter) -> bool:
    """Whether the server has accepted a connection, if it is on this machine."""
    (server, port, *_), (client, client_port, *_) = (writer.get_extra_info(end) for end in ("peername", "sockname"))
    return server != client or is_accepted(port, client_port)


async def _receive(
    room: Room, reader: asyncio.StreamReader, data: bytes, deadline: float, first_deadline: float | None = None
) -> Answer:
    """Receive what follows `data` until it is a message of the room, ends, or is too long, or until the deadline.

    The first byte has another deadline if there is a `first_deadline`.
    """
    loop = asyncio.get_running_loop()
    silent_at = deadline if first_deadline is None else first_deadline
    while len(data) <= MAX_ANSWER_BYTES and recognise_room(data, [room]) is None:
        try:
            async with asyncio.timeout_at(min(deadline, loop.time() + QUIET_SECONDS) if data else silent_at):
                more = await reader.read(1 << 16)
        except TimeoutError:
            return Answer(data, End.OPEN)
        if not more:
            return Answer(data, End.CLOSED)
        data += more
    return Answer(data, End.FLOODED if len(data) > MAX_ANSWER_BYTES else End.OPEN)


def _unreachable(address: Address, error: Exception) -> str:
    reason = "no answer" if isinstance(error, TimeoutError) else connect_error_reason(error)
    return (
        f"No server takes connections at {format_address(address)} ({reason}). It may not run, have ended, or listen "
        "at another port or another address. Start the server, and test the HOST:PORT at which it listens."
    )


async def _describe_other_room(room: Room, address: Address, answer: Answer, ssl: SSLContext | None) -> str | None:
    """Return the paragraph on a server of another room, None if it is none for certain.

    The answers to the probes of both rooms have to be the other room's: a single one may be a coincidence.
    """
    other = recognise_room(answer.data, ROOMS.values())
    if other is None or not _may_be(other, answer.data):
        return None
    try:
        deadline = asyncio.get_running_loop().time() + LOOK_SECONDS
        confirmed = await _talk(other, address, deadline, ssl)
    except OSError:
        return None
    if recognise_room(confirmed.data, ROOMS.values()) is not other or not _may_be(other, confirmed.data):
        return None
    protocol = "HTTP, as hold'em does" if other is HOLDEM else f"the protocol of {other.title_in_sentence}"
    tested = room.title_in_sentence
    return (
        f"The server at {format_address(address)} speaks {protocol}, and not that of {tested}: it has answered "
        f"{printable_start(answer.data)}. This is probably the address of another server. Test the address of the "
        f"{tested} server, or run `croupier check {other.name}`."
    )


def _may_be(room: Room, answer: bytes) -> bool:
    """Whether an answer with the pattern of a room is really one of it. Only Old Maid's pattern is not conclusive."""
    if room is not OLDMAID:
        return True
    try:
        found, _ = json.JSONDecoder().raw_decode(answer.decode().lstrip())
    except (ValueError, RecursionError):
        return False
    return bool(TABLE_KEYS & found.keys())
