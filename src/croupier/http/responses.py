"""What a request to the hold'em service says, and how it is told why there is no better answer (holdem-8.2)."""

import re
from collections.abc import MutableMapping, Sequence
from http import HTTPStatus
from math import ceil
from typing import Any
from urllib.parse import parse_qs

from msgspec import Struct
from msgspec.json import encode as to_json

from croupier.http.auth import Denied, Guard, Login
from croupier.http.streams import Receive
from croupier.http.views import lines
from croupier.net.client_addresses import TrustedProxies
from croupier.rooms.holdem.wire import Dialect

type Header = tuple[bytes, bytes]

PLAIN = b"text/plain; charset=utf-8"
PROBLEM = b"application/problem+json"
CHALLENGE = (b"www-authenticate", b'Basic realm="croupier", charset="UTF-8"')

DECIMAL = re.compile(r"[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?")
INTEGER = re.compile(r"-?[0-9]+")


FORWARDED = (b"forwarded", b"x-forwarded-for")
"""In which headers a proxy says for whom it asks."""


class Failed(Exception):
    """A request is refused, for what a clause says. `headers` go with the refusal."""

    def __init__(self, status: int, clause: str, detail: str, *headers: Header) -> None:
        super().__init__(f"{clause}: {detail}")
        self.status = status
        self.clause = clause
        self.detail = detail
        self.headers = headers


class Gone(Exception):
    """Whoever has asked is gone before the question was complete."""


class Reply(Struct, frozen=True):
    """A whole response."""

    status: int
    headers: Sequence[Header]
    body: bytes = b""


def sent(reply: Reply) -> tuple[bytes, bytes]:
    """A response as it is sent on a connection that goes on: what stands before the date, and what behind it.

    Without Content-Length the body goes as one chunk.
    """
    text = reply.body
    if any(name == b"content-length" for name, _ in reply.headers):
        return STATUS[reply.status], b"%s\r\n%s" % (lines(reply.headers), text)
    head = lines([*reply.headers, (b"transfer-encoding", b"chunked")])
    return STATUS[reply.status], b"%s\r\n%x\r\n%s\r\n0\r\n\r\n" % (head, len(text), text)


STATUS = {status.value: f"HTTP/1.1 {status} {status.phrase}\r\n".encode() for status in HTTPStatus}
"""How responses begin."""


class Asked(Struct):
    """A request, with those of its headers that matter here, and the address of whoever sends it."""

    scope: MutableMapping[str, Any]
    receive: Receive
    address: str
    authorization: bytes | None = None
    accept: bytes = b""
    match: bytes | None = None
    last: int | None = None
    length: bytes | None = None


def asked(scope: MutableMapping[str, Any], receive: Receive, proxies: TrustedProxies) -> Asked:
    """The request of an ASGI scope. Of a header that comes twice the last one counts."""
    client = scope.get("client")
    found = Asked(scope, receive, client[0] if client else "")
    if proxies:
        values = {header: [value for name, value in scope["headers"] if name == header] for header in FORWARDED}
        found.address = proxies.client(found.address, *values.values())
    for name, value in scope["headers"]:
        if name == b"authorization":
            found.authorization = value
        elif name == b"accept":
            found.accept = value
        elif name == b"if-none-match":
            found.match = value
        elif name == b"last-event-id":
            found.last = int(value[:20]) if value.isdigit() else None
        elif name == b"content-length":
            found.length = value
    return found


async def body(asked: Asked, most: int) -> bytes:
    """The body of a request, at most so many bytes. Raises Failed when there are more, Gone when it does not end."""
    if asked.length is not None and asked.length.isdigit() and int(asked.length[:20]) > most:
        raise _too_large(asked.length[:20].decode(), most)
    message = await asked.receive()
    data: bytes = message.get("body", b"")
    if message.get("more_body"):
        parts, length = [data], len(data)
        while message.get("more_body") and length <= most:
            message = await asked.receive()
            parts.append(message.get("body", b""))
            length += len(parts[-1])
        data = b"".join(parts)
    if message["type"] == "http.disconnect":
        raise Gone
    if len(data) > most:
        raise _too_large(f"{len(data)} or more", most)
    return data


def _too_large(found: str, most: int) -> Failed:
    return Failed(413, "holdem-8.7", f"found a body of {found} bytes; allowed: {most}")


def parameters(query: bytes) -> tuple[float | None, int | None]:
    """The seconds to wait and the version that is known, None where they are not asked for. Raises Failed."""
    found = parse_qs(query.decode("latin-1"), keep_blank_values=True)
    wait: float | None = None
    since: int | None = None
    if "wait" in found:
        text = found["wait"][-1]
        if not DECIMAL.fullmatch(text):
            raise Failed(400, "holdem-9.5", f"found wait={text[:40]!r}; allowed: seconds, 0 or more")
        wait = float(text)
    if "since" in found:
        text = found["since"][-1]
        if not INTEGER.fullmatch(text):
            raise Failed(400, "holdem-9.5", f"found since={text[:40]!r}; allowed: an integer, the version of a game")
        since = int(text[:20])  # no version has more digits
    return wait, since


def unchanged(match: bytes, etag: bytes) -> bool:
    """Whether If-None-Match names what is shown: a list of tags, compared weakly (RFC 9110, 13.1.2)."""
    if match == etag:
        return True
    tags = [tag.strip().removeprefix(b"W/") for tag in match.split(b",")]
    return etag in tags or tags == [b"*"]


async def verified(asked: Asked, clause: str, guard: Guard, dialect: Dialect) -> Login:
    """The login of the user whose credentials a request carries. Raises Failed; `clause` is the one that wants them."""
    header = asked.authorization
    if header is not None and (login := guard.verified(header)) is not None:
        return login
    try:
        return await guard.verify(header, asked.address)
    except Denied as reason:
        raise denied(reason, clause, dialect) from None


def denied(reason: Denied, clause: str, dialect: Dialect) -> Failed:
    """How somebody who is not let in is told so. `clause` wants the credentials: 2.5 (a new user), 2.7 or 2.8."""
    headers = () if reason.wait is None else ((b"retry-after", b"%d" % ceil(reason.wait)),)
    match reason.reason:
        case "often":
            return Failed(429, "holdem-2.9", reason.detail, *headers)
        case "busy" | "full":
            return Failed(503, "holdem-2.10", reason.detail, *headers)
        case "taken":
            return Failed(403, "holdem-7.1" if dialect == "hspe-go" else "holdem-2.6", reason.detail)
        case "missing" | "malformed" if clause == "holdem-2.5":
            return Failed(400, clause, reason.detail)
        case "missing" | "malformed" if dialect == "hspe-go":
            return Failed(400, "holdem-7.5", reason.detail)
        case _:
            return Failed(401, clause, reason.detail, CHALLENGE)


def refusal(failed: Failed, accept: bytes) -> Reply:
    """A refusal as it is sent: a line for people, or a problem of RFC 9457 for who accepts one (holdem-9.9)."""
    if PROBLEM in accept.lower():
        content = PROBLEM
        text = to_json(
            {
                "type": "about:blank",
                "title": HTTPStatus(failed.status).phrase,
                "status": failed.status,
                "detail": failed.detail,
                "clause": failed.clause,
            }
        )
    else:
        content = PLAIN
        text = f"{failed.clause}: {failed.detail}\n".encode()
    length = b"%d" % len(text)
    return Reply(failed.status, [(b"content-type", content), (b"content-length", length), *failed.headers], text)
