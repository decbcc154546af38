"""Whom a player passes the turn to: the next one in the list who is neither out nor gone (oldmaid-7.9, 9.5)."""

from collections.abc import Sequence
from typing import Final

from croupier.core.session import Connect, Peer
from croupier.rooms.oldmaid.wire import ListedPlayer

RETRY_DELAY_SECONDS: Final = 0.25
"""So many seconds behind a call that failed the next one is made (oldmaid-9.5)."""


class Neighbour:
    """The left neighbour, whom a player calls, tries again for a while, and gives up for the next one.

    `peer` is the number of the call that is under way or was answered, below 0, and None when there is none; `open`
    says whether it was answered. `again` is when to call once more, in seconds, None while that is not due.
    """

    __slots__ = (
        "_connect_count",
        "_first_attempt_at",
        "_index",
        "_others",
        "_retry_timeout",
        "is_open",
        "peer",
        "retry_at",
    )

    def __init__(self, others: Sequence[ListedPlayer], retry_timeout: float) -> None:
        """The others in the order in which they are asked; each is tried for `patience` seconds."""
        self.peer: Peer | None = None
        self.is_open = False
        self.retry_at: float | None = None
        self._others = others
        self._retry_timeout = retry_timeout
        self._index = 0
        self._connect_count = 0
        self._first_attempt_at: float | None = None  # when the first call to this one was made

    @property
    def nick(self) -> str | None:
        """The nick of the left neighbour; None when there is nobody left."""
        return self._others[self._index][1] if self._index < len(self._others) else None

    def connect(self, now: float) -> Connect | None:
        """The call that is due now, if one is."""
        if self.nick is None or (self._first_attempt_at is not None and (self.retry_at is None or self.retry_at > now)):
            return None
        if self._first_attempt_at is None:
            self._first_attempt_at = now
        self.retry_at = None
        self._connect_count += 1
        self.peer = -self._connect_count
        return Connect(self.peer, self._others[self._index][0])

    def connect_failed(self, now: float) -> bool:
        """A call has failed: whether there will be another one."""
        assert self._first_attempt_at is not None, "only a call can fail"
        self.peer = None
        self.retry_at = now + RETRY_DELAY_SECONDS
        return self.retry_at <= self._first_attempt_at + self._retry_timeout

    def skip(self) -> None:
        """The next one is the left neighbour now."""
        self._index += 1
        self.peer = self._first_attempt_at = self.retry_at = None
        self.is_open = False
