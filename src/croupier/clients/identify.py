"""Identifies what a server speaks, when it does not answer in the protocol that the client expects."""

import asyncio
import ssl
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from ssl import SSLContext
from typing import Any, Final

from croupier.core.codec import Codec, printable_start
from croupier.core.errors import AddressError, Violation
from croupier.core.presentation import Text, text
from croupier.core.recognition import is_tls, recognise_room
from croupier.core.room import Room
from croupier.core.session import Address
from croupier.net.addresses import format_address, is_not_tls
from croupier.net.streams import open_streams
from croupier.rooms import ROOMS

IDENTIFY_AFTER_SECONDS: Final = 1.0
"""A server that has sent nothing after this time is probed on a second connection."""

NOTIFY_AFTER_SECONDS: Final = 2.0
"""After this time of silence the user is notified."""

PROBE_TIMEOUT_SECONDS: Final = 1.0
"""How long the answer to a probe may take."""

MAX_ANSWER_BYTES: Final = 32
"""Maximum number of bytes of an answer that are examined and shown."""


class OtherProtocol(AddressError):
    """The server at an address speaks another game's protocol, or TLS.

    Example, with `croupier serve sevenhalf` running:
        >>> from croupier import connect
        >>> with connect("kuhn", port=1213) as game:
        ...     game.send(game.legal[0])
        ...     try:
        ...         game.receive()
        ...     except OtherProtocol as error:
        ...         print(error)
        127.0.0.1:1213 speaks seven and a half (it answered ...); Kuhn poker is at 127.0.0.1:1212 by default
    """


class FirstAnswer:
    """A codec that also keeps the beginning of its input, and the latest input."""

    def __init__(self, codec: Codec[Any, Any]) -> None:
        self.first_bytes = b""
        self.last_bytes = b""
        self.encode = codec.encode
        self._codec = codec

    @property
    def tolerated(self) -> Any:
        """See `Codec.tolerated`."""
        return self._codec.tolerated

    def feed(self, data: bytes) -> Sequence[Any]:
        """See `Codec.feed`."""
        self.last_bytes = data
        if len(self.first_bytes) < MAX_ANSWER_BYTES:
            self.first_bytes += data[:MAX_ANSWER_BYTES]
        return self._codec.feed(data)


def other_protocol_error(room: Room, address: Address, answer: bytes) -> OtherProtocol | None:
    """Return an error if an answer shows that the server speaks TLS or another room's protocol, else None."""
    if is_tls(answer):
        return tls_expected_error(room, address)
    other = recognise_room(answer, ROOMS.values())
    if other is None or other is room:
        return None
    host, port = address
    if port == room.port:
        advice = f"give the address of a server of {room.title_in_sentence} as HOST:PORT"
    else:
        advice = f"{room.title_in_sentence} is at {format_address((host, room.port))} by default"
    shown = printable_start(answer)
    return OtherProtocol(f"{format_address(address)} speaks {other.title_in_sentence} (it answered {shown}); {advice}")


def tls_expected_error(room: Room, address: Address) -> OtherProtocol:
    """Return the error for a server that expects TLS."""
    advice = "https://" if room.name == "holdem" else "--tls or --tls-ca FILE (in a program: ssl=)"
    return OtherProtocol(f"{format_address(address)} speaks TLS; use {advice}")


def silence_message(address: Address) -> Text:
    """Return the notice that a server has been silent for a while."""
    return text(
        "{place} has not answered for {seconds} seconds; still waiting (Ctrl-C ends)",
        place=format_address(address),
        seconds=f"{NOTIFY_AFTER_SECONDS:g}",
    )


async def identify(room: Room, address: Address, context: SSLContext | None = None) -> OtherProtocol | None:
    """Find out on a separate connection whether a server speaks another game's protocol, or TLS.

    The probe changes nothing in the room. Returns None if the server is one of this room, or is not recognised.
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
    notify: Callable[[Text], None],
) -> T:
    """Await a coroutine that talks to a server, and probe the server if it does not answer or breaks the protocol.

    `notify` is called after NOTIFY_AFTER_SECONDS. Raises OtherProtocol if the server speaks another protocol.
    """
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
    """Send the room's probe; return the beginning of the answer.

    Returns b"" if the server closes the connection, None if it does not answer. Raises OSError, or UnicodeError for an
    invalid host name, if it cannot be reached.
    """
    async with asyncio.timeout(PROBE_TIMEOUT_SECONDS):
        reader, writer = await open_streams(*address, ssl=context)
    writer.write(room.probe)
    try:
        async with asyncio.timeout(PROBE_TIMEOUT_SECONDS):
            return await reader.read(MAX_ANSWER_BYTES)
    except TimeoutError:
        return None
    finally:
        writer.close()
        with suppress(OSError):
            async with asyncio.timeout(PROBE_TIMEOUT_SECONDS):
                await writer.wait_closed()


async def speaks_tls(address: Address) -> bool:
    """Whether a server accepts a TLS connection, with any certificate.

    Use it only for servers that close the connection after a plain probe.
    """
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
    """Return the address of the room's server on a host: the default port, or else the port in the room's document
    (G1)."""
    default = (host, room.port)
    if room.document_port is None:
        return default
    documented = (host, room.document_port)
    try:
        if await _serves_room(room, default, context):
            return default
    except (OSError, UnicodeError):
        return documented
    with suppress(OSError):
        if await _serves_room(room, documented, context):
            return documented
    return default


async def _serves_room(room: Room, address: Address, context: SSLContext | None) -> bool:
    return recognise_room(await probe(room, address, context) or b"", [room]) is not None
