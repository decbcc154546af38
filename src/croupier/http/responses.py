"""Requests, responses and errors of the hold'em service (holdem-8.2)."""

import re
from collections.abc import MutableMapping, Sequence
from http import HTTPStatus
from math import ceil
from typing import Any
from urllib.parse import parse_qs

from msgspec import Struct
from msgspec.json import encode as to_json

from croupier.http.auth import Authenticator, AuthError, VerifiedLogin
from croupier.http.streams import Receive
from croupier.http.views import encode_headers
from croupier.net.client_addresses import TrustedProxies
from croupier.rooms.holdem.wire import Dialect

type Header = tuple[bytes, bytes]

PLAIN_TEXT = b"text/plain; charset=utf-8"
PROBLEM_JSON = b"application/problem+json"
BASIC_CHALLENGE = (b"www-authenticate", b'Basic realm="croupier", charset="UTF-8"')

DECIMAL_PATTERN = re.compile(r"[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?")
INTEGER_PATTERN = re.compile(r"-?[0-9]+")


FORWARDED_HEADERS = (b"forwarded", b"x-forwarded-for")
"""Headers in which a proxy names its client."""


class HTTPError(Exception):
    """A request is refused with a status, a clause of the protocol, and additional `headers`."""

    def __init__(self, status: int, clause: str, detail: str, *headers: Header) -> None:
        super().__init__(f"{clause}: {detail}")
        self.status = status
        self.clause = clause
        self.detail = detail
        self.headers = headers


class ClientDisconnected(Exception):
    """The client disconnected before its request was complete."""


class HttpResponse(Struct, frozen=True):
    """A complete response."""

    status: int
    headers: Sequence[Header]
    body: bytes = b""


def encode_response(response: HttpResponse) -> tuple[bytes, bytes]:
    """Encode a response for a persistent connection, as the parts before and after the Date header.

    A response without Content-Length is sent as one chunk.
    """
    text = response.body
    if any(name == b"content-length" for name, _ in response.headers):
        return STATUS_LINES[response.status], b"%s\r\n%s" % (encode_headers(response.headers), text)
    head = encode_headers([*response.headers, (b"transfer-encoding", b"chunked")])
    return STATUS_LINES[response.status], b"%s\r\n%x\r\n%s\r\n0\r\n\r\n" % (head, len(text), text)


STATUS_LINES = {status.value: f"HTTP/1.1 {status} {status.phrase}\r\n".encode() for status in HTTPStatus}
"""Status lines by status code."""


class HttpRequest(Struct):
    """A request: its ASGI scope, the headers that matter to the service, and the client's address."""

    scope: MutableMapping[str, Any]
    receive: Receive
    address: str
    authorization: bytes | None = None
    accept: bytes = b""
    if_none_match: bytes | None = None
    last_event_id: int | None = None
    content_length: bytes | None = None


def read_request(scope: MutableMapping[str, Any], receive: Receive, proxies: TrustedProxies) -> HttpRequest:
    """Read the request of an ASGI scope. If a header is repeated, its last value counts."""
    client = scope.get("client")
    request = HttpRequest(scope, receive, client[0] if client else "")
    if proxies:
        values = {header: [value for name, value in scope["headers"] if name == header] for header in FORWARDED_HEADERS}
        request.address = proxies.client_address(request.address, *values.values())
    for name, value in scope["headers"]:
        if name == b"authorization":
            request.authorization = value
        elif name == b"accept":
            request.accept = value
        elif name == b"if-none-match":
            request.if_none_match = value
        elif name == b"last-event-id":
            request.last_event_id = int(value[:20]) if value.isdigit() else None
        elif name == b"content-length":
            request.content_length = value
    return request


