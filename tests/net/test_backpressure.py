"""A peer that does not read costs the room little, and the other peers nothing."""

import asyncio

import pytest

from croupier.core.session import Joined, Left, Received, Send
from croupier.net.endpoint import Connection, EndpointLimits
from tests.net.raw_client import PATIENCE, Caller, Notes, Run, opened

WORD = b"x" * 4_999 + b"\n"
MUCH = 24 << 20
"""More bytes than the kernel's buffers of a connection hold, in both directions together."""

HIGH_WATER = 64 << 10
ONE_READ = 256 << 10
"""The loops' own constants: when a transport asks to pause, and how much they read at once."""


@pytest.fixture
def paused(monkeypatch: pytest.MonkeyPatch) -> list[Connection]:
    """The lines that were asked to pause writing."""
    found: list[Connection] = []
    pause = Connection.pause_writing

    def noted(line: Connection) -> None:
        found.append(line)
        pause(line)

    monkeypatch.setattr(Connection, "pause_writing", noted)
    return found


async def fill(caller: Caller, words: int) -> int:
    """Say words for as long as the kernel takes them and there are any left; how many were said."""
    for number in range(words):
        try:
            sent = caller.socket.send(WORD)
        except BlockingIOError:
            return number
        if sent < len(WORD):
            await caller.say(WORD[sent:])
        if number % 16 == 0:
            await asyncio.sleep(0)
    return words


def test_the_room_stops_reading_from_a_client_that_does_not_read(run: Run, paused: list[Connection]) -> None:
    async def main() -> None:
        session = Notes()
        async with (
            opened(session) as (board, address),
            Caller(address, buffer=16 << 10) as deaf,
            Caller(address) as other,
        ):
            await other.ask(b"there\n", b"there\n")
            words = MUCH // len(WORD)
            saying = asyncio.ensure_future(deaf.say(WORD * words))
            async with asyncio.timeout(PATIENCE):
                while not paused:
                    await asyncio.sleep(0)
            received = board.counts.bytes_received
            for number in range(100):  # the room goes on around it, and does not read from it
                ping = b"%d\n" % number
                await other.ask(ping, ping)
                received += len(ping)
            assert board.counts.bytes_received == received < MUCH
            assert not saying.done()
            line = paused[0]
            assert HIGH_WATER < line._transport.get_write_buffer_size() <= HIGH_WATER + ONE_READ
            assert await deaf.hear(words * len(WORD)) == WORD * words
            await saying

    run(main())


def test_a_client_that_catches_up_is_read_from_again(run: Run, paused: list[Connection]) -> None:
    async def main() -> None:
        async with opened(Notes()) as (_, address), Caller(address, buffer=16 << 10) as slow:
            for _ in range(2):
                before, said = len(paused), 0
                async with asyncio.timeout(PATIENCE):
                    while len(paused) == before:
                        said += await fill(slow, 64)
                        await asyncio.sleep(0)
                assert await slow.hear(said * len(WORD)) == WORD * said
            await slow.ask(b"still there\n", b"still there\n")

    run(main())


def test_a_peer_that_does_not_read_what_others_cause_is_cut_off(run: Run, paused: list[Connection]) -> None:
    async def main() -> None:
        gossip = "g" * 10_000

        def answer(event: object, now: float) -> list[Send[str]]:
            if type(event) is not Received:
                return []
            listeners = [Send(1, gossip)] if 1 in session.here else []
            return [*listeners, Send(event.peer, event.message)]

        session = Notes(answer)
        limits = EndpointLimits(max_write_buffer_bytes=200_000)
        async with opened(session, limits=limits) as (board, address), Caller(address, buffer=16 << 10) as deaf:
            await session.hears(Joined)
            async with Caller(address) as loud:
                while board.counts.overflows == 0:
                    await loud.ask(b"tell it\n", b"tell it\n")
                    if line := board.connections.get(1):
                        assert (
                            line._transport.get_write_buffer_size() <= limits.max_write_buffer_bytes + len(gossip) + 1
                        )
                    assert board.counts.messages_received < 5_000, "it should long have been cut off"
                (left,) = await session.hears(Left)
                assert left.peer == 1
                await loud.ask(b"still there\n", b"still there\n")
                assert board.counts.overflows == 1
                assert board.counts.undeliverable == 0
                assert [*board.connections] == [2]
            heard = await deaf.rest()
            assert 0 < len(heard) < board.counts.messages_received * len(gossip)

    run(main())


def test_many_who_do_not_read_are_each_cut_off_once(run: Run) -> None:
    async def main() -> None:
        session = Notes(
            lambda event, _: (
                [Send(peer, "g" * 300_000) for peer in sorted(session.here)] if type(event) is Received else []
            )
        )
        async with opened(session, limits=EndpointLimits(max_write_buffer_bytes=100_000)) as (board, address):
            deaf = [Caller(address, buffer=16 << 10) for _ in range(3)]
            for caller in deaf:
                await caller.__aenter__()
            for _ in range(200):
                if not session.here:
                    break
                board.handle_and_flush(Received(0, "tell them"))
                await asyncio.sleep(0)
            await session.hears(Left, 3)
            assert board.counts.overflows == 3
            for caller in deaf:
                caller.hang_up()

    run(main())
