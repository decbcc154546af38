"""Plays the chunks of a plan on the workers of a Dask cluster."""

import asyncio
import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, Self

from croupier.arena.cluster_worker import ClusterError, Played, Shipment, Versions, difference, play_jobs, versions_for
from croupier.arena.plan import Plan, source_digest
from croupier.arena.runner import Job
from croupier.arena.tally import Tally
from croupier.clients.contestants import parse_contestant
from croupier.core.bot_files import BotFile
from croupier.net.addresses import parse_address
from croupier.net.stop_signals import interrupted_once
from croupier.rooms import find_room

if TYPE_CHECKING:
    from distributed import Client, Future

ADDRESS_PATTERN: Final = re.compile(r"((?:tcp|tls)://)?([^/]+)")

CONNECT_TIMEOUT_SECONDS: Final = 5.0
"""The time to reach the scheduler, also again after a lost connection."""

ANSWER_TIMEOUT_SECONDS: Final = 10.0
"""The time that the scheduler has for an answer."""

WORKER_TIMEOUT_SECONDS: Final = 60.0
"""The time that a cluster may be without workers."""

POLL_SECONDS: Final = 1.0
"""The time between two looks at the scheduler and its workers."""

BATCHES_PER_THREAD: Final = 2
"""A thread of a worker has one batch of chunks to play, and one to go on with."""

BATCH_SECONDS: Final = 0.5
MAX_BATCH_CHUNKS: Final = 100
"""A batch has as many chunks as a worker plays in this time, and this many at most."""


class ClusterRunner:
    """Plays chunks on the workers of the Dask cluster whose scheduler has this address. See `Runner`.

    A chunk whose worker died is played by another one. After `worker_timeout` seconds without any worker, the cluster
    is given up. Use it in a `with` statement; its end cancels the chunks that are not finished.

    Commands run on the workers, and addresses are reached from them. Raises ValueError for an invalid address, and a
    bot's file that has changed since the plan was made; ClusterError if there is no such cluster, or it has other
    versions.
    """

    def __init__(self, plan: Plan, address: str, worker_timeout: float = WORKER_TIMEOUT_SECONDS) -> None:
        self._shipment = ship(plan)
        self._address = check_address(address)
        self._worker_timeout = worker_timeout
        self._fastest = BATCH_SECONDS
        self._threads = 0
        self._seen_workers = self._looked = monotonic()
        self._interrupted = Event()
        self._ending = ExitStack()
        self._client = self._connect()
        try:
            self._check_versions()
            self._look()
        except BaseException:
            self._client.close(CONNECT_TIMEOUT_SECONDS)
            raise

    def __enter__(self) -> Self:
        self._ending.enter_context(interrupted_once(self._interrupted.set))
        return self

    def __exit__(self, *error: object) -> None:
        with self._ending:
            self._client.close(CONNECT_TIMEOUT_SECONDS)  # the scheduler drops what no client waits for

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Tally]]:
        """See `Runner`. Raises ClusterError if the cluster cannot go on, and KeyboardInterrupt after Ctrl-C.

        Ctrl-C is noted, and raised here: Dask's finalizers, which run at any moment, would swallow the exception.
        """
        remaining = iter(jobs)
        pending: set[Future] = set()
        while True:
            while len(pending) < max(1, BATCHES_PER_THREAD * self._threads):
                batch = [*islice(remaining, self._batch_chunks)]
                if not batch:
                    break
                pending.add(self._submit(batch))
            if not pending:
                return
            for future in self._finished(pending):
                played = self._result(future)
                if played is not None:
                    pending.remove(future)
                    self._fastest = min(self._fastest, played.seconds / max(1, len(played.tallies)))
                    yield from played.tallies
            if self._interrupted.is_set():
                raise KeyboardInterrupt
            if monotonic() - self._looked > POLL_SECONDS:
                self._look()

    @property
    def _batch_chunks(self) -> int:
        return max(1, min(MAX_BATCH_CHUNKS, int(BATCH_SECONDS / max(self._fastest, 1e-6))))

    def _connect(self) -> "Client":
        from distributed import Client

        # Dask's loggers with handlers: our errors say the same, or Dask was interrupted.
        for name in ("distributed", "distributed.client", "tornado.application"):
            logging.getLogger(name).handlers[:] = [logging.NullHandler()]
        try:
            found = asyncio.run(_identify(self._address))
            if found == "Scheduler":
                return Client(self._address, timeout=CONNECT_TIMEOUT_SECONDS)
            problem = f"found a {found}"
        except TimeoutError:
            problem = f"no answer after {CONNECT_TIMEOUT_SECONDS:g} seconds"
        except (OSError, TypeError) as error:  # a TypeError if TLS is not configured
            problem = _describe(error)
        except Exception as error:
            problem = f"what answers there is not Dask ({type(error).__name__})"
        raise ClusterError(f"cannot reach a Dask scheduler at {self._address}: {problem}")

    def _ask(self, question: Any, **arguments: Any) -> Any:
        """The answer to a method of the client. Raises ClusterError if there is none in time."""
        try:
            return self._client.sync(question, callback_timeout=ANSWER_TIMEOUT_SECONDS, **arguments)
        except Exception as error:
            raise self._lost(error) from None

    def _lost(self, error: BaseException) -> ClusterError:
        is_silent = isinstance(error, TimeoutError)
        reason = f"no answer after {ANSWER_TIMEOUT_SECONDS:g} seconds" if is_silent else "the connection was lost"
        return ClusterError(f"the scheduler at {self._address} is gone: {reason}")

    def _check_versions(self) -> None:
        """Raise ClusterError if the scheduler or a worker has other versions. Workers that come later check it too."""
        found = self._ask(self._client.get_versions, packages=["croupier"])
        ours = self._shipment.versions
        places = {f"the scheduler at {self._address}": found["scheduler"]}
        places |= {f"the worker {address}": versions for address, versions in found["workers"].items()}
        for place, versions in places.items():
            if (problem := difference(ours, _versions_in(versions["packages"]))) is not None:
                raise ClusterError(f"{place} has {problem}")

    def _look(self) -> None:
        """Count the threads of the workers. Raises ClusterError after a time without any."""
        self._threads = sum(self._ask(self._client.nthreads).values())
        self._looked = monotonic()
        if self._threads:
            self._seen_workers = self._looked
        elif self._looked - self._seen_workers > self._worker_timeout:
            raise ClusterError(f"the scheduler at {self._address} has no workers; start some with: dask worker ADDRESS")

    def _submit(self, batch: Sequence[Job]) -> "Future":
        try:
            return self._client.submit(play_jobs, self._shipment, batch, pure=False)
        except Exception as error:
            raise self._lost(error) from None

    def _finished(self, pending: "set[Future]") -> "Sequence[Future]":
        """The batches that are finished, after POLL_SECONDS at most."""
        from distributed import CancelledError, wait

        try:
            return [*wait([*pending], timeout=POLL_SECONDS, return_when="FIRST_COMPLETED").done]
        except TimeoutError:
            return []
        except CancelledError as error:
            raise self._lost(error) from None

    def _result(self, future: "Future") -> Played | None:
        """What was played; None if its worker died before it was fetched, so that another one plays it again."""
        from distributed import CancelledError, KilledWorker

        try:
            played: Played = future.result(timeout=ANSWER_TIMEOUT_SECONDS)
        except TimeoutError:
            return None
        except ClusterError:
            raise
        except (CancelledError, OSError) as error:
            raise self._lost(error) from None
        except KilledWorker as error:
            raise ClusterError(f"several workers died while they played the same chunks: {_describe(error)}") from None
        except Exception as error:
            raise ClusterError(f"the cluster cannot play: {_describe(error)}") from error
        return played


