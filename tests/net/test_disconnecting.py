"""However a conversation ends, the session is told so exactly once, and a farewell reaches whoever still reads."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from croupier.core.session import Closing, Drop, Event, Joined, Left, Received, Send
from croupier.net.endpoint import Endpoint, EndpointLimits
from tests.net.raw_client import PATIENCE, Caller, Notes, Run, kuhn, opened


def polite(event: Event[str], now: float) -> list[object]:
    """Drops whoever says `bye`, with a farewell."""
    match event:
        case Received(peer, "bye"):
            return [Send(peer, "farewell"), Drop(peer)]
        case Received(peer, message):
            return [Send(peer, message)]
        case _:
            return []


async def hang_up(caller: Caller, board: Endpoint) -> None:
    caller.hang_up()


async def reset(caller: Caller, board: Endpoint) -> None:
    caller.reset()


async def stop_talking(caller: Caller, board: Endpoint) -> None:
    caller.stop_talking()
    assert await caller.rest() == b""


async def be_dropped(caller: Caller, board: Endpoint) -> None:
    await caller.say(b"bye\n")
    assert await caller.rest() == b"farewell\n"
    caller.hang_up()


async def be_dropped_and_reset(caller: Caller, board: Endpoint) -> None:
    await caller.say(b"bye\n")
    assert await caller.rest() == b"farewell\n"
    caller.reset()


async def reset_behind_the_goodbye(caller: Caller, board: Endpoint) -> None:
    await caller.say(b"bye\n")
    caller.reset()


async def stop_talking_behind_the_goodbye(caller: Caller, board: Endpoint) -> None:
    await caller.say(b"bye\n")
    caller.stop_talking()
    assert await caller.rest() == b"farewell\n"


async def never_close(caller: Caller, board: Endpoint) -> None:
    await caller.say(b"bye\n")
    assert await caller.rest() == b"farewell\n"


async def be_there_when_the_room_closes(caller: Caller, board: Endpoint) -> None:
    board.halt(final=True)
    assert await caller.rest() == b""
    caller.hang_up()


async def be_there_when_the_room_closes_twice(caller: Caller, board: Endpoint) -> None:
    board.halt(final=False)
    board.halt(final=True)
    assert await caller.rest() == b""
    caller.reset()


async def be_dropped_when_the_room_closes(caller: Caller, board: Endpoint) -> None:
    await caller.say(b"bye\n")
    assert await caller.rest() == b"farewell\n"
    board.halt(final=True)


WAYS = (
    hang_up,
    reset,
    stop_talking,
    be_dropped,
    be_dropped_and_reset,
    reset_behind_the_goodbye,
    stop_talking_behind_the_goodbye,
    never_close,
    be_there_when_the_room_closes,
    be_there_when_the_room_closes_twice,
    be_dropped_when_the_room_closes,
)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_left_is_told_exactly_once(run: Run, way: Callable[[Caller, Endpoint], Awaitable[None]]) -> None:
    async def main() -> None:
        session = Notes(polite)
        async with (
            opened(session, limits=EndpointLimits(close_timeout=0.2)) as (board, address),
            Caller(address) as caller,
        ):
            await caller.ask(b"here\n", b"here\n")
            await way(caller, board)
            await session.hears(Left)
            async with asyncio.timeout(PATIENCE):
                await board.wait_drained()
            assert not board.connections
            (left,) = session.told(Left)
            assert left.peer == 1
            assert left.reason
            assert len(session.told(Joined)) == 1
        assert len(session.told(Left)) == 1
        last = [event for event in session.events if not isinstance(event, Closing)][-1]
        assert last == left, "nothing is told of a peer behind its Left"

    run(main())


def test_a_drop_in_answer_to_joined_is_a_goodbye_too(run: Run) -> None:
    async def main() -> None:
        session = Notes(lambda event, _: [Send(1, "no"), Drop(1)] if type(event) is Joined else [])
        async with opened(session) as (_, address), Caller(address) as caller:
            assert await caller.rest() == b"no\n"
            caller.hang_up()
            assert len(await session.hears(Left)) == 1

    run(main())


def test_a_peer_is_dropped_once_however_often_the_session_says_so(run: Run) -> None:
    async def main() -> None:
        session = Notes(
            lambda event, _: [Drop(event.peer), Drop(event.peer)] if type(event) in {Received, Left} else []
        )
        async with opened(session) as (_, address), Caller(address) as caller:
            await caller.say(b"one\n")
            assert await caller.rest() == b""
            caller.hang_up()
            await session.hears(Left)
        assert len(session.told(Left)) == 1

    run(main())


def test_a_farewell_is_not_lost_to_what_the_client_was_still_sending(run: Run) -> None:
    async def main() -> None:
        async with opened(**kuhn()) as (_, address), Caller(address) as caller:
            await caller.say(b"HELO" + b"junk" * (1 << 19))
            assert await caller.hear(12) == b"FAIL W_ADISC"
            await caller.say(b"more")
            assert await caller.rest() == b"", "no reset, but an end"

    run(main())


def test_a_client_that_talks_on_after_the_farewell_is_cut_off(run: Run) -> None:
    async def main() -> None:
        async with (
            opened(**kuhn(), limits=EndpointLimits(close_timeout=0.1)) as (board, address),
            Caller(address) as caller,
        ):
            await caller.ask(b"HELO", b"FAIL W_ADISC")
            with pytest.raises(ConnectionError):  # noqa: PT012 -- sooner or later
                while True:
                    await caller.say(b"junk" * 1_000)
                    await asyncio.sleep(0)
            await board.wait_drained()
            assert board.counts.messages_received == 1

    run(main())


def test_a_dropped_peer_that_never_closes_is_cut_off_and_its_place_is_free(run: Run) -> None:
    async def main() -> None:
        session = Notes(polite)
        limits = EndpointLimits(max_connections=1, close_timeout=0.05)
        async with opened(session, limits=limits) as (board, address), Caller(address) as silent:
            await silent.ask(b"bye\n", b"farewell\n")
            await session.hears(Left)
            async with Caller(address) as next_one:
                await next_one.ask(b"here\n", b"here\n")
            assert board.counts.connections == 2

    run(main())


def test_a_dropped_peer_that_does_not_read_is_cut_off(run: Run) -> None:
    async def main() -> None:
        session = Notes(lambda event, _: [Send(1, "x" * (8 << 20)), Drop(1)] if type(event) is Received else [])
        limits = EndpointLimits(max_write_buffer_bytes=64 << 20, close_timeout=0.1)
        async with opened(session, limits=limits) as (board, address), Caller(address, buffer=16 << 10) as deaf:
            await deaf.say(b"go\n")
            await session.hears(Left)
            await board.wait_drained()

    run(main())


def test_a_peer_that_hung_up_and_does_not_read_is_cut_off(run: Run) -> None:
    """It said all it had to say, and some of the answer does not fit into the kernel's buffers."""

    async def main() -> None:
        session = Notes()
        limits = EndpointLimits(close_timeout=0.1)
        async with opened(session, limits=limits) as (board, address), Caller(address, buffer=16 << 10) as deaf:
            await session.hears(Joined)
            transport = board.connections[1]._transport
            while not transport.get_write_buffer_size():
                board.handle(Received(1, "x" * 10_000), 0.0)
                board.flush()
                await asyncio.sleep(0)
            deaf.stop_talking()
            assert await session.hears(Left) == [Left(1, "hung up")]
            async with asyncio.timeout(PATIENCE / 2):
                await board.wait_drained()

    run(main())


def test_a_peer_that_is_gone_already_does_not_keep_the_others_from_their_goodbye(run: Run) -> None:
    async def main() -> None:
        async with opened(**kuhn()) as (board, address), Caller(address) as one, Caller(address) as two:
            await one.ask(b"ACTN BET", b"FAIL W_A")
            await two.ask(b"ACTN BET", b"FAIL W_A")
            one.hang_up()
            board.halt(final=False)  # before the loop has seen it: the DISC that is written is answered by a reset
            assert await two.rest() == b"DISC"

    run(main())
