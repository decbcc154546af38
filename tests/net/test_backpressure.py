"""A peer that does not read costs the room little memory, and does not affect other peers."""

import asyncio

import pytest

from croupier.core.session import Joined, Left, Received, Send
from croupier.net.endpoint import Connection, EndpointLimits
from tests.net.raw_client import TIMEOUT_SECONDS, RawClient, RecordingSession, Run, opened

WORD = b"x" * 4_999 + b"\n"
FLOOD_BYTES = 24 << 20
"""More bytes than the kernel buffers of a connection in both directions together."""

HIGH_WATER = 64 << 10
READ_BYTES = 256 << 10
"""Constants of the event loops: when a transport pauses the protocol, and how much is read at once."""


@pytest.fixture
def paused(monkeypatch: pytest.MonkeyPatch) -> list[Connection]:
    """The connections whose `pause_writing` was called."""
    found: list[Connection] = []
    pause = Connection.pause_writing

    def record(connection: Connection) -> None:
        found.append(connection)
        pause(connection)

    monkeypatch.setattr(Connection, "pause_writing", record)
    return found


async def fill(caller: RawClient, words: int) -> int:
    """Send up to `words` words while the kernel accepts them; return how many were sent."""
    for number in range(words):
        try:
            sent = caller.socket.send(WORD)
        except BlockingIOError:
            return number
        if sent < len(WORD):
            await caller.send(WORD[sent:])
        if number % 16 == 0:
            await asyncio.sleep(0)
    return words


def test_client_that_does_not_read_is_not_read_from(run: Run, paused: list[Connection]) -> None:
    async def main() -> None:
        session = RecordingSession()
        async with (
            opened(session) as (endpoint, address),
            RawClient(address, buffer=16 << 10) as not_reading,
            RawClient(address) as other,
        ):
            await other.exchange(b"there\n", b"there\n")
            words = FLOOD_BYTES // len(WORD)
            sending = asyncio.ensure_future(not_reading.send(WORD * words))
            async with asyncio.timeout(TIMEOUT_SECONDS):
                while not paused:
                    await asyncio.sleep(0)
            received = endpoint.counts.bytes_received
            for number in range(100):  # other clients are served, and nothing is read from this one
                ping = b"%d\n" % number
                await other.exchange(ping, ping)
                received += len(ping)
            assert endpoint.counts.bytes_received == received < FLOOD_BYTES
            assert not sending.done()
            connection = paused[0]
            assert HIGH_WATER < connection._transport.get_write_buffer_size() <= HIGH_WATER + READ_BYTES
            assert await not_reading.receive(words * len(WORD)) == WORD * words
            await sending

    run(main())


def test_client_that_catches_up_is_read_from_again(run: Run, paused: list[Connection]) -> None:
    async def main() -> None:
        async with opened(RecordingSession()) as (_, address), RawClient(address, buffer=16 << 10) as slow:
            for _ in range(2):
                before, sent = len(paused), 0
                async with asyncio.timeout(TIMEOUT_SECONDS):
                    while len(paused) == before:
                        sent += await fill(slow, 64)
                        await asyncio.sleep(0)
                assert await slow.receive(sent * len(WORD)) == WORD * sent
            await slow.exchange(b"still there\n", b"still there\n")

    run(main())


def test_peer_that_does_not_read_broadcasts_is_disconnected(run: Run, paused: list[Connection]) -> None:
    async def main() -> None:
        broadcast = "g" * 10_000

        def answer(event: object, now: float) -> list[Send[str]]:
            if type(event) is not Received:
                return []
            listeners = [Send(1, broadcast)] if 1 in session.peers else []
            return [*listeners, Send(event.peer, event.message)]

        session = RecordingSession(answer)
        limits = EndpointLimits(max_write_buffer_bytes=200_000)
        async with (
            opened(session, limits=limits) as (endpoint, address),
            RawClient(address, buffer=16 << 10) as not_reading,
        ):
            await session.wait_for(Joined)
            async with RawClient(address) as loud:
                while endpoint.counts.overflows == 0:
                    await loud.exchange(b"news\n", b"news\n")
                    if connection := endpoint.connections.get(1):
                        assert (
                            connection._transport.get_write_buffer_size()
                            <= limits.max_write_buffer_bytes + len(broadcast) + 1
                        )
                    assert endpoint.counts.messages_received < 5_000, "it should have been disconnected long ago"
                (left,) = await session.wait_for(Left)
                assert left.peer == 1
                await loud.exchange(b"still there\n", b"still there\n")
                assert endpoint.counts.overflows == 1
                assert endpoint.counts.undeliverable == 0
                assert [*endpoint.connections] == [2]
            received = await not_reading.read_to_end()
            assert 0 < len(received) < endpoint.counts.messages_received * len(broadcast)

    run(main())


def test_several_peers_that_do_not_read_are_each_disconnected_once(run: Run) -> None:
    async def main() -> None:
        session = RecordingSession(
            lambda event, _: (
                [Send(peer, "g" * 300_000) for peer in sorted(session.peers)] if type(event) is Received else []
            )
        )
        async with opened(session, limits=EndpointLimits(max_write_buffer_bytes=100_000)) as (endpoint, address):
            not_reading = [RawClient(address, buffer=16 << 10) for _ in range(3)]
            for caller in not_reading:
                await caller.__aenter__()
            await session.wait_for(Joined, 3)
            for _ in range(200):
                if not session.peers:
                    break
                endpoint.handle_and_flush(Received(0, "news"))
                await asyncio.sleep(0)
            await session.wait_for(Left, 3)
            assert endpoint.counts.overflows == 3
            for caller in not_reading:
                caller.close()

    run(main())
