"""The tables of a hold'em room as one, wherever their houses run: what the REST service and the web app use of them."""

from asyncio import Future
from collections.abc import Callable
from typing import Final, Protocol

from croupier.http.messages import Header, HTTPError
from croupier.http.views import ViewCache
from croupier.rooms.holdem.table.finished_hands import FinishedHand
from croupier.rooms.holdem.wire import Dialect, Guid, HoldemRequest, HoldemResponse, RequestRefused

STORE_DOWN: Final = RequestRefused(
    503, "holdem-3.17", "found a store that cannot be written to; allowed: to come later, and see what was done"
)

RETRY_AFTER: Final[Header] = (b"retry-after", b"1")

type Answered = HoldemResponse | Future[HoldemResponse]
type FoundHand = FinishedHand | Future[FinishedHand | None] | None


def refusal(found: RequestRefused) -> HTTPError:
    """The error that answers a request that was refused."""
    later = [RETRY_AFTER] if found == STORE_DOWN else []
    return HTTPError(found.status, found.clause, found.detail, *later)


class HoldemTables(Protocol):
    """Tables that take requests and show their games.

    `views` shows all games. While `is_outdated` they may be those of an earlier time, because another server has taken
    over. `is_writing` is set while a journal is being written; `closing` from the beginning of the end.
    """

    closing: bool

    @property
    def views(self) -> ViewCache: ...  # noqa: D102 -- see the class

    @property
    def dialect(self) -> Dialect: ...  # noqa: D102 -- of the protocol

    @property
    def clock(self) -> Callable[[], float]: ...  # noqa: D102 -- returns seconds

    @property
    def is_outdated(self) -> bool: ...  # noqa: D102 -- see the class

    @property
    def is_writing(self) -> bool: ...  # noqa: D102 -- see the class

    @property
    def unavailable_reason(self) -> str | None:
        """Why games cannot be played now; None if they can."""
        ...

    def guid_of(self, user: str) -> Guid:
        """Return the GUID of a user (holdem-2.3)."""
        ...

    def submit(self, request: HoldemRequest) -> Answered:
        """Handle an authenticated user's request: return the answer, or a future for it.

        The views show what the request has changed before the answer is given.
        """
        ...

    async def execute(self, request: HoldemRequest) -> HoldemResponse:
        """Like `submit`, for callers that can wait for the answer."""
        ...

    def look_up(self, game: Guid) -> Future[None] | None:
        """Look for a game that `views` do not show; None if there is no such game.

        When the future is done, `views` show the game if there is one. It raises HTTPError if that cannot be known.
        """
        ...

    def find_hand(self, game: Guid, number: int) -> FoundHand:
        """Return a finished hand of a game that is kept, or a future for it; None if there is none.

        The future raises HTTPError if that cannot be known.
        """
        ...

    def halt(self, *, final: bool) -> None:
        """Start no new hands; if `final`, end long polls and streams, too."""
        ...