async def read_body(request: HttpRequest, max_bytes: int) -> bytes:
    """Read a body of at most `max_bytes`. Raises HTTPError if it is longer, ClientDisconnected if it is incomplete."""
    if (
        request.content_length is not None
        and request.content_length.isdigit()
        and int(request.content_length[:20]) > max_bytes
    ):
        raise _body_too_large(request.content_length[:20].decode(), max_bytes)
    message = await request.receive()
    data: bytes = message.get("body", b"")
    if message.get("more_body"):
        parts, length = [data], len(data)
        while message.get("more_body") and length <= max_bytes:
            message = await request.receive()
            parts.append(message.get("body", b""))
            length += len(parts[-1])
        data = b"".join(parts)
    if message["type"] == "http.disconnect":
        raise ClientDisconnected
    if len(data) > max_bytes:
        raise _body_too_large(f"{len(data)} or more", max_bytes)
    return data


def _body_too_large(found: str, max_bytes: int) -> HTTPError:
    return HTTPError(413, "holdem-8.7", f"found a body of {found} bytes; allowed: {max_bytes}")


def parse_wait_parameters(query: bytes) -> tuple[float | None, int | None]:
    """The seconds to wait and the known version in a query, or None for each that is absent. Raises HTTPError."""
    parameters = parse_qs(query.decode("latin-1"), keep_blank_values=True)
    wait: float | None = None
    since: int | None = None
    if "wait" in parameters:
        text = parameters["wait"][-1]
        if not DECIMAL_PATTERN.fullmatch(text):
            raise HTTPError(400, "holdem-9.5", f"found wait={text[:40]!r}; allowed: seconds, 0 or more")
        wait = float(text)
    if "since" in parameters:
        text = parameters["since"][-1]
        if not INTEGER_PATTERN.fullmatch(text):
            raise HTTPError(400, "holdem-9.5", f"found since={text[:40]!r}; allowed: an integer, the version of a game")
        since = int(text[:20])  # no version has more digits
    return wait, since


def etag_matches(if_none_match: bytes, etag: bytes) -> bool:
    """Whether If-None-Match contains an entity tag (RFC 9110, 13.1.2, weak comparison)."""
    if if_none_match == etag:
        return True
    tags = [tag.strip().removeprefix(b"W/") for tag in if_none_match.split(b",")]
    return etag in tags or tags == [b"*"]


async def authenticate_request(
    request: HttpRequest, clause: str, authenticator: Authenticator, dialect: Dialect
) -> VerifiedLogin:
    """The login of the user who sent a request. Raises HTTPError, citing the clause that requires credentials."""
    header = request.authorization
    if header is not None and (login := authenticator.cached_login(header)) is not None:
        return login
    try:
        return await authenticator.authenticate(header, request.address)
    except AuthError as error:
        raise to_http_error(error, clause, dialect) from None


def to_http_error(error: AuthError, clause: str, dialect: Dialect) -> HTTPError:
    """The response to refused credentials. `clause` requires them: holdem-2.5 (a new user), 2.7 or 2.8."""
    headers = () if error.retry_after is None else ((b"retry-after", b"%d" % ceil(error.retry_after)),)
    match error.reason:
        case "often":
            return HTTPError(429, "holdem-2.9", error.detail, *headers)
        case "busy" | "full":
            return HTTPError(503, "holdem-2.10", error.detail, *headers)
        case "taken":
            return HTTPError(403, "holdem-7.1" if dialect == "hspe-go" else "holdem-2.6", error.detail)
        case "missing" | "malformed" if clause == "holdem-2.5":
            return HTTPError(400, clause, error.detail)
        case "missing" | "malformed" if dialect == "hspe-go":
            return HTTPError(400, "holdem-7.5", error.detail)
        case _:
            return HTTPError(401, clause, error.detail, BASIC_CHALLENGE)


def error_response(error: HTTPError, accept: bytes) -> HttpResponse:
    """Encode an error: one line of text, or an RFC 9457 problem if the client accepts that (holdem-9.9)."""
    if PROBLEM_JSON in accept.lower():
        content = PROBLEM_JSON
        text = to_json(
            {
                "type": "about:blank",
                "title": HTTPStatus(error.status).phrase,
                "status": error.status,
                "detail": error.detail,
                "clause": error.clause,
            }
        )
    else:
        content = PLAIN_TEXT
        text = f"{error.clause}: {error.detail}\n".encode()
    length = b"%d" % len(text)
    return HttpResponse(error.status, [(b"content-type", content), (b"content-length", length), *error.headers], text)
