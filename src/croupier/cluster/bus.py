"""The bus between the nodes of a cluster: request and reply, publish and subscribe, and a few watched keys.

Nothing on a bus is durable or certain: a message may be lost, and a request that timed out may have been performed. The
journal is the truth; the bus only finds its owner.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import NamedTuple, Protocol


class KeyChange(NamedTuple):
    """A key with its value and its revision. Revisions of one bus only grow, over all of its keys."""

    key: str
    value: bytes
    revision: int


class WrongRevision(Exception):
    """The key has another revision than the expected one; nothing was written."""


class BusUnavailable(Exception):
    """No answer came in time, or the connection is lost. The outcome is unknown."""


class NotDelivered(BusUnavailable):
    """Nobody serves the subject, or the connection is lost, so nothing was performed."""


class Bus(Protocol):
    """A connection to a bus.

    Subjects and keys are tokens of letters, digits, `-` and `_`, joined by dots. In a pattern, `*` stands for one token
    and a final `>` for one or more. While the connection is lost, everything but `watch` and `subscribe` raises
    BusUnavailable; it is restored in the background, and what was served or subscribed to is so again.
    """

    @property
    def is_connected(self) -> bool:
        """Whether the connection is not known to be lost."""
        ...

    async def request(self, subject: str, body: bytes, timeout: float) -> bytes:
        """Return the answer of the one who serves a subject.

        Raises NotDelivered at once, and BusUnavailable after at most `timeout` seconds.
        """
        ...

    async def serve(self, subject: str, handler: Callable[[bytes], Awaitable[bytes]]) -> None:
        """Answer the requests of a subject. Handlers run concurrently; one that raises gives no answer."""
        ...

    async def publish(self, subject: str, body: bytes) -> None:
        """Send a message to all subscribers, this connection included. It may be lost. Raises BusUnavailable."""
        ...

    async def subscribe(self, pattern: str, handler: Callable[[str, bytes], None]) -> None:
        """Call `handler` with the subject and the body of each message, in order for each sender and subject."""
        ...

    async def compare_and_set(self, key: str, value: bytes, revision: int) -> int:
        """Write a key that has this revision, 0 if it does not exist; return its new revision.

        Raises WrongRevision, and BusUnavailable: the key may have been written then.
        """
        ...

    def watch(self, pattern: str) -> AsyncIterator[KeyChange]:
        """Yield the keys that match a pattern as they are, and then every change, this connection's own included.

        Changes of one key come in order; of several quick ones only the last may come. After a loss of the connection a
        watch may end, or silently yield nothing more: watch again when an own write does not come back.
        """
        ...

    async def close(self) -> None:
        """Close the connection; watches end."""
        ...
