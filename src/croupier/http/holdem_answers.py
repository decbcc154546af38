"""Answers of hold'em houses to requests of the REST service and the web app, and the errors that refusals become."""

from asyncio import Future
from typing import Final

from croupier.http.messages import Header, HTTPError
from croupier.rooms.holdem.wire import HoldemResponse, RequestRefused

STORE_DOWN: Final = RequestRefused(
    503, "holdem-3.17", "found a store that cannot be written to; allowed: to come later, and see what was done"
)

RETRY_AFTER: Final[Header] = (b"retry-after", b"1")

type Answered = HoldemResponse | Future[HoldemResponse]


def refusal(found: RequestRefused) -> HTTPError:
    """The error that answers a request that was refused."""
    later = [RETRY_AFTER] if found == STORE_DOWN else []
    return HTTPError(found.status, found.clause, found.detail, *later)
