"""A session that connects to an address receives Joined, or Left with the reason."""

import asyncio
import socket
import ssl
import time

import pytest

from croupier.core.logger import SilentLogger
from croupier.core.session import Connect, Drop, Effect, Event, Joined, Left, Received, Send, TimedOut
from croupier.net.endpoint import Endpoint, EndpointLimits
from tests.net.raw_client import TIMEOUT_SECONDS, RawClient, RecordingSession, Run, WordCodec, opened
from tests.ports import closed_port

NEIGHBOUR = 1_000_000


class RelaySession(RecordingSession):
    """Connects to a neighbour on the message `call PORT`, then relays messages between it and peer 1."""

    def __init__(self, host: str = "127.0.0.1") -> None:
        super().__init__(self._relay)
        self._host = host

    def _relay(self, event: Event[str], now: float) -> list[Effect[str]]:
        match event:
            case Received(peer, message) if message.startswith("call "):
                return [Connect(NEIGHBOUR, (self._host, int(message[5:])))]
            case Received(peer, message) if peer == NEIGHBOUR:
                return [Send(1, message)]
            case Received(peer, message):
                return [Send(NEIGHBOUR, message)]
            case Joined(peer) if peer == NEIGHBOUR:
                return [Send(1, "called")]
            case Left(peer) if peer == NEIGHBOUR and 1 in self.peers:
                return [Send(1, "gone")]
            case _:
                return []


def call(port: int) -> bytes:
    return b"call %d\n" % port


def test_connected_neighbour_joins_and_exchanges_messages(run: Run) -> None:
    async def main() -> None:
        neighbour, session = RecordingSession(), RelaySession()
        async with (
            opened(neighbour) as (_, neighbour_address),
            opened(session) as (endpoint, address),
            RawClient(address) as caller,
        ):
            await caller.exchange(call(neighbour_address[1]), b"called\n")
            await caller.exchange(b"hello\n", b"hello\n")
            assert neighbour.events_of(Received) == [Received(1, "hello")]
            assert [joined.peer for joined in session.events_of(Joined)] == [1, NEIGHBOUR]
            assert session.events_of(Joined)[1].address == neighbour_address
            assert endpoint.counts.connections == 2

    run(main())


def test_neighbour_that_disconnects_has_left(run: Run) -> None:
    async def main() -> None:
        neighbour = RecordingSession(lambda event, _: [Drop(event.peer)] if type(event) is Received else [])
        session = RelaySession()
        async with (
            opened(neighbour) as (_, neighbour_address),
            opened(session) as (_, address),
            RawClient(address) as caller,
        ):
            await caller.exchange(call(neighbour_address[1]), b"called\n")
            await caller.exchange(b"hello\n", b"gone\n")
            assert session.events_of(Left) == [Left(NEIGHBOUR, "hung up")]

    run(main())


def test_refused_connection_is_left_with_the_reason(run: Run) -> None:
    async def main() -> None:
        session = RelaySession()
        async with opened(session) as (_, address), RawClient(address) as caller:
            await caller.exchange(call(closed_port()), b"gone\n")
            (left,) = session.events_of(Left)
            assert left.peer == NEIGHBOUR
            assert "refused" in left.reason.lower() or "connect call failed" in left.reason.lower()

    run(main())


def test_connection_that_times_out_is_left_with_the_reason(run: Run) -> None:
    async def main() -> None:
        with socket.socket() as unresponsive:
            unresponsive.bind(("127.0.0.1", 0))
            unresponsive.listen()
            session = RecordingSession()
            endpoint = Endpoint(session, WordCodec, SilentLogger(), limits=EndpointLimits(connect_timeout=0.05))
            # The connection is made, but there is no TLS handshake.
            await endpoint.connect(NEIGHBOUR, unresponsive.getsockname(), ssl.create_default_context())
            assert session.events == [Left(NEIGHBOUR, "no answer within 0.05 seconds")]

    run(main())


def test_connection_made_as_it_times_out_is_left_once_and_closed(run: Run) -> None:
    async def main() -> None:
        def block_on_joined(event: Event[str], _: float) -> list[Effect[str]]:
            if type(event) is Joined:
                time.sleep(1.1)  # the timeout expires before the loop continues
            return []

        async with opened(RecordingSession()) as (_, neighbour_address):
            session = RecordingSession(block_on_joined)
            endpoint = Endpoint(
                session, WordCodec, SilentLogger(), limits=EndpointLimits(connect_timeout=1.0, close_timeout=0.05)
            )
            await endpoint.connect(NEIGHBOUR, neighbour_address)
            if not session.events_of(Left):  # on some loops the connection counts as made
                endpoint.disconnect(NEIGHBOUR)
            async with asyncio.timeout(TIMEOUT_SECONDS):
                await endpoint.wait_drained()
            assert [type(event) for event in session.events] == [Joined, Left]
            assert endpoint.connection_count == 0

    run(main())


