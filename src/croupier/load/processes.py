"""The processes of the generator: they start together, and send their figures about once a second."""

import asyncio
import multiprocessing
import signal
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from types import TracebackType
from typing import Final, Self

from croupier.load.generator import REPORT_SECONDS, generate
from croupier.load.measurement import Figures, merge
from croupier.load.plan import Plan
from croupier.net.event_loop import run

KILL_SECONDS: Final = 20.0
"""The time that a process has to end after the run: its players leave."""

GO: Final = "go"
STOP: Final = "stop"


class LoadProcesses:
    """The processes of a generator, which start when the context is entered and end with it.

    `is_stopped` is whether `stop` was called.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._processes: list[multiprocessing.process.BaseProcess] = []
        self._open: dict[Connection, int] = {}
        self._figures: dict[int, Figures] = {}
        self.is_stopped = False

    def __enter__(self) -> Self:
        context = multiprocessing.get_context("spawn")
        for number in range(self._plan.processes):
            connection, other = context.Pipe()
            process = context.Process(target=_work, args=(self._plan, number, other), daemon=True)
            process.start()
            other.close()
            self._processes.append(process)
            self._open[connection] = number
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for connection in self._open:
            connection.close()
        for process in self._processes:
            process.join(KILL_SECONDS if error is None else 0)
            process.kill()
            process.join()

    def play(self) -> Iterator[Figures]:
        """Let all processes begin, and yield the figures so far about once a second; the last ones are final.

        Raises the ValueError or OSError of a process, and ChildProcessError if one dies.
        """
        for connection in self._open:
            self._receive(connection)
        for connection in self._open:
            connection.send(GO)
        while self._open:
            ready = wait([*self._open], REPORT_SECONDS)
            for connection in [each for each in self._open if each in ready]:
                self._receive(connection)
            if self._figures:
                yield self.figures

    @property
    def figures(self) -> Figures:
        """The figures of all processes together."""
        return merge([*self._figures.values()])

    def stop(self) -> None:
        """End the run early; `play` goes on until the last figures have arrived."""
        self.is_stopped = True
        for connection in self._open:
            connection.send(STOP)

    def _receive(self, connection: Connection) -> None:
        """Receive that a process is ready, its figures, that it has ended, or an exception, which is raised."""
        try:
            received = connection.recv()
        except (EOFError, OSError):
            raise ChildProcessError("a process of the load generator has died") from None
        if isinstance(received, Exception):
            raise received
        if isinstance(received, Figures):
            self._figures[self._open[connection]] = received
        elif received == STOP:
            del self._open[connection]
            connection.close()


def _work(plan: Plan, number: int, connection: Connection) -> None:
    """The main function of a process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all processes of the terminal; the first one decides
    try:
        connection.send(GO)
        connection.recv()
        try:
            connection.send(run(_generate(plan, number, connection)))
            connection.send(STOP)
        except (ValueError, OSError) as error:
            connection.send(error)
    except (EOFError, OSError):
        return  # the first process has ended


async def _generate(plan: Plan, number: int, connection: Connection) -> Figures:
    """Generate until the first process sends something, or has ended."""
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    loop.add_reader(connection.fileno(), stop.set)
    try:
        return await generate(plan, number, connection.send, stop)
    finally:
        loop.remove_reader(connection.fileno())
