"""Much input of one connection is handled in several turns of the event loop, so that others have theirs between."""

import asyncio

from croupier.core.logger import SilentLogger
from croupier.core.session import Left, Received
from croupier.net.connection import MAX_BYTES_PER_TURN, Connection
from croupier.net.endpoint import Endpoint, EndpointLimits
from tests.net.raw_client import MemoryTransport, RawClient, RecordingSession, Run, WordCodec, opened

WORDS = [b"%07d\n" % number for number in range(4 * MAX_BYTES_PER_TURN // 8)]
MUCH = b"".join(WORDS)


class ReadingTransport(MemoryTransport):
    """A transport that records whether it is to be read from."""

    def __init__(self) -> None:
        super().__init__()
        self.is_reading = True

    def pause_reading(self) -> None:
        self.is_reading = False

    def resume_reading(self) -> None:
        self.is_reading = True


def connect(endpoint: Endpoint) -> tuple[Connection, ReadingTransport]:
    connection, transport = Connection(endpoint), ReadingTransport()
    connection.connection_made(transport)
    return connection, transport


def test_other_connections_have_their_turn_between_the_parts_of_much_input(run: Run) -> None:
    async def main() -> None:
        endpoint = Endpoint(RecordingSession(), WordCodec, SilentLogger())
        (flooding, flood), (quick, answers) = connect(endpoint), connect(endpoint)
        flooding.data_received(MUCH)
        for turn in range(1, 4):
            assert len(b"".join(flood.writes)) == turn * MAX_BYTES_PER_TURN
            assert not flood.is_reading
            quick.data_received(b"mine\n")
            assert answers.writes == [b"mine\n"] * turn
            while len(flood.writes) == turn:
                await asyncio.sleep(0)
        assert b"".join(flood.writes) == MUCH
        assert flood.is_reading

    run(main())


def test_input_that_arrives_while_more_waits_is_handled_in_order(run: Run) -> None:
    async def main() -> None:
        endpoint = Endpoint(RecordingSession(), WordCodec, SilentLogger())
        connection, transport = connect(endpoint)
        connection.data_received(MUCH)
        connection.data_received(b"last\n")
        while not transport.is_reading:
            await asyncio.sleep(0)
        assert b"".join(transport.writes) == MUCH + b"last\n"

    run(main())


def test_input_that_waits_is_handled_before_the_end_of_the_input(run: Run) -> None:
    async def main() -> None:
        for half_close in (False, True):
            session = RecordingSession()
            limits = EndpointLimits(allow_half_close=half_close)
            connection, _ = connect(Endpoint(session, WordCodec, SilentLogger(), limits=limits))
            connection.data_received(MUCH)
            connection.eof_received()
            assert [event.message.encode() + b"\n" for event in session.events_of(Received)] == WORDS
            assert len(session.events_of(Left)) == (not half_close)

    run(main())


def test_input_that_waits_is_not_handled_while_the_peer_does_not_read(run: Run) -> None:
    async def main() -> None:
        connection, transport = connect(Endpoint(RecordingSession(), WordCodec, SilentLogger()))
        connection.data_received(MUCH)
        connection.pause_writing()
        for _ in range(5):
            await asyncio.sleep(0)
        assert len(b"".join(transport.writes)) == MAX_BYTES_PER_TURN
        connection.resume_writing()
        while not transport.is_reading:
            await asyncio.sleep(0)
        assert b"".join(transport.writes) == MUCH

    run(main())


def test_input_that_waits_is_lost_with_the_connection(run: Run) -> None:
    async def main() -> None:
        session = RecordingSession()
        connection, _ = connect(Endpoint(session, WordCodec, SilentLogger()))
        connection.data_received(MUCH)
        connection.connection_lost(ConnectionResetError())
        for _ in range(5):
            await asyncio.sleep(0)
        assert len(session.events_of(Received)) == MAX_BYTES_PER_TURN // 8
        assert len(session.events_of(Left)) == 1

    run(main())


def test_much_input_through_a_socket_is_answered_completely(run: Run) -> None:
    async def main() -> None:
        async with opened(RecordingSession()) as (_, address), RawClient(address) as client:
            sending = asyncio.ensure_future(client.send(MUCH * 8))
            assert await client.receive(len(MUCH) * 8) == MUCH * 8
            await sending

    run(main())
