"""A shared table that closes is empty when its last game is over, whoever is still connected."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from croupier.core.session import Closing, Drop, Effect, Event, Joined, Left, Received
from croupier.logs import silent_logger
from croupier.net.endpoint import EndpointLimits
from croupier.net.shared_endpoint import SharedEndpoint
from tests.net.raw_client import PATIENCE, Caller, Notes, Run, Words


class Games(Notes):
    """A game runs from `begin` to `end`; when the room closes for good everybody is dropped."""

    def __init__(self) -> None:
        super().__init__()
        self.playing = False

    def on(self, event: Event[Any], now: float) -> Sequence[Effect[Any]]:
        if isinstance(event, Received):
            self.playing = event.message == "begin"
        closing = isinstance(event, Closing) and not event.is_final
        effects = super().on(event, now)
        return [effect for effect in effects if not (closing and isinstance(effect, Drop))]


async def empty(board: SharedEndpoint) -> None:
    async with asyncio.timeout(PATIENCE):
        await board.wait_drained()


def test_it_is_empty_when_nothing_is_played_whoever_is_there(run: Run) -> None:
    async def main() -> None:
        session = Games()
        board = SharedEndpoint(session, Words, silent_logger(), limits=EndpointLimits(close_timeout=0.1))
        async with Caller(await board.listen("127.0.0.1", 0)) as caller:
            await session.hears(Joined)
            board.halt(final=False)
            await empty(board)
            assert board.connection_count == 1
            board.halt(final=True)
            assert await caller.rest() == b""
            await empty(board)
            assert board.connection_count == 0

    run(main())


def test_a_running_game_is_waited_for(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("croupier.net.shared_endpoint.HANG_UP_GRACE_SECONDS", 0.05)

    async def main() -> None:
        session = Games()
        board = SharedEndpoint(session, Words, silent_logger(), limits=EndpointLimits(close_timeout=0.1))
        async with Caller(await board.listen("127.0.0.1", 0)) as caller:
            await caller.say(b"begin\n")
            await session.hears(Received)
            board.halt(final=False)
            waiting = asyncio.ensure_future(empty(board))
            await asyncio.sleep(0)
            await caller.say(b"begin\n")
            await session.hears(Received, 2)
            assert not waiting.done()
            await caller.say(b"end\n")
            await waiting
            assert board.connection_count == 1
            board.halt(final=True)
            await empty(board)

    run(main())


def test_who_hangs_up_when_the_game_is_over_is_waited_for_a_moment(run: Run) -> None:
    async def main() -> None:
        session = Games()
        board = SharedEndpoint(session, Words, silent_logger(), limits=EndpointLimits(close_timeout=0.1))
        async with Caller(await board.listen("127.0.0.1", 0)) as caller:
            await caller.say(b"begin\n")
            await session.hears(Received)
            board.halt(final=False)
            waiting = asyncio.ensure_future(empty(board))
            await asyncio.sleep(0)
            await caller.say(b"end\n")
            await session.hears(Received, 2)
            assert not waiting.done()
            caller.hang_up()
            await session.hears(Left)
            await waiting
            assert board.connection_count == 0

    run(main())
