"""Finds out what a server speaks that does not speak the game that a client wants to play."""

import asyncio
import ssl
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from ssl import SSLContext
from typing import Any, Final

from croupier.core.codec import Codec, printable_bytes
from croupier.core.errors import Violation
from croupier.core.recognition import is_tls, recognise_room
from croupier.core.room import Room
from croupier.core.session import Address
from croupier.net.addresses import format_address, is_not_tls
from croupier.rooms import ROOMS
from croupier.rooms.holdem import ROOM as HOLDEM

IDENTIFY_AFTER_SECONDS: Final = 1.0
"""A server that has not sent a byte after this time is asked on another connection which game it speaks."""

NOTIFY_AFTER_SECONDS: Final = 2.0
"""After this time of silence the person, or whoever runs the bot, is notified."""

PROBE_TIMEOUT_SECONDS: Final = 1.0
"""How long an answer to a probe is awaited."""

MAX_ANSWER_BYTES: Final = 32
"""How much of an answer is looked at, and at most shown."""


class OtherProtocol(ConnectionError):
    """What answers at an address does not speak the game of the client: another game, or TLS."""


class FirstAnswer:
    """A codec that remembers the beginning of what it was fed, and the last read."""

    def __init__(self, codec: Codec[Any, Any]) -> None:
        self.first_bytes = b""
        self.last_bytes = b""
        self.encode = codec.encode
        self._codec = codec

    @property
    def tolerated(self) -> Any:
        """As in Codec."""
        return self._codec.tolerated

    def feed(self, data: bytes) -> Sequence[Any]:
        """As in Codec."""
        self.last_bytes = data
        if len(self.first_bytes) < MAX_ANSWER_BYTES:
            self.first_bytes += data[:MAX_ANSWER_BYTES]
        return self._codec.feed(data)


def other_protocol_error(room: Room, address: Address, answer: bytes) -> OtherProtocol | None:
    """What an answer says of a server, where it is not one of this room."""
    if is_tls(answer):
        return tls_expected_error(room, address)
    other = recognise_room(answer, ROOMS.values())
    if other is None or other is room:
        return None
    host, port = address
    if port == room.port:
        where = f"give the address of a server of {room.title} as HOST:PORT"
    else:
        where = f"{room.title} is at {format_address((host, room.port))} by default"
    said = printable_bytes(answer[:MAX_ANSWER_BYTES].partition(b"\r\n")[0])
    return OtherProtocol(f"{format_address(address)} speaks {other.title} (it answered {said}); {where}")


def tls_expected_error(room: Room, address: Address) -> OtherProtocol:
    """What is said of a server that speaks TLS to a client that does not."""
    how = "https://" if room is HOLDEM else "--tls or --tls-ca FILE (in a program: ssl=)"
    return OtherProtocol(f"{format_address(address)} speaks TLS; use {how}")


def silence_message(address: Address) -> str:
    """What is said of a server that has been silent for a while."""
    return (
        f"{format_address(address)} has not answered for {NOTIFY_AFTER_SECONDS:g} seconds; still waiting (Ctrl-C ends)"
    )


async def identify(room: Room, address: Address, context: SSLContext | None = None) -> OtherProtocol | None:
    """Find out on a connection of its own whether another game, or TLS, is spoken at an address.

    Nothing is sent that changes anything in the room. None where the server is one of this room, or is not recognised.
    """
    with suppress(OSError, UnicodeError):
        answer = await probe(room, address, context)
        if answer:
            return other_protocol_error(room, address, answer)
        if answer is not None and context is None and await speaks_tls(address):
            return tls_expected_error(room, address)
    return None


async def await_first_answer[T](
    coroutine: Coroutine[Any, Any, T],
    room: Room,
    address: Address,
    context: SSLContext | None,
    notify: Callable[[str], None],
) -> T:
    """Await the first answers of a server. Raises OtherProtocol when there are none because it is another game's."""
    task = asyncio.ensure_future(coroutine)
    try:
        await asyncio.wait({task}, timeout=IDENTIFY_AFTER_SECONDS)
        if not task.done() and (other := await identify(room, address, context)) is not None:
            raise other
        await asyncio.wait({task}, timeout=NOTIFY_AFTER_SECONDS - IDENTIFY_AFTER_SECONDS)
        if not task.done():
            notify(silence_message(address))
        try:
            return await task
        except (Violation, ConnectionError):
            if (other := await identify(room, address, context)) is not None:
                raise other from None
            raise
    finally:
        task.cancel()


async def probe(room: Room, address: Address, context: SSLContext | None = None) -> bytes | None:
    """What a server begins to answer to a probe: empty when it closes the connection, None when it does not answer.

    Raises OSError when no connection can be made.
    """
    reader, writer = await asyncio.wait_for(asyncio.open_connection(*address, ssl=context), PROBE_TIMEOUT_SECONDS)
    try:
        writer.write(room.probe)
        return await asyncio.wait_for(reader.read(MAX_ANSWER_BYTES), PROBE_TIMEOUT_SECONDS)
    except TimeoutError:
        return None
    except ConnectionError:
        return b""
    finally:
        writer.close()


async def speaks_tls(address: Address) -> bool:
    """Whether a server speaks TLS, whatever its certificate. Only for servers that close on everything else."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        _, writer = await asyncio.wait_for(asyncio.open_connection(*address, ssl=context), PROBE_TIMEOUT_SECONDS)
    except ssl.SSLError as error:
        return not is_not_tls(error)
    except OSError:
        return False
    writer.close()
    return True


async def locate(room: Room, host: str, context: SSLContext | None = None) -> Address:
    """The address of the room's server on a host: the default port, or else that of the room's document (G1)."""
    own = (host, room.port)
    if room.document_port is None:
        return own
    old = (host, room.document_port)
    try:
        if await _serves_room(room, own, context):
            return own
    except (OSError, UnicodeError):
        return old
    with suppress(OSError):
        if await _serves_room(room, old, context):
            return old
    return own


async def _serves_room(room: Room, address: Address, context: SSLContext | None) -> bool:
    return recognise_room(await probe(room, address, context) or b"", [room]) is not None
