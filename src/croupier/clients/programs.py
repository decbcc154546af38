"""Programs that play: started in process groups of their own, and ended with everything that they have started."""

import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import IO, Final

STOP_SECONDS: Final = 2.0
"""How long programs have to end after SIGTERM; then they are killed."""

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
