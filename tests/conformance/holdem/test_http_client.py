"""The HTTP client: framing of responses, errors, reconnects, and rendering."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from croupier.conformance.holdem.http_client import HttpClient, ResponseError
from croupier.conformance.holdem.setups import TableSetup
from croupier.conformance.holdem.test_server import HoldemTestServer
from croupier.http.wire import ReceivedResponse, SentRequest
from croupier.rooms.holdem.settings import Settings
from tests.conformance.holdem.http_client_fixture import http_client

REQUEST = SentRequest("GET", "/games/")


@asynccontextmanager
async def server(*answers: bytes, keep_open: bool = True) -> AsyncIterator[tuple[HttpClient, list[bytes]]]:
    """Run a server that sends these responses in turn; yield a client and the received requests."""
    requests: list[bytes] = []
    responses = list(answers)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while responses and (data := await reader.readuntil(b"\r\n\r\n")):
            requests.append(data)
            writer.write(responses.pop(0))
            await writer.drain()
            if not keep_open:
                break
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as listener:
        host, port = listener.sockets[0].getsockname()[:2]
        async with http_client(host, port) as client:
            yield client, requests


def run[T](main: Callable[[], Awaitable[T]]) -> T:
    async def main_coroutine() -> T:
        return await main()

    return asyncio.run(main_coroutine())


FRAMINGS = {
    "with its length": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "in chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n1;x\r\nk\r\n0\r\nEnd: 1\r\n\r\n",
    "without a body": b"HTTP/1.1 204 No Content\r\n\r\n",
}


@pytest.mark.parametrize("framing", FRAMINGS)
def test_response_framings(framing: str) -> None:
    async def main() -> tuple[ReceivedResponse, ReceivedResponse]:
        async with server(FRAMINGS[framing], FRAMINGS["with its length"]) as (client, _):
            return await client.request(REQUEST), await client.request(REQUEST)

    first, second = run(main)
    assert first.body == (b"" if framing == "without a body" else b"ok")
    assert second.body == b"ok"


def test_response_ended_by_close() -> None:
    async def main() -> ReceivedResponse:
        async with server(b"HTTP/1.1 200 OK\r\n\r\nall of it", keep_open=False) as (client, _):
            return await client.request(REQUEST)

    assert run(main).body == b"all of it"


def test_response_to_head_has_no_body() -> None:
    async def main() -> ReceivedResponse:
        async with server(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n") as (client, _):
            return await client.request(SentRequest("HEAD", "/games/"))

    assert run(main).body == b""


@pytest.mark.parametrize(
    "answer",
    [
        b"OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
        b"",
        b"HTTP/1.1 200 OK\r\nLong: " + b"x" * 100_000,
    ],
    ids=["no-http", "short", "none", "long-head"],
)
def test_invalid_response_raises(answer: bytes) -> None:
    async def main() -> None:
        async with server(answer, keep_open=False) as (client, _):
            await client.request(REQUEST)

    with pytest.raises(ResponseError):
        run(main)


def test_pipelined_responses_are_received_one_by_one() -> None:
    closing = b"HTTP/1.1 201 Last\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

    async def main() -> list[int]:
        async with server(FRAMINGS["in chunks"] + FRAMINGS["without a body"] + closing) as (client, _):
            await client.send(REQUEST.encode(client.host))
            statuses = [(await client.receive()).status for _ in range(3)]
            assert client.close_count == 1
            return statuses

    assert run(main) == [200, 204, 201]


def test_offer_of_another_protocol_is_ignored_by_the_test_server() -> None:
    offer = (("Connection", "Upgrade, HTTP2-Settings"), ("Upgrade", "h2c"), ("HTTP2-Settings", ""))

    async def main() -> list[int]:
        bot = HoldemTestServer(Settings(), TableSetup(), seed=1)
        async with http_client("127.0.0.1", await bot.open()) as client:
            statuses = [(await client.request(SentRequest("GET", "/games/", offer))).status for _ in range(2)]
            assert client.close_count == 0
        await bot.close()
        return statuses

    assert run(main) == [200, 200]


def test_malformed_request_is_recorded_by_the_test_server() -> None:
    async def main() -> tuple[int, list[bytes]]:
        bot = HoldemTestServer(Settings(), TableSetup(), seed=1)
        async with http_client("127.0.0.1", await bot.open()) as client:
            await client.request(REQUEST)
            status = (await client.request(SentRequest("GET", "/", (("Long", "x" * 100_000),)))).status
        await bot.close()
        return status, bot.malformed

    status, (malformed,) = run(main)
    assert status == 400
    assert malformed.startswith(b"GET / HTTP/1.1\r\nHost: ")


def test_closed_connection_is_reopened() -> None:
    async def main() -> list[bytes]:
        closing = FRAMINGS["with its length"]
        async with server(closing, closing, keep_open=False) as (client, requests):
            await client.request(REQUEST)
            await client.request(REQUEST)
            return requests

    assert len(run(main)) == 2


def test_request_encoding() -> None:
    act = SentRequest("POST", "/x", (("Authorization", "Basic eDp5"),), b"{}")
    assert act.encode("h:1") == (
        b"POST /x HTTP/1.1\r\nHost: h:1\r\nAuthorization: Basic eDp5\r\nContent-Length: 2\r\n\r\n{}"
    )
    chunked = SentRequest("POST", "/x", (("Transfer-Encoding", "chunked"),), b"0\r\n\r\n")
    assert b"Content-Length" not in chunked.encode("h:1")
