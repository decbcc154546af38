"""A reset discards what the server has sent last, so nothing is concluded from what is missing then."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from croupier.conformance.case import select
from croupier.conformance.case_runner import MAX_RESETS, RESET_CAUSE
from croupier.conformance.holdem.http_client import ConnectionWasReset, ResponseCut, ResponseError
from croupier.conformance.results import Outcome, Result
from croupier.core.room import Room
from croupier.core.session import Address
from croupier.http.wire import SentRequest
from croupier.net.streams import open_streams
from croupier.rooms import ROOMS
from tests.conformance.holdem.http_client_fixture import http_client
from tests.conformance.suites import check_server, server_cases
from tests.net.raw_client import LOOPS

READ_BYTES = 4
"""A server under test reads this much of what it is sent, at most."""

loops = pytest.mark.parametrize("loop_factory", LOOPS.values(), ids=LOOPS)


def close(client: socket.socket) -> None:
    """Close with a FIN: everything is read before."""
    with suppress(BlockingIOError):
        client.recv(1 << 16)
    client.close()


def close_unread(client: socket.socket) -> None:
    """Close with unread input, as many programs do: the kernel resets the connection."""
    client.close()


def reset(client: socket.socket) -> None:
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


@asynccontextmanager
async def server(answers: Callable[[int], bytes], end: Callable[[socket.socket], None]) -> AsyncIterator[Address]:
    """A server that reads the beginning of what a client sends, sends an answer to connection n, and ends it."""
    loop = asyncio.get_running_loop()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)

        async def serve() -> None:
            number = 0
            while True:
                client, _ = await loop.sock_accept(listener)
                client.setblocking(False)
                await loop.sock_recv(client, READ_BYTES)
                await loop.sock_sendall(client, answers(number))
                end(client)
                number += 1

        serving = asyncio.create_task(serve())
        try:
            yield listener.getsockname()
        finally:
            serving.cancel()
            await asyncio.wait([serving])


def run_case(
    case: str,
    answers: Callable[[int], bytes],
    end: Callable[[socket.socket], None],
    loop_factory: Callable[[], asyncio.AbstractEventLoop] | None = None,
) -> Result:
    room: Room = ROOMS[case.partition("/")[0]]

    async def main() -> Result:
        async with server(answers, end) as address:
            (result,) = await check_server(room, *address, cases=select(server_cases(room), case), timeout=5.0)
            return result

    return asyncio.run(main(), loop_factory=loop_factory)


GARBAGE = "sevenhalf/2.9/http-request"
CUT = b"ERRO 17Unkno"


@loops
@pytest.mark.parametrize("end", [close_unread, reset])
def test_a_message_that_a_reset_has_cut_is_not_judged(
    end: Callable[[socket.socket], None], loop_factory: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    result = run_case(GARBAGE, lambda _: CUT, end, loop_factory)
    assert result.outcome is Outcome.SKIP
    assert result.note.startswith("the house has reset the connection in the middle of a message")


@loops
def test_a_message_that_a_close_has_cut_fails(loop_factory: Callable[[], asyncio.AbstractEventLoop]) -> None:
    result = run_case(GARBAGE, lambda _: CUT, close, loop_factory)
    assert result.failure is not None
    assert result.failure.clause == "sevenhalf-2.1"
    assert result.failure.actual == repr(CUT.decode())


def test_a_case_is_tried_again_after_a_reset() -> None:
    whole = b"ERRO 12Unknown code"
    for before in (b"", CUT):
        result = run_case(GARBAGE, lambda number, before=before: whole if number == MAX_RESETS - 1 else before, reset)
        assert result.outcome is Outcome.PASS


def test_an_answer_that_is_missing_after_every_reset_was_not_sent() -> None:
    connections: list[int] = []

    def never(number: int) -> bytes:
        connections.append(number)
        return b""

    result = run_case(GARBAGE, never, reset)
    assert result.failure is not None
    assert (result.failure.clause, result.failure.cause) == ("sevenhalf-2.9", RESET_CAUSE)
    assert len(connections) >= MAX_RESETS


def test_a_reset_in_answer_to_a_readable_message_still_fails() -> None:
    result = run_case("sevenhalf/4.1/document-example-1", lambda _: b"STB", reset)
    assert result.failure is not None
    assert result.failure.clause == "sevenhalf-4.1"


def test_what_a_table_has_sent_before_a_reset_is_read() -> None:
    no_json = "oldmaid/8.3/no-value-before-joining"
    refusal = b'{"result": "error", "message": "no JSON"}\n'
    assert run_case(no_json, lambda _: refusal, reset).outcome is Outcome.CHOICE, "it may close"
    cut = run_case(no_json, lambda _: refusal[:20], reset)
    assert cut.outcome is Outcome.SKIP
    assert cut.note.startswith("the table has reset the connection in the middle of a message")
    closed = run_case(no_json, lambda _: refusal[:20], close)
    assert closed.failure is not None
    assert closed.failure.clause == "oldmaid-1.3"
    nothing = run_case(no_json, lambda _: b"", reset)
    assert nothing.failure is not None
    assert nothing.failure.actual == "the end of the connection"


RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]"


@pytest.mark.parametrize(
    ("answer", "end", "error"),
    [
        (RESPONSE, reset, None),
        (RESPONSE[:-1], reset, ResponseCut),
        (RESPONSE[:-1], close, ResponseError),
        (b"HTTP/1.1 200 OK\r\n\r\n[", reset, ResponseCut),
        (b"HTTP/1.1 200 OK\r\n\r\n[]", close, None),
        (b"", reset, ConnectionWasReset),
    ],
)
def test_a_response_that_a_reset_has_cut(
    answer: bytes, end: Callable[[socket.socket], None], error: type[ResponseError] | None
) -> None:
    async def main() -> bytes:
        async with server(lambda _: answer, end) as address, http_client(*address) as client:
            return (await client.request(SentRequest("POST", "/games/", body=b"x" * 100))).body

    if error is None:
        assert asyncio.run(main()) == b"[]"
        return
    with pytest.raises(ResponseError) as raised:
        asyncio.run(main())
    assert type(raised.value) is error


def test_a_hold_em_case_with_a_cut_response_is_skipped() -> None:
    result = run_case("holdem/1.8/byte-by-byte", lambda _: RESPONSE[:-1], reset)
    assert result.outcome is Outcome.SKIP
    assert result.note.startswith("the server has reset the connection in the middle of a response")
    assert run_case("holdem/1.8/byte-by-byte", lambda _: RESPONSE[:-1], close).outcome is Outcome.FAIL


@loops
def test_streams_keep_what_has_arrived_before_a_reset(loop_factory: Callable[[], asyncio.AbstractEventLoop]) -> None:
    async def main(end: Callable[[socket.socket], None]) -> tuple[bytes, bool]:
        async with server(lambda _: b"an answer", end) as address:
            reader, writer = await open_streams(*address)
            writer.write(b"a long question")
            await asyncio.sleep(0.05)  # the answer and the reset arrive before anything is read
            data = await reader.read()
            writer.transport.abort()
            return data, reader.was_reset

    assert asyncio.run(main(reset), loop_factory=loop_factory) == (b"an answer", True)
    assert asyncio.run(main(close), loop_factory=loop_factory) == (b"an answer", False)