async def _identify(address: str) -> str:
    """What answers at an address, such as `Scheduler`. A `Client` waits forever if nothing does."""
    from distributed import Security, rpc

    options = Security().get_connection_args("client")
    async with asyncio.timeout(CONNECT_TIMEOUT_SECONDS), rpc(address, connection_args=options) as peer:
        return str((await peer.identity())["type"])


def ship(plan: Plan) -> Shipment:
    """What workers need to play a plan. Raises ValueError for a file that changed."""
    room = find_room(plan.room)
    files: list[bytes | None] = []
    programs: list[str] = []
    for index, text in enumerate(plan.bots):
        contestant = parse_contestant(room, text)
        file = BotFile.parse(contestant.bot_name) if contestant.kind == "file" else None
        content = None if file is None else file.path.read_bytes()
        if plan.sources and source_digest(contestant) != plan.sources[index]:
            raise ValueError(f"found another version of the file of {text!r} than in the plan; start again")
        files.append(content)
        if contestant.kind == "command":
            programs.append(contestant.program)
    return Shipment(plan, tuple(files), tuple(programs), versions_for(plan))


def check_address(text: str) -> str:
    """The address of a scheduler with its scheme; `tcp://` if it has none. Raises ValueError if it is invalid."""
    found = ADDRESS_PATTERN.fullmatch(text)
    if found is None or parse_address(found[2])[1] is None:
        raise ValueError(f"found the cluster {text!r}; allowed: HOST:PORT, tcp://HOST:PORT, tls://HOST:PORT")
    return f"{found[1] or 'tcp://'}{found[2]}"


def _versions_in(packages: dict[str, str | None]) -> Versions:
    """The versions that Dask reports of a process."""
    python = ".".join((packages.get("python") or "").split(".")[:2])
    return (("croupier", packages.get("croupier")), ("Python", python), ("numpy", packages.get("numpy")))


def _describe(error: BaseException) -> str:
    """The first line of an exception."""
    lines = str(error).splitlines()
    return lines[0] if lines else type(error).__name__
