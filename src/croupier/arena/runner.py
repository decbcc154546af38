"""Runners: play the chunks of a plan, in this process or in several."""

import multiprocessing
import os
import signal
import sys
from collections import deque
from collections.abc import Iterable, Iterator, MutableSequence, Sequence
from contextlib import suppress
from itertools import islice
from multiprocessing.connection import Connection, wait
from multiprocessing.sharedctypes import RawArray
from time import monotonic
from typing import Any, Final, NamedTuple, Protocol, Self

from croupier.arena.plan import Pairing, Plan
from croupier.arena.play import play_chunk
from croupier.arena.players import NO_CALL
from croupier.arena.tally import Fault, Tally
from croupier.clients.contestants import parse_contestant
from croupier.clients.programs import STOP_SECONDS
from croupier.rooms import find_room

BATCH_CHUNKS: Final = 10
"""The chunks that a process gets at a time."""

MAX_DEATHS: Final = 3
"""A chunk in which as many processes died is a forfeit: then it was the bot."""

POLL_SECONDS: Final = 0.5
"""The time between two looks for bots that hang."""

MOVE_TIMEOUT_SECONDS: Final = 10.0
"""The time that a bot in a process of its own has for a move."""


SEND_INTERVAL_SECONDS: Final = 0.1
"""A process sends its tallies after this time, or when it has played all its chunks."""

CALL_CELL: Final = 0
FINISHED_CELL: Final = 1
"""What a process shows in shared memory: the call of a bot (see `Player`), and the number of finished chunks."""


KILL_SECONDS: Final = STOP_SECONDS + 2
"""The time that a process has to end after SIGTERM: it ends the programs that it has started."""


class Job(NamedTuple):
    """A chunk of a pairing."""

    pairing: Pairing
    chunk: int


class Runner(Protocol):
    """Plays chunks."""

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Tally]]:
        """Play chunks and yield their tallies, in any order. `jobs` is read when a process is free for the next one."""
        ...


