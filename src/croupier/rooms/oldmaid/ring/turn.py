"""Where the turn of Old Maid is, as far as a player knows, and when one that may be lost is taken up again.

There is one turn in the ring. When somebody is gone with it nobody can know whether he has passed it on: so whoever may
have been the last to have it takes it up, and then there may be two. One too many ends where it meets the other, or at
the table; one that is lost would stop the game for everybody (oldmaid-7.13, oldmaid-9.7 to 9.9).
"""

from collections.abc import Sequence
from enum import Enum, auto

from croupier.core.rules import Seat
from croupier.core.session import Peer
from croupier.rooms.oldmaid.cards import WIRES
from croupier.rooms.oldmaid.ring.neighbour import AGAIN
from croupier.rooms.oldmaid.wire import Pick


class Stage(Enum):
    """What is to be done with the turn, if it is ours."""

    AWAY = auto()  # elsewhere
    TAKING = auto()  # ours: a card is drawn or picked, and its pair thrown away
    PASSING = auto()  # ours: to be passed on as soon as the left neighbour can be told
    OFFERING = auto()  # ours: our hand is offered
    GIVING = auto()  # ours, until the left neighbour, who is in, has picked


class Turn:
    """The turn as one player sees it; a refused one is tried again for `patience` seconds.

    `lent` says that it was passed on to the left, and nothing was heard of it since: if the neighbour is gone it is
    ours again. `denied` says that we have refused somebody else's while we had our own. `resumes_at` is when one is
    taken up again that perhaps nobody has, in seconds, unless something is heard of it before.
    """

    __slots__ = ("_patience", "_until", "denied", "lent", "resumes_at", "stage")

    def __init__(self, patience: float) -> None:
        self.stage = Stage.AWAY
        self.lent = False
        self.denied = False
        self.resumes_at: float | None = None
        self._patience = patience
        self._until: float | None = None  # when it is not drawn any more for a turn that was refused

    @property
    def ours(self) -> bool:
        """Whether it is ours."""
        return self.stage is not Stage.AWAY

    def begin(self, stage: Stage) -> None:
        """It has come to us."""
        self.stage = stage
        self.lent = self.denied = False
        self.resumes_at = None
        self._until = None

    def lend(self) -> None:
        """It was passed on to the left neighbour."""
        self.stage = Stage.AWAY
        self.lent = True

    def recall(self) -> None:
        """The left neighbour is out or gone: if it may be with him, it is to be passed on to the next one."""
        if self.stage in {Stage.OFFERING, Stage.GIVING} or (self.lent and not self.ours):
            self.begin(Stage.PASSING)

    def refused(self, now: float, seat: Seat, *, drawn: bool) -> None:
        """Ours was refused, so it is none: the one that counts is elsewhere (oldmaid-4.12, oldmaid-7.13).

        But the table may only not have noticed yet that somebody is gone who had to draw: so a card is asked for again.
        And if we have denied somebody his turn, that may have been the one that counted: so it is taken up by those who
        may have done so, one after the other.
        """
        self.stage = Stage.AWAY
        if not drawn:
            self._until = now + self._patience if self._until is None else self._until
            if now + AGAIN <= self._until:
                self.resumes_at = now + AGAIN
        elif self.denied:
            self.resumes_at = now + AGAIN * (1 + seat)

    def resumes(self, now: float) -> bool:
        """Whether it is to be taken up now; once."""
        if self.resumes_at is None or self.resumes_at > now:
            return False
        self.resumes_at = None
        return not self.ours


class Held:
    """A hand that `giver` holds out to us: of `num_cards` cards we are to pick one, not before `since`, in seconds.

    `choice` is what was decided to be picked; `again` says that our first pick was refused.
    """

    __slots__ = ("again", "choice", "giver", "num_cards", "since")

    def __init__(self, giver: Peer, num_cards: int, since: float) -> None:
        self.giver = giver
        self.num_cards = min(num_cards, len(WIRES))
        self.since = since
        self.choice: Pick | None = None
        self.again = False

    @property
    def legal(self) -> Sequence[Pick]:
        """The cards that may be picked; none when it is decided."""
        return () if self.choice is not None else tuple(map(Pick, range(self.num_cards)))

    def refused(self) -> bool:
        """A pick was refused: whether another one is to be made, of the first card (oldmaid-7.15)."""
        self.choice, first = Pick(0), not self.again
        self.again = True
        return first
