"""The supervisor of `croupier serve --workers N`: starts the workers, and another one for each that dies.

SIGHUP restarts the workers one by one: a new one opens its rooms before the old one is stopped. SIGTERM and SIGINT stop
all workers; a second signal ends their games at once.
"""

import asyncio
import os
from asyncio.subprocess import DEVNULL, Process, create_subprocess_exec
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from itertools import count
from typing import Any, Final

import msgspec

from croupier.app.config import RoomConfig, ServerConfig
from croupier.app.monitoring import serve_monitoring
from croupier.app.serve import prepare_shared_files
from croupier.app.server_sockets import ServerSockets
from croupier.app.worker import (
    READY_SUBJECT,
    RESTART,
    STOP,
    STOPPING_SUBJECT,
    TABLES_SUBJECT,
    ReadyWorker,
    WorkerSetup,
    is_for_all_workers,
    stop_subject,
)
from croupier.cluster.local_bus import LocalBus
from croupier.cluster.local_hub import LocalHub
from croupier.core.logger import Logger
from croupier.logs import configure, get_logger
from croupier.net.descriptors import raise_file_limit
from croupier.net.event_loop import start_task
from croupier.net.listening_socket import can_share_ports
from croupier.net.shared_counts import SharedCounts
from croupier.net.stop_signals import SIGHUP_NAME, has_terminal, stop_signal_queue

MAX_FAILURES: Final = 5
MIN_SERVICE_SECONDS: Final = 10.0
"""The server ends after MAX_FAILURES workers of one slot that died in a row and served for less than this together."""

RESTART_SECONDS: Final = (0.0, 0.1, 0.2, 0.4, 0.8)
"""The pause before another worker is started, after each of these failures."""

KILL_SECONDS: Final = 10.0
"""A worker that still runs this long after the time for its games is killed."""


class RunningWorker:
    """A worker process. `ready` is done with its lines for standard output when its rooms are open.

    `ended` is a task that returns its exit status. `slot` is one of as many as there are workers.
    """

    def __init__(self, setup: WorkerSetup, process: Process, ended: "asyncio.Task[int]") -> None:
        self.number = setup.number
        self.slot = setup.slot
        self.row = setup.row
        self.process = process
        self.ready: asyncio.Future[Sequence[str]] = asyncio.get_running_loop().create_future()
        self.ended = ended
        self.is_stopping = False
        self.served_from = 0.0


