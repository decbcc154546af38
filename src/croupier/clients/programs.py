"""Programs that play: started in process groups of their own, and ended with everything that they have started."""

import asyncio
import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from types import FrameType
from typing import IO, Final

STOP_SECONDS: Final = 2.0
"""How long programs have to end after SIGTERM; then they are killed."""

STANDARD_ERROR: Final = 2
"""The file descriptor, which is ours even if `sys.stderr` is something else."""

type Process = subprocess.Popen[bytes]

type Output = int | IO[bytes] | None
"""Where a program writes: a file, a file descriptor, or None for where we write."""


def start_program(words: Sequence[str], *, stdout: Output = None, stderr: Output = None) -> Process:
    """Start a program, without standard input, in a process group of its own. Raises OSError."""
    try:
        return subprocess.Popen(  # noqa: S603 -- the user's own command
            words, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, start_new_session=True
        )
    except OSError as error:
        raise OSError(f"{words[0]!r} cannot be started: {error.strerror}") from error


def end_programs(processes: Sequence[Process]) -> None:
    """End what is left of programs and of everything that they have started."""
    try:
        _signal_groups(processes, signal.SIGTERM)
        for process in processes:
            with suppress(subprocess.TimeoutExpired):
                process.wait(STOP_SECONDS)
    finally:
        _signal_groups(processes, signal.SIGKILL)


async def run_program(words: Sequence[str], unwanted: "asyncio.Future[None]") -> int | None:
    """Run a program until it ends, and return its exit status (−signal); None if `unwanted` was done before.

    It writes to our standard error. What it has started ends with it, also if this call is cancelled. Raises OSError if
    it cannot be started.
    """
    process = start_program(words, stdout=STANDARD_ERROR, stderr=STANDARD_ERROR)
    # A thread, because a subprocess of uvloop that is cancelled while it starts blocks the loop.
    thread = ThreadPoolExecutor(1, "program")
    ended = asyncio.get_running_loop().run_in_executor(thread, process.wait)
    thread.shutdown(wait=False)  # it ends with the program
    try:
        await asyncio.wait((ended, unwanted), return_when=asyncio.FIRST_COMPLETED)
        return ended.result() if ended.done() else None
    finally:
        try:
            _signal_groups([process], signal.SIGTERM)
            await asyncio.wait([ended], timeout=STOP_SECONDS)
        finally:
            _signal_groups([process], signal.SIGKILL)


def _signal_groups(processes: Sequence[Process], number: signal.Signals) -> None:
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):  # macOS: a group of zombies
            os.killpg(process.pid, number)


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """Raise KeyboardInterrupt on SIGTERM, too, so that no program outlives us. Only the main thread gets signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