class SerialRunner:
    """Plays all chunks in this process, one after the other. A bot that hangs, hangs this process."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Tally]]:
        """See `Runner`."""
        for job in jobs:
            yield job, play_chunk(self._plan, *job)


class Worker:
    """A process that plays chunks. `jobs` are those of which it has not sent the tallies."""

    def __init__(self, plan: Plan) -> None:
        context = multiprocessing.get_context("spawn")
        self.jobs: deque[Job] = deque()
        self.connection, other = context.Pipe()
        self._shared: Any = RawArray("q", [NO_CALL, 0])
        self._process = context.Process(target=_work, args=(plan, other, self._shared), daemon=True)
        self._process.start()
        other.close()
        self._received = 0
        self._seen_call = NO_CALL
        self._call_since = monotonic()

    def assign(self, jobs: Sequence[Job]) -> None:
        """Let it play these chunks. All earlier ones are finished."""
        self.jobs.extend(jobs)
        self._shared[FINISHED_CELL] = self._received = 0
        with suppress(OSError):  # if it has died, the connection is at its end, and `receive` notices
            self.connection.send(jobs)

    def receive(self) -> Iterator[tuple[Job, Tally]]:
        """The chunks that it has sent. Raises OSError or EOFError if it has ended, and its own exceptions."""
        found = self.connection.recv()
        if isinstance(found, Exception):
            raise found
        for tally in found:
            self._received += 1
            yield self.jobs.popleft(), tally

    def is_stalled(self, timeout: float) -> bool:
        """Whether the same call of a bot has lasted for more than `timeout` seconds."""
        call = self._shared[CALL_CELL]
        if call != self._seen_call or call == NO_CALL:
            self._seen_call, self._call_since = call, monotonic()
        return monotonic() - self._call_since > timeout

    @property
    def called_bot(self) -> int | None:
        """The bot that is being called, the first or the second of the pairing; None while none is."""
        call = int(self._shared[CALL_CELL])
        return None if call == NO_CALL else call % 2

    def split_jobs(self) -> tuple[list[Job], Job, list[Job]]:
        """The chunks that are finished but were not sent, the one that is being played, and those after it."""
        jobs, finished = [*self.jobs], self._shared[FINISHED_CELL] - self._received
        return jobs[:finished], jobs[finished], jobs[finished + 1 :]

    def kill(self) -> None:
        """End the process. SIGTERM ends it at once, unless it has to end a program first."""
        self._process.terminate()
        self._process.join(KILL_SECONDS)
        self._process.kill()
        self._process.join()
        self.connection.close()


class ProcessRunner:
    """Plays chunks in processes. A process that dies is replaced, and its chunk repeated, `MAX_DEATHS` times at most.

    A bot that hangs for `move_timeout` seconds forfeits, and its process is replaced. `deaths` counts how often a chunk
    has lost its process. Use it in a `with` statement.
    """

    def __init__(self, plan: Plan, processes: int, move_timeout: float = MOVE_TIMEOUT_SECONDS) -> None:
        self._plan = plan
        self._move_timeout = move_timeout
        self.deaths: dict[Job, int] = {}
        self._processes = processes
        self._workers: list[Worker] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for worker in self._workers:
            worker.kill()

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Tally]]:
        """See `Runner`. Raises ValueError if the plan cannot be played."""
        remaining, again, batch_chunks = iter(jobs), deque[Job](), self._batch_chunks()
        while True:
            while (worker := self._free_worker()) is not None:
                batch = [again.popleft()] if again else [*islice(remaining, batch_chunks)]
                if not batch:
                    break
                worker.assign(batch)
            busy = {worker.connection: worker for worker in self._workers if worker.jobs}
            if not busy:
                return
            ready = wait([*busy], POLL_SECONDS)
            for connection, worker in busy.items():
                if connection in ready:
                    try:
                        yield from worker.receive()
                    except (EOFError, OSError):
                        yield from self._replace(worker, again, None)
                elif worker.is_stalled(self._move_timeout):
                    yield from self._replace(worker, again, f"no move after {self._move_timeout:g} seconds")

    def _batch_chunks(self) -> int:
        """The chunks that a process gets at a time: those of programs take seconds. Raises ValueError."""
        room = find_room(self._plan.room)
        has_programs = any(parse_contestant(room, bot).is_program for bot in self._plan.bots)
        return 1 if has_programs else BATCH_CHUNKS

    def _free_worker(self) -> Worker | None:
        """A process without a chunk, started if necessary; None if all are busy."""
        for worker in self._workers:
            if not worker.jobs:
                return worker
        if len(self._workers) == self._processes:
            return None
        self._workers.append(Worker(self._plan))
        return self._workers[-1]

    def _replace(self, worker: Worker, again: deque[Job], stall: str | None) -> Iterator[tuple[Job, Tally]]:
        """Replace a process that died or hangs. Its chunk is repeated, or a forfeit that is yielded."""
        worker.kill()
        self._workers.remove(worker)
        finished, job, later = worker.split_jobs()
        bot = worker.called_bot
        again.extend(finished)
        self.deaths[job] = self.deaths.get(job, 0) + 1
        if stall is None and self.deaths[job] < MAX_DEATHS:
            again.extend((job, *later))
        elif bot is None:
            raise ChildProcessError(f"the process of chunk {job.chunk} died {MAX_DEATHS} times")
        else:
            again.extend(other for other in later if other.pairing != job.pairing)  # the pairing ends with this chunk
            first_hand = 2 * job.chunk * self._plan.chunk_pairs + 1
            yield job, Tally(0, faults=(Fault(bot, first_hand, stall or "its process died"),), forfeit=bot)


def _work(plan: Plan, connection: Connection, shared: MutableSequence[int]) -> None:
    """The main function of a process. What bots print goes to standard error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all processes of the terminal; the first one decides
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        while True:
            _play_jobs(plan, connection, shared)
    except (EOFError, OSError, KeyboardInterrupt):
        return  # the first process has ended, or ends this one


def _play_jobs(plan: Plan, connection: Connection, shared: MutableSequence[int]) -> None:
    """Receive chunks, play them, and send their tallies, several at a time; or an exception, which ends them."""
    jobs, tallies, sent_at = connection.recv(), [], monotonic()
    for job in jobs:
        try:
            tallies.append(play_chunk(plan, job.pairing, job.chunk, shared))
        except Exception as error:
            connection.send(error)
            return
        shared[FINISHED_CELL] += 1
        if job is jobs[-1] or monotonic() - sent_at > SEND_INTERVAL_SECONDS:
            connection.send(tallies)
            tallies, sent_at = [], monotonic()
