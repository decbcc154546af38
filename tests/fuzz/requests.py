"""Targets: HTTP requests and responses, headers, forms, cookies and addresses, as servers and clients read them."""

import asyncio
from asyncio import BaseTransport
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from ipaddress import ip_network
from types import SimpleNamespace
from typing import Any, cast

from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request

from croupier.clients.http_connection import HttpConnection, ResponseHead
from croupier.clients.response_bodies import NdjsonReader
from croupier.clients.server_url import parse_url
from croupier.conformance.holdem import schema
from croupier.core.basic_auth import basic_authorization
from croupier.core.errors import Violation
from croupier.http import wire as tester_http
from croupier.http.auth import AuthError, parse_credentials
from croupier.http.messages import HTTPError
from croupier.http.queries import etag_matches, parse_page_parameters, parse_wait_parameters
from croupier.http.request_reader import RequestReader
from croupier.http.routes import parse_command
from croupier.net.addresses import parse_address
from croupier.net.client_addresses import (
    TrustedProxies,
    address_key,
    parse_ip_address,
    parse_networks,
    parse_trusted_proxies,
)
from croupier.net.proxy_protocol import MAX_V2_BODY_BYTES, ProxyHeaderError, parse_proxy_header
from croupier.rooms.holdem.observed.state_reader import read_game, read_games, read_guid
from croupier.rooms.holdem.table.wording import parse_expiry
from croupier.web.cookies import SigningKeys
from croupier.web.security import is_own_host, read_form
from croupier.web.table_routes import parse_amount
from tests.fuzz.corpus import game_bodies, http_requests, http_responses
from tests.fuzz.target import Target, allow, every_size, pieces, text_target
from tests.net.test_proxy_protocol import HEADERS

PROXIES = TrustedProxies([ip_network("192.0.2.0/24"), ip_network("::1/128")])
MAX_HEADER_BYTES = 1024
MAX_REQUESTS = 200
KEYS = SigningKeys([bytes(32)])
VISITOR = KEYS.issue(0.0)
MAX_FORM_BYTES = 1 << 12


def run_request(data: bytes) -> None:
    """Requests as the server reads them: in pieces and whole they are the same, and all of them are handled."""
    whole, chunks = pieces(data)
    found = read_requests([whole])
    assert [request.path for request in read_requests(chunks)] == [request.path for request in found]
    for request in found:
        parse_command(request.method, request.path, "ann", request.body)
        allow(HTTPError, parse_wait_parameters, request.query)
        allow(HTTPError, parse_page_parameters, request.query)
        allow(AuthError, parse_credentials, request.fields.get(b"authorization"))
        forwarded = [[value for name, value in request.headers if name == wanted] for wanted in FORWARDED]
        parse_ip_address(PROXIES.client_address("192.0.2.7", *forwarded))
        etag_matches(request.fields.get(b"if-none-match", b""), b'"7"')


FORWARDED = (b"forwarded", b"x-forwarded-for")


def read_requests(chunks: Iterable[bytes]) -> list[Any]:
    reader = RequestReader("192.0.2.1", MAX_HEADER_BYTES)
    found: list[Any] = []
    for chunk in chunks:
        if reader.error is not None or len(found) > MAX_REQUESTS:
            break
        reader.unparsed += chunk
        while reader.unparsed and reader.error is None and len(found) <= MAX_REQUESTS:
            if (request := reader.read()) is not None:
                found.append(request)
    return [request for request in found if request.is_complete]


def request_corpus() -> Iterable[bytes]:
    forwarded = b'GET /games/?wait=1.5&since=3&limit=2&after=1 HTTP/1.1\r\nHost: x\r\nIf-None-Match: W/"7", *\r\n'
    forwarded += b'X-Forwarded-For: 192.0.2.1, 198.51.100.7\r\nForwarded: for="[2001:db8::1]:80";by=x\r\n\r\n'
    chunked = b"POST /games/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
    act = b'{"action": 1, "betAmount": 20}'
    offer = b"POST /games/g/players/p/acts HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n"
    offer += b"Content-Length: %d\r\n\r\n%b" % (len(act), act)
    return every_size([forwarded, chunked, forwarded + chunked, offer, *http_requests()])


def run_tapped_request(data: bytes) -> None:
    read_spans(tester_http.RequestReader, data)


def run_response(data: bytes) -> None:
    read_spans(tester_http.ResponseReader, data)


def read_spans(make: type[Any], data: bytes) -> None:
    """Messages as the tester reads them: they are the same in pieces, and their bytes are those that came."""
    whole, chunks = pieces(data)
    found = []
    for each in ([whole], chunks):
        reader = make()
        spans = [span for chunk in each for span in reader.feed(chunk)]
        assert reader.is_stopped or whole.startswith(b"".join(span.data for span in spans))
        found.append([span.data for span in (*spans, *reader.finish()) if not isinstance(span.message, Violation)])
    assert found[0] == found[1]


