"""Clients of houses that break the protocol: the error cites the clause, and the client says goodbye."""

import asyncio
import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

import croupier
from croupier.core.errors import Violation
from croupier.rooms.kuhn.wire import Actn, Card, Strt
from tests.net.raw_client import TIMEOUT_SECONDS, Run

BET = Actn("BET")


@asynccontextmanager
async def faulty_server(*answers: bytes, hear: int = 8) -> AsyncIterator[tuple[int, list[bytes]]]:
    """A house that sends fixed answers and disconnects; yields its port and the data it receives at the end."""
    last: list[bytes] = []
    served = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for answer in answers:
            await reader.readexactly(hear)
            writer.write(answer)
        if writer.can_write_eof():
            writer.write_eof()
        last.append(await reader.read())
        writer.close()
        await writer.wait_closed()
        served.set()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1], last
        async with asyncio.timeout(TIMEOUT_SECONDS):
            await served.wait()
    finally:
        server.close()


ROGUES = {
    "garbage": ([b"HELO"], "kuhn-2.7"),
    "an-answer-to-another-question": ([b"ACTN BET"], "kuhn-4.1"),
    "our-own-card": ([b"CARD C_Q", b"CARD C_Q"], "kuhn-5.4"),
    "a-call-that-is-said": ([b"CARD C_Q", b"ACTN CAL"], "kuhn-4.8"),
    "no-such-card": ([b"CARD C_A"], "kuhn-2.6"),
    "no-answer": ([b"CARD C_Q", b""], "kuhn-4.4"),
    "no-goodbye": ([b"CARD C_Q"], "kuhn-8.2"),
}
HANGS_UP = {"kuhn-4.4", "kuhn-8.2"}
"""Clauses that a house breaks by disconnecting; the client cannot say goodbye then."""


@pytest.mark.parametrize(("answers", "clause"), ROGUES.values(), ids=ROGUES.keys())
def test_violation_of_the_house_cites_its_clause(run: Run, answers: list[bytes], clause: str) -> None:
    async def main() -> None:
        async with faulty_server(*answers) as (port, last), croupier.connect("kuhn", port=port) as game:
            await game.send(Strt("P_1"))
            with pytest.raises(Violation) as raised:  # noqa: PT012 -- any of the statements may raise
                await game.receive()
                if len(answers) > 1:
                    await game.send(BET)
                await game.receive()
            assert raised.value.clause == clause
            with pytest.raises((Violation, ConnectionError)):
                await game.receive()
            with pytest.raises((Violation, ConnectionError)):
                await game.send(BET)
        assert last == [b"" if clause in HANGS_UP else b"DISC"]

    run(main())


def test_blocking_client_raises_the_violation() -> None:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        with croupier.connect("kuhn", port=listening.getsockname()[1]) as game:
            connection, _ = listening.accept()
            with connection:
                game.send(Strt("P_1"))
                assert connection.recv(100) == b"STRT P_1"
                connection.sendall(b"HELO")
                with pytest.raises(Violation, match=re.escape("kuhn-2.7")):
                    game.receive()
                connection.settimeout(TIMEOUT_SECONDS)
                assert connection.recv(100) == b"DISC"
                assert connection.recv(100) == b""


def test_strict_client_rejects_tolerated_deviations(run: Run) -> None:
    async def main() -> None:
        async with faulty_server(b"\r\nCARD C_Q") as (port, _), croupier.connect("kuhn", port=port) as game:
            await game.send(Strt("P_1"))
            assert await game.receive() == Card("Q")
        async with (
            faulty_server(b"\r\nCARD C_Q") as (port, _),
            croupier.connect("kuhn", port=port, strict=True) as game,
        ):
            await game.send(Strt("P_1"))
            with pytest.raises(Violation):
                await game.receive()

    run(main())


def test_goodbye_is_sent_when_the_program_leaves(run: Run) -> None:
    async def main() -> None:
        async with faulty_server(b"CARD C_Q") as (port, last), croupier.connect("kuhn", port=port) as game:
            await game.send(Strt("P_1"))
            await game.receive()
        assert last == [b"DISC"]

    run(main())


def test_goodbye_is_sent_when_the_program_fails(run: Run) -> None:
    async def main() -> None:
        async with faulty_server(b"CARD C_Q") as (port, last):
            with pytest.raises(ZeroDivisionError):  # noqa: PT012 -- the program fails inside the context
                async with croupier.connect("kuhn", port=port) as game:
                    await game.send(Strt("P_1"))
                    await game.receive()
                    _ = 1 // 0
        assert last == [b"DISC"]

    run(main())
