"""A halted shared endpoint is drained when its last game is over, even if peers are still connected."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from croupier.core.logger import SilentLogger
from croupier.core.session import Closing, Drop, Effect, Event, Joined, Left, Received
from croupier.net.endpoint import EndpointLimits
from croupier.net.shared_endpoint import SharedEndpoint
from tests.net.raw_client import TIMEOUT_SECONDS, RawClient, RecordingSession, Run, WordCodec


class GameSession(RecordingSession):
    """A game runs from the message `begin` to any other; only the final Closing drops the peers."""

    def __init__(self) -> None:
        super().__init__()
        self.playing = False

    def on(self, event: Event[Any], now: float) -> Sequence[Effect[Any]]:
        if isinstance(event, Received):
            self.playing = event.message == "begin"
        closing = isinstance(event, Closing) and not event.is_final
        effects = super().on(event, now)
        return [effect for effect in effects if not (closing and isinstance(effect, Drop))]


async def wait_drained(endpoint: SharedEndpoint) -> None:
    async with asyncio.timeout(TIMEOUT_SECONDS):
        await endpoint.wait_drained()


def test_endpoint_without_a_game_is_drained_with_open_connections(run: Run) -> None:
    async def main() -> None:
        session = GameSession()
        endpoint = SharedEndpoint(session, WordCodec, SilentLogger(), limits=EndpointLimits(close_timeout=0.1))
        async with RawClient(await endpoint.listen("127.0.0.1", 0)) as caller:
            await session.wait_for(Joined)
            endpoint.halt(final=False)
            await wait_drained(endpoint)
            assert endpoint.connection_count == 1
            endpoint.halt(final=True)
            assert await caller.read_to_end() == b""
            await wait_drained(endpoint)
            assert endpoint.connection_count == 0

    run(main())


def test_running_game_delays_draining(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("croupier.net.shared_endpoint.HANG_UP_GRACE_SECONDS", 0.05)

    async def main() -> None:
        session = GameSession()
        endpoint = SharedEndpoint(session, WordCodec, SilentLogger(), limits=EndpointLimits(close_timeout=0.1))
        async with RawClient(await endpoint.listen("127.0.0.1", 0)) as caller:
            await caller.send(b"begin\n")
            await session.wait_for(Received)
            endpoint.halt(final=False)
            draining = asyncio.ensure_future(wait_drained(endpoint))
            await asyncio.sleep(0)
            await caller.send(b"begin\n")
            await session.wait_for(Received, 2)
            assert not draining.done()
            await caller.send(b"end\n")
            await draining
            assert endpoint.connection_count == 1
            endpoint.halt(final=True)
            await wait_drained(endpoint)

    run(main())


def test_peers_have_a_moment_to_disconnect_after_the_game(run: Run) -> None:
    async def main() -> None:
        session = GameSession()
        endpoint = SharedEndpoint(session, WordCodec, SilentLogger(), limits=EndpointLimits(close_timeout=0.1))
        async with RawClient(await endpoint.listen("127.0.0.1", 0)) as caller:
            await caller.send(b"begin\n")
            await session.wait_for(Received)
            endpoint.halt(final=False)
            draining = asyncio.ensure_future(wait_drained(endpoint))
            await asyncio.sleep(0)
            await caller.send(b"end\n")
            await session.wait_for(Received, 2)
            assert not draining.done()
            caller.close()
            await session.wait_for(Left)
            await draining
            assert endpoint.connection_count == 0

    run(main())
