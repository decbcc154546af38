"""However a connection ends, the session receives Left exactly once, and clients that read get the last message."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from croupier.core.session import Closing, Drop, Event, Joined, Left, Received, Send
from croupier.net.endpoint import Endpoint, EndpointLimits
from tests.net.raw_client import TIMEOUT_SECONDS, RawClient, RecordingSession, Run, kuhn, opened


def echo_until_bye(event: Event[str], now: float) -> list[object]:
    """Echoes messages; on `bye`, sends a closing message and drops the peer."""
    match event:
        case Received(peer, "bye"):
            return [Send(peer, "farewell"), Drop(peer)]
        case Received(peer, message):
            return [Send(peer, message)]
        case _:
            return []


async def close(caller: RawClient, endpoint: Endpoint) -> None:
    caller.close()


async def reset(caller: RawClient, endpoint: Endpoint) -> None:
    caller.reset()


async def end_output(caller: RawClient, endpoint: Endpoint) -> None:
    caller.end_output()
    assert await caller.read_to_end() == b""


async def dropped(caller: RawClient, endpoint: Endpoint) -> None:
    await caller.send(b"bye\n")
    assert await caller.read_to_end() == b"farewell\n"
    caller.close()


async def dropped_and_reset(caller: RawClient, endpoint: Endpoint) -> None:
    await caller.send(b"bye\n")
    assert await caller.read_to_end() == b"farewell\n"
    caller.reset()


async def reset_after_bye(caller: RawClient, endpoint: Endpoint) -> None:
    await caller.send(b"bye\n")
    caller.reset()


async def end_output_after_bye(caller: RawClient, endpoint: Endpoint) -> None:
    await caller.send(b"bye\n")
    caller.end_output()
    assert await caller.read_to_end() == b"farewell\n"


async def never_close(caller: RawClient, endpoint: Endpoint) -> None:
    await caller.send(b"bye\n")
    assert await caller.read_to_end() == b"farewell\n"


async def room_closes(caller: RawClient, endpoint: Endpoint) -> None:
    endpoint.halt(final=True)
    assert await caller.read_to_end() == b""
    caller.close()


async def room_closes_twice(caller: RawClient, endpoint: Endpoint) -> None:
    endpoint.halt(final=False)
    endpoint.halt(final=True)
    assert await caller.read_to_end() == b""
    caller.reset()


async def dropped_as_the_room_closes(caller: RawClient, endpoint: Endpoint) -> None:
    await caller.send(b"bye\n")
    assert await caller.read_to_end() == b"farewell\n"
    endpoint.halt(final=True)


SILENT_WAYS = (never_close, dropped_as_the_room_closes)
"""The client keeps its connection open, so that the endpoint has to close it."""

WAYS = (
    close,
    reset,
    end_output,
    dropped,
    dropped_and_reset,
    reset_after_bye,
    end_output_after_bye,
    room_closes,
    room_closes_twice,
    *SILENT_WAYS,
)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_left_is_received_exactly_once(run: Run, way: Callable[[RawClient, Endpoint], Awaitable[None]]) -> None:
    async def main() -> None:
        session = RecordingSession(echo_until_bye)
        limits = EndpointLimits(close_timeout=0.2 if way in SILENT_WAYS else TIMEOUT_SECONDS)
        async with (
            opened(session, limits=limits) as (endpoint, address),
            RawClient(address) as caller,
        ):
            await caller.exchange(b"here\n", b"here\n")
            await way(caller, endpoint)
            await session.wait_for(Left)
            async with asyncio.timeout(TIMEOUT_SECONDS):
                await endpoint.wait_drained()
            assert not endpoint.connections
            (left,) = session.events_of(Left)
            assert left.peer == 1
            assert left.reason
            assert left.was_reset == (way in {reset, reset_after_bye, dropped_and_reset, room_closes_twice})
            assert len(session.events_of(Joined)) == 1
        assert len(session.events_of(Left)) == 1
        last = [event for event in session.events if not isinstance(event, Closing)][-1]
        assert last == left, "Left is the last event of a peer"

    run(main())


def test_drop_on_joined_sends_the_last_message(run: Run) -> None:
    async def main() -> None:
        session = RecordingSession(lambda event, _: [Send(1, "no"), Drop(1)] if type(event) is Joined else [])
        async with opened(session) as (_, address), RawClient(address) as caller:
            assert await caller.read_to_end() == b"no\n"
            caller.close()
            assert len(await session.wait_for(Left)) == 1

    run(main())


def test_repeated_drops_end_the_connection_once(run: Run) -> None:
    async def main() -> None:
        session = RecordingSession(
            lambda event, _: [Drop(event.peer), Drop(event.peer)] if type(event) in {Received, Left} else []
        )
        async with opened(session) as (_, address), RawClient(address) as caller:
            await caller.send(b"one\n")
            assert await caller.read_to_end() == b""
            caller.close()
            await session.wait_for(Left)
        assert len(session.events_of(Left)) == 1

    run(main())


def test_last_message_arrives_while_the_client_is_still_sending(run: Run) -> None:
    async def main() -> None:
        async with opened(**kuhn()) as (_, address), RawClient(address) as caller:
            await caller.send(b"HELO" + b"junk" * (1 << 19))
            assert await caller.receive(12) == b"FAIL W_ADISC"
            await caller.send(b"more")
            assert await caller.read_to_end() == b"", "the connection ends without a reset"

    run(main())


def test_client_that_keeps_sending_after_the_last_message_is_disconnected(run: Run) -> None:
    async def main() -> None:
        async with (
            opened(**kuhn(), limits=EndpointLimits(close_timeout=0.1)) as (endpoint, address),
            RawClient(address) as caller,
        ):
            await caller.exchange(b"HELO", b"FAIL W_ADISC")
            with pytest.raises(ConnectionError):  # noqa: PT012 -- fails after some iterations
                while True:
                    await caller.send(b"junk" * 1_000)
                    await asyncio.sleep(0)
            await endpoint.wait_drained()
            assert endpoint.counts.messages_received == 1

    run(main())


def test_dropped_peer_that_never_closes_is_disconnected_and_frees_its_place(run: Run) -> None:
    async def main() -> None:
        session = RecordingSession(echo_until_bye)
        limits = EndpointLimits(max_connections=1, close_timeout=0.05)
        async with opened(session, limits=limits) as (endpoint, address), RawClient(address) as unresponsive:
            await unresponsive.exchange(b"bye\n", b"farewell\n")
            await session.wait_for(Left)
            async with RawClient(address) as successor:
                await successor.exchange(b"here\n", b"here\n")
            assert endpoint.counts.connections == 2

    run(main())


def test_dropped_peer_that_does_not_read_is_disconnected(run: Run) -> None:
    async def main() -> None:
        session = RecordingSession(
            lambda event, _: [Send(1, "x" * (8 << 20)), Drop(1)] if type(event) is Received else []
        )
        limits = EndpointLimits(max_write_buffer_bytes=64 << 20, close_timeout=0.1)
        async with (
            opened(session, limits=limits) as (endpoint, address),
            RawClient(address, buffer=16 << 10) as not_reading,
        ):
            await not_reading.send(b"go\n")
            await session.wait_for(Left)
            await endpoint.wait_drained()

    run(main())


def test_half_closed_peer_that_does_not_read_is_disconnected(run: Run) -> None:
    """The peer has ended its output, and part of the answer does not fit into the kernel buffers."""

    async def main() -> None:
        session = RecordingSession()
        limits = EndpointLimits(close_timeout=0.1)
        async with (
            opened(session, limits=limits) as (endpoint, address),
            RawClient(address, buffer=16 << 10) as not_reading,
        ):
            await session.wait_for(Joined)
            transport = endpoint.connections[1]._transport
            while not transport.get_write_buffer_size():
                endpoint.handle(Received(1, "x" * 10_000), 0.0)
                endpoint.flush()
                await asyncio.sleep(0)
            not_reading.end_output()
            assert await session.wait_for(Left) == [Left(1, "hung up")]
            async with asyncio.timeout(TIMEOUT_SECONDS):
                await endpoint.wait_drained()

    run(main())


def test_closed_connection_does_not_keep_others_from_their_last_message(run: Run) -> None:
    async def main() -> None:
        async with opened(**kuhn()) as (endpoint, address), RawClient(address) as one, RawClient(address) as two:
            await one.exchange(b"ACTN BET", b"FAIL W_A")
            await two.exchange(b"ACTN BET", b"FAIL W_A")
            one.close()
            endpoint.halt(final=False)  # before the loop notices the close: the DISC is answered by a reset
            assert await two.read_to_end() == b"DISC"

    run(main())
