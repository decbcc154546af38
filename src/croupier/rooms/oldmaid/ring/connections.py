"""The connections between the players of Old Maid: what one says there, and who owes him an answer (oldmaid-1.6)."""

from typing import Final

from croupier.core.errors import Violation
from croupier.core.session import Drop, Peer, Send
from croupier.rooms.oldmaid.ring.table_client import Effects
from croupier.rooms.oldmaid.wire import Message, ToPlayer, refusal

UNREADABLE_CLAUSES: Final = frozenset({"oldmaid-8.3", "oldmaid-8.4", "oldmaid-8.5"})
"""What is found in something that may have been meant as an answer."""

IGNORED_REPLY_CLAUSES: Final = frozenset({"oldmaid-8.11", "oldmaid-3.19", "oldmaid-3.6", "oldmaid-10.2"})
"""What is found in answers only; nobody minds it who has asked nothing (oldmaid-2.11)."""


class PlayerConnections:
    """Everybody who is connected but the table. What is to be said and done is added to `effects`."""

    __slots__ = ("_effects", "_pending_requests")

    def __init__(self, effects: Effects) -> None:
        self._pending_requests: dict[Peer, ToPlayer | None] = {}  # what each has been asked, and has not answered
        self._effects = effects

    def __contains__(self, peer: object) -> bool:
        return peer in self._pending_requests

    def is_free(self, peer: Peer) -> bool:
        """Whether somebody is there who owes no answer."""
        return peer in self._pending_requests and self._pending_requests[peer] is None

    def add(self, peer: Peer) -> None:
        """Somebody is connected."""
        self._pending_requests[peer] = None

    def remove(self, peer: Peer) -> None:
        """Somebody is not connected any more."""
        del self._pending_requests[peer]

    def send(self, peer: Peer, message: Message) -> None:
        """Answer somebody."""
        self._effects.append(Send(peer, message))

    def request(self, peer: Peer, request: ToPlayer) -> None:
        """Ask somebody who is free."""
        self._pending_requests[peer] = request
        self.send(peer, request)

    def take_pending_request(self, peer: Peer) -> ToPlayer | None:
        """What somebody has answered now, None if nothing was asked."""
        asked, self._pending_requests[peer] = self._pending_requests[peer], None
        return asked

    def refuse_malformed(self, peer: Peer, violation: Violation) -> bool:
        """Refuse what cannot be read, if it is no answer. Whether the talk cannot go on (oldmaid-8.11)."""
        if self._pending_requests[peer] is not None and violation.clause in IGNORED_REPLY_CLAUSES | UNREADABLE_CLAUSES:
            return True
        if violation.clause not in IGNORED_REPLY_CLAUSES:
            self.send(peer, refusal(violation))
        return violation.fatal

    def drop(self, peer: Peer) -> None:
        """Hang up on somebody."""
        self._effects.append(Drop(peer))
        self.remove(peer)

    def drop_all(self) -> None:
        """Hang up on everybody."""
        self._effects += map(Drop, self._pending_requests)
        self._pending_requests.clear()
