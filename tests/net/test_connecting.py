"""A session that calls somebody hears Joined, or Left with the reason."""

import asyncio
import socket
import ssl
import time

import pytest

from croupier.core.session import Connect, Drop, Effect, Event, Joined, Left, Received, Send, TimedOut
from croupier.logs import silent_logger
from croupier.net.endpoint import Endpoint, EndpointLimits
from tests.net.raw_client import PATIENCE, Caller, Notes, Run, Words, opened

NEIGHBOUR = 1_000_000


class Calling(Notes):
    """Calls its neighbour when told `call PORT` and hands on what is said between peer 1 and the neighbour."""

    def __init__(self, host: str = "127.0.0.1") -> None:
        super().__init__(self._hand_on)
        self._host = host

    def _hand_on(self, event: Event[str], now: float) -> list[Effect[str]]:
        match event:
            case Received(peer, message) if message.startswith("call "):
                return [Connect(NEIGHBOUR, (self._host, int(message[5:])))]
            case Received(peer, message) if peer == NEIGHBOUR:
                return [Send(1, message)]
            case Received(peer, message):
                return [Send(NEIGHBOUR, message)]
            case Joined(peer) if peer == NEIGHBOUR:
                return [Send(1, "called")]
            case Left(peer) if peer == NEIGHBOUR and 1 in self.here:
                return [Send(1, "gone")]
            case _:
                return []


def closed_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def call(port: int) -> bytes:
    return b"call %d\n" % port


def test_a_neighbour_that_answers_is_joined_and_talked_with(run: Run) -> None:
    async def main() -> None:
        neighbour, session = Notes(), Calling()
        async with (
            opened(neighbour) as (_, there),
            opened(session) as (board, address),
            Caller(address) as caller,
        ):
            await caller.ask(call(there[1]), b"called\n")
            await caller.ask(b"hello\n", b"hello\n")
            assert neighbour.told(Received) == [Received(1, "hello")]
            assert [joined.peer for joined in session.told(Joined)] == [1, NEIGHBOUR]
            assert session.told(Joined)[1].address == there
            assert board.counts.connections == 2

    run(main())


def test_a_neighbour_that_hangs_up_has_left(run: Run) -> None:
    async def main() -> None:
        neighbour = Notes(lambda event, _: [Drop(event.peer)] if type(event) is Received else [])
        session = Calling()
        async with opened(neighbour) as (_, there), opened(session) as (_, address), Caller(address) as caller:
            await caller.ask(call(there[1]), b"called\n")
            await caller.ask(b"hello\n", b"gone\n")
            assert session.told(Left) == [Left(NEIGHBOUR, "hung up")]

    run(main())


def test_a_call_that_nobody_answers_is_left_with_the_reason(run: Run) -> None:
    async def main() -> None:
        session = Calling()
        async with opened(session) as (_, address), Caller(address) as caller:
            await caller.ask(call(closed_port()), b"gone\n")
            (left,) = session.told(Left)
            assert left.peer == NEIGHBOUR
            assert "refused" in left.reason.lower() or "connect call failed" in left.reason.lower()

    run(main())


def test_a_call_that_takes_too_long_is_left_with_the_reason(run: Run) -> None:
    async def main() -> None:
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            session = Notes()
            board = Endpoint(session, Words, silent_logger(), limits=EndpointLimits(connect_timeout=0.05))
            # The connection is there, but nobody shakes hands.
            await board.connect(NEIGHBOUR, silent.getsockname(), ssl.create_default_context())
            assert session.events == [Left(NEIGHBOUR, "no answer within 0.05 seconds")]

    run(main())


