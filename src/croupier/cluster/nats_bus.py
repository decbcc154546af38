"""A bus over NATS: request and reply and publish and subscribe of core NATS, keys in a JetStream key-value bucket.

No time to live is used: nodes judge each other by their own clocks. The defaults of the client are too slow for leases
of seconds, so every time limit is set here.
"""

import asyncio
from asyncio import Task
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error, NoRespondersError
from nats.js import JetStreamContext
from nats.js.api import StorageType
from nats.js.errors import BucketNotFoundError, KeyWrongLastSequenceError, NoStreamResponseError
from nats.js.kv import KeyValue

from croupier.cluster.bus import BusUnavailable, KeyChange, NotDelivered, WrongRevision
from croupier.core.logger import Logger
from croupier.net.event_loop import start_task

BUCKET: Final = "croupier"

CONNECT_SECONDS: Final = 5.0
"""The time that a server has to answer when the bus is opened."""

ANSWER_SECONDS: Final = 1.0
"""The time that JetStream has to answer."""

RECONNECT_SECONDS: Final = 0.1
PING_SECONDS: Final = 1
MAX_LOST_PINGS: Final = 2

CLIENT_ERRORS: Final = (Error, OSError, TimeoutError, RuntimeError, AttributeError)
"""What the client raises if a message cannot be sent, or is not answered; some time-outs are those of asyncio.

RuntimeError and AttributeError are those of a connection that is lost while the client writes to it.
"""


async def connect_nats(url: str, log: Logger) -> "NatsBus":
    """Connect to the servers at `url`, which are separated by commas. Raises BusUnavailable."""

    async def note(error: Exception) -> None:
        log.debug("bus", reason=str(error) or repr(error))

    client = Client()
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            await client.connect(
                [each.strip() for each in url.split(",")],
                name="croupier",
                error_cb=note,
                connect_timeout=2,
                reconnect_time_wait=RECONNECT_SECONDS,  # type: ignore[arg-type]  # a float serves as well
                max_reconnect_attempts=-1,
                ping_interval=PING_SECONDS,
                max_outstanding_pings=MAX_LOST_PINGS,
            )
            bus = NatsBus(client)
            await bus.open_bucket()
    except CLIENT_ERRORS as error:
        with suppress(*CLIENT_ERRORS):
            await client.close()
        raise BusUnavailable(
            f"cannot reach the bus at {_without_password(url)}: {str(error) or repr(error)}"
        ) from error
    return bus


class NatsBus:
    """A connection to NATS, with JetStream; see `Bus`."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._stream: JetStreamContext = client.jetstream(timeout=ANSWER_SECONDS)
        self._bucket: KeyValue
        self._tasks: set[Task[None]] = set()

    async def open_bucket(self) -> None:
        """Open the bucket of the keys, or create it."""
        try:
            self._bucket = await self._stream.key_value(BUCKET)
        except BucketNotFoundError:
            self._bucket = await self._stream.create_key_value(bucket=BUCKET, history=1, storage=StorageType.FILE)

    @property
    def is_connected(self) -> bool:
        """Whether the connection is not known to be lost."""
        return self._client.is_connected

    async def request(self, subject: str, body: bytes, timeout: float) -> bytes:
        """Return the answer of the one who serves a subject. Raises NotDelivered and BusUnavailable."""
        if not self.is_connected:
            raise NotDelivered("the connection is lost")
        try:
            return (await self._client.request(subject, body, timeout)).data
        except CLIENT_ERRORS as error:
            raise _translated(error) from error

    async def serve(self, subject: str, handler: Callable[[bytes], Awaitable[bytes]]) -> None:
        """Answer the requests of a subject, each in a task of its own."""

        async def answer(message: Msg) -> None:
            reply = await handler(message.data)
            with suppress(*CLIENT_ERRORS):
                await message.respond(reply)

        async def start(message: Msg) -> None:  # the client awaits it before the next message
            start_task(self._tasks, answer(message))

        await self._subscribe(subject, start)

    async def publish(self, subject: str, body: bytes) -> None:
        """Send a message to all subscribers. A write that does not end counts as one that has failed."""
        with self._translated_errors():
            async with asyncio.timeout(ANSWER_SECONDS):
                await self._client.publish(subject, body)

    async def subscribe(self, pattern: str, handler: Callable[[str, bytes], None]) -> None:
        """Call `handler` with each message."""

        async def handle(message: Msg) -> None:
            handler(message.subject, message.data)

        await self._subscribe(pattern, handle)

    async def compare_and_set(self, key: str, value: bytes, revision: int) -> int:
        """Write a key that has this revision. Raises WrongRevision and BusUnavailable."""
        with self._translated_errors():
            try:
                return await self._bucket.update(key, value, last=revision)
            except KeyWrongLastSequenceError:
                raise WrongRevision(key) from None
            except NoStreamResponseError:  # the server has lost its keys
                await self.open_bucket()
                raise

    async def watch(self, pattern: str) -> AsyncIterator[KeyChange]:
        """Yield the keys that match a pattern, and their changes."""
        with self._translated_errors():
            watcher = await self._bucket.watch(pattern)
        try:
            async for entry in watcher:
                if entry is not None and entry.value is not None:  # None: all keys have been yielded
                    yield KeyChange(entry.key, entry.value, entry.revision or 0)
        finally:
            with suppress(*CLIENT_ERRORS):
                await watcher.stop()  # type: ignore[no-untyped-call]  # it is untyped

    async def close(self) -> None:
        """Close the connection."""
        with suppress(*CLIENT_ERRORS):
            await self._client.close()

    async def _subscribe(self, subject: str, callback: Callable[[Msg], Awaitable[None]]) -> None:
        with self._translated_errors():
            await self._client.subscribe(subject, cb=callback)
            # Until the server knows. The client writes the ping of a flush before what is queued, such as the
            # subscription, so only a second ping follows it.
            for _ in range(2):
                await self._client.flush(int(CONNECT_SECONDS))

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        """Raise BusUnavailable for the errors of the client, at once while it reconnects: it would send later."""
        if not self.is_connected:
            raise BusUnavailable("the connection is lost")
        try:
            yield
        except CLIENT_ERRORS as error:
            raise _translated(error) from error


def _translated(error: Exception) -> BusUnavailable:
    if isinstance(error, NoRespondersError):
        return NotDelivered("nobody serves the subject")
    return BusUnavailable(str(error) or repr(error))


def _without_password(url: str) -> str:
    """Return a URL as it may be logged.

    >>> _without_password("nats://user:secret@host:4222")
    'nats://host:4222'
    """
    return ",".join(
        f"{scheme}{slashes}{rest.rpartition('@')[2]}"
        for scheme, slashes, rest in (each.strip().rpartition("://") for each in url.split(","))
    )
