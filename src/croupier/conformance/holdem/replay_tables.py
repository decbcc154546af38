"""The patterns and tables by which transcripts are replayed on a server under test."""

import re
from collections.abc import Mapping
from typing import Final

from croupier.conformance.holdem.deviations import ADDITION_CLAUSE_PREFIX
from croupier.http.routes import OPERATIONS

NEW_SERVER_GAMES_PATTERN: Final = re.compile(r'\[\{"gameID": "\$game", "table": \[\], .*\}\]', re.DOTALL)
"""The body of a list of games on a new server, as transcripts write it."""

JOIN_GAME_REQUEST: Final = "POST /games/$game/players/"
"""The request by which a user joins the game of a transcript."""

GAME_NAME_PATTERN: Final = re.compile(r"/games/\$(\w+)")

OTHER_JOIN_PATTERN: Final = re.compile(r"POST /games/\$(?!game/)(\w+)/players/")
"""The request by which a user joins a second game."""

MEMBERSHIP_PATTERN: Final = re.compile(r"(POST|DELETE) /games/\$(\w+)/players/?(?:\$\w+/?)?(?:\?\S*)?")
"""A request by which a user joins or leaves a game: its method, and the name of the game."""

HANDLE_PATTERN: Final = re.compile(r'"handle": "(\w+)"')
"""A player of a table."""

OPENING_CLAUSE: Final = "holdem-3.3"
"""The clause of POST /games/."""

SEAT_CLAUSE: Final = "holdem-3.5"
"""Where a newcomer sits."""

CLAUSES_BY_OPERATION: Final[Mapping[str, str]] = {
    operation.id: operation.clause
    for operation in OPERATIONS
    if not operation.clause.startswith(ADDITION_CLAUSE_PREFIX)
}
"""The clause that defines the success of each operation of the document."""

HSPE_GO_CLAUSES: Final[Mapping[str, str]] = {
    "holdem-2.2": "holdem-7.1",
    "holdem-3.3": "holdem-7.2",
    "holdem-3.5": "holdem-7.2",
    "holdem-3.6": "holdem-7.2",
}
"""The clauses of dialect hspe-go that replace those of the document."""

SETUP_CLAUSES: Final = frozenset({"holdem-2.2", "holdem-3.3", "holdem-3.5"})
"""Routes by which users come to a table: a transcript that is about something else does not get there without them."""

LEAVING_CLAUSES: Final = frozenset(f"holdem-3.{number}" for number in (10, 11, 12, 14))
"""The clauses about leaving a game: other transcripts that leave one fail by holdem-3.10 if that is refused."""

READING_CLAUSES: Final = frozenset({"holdem-5.1", "holdem-5.2"})
SUCCESS_CLAUSES: Final = frozenset({"holdem-1.4", *CLAUSES_BY_OPERATION.values()})
"""Clauses about successful requests: what is refused in their transcripts is refused by another clause."""

REFUSALS: Final = (
    (404, re.compile(r"/games/none"), "holdem-8.4"),
    (404, re.compile(r"/games/[^/]+/players/"), "holdem-8.5"),
    (403, re.compile(r"/games/[^/]+/players/"), "holdem-8.8"),
    (409, re.compile(r"/games/[^/]+/players/?$"), "holdem-3.7"),
    (403, re.compile(r"/users"), "holdem-2.6"),
)
"""The clauses of refusals by status and path."""

LOGIN_CLAUSES: Final = frozenset({"holdem-2.7", "holdem-2.8"})
OTHER_LOGIN_CLAUSES: Final = frozenset({"holdem-2.4", "holdem-2.9", "holdem-2.11", "holdem-2.12", "holdem-7.5"})
UNAUTHORIZED: Final = 401
FORBIDDEN: Final = 403
"""The clauses about credentials of no user, further clauses that require the same status, and statuses."""

NOT_FOUND: Final = 404
TOO_MANY_REQUESTS: Final = 429

BLINDS_OF_TWO_CLAUSE: Final = "holdem-6.4"
"""Who posts which blind if there are two players."""

DEAL_CLAUSE: Final = "holdem-6.5"
"""In which order the cards of the deck are dealt."""

IDLE_CLAUSE: Final = "holdem-5.16"
IDLE_FIELDS: Final = frozenset({"state", "pots", "size", "players", "small_blind", "board"})
"""What a Game shows between hands, and the clause that says how (5.16)."""

ADDED_HEADERS: Final = frozenset({"X-Game-Version", "ETag"})
"""Headers of additions (section 9), which no server needs."""

FOLD_REASON: Final = "X-Fold-Reason"
RULED_HEADERS: Final[Mapping[str, str]] = {FOLD_REASON: "holdem-4.7", "WWW-Authenticate": "holdem-2.7"}
"""The header of an invalid bet, and the headers that ruling H5 demands, with their clauses."""

PREFIX_COMPARED_HEADERS: Final = frozenset({"www-authenticate"})
"""Headers that match if they begin with `Basic`: the rest is the server's own text."""