class Answer:
    """What a client has received of the response to one request."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self.status, self.body, self.end = 0, b"", ""
        self.connection = HttpConnection(loop())
        self.connection.connection_made(cast(BaseTransport, self))
        self.connection.send(b"GET / HTTP/1.1\r\n\r\n", self)
        for chunk in chunks:
            if not self.end:
                self.connection.data_received(chunk)
        self.connection.connection_lost(None)

    def write(self, data: bytes) -> None: ...

    def abort(self) -> None: ...

    def is_closing(self) -> bool:
        return False

    def get_extra_info(self, name: str) -> None: ...

    def on_head(self, head: ResponseHead) -> None:
        self.status = head.status

    def on_body(self, data: bytes) -> None:
        self.body += data

    def on_end(self) -> None:
        self.end = "complete"

    def on_failure(self, error: ConnectionError) -> None:
        self.end = "failed"


def run_answer(data: bytes) -> None:
    """A response as our clients read it: it ends or fails, and in pieces it is the same."""
    whole, chunks = pieces(data)
    first, second = Answer([whole]), Answer(chunks)
    assert first.end
    assert first.end == second.end
    if first.end == "complete":
        assert (first.status, first.body) == (second.status, second.body)


def run_game(data: bytes) -> None:
    """The body of a response, as clients and the tester read it."""
    for read in (read_game, read_games, read_guid):
        allow(Violation, read, data)
    for dialect in ("readme", "hspe-go"):
        for parse in (schema.parse_game, schema.parse_games):
            parse(data, dialect)  # type: ignore[arg-type]  # a dialect
    text = data.decode(errors="replace")
    parse_expiry(text)
    schema.parse_expiry(text)
    reader = NdjsonReader()
    for at in range(0, len(data), 7):
        allow(Violation, reader.newest_line, data[at : at + 7])


def run_proxy_header(data: bytes) -> None:
    header = parse_proxy_header()
    wanted = next(header)
    with suppress(ProxyHeaderError, StopIteration):
        while len(data) >= wanted:
            data, taken = data[wanted:], data[:wanted]
            wanted = header.send(taken)
            assert 0 < wanted <= MAX_V2_BODY_BYTES


def parse_client_texts(text: str) -> None:
    """Addresses, networks, hosts and cookies that come from a client or from settings."""
    address_key(text)
    for parse in (parse_address, parse_trusted_proxies, parse_url):
        allow(ValueError, parse, text)
    allow(ValueError, parse_networks, "--check-targets", text)
    is_own_host(text, frozenset({"example.org"}))
    headers = [(b"cookie", text.encode("latin-1", errors="replace"))]
    cookies = HTTPConnection({"type": "http", "headers": headers}).cookies
    KEYS.decode(cookies.get("croupier", text), 0.0)


def client_texts() -> Iterable[str]:
    cookie = KEYS.encode(KEYS.issue(0.0))
    yield from ("192.0.2.1:80", "[::1]:1212", "2001:db8::/32, 192.0.2.0/24", "::ffff:192.0.2.1", "host.local", cookie)
    yield from ("https://example.org:8080/room", ":8080", "http://[::1]:1/%20", "http://user@example.org")
    yield from (f"croupier={cookie}; other=1", 'croupier="a\\073b"', basic_authorization("ann", "secret").decode())


@cache
def loop() -> asyncio.AbstractEventLoop:
    """The loop on which forms are read."""
    return asyncio.new_event_loop()


async def read_fields(body: bytes) -> dict[str, str]:
    """Read a form as it comes from a browser. Raises HTTPException."""

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body}

    scope = {
        "type": "http",
        "method": "POST",
        "headers": [(b"content-type", b"application/x-www-form-urlencoded"), (b"host", b"127.0.0.1")],
        "state": {"visitor": VISITOR},
        "app": SimpleNamespace(state=SimpleNamespace(keys=KEYS)),
    }
    return await read_form(Request(scope, receive), MAX_FORM_BYTES)


def run_form(data: bytes) -> None:
    """A form whose token may be that of the browser, and an amount."""
    allow(HTTPException, lambda: loop().run_until_complete(read_fields(data)))
    allow(HTTPException, parse_amount, data.decode(errors="replace"))


def forms() -> Iterable[bytes]:
    token = KEYS.csrf_token(VISITOR).encode()
    return (b"csrf=%s&act=bet&amount=30&version=7" % token, b"csrf=%s&amount=%%31%%30&room=kuhn" % token, b"30")


TARGETS = [
    Target("http-request", run_request, request_corpus),
    Target("tapped-request", run_tapped_request, request_corpus),
    Target("http-response", run_response, lambda: every_size(http_responses())),
    Target("http-answer", run_answer, lambda: every_size(http_responses())),
    Target("holdem-game", run_game, game_bodies),
    Target("proxy-header", run_proxy_header, lambda: [header for header, _ in HEADERS.values()]),
    text_target("client-texts", parse_client_texts, client_texts),
    Target("form", run_form, forms),
]
