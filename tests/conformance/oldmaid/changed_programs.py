"""Our Old Maid programs with changes: sessions with other effects, wires that write in another way, and their use."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, override

from croupier.clients.ring import RingClient, RingConfig, RingTally, play_ring_games
from croupier.core.bots import RandomBot
from croupier.core.dealer import Luck
from croupier.core.errors import Violation
from croupier.core.logger import SilentLogger
from croupier.core.session import Address, Effect, Event
from croupier.net.shared_endpoint import SharedEndpoint
from croupier.rooms.oldmaid.player import Options
from croupier.rooms.oldmaid.wire import Message, Wire, WireRole
from tests.net.raw_client import TIMEOUT_SECONDS

type Effects = Sequence[Effect[Any]]
type EffectChange = Callable[[Event[Any], Effects], Effects]
type EncodeChange = Callable[[Message, bytes], bytes]


class ChangedSession:
    """The session of a table or a player with a change of its effects."""

    def __init__(self, session: Any, change: EffectChange) -> None:
        self.session = session
        self._change = change

    @property
    def deadline(self) -> float | None:
        deadline: float | None = self.session.deadline
        return deadline

    @property
    def playing(self) -> bool:
        return bool(self.session.playing)

    def on(self, event: Event[Any], now: float) -> Effects:
        return self._change(event, self.session.on(event, now))


class ChangedWire(Wire):
    """Reads as another wire, and changes the messages that this one has encoded."""

    def __init__(self, role: WireRole, wire: Wire, encode_change: EncodeChange) -> None:
        super().__init__(role)
        self._wire = wire
        self._change = encode_change

    @override
    def feed(self, data: bytes) -> Sequence[Message | Violation]:
        return self._wire.feed(data)

    @override
    def encode(self, message: Message) -> bytes:
        return self._change(message, self._wire.encode(message))


class LineWire(Wire):
    """Messages end at the end of a line only."""

    def __init__(self, role: WireRole) -> None:
        super().__init__(role)
        self._line = b""

    @override
    def feed(self, data: bytes) -> Sequence[Message | Violation]:
        self._line += data
        complete, end, self._line = self._line.rpartition(b"\n")
        return super().feed(complete + end)


class DecodingWire(Wire):
    """Each read is decoded by itself; after one that ends or begins within a letter nothing more is read."""

    def __init__(self, role: WireRole) -> None:
        super().__init__(role)
        self._is_broken = False

    @override
    def feed(self, data: bytes) -> Sequence[Message | Violation]:
        try:
            data.decode()
        except UnicodeDecodeError:
            self._is_broken = True
        return [] if self._is_broken else super().feed(data)


@asynccontextmanager
async def serve_table(session: Any, new_wire: Callable[[], Wire]) -> AsyncIterator[Address]:
    """Serve the session of a table on a local port; yield its address."""
    endpoint = SharedEndpoint(session, new_wire, SilentLogger())
    try:
        yield await endpoint.listen("127.0.0.1", 0)
    finally:
        endpoint.halt(final=True)
        async with asyncio.timeout(TIMEOUT_SECONDS):
            await endpoint.wait_drained()


def quick_options(values: Mapping[str, object], **settings: Any) -> Options:
    """Options of a player with short pauses."""
    return Options(str(values["nick"]), **({"pause": 0.01, "poll_seconds": 0.1, "retry_seconds": 0.5} | settings))


async def play_one_game(
    values: Mapping[str, object], options: Options, luck: Luck, bot_luck: Luck, **changes: Any
) -> None:
    """Play one game with our player; the `changes` are those of a RingClient."""
    host, port = str(values["host"]), int(str(values["port"]))
    client = partial(RingClient, RingConfig((host, port), host=host), options, luck, **changes)
    await play_ring_games(client, RandomBot(), bot_luck, 1, RingTally(options.nick))
