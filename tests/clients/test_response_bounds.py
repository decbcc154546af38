"""Hold'em clients limit what they read from servers that send too much."""

import asyncio
import gzip
import tracemalloc
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from croupier.clients import http_exchange
from croupier.clients.holdem import BlockingHoldemClient, HoldemClient
from croupier.clients.response_bodies import MAX_BODY_BYTES, MAX_LINE_BYTES, NdjsonReader
from croupier.core.errors import Violation
from tests.net.raw_client import Run

CHUNK = b" " * (1 << 16)
PACKED = gzip.compress(CHUNK * 1024, 1)
"""64 MB of spaces."""

HEAD = b"HTTP/1.1 200 OK\r\nX-Game-Version: 1\r\n"

type Answer = Callable[[bytes], tuple[bytes, Iterator[bytes]]]
"""Maps the path of a request to the head of the answer and the chunks of its body."""


def endless(chunk: bytes = CHUNK) -> Iterator[bytes]:
    while True:
        yield chunk


def chunked(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def endless_body(path: bytes) -> tuple[bytes, Iterator[bytes]]:
    return HEAD + b"Transfer-Encoding: chunked\r\n\r\n", endless(chunked(CHUNK))


def compressed_bomb(path: bytes) -> tuple[bytes, Iterator[bytes]]:
    return HEAD + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(PACKED), iter([PACKED])


GAME = b'{"gameID": "g", "table": [], "turn": null, "cards": null, "pots": []}'


def endless_line(path: bytes) -> tuple[bytes, Iterator[bytes]]:
    if path.endswith(b"/events"):
        return endless_body(path)
    return HEAD + b"Content-Length: %d\r\n\r\n" % len(GAME), iter([GAME])


@asynccontextmanager
async def serving(answer: Answer) -> AsyncIterator[str]:
    """A server that answers every request like this; yields its URL."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                begin, pieces = answer(head.split()[1])
                writer.write(begin)
                for chunk in pieces:
                    writer.write(chunk)
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


async def get_game(url: str) -> None:
    async with HoldemClient(url, "ann", "secret", retry_timeout=0.0) as ann:
        await ann.list_games()


async def watch(url: str) -> None:
    async with HoldemClient(url, "ann", "secret", retry_timeout=0.0) as ann:
        async for _ in ann.watch("g"):
            pass


async def get_game_blocking(url: str) -> None:
    def main() -> None:
        with BlockingHoldemClient(url, "ann", "secret", retry_timeout=0.0) as ann:
            ann.list_games()

    await asyncio.to_thread(main)


async def watch_blocking(url: str) -> None:
    def main() -> None:
        with BlockingHoldemClient(url, "ann", "secret", retry_timeout=0.0) as ann:
            for _ in ann.watch("g"):
                pass

    await asyncio.to_thread(main)


@pytest.mark.parametrize(
    ("answer", "call", "clause"),
    [
        (endless_body, get_game, "holdem-1.5"),
        (endless_body, get_game_blocking, "holdem-1.5"),
        (compressed_bomb, get_game, "holdem-1.5"),
        (compressed_bomb, get_game_blocking, "holdem-1.5"),
        (endless_line, watch, "holdem-9.6"),
        (endless_line, watch_blocking, "holdem-9.6"),
    ],
)
def test_oversized_answer_is_a_violation(run: Run, answer: Answer, call: Any, clause: str) -> None:
    async def main() -> None:
        async with serving(answer) as url:
            tracemalloc.start()
            try:
                with pytest.raises(Violation) as raised:
                    await call(url)
                assert raised.value.clause == clause
                assert tracemalloc.get_traced_memory()[1] < 4 * MAX_BODY_BYTES
            finally:
                tracemalloc.stop()

    run(main())


def test_slow_body_times_out(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_exchange, "MAX_BODY_SECONDS", 0.01)

    def half_a_body(path: bytes) -> tuple[bytes, Iterator[bytes]]:
        return HEAD + b"Content-Length: 2\r\n\r\n", iter([b"["])

    async def main() -> None:
        async with serving(half_a_body) as url:
            with pytest.raises(ConnectionError, match=r"a body of more than 0\.01 seconds"):
                await get_game(url)

    run(main())


def test_line_in_chunks_is_read_whole() -> None:
    lines = NdjsonReader()
    assert [lines.newest_line(chunk) for chunk in (b"a", b"b\n", b"c\nd\n\n", b"\n", b"e")] == [
        b"",
        b"ab",
        b"d",
        b"",
        b"",
    ]
    assert lines.newest_line(b"x" * (MAX_LINE_BYTES - 1) + b"\n") == b"e" + b"x" * (MAX_LINE_BYTES - 1)


def test_endless_line_is_a_violation() -> None:
    lines = NdjsonReader()
    for _ in range(MAX_LINE_BYTES // 1024):
        assert lines.newest_line(b"x" * 1024) == b""
    lines.newest_line(b"x")
    with pytest.raises(Violation):
        lines.newest_line(b"x")
