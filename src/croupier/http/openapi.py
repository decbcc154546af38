"""Routes of the hold'em service, and their OpenAPI 3.1 document."""

import re
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any, Literal

from msgspec import Struct
from msgspec.json import schema_components
from msgspec.structs import force_setattr

from croupier.rooms.holdem.wire import Dialect, Game
from croupier.version import __version__

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


class Operation(Struct, frozen=True):
    """A method of a route: a summary, its clause, and its successes and errors.

    `hspe_go_success_content` replaces `success_content` in that dialect, `hspe_go_error_statuses` adds to
    `error_statuses`.
    """

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
                "Show all games",
                "holdem-5.1",
                "allowed",
                (400, 401, 429, 503),
                {200: list[Game]},
                query=PAGE_PARAMETERS,
                headers={"ETag": VERSION_HEADERS["ETag"], "Link": "The next page of games (holdem-9.12)."},
            ),
            "POST": Operation(
                "Make a game and join it",
                "holdem-3.3",
                "wanted",
                (401, 403, 413, 429, 503),
                {201: str},
                {202: Game},
                headers={"Location": "The path of the game."},
            ),
        },
    ),
    Route(
        "game",
        "/games/{gameID}",
        {
            "GET": Operation(
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
                "Join a game, or its queue",
                "holdem-3.5",
                "wanted",
                (401, 403, 404, 409, 413, 429, 503),
                {201: str, 202: str},
                {202: Game},
            )
        },
    ),
    Route(
        "player",
        "/games/{gameID}/players/{playerID}",
        {
            "DELETE": Operation(
                "Leave a game",
                "holdem-3.10",
                "wanted",
                (401, 403, 404, 413, 429, 503),
                {200: None},
            )
        },
    ),
    Route(
        "acts",
        "/games/{gameID}/players/{playerID}/acts/",
        {
            "POST": Operation(
                "Bet or fold",
                "holdem-4.1",
                "wanted",
                (400, 401, 403, 404, 413, 429, 503),
                {201: None},
                hspe_go_error_statuses=(409,),
                body=(Fold, Bet),
                headers={"X-Fold-Reason": "Why an invalid bet has folded the hand (holdem-4.7)."},
            )
        },
    ),
    Route(
        "events",
        "/games/{gameID}/events",
        {
            "GET": Operation(
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
        {"GET": Operation("This description", "holdem-9.8", "none", (429,), {200: dict[str, Any]})},
    ),
)
"""Every path and its methods (holdem-1.2, holdem-9.6 to holdem-9.8)."""

ROUTE_PATTERNS: dict[int, list[tuple[re.Pattern[str], Route]]] = {}
for _route in ROUTES:
    _segments = _route.path.removesuffix("/").count("/")
    _pattern = re.sub(r"\\\{\w+\\\}", "([^/]+)", re.escape(_route.path.removesuffix("/")))
    ROUTE_PATTERNS.setdefault(_segments, []).append((re.compile(_pattern + "/?", re.DOTALL), _route))
"""Routes by the number of slashes in their paths, without a trailing one (holdem-1.3)."""


def find_route(path: str) -> tuple[Route, tuple[str, ...]] | None:
    """The route of a path and the values of its parameters; None if there is no such route (holdem-8.3).

    Example:
        >>> route, parameters = find_route("/games/g1/players/p1/acts/")
        >>> route.name, parameters
        ('acts', ('g1', 'p1'))
    """
    for pattern, route in ROUTE_PATTERNS.get(path.count("/", 0, -1), ()):
        if match := pattern.fullmatch(path):
            return route, match.groups()
    return None


def openapi_document(dialect: Dialect) -> dict[str, object]:
    """The OpenAPI 3.1 document of the service in a dialect."""
    types = [Problem, Fold, Bet, User, Game]
    _, schemas = schema_components(types, ref_template="#/components/schemas/{name}")
    paths: dict[str, dict[str, object]] = {}
    for route in ROUTES:
        names = re.findall(r"\{(\w+)\}", route.path)
        paths[route.path] = {
            "parameters": [
                {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
                for name in names
            ],
            **{
                method.lower(): dict(_operation(route.name, method, operation, dialect))
                for method, operation in route.operations.items()
            },
        }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "No-limit hold'em",
            "version": __version__,
            "description": f"The Hacker School Poker Engine's protocol, in dialect {dialect}, and additions to it.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"user": {"type": "http", "scheme": "basic"}},
        },
    }


def _operation(name: str, method: str, operation: Operation, dialect: Dialect) -> Iterator[tuple[str, object]]:
    yield "operationId", f"{method.lower()}_{name}"
    yield "summary", operation.summary
    yield "description", f"See clause {operation.clause}."
    security: list[dict[str, list[str]]] = [{"user": []}]
    if operation.credentials != "wanted":
        security = [{}, *security] if operation.credentials == "allowed" else []
    yield "security", security
    if operation.query:
        yield (
            "parameters",
            [
                {"name": name, "in": "query", "description": description, "schema": schema}
                for name, (description, schema) in operation.query.items()
            ],
        )
    if operation.body:
        schema = {"oneOf": [_schema(python_type) for python_type in operation.body]}
        yield "requestBody", {"required": True, "content": {"application/json": {"schema": schema}}}
    success_content = operation.success_content
    if dialect == "hspe-go" and operation.hspe_go_success_content is not None:
        success_content = operation.hspe_go_success_content
    responses: dict[str, object] = {}
    for status, content in success_content.items():
        responses[str(status)] = _response(status, _media(content, dialect), operation.headers)
    if "ETag" in operation.headers:
        responses["304"] = _response(304, {}, operation.headers)
    error_statuses = {*operation.error_statuses}
    if dialect == "hspe-go":
        error_statuses |= {*operation.hspe_go_error_statuses} | (
            {400} if operation.credentials != "none" else set()
        )  # holdem-7.5
    for status in sorted(error_statuses):
        error_content = {
            "text/plain": {"schema": {"type": "string"}},
            "application/problem+json": {"schema": _schema(Problem)},
        }
        responses[str(status)] = _response(status, error_content, ERROR_HEADERS.get(status, {}))
    yield "responses", responses


ERROR_HEADERS = {
    401: {"WWW-Authenticate": "Basic, in UTF-8."},
    429: {"Retry-After": "Seconds until the request may be repeated."},
}
"""Headers of error responses by status."""


def _response(status: int, content: Mapping[str, object], headers: Mapping[str, str]) -> dict[str, object]:
    found: dict[str, object] = {"description": HTTPStatus(status).phrase}
    if headers:
        found["headers"] = {
            name: {"description": description, "schema": {"type": "string"}} for name, description in headers.items()
        }
    if content:
        found["content"] = content
    return found


def _media(content: ResponseContent, dialect: Dialect) -> dict[str, object]:
    if content is None:
        return {}
    if isinstance(content, tuple):
        return {content_type: {"schema": {"type": "string"}} for content_type in content}
    content_type = "application/json" if dialect == "readme" or content == dict[str, Any] else "text/plain"
    return {content_type: {"schema": _schema(content)}}


def _schema(python_type: Any) -> dict[str, Any]:
    (schema,), _ = schema_components([python_type], ref_template="#/components/schemas/{name}")
    return schema
