"""`croupier check` in simulated time: the programs under test are threads of this process.

It runs as a user runs it, with the same command, but pauses and limits take no time, and no process is started.
"""

import asyncio
import contextlib
import io
import json
import signal
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar, copy_context
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, Self
from unittest.mock import patch

from croupier.cli import main
from croupier.conformance import program
from croupier.conformance.containment.launch import Callbacks
from tests.conformance.mutants.simulated_time import SimulatedTimeLoop, run_in_simulated_time
from tests.conformance.simulation.modules import Modules
from tests.conformance.simulation.threads import Threads, interrupt_threads, thread_class
from tests.conformance.strangers import FOLDER

OWNER: ContextVar[object] = ContextVar("OWNER", default=None)
"""The program to which a task belongs."""

KILLED = -9

INTERRUPTED = 130
"""The exit status of a command after Ctrl-C."""

MAX_PROCESSOR_SECONDS = 120.0
TOOK_TOO_LONG = "the run took too long"


class SimulatedProgram:
    """Stands for `LaunchedProgram`: its command is that of a Python program in `sources`."""

    pid = 0
    exceeded = ""

    def __init__(self, sources: Mapping[str, str], words: Sequence[str], callbacks: Callbacks) -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, SimulatedTimeLoop)
        self.exit_status: int | None = None
        self.exited, self.output_ended, self.ended = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._callbacks = callbacks
        self._loop = loop
        self._context = copy_context()
        self._context.run(OWNER.set, self)
        self._threads = Threads(loop, self._report)
        place = next(place for place, word in enumerate(words) if word.endswith(".py"))
        self._modules = Modules(self._threads, sources, words[place:], self._context)
        self._file = Path(words[place]).name
        thread_class(self._threads)(target=self._main).start()

    def _main(self) -> None:
        """Run the program, in a thread."""
        status: object = 0
        try:
            self._modules.run(self._file)
        except SystemExit as end:
            status = end.code or 0
            if not isinstance(status, int):
                self._modules.stderr.write(f"{status}\n")
                status = 1
        except Exception as error:
            self._report(error)
            status = 1
        self._loop.post(partial(self._end, status))

    def _report(self, error: BaseException) -> None:
        if not isinstance(error, SystemExit):
            self._modules.stderr.write("".join(traceback.format_exception(error)))

    def _end(self, status: int) -> None:
        if self.exit_status is not None:
            return
        self.exit_status = status
        for task in asyncio.all_tasks():
            if task.get_context().get(OWNER) is self:
                task.cancel()
        for close in self._modules.closers:
            close()
        self._threads.end()
        self._callbacks.stdout(self._modules.stdout.getvalue().encode())
        self._callbacks.stderr(self._modules.stderr.getvalue().encode())
        for event in (self.exited, self.output_ended, self.ended):
            event.set()

    def terminate(self) -> None:
        self._end(KILLED)

    def kill(self) -> None:
        self._end(KILLED)

    async def close(self) -> None:
        self._end(KILLED)


def simulated_programs(sources: Mapping[str, str]) -> Any:
    """Return what stands for the class `LaunchedProgram`."""

    class Launched(SimulatedProgram):
        @classmethod
        async def start(cls, words: Sequence[str], cwd: Path, containment: object, callbacks: Callbacks) -> Self:
            return cls(sources, words, callbacks)

    return Launched


class CheckRun(NamedTuple):
    """A run of the tester: its exit status, its JSON report, and what it has printed."""

    status: int
    report: Mapping[str, Any] | None
    output: str


@cache
def program_sources() -> Mapping[str, str]:
    """The programs in `strangers`, and the modules that they share, by their file names."""
    return {file.name: file.read_text(encoding="utf-8") for file in FOLDER.glob("*.py")}


@contextlib.contextmanager
def _limited_time() -> Iterator[None]:
    """End a run whose program is in an endless loop: as by Ctrl-C, which no task can handle."""
    before = signal.signal(signal.SIGPROF, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_PROF, MAX_PROCESSOR_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def check_simulated(arguments: Sequence[str], sources: Mapping[str, str] | None = None) -> CheckRun:
    """Run `croupier check` with these arguments. Its program is one of `sources`, by default of `strangers`.

    A run that takes MAX_PROCESSOR_SECONDS has no report: its output is TOOK_TOO_LONG.
    """
    output = io.StringIO()
    launched = simulated_programs(program_sources() if sources is None else sources)
    with (
        TemporaryDirectory() as folder,
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(output),
        patch.object(program, "LaunchedProgram", launched),
        patch.object(asyncio, "run", run_in_simulated_time),
        _limited_time(),
    ):
        file = Path(folder) / "report.json"
        try:
            main(["check", *arguments, "--quiet", "--report", f"json={file}"])
        except SystemExit as end:
            status = end.code
        assert isinstance(status, int)
        if status == INTERRUPTED:
            interrupt_threads()
        found = json.loads(file.read_text()) if file.exists() else None
        return CheckRun(status, found, TOOK_TOO_LONG if status == INTERRUPTED else output.getvalue())
