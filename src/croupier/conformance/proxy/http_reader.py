"""Reads what passes on a connection of HTTP/1.1: requests in their order, and the answer to each of them."""

from base64 import b64decode
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import parse_qs, unquote

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser, HttpResponseParser
from msgspec import Struct

MOST: Final = 1 << 22
"""So many bytes of a body are read."""

MOST_HEAD: Final = 1 << 16
"""So many characters of a path, and of all headers of a message, are read."""

TLS: Final = 0x16
"""The first byte of a client that speaks TLS (RFC 8446, 5.1)."""

NOBODY: Final = "nobody"
"""Who gives no name."""

STREAMS: Final = {"text/event-stream": b"\n\n", "application/x-ndjson": b"\n"}
"""The types of what goes on, and what stands behind each of its parts."""

SECRET: Final = frozenset({"authorization", "proxy-authorization", "cookie", "set-cookie"})
"""The headers that are not looked at, but for the name that a client gives."""

REST: Final = 80
"""So many bytes of what was no whole message are shown."""


class Asked(Struct, frozen=True):
    """A request without its password. `user` is the name that it gives; `path` is decoded, with its parameters.

    `headers` have their names in lower case. Of a body that is larger than MOST only the beginning is there.
    """

    user: str
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    at: float

    def __str__(self) -> str:
        return f"{self.user} {self.method} {self.path}{_short(self.body)}"

    @property
    def steps(self) -> list[str]:
        """The path, in its parts."""
        return self.path.partition("?")[0].strip("/").split("/")

    @property
    def wait(self) -> float | None:
        """How many seconds the answer may be waited for; None where it may go on for ever."""
        if self.steps[-1:] == ["events"]:
            return None
        told = parse_qs(self.path.partition("?")[2]).get("wait", ["0"])[-1]
        try:
            return min(max(float(told), 0.0), 60.0)
        except ValueError:
            return 0.0


class Answered(Struct, frozen=True):
    """The answer to a request, None where nobody has asked; names of headers are in lower case.

    `told` is what is shown of the body.
    """

    request: Asked | None
    status: int
    headers: Mapping[str, str]
    body: bytes
    at: float
    told: str = ""

    def __str__(self) -> str:
        return f"{self.status}{self.told or _short(self.body)}"


class Part(Struct, frozen=True):
    """A part of an answer that goes on."""

    request: Asked | None
    body: bytes
    at: float
    told: str = ""

    def __str__(self) -> str:
        return f"...{self.told or _short(self.body)}"


class Unread(Exception):
    """What has come is no HTTP/1.1; the text says why, and quotes nothing."""


def _short(body: bytes) -> str:
    """The beginning of a body, behind a space."""
    text = " ".join(body[: 4 * REST].decode(errors="backslashreplace").split())
    return "" if not text else f" {text}" if len(text) <= REST else f" {text[:REST]}…"


def name(header: str | None) -> str:
    """The name in an Authorization header (RFC 7617), as far as it can be read."""
    if header is None:
        return NOBODY
    scheme, _, coded = header.strip().partition(" ")
    try:
        found, colon, _ = b64decode(coded.strip(), validate=True).decode().partition(":")
    except ValueError:
        return "?"
    return found if scheme.lower() == "basic" and colon and found else "?"


class Side:
    """One direction of a connection, as httptools tells of it."""

    def __init__(self) -> None:
        self.url = b""
        self.headers: dict[str, str] = {}
        self._size = 0
        self.user = NOBODY
        self.body = bytearray()
        self.begun = False
        self.headed = False
        self.over = False

    def on_message_begin(self) -> None:
        """A message begins."""
        self.url = b""
        self.headers = {}
        self._size = 0
        self.user = NOBODY
        self.body = bytearray()
        self.begun, self.headed, self.over = True, False, False

    def on_url(self, url: bytes) -> None:
        """A part of the path."""
        self.url = (self.url + url)[:MOST_HEAD]

    def on_header(self, name_: bytes, value: bytes) -> None:
        """A header: of those that come twice the values are joined."""
        key, told = name_.decode("latin-1").lower(), value.decode("utf-8", "backslashreplace")
        self._size += len(key) + len(told)
        if self._size > MOST_HEAD:
            return
        if key == "authorization":
            self.user = name(told)
        elif key not in SECRET:
            self.headers[key] = f"{self.headers[key]}, {told}" if key in self.headers else told

    def on_headers_complete(self) -> None:
        """What follows is the body."""
        self.headed = True

    def on_body(self, data: bytes) -> None:
        """A part of the body."""
        if len(self.body) < MOST:
            self.body += data

    def on_message_complete(self) -> None:
        """It is all there."""
        self.begun, self.over = False, True


