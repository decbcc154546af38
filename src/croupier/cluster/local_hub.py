"""The hub of a bus between the processes of one machine, in the process that has started the others.

It keeps the keys in memory, and passes requests, replies and messages on over Unix socket pairs.
"""

from collections.abc import Callable, Mapping
from enum import IntEnum
from itertools import count
from typing import Final

import msgspec
from msgspec import Struct

from croupier.net.frame_link import FrameLink

MAX_UNREAD_BYTES: Final = 1 << 26
"""A process that leaves more than this unread is disconnected: it is stopped, or far too slow."""


class FrameKind(IntEnum):
    """What a frame is: from a process to the hub, from the hub, or both."""

    REQUEST = 0
    """Both: `body` for the process that serves the subject `name`."""
    REPLY = 1
    """Both: the answer to a request, None if there is none. From the hub: what SERVE and SUBSCRIBE say is known."""
    CANCEL = 2
    """To the hub: the reply is not waited for any more."""
    SERVE = 3
    """To the hub: this process answers requests for the subject `name`."""
    SUBSCRIBE = 4
    """To the hub: this process wants the messages whose subjects match the pattern `name`."""
    MESSAGE = 5
    """Both: a message with the subject `name`."""
    WRITE = 6
    """To the hub: write the key `name` if it has this revision."""
    WRITTEN = 7
    """From the hub: the new revision of the key, 0 if it has another revision than the expected one."""
    WATCH = 8
    """To the hub: this process wants the keys that match the pattern `name`, and their changes."""
    UNWATCH = 9
    """To the hub: the end of a watch."""
    CHANGE = 10
    """From the hub: a key for the watch `id`."""
    UNSERVED = 11
    """From the hub: nobody serves the subject of a request."""


class Frame(Struct, frozen=True, array_like=True, omit_defaults=True, gc=False):
    """What is sent over a connection. `id` is a number that the asking side has chosen."""

    kind: FrameKind
    id: int = 0
    name: str = ""
    body: bytes | None = None
    revision: int = 0


encode_frame: Final[Callable[[Frame], bytes]] = msgspec.msgpack.Encoder().encode
decode_frame: Final[Callable[[bytes], Frame]] = msgspec.msgpack.Decoder(Frame).decode


def matches(pattern: str, subject: str) -> bool:
    """Whether a subject or a key matches a pattern, see `Bus`.

    Example:
        >>> [matches("table.*.>", each) for each in ("table.holdem.1", "table.holdem.1.acts", "table.holdem")]
        [True, True, False]
    """
    wanted, found = pattern.split("."), subject.split(".")
    if wanted[-1] == ">":
        if len(found) < len(wanted):
            return False
        wanted.pop()
    elif len(found) != len(wanted):
        return False
    return all(one in ("*", other) for one, other in zip(wanted, found, strict=False))


class HubLink:
    """A connection of the hub: the subjects that its process serves, and what it subscribes to and watches."""

    def __init__(self, hub: "LocalHub") -> None:
        self.subjects: set[str] = set()
        self.patterns: set[str] = set()
        self.watches: dict[int, str] = {}
        self.link = FrameLink(lambda data: hub.on_frame(self, decode_frame(data)), lambda: hub.on_closed(self))

    def send(self, frame: Frame) -> None:
        """Send a frame; a process that does not read what it is sent is disconnected."""
        self.link.send(encode_frame(frame))
        if self.link.unsent_bytes > MAX_UNREAD_BYTES:
            self.link.abort()


class OpenRequest(Struct, frozen=True):
    """A request without a reply: who asked, with which number, and who answers."""

    asker: HubLink
    id: int
    server: HubLink


