"""The ring as one player sees it: connections to other players, the left neighbour, the turn and a pending pick."""

from collections.abc import Sequence
from enum import Enum, auto
from typing import Final

from croupier.core.errors import Violation
from croupier.core.rules import Seat
from croupier.core.session import Connect, Drop, Peer, Send
from croupier.rooms.oldmaid.cards import CARD_COUNT
from croupier.rooms.oldmaid.ring.table_client import TABLE, Effects
from croupier.rooms.oldmaid.wire import ListedPlayer, Message, Pick, ToPlayer, refusal

RETRY_DELAY_SECONDS: Final = 0.25
"""Delay before the next attempt after a failed connection or a refused turn (oldmaid-9.5)."""

LOST_TURN_SECONDS: Final = 30.0
"""How long after another player has gone no turn comes before the turn counts as lost (oldmaid-9.9)."""

UNREADABLE_CLAUSES: Final = frozenset({"oldmaid-8.3", "oldmaid-8.4", "oldmaid-8.5"})
"""Clauses broken by input that may have been meant as an answer."""

IGNORED_REPLY_CLAUSES: Final = frozenset({"oldmaid-8.11", "oldmaid-3.19", "oldmaid-3.6", "oldmaid-10.2"})
"""Clauses that only an answer can break; an answer to nothing is ignored (oldmaid-2.11)."""


class PlayerConnections:
    """The open connections to other players, with the request that is pending on each (oldmaid-1.6).

    Effects are appended to `effects`.
    """

    def __init__(self, effects: Effects) -> None:
        self._pending_requests: dict[Peer, ToPlayer | None] = {}  # None: no request is pending
        self._effects = effects

    def __contains__(self, peer: object) -> bool:
        return peer in self._pending_requests

    def is_free(self, peer: Peer) -> bool:
        """Whether a peer is connected and no request to it is pending."""
        return peer in self._pending_requests and self._pending_requests[peer] is None

    @property
    def has_incoming(self) -> bool:
        """Whether a peer is connected that has connected itself."""
        return any(peer > TABLE for peer in self._pending_requests)

    def add(self, peer: Peer) -> None:
        """Add a peer that has connected."""
        self._pending_requests[peer] = None

    def remove(self, peer: Peer) -> None:
        """Remove a peer that has disconnected."""
        del self._pending_requests[peer]

    def send(self, peer: Peer, message: Message) -> None:
        """Send a message to a peer."""
        self._effects.append(Send(peer, message))

    def request(self, peer: Peer, request: ToPlayer) -> None:
        """Send a request to a peer; no other may be pending on it."""
        self._pending_requests[peer] = request
        self.send(peer, request)

    def take_pending_request(self, peer: Peer) -> ToPlayer | None:
        """Return the request that a peer has just answered and clear it; None if none was pending."""
        request, self._pending_requests[peer] = self._pending_requests[peer], None
        return request

    def refuse_malformed(self, peer: Peer, violation: Violation) -> bool:
        """Refuse malformed input unless it may be an answer. Returns whether to drop the peer (oldmaid-8.11)."""
        if self._pending_requests[peer] is not None and violation.clause in IGNORED_REPLY_CLAUSES | UNREADABLE_CLAUSES:
            return True
        if violation.clause not in IGNORED_REPLY_CLAUSES:
            self.send(peer, refusal(violation))
        return violation.fatal

    def drop(self, peer: Peer) -> None:
        """Disconnect a peer."""
        self._effects.append(Drop(peer))
        self.remove(peer)

    def drop_all(self) -> None:
        """Disconnect every peer."""
        self._effects += map(Drop, self._pending_requests)
        self._pending_requests.clear()


class Neighbour:
    """The left neighbour: the next player in the list who is neither out nor gone (oldmaid-7.9, 9.5).

    The player connects to it, retries for a while, and then skips to the next one. `peer` numbers the connection that
    is being opened or is open; it is negative, and None while there is neither. `is_open` says that the connection is
    open. `retry_at` is when to connect again, in seconds; None while no retry is due.
    """

    def __init__(self, others: Sequence[ListedPlayer], retry_timeout: float) -> None:
        """Take the other players in ring order; each is retried for `retry_timeout` seconds."""
        self.peer: Peer | None = None
        self.is_open = False
        self.retry_at: float | None = None
        self._others = others
        self._retry_timeout = retry_timeout
        self._index = 0
        self._connect_count = 0
        self._first_attempt_at: float | None = None

    @property
    def nick(self) -> str | None:
        """The nick of the left neighbour; None if no other player is left."""
        return self._others[self._index][1] if self._index < len(self._others) else None

    def connect(self, now: float) -> Connect | None:
        """The connection attempt that is due now, if any."""
        if self.nick is None or (self._first_attempt_at is not None and (self.retry_at is None or self.retry_at > now)):
            return None
        if self._first_attempt_at is None:
            self._first_attempt_at = now
        self.retry_at = None
        self._connect_count += 1
        self.peer = -self._connect_count
        return Connect(self.peer, self._others[self._index][0])

    def connect_failed(self, now: float) -> bool:
        """Record a failed attempt. Returns whether another one follows."""
        assert self._first_attempt_at is not None, "an attempt must have been made"
        self.peer = None
        self.retry_at = now + RETRY_DELAY_SECONDS
        return self.retry_at <= self._first_attempt_at + self._retry_timeout

    def skip(self) -> None:
        """Make the next player in the list the left neighbour."""
        self._index += 1
        self.peer = self._first_attempt_at = self.retry_at = None
        self.is_open = False


