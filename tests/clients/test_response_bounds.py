"""Servers that send more than can be meant: what clients of hold'em read of it."""

import asyncio
import gzip
import tracemalloc
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from croupier.clients import response_bodies
from croupier.clients.blocking import BlockingHoldemClient
from croupier.clients.holdem import HoldemClient
from croupier.clients.response_bodies import MAX_BODY_BYTES, MAX_LINE_BYTES, NdjsonReader
from croupier.core.errors import Violation
from tests.net.raw_client import Run

PIECE = b" " * (1 << 16)
PACKED = gzip.compress(PIECE * 1024, 1)
"""64 MB of spaces."""

HEAD = b"HTTP/1.1 200 OK\r\nX-Game-Version: 1\r\n"

type Answer = Callable[[bytes], tuple[bytes, Iterator[bytes]]]
"""What a server says to the path of a request: the head of its answer, and what follows without end or with one."""


def endless(piece: bytes = PIECE) -> Iterator[bytes]:
    while True:
        yield piece


def chunked(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def endless_body(path: bytes) -> tuple[bytes, Iterator[bytes]]:
    return HEAD + b"Transfer-Encoding: chunked\r\n\r\n", endless(chunked(PIECE))


def bomb(path: bytes) -> tuple[bytes, Iterator[bytes]]:
    return HEAD + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(PACKED), iter([PACKED])


GAME = b'{"gameID": "g", "table": [], "turn": null, "cards": null, "pots": []}'


def endless_line(path: bytes) -> tuple[bytes, Iterator[bytes]]:
    if path.endswith(b"/events"):
        return endless_body(path)
    return HEAD + b"Content-Length: %d\r\n\r\n" % len(GAME), iter([GAME])


@asynccontextmanager
async def serving(answer: Answer) -> AsyncIterator[str]:
    """A server that says this to every request: its address."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                begin, pieces = answer(head.split()[1])
                writer.write(begin)
                for piece in pieces:
                    writer.write(piece)
                    await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    try:
        host, port = server.sockets[0].getsockname()
        yield f"http://{host}:{port}"
    finally:
        server.close()
        await server.wait_closed()


async def look(url: str) -> None:
    async with HoldemClient(url, "ann", "secret", retry_timeout=0.0) as ann:
        await ann.list_games()


async def watch(url: str) -> None:
    async with HoldemClient(url, "ann", "secret", retry_timeout=0.0) as ann:
        async for _ in ann.watch("g"):
            pass


async def look_without_a_loop(url: str) -> None:
    def main() -> None:
        with BlockingHoldemClient(url, "ann", "secret", retry_timeout=0.0) as ann:
            ann.list_games()

    await asyncio.to_thread(main)


async def watch_without_a_loop(url: str) -> None:
    def main() -> None:
        with BlockingHoldemClient(url, "ann", "secret", retry_timeout=0.0) as ann:
            for _ in ann.watch("g"):
                pass

    await asyncio.to_thread(main)


@pytest.mark.parametrize(
    ("answer", "asks", "clause"),
    [
        (endless_body, look, "holdem-1.5"),
        (endless_body, look_without_a_loop, "holdem-1.5"),
        (bomb, look, "holdem-1.5"),
        (bomb, look_without_a_loop, "holdem-1.5"),
        (endless_line, watch, "holdem-9.6"),
        (endless_line, watch_without_a_loop, "holdem-9.6"),
    ],
)
def test_a_client_reads_no_more_than_an_answer_can_have(run: Run, answer: Answer, asks: Any, clause: str) -> None:
    async def main() -> None:
        async with serving(answer) as url:
            tracemalloc.start()
            try:
                with pytest.raises(Violation) as raised:
                    await asks(url)
                assert raised.value.clause == clause
                assert tracemalloc.get_traced_memory()[1] < 4 * MAX_BODY_BYTES
            finally:
                tracemalloc.stop()

    run(main())


def test_a_client_asks_for_bodies_that_are_not_packed() -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.headers["accept-encoding"])
        return httpx.Response(200, content=b"[]")

    with BlockingHoldemClient("localhost", "ann", "secret", transport=httpx.MockTransport(answer)) as ann:
        assert ann.list_games() == []
    assert asked == ["identity"]


def test_a_body_that_drips_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(response_bodies, "MAX_BODY_SECONDS", -1.0)
    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=iter([b"[", b"]"])))
    with (
        BlockingHoldemClient("localhost", "ann", "secret", retry_timeout=0.0, transport=transport) as ann,
        pytest.raises(ConnectionError, match="a body of more than"),
    ):
        ann.list_games()


def test_a_line_that_comes_in_pieces_is_read_whole() -> None:
    lines = NdjsonReader()
    assert [lines.newest_line(piece) for piece in (b"a", b"b\n", b"c\nd\n\n", b"\n", b"e")] == [
        b"",
        b"ab",
        b"d",
        b"",
        b"",
    ]
    assert lines.newest_line(b"x" * (MAX_LINE_BYTES - 1) + b"\n") == b"e" + b"x" * (MAX_LINE_BYTES - 1)


def test_a_line_without_an_end_is_no_game() -> None:
    lines = NdjsonReader()
    for _ in range(MAX_LINE_BYTES // 1024):
        assert lines.newest_line(b"x" * 1024) == b""
    lines.newest_line(b"x")
    with pytest.raises(Violation):
        lines.newest_line(b"x")