class LocalHub:
    """The hub of a local bus. `attach` returns the descriptor with which a process opens its connection."""

    def __init__(self) -> None:
        self._links: list[HubLink] = []
        self._values: dict[str, tuple[bytes, int]] = {}
        self._last_revision = 0
        self._request_ids = count(1)
        self._requests: dict[int, OpenRequest] = {}
        self._frame_handlers: Mapping[FrameKind, Callable[[HubLink, Frame], None]] = {
            FrameKind.REQUEST: self._on_request,
            FrameKind.REPLY: self._on_reply,
            FrameKind.CANCEL: self._on_cancel,
            FrameKind.SERVE: self._on_serve,
            FrameKind.SUBSCRIBE: self._on_subscribe,
            FrameKind.MESSAGE: self._on_message,
            FrameKind.WRITE: self._on_write,
            FrameKind.WATCH: self._on_watch,
            FrameKind.UNWATCH: self._on_unwatch,
        }

    async def attach(self) -> int:
        """Make a connection; return the descriptor of its other end, which the caller closes after handing it on."""
        connected = HubLink(self)
        descriptor = await connected.link.open_pair()
        self._links.append(connected)
        return descriptor

    def close(self) -> None:
        """Close all connections."""
        for connected in [*self._links]:
            connected.link.abort()

    def on_frame(self, sender: HubLink, frame: Frame) -> None:
        """Handle a frame of a process."""
        self._frame_handlers[frame.kind](sender, frame)

    def on_closed(self, closed: HubLink) -> None:
        """Forget a process; the requests that it has not answered have no answer."""
        self._links.remove(closed)
        for number, request in [*self._requests.items()]:
            if closed in (request.asker, request.server):
                del self._requests[number]
                request.asker.send(Frame(FrameKind.REPLY, request.id))

    def _on_request(self, asker: HubLink, frame: Frame) -> None:
        server = next((each for each in self._links if frame.name in each.subjects), None)
        if server is None:
            asker.send(Frame(FrameKind.UNSERVED, frame.id))
            return
        number = next(self._request_ids)
        self._requests[number] = OpenRequest(asker, frame.id, server)
        server.send(Frame(FrameKind.REQUEST, number, frame.name, frame.body))

    def _on_reply(self, _: HubLink, frame: Frame) -> None:
        if (request := self._requests.pop(frame.id, None)) is not None:
            request.asker.send(Frame(FrameKind.REPLY, request.id, "", frame.body))

    def _on_cancel(self, asker: HubLink, frame: Frame) -> None:
        for number, request in [*self._requests.items()]:
            if request.asker is asker and request.id == frame.id:
                del self._requests[number]

    def _on_serve(self, server: HubLink, frame: Frame) -> None:
        server.subjects.add(frame.name)
        server.send(Frame(FrameKind.REPLY, frame.id))

    def _on_subscribe(self, subscriber: HubLink, frame: Frame) -> None:
        subscriber.patterns.add(frame.name)
        subscriber.send(Frame(FrameKind.REPLY, frame.id))

    def _on_message(self, _: HubLink, frame: Frame) -> None:
        for connected in self._links:
            if any(matches(pattern, frame.name) for pattern in connected.patterns):
                connected.send(frame)

    def _on_write(self, writer: HubLink, frame: Frame) -> None:
        key, value = frame.name, frame.body or b""
        if self._values.get(key, (b"", 0))[1] != frame.revision:
            writer.send(Frame(FrameKind.WRITTEN, frame.id))
            return
        self._last_revision += 1
        self._values[key] = value, self._last_revision
        for connected in self._links:
            for number, pattern in connected.watches.items():
                if matches(pattern, key):
                    connected.send(Frame(FrameKind.CHANGE, number, key, value, self._last_revision))
        writer.send(Frame(FrameKind.WRITTEN, frame.id, revision=self._last_revision))

    def _on_watch(self, watcher: HubLink, frame: Frame) -> None:
        watcher.watches[frame.id] = frame.name
        for key, (value, revision) in self._values.items():
            if matches(frame.name, key):
                watcher.send(Frame(FrameKind.CHANGE, frame.id, key, value, revision))

    def _on_unwatch(self, watcher: HubLink, frame: Frame) -> None:
        del watcher.watches[frame.id]
