"""Bots that are programs: `croupier play ROOM --bot 'COMMAND -s {host} -p {port}'`."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from time import perf_counter
from types import FrameType
from typing import Final

from croupier.cli.output import fail
from croupier.core.command_line import describe_exit

STOP_SECONDS: Final = 2.0
"""How long programs have to end after SIGTERM; then they are killed."""


def play_with_programs(name: str, commands: Sequence[Sequence[str]], server: str, *, as_json: bool) -> int:
    """Run the programs of a bot until all have ended, print a summary, and return the exit status.

    They play in parallel, have no standard input, and write to our output; with `as_json` all of it is standard error.
    Ctrl-C and SIGTERM end them. The status is 1 if a program fails. Raises OSError if one cannot be started.
    """
    started = perf_counter()
    statuses = run_programs(commands, stdout=sys.stderr.fileno() if as_json else None)
    seconds = perf_counter() - started
    if as_json:
        sys.stdout.write(f"{json.dumps({'bot': name, 'house': server, 'exit_statuses': statuses})}\n")
    else:
        ends = ", ".join(map(describe_exit, statuses))
        sys.stdout.write(f"{name} against {server}: {seconds:.1f} s, {ends}\n")
    failed = [status for status in statuses if status]
    return fail(f"the bot {name!r} has failed: {describe_exit(failed[0])}") if failed else 0


def run_programs(commands: Sequence[Sequence[str]], *, stdout: int | None = None) -> list[int]:
    """Run programs in parallel until all have ended, and return their exit statuses (−signal).

    What they have started ends with them. Raises OSError if one cannot be started; the others end then.
    """
    processes: list[subprocess.Popen[bytes]] = []
    with _terminated_as_interrupted():
        try:
            processes.extend(_start(words, stdout) for words in commands)  # keeps those before an error
            return [process.wait() for process in processes]
        finally:
            _end(processes)


def _start(words: Sequence[str], stdout: int | None) -> "subprocess.Popen[bytes]":
    """Start a program in a process group of its own. Raises OSError."""
    try:
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=stdout, start_new_session=True)  # noqa: S603 -- the user's own command
    except OSError as error:
        raise OSError(f"{words[0]!r} cannot be started: {error.strerror}") from error


def _end(processes: "Sequence[subprocess.Popen[bytes]]") -> None:
    """End what is left of programs and of everything that they have started."""
    try:
        _signal_groups(processes, signal.SIGTERM)
        for process in processes:
            with suppress(subprocess.TimeoutExpired):
                process.wait(STOP_SECONDS)
    finally:
        _signal_groups(processes, signal.SIGKILL)


def _signal_groups(processes: "Sequence[subprocess.Popen[bytes]]", number: signal.Signals) -> None:
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):  # macOS: a group of zombies
            os.killpg(process.pid, number)


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """Raise KeyboardInterrupt on SIGTERM, too, so that no program outlives us."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
