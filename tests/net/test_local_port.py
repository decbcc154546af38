"""A session that connects from the port that it listens on can be called back where it came from."""

import asyncio
import socket
from typing import Any

import pytest

from croupier.core.session import Joined, Left, Received
from croupier.logs import silent_logger
from croupier.net.endpoint import Endpoint, EndpointLimits, LocalAddressError, outgoing_addresses
from tests.net.raw_client import PATIENCE, Caller, Notes, Run, Words, opened

TABLE = 0


def six() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


HOSTS = ["127.0.0.1", *(["::1"] if six() else [])]


@pytest.mark.parametrize("host", HOSTS)
def test_who_connects_from_where_it_listens_is_called_back_there(run: Run, host: str) -> None:
    async def main() -> None:
        table, session = Notes(), Notes()
        there, board = Endpoint(table, Words, silent_logger()), Endpoint(session, Words, silent_logger())
        own = await board.listen(host, 0)
        await board.connect(TABLE, await there.listen(host, 0), local_address=own)
        (joined,) = await table.hears(Joined)
        assert joined.address == own
        assert [event.peer for event in session.told(Joined)] == [TABLE]
        await there.connect(TABLE, joined.address)
        assert [event.peer for event in await session.hears(Joined, 2)] == [TABLE, 1]
        await close(there, board)

    run(main())


def closed_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


async def close(*boards: Endpoint) -> None:
    for board in boards:
        board.halt(final=True)
    async with asyncio.timeout(PATIENCE):
        for board in boards:
            await board.wait_drained()


def test_whoever_listens_has_the_port_for_himself(run: Run) -> None:
    async def main() -> None:
        async with opened(Notes()) as (_, there), opened(Notes()) as (board, own):
            await board.connect(TABLE, there, local_address=own)
            second = Endpoint(Notes(), Words, silent_logger())
            with pytest.raises(OSError, match="in use"):
                await second.listen(*own)

    run(main())


def test_a_port_of_somebody_else_is_no_place_to_connect_from(run: Run) -> None:
    async def main() -> None:
        session = Notes()
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            async with opened(Notes()) as (_, there), opened(session) as (board, _):
                with pytest.raises(LocalAddressError, match="in use"):
                    await board.connect(TABLE, there, local_address=other.getsockname())
                assert session.events == []

    run(main())


def test_a_second_connection_between_the_same_ports_is_none(run: Run) -> None:
    async def main() -> None:
        async with opened(Notes()) as (_, there), opened(Notes()) as (board, own):
            await board.connect(TABLE, there, local_address=own)
            with pytest.raises(LocalAddressError):
                await board.connect(TABLE, there, local_address=own)
            await board.connect(TABLE - 1, there, local_address=(own[0], 0))
            assert board.connection_count == 2

    run(main())


def test_nobody_there_is_the_same_from_everywhere(run: Run) -> None:
    async def main() -> None:
        session = Notes()
        async with opened(session) as (board, own):
            await board.connect(TABLE, ("127.0.0.1", closed_port()), local_address=own)
            (left,) = session.told(Left)
            assert left.peer == TABLE
            assert "refused" in left.reason.lower() or "connect call failed" in left.reason.lower()

    run(main())


def test_a_call_from_an_own_port_that_is_given_up_leaves_nothing_behind(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        session = Notes()
        loop = asyncio.get_running_loop()
        stuck: list[Any] = []

        async def never(sock: socket.socket, address: object) -> None:
            stuck.append(sock)
            await loop.create_future()

        board = Endpoint(session, Words, silent_logger(), limits=EndpointLimits(connect_timeout=0.05))
        own = await board.listen("127.0.0.1", 0)
        monkeypatch.setattr(board, "_loop", Loop(loop, never))
        await board.connect(TABLE, ("127.0.0.1", 9), local_address=own)
        assert session.events == [Left(TABLE, "no answer within 0.05 seconds")]
        assert [sock.fileno() for sock in stuck] == [-1]
        await close(board)

    run(main())


class Loop:
    """A loop on which connecting is something else."""

    def __init__(self, loop: asyncio.AbstractEventLoop, sock_connect: Any) -> None:
        self._loop = loop
        self.sock_connect = sock_connect

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loop, name)


def test_the_way_to_this_machine_leads_from_this_machine(run: Run) -> None:
    async def main() -> None:
        assert await outgoing_addresses(("127.0.0.1", 9)) == ["127.0.0.1"]
        assert "127.0.0.1" in await outgoing_addresses(("localhost", 9))

    run(main())


def test_words_go_both_ways_on_a_connection_from_an_own_port(run: Run) -> None:
    async def main() -> None:
        session = Notes(lambda event, _: [])
        async with opened(session) as (board, own), opened(Notes()) as (_, there):
            await board.connect(TABLE, there, local_address=own)
            async with Caller(own) as caller:
                await caller.say(b"hello\n")
                assert await session.hears(Received) == [Received(1, "hello")]

    run(main())
