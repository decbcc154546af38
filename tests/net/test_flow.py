"""An endpoint carries messages both ways, however they are split or joined, with one write per read."""

import asyncio

import pytest

from croupier.core.logger import SilentLogger
from croupier.core.session import Drop, Joined, Left, Received, Send
from croupier.net.endpoint import Connection, Endpoint
from tests.net.raw_client import MemoryTransport, RawClient, RecordingSession, Run, WordCodec, kuhn, opened

GAMES = b"STRT P_1ACTN BETSTRT P_3STRT P_2ACTN CHKACTN CALactn fld\r\nSTRT P_1ACTN CHKACTN FLDDISC"
"""Games, errors, tolerated messages and a goodbye. The house's messages depend on the deals, which the seed fixes."""


async def transcript(chunks: list[bytes]) -> bytes:
    """All bytes that a Kuhn house sends to a client that sends these chunks."""
    async with opened(**kuhn()) as (_, address), RawClient(address) as caller:
        for chunk in chunks:
            await caller.send(chunk)
            await asyncio.sleep(0)
        return await caller.read_to_end()


def test_messages_of_one_read_are_answered_in_one_write(run: Run) -> None:
    async def main() -> None:
        endpoint = Endpoint(RecordingSession(), WordCodec, SilentLogger())
        transport = MemoryTransport()
        connection = Connection(endpoint)
        connection.connection_made(transport)
        connection.data_received(b"one\ntwo\nthr")
        connection.data_received(b"ee\nfour\n")
        assert transport.writes == [b"one\ntwo\n", b"three\nfour\n"]

    run(main())


def test_one_read_causes_one_write_per_recipient(run: Run) -> None:
    async def main() -> None:
        session = RecordingSession(
            lambda event, _: [Send(peer, event.message) for peer in (1, 2)] if type(event) is Received else []
        )
        endpoint = Endpoint(session, WordCodec, SilentLogger())
        transports = [MemoryTransport(port=1), MemoryTransport(port=2)]
        connections = [Connection(endpoint), Connection(endpoint)]
        for connection, transport in zip(connections, transports, strict=True):
            connection.connection_made(transport)
        connections[0].data_received(b"one\ntwo\n")
        assert [transport.writes for transport in transports] == [[b"one\ntwo\n"], [b"one\ntwo\n"]]

    run(main())


def test_recipients_are_written_to_in_the_order_of_their_messages(run: Run) -> None:
    """An answer must not arrive after what follows from it, such as a draw after the turn has been taken over."""

    async def main() -> None:
        session = RecordingSession(
            lambda event, _: [Send(peer, event.message) for peer in (2, 3, 1)] if type(event) is Received else []
        )
        endpoint = Endpoint(session, WordCodec, SilentLogger())
        written: list[int] = []

        class OrderedTransport(MemoryTransport):
            def write(self, data: object) -> None:
                written.append(self.get_extra_info("peername")[1])

        connections = [Connection(endpoint) for _ in range(3)]
        for port, connection in enumerate(connections, 1):
            connection.connection_made(OrderedTransport(port=port))
        connections[1].data_received(b"one\ntwo\n")
        assert written == [2, 3, 1]

    run(main())


def test_last_message_and_earlier_answers_are_one_write(run: Run) -> None:
    async def main() -> None:
        room = kuhn(bot="script:CAL")
        endpoint = Endpoint(room["session"], room["codec_factory"], SilentLogger())
        transport = MemoryTransport()
        connection = Connection(endpoint)
        connection.connection_made(transport)
        connection.data_received(b"STRT P_3ABCD")
        assert transport.writes == [b"FAIL W_AFAIL W_ADISC"]
        assert transport.ended
        connection.connection_lost(None)

    run(main())


def test_single_bytes_are_answered_like_one_chunk(run: Run) -> None:
    async def main() -> None:
        whole = await transcript([GAMES])
        assert whole.startswith(b"CARD C_")
        assert whole.count(b"FAIL W_A") >= 1
        assert await transcript([GAMES[start : start + 1] for start in range(len(GAMES))]) == whole

    run(main())


@pytest.mark.parametrize("size", [2, 3, 7, 11])
def test_chunk_size_does_not_matter(run: Run, size: int) -> None:
    async def main() -> None:
        assert await transcript(
            [GAMES[start : start + size] for start in range(0, len(GAMES), size)]
        ) == await transcript([GAMES])

    run(main())


def test_client_that_ends_its_output_still_gets_every_answer(run: Run) -> None:
    async def main() -> None:
        words = b"".join(b"word %d\n" % number for number in range(50_000))
        session = RecordingSession()
        async with opened(session) as (_, address), RawClient(address) as caller:
            sending = asyncio.ensure_future(caller.send(words))
            sending.add_done_callback(lambda _: caller.end_output())
            assert await caller.read_to_end() == words
            await sending
            assert await session.wait_for(Left) == [Left(1, "hung up")]

    run(main())


def test_peers_are_numbered_from_one_in_order_of_arrival(run: Run) -> None:
    async def main() -> None:
        session = RecordingSession()
        async with opened(session) as (endpoint, address):
            for number in (1, 2, 3):
                async with RawClient(address) as caller:
                    await caller.exchange(b"here\n", b"here\n")
                    assert session.events[-1] == Received(number, "here")
                    assert session.events_of(Joined)[-1] == Joined(number, caller.socket.getsockname())
                await session.wait_for(Left, number)
            assert endpoint.counts.connections == 3

    run(main())


def test_messages_after_a_drop_are_ignored(run: Run) -> None:
    async def main() -> None:
        session = RecordingSession(
            lambda event, _: [Send(event.peer, "bye"), Drop(event.peer)] if type(event) is Received else [],
        )
        async with opened(session) as (_, address), RawClient(address) as caller:
            await caller.send(b"one\ntwo\n")
            assert await caller.read_to_end() == b"bye\n"
            await caller.send(b"three\n")
            caller.close()
            await session.wait_for(Left)
            assert session.events_of(Received) == [Received(1, "one")]

    run(main())
