"""Requests with every byte in our hands, and answers in every way in which HTTP/1.1 delivers them."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from croupier.conformance.holdem.http_client import HttpClient, ReceivedResponse, ResponseError, SentRequest

LOOK = SentRequest("GET", "/games/")


@asynccontextmanager
async def server(*answers: bytes, keep: bool = True) -> AsyncIterator[tuple[HttpClient, list[bytes]]]:
    """A server that answers every request with the next of these, and a caller; what it heard."""
    heard: list[bytes] = []
    left = list(answers)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while left and (data := await reader.readuntil(b"\r\n\r\n")):
            heard.append(data)
            writer.write(left.pop(0))
            await writer.drain()
            if not keep:
                break
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as found:
        host, port = found.sockets[0].getsockname()[:2]
        async with HttpClient(host, port, timeout=5.0) as caller:
            yield caller, heard


def run[T](main: Callable[[], Awaitable[T]]) -> T:
    async def whole() -> T:
        return await main()

    return asyncio.run(whole())


DELIVERED = {
    "with its length": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "in chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n1;x\r\nk\r\n0\r\nEnd: 1\r\n\r\n",
    "without a body": b"HTTP/1.1 204 No Content\r\n\r\n",
}


@pytest.mark.parametrize("how", DELIVERED)
def test_an_answer_is_heard_however_it_is_delivered(how: str) -> None:
    async def main() -> tuple[ReceivedResponse, ReceivedResponse]:
        async with server(DELIVERED[how], DELIVERED["with its length"]) as (caller, _):
            return await caller.request(LOOK), await caller.request(LOOK)

    first, second = run(main)
    assert first.body == (b"" if how == "without a body" else b"ok")
    assert second.body == b"ok"


def test_an_answer_may_end_with_the_connection() -> None:
    async def main() -> ReceivedResponse:
        async with server(b"HTTP/1.1 200 OK\r\n\r\nall of it", keep=False) as (caller, _):
            return await caller.request(LOOK)

    assert run(main).body == b"all of it"


def test_an_answer_to_head_has_no_body() -> None:
    async def main() -> ReceivedResponse:
        async with server(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n") as (caller, _):
            return await caller.request(SentRequest("HEAD", "/games/"))

    assert run(main).body == b""


@pytest.mark.parametrize(
    "answer",
    [b"OK\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort", b""],
    ids=["no-http", "short", "none"],
)
def test_what_is_no_answer_is_told(answer: bytes) -> None:
    async def main() -> None:
        async with server(answer, keep=False) as (caller, _):
            await caller.request(LOOK)

    with pytest.raises(ResponseError):
        run(main)


def test_a_connection_that_has_ended_meanwhile_is_made_anew() -> None:
    async def main() -> list[bytes]:
        closing = DELIVERED["with its length"]
        async with server(closing, closing, keep=False) as (caller, heard):
            await caller.request(LOOK)
            await caller.request(LOOK)
            return heard

    assert len(run(main)) == 2


def test_a_request_is_written_as_http_has_it() -> None:
    act = SentRequest("POST", "/x", (("Authorization", "Basic eDp5"),), b"{}")
    assert act.encode("h:1") == (
        b"POST /x HTTP/1.1\r\nHost: h:1\r\nAuthorization: Basic eDp5\r\nContent-Length: 2\r\n\r\n{}"
    )
    chunked = SentRequest("POST", "/x", (("Transfer-Encoding", "chunked"),), b"0\r\n\r\n")
    assert b"Content-Length" not in chunked.encode("h:1")


def test_a_dialogue_shows_what_matters() -> None:
    act = SentRequest("POST", "/x", (("User-Agent", "x"), ("Authorization", "Basic eDp5")), b"{}")
    assert act.render() == b"POST /x\nAuthorization: Basic eDp5\n\n{}"
    answer = ReceivedResponse(201, {"date": "today", "x-fold-reason": "found 1; allowed: 2"}, b"x" * 1000)
    assert answer.render().startswith(b"201\nx-fold-reason: found 1; allowed: 2\n\nxxx")
    assert len(answer.render()) < 700
