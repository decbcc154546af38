"""Where the turn of Old Maid is, as far as a player knows, and when one that may be lost is taken up again.

There is one turn in the ring. When somebody is gone with it nobody can know whether he has passed it on: so whoever may
have been the last to have it takes it up, and then there may be two. One too many ends where it meets the other, or at
the table; one that is lost would stop the game for everybody (oldmaid-7.13, oldmaid-9.7 to 9.9).
"""

from collections.abc import Sequence
from enum import Enum, auto

from croupier.core.rules import Seat
from croupier.core.session import Peer
from croupier.rooms.oldmaid.cards import WIRE_CARDS
from croupier.rooms.oldmaid.ring.neighbour import RETRY_DELAY_SECONDS
from croupier.rooms.oldmaid.wire import Pick


class TurnStage(Enum):
    """What is to be done with the turn, if it is ours."""

    ELSEWHERE = auto()  # elsewhere
    TAKING = auto()  # ours: a card is drawn or picked, and its pair thrown away
    PASSING = auto()  # ours: to be passed on as soon as the left neighbour can be told
    OFFERING = auto()  # ours: our hand is offered
    GIVING = auto()  # ours, until the left neighbour, who is in, has picked


class TurnTracker:
    """The turn as one player sees it; a refused one is tried again for `patience` seconds.

    `lent` says that it was passed on to the left, and nothing was heard of it since: if the neighbour is gone it is
    ours again. `denied` says that we have refused somebody else's while we had our own. `resumes_at` is when one is
    taken up again that perhaps nobody has, in seconds, unless something is heard of it before.
    """

    __slots__ = ("_retry_timeout", "_retry_until", "has_denied_other", "is_passed_on", "resumes_at", "stage")

    def __init__(self, retry_timeout: float) -> None:
        self.stage = TurnStage.ELSEWHERE
        self.is_passed_on = False
        self.has_denied_other = False
        self.resumes_at: float | None = None
        self._retry_timeout = retry_timeout
        self._retry_until: float | None = None  # when it is not drawn any more for a turn that was refused

    @property
    def is_ours(self) -> bool:
        """Whether it is ours."""
        return self.stage is not TurnStage.ELSEWHERE

    def begin(self, stage: TurnStage) -> None:
        """It has come to us."""
        self.stage = stage
        self.is_passed_on = self.has_denied_other = False
        self.resumes_at = None
        self._retry_until = None

    def pass_on(self) -> None:
        """It was passed on to the left neighbour."""
        self.stage = TurnStage.ELSEWHERE
        self.is_passed_on = True

    def recall(self) -> None:
        """The left neighbour is out or gone: if it may be with him, it is to be passed on to the next one."""
        if self.stage in {TurnStage.OFFERING, TurnStage.GIVING} or (self.is_passed_on and not self.is_ours):
            self.begin(TurnStage.PASSING)

    def on_refused(self, now: float, seat: Seat, *, is_deck_empty: bool) -> None:
        """Ours was refused, so it is none: the one that counts is elsewhere (oldmaid-4.12, oldmaid-7.13).

        But the table may only not have noticed yet that somebody is gone who had to draw: so a card is asked for again.
        And if we have denied somebody his turn, that may have been the one that counted: so it is taken up by those who
        may have done so, one after the other.
        """
        self.stage = TurnStage.ELSEWHERE
        if not is_deck_empty:
            self._retry_until = now + self._retry_timeout if self._retry_until is None else self._retry_until
            if now + RETRY_DELAY_SECONDS <= self._retry_until:
                self.resumes_at = now + RETRY_DELAY_SECONDS
        elif self.has_denied_other:
            self.resumes_at = now + RETRY_DELAY_SECONDS * (1 + seat)

    def take_resumption(self, now: float) -> bool:
        """Whether it is to be taken up now; once."""
        if self.resumes_at is None or self.resumes_at > now:
            return False
        self.resumes_at = None
        return not self.is_ours


class PendingPick:
    """A hand that `giver` holds out to us: of `num_cards` cards we are to pick one, not before `since`, in seconds.

    `choice` is what was decided to be picked; `again` says that our first pick was refused.
    """

    __slots__ = ("choice", "giver", "has_been_refused", "not_before", "num_cards")

    def __init__(self, giver: Peer, num_cards: int, not_before: float) -> None:
        self.giver = giver
        self.num_cards = min(num_cards, len(WIRE_CARDS))
        self.not_before = not_before
        self.choice: Pick | None = None
        self.has_been_refused = False

    @property
    def legal(self) -> Sequence[Pick]:
        """The cards that may be picked; none when it is decided."""
        return () if self.choice is not None else tuple(map(Pick, range(self.num_cards)))

    def on_refused(self) -> bool:
        """A pick was refused: whether another one is to be made, of the first card (oldmaid-7.15)."""
        self.choice, first = Pick(0), not self.has_been_refused
        self.has_been_refused = True
        return first
