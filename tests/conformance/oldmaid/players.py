"""Players as tasks of this process: ours, an independent one, and faulty ones."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from typing import Any

from croupier.conformance.oldmaid.endpoints import StartProgram
from croupier.conformance.program import ProgramUnderTest
from croupier.core.dealer import FairDealer, derive_server_seed
from tests.clients.independent_player import IndependentPlayer
from tests.conformance.oldmaid.changed_programs import play_one_game, quick_options

type Main = Callable[[Mapping[str, object]], Coroutine[Any, Any, None]]


class TaskProgram(ProgramUnderTest):
    """A player that runs as a task of this process; its exception serves as standard error."""

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

    @property
    def end_description(self) -> str:
        return "" if self.status is None else f"exit status {self.status}"

    async def wait_ended(self, seconds: float) -> int | None:
        await asyncio.wait({self._task}, timeout=seconds)
        return self.status

    async def stop(self, grace: float = 5.0) -> None:
        self._task.cancel()
        with suppress(BaseException):
            await asyncio.wait([self._task], timeout=grace)


def start_as_task(main: Main, *, seconds: float = 0.0) -> StartProgram:
    """Return a function that starts a player as a task, and takes some seconds to notice that it has started."""

    async def start(values: Mapping[str, object]) -> TaskProgram:
        program = TaskProgram(main(values))
        await asyncio.sleep(seconds)
        return program

    return start


async def our_player(values: Mapping[str, object], *, seed: int = 1, dialect: str = "document") -> None:
    """Our player with short pauses."""
    luck = FairDealer(derive_server_seed(seed, "player", 1)).luck
    await play_one_game(values, quick_options(values, retry_seconds=1.0, dialect=dialect), luck, luck)


async def independent_player(values: Mapping[str, object], *, chop: int = 3) -> None:
    """The independent player."""
    await IndependentPlayer((str(values["host"]), int(str(values["port"]))), str(values["nick"]), chop).play()