class TurnStage(Enum):
    """What the player is to do with the turn."""

    ELSEWHERE = auto()  # not ours
    TAKING = auto()  # ours: draw or pick a card and discard its pair
    PASSING = auto()  # ours: pass it on as soon as the left neighbour is connected and free
    OFFERING = auto()  # ours: the offer is sent, the answer is pending
    GIVING = auto()  # ours: the left neighbour has accepted the offer and is to pick


class TurnTracker:
    """Where the turn is as far as one player knows, and when a turn that may be lost is resumed.

    The ring has one turn. When a player disconnects while holding it, the others cannot know whether it was passed on.
    Every player that may have been the last one to hold it resumes it, so that there may be two turns for a while. A
    superfluous turn is refused where it meets the other one, or by the table; a lost turn would stop the game
    (oldmaid-7.13, oldmaid-9.7 to 9.9). A refused turn is retried for `retry_timeout` seconds.

    `is_passed_on` says that the turn was passed to the left and has not come back: if the neighbour disconnects, it is
    ours again. `has_denied_other` says that we refused another player's turn while we had our own. `resumes_at` is when
    a turn that may be lost is resumed, in seconds, unless a turn comes first.
    """

    def __init__(self, retry_timeout: float) -> None:
        self.stage = TurnStage.ELSEWHERE
        self.is_passed_on = False
        self.has_denied_other = False
        self.resumes_at: float | None = None
        self._retry_timeout = retry_timeout
        self._retry_until: float | None = None  # after this a refused draw is not retried

    @property
    def is_ours(self) -> bool:
        """Whether this player has the turn."""
        return self.stage is not TurnStage.ELSEWHERE

    def begin(self, stage: TurnStage) -> None:
        """Start a turn of this player."""
        self.stage = stage
        self.is_passed_on = self.has_denied_other = False
        self.resumes_at = None
        self._retry_until = None

    def pass_on(self) -> None:
        """Record that the turn was passed to the left neighbour."""
        self.stage = TurnStage.ELSEWHERE
        self.is_passed_on = True

    def recall(self) -> None:
        """Take back a turn that may be with the left neighbour, who is out or gone."""
        if self.stage in {TurnStage.OFFERING, TurnStage.GIVING} or (self.is_passed_on and not self.is_ours):
            self.begin(TurnStage.PASSING)

    def on_refused(self, now: float, seat: Seat, *, is_deck_empty: bool) -> None:
        """Drop our turn after a refusal: the valid one is elsewhere (oldmaid-4.12, oldmaid-7.13).

        While cards are drawn, the table may not have noticed yet that the player whose draw is due is gone, so the draw
        is retried. If we refused another player's turn, that one may have been the valid one: the players to whom this
        applies resume it one after the other, by seat.
        """
        self.stage = TurnStage.ELSEWHERE
        if not is_deck_empty:
            self._retry_until = now + self._retry_timeout if self._retry_until is None else self._retry_until
            if now + RETRY_DELAY_SECONDS <= self._retry_until:
                self.resumes_at = now + RETRY_DELAY_SECONDS
        elif self.has_denied_other:
            self.resumes_at = now + RETRY_DELAY_SECONDS * (1 + seat)

    def on_player_gone(self, now: float) -> None:
        """Resume the turn later unless one comes: the player that is gone may have had it (oldmaid-9.9)."""
        if not self.is_ours and self.resumes_at is None:
            self.resumes_at = now + LOST_TURN_SECONDS

    def take_resumption(self, now: float) -> bool:
        """Whether the turn is to be resumed now; True once for each resumption."""
        if self.resumes_at is None or self.resumes_at > now:
            return False
        self.resumes_at = None
        return not self.is_ours


class PendingPick:
    """An offer that this player has accepted: it is to pick one of `num_cards` cards of the peer `giver`.

    The pick is not sent before `not_before`, in seconds. `choice` is the pick once it is chosen, and `has_been_refused`
    says that the giver refused our first pick.
    """

    def __init__(self, giver: Peer, num_cards: int, not_before: float) -> None:
        self.giver = giver
        self.num_cards = min(num_cards, CARD_COUNT)
        self.not_before = not_before
        self.choice: Pick | None = None
        self.has_been_refused = False

    @property
    def legal(self) -> Sequence[Pick]:
        """The picks that may be chosen; empty once one is chosen."""
        return () if self.choice is not None else tuple(map(Pick, range(self.num_cards)))

    def on_refused(self) -> bool:
        """Choose the first card after a refused pick. Returns whether the pick is retried (oldmaid-7.15)."""
        self.choice, is_first_refusal = Pick(0), not self.has_been_refused
        self.has_been_refused = True
        return is_first_refusal
