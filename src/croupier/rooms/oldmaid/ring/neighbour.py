"""Whom a player passes the turn to: the next one in the list who is neither out nor gone (oldmaid-7.9, 9.5)."""

from collections.abc import Sequence
from typing import Final

from croupier.core.session import Call, Peer
from croupier.rooms.oldmaid.wire import Seated

AGAIN: Final = 0.25
"""So many seconds behind a call that failed the next one is made (oldmaid-9.5)."""


class Neighbour:
    """The left neighbour, whom a player calls, tries again for a while, and gives up for the next one.

    `peer` is the number of the call that is under way or was answered, below 0, and None when there is none; `open`
    says whether it was answered. `again` is when to call once more, in seconds, None while that is not due.
    """

    __slots__ = ("_at", "_calls", "_others", "_patience", "_since", "again", "open", "peer")

    def __init__(self, others: Sequence[Seated], patience: float) -> None:
        """The others in the order in which they are asked; each is tried for `patience` seconds."""
        self.peer: Peer | None = None
        self.open = False
        self.again: float | None = None
        self._others = others
        self._patience = patience
        self._at = 0
        self._calls = 0
        self._since: float | None = None  # when the first call to this one was made

    @property
    def nick(self) -> str | None:
        """The nick of the left neighbour; None when there is nobody left."""
        return self._others[self._at][1] if self._at < len(self._others) else None

    def call(self, now: float) -> Call | None:
        """The call that is due now, if one is."""
        if self.nick is None or (self._since is not None and (self.again is None or self.again > now)):
            return None
        if self._since is None:
            self._since = now
        self.again = None
        self._calls += 1
        self.peer = -self._calls
        return Call(self.peer, self._others[self._at][0])

    def failed(self, now: float) -> bool:
        """A call has failed: whether there will be another one."""
        assert self._since is not None, "only a call can fail"
        self.peer = None
        self.again = now + AGAIN
        return self.again <= self._since + self._patience

    def skip(self) -> None:
        """The next one is the left neighbour now."""
        self._at += 1
        self.peer = self._since = self.again = None
        self.open = False