def test_a_call_that_is_given_up_as_it_is_answered_is_left_once_and_leaves_nothing_behind(run: Run) -> None:
    async def main() -> None:
        def stands_still(event: Event[str], _: float) -> list[Effect[str]]:
            if type(event) is Joined:
                time.sleep(0.1)  # the limit is over when the loop goes on
            return []

        async with opened(Notes()) as (_, there):
            session = Notes(stands_still)
            board = Endpoint(
                session, Words, silent_logger(), limits=EndpointLimits(connect_timeout=0.05, close_timeout=0.05)
            )
            await board.connect(NEIGHBOUR, there)
            if not session.told(Left):  # a loop on which it counts as answered
                board.disconnect(NEIGHBOUR)
            async with asyncio.timeout(PATIENCE):
                await board.wait_drained()
            assert [type(event) for event in session.events] == [Joined, Left]
            assert board.connection_count == 0

    run(main())


@pytest.mark.parametrize(
    ("host", "port"),
    [("127.0.0.1", 70_000), ("127.0.0.1", -1), ("x" * 64 + ".invalid", 1), ("a..b", 1), ("no\0host", 1)],
    ids=["port-too-high", "port-too-low", "label-too-long", "label-empty", "null-byte"],
)
def test_a_call_to_an_address_that_cannot_be_is_left_with_the_reason(run: Run, host: str, port: int) -> None:
    async def main() -> None:
        session = Calling(host)
        async with opened(session) as (_, address), Caller(address) as caller:
            await caller.ask(call(port), b"gone\n")
            assert [left.peer for left in session.told(Left)] == [NEIGHBOUR]

    run(main())


def test_a_call_can_be_made_again_when_it_has_failed(run: Run) -> None:
    async def main() -> None:
        session = Calling()
        async with opened(Notes()) as (_, there), opened(session) as (_, address), Caller(address) as caller:
            await caller.ask(call(closed_port()), b"gone\n")
            await caller.ask(call(there[1]), b"called\n")
            await caller.ask(b"hello\n", b"hello\n")

    run(main())


def test_a_call_that_is_answered_when_the_room_has_closed_is_left(run: Run) -> None:
    """Its Joined never comes, so its Left has to, and nothing of it is heard in between."""

    async def main() -> None:
        talkative = Notes(lambda event, _: [Send(event.peer, "welcome")] if type(event) is Joined else [])
        session = Notes()
        async with opened(talkative) as (_, there):
            board = Endpoint(session, Words, silent_logger(), limits=EndpointLimits(close_timeout=0.1))
            board.halt(final=False)
            await board.connect(NEIGHBOUR, there)
            async with asyncio.timeout(PATIENCE):
                await board.wait_drained()
            assert session.told(Received) == []
            assert session.told(Joined) == []
            assert [left.peer for left in await _now_or_soon(session)] == [NEIGHBOUR]

    run(main())


async def _now_or_soon(session: Notes) -> list[Left]:
    async with asyncio.timeout(PATIENCE / 10):
        return await session.hears(Left)


def test_calls_take_no_places_from_those_who_come(run: Run) -> None:
    async def main() -> None:
        session = Calling()
        limits = EndpointLimits(max_connections_per_address=1)
        async with (
            opened(Notes()) as (_, there),
            opened(session, limits=limits) as (board, address),
            Caller(address) as caller,
        ):
            await caller.ask(call(there[1]), b"called\n")
            await caller.ask(b"hello\n", b"hello\n")
            assert not board.counts.refused

    run(main())


def test_an_alarm_rings_while_a_call_is_on_its_way(run: Run) -> None:
    async def main() -> None:
        def answer(event: Event[str], now: float) -> list[Effect[str]]:
            if type(event) is TimedOut:
                session.deadline = None
            return []

        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            session = Notes(answer)
            board = Endpoint(session, Words, silent_logger(), limits=EndpointLimits(connect_timeout=0.2))
            session.deadline = board.clock() + 0.02
            dialling = asyncio.ensure_future(
                board.connect(NEIGHBOUR, silent.getsockname(), ssl.create_default_context())
            )
            board.handle_and_flush(Received(0, "wake up"))
            await session.hears(TimedOut)
            assert not dialling.done()
            await dialling
            assert [type(event) for event in session.events] == [Received, TimedOut, Left]

    run(main())
