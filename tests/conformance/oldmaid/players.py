"""Players in this process, as programs under test: ours, one of another make, and those with a habit."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from croupier.clients.ring import RingClient, RingConfig, RingTally, play_ring_games
from croupier.conformance.oldmaid.endpoints import StartProgram
from croupier.core.bots import RandomBot
from croupier.core.dealer import FairDealer, derive_server_seed
from croupier.rooms.oldmaid.player import Options
from tests.clients.independent_player import IndependentPlayer

type Main = Callable[[Mapping[str, object]], Coroutine[Any, Any, None]]


class Process:
    """A player that runs as a task: what ends it is told as its errors."""

    def __init__(self, main: Coroutine[Any, Any, None]) -> None:
        self._task = asyncio.get_running_loop().create_task(main)

    @property
    def status(self) -> int | None:
        if not self._task.done():
            return None
        return 0 if self._task.cancelled() or self._task.exception() is None else 1

    @property
    def stderr(self) -> bytes:
        error = self._task.exception() if self._task.done() and not self._task.cancelled() else None
        return repr(error).encode() if error else b""

    def stderr_excerpt(self) -> str:
        return f"; its stderr: {self.stderr.decode()}" if self.stderr else ""

    async def stop(self) -> None:
        self._task.cancel()
        with suppress(BaseException):
            await asyncio.wait([self._task], timeout=5)


def started(main: Main) -> StartProgram:
    """What starts such a player."""

    async def start(values: Mapping[str, object]) -> Process:
        return Process(main(values))

    return start


async def ours(values: Mapping[str, object], *, seed: int = 1, dialect: str = "document") -> None:
    """Our player, in haste."""
    options = Options(str(values["nick"]), pause=0.01, poll_seconds=0.1, retry_seconds=1.0, dialect=dialect)
    luck = FairDealer(derive_server_seed(seed, "player", 1)).luck
    tally = RingTally(options.nick)
    way = RingConfig((str(values["host"]), int(str(values["port"]))))
    await play_ring_games(partial(RingClient, way, options, luck), RandomBot(), luck, 1, tally)


async def stranger(values: Mapping[str, object], *, chop: int = 3) -> None:
    """The player of another make."""
    await IndependentPlayer((str(values["host"]), int(str(values["port"]))), str(values["nick"]), chop).play()
