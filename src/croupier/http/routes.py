"""The routes of the hold'em service: one table for answering requests and for the OpenAPI document."""

import re
from collections.abc import Callable, Mapping
from itertools import groupby
from operator import attrgetter
from typing import Any, Final, Literal

from msgspec import Struct

from croupier.rooms.holdem.wire import Game, HoldemRequest, Join, Leave, Open, RequestRefused, parse_act

type ResponseContent = type | tuple[str, ...] | None
"""The content of a response: a type that is sent as JSON, text of one of these media types, or nothing."""


class Problem(Struct):
    """An error (RFC 9457). `clause` is the violated clause of the protocol."""

    type: str
    title: str
    status: int
    detail: str
    clause: str


class Fold(Struct):
    """An action that folds."""

    action: Literal[0]


class Bet(Struct, rename={"bet_amount": "betAmount"}):
    """An action that checks, calls, bets or raises: `betAmount` is the number of chips to add now."""

    action: Literal[1]
    bet_amount: int


class User(Struct, rename={"player": "PlayerID"}):
    """A new user, in dialect hspe-go."""

    player: str


type Command = Callable[..., HoldemRequest | RequestRefused]
"""Makes the request to the house: of a user's name, the parameters of the path and, if there is one, the body."""


type Credentials = Literal["new", "wanted", "allowed", "none"]
"""Whether a request has the credentials of a new user, has to have those of a user, may have them, or has none."""


class Operation(Struct, frozen=True):
    """A method of a path: its identifier, a summary, its clause, and its successes and errors.

    Names in braces in the path stand for any segment. `hspe_go_success_content` replaces `success_content` in that
    dialect, `hspe_go_error_statuses` adds to `error_statuses`. Of an operation with `body`, one of these types is sent.
    A `command` is what the house is asked.
    """

    id: str
    method: str
    path: str
    summary: str
    clause: str
    credentials: Credentials
    error_statuses: tuple[int, ...]
    success_content: Mapping[int, ResponseContent]
    hspe_go_success_content: Mapping[int, ResponseContent] | None = None
    hspe_go_error_statuses: tuple[int, ...] = ()
    body: tuple[type, ...] = ()
    query: Mapping[str, tuple[str, Mapping[str, object]]] = {}
    headers: Mapping[str, str] = {}
    command: Command | None = None


type Operations = Mapping[str, Operation]
"""The operations of one path by their methods."""


VERSION_HEADERS = {"ETag": "Identifies the representation.", "X-Game-Version": "Grows with every change."}
WAIT_PARAMETERS: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "wait": ("Wait for a change, at most this many seconds.", {"type": "number", "minimum": 0}),
    "since": ("The version that the client has: wait only while it is the current one.", {"type": "integer"}),
}
PAGE_PARAMETERS: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "limit": ("At most this many games.", {"type": "integer", "minimum": 1}),
    "after": ("Games after this position in the order in which they were made.", {"type": "integer", "minimum": 0}),
}