class Supervisor:
    """Runs `command` as the workers of a server. `run` returns the exit status.

    `requests` receives the names of signals. When all workers have opened their rooms, `announce` is called with the
    lines of the first one, and with `last_lines`.
    """

    def __init__(
        self,
        command: Sequence[str],
        sockets: ServerSockets,
        config: ServerConfig,
        room_configs: Sequence[RoomConfig],
        requests: "asyncio.Queue[str]",
        *,
        announce: Callable[[str], None],
        log: Logger,
    ) -> None:
        self.is_closing = False
        self.last_lines: list[str] = []
        self._command = command
        self._sockets = sockets
        self._config = config
        self._requests = requests
        self._announce = announce
        self._log = log
        self._hub = LocalHub()
        self.bus: LocalBus
        shared = [each.room.name for each in room_configs if is_for_all_workers(each, config)]
        # While one worker is restarted, there is one more process than workers.
        self._counts = {name: SharedCounts.create(config.workers + 1) for name in shared}
        self._numbers = count()
        self._status = 0
        self._running: dict[int, RunningWorker] = {}
        self._current: dict[int, RunningWorker] = {}
        self._restart_lock = asyncio.Lock()
        self._slot_locks = [asyncio.Lock() for _ in range(config.workers)]
        self._tables_owner: RunningWorker | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def numbers(self) -> Mapping[int, int]:
        """The numbers of the workers whose rooms are open, by their slots."""
        return {slot: each.number for slot, each in self._current.items() if each.number in self._running}

    async def open_bus(self) -> None:
        """Open the bus between the workers. Raises OSError."""
        self.bus = await LocalBus.open(await self._hub.attach())
        await self.bus.serve(TABLES_SUBJECT, self._give_tables)
        await self.bus.subscribe(READY_SUBJECT, self._on_ready)
        await self.bus.subscribe(STOPPING_SUBJECT, self._on_stopping)

    async def run(self) -> int:
        """Run the workers until a signal, and return the exit status."""
        had_terminal = has_terminal()
        start_task(self._tasks, self._open())
        while await self._requests.get() == SIGHUP_NAME and (has_terminal() or not had_terminal):
            start_task(self._tasks, self._restart_all())
        await self._close()
        return self._status

    # The life of a worker.

    async def _open(self) -> None:
        """Start all workers; the first one shows whether the settings are valid."""
        for slots in ([0], range(1, self._config.workers)):
            started = await asyncio.gather(*map(self._start, slots))
            if self.is_closing:
                return
            if None in started:
                self._fail("a worker could not be started")
                return
        for line in [*self._current[0].ready.result(), *self.last_lines]:
            self._announce(line)
        for slot in self._current:
            start_task(self._tasks, self._keep(slot))

    async def _start(self, slot: int) -> RunningWorker | None:
        """Start a worker, and wait until its rooms are open; None if it has ended before."""
        bus, node_bus = await self._hub.attach(), await self._hub.attach()
        try:
            used = {each.row for each in self._running.values()}
            setup = WorkerSetup(
                number=next(self._numbers),
                slot=slot,
                supervisor=os.getpid(),
                bus=bus,
                node_bus=node_bus,
                sockets=self._sockets.of_worker(slot),
                ports=self._sockets.ports,
                document_ports=self._sockets.document_ports,
                web_port=self._sockets.web_port,
                counts={name: counts.descriptor for name, counts in self._counts.items()},
                row=next(row for row in count() if row not in used),
                row_count=self._config.workers + 1,
            )
            process = await create_subprocess_exec(
                *self._command,
                env=setup.environment(),
                pass_fds=setup.descriptors,
                stdin=DEVNULL,
                start_new_session=True,  # so that Ctrl-C reaches the supervisor only
            )
        finally:
            os.close(bus)
            os.close(node_bus)
        ended = asyncio.get_running_loop().create_task(self._wait_end(setup, process))
        worker = self._running[setup.number] = RunningWorker(setup, process, ended)
        if self.is_closing:
            process.kill()
        events: list[asyncio.Future[Any]] = [worker.ready, worker.ended]
        await asyncio.wait(events, return_when=asyncio.FIRST_COMPLETED)
        if not worker.ready.done():
            return None
        self._log.info("worker started", number=slot + 1, pid=process.pid)
        self._current[slot] = worker
        return worker

    async def _wait_end(self, setup: WorkerSetup, process: Process) -> int:
        """Wait for the end of a process, and release what it had."""
        status = await process.wait()
        del self._running[setup.number]
        for counts in self._counts.values():
            counts.clear(setup.row)
        return status

    async def _keep(self, slot: int) -> None:
        """Start another worker whenever the one of a slot dies."""
        served = deque[float](maxlen=MAX_FAILURES)
        while True:
            worker = self._current[slot]
            status = await worker.ended
            async with self._slot_locks[slot]:
                if self.is_closing:
                    return
                if self._current[slot] is not worker:
                    continue  # it was restarted
                self._log.error("worker died", number=slot + 1, pid=worker.process.pid, status=status)
                seconds = asyncio.get_running_loop().time() - worker.served_from
                if seconds >= MIN_SERVICE_SECONDS:
                    served.clear()
                served.append(seconds)
                await self._replace(slot, served)

    async def _replace(self, slot: int, served: "deque[float]") -> None:
        """Start another worker in a slot until one opens its rooms. `served` has the seconds of those that died."""
        while not self.is_closing:
            if len(served) == MAX_FAILURES and sum(served) < MIN_SERVICE_SECONDS:
                self._fail(f"worker {slot + 1} died {MAX_FAILURES} times within {MIN_SERVICE_SECONDS:g} seconds")
                return
            await asyncio.sleep(RESTART_SECONDS[len(served) - 1])
            if await self._start(slot) is not None:
                return
            served.append(0.0)

    async def _restart_all(self) -> None:
        """Restart the workers one by one; if a new one does not open its rooms, the old ones stay."""
        async with self._restart_lock:
            for slot, lock in enumerate(self._slot_locks):
                async with lock:
                    old = self._current.get(slot)
                    if self.is_closing or old is None:
                        return
                    if await self._start(slot) is None:
                        if not self.is_closing:
                            self._log.error("restart ended: a new worker did not open its rooms", number=slot + 1)
                        return
                    await self._stop(old, RESTART)

    async def _stop(self, worker: RunningWorker, reason: str) -> None:
        """Stop a worker, and wait for its end. One that is not open yet, or does not end in time, is killed."""
        worker.is_stopping = True
        if worker.ready.done():
            await self.bus.publish(stop_subject(worker.number), reason.encode())
            await asyncio.wait([worker.ended], timeout=self._config.drain_seconds + KILL_SECONDS)
        if not worker.ended.done():
            worker.process.kill()
            await asyncio.wait([worker.ended])

    async def _close(self) -> None:
        """Stop all workers; at another signal, end their games at once."""
        self.is_closing = True
        hurrying = asyncio.get_running_loop().create_task(self._hurry())
        await asyncio.gather(*[self._stop(each, STOP) for each in self._running.values()])
        while self._running:  # a worker that was just being started
            await asyncio.wait([each.ended for each in self._running.values()])
        for task in (hurrying, *self._tasks):
            task.cancel()
        self._hub.close()

    async def _hurry(self) -> None:
        while True:
            await self._requests.get()
            for worker in self._running.values():
                await self.bus.publish(stop_subject(worker.number), STOP.encode())

    # What workers say.

    def _on_ready(self, _: str, body: bytes) -> None:
        ready = msgspec.json.decode(body, type=ReadyWorker)
        if (worker := self._running.get(ready.number)) is not None:
            worker.served_from = asyncio.get_running_loop().time()
            worker.ready.set_result(ready.lines)

    def _on_stopping(self, _: str, body: bytes) -> None:
        """Stop the server if a worker stops that was not asked to: the administrator has ended it in the web app."""
        worker = self._running.get(int(body))
        if worker is not None and not worker.is_stopping:
            self._requests.put_nowait("a worker stops")

    async def _give_tables(self, body: bytes) -> bytes:
        """Answer a worker that wants to open the shared tables when the worker that has them open has ended."""
        number = int(body)
        if (owner := self._tables_owner) is not None and not owner.ended.done():
            await self._stop(owner, RESTART)
        self._tables_owner = self._running[number]
        return b""

    def _fail(self, reason: str) -> None:
        self._log.error(reason)
        self._status = 1
        self.is_closing = True
        self._requests.put_nowait("failed")


