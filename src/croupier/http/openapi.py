"""The one table of what may be asked of the hold'em service, and its description for programs (OpenAPI 3.1)."""

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
"""What a response holds: a value as JSON, or text of one of these media types, or nothing."""

METHODS = ("GET", "HEAD", "POST", "DELETE")


class Problem(Struct):
    """A refusal (RFC 9457). `clause` is the clause of the protocol that decided."""

    type: str
    title: str
    status: int
    detail: str
    clause: str


class Fold(Struct):
    """An act that folds."""

    action: Literal[0]


class Bet(Struct, rename={"bet_amount": "betAmount"}):
    """An act that checks, calls, bets or raises: `betAmount` is how many chips are added now."""

    action: Literal[1]
    bet_amount: int


class User(Struct, rename={"player": "PlayerID"}):
    """A new user, in dialect hspe-go."""

    player: str


class Operation(Struct, frozen=True):
    """What a method does, in a few words and by its clause; its successes and its refusals.

    `hspe_go` are the successes in that dialect, where they differ, `hspe_go_bad` the refusals that only it has.
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
    """A path, with a name in braces where any segment may stand, and what may be done there."""

    name: str
    path: str
    operations: Mapping[str, Operation]

    methods: tuple[str, ...] = ()
    """The methods that the path has, HEAD wherever there is GET (holdem-1.4)."""

    def __post_init__(self) -> None:
        there = {*self.operations} | ({"HEAD"} if "GET" in self.operations else set())
        force_setattr(self, "methods", tuple(method for method in METHODS if method in there))


VERSION_HEADERS = {"ETag": "Names what is shown.", "X-Game-Version": "Grows with every change."}
WAIT_PARAMETERS: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "wait": ("Wait for a change, at most for so many seconds.", {"type": "number", "minimum": 0}),
    "since": ("The version that is known: wait only while it is the present one.", {"type": "integer"}),
}
PAGE_PARAMETERS: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "limit": ("At most this many games.", {"type": "integer", "minimum": 1}),
    "after": ("Games that follow this place in the order in which they were made.", {"type": "integer", "minimum": 0}),
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
                headers={"ETag": VERSION_HEADERS["ETag"], "Link": "Where further games are (holdem-9.12)."},
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
"""Routes by the number of slashes in their paths, that at the end not counted (holdem-1.3)."""


def find_route(path: str) -> tuple[Route, tuple[str, ...]] | None:
    """The route of a path, and what stands where its names are; None where there is nothing (holdem-8.3)."""
    for pattern, route in ROUTE_PATTERNS.get(path.count("/", 0, -1), ()):
        if match := pattern.fullmatch(path):
            return route, match.groups()
    return None


def openapi_document(dialect: Dialect) -> dict[str, object]:
    """The service in OpenAPI 3.1, as it is in a dialect."""
    kinds = [Problem, Fold, Bet, User, Game]
    _, schemas = schema_components(kinds, ref_template="#/components/schemas/{name}")
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
                {"name": key, "in": "query", "description": told, "schema": schema}
                for key, (told, schema) in operation.query.items()
            ],
        )
    if operation.body:
        schema = {"oneOf": [_schema(kind) for kind in operation.body]}
        yield "requestBody", {"required": True, "content": {"application/json": {"schema": schema}}}
    good = operation.success_content
    if dialect == "hspe-go" and operation.hspe_go_success_content is not None:
        good = operation.hspe_go_success_content
    responses: dict[str, object] = {}
    for status, content in good.items():
        responses[str(status)] = _response(status, _media(content, dialect), operation.headers)
    if "ETag" in operation.headers:
        responses["304"] = _response(304, {}, operation.headers)
    bad = {*operation.error_statuses}
    if dialect == "hspe-go":
        bad |= {*operation.hspe_go_error_statuses} | ({400} if operation.credentials != "none" else set())  # holdem-7.5
    for status in sorted(bad):
        refusal = {
            "text/plain": {"schema": {"type": "string"}},
            "application/problem+json": {"schema": _schema(Problem)},
        }
        responses[str(status)] = _response(status, refusal, ERROR_HEADERS.get(status, {}))
    yield "responses", responses


ERROR_HEADERS = {
    401: {"WWW-Authenticate": "Basic, in UTF-8."},
    429: {"Retry-After": "In how many seconds another try is worth it."},
}
"""The headers of refusals by their status."""


def _response(status: int, content: Mapping[str, object], headers: Mapping[str, str]) -> dict[str, object]:
    found: dict[str, object] = {"description": HTTPStatus(status).phrase}
    if headers:
        found["headers"] = {name: {"description": told, "schema": {"type": "string"}} for name, told in headers.items()}
    if content:
        found["content"] = content
    return found


def _media(content: ResponseContent, dialect: Dialect) -> dict[str, object]:
    if content is None:
        return {}
    if isinstance(content, tuple):
        return {kind: {"schema": {"type": "string"}} for kind in content}
    kind = "application/json" if dialect == "readme" or content == dict[str, Any] else "text/plain"
    return {kind: {"schema": _schema(content)}}


def _schema(kind: Any) -> dict[str, Any]:
    (schema,), _ = schema_components([kind], ref_template="#/components/schemas/{name}")
    return schema