OPERATIONS = (
    Operation(
        "post_users",
        "POST",
        "/users/",
        "Make a user of the credentials",
        "holdem-2.2",
        "new",
        (400, 403, 413, 429, 503),
        {201: str},
        {201: User},
    ),
    Operation(
        "get_games",
        "GET",
        "/games/",
        "Show all games",
        "holdem-5.1",
        "allowed",
        (400, 401, 429, 503),
        {200: list[Game]},
        query=PAGE_PARAMETERS,
        headers={"ETag": VERSION_HEADERS["ETag"], "Link": "The next page of games (holdem-9.12)."},
    ),
    Operation(
        "post_games",
        "POST",
        "/games/",
        "Make a game and join it",
        "holdem-3.3",
        "wanted",
        (401, 403, 413, 429, 503),
        {201: str},
        {202: Game},
        headers={"Location": "The path of the game."},
        command=Open,
    ),
    Operation(
        "get_game",
        "GET",
        "/games/{gameID}",
        "Show one game",
        "holdem-5.2",
        "allowed",
        (400, 401, 404, 429, 503),
        {200: Game},
        hspe_go_error_statuses=(403,),
        query=WAIT_PARAMETERS,
        headers=VERSION_HEADERS,
    ),
    Operation(
        "post_players",
        "POST",
        "/games/{gameID}/players/",
        "Join a game, or its queue",
        "holdem-3.5",
        "wanted",
        (401, 403, 404, 409, 413, 429, 503),
        {201: str, 202: str},
        {202: Game},
        command=Join,
    ),
    Operation(
        "delete_player",
        "DELETE",
        "/games/{gameID}/players/{playerID}",
        "Leave a game",
        "holdem-3.10",
        "wanted",
        (401, 403, 404, 413, 429, 503),
        {200: None},
        command=Leave,
    ),
    Operation(
        "post_acts",
        "POST",
        "/games/{gameID}/players/{playerID}/acts/",
        "Bet or fold",
        "holdem-4.1",
        "wanted",
        (400, 401, 403, 404, 413, 429, 503),
        {201: None},
        hspe_go_error_statuses=(409,),
        body=(Fold, Bet),
        headers={"X-Fold-Reason": "Why an invalid bet has folded the hand (holdem-4.7)."},
        command=parse_act,
    ),
    Operation(
        "get_events",
        "GET",
        "/games/{gameID}/events",
        "Follow a game",
        "holdem-9.6",
        "allowed",
        (401, 404, 429, 503),
        {200: ("text/event-stream", "application/x-ndjson")},
        hspe_go_error_statuses=(403,),
    ),
    Operation(
        "get_hand",
        "GET",
        "/games/{gameID}/hands/{hand}.phh",
        "The history of a hand",
        "holdem-9.7",
        "allowed",
        (401, 404, 429, 503),
        {200: ("application/toml",)},
    ),
    Operation(
        "get_openapi",
        "GET",
        "/openapi.json",
        "This description",
        "holdem-9.8",
        "none",
        (429,),
        {200: dict[str, Any]},
    ),
)
"""Every method of every path (holdem-1.2, holdem-9.6 to holdem-9.8)."""

ROUTES: Final[Mapping[str, Operations]] = {
    path: {operation.method: operation for operation in operations}
    for path, operations in groupby(OPERATIONS, key=attrgetter("path"))
}
"""The operations by path and method."""


class Match(Struct, frozen=True):
    """The operation that a request stands for, with the values of the parameters in its path."""

    operation: Operation
    parameters: tuple[str, ...]


_PATTERNS: Final[dict[int, list[tuple[re.Pattern[str], Operations]]]] = {}
for _path, _operations in ROUTES.items():
    _pattern = re.sub(r"\\\{\w+\\\}", "([^/]+)", re.escape(_path.removesuffix("/")))
    _PATTERNS.setdefault(_path.count("/", 0, -1), []).append((re.compile(_pattern + "/?", re.DOTALL), _operations))
"""Routes by the number of slashes in their paths, without a trailing one (holdem-1.3)."""


def find_route(path: str) -> tuple[Operations, tuple[str, ...]] | None:
    """The operations of a path and the values of its parameters; None if there is no such route (holdem-8.3).

    Example:
        >>> operations, parameters = find_route("/games/g1/players/p1/acts/")
        >>> operations["POST"].id, parameters
        ('post_acts', ('g1', 'p1'))
    """
    for pattern, operations in _PATTERNS.get(path.count("/", 0, -1), ()):
        if match := pattern.fullmatch(path):
            return operations, match.groups()
    return None


def find_operation(method: str, path: str) -> Match | None:
    """The operation of a request, HEAD being as GET (holdem-1.4); None if there is no such route, or method of it."""
    operations, parameters = find_route(path) or ({}, ())
    operation = operations.get("GET" if method == "HEAD" else method)
    return None if operation is None else Match(operation, parameters)


def allowed_methods(operations: Operations) -> str:
    """The methods of a path for the header Allow: HEAD is allowed wherever GET is (holdem-1.4).

    Example:
        >>> allowed_methods(ROUTES["/games/"])
        'GET, HEAD, POST'
    """
    return ", ".join(operations).replace("GET", "GET, HEAD")


def parse_command(method: str, path: str, user: str, body: bytes) -> HoldemRequest | RequestRefused:
    """What a user asks of the house with a request; RequestRefused if that is no command or its body malformed.

    `path` is percent-decoded, with or without a trailing slash (ruling H2).
    """
    found = find_operation(method, path)
    if found is None or found.operation.command is None:
        return RequestRefused(404, "holdem-8.3", f"found {method} {path[:100]!r}; allowed: the commands of a game")
    return found.operation.command(user, *found.parameters, *([body] if found.operation.body else ()))