async def supervise(
    command: Sequence[str],
    room_configs: Sequence[RoomConfig],
    config: ServerConfig,
    announce: Callable[[str], None],
) -> int:
    """Serve rooms with the workers that `command` starts, and return the exit status.

    `announce` is called with one line for each address when all workers have opened their rooms. Raises ValueError if a
    setting is invalid, OSError if a file or an address cannot be used.
    """
    configure(config.log_level)
    config.check()
    raise_file_limit()
    if not can_share_ports():
        raise ValueError(f"found --workers {config.workers}; allowed: 1, because this system has no SO_REUSEPORT")
    if not any(is_for_all_workers(each, config) for each in room_configs):
        raise ValueError(
            f"found --workers {config.workers} for rooms that only one process can serve; allowed: 1, or a game against"
            " the house without --accounts, or hold'em with a store"
        )
    log = get_logger()
    prepare_shared_files(room_configs, config)
    async with AsyncExitStack() as stack:
        requests = stack.enter_context(stop_signal_queue())
        sockets = await ServerSockets.bind(room_configs, config, log)
        stack.callback(sockets.close)
        supervisor = Supervisor(command, sockets, config, room_configs, requests, announce=announce, log=log)
        await supervisor.open_bus()
        if config.metrics_port is not None:
            from croupier.app.joint_monitoring import JointMonitoringApp

            names = [each.room.name for each in room_configs]
            app = JointMonitoringApp(supervisor.bus, lambda: supervisor.numbers, names, lambda: supervisor.is_closing)
            supervisor.last_lines.append(f"metrics at {await stack.enter_async_context(serve_monitoring(config, app))}")
        return await supervisor.run()