class Requests:
    """Reads the requests of a client. It stays `deaf` behind what it cannot read."""

    def __init__(self) -> None:
        self.deaf = False
        self._rest = b""
        self._side = Side()
        self._parser = HttpRequestParser(self._side)
        self._fresh = True

    def feed(self, data: bytes, now: float) -> Iterator[Asked]:
        """The requests that these bytes complete. Raises Unread."""
        if self._fresh and data[:1] == bytes((TLS,)):
            self.deaf = True
        self._fresh = False
        for byte in () if self.deaf else data:
            self._rest = (self._rest + bytes((byte,)))[:REST]
            try:
                self._parser.feed_data(bytes((byte,)))
            except HttpParserUpgrade:
                self.deaf = True  # whatever is spoken from here on
            except HttpParserError as error:
                self.deaf = True
                raise Unread(f"{error}") from None
            if self._side.over:
                self._side.over = False
                self._rest = b""
                yield self._asked(now)
            if self.deaf:
                return

    def _asked(self, now: float) -> Asked:
        side = self._side
        path = unquote(side.url.decode("latin-1"))
        method = self._parser.get_method().decode("latin-1")
        return Asked(side.user, method, path, side.headers, bytes(side.body), now)

    @property
    def rest(self) -> bytes:
        """The beginning of what is no whole request yet: only its first line, for the rest may tell a password."""
        return self._rest.partition(b"\r\n")[0] if not self.deaf else b""


class Answers:
    """Reads the answers of a house to requests, which are put into `asked` as they are passed on."""

    def __init__(self) -> None:
        self.asked: deque[Asked] = deque()
        self.deaf = False
        self._side = Side()
        self._parser = HttpResponseParser(self._side)

    @property
    def begun(self) -> bool:
        """Whether a part of an answer is there."""
        return self._side.begun

    @property
    def headed(self) -> bool:
        """Whether an answer has begun whose headers are there."""
        return self._side.begun and self._side.headed

    @property
    def bounded(self) -> bool:
        """Whether the answer that has begun says itself where it ends."""
        return bool(self._side.headers.keys() & {"content-length", "transfer-encoding"})

    def feed(self, data: bytes, now: float) -> Iterator[Answered | Part]:
        """The answers that these bytes complete, and the parts of those that go on. Raises Unread."""
        at = 0
        while at < len(data) and not self.deaf:
            # Of a body every byte at a time would be slow, and nothing of it can belong to the next answer but its end.
            step = self._step(data, at)
            try:
                self._parser.feed_data(data[at : at + step])
            except HttpParserUpgrade:
                self.deaf = True
            except HttpParserError as error:
                self.deaf = True
                raise Unread(f"{error}") from None
            at += step
            yield from self._parts(now)
            if self._side.headed and self._side.begun and self.asked and self.asked[0].method == "HEAD":
                yield self._answer(now)
                self._renew()
            elif self._side.over:
                self._side.over = False
                if self._parser.get_status_code() >= 200:
                    yield self._answer(now)

    def _step(self, data: bytes, at: int) -> int:
        """How many bytes belong to the same answer for certain."""
        side = self._side
        length = side.headers.get("content-length", "")
        if not side.begun or not side.headed or not length.isdecimal():
            return 1
        return max(1, min(len(data) - at, int(length) - len(side.body)))

    def end(self, now: float) -> Iterator[Answered]:
        """The house says no more: an answer without a length ends with that."""
        if self.headed and not self.bounded and not self.deaf:
            yield self._answer(now)
            self._renew()

    def _renew(self) -> None:
        self._side = Side()
        self._parser = HttpResponseParser(self._side)

    def _parts(self, now: float) -> Iterator[Part]:
        side = self._side
        mark = STREAMS.get(side.headers.get("content-type", "").partition(";")[0].strip().lower())
        if mark is None or not side.headed:
            return
        while mark in side.body:
            part, _, rest = side.body.partition(mark)
            side.body[:] = rest
            if told := _data(bytes(part)):
                yield Part(self.asked[0] if self.asked else None, told, now)

    def _answer(self, now: float) -> Answered:
        side = self._side
        request = self.asked.popleft() if self.asked else None
        return Answered(request, self._parser.get_status_code(), side.headers, bytes(side.body), now)


def _data(part: bytes) -> bytes:
    """What a part of a stream tells: the data of an event (WHATWG HTML, 9.2), or the whole line."""
    lines = part.split(b"\n")
    told = [line.partition(b":")[2].removeprefix(b" ") for line in lines if line.startswith(b"data:")]
    return b"\n".join(told) if told else b"" if part[:1] == b":" or part.startswith(b"id:") else part.strip()
