"""HTTP messages: one Request, one Response, which may come later or as a stream, and one error."""

from asyncio import Future, get_running_loop, wait
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final, Protocol

from msgspec import Struct
from msgspec.json import encode as to_json

from croupier.http.auth import VerifiedLogin
from croupier.http.routes import Match, Problem

type Header = tuple[bytes, bytes]
"""The name of a header, in lower case, and its value."""

PLAIN_TEXT: Final = b"text/plain; charset=utf-8"
PROBLEM_JSON: Final = b"application/problem+json"
LAST_CHUNK: Final = b"0\r\n\r\n"

STATUS_LINES: Final = {status.value: f"HTTP/1.1 {status} {status.phrase}\r\n".encode() for status in HTTPStatus}
"""Status lines by status code."""


class Request(Struct):
    """A request. `path` is percent-decoded, `query` is not; `body` is empty until it `is_complete`.

    `headers` are all headers in order, `fields` the last value of each. HTTP/1.1 wants exactly one Host (`has_host`).
    `address` is the address of the client. `match` and `login` are found when the request is answered,
    and kept in case the client sends the same bytes again. `disconnected` is done when the client has disconnected.
    """

    method: str
    path: str
    query: bytes
    headers: Sequence[Header]
    fields: Mapping[bytes, bytes]
    address: str
    has_host: bool = True
    keep_alive: bool = True
    is_complete: bool = False
    body: bytes = b""
    match: Match | None = None
    login: VerifiedLogin | None = None
    disconnected: Future[None] | None = None

    def watch_disconnect(self) -> Future[None]:
        """A future that is done when the client has disconnected."""
        if self.disconnected is None:
            self.disconnected = get_running_loop().create_future()
        return self.disconnected


class Stream(Protocol):
    """The body of a response, in pieces that become known one after another."""

    def open(self, on_news: Callable[[], None]) -> None:
        """Begin. From now on `on_news` is called when a piece has become known, or the end."""
        ...

    def take_piece(self) -> bytes | None:
        """Return the next piece; b"" if it is not known yet, None at the end."""
        ...

    def close(self) -> None:
        """Release what the stream holds. It is called once, whether the stream was sent or not."""
        ...


class Response(Struct, frozen=True):
    """A response: with a complete `body`, or with a `stream`, which begins when the head is sent.

    Without Content-Length the body is sent in chunks. `raw_after_date` is everything after the Date header for a
    persistent connection, if that is known already.
    """

    status: int
    headers: Sequence[Header]
    body: bytes = b""
    stream: Stream | None = None
    raw_after_date: bytes | None = None


class Deferred(Struct, frozen=True):
    """A response that is known when `future` is done: `answer` returns it then, or another Deferred."""

    future: Future[Any]
    answer: "Callable[[], Answer]"


type Answer = Response | Deferred


def run_later(coroutine: Coroutine[Any, Any, Answer]) -> Deferred:
    """Run a coroutine in a task; the answer is what it returns."""
    task = get_running_loop().create_task(coroutine)
    return Deferred(task, task.result)


async def settle(answer: Answer) -> Response:
    """Wait for a response."""
    while isinstance(answer, Deferred):
        await wait([answer.future])
        answer = answer.answer()
    return answer


class HTTPError(Exception):
    """A request is refused with a status, a clause of the protocol, and additional `headers`."""

    def __init__(self, status: int, clause: str, detail: str, *headers: Header) -> None:
        super().__init__(f"{clause}: {detail}")
        self.status = status
        self.clause = clause
        self.detail = detail
        self.headers = headers

    def response(self, accept: bytes | None) -> Response:
        """One line of text, or an RFC 9457 problem if the client accepts that (holdem-9.9)."""
        if accept is not None and PROBLEM_JSON in accept.lower():
            content = PROBLEM_JSON
            title = HTTPStatus(self.status).phrase
            text = to_json(Problem("about:blank", title, self.status, self.detail, self.clause))
        else:
            content = PLAIN_TEXT
            text = f"{self.clause}: {self.detail}\n".encode()
        length = b"%d" % len(text)
        return Response(self.status, [(b"content-type", content), (b"content-length", length), *self.headers], text)


class Application(Protocol):
    """What answers the requests of a server. Its answers never raise."""

    def open(self, request: Request) -> Answer | None:
        """The answer to a request of which at least the head has arrived; None if the answer needs more of its body."""
        ...

    def respond(self, request: Request) -> Answer:  # noqa: ARG002 -- for applications that need bodies
        """The answer to a request after the rest of its body, or after more than MAX_BODY_BYTES of it."""
        raise AssertionError("every request is answered without its body")


def encode_response(response: Response, date: bytes, *, is_head: bool = False, keep_alive: bool = True) -> bytes:
    """Encode a response, or the head of one with a stream. `date` is the line of the Date header."""
    rest = response.raw_after_date
    if rest is None or is_head or not keep_alive:
        is_stream = response.stream is not None
        rest = _encode_rest(
            response.status,
            response.headers,
            response.body,
            is_stream=is_stream,
            is_head=is_head,
            keep_alive=keep_alive,
        )
    return b"%s%s%s" % (STATUS_LINES[response.status], date, rest)


def prepare(status: int, headers: Sequence[Header], body: bytes = b"") -> Response:
    """A response that is encoded once and sent often."""
    raw = _encode_rest(status, headers, body, is_stream=False, is_head=False, keep_alive=True)
    return Response(status, headers, body, None, raw)


def _encode_rest(
    status: int, headers: Sequence[Header], body: bytes, *, is_stream: bool, is_head: bool, keep_alive: bool
) -> bytes:
    lines = encode_headers(headers)
    if not keep_alive:
        lines += b"connection: close\r\n"
    if is_head or status in {204, 304}:
        body = b""
    elif not [name for name, _ in headers if name == b"content-length"]:
        lines += b"transfer-encoding: chunked\r\n"
        body = b"" if is_stream else encode_chunk(body) + LAST_CHUNK
    return b"%s\r\n%s" % (lines, body)


def encode_headers(headers: Iterable[Header]) -> bytes:
    """Encode headers for the wire."""
    return b"".join([b"%s: %s\r\n" % header for header in headers])


def encode_chunk(data: bytes) -> bytes:
    """Encode one chunk of a body; nothing for no data, because an empty chunk would end the body."""
    return b"%x\r\n%s\r\n" % (len(data), data) if data else b""
