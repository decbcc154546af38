"""The connections between the players of Old Maid: what one says there, and who owes him an answer (oldmaid-1.6)."""

from typing import Final

from croupier.core.errors import Violation
from croupier.core.session import Drop, Peer, Say
from croupier.rooms.oldmaid.ring.table_client import Effects
from croupier.rooms.oldmaid.wire import Message, ToPlayer, refusal

UNREADABLE: Final = frozenset({"oldmaid-8.3", "oldmaid-8.4", "oldmaid-8.5"})
"""What is found in something that may have been meant as an answer."""

SWALLOWED: Final = frozenset({"oldmaid-8.11", "oldmaid-3.19", "oldmaid-3.6", "oldmaid-10.2"})
"""What is found in answers only; nobody minds it who has asked nothing (oldmaid-2.11)."""


class Links:
    """Everybody who is connected but the table. What is to be said and done is added to `effects`."""

    __slots__ = ("_asked", "_effects")

    def __init__(self, effects: Effects) -> None:
        self._asked: dict[Peer, ToPlayer | None] = {}  # what each has been asked, and has not answered
        self._effects = effects

    def __contains__(self, peer: object) -> bool:
        return peer in self._asked

    def free(self, peer: Peer) -> bool:
        """Whether somebody is there who owes no answer."""
        return peer in self._asked and self._asked[peer] is None

    def join(self, peer: Peer) -> None:
        """Somebody is connected."""
        self._asked[peer] = None

    def leave(self, peer: Peer) -> None:
        """Somebody is not connected any more."""
        del self._asked[peer]

    def say(self, peer: Peer, message: Message) -> None:
        """Answer somebody."""
        self._effects.append(Say(peer, message))

    def request(self, peer: Peer, request: ToPlayer) -> None:
        """Ask somebody who is free."""
        self._asked[peer] = request
        self.say(peer, request)

    def answered(self, peer: Peer) -> ToPlayer | None:
        """What somebody has answered now, None if nothing was asked."""
        asked, self._asked[peer] = self._asked[peer], None
        return asked

    def garbled(self, peer: Peer, violation: Violation) -> bool:
        """Refuse what cannot be read, if it is no answer. Whether the talk cannot go on (oldmaid-8.11)."""
        if self._asked[peer] is not None and violation.clause in SWALLOWED | UNREADABLE:
            return True
        if violation.clause not in SWALLOWED:
            self.say(peer, refusal(violation))
        return violation.lost

    def drop(self, peer: Peer) -> None:
        """Hang up on somebody."""
        self._effects.append(Drop(peer))
        self.leave(peer)

    def hang_up(self) -> None:
        """Hang up on everybody."""
        self._effects += map(Drop, self._asked)
        self._asked.clear()
