"""Links between the processes of two nodes: numbered batches of messages over the bus, in order and without a gap.

The bus may lose a message. Each side acknowledges what it has taken, with its own next batch or a little later; when a
batch is missing, or is not acknowledged in time, the link is broken, and both sides end what depends on it.
"""

import asyncio
from collections.abc import Callable, Iterator
from typing import Final

from msgspec import Struct
from msgspec.msgpack import Decoder, encode

from croupier.cluster.bus import Bus, BusUnavailable

CHECK_SECONDS: Final = 0.25
"""A batch is acknowledged after this time at the latest."""

ANSWER_SECONDS: Final = 2.5
"""The time that the other side has to acknowledge a batch."""

FIRST: Final = 1
"""The number of the first batch since a link was begun anew."""

MAX_BATCH_BYTES: Final = 262_144
"""A batch with this many bytes is complete; a message of NATS has at most 1 MiB."""


class Bytes(Struct, frozen=True, gc=False, array_like=True, tag=1):
    """Bytes of a stream, and whether its direction ends after them."""

    stream: str
    data: bytes
    is_end: bool = False


class Taken(Struct, frozen=True, gc=False, array_like=True, tag=2):
    """The receiver of a stream has passed on this many bytes, so that the sender may send as many more."""

    stream: str
    count: int


class Closed(Struct, frozen=True, gc=False, array_like=True, tag=3):
    """A stream is closed in both directions."""

    stream: str


type StreamMessage = Bytes | Taken | Closed


class Batch(Struct, frozen=True, gc=False, array_like=True):
    """What `process` sends at a time.

    `number` counts its batches since it has begun its side of the link anew, which then has another, larger number
    `link`; 0 only acknowledges. `taken` is the number of the last batch that it has taken since the other side has
    begun its own, `taken_link`.
    """

    process: str
    link: int
    number: int
    taken_link: int
    taken: int
    messages: tuple[StreamMessage, ...] = ()


decode_batch: Final = Decoder(Batch).decode


def link_subject(process: str) -> str:
    """Return the subject on which a process takes batches."""
    return f"croupier.link.{process}"


class Link:
    """The side of this process, `own_process`, of its link to `process`. `heard_at` is when that was last heard of.

    `id` is its number, one of `ids`, which become larger. `on_message` is called with `process` and each message of the
    other side. When this side breaks the link, `on_broken` is called with `process` and None; when the other side has
    broken it, with the number of its new link.
    """

    def __init__(
        self,
        bus: Bus,
        own_process: str,
        process: str,
        ids: Iterator[int],
        *,
        on_message: Callable[[str, StreamMessage], None],
        on_broken: Callable[[str, int | None], None],
    ) -> None:
        loop = asyncio.get_running_loop()
        self._now = loop.time
        self.heard_at = self._now()
        self._bus = bus
        self._own_process = own_process
        self._process = process
        self._ids = ids
        self._on_message = on_message
        self._on_broken = on_broken
        self.id = next(ids)
        self._sent = 0
        self._acknowledged = 0
        self._waiting_since = 0.0
        self._messages: list[StreamMessage] = []
        self._has_work = asyncio.Event()
        self._peer_id = 0
        self._taken = 0
        self._has_to_acknowledge = False
        self._task = loop.create_task(self._send_all())

    def send(self, message: StreamMessage) -> None:
        """Send a message, together with others of the same turn of the event loop."""
        if not self._is_waiting:
            self._waiting_since = self._now()
        self._messages.append(message)
        self._has_work.set()

    def observe(self, link: int) -> bool:
        """Note the number of the other side's link; whether it is the last one."""
        self.heard_at = self._now()
        if link > self._peer_id:
            self._peer_id, self._taken = link, 0
            self._on_broken(self._process, link)
        return link == self._peer_id

    def receive(self, batch: Batch) -> None:
        """Take a batch of the other side."""
        if not self.observe(batch.link):
            return
        if batch.taken_link == self.id and batch.taken > self._acknowledged:
            self._acknowledged, self._waiting_since = batch.taken, self._now()
            if self._messages:
                self._has_work.set()
        if batch.number == 0:
            return
        self._has_to_acknowledge = True
        if batch.number == FIRST:  # perhaps again
            self._taken = max(self._taken, FIRST)
            self._has_work.set()
            return
        is_next, self._taken = batch.number == self._taken + 1, batch.number
        if not is_next:
            self._begin_anew()
        for message in batch.messages:
            self._on_message(self._process, message)

    def check(self) -> None:
        """Send again what may be sent twice, and look for what was not acknowledged in time."""
        if self._is_waiting and self._now() - self._waiting_since > ANSWER_SECONDS:
            self._begin_anew()
        elif self._has_to_acknowledge or self._sent == FIRST > self._acknowledged:
            self._has_work.set()

    def close(self) -> None:
        """Send nothing more."""
        self._task.cancel()

    @property
    def _is_waiting(self) -> bool:
        """Whether messages are to be sent or acknowledged; the first batch may wait until the other side is there."""
        return bool(self._messages) or self._sent > max(self._acknowledged, FIRST)

    def _begin_anew(self) -> None:
        """End what depends on the link: here, and there when the first batch of the new one arrives."""
        self.id, self._sent, self._acknowledged = next(self._ids), 0, 0
        self._on_broken(self._process, None)
        self._messages.clear()  # of streams that have ended there, too
        self._has_work.set()

    async def _send_all(self) -> None:
        subject = link_subject(self._process)
        while True:
            await self._has_work.wait()
            batch = self._next_batch()
            try:
                await self._bus.publish(subject, encode(batch))
            except BusUnavailable:
                if batch.number > FIRST and batch.link == self.id:
                    self._begin_anew()
                self._has_to_acknowledge = True
                await asyncio.sleep(CHECK_SECONDS)

    def _next_batch(self) -> Batch:
        """Return what is to be sent now. Only the first batch, which is empty, is sent until it is acknowledged."""
        messages: tuple[StreamMessage, ...] = ()
        if self._acknowledged >= FIRST:
            messages = self._take_messages()
        if not (messages and self._messages):
            self._has_work.clear()
        number = 0
        if self._acknowledged < FIRST:
            number = self._sent = FIRST
        elif messages:
            number = self._sent = self._sent + 1
        self._has_to_acknowledge = False
        return Batch(self._own_process, self.id, number, self._peer_id, self._taken, messages)

    def _take_messages(self) -> tuple[StreamMessage, ...]:
        """Return the messages that fit into a batch."""
        count, length = 0, 0
        while count < len(self._messages) and length < MAX_BATCH_BYTES:
            message = self._messages[count]
            length += len(message.data) if type(message) is Bytes else 0
            count += 1
        messages, self._messages = tuple(self._messages[:count]), self._messages[count:]
        return messages
