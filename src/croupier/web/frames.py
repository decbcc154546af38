"""The messages of a player's connection, each with its bytes and the clause that it follows."""

import re
from collections import deque
from collections.abc import Callable, Sequence, Set
from typing import Final

from msgspec import Struct

from croupier.core.codec import SpanCodec
from croupier.core.errors import Violation
from croupier.core.presentation import Text, text, verbatim
from croupier.core.spans import SpanReader

MAX_FRAMES: Final = 60
"""The number of frames that a table shows; older ones are dropped."""

MAX_SHOWN_BYTES: Final = 4096
SUMMARY_CHARACTERS: Final = 80
SENDERS: Final = {
    "you": text("you"),
    "house": text("house"),
    "peer": text("peer"),
    "server": text("server"),
    "table": text("table"),
    "player": text("player"),
}
"""The senders that are no names."""

GUID: Final = re.compile(r"([0-9a-f]{4})[0-9a-f]{4}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class FrameView(Struct, frozen=True):
    """A message on the wire: its sender, its text, its bytes in hexadecimal digits, and its clause ("" if unknown).

    The sender is you, house, peer, or the name of one of several peers. `number` counts the frames of a page from 1.
    `omitted` is the number of bytes at the end that `hex` leaves out.
    """

    sender: str
    text: str
    hex: str
    clause: str
    number: int = 0
    omitted: int = 0

    @property
    def summary(self) -> str:
        """The beginning of a long text, in which GUIDs are shortened.

        >>> FrameView("you", "GET /games/ab4a221a-f3cf-4d09-b2b8-674490e49306", "", "").summary
        'GET /games/ab4a…'
        """
        return GUID.sub(r"\1…", self.text)[:SUMMARY_CHARACTERS]

    @property
    def sender_name(self) -> Text:
        """The sender, for people."""
        return sender_name(self.sender)


def sender_name(sender: str) -> Text:
    """Return the sender of a frame for people."""
    return SENDERS.get(sender) or verbatim(sender)


def message_frame(sender: str, text: str, data: bytes, clause: str = "", number: int = 0) -> FrameView:
    """Return the frame of a message, with at most its first MAX_SHOWN_BYTES.

    >>> message_frame("you", "DRAW", b"DRAW").hex
    '44 52 41 57'
    """
    shown = data[:MAX_SHOWN_BYTES]
    return FrameView(sender, text, shown.hex(" "), clause, number, len(data) - len(shown))


class FrameCodec[M]:
    """A codec that keeps the bytes of each message.

    `sent` is called with each message and its bytes when it is encoded. `received` has the bytes of the messages that
    the last `feed` has returned, in order, until they are taken; the codecs of one endpoint may share it, because the
    endpoint handles all messages of one `feed` before the next.
    """

    def __init__(self, codec: SpanCodec[M, M], sent: Callable[[M, bytes], None], received: deque[bytes]) -> None:
        self._received = received
        self._codec = codec
        self._reader = SpanReader(codec)
        self._sent = sent

    @property
    def tolerated(self) -> Set[str]:
        """See `Codec`."""
        return self._codec.tolerated

    def feed(self, data: bytes) -> Sequence[M | Violation]:
        """Return the messages that the bytes complete; see `Codec`."""
        spans = [*self._reader.feed(data)]
        self._received.clear()
        self._received.extend(span.data for span in spans)
        return [span.message for span in spans]

    def encode(self, message: M) -> bytes:
        """Encode a message; see `Codec`."""
        data = self._codec.encode(message)
        self._sent(message, data)
        return data
