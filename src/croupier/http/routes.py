"""The routes of the hold'em service: one table for answering requests and for the OpenAPI document."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

from msgspec import Struct
from msgspec.structs import force_setattr

from croupier.rooms.holdem.wire import Game, HoldemRequest, Join, Leave, Open, RequestRefused, parse_act

type ResponseContent = type | tuple[str, ...] | None
"""The content of a response: a type that is sent as JSON, text of one of these media types, or nothing."""

METHODS = ("GET", "HEAD", "POST", "DELETE")


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


class Operation(Struct, frozen=True):
    """A method of a route: its identifier, a summary, its clause, and its successes and errors.

    `hspe_go_success_content` replaces `success_content` in that dialect, `hspe_go_error_statuses` adds to
    `error_statuses`. Of an operation with `body`, one of these types is sent. A `command` is what the house is asked.
    """

    id: str
    summary: str
    clause: str
    credentials: Literal["wanted", "allowed", "none"]
    error_statuses: tuple[int, ...]
    success_content: Mapping[int, ResponseContent]
    hspe_go_success_content: Mapping[int, ResponseContent] | None = None
    hspe_go_error_statuses: tuple[int, ...] = ()
    body: tuple[type, ...] = ()
    query: Mapping[str, tuple[str, Mapping[str, object]]] = {}
    headers: Mapping[str, str] = {}
    command: Command | None = None


class Route(Struct, frozen=True):
    """A path, in which names in braces stand for any segment, and its methods."""

    name: str
    path: str
    operations: Mapping[str, Operation]

    methods: tuple[str, ...] = ()
    """All methods of the path, HEAD included wherever there is GET (holdem-1.4)."""

    def __post_init__(self) -> None:
        methods = {*self.operations} | ({"HEAD"} if "GET" in self.operations else set())
        force_setattr(self, "methods", tuple(method for method in METHODS if method in methods))


VERSION_HEADERS = {"ETag": "Identifies the representation.", "X-Game-Version": "Grows with every change."}
WAIT_PARAMETERS: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "wait": ("Wait for a change, at most this many seconds.", {"type": "number", "minimum": 0}),
    "since": ("The version that the client has: wait only while it is the current one.", {"type": "integer"}),
}
PAGE_PARAMETERS: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "limit": ("At most this many games.", {"type": "integer", "minimum": 1}),
    "after": ("Games after this position in the order in which they were made.", {"type": "integer", "minimum": 0}),
}

ROUTES = (
    Route(
        "users",
        "/users/",
        {
            "POST": Operation(
                "post_users",
                "Make a user of the credentials",
                "holdem-2.2",
                "wanted",
                (400, 403, 413, 429, 503),
                {201: str},
                {201: User},
            )
        },
    ),
    Route(
        "games",
        "/games/",
        {
            "GET": Operation(
                "get_games",
                "Show all games",
                "holdem-5.1",
                "allowed",
                (400, 401, 429, 503),
                {200: list[Game]},
                query=PAGE_PARAMETERS,
                headers={"ETag": VERSION_HEADERS["ETag"], "Link": "The next page of games (holdem-9.12)."},
            ),
            "POST": Operation(
                "post_games",
                "Make a game and join it",
                "holdem-3.3",
                "wanted",
                (401, 403, 413, 429, 503),
                {201: str},
                {202: Game},
                headers={"Location": "The path of the game."},
                command=Open,
            ),
        },
    ),
    Route(
        "game",
        "/games/{gameID}",
        {
            "GET": Operation(
                "get_game",
                "Show one game",
                "holdem-5.2",
                "allowed",
                (400, 401, 404, 429, 503),
                {200: Game},
                hspe_go_error_statuses=(403,),
                query=WAIT_PARAMETERS,
                headers=VERSION_HEADERS,
            )
        },
    ),
    Route(
        "players",
        "/games/{gameID}/players/",
        {
            "POST": Operation(
                "post_players",
                "Join a game, or its queue",
                "holdem-3.5",
                "wanted",
                (401, 403, 404, 409, 413, 429, 503),
                {201: str, 202: str},
                {202: Game},
                command=Join,
            )
        },
    ),
    Route(
        "player",
        "/games/{gameID}/players/{playerID}",
        {
            "DELETE": Operation(
                "delete_player",
                "Leave a game",
                "holdem-3.10",
                "wanted",
                (401, 403, 404, 413, 429, 503),
                {200: None},
                command=Leave,
            )
        },
    ),
    Route(
        "acts",
        "/games/{gameID}/players/{playerID}/acts/",
        {
            "POST": Operation(
                "post_acts",
                "Bet or fold",
                "holdem-4.1",
                "wanted",
                (400, 401, 403, 404, 413, 429, 503),
                {201: None},
                hspe_go_error_statuses=(409,),
                body=(Fold, Bet),
                headers={"X-Fold-Reason": "Why an invalid bet has folded the hand (holdem-4.7)."},
                command=parse_act,
            )
        },
    ),
    Route(
        "events",
        "/games/{gameID}/events",
        {
            "GET": Operation(
                "get_events",
                "Follow a game",
                "holdem-9.6",
                "allowed",
                (401, 404, 429, 503),
                {200: ("text/event-stream", "application/x-ndjson")},
                hspe_go_error_statuses=(403,),
            )
        },
    ),
    Route(
        "hand",
        "/games/{gameID}/hands/{hand}.phh",
        {
            "GET": Operation(
                "get_hand",
                "The history of a hand",
                "holdem-9.7",
                "allowed",
                (401, 404, 429, 503),
                {200: ("application/toml",)},
            )
        },
    ),
    Route(
        "openapi",
        "/openapi.json",
        {"GET": Operation("get_openapi", "This description", "holdem-9.8", "none", (429,), {200: dict[str, Any]})},
    ),
)
"""Every path and its methods (holdem-1.2, holdem-9.6 to holdem-9.8)."""


class Match(Struct, frozen=True):
    """What the path and the method of a request stand for, with the values of the parameters in the path."""

    route: Route
    operation: Operation
    parameters: tuple[str, ...]

    def command(self, user: str, body: bytes) -> HoldemRequest | RequestRefused:
        """What a user asks of the house; RequestRefused if the body is malformed."""
        assert self.operation.command is not None, "other operations ask the house nothing"
        arguments = (*self.parameters, body) if self.operation.body else self.parameters
        return self.operation.command(user, *arguments)


_PATTERNS: Final[dict[int, list[tuple[re.Pattern[str], Route]]]] = {}
for _route in ROUTES:
    _segments = _route.path.removesuffix("/").count("/")
    _pattern = re.sub(r"\\\{\w+\\\}", "([^/]+)", re.escape(_route.path.removesuffix("/")))
    _PATTERNS.setdefault(_segments, []).append((re.compile(_pattern + "/?", re.DOTALL), _route))
"""Routes by the number of slashes in their paths, without a trailing one (holdem-1.3)."""


def find_route(path: str) -> tuple[Route, tuple[str, ...]] | None:
    """The route of a path and the values of its parameters; None if there is no such route (holdem-8.3).

    Example:
        >>> route, parameters = find_route("/games/g1/players/p1/acts/")
        >>> route.name, parameters
        ('acts', ('g1', 'p1'))
    """
    for pattern, route in _PATTERNS.get(path.count("/", 0, -1), ()):
        if match := pattern.fullmatch(path):
            return route, match.groups()
    return None


def parse_command(method: str, path: str, user: str, body: bytes) -> HoldemRequest | RequestRefused:
    """What a user asks of the house with a request; RequestRefused if that is no command or its body malformed.

    `path` is percent-decoded, with or without a trailing slash (ruling H2).
    """
    route, parameters = find_route(path) or (None, ())
    operation = None if route is None else route.operations.get(method)
    if route is None or operation is None or operation.command is None:
        return RequestRefused(404, "holdem-8.3", f"found {method} {path[:100]!r}; allowed: the commands of a game")
    return Match(route, operation, parameters).command(user, body)
