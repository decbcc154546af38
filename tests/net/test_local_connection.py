"""A connection through memory is like one through sockets: bytes, their order, flow control, ends and refusals."""

import asyncio
from typing import Any

from croupier.core.logger import SilentLogger
from croupier.core.session import Closing, Drop, Event, Joined, Left, Received, Send
from croupier.net.endpoint import Endpoint, EndpointLimits
from croupier.net.local_connection import MAX_BUFFERED_BYTES, LocalTransport, connect_local
from tests.net.raw_client import TIMEOUT_SECONDS, RecordingSession, Run, WordCodec

SERVER = 7


def endpoints(server: RecordingSession, client: RecordingSession, **limits: Any) -> tuple[Endpoint, Endpoint]:
    """Two endpoints, the second connected to the first from 192.0.2.1."""
    ends = (
        Endpoint(server, WordCodec, SilentLogger(), limits=EndpointLimits(**limits), refusal=["refused"]),
        Endpoint(client, WordCodec, SilentLogger()),
    )
    connect_local(ends[1], SERVER, ends[0], ("192.0.2.1", 5))
    return ends


def greet(*words: str) -> Any:
    """A session's answers: some words when it is connected, nothing else."""
    return lambda event, now: [Send(event.peer, word) for word in words] if type(event) is Joined else []


def test_messages_arrive_in_order_in_a_later_turn_of_the_loop(run: Run) -> None:
    async def main() -> None:
        server, client = RecordingSession(), RecordingSession(greet("one", "two"))
        ends = endpoints(server, client)
        assert server.events_of(Joined) == [Joined(1, ("192.0.2.1", 5))]
        assert server.events_of(Received) == []
        assert await client.wait_for(Received, 2) == [Received(SERVER, "one"), Received(SERVER, "two")]
        assert ends[0].counts.bytes_received == ends[0].counts.bytes_sent == 8
        for end in ends:
            await end.close()

    run(main())


def test_the_last_message_arrives_before_the_end(run: Run) -> None:
    async def main() -> None:
        def leave(event: Event[Any], now: float) -> Any:
            return [Send(event.peer, "bye"), Drop(event.peer)] if type(event) is Received else []

        server, client = RecordingSession(leave), RecordingSession(greet("hello"))
        ends = endpoints(server, client)
        await client.wait_for(Left)
        await server.wait_for(Left)
        assert [type(event) for event in client.events] == [Joined, Received, Left]
        async with asyncio.timeout(TIMEOUT_SECONDS):
            for end in ends:
                await end.wait_drained()

    run(main())


def test_a_refused_client_receives_the_refusal(run: Run) -> None:
    async def main() -> None:
        server, client = RecordingSession(), RecordingSession()
        ends = endpoints(server, client, max_connections_per_address=1)
        other = RecordingSession()
        refused = Endpoint(other, WordCodec, SilentLogger())
        connect_local(refused, SERVER, ends[0], ("192.0.2.1", 6))
        await other.wait_for(Left)
        assert other.events_of(Received) == [Received(SERVER, "refused")]
        assert ends[0].counts.refused == {"per_address": 1}
        assert ends[0].connection_count == 1
        for end in (refused, *ends):
            await end.close()

    run(main())


def test_a_draining_server_disconnects_its_local_clients(run: Run) -> None:
    async def main() -> None:
        server, client = RecordingSession(), RecordingSession()
        ends = endpoints(server, client)
        ends[0].halt(final=False)
        await client.wait_for(Left)
        await ends[0].wait_drained()
        assert server.events_of(Closing)
        await ends[1].close()

    run(main())


def test_a_client_that_aborts_has_left(run: Run) -> None:
    async def main() -> None:
        server, client = RecordingSession(), RecordingSession()
        ends = endpoints(server, client)
        ends[1].disconnect(SERVER)
        await server.wait_for(Left)
        await client.wait_for(Left)
        for end in ends:
            await end.close()

    run(main())


class Protocol(asyncio.Protocol):
    """A protocol that notes what it is called with."""

    def __init__(self) -> None:
        self.calls: list[object] = []

    def data_received(self, data: bytes) -> None:
        self.calls.append(data)

    def eof_received(self) -> bool:
        self.calls.append("eof")
        return True

    def pause_writing(self) -> None:
        self.calls.append("pause")

    def resume_writing(self) -> None:
        self.calls.append("resume")

    def connection_lost(self, exc: Exception | None) -> None:
        self.calls.append("lost")


async def settle() -> None:
    """Let the loop deliver what was written."""
    for _ in range(5):
        await asyncio.sleep(0)


def test_a_writer_pauses_while_the_other_end_does_not_read(run: Run) -> None:
    async def main() -> None:
        writer, reader = Protocol(), Protocol()
        ends = LocalTransport(writer, {}), LocalTransport(reader, {})
        ends[0].other, ends[1].other = ends[1], ends[0]
        ends[1].pause_reading()
        ends[0].write(bytes(MAX_BUFFERED_BYTES))
        assert writer.calls == []
        ends[0].write(b"x")
        await settle()
        assert (writer.calls, reader.calls) == (["pause"], [])
        assert ends[0].get_write_buffer_size() == MAX_BUFFERED_BYTES + 1
        ends[1].resume_reading()
        await settle()
        assert writer.calls == ["pause", "resume"]
        assert b"".join(each for each in reader.calls if isinstance(each, bytes)) == bytes(MAX_BUFFERED_BYTES) + b"x"

    run(main())


def test_one_direction_can_end_before_the_other(run: Run) -> None:
    async def main() -> None:
        one, two = Protocol(), Protocol()
        ends = LocalTransport(one, {}), LocalTransport(two, {"peername": ("192.0.2.1", 5)})
        ends[0].other, ends[1].other = ends[1], ends[0]
        assert ends[1].get_extra_info("peername") == ("192.0.2.1", 5)
        ends[0].write(b"last")
        ends[0].write_eof()
        ends[0].write(b"too late")
        ends[1].write(b"answer")
        await settle()
        assert (one.calls, two.calls) == ([b"answer"], [b"last", "eof"])
        ends[1].close()
        ends[1].close()
        await settle()
        assert (one.calls, two.calls) == ([b"answer", "eof"], [b"last", "eof", "lost"])
        ends[0].write(b"nobody reads this")
        assert ends[0].get_write_buffer_size() == 0
        assert [end.is_closing() for end in ends] == [False, True]

    run(main())