def test_connection_made_as_it_is_cancelled_is_left_once_and_closed(run: Run) -> None:
    async def main() -> None:
        def cancel_on_joined(event: Event[str], _: float) -> list[Effect[str]]:
            if type(event) is Joined:
                connecting.cancel()
            return []

        async with opened(RecordingSession()) as (_, neighbour_address):
            session = RecordingSession(cancel_on_joined)
            endpoint = Endpoint(session, WordCodec, SilentLogger(), limits=EndpointLimits(close_timeout=0.05))
            connecting = asyncio.create_task(endpoint.connect(NEIGHBOUR, neighbour_address))
            with pytest.raises(asyncio.CancelledError):
                await connecting
            async with asyncio.timeout(TIMEOUT_SECONDS):
                await endpoint.wait_drained()
            assert [type(event) for event in session.events] == [Joined, Left]
            assert endpoint.connection_count == 0

    run(main())


@pytest.mark.parametrize(
    ("host", "port"),
    [("127.0.0.1", 70_000), ("127.0.0.1", -1), ("x" * 64 + ".invalid", 1), ("a..b", 1), ("no\0host", 1)],
    ids=["port-too-high", "port-too-low", "label-too-long", "label-empty", "null-byte"],
)
def test_connection_to_an_impossible_address_is_left_with_the_reason(run: Run, host: str, port: int) -> None:
    async def main() -> None:
        session = RelaySession(host)
        async with opened(session) as (_, address), RawClient(address) as caller:
            await caller.exchange(call(port), b"gone\n")
            assert [left.peer for left in session.events_of(Left)] == [NEIGHBOUR]

    run(main())


def test_failed_connection_can_be_retried(run: Run) -> None:
    async def main() -> None:
        session = RelaySession()
        async with (
            opened(RecordingSession()) as (_, neighbour_address),
            opened(session) as (_, address),
            RawClient(address) as caller,
        ):
            await caller.exchange(call(closed_port()), b"gone\n")
            await caller.exchange(call(neighbour_address[1]), b"called\n")
            await caller.exchange(b"hello\n", b"hello\n")

    run(main())


def test_connection_made_after_the_room_closed_is_left(run: Run) -> None:
    """The session receives Left, without Joined, and no messages."""

    async def main() -> None:
        greeting = RecordingSession(lambda event, _: [Send(event.peer, "welcome")] if type(event) is Joined else [])
        session = RecordingSession()
        async with opened(greeting) as (_, neighbour_address):
            endpoint = Endpoint(session, WordCodec, SilentLogger(), limits=EndpointLimits(close_timeout=0.1))
            endpoint.halt(final=False)
            await endpoint.connect(NEIGHBOUR, neighbour_address)
            async with asyncio.timeout(TIMEOUT_SECONDS):
                await endpoint.wait_drained()
            assert session.events_of(Received) == []
            assert session.events_of(Joined) == []
            assert [left.peer for left in await session.wait_for(Left)] == [NEIGHBOUR]

    run(main())


def test_outgoing_connections_do_not_count_against_the_limits(run: Run) -> None:
    async def main() -> None:
        session = RelaySession()
        limits = EndpointLimits(max_connections_per_address=1)
        async with (
            opened(RecordingSession()) as (_, neighbour_address),
            opened(session, limits=limits) as (endpoint, address),
            RawClient(address) as caller,
        ):
            await caller.exchange(call(neighbour_address[1]), b"called\n")
            await caller.exchange(b"hello\n", b"hello\n")
            assert not endpoint.counts.refused

    run(main())


def test_deadline_passes_while_connecting(run: Run) -> None:
    async def main() -> None:
        def answer(event: Event[str], now: float) -> list[Effect[str]]:
            if type(event) is TimedOut:
                session.deadline = None
            return []

        with socket.socket() as unresponsive:
            unresponsive.bind(("127.0.0.1", 0))
            unresponsive.listen()
            session = RecordingSession(answer)
            endpoint = Endpoint(session, WordCodec, SilentLogger(), limits=EndpointLimits(connect_timeout=60.0))
            session.deadline = endpoint.clock() + 0.02
            connecting = asyncio.ensure_future(
                endpoint.connect(NEIGHBOUR, unresponsive.getsockname(), ssl.create_default_context())
            )
            endpoint.handle_and_flush(Received(0, "go"))
            await session.wait_for(TimedOut)
            assert not connecting.done()
            unresponsive.accept()[0].close()
            await connecting
            assert [type(event) for event in session.events] == [Received, TimedOut, Left]

    run(main())
