"""What all matches of programs have in common: how a program is run, its faults, and how the match ends."""

import asyncio
from abc import ABC, abstractmethod
from asyncio import Future
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import IO, Any, Final

from croupier.arena.game import Chunk
from croupier.arena.players import Forfeit, has_forfeited, make_fault
from croupier.clients.programs import Process, end_programs, start_program
from croupier.core.command_line import describe_exit

HOST: Final = "127.0.0.1"

START_SECONDS: Final = 20.0
"""How long a program has to begin after its start, and between two connections."""

MAX_HAND_MESSAGES: Final = 10
"""A program that needs the time of more messages for a hand has stopped playing."""

MAX_STDERR_BYTES: Final = 4000
"""How much of the end of a program's standard error is read."""


class RunningProgram:
    """A program that has been started."""

    def __init__(self, process: Process, stderr: IO[bytes]) -> None:
        self.process = process
        self._stderr = stderr

    async def wait(self) -> None:
        """Wait until the program has ended."""
        await asyncio.to_thread(self.process.wait)

    async def end(self) -> None:
        """End it with everything that it has started, while the event loop goes on: it may have something to send."""
        await asyncio.to_thread(end_programs, [self.process])

    def describe_end(self, when: str = "") -> str:
        """How the program has ended, with the last line of its standard error; `when` says when."""
        last_line = _last_line(self._stderr)
        return f"it ended{when} with {describe_exit(self.process.returncode)}{last_line and f': {last_line}'}"


class ProgramMatch(ABC):
    """A match of programs in a chunk, whose faults are added to those of the chunk.

    `over` is done when the match is over: its exception is that of a bot, or a Forfeit. `left_hands` has the hands that
    programs have left, by their bots, until it is known why; see `end_left_hand`.
    """

    def __init__(self, chunk: Chunk) -> None:
        self.chunk = chunk
        self.loop = asyncio.get_running_loop()
        self.over: Future[None] = self.loop.create_future()
        self.left_hands: dict[int, int] = {}
        self.loop.set_exception_handler(_report)

    @property
    @abstractmethod
    def hand(self) -> int:
        """The number of the current hand in the pairing."""

    @contextmanager
    def started(self, bot: int, words: Sequence[str]) -> Iterator[RunningProgram | None]:
        """Run the program of a bot, and end it with everything that it has started.

        A bot whose program cannot be started forfeits; then there is none.
        """
        with TemporaryFile() as stderr:
            try:
                process = start_program(words, stdout=asyncio.subprocess.DEVNULL, stderr=stderr)
            except OSError as error:
                self.forfeit(bot, str(error))
                yield None
                return
            try:
                yield RunningProgram(process, stderr)
            finally:
                end_programs([process])

    def add_fault(self, bot: int, reason: str, hand: int | None = None) -> None:
        """Add a fault of a bot in a hand of the pairing, by default the current one; with too many, it forfeits."""
        if self.over.done():
            return
        faults = self.chunk.faults
        faults.append(make_fault(bot, self.hand if hand is None else hand, reason))
        if has_forfeited(bot, faults):
            self.stop(Forfeit(bot))

    def forfeit(self, bot: int, reason: str, hand: int | None = None) -> None:
        """Add a fault with which a bot forfeits."""
        self.add_fault(bot, reason, hand)
        self.stop(Forfeit(bot))

    def end_left_hand(self, bot: int, reason: str) -> None:
        """Add a fault for the hand that a program has left, if there is one."""
        if bot in self.left_hands:
            self.add_fault(bot, reason, self.left_hands.pop(bot))

    def stop(self, error: Exception | None) -> None:
        """End the match, unless it is over."""
        if self.over.done():
            return
        if error is None:
            self.over.set_result(None)
        else:
            self.over.set_exception(error)


def _report(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Report an error that nothing handles, unless SIGTERM has interrupted a task of the server."""
    if not isinstance(context.get("exception"), KeyboardInterrupt):
        loop.default_exception_handler(context)


def _last_line(file: IO[bytes]) -> str:
    """The last line of a file that has a letter or a digit, without what frames it; "" without one."""
    size = file.seek(0, 2)
    file.seek(max(0, size - MAX_STDERR_BYTES))
    lines = file.read().decode(errors="backslashreplace").split("\n")
    return next((line.strip(" \r\t│") for line in reversed(lines) if any(map(str.isalnum, line))), "")
