"""The HTTP client of hold'em: what it sends, what it accepts from any server, and how it fails."""

import asyncio
import re
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
import trustme

from croupier.clients import http_exchange
from croupier.clients.holdem_api import ApiRequest, ApiResponse
from croupier.clients.http_connection import MAX_HEAD_BYTES
from croupier.clients.http_exchange import HttpExchange
from croupier.clients.server_url import parse_url
from tests.net.raw_client import Run

GAMES = ApiRequest("GET", "/games/")
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]"

PROXY_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")

type Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXY_VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


class Server:
    """A server that answers each request with the next of `answers`, and closes the connection after the last one.

    `heads` has the heads of all requests, and `connections` is the number of connections.
    """

    def __init__(self, *answers: bytes) -> None:
        self.heads: list[bytes] = []
        self.connections = 0
        self._answers = iter(answers)

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        while True:
            self.heads.append(await reader.readuntil(b"\r\n\r\n"))
            answer = next(self._answers, None)
            if answer is None:
                return
            writer.write(answer)

    @property
    def lines(self) -> list[list[str]]:
        """The lines of all heads."""
        return [head.decode().splitlines()[:-1] for head in self.heads]


@asynccontextmanager
async def listening(talk: Talk, context: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """A server on a port of its own; yields HOST:PORT."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await talk(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    try:
        host, port = server.sockets[0].getsockname()
        yield f"{host}:{port}"
    finally:
        server.close()


async def outcome(answering: Awaitable[ApiResponse]) -> ApiResponse | str:
    """The response, or why there is none."""
    try:
        return await answering
    except ConnectionError as error:
        return str(error)


async def ask(address: str, *requests: ApiRequest) -> list[ApiResponse | str]:
    exchange = HttpExchange(address)
    try:
        return [await outcome(exchange.request(request)) for request in requests or [GAMES]]
    finally:
        await exchange.close()


def answer_of(run: Run, *answers: bytes) -> ApiResponse | str:
    """What the client makes of the answers of a server to one request."""

    async def main() -> ApiResponse | str:
        async with listening(Server(*answers).talk) as address:
            [found] = await ask(address)
            return found

    return run(main())


@pytest.mark.parametrize(
    "answer",
    [
        OK,
        b"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\n[]",
        b"HTTP/1.1 200 OK\nContent-Length: 2\n\n[]",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + OK,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1 ;a=b\r\n[\r\n1\r\n]\r\n0\r\nX: y\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 9\r\n\r\n2\r\n[]\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: a\r\n b\r\nX: \xe9\r\nContent-Length: 2\r\n\r\n[]",
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n[]",
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n[]",
    ],
)
def test_every_form_of_an_answer_is_read(run: Run, answer: bytes) -> None:
    found = answer_of(run, answer)
    assert isinstance(found, ApiResponse), found
    assert (found.status, found.body) == (200, b"[]")
    assert found.headers.get("x") in {None, "a b, é"}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n[]", "the server has closed the connection"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n[]", "the server has closed the connection"),
        (b"HTTP/1.1 200 OK\r\nX: y", "the server has closed the connection"),
        (b"\x15\x03\x01\x00\x02\x02\x46", "the answer is not HTTP/1.1"),
        (
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
            "the answer is not HTTP/1.1",
        ),
        (b"HTTP/1.1 200 OK\r\nX: " + MAX_HEAD_BYTES * b"y", "a head of more than"),
    ],
)
def test_what_is_no_answer_is_a_failed_connection(run: Run, answer: bytes, reason: str) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()

    async def main() -> list[ApiResponse | str]:
        async with listening(talk) as address:
            return await ask(address)

    [found] = run(main())
    assert isinstance(found, str), found
    assert reason in found


def test_a_body_without_a_length_ends_with_the_connection(run: Run) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.0 200 OK\r\n\r\n[")
        await writer.drain()
        writer.write(b"]")

    async def main() -> list[ApiResponse | str]:
        async with listening(talk) as address:
            return await ask(address)

    assert run(main()) == [ApiResponse(200, {}, b"[]")]


@pytest.mark.parametrize("status", [204, 304])
def test_an_answer_without_a_body_ends_with_its_head(run: Run, status: int) -> None:
    found = answer_of(run, b"HTTP/1.1 %d Fine\r\nContent-Length: 10\r\nETag: x\r\n\r\n" % status)
    assert found == ApiResponse(status, {"content-length": "10", "etag": "x"}, b"")


def test_requests_share_a_connection(run: Run) -> None:
    server = Server(OK, OK)

    async def main() -> None:
        async with listening(server.talk) as address:
            await ask(address, GAMES, ApiRequest("POST", "/users/"))
            get, post = server.lines
            assert get == [
                "GET /games/ HTTP/1.1",
                f"host: {address}",
                "accept: */*",
                "accept-encoding: identity",
                "connection: keep-alive",
                "user-agent: croupier/0.1.0",
            ]
            assert post == ["POST /users/ HTTP/1.1", *get[1:], "content-length: 0"]

    run(main())
    assert server.connections == 1


@pytest.mark.parametrize(
    "answer", [OK.replace(b"OK\r\n", b"OK\r\nConnection: close\r\n"), OK.replace(b"1.1", b"1.0"), OK + b"HTTP/1.1 408 "]
)
def test_a_connection_that_is_over_is_not_used_again(run: Run, answer: bytes) -> None:
    server = Server(answer, OK)

    async def main() -> list[ApiResponse | str]:
        async with listening(server.talk) as address:
            return await ask(address, GAMES, GAMES)

    assert [type(found) for found in run(main())] == [ApiResponse, ApiResponse]
    assert server.connections == 2


def test_a_connection_that_was_idle_for_long_is_not_used_again(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_exchange, "KEEP_ALIVE_SECONDS", 0.0)
    server = Server(OK, OK)

    async def main() -> None:
        async with listening(server.talk) as address:
            await ask(address, GAMES, GAMES)

    run(main())
    assert server.connections == 2


def test_a_path_is_quoted(run: Run) -> None:
    server = Server(OK)

    async def main() -> None:
        async with listening(server.talk) as address:
            await ask(f"http://{address}/room/", ApiRequest("GET", "/games/é\r\nX: y?after=1"))

    run(main())
    assert server.lines[0][0] == "GET /room/games/%C3%A9%0D%0AX:%20y?after=1 HTTP/1.1"


def test_a_silent_server_is_a_failed_connection(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_exchange, "SILENCE_SECONDS", 0.01)
    assert answer_of(run, b"HTTP/1.1 200 OK\r\n") == "no answer within 0.01 seconds"


def test_a_refused_connection_has_a_reason(run: Run) -> None:
    async def main() -> list[ApiResponse | str]:
        async with listening(Server().talk) as address:
            pass
        return await ask(address)

    [found] = run(main())
    assert found == "connection refused"


def test_a_server_without_tls_is_named(run: Run) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    async def main() -> list[ApiResponse | str]:
        async with listening(talk) as address:
            return await ask(f"https://{address}")

    assert run(main()) == ["the server does not speak TLS; use http://"]


def test_a_cancelled_request_closes_its_connection(run: Run) -> None:
    server = Server(OK[:-1], OK)

    async def main() -> list[ApiResponse | str]:
        async with listening(server.talk) as address:
            exchange = HttpExchange(address)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await exchange.request(GAMES)
            found = await outcome(exchange.request(GAMES))
            await exchange.close()
            return [found]

    assert isinstance(run(main())[0], ApiResponse)
    assert server.connections == 2


def test_closing_ends_requests_and_streams(run: Run) -> None:
    server = Server(b"", b"")

    async def main() -> list[ApiResponse | str]:
        async with listening(server.talk) as address:
            exchange = HttpExchange(address)
            waiting = [
                asyncio.create_task(outcome(exchange.request(GAMES))),
                asyncio.create_task(outcome(exchange.stream(GAMES).read())),
            ]
            while len(server.heads) < 2:
                await asyncio.sleep(0)
            await exchange.close()
            with pytest.raises(RuntimeError):
                await exchange.request(GAMES)
            return await asyncio.gather(*waiting)

    assert run(main()) == 2 * ["the connection was closed"]


# Streams


def test_a_stream_gives_the_newest_line_and_is_reopened(run: Run) -> None:
    pieces = asyncio.Queue[bytes | None]()
    opened = 0

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal opened
        opened += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while (piece := await pieces.get()) is not None:
            writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))

    async def main() -> list[ApiResponse | str]:
        async with listening(talk) as address:
            exchange = HttpExchange(address)
            stream = exchange.stream(GAMES)
            found = []
            for piece in (b"\n{1}\n", b"{2}\n{3", b"}\n\n", b"{4}\n{5}\n", None, b"{6}\n"):
                pieces.put_nowait(piece)
                found.append(await outcome(stream.read()))
            await stream.close()
            await exchange.close()
            pieces.put_nowait(None)
            return found

    *lines, end, again = run(main())
    assert [line.body for line in lines if isinstance(line, ApiResponse)] == [b"{1}", b"{2}", b"{3}", b"{5}"]
    assert end == "the server has closed the connection"
    assert isinstance(again, ApiResponse)
    assert again.body == b"{6}"
    assert opened == 2


def test_a_stream_that_ends_or_does_not_exist_says_so(run: Run) -> None:
    ended = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n{1}\n"
    server = Server(ended, b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno")

    async def main() -> list[ApiResponse | str]:
        async with listening(server.talk) as address:
            exchange = HttpExchange(address)
            stream = exchange.stream(GAMES)
            found = [await outcome(stream.read()) for _ in range(3)]
            await exchange.close()
            return found

    assert run(main()) == [
        ApiResponse(200, {"content-length": "4"}, b"{1}"),
        "the stream has ended",
        ApiResponse(404, {"content-length": "2"}, b""),
    ]


# TLS and proxies


def test_a_proxy_forwards_requests(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(OK)

    async def main() -> None:
        async with listening(server.talk) as address:
            monkeypatch.setenv("HTTP_PROXY", f"http://ann:se%20cret@{address}")
            [found] = await ask("http://cards.example:8080/room")
            assert isinstance(found, ApiResponse)

    run(main())
    [[line, host, *others]] = server.lines
    assert (line, host) == ("GET http://cards.example:8080/room/games/ HTTP/1.1", "host: cards.example:8080")
    assert "proxy-authorization: Basic YW5uOnNlIGNyZXQ=" in others


@pytest.mark.parametrize("status", [200, 407])
def test_a_proxy_opens_a_tunnel_for_tls(run: Run, monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    server, heads = Server(OK), list[bytes]()
    authority, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1 << 16):
            writer.write(data)
        writer.close()

    async def tunnel(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 %d Fine\r\nX: y\r\n\r\n" % status)
        if status == 200:
            host, _, port = heads[0].split()[1].decode().partition(":")
            behind_reader, behind_writer = await asyncio.open_connection(host, int(port))
            await asyncio.gather(forward(reader, behind_writer), forward(behind_reader, writer))

    async def main() -> ApiResponse | str:
        async with listening(server.talk, context) as address, listening(tunnel) as proxy:
            monkeypatch.setenv("HTTPS_PROXY", proxy)
            exchange = HttpExchange(f"https://{address}", trusting)
            found = await outcome(exchange.request(GAMES))
            await exchange.close()
            return found

    found = run(main())
    assert heads[0].startswith(b"CONNECT 127.0.0.1:")
    if status == 200:
        assert isinstance(found, ApiResponse), found
        assert server.lines[0][0] == "GET /games/ HTTP/1.1"
    else:
        assert isinstance(found, str)
        assert re.fullmatch(r"status 407 \(through the proxy 127\.0\.0\.1:\d+\)", found)


def test_no_proxy_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "https://proxy.example:3128")
    monkeypatch.setenv("NO_PROXY", "localhost")
    assert parse_url("localhost:8080").proxy() is None
    assert parse_url("https://cards.example").proxy() == (("proxy.example", 3128), True, "")


def test_a_proxy_of_another_protocol_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://ann:secret@127.0.0.1")
    with pytest.raises(ValueError, match="allowed: http://HOST:PORT") as raised:
        HttpExchange("localhost")
    assert "secret" not in str(raised.value)
