"""What a worker of a cluster runs. It plays chunks in processes beside it, so that a bot cannot stop the worker."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from time import monotonic
from typing import Final, NamedTuple

from msgspec.structs import replace

from croupier.arena.plan import Plan
from croupier.arena.runner import MAX_DEATHS, Job, ProcessRunner
from croupier.arena.tally import Tally
from croupier.core.bot_files import BotFile
from croupier.version import __version__

IDLE_SECONDS: Final = 60.0
"""A process without chunks for this time ends: no client says when its tournament is over."""

type Versions = tuple[tuple[str, str | None], ...]
"""The versions on which results depend, by name; None for what is not installed."""


class Shipment(NamedTuple):
    """What a worker needs to play chunks of a plan: the text of each bot's file, and the client's versions.

    `programs` has those that the commands of bots start, which have to be on every worker.
    """

    plan: Plan
    files: tuple[bytes | None, ...]
    programs: tuple[str, ...]
    versions: Versions


class Played(NamedTuple):
    """The chunks that a worker has played, and how long that took in all."""

    tallies: Sequence[tuple[Job, Tally]]
    seconds: float


class ClusterError(Exception):
    """A cluster cannot play a plan, or not go on with it."""


def versions_for(plan: Plan) -> Versions:
    """The versions in this process. Adjusted results are computed with numpy in some rooms."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    numpy = (("numpy", _installed_version("numpy")),) if plan.adjust else ()
    return (("croupier", __version__), ("Python", python), *numpy)


def difference(ours: Versions, theirs: Versions) -> str | None:
    """The first version that differs, in words; None if none does."""
    found: Mapping[str, str | None] = dict(theirs)
    for name, allowed in ours:
        if found.get(name) != allowed:
            return f"{name} {found.get(name) or '(not installed)'}; allowed: {allowed or 'none'}, as in this process"
    return None


def play_jobs(shipment: Shipment, jobs: Sequence[Job]) -> Played:
    """Play chunks: the task of a worker. Raises ClusterError if this worker cannot."""
    from distributed import get_worker

    try:
        if (problem := difference(shipment.versions, versions_for(shipment.plan))) is not None:
            raise ClusterError(f"found {problem}")
        check_programs(shipment.programs)
        started = monotonic()
        return Played(_play_beside(shipment, jobs), monotonic() - started)
    except (ClusterError, OSError, ValueError, ImportError) as error:
        raise ClusterError(f"the worker {get_worker().address} cannot play: {error}") from None


def check_programs(programs: Sequence[str]) -> None:
    """Raise ClusterError if a program is not on this machine: its bot is not to forfeit for that."""
    for program in programs:
        if shutil.which(program) is None:
            raise ClusterError(f"found no program {program!r} in {Path.cwd()} or PATH; allowed: one on every worker")


class ChunkProcess:
    """A process that plays chunks of a shipment, as `ProcessRunner` does."""

    def __init__(self, shipment: Shipment) -> None:
        self._connection, other = Pipe()
        code = f"from croupier.arena.cluster_worker import serve_chunks; serve_chunks({other.fileno()})"
        with other:
            self._process = subprocess.Popen(  # noqa: S603 -- our own interpreter
                [sys.executable, "-c", code], stdin=subprocess.DEVNULL, pass_fds=[other.fileno()]
            )
        self._connection.send(shipment)

    def play(self, jobs: Sequence[Job]) -> Sequence[tuple[Job, Tally]]:
        """Play chunks. Raises EOFError or OSError if the process has ended, and the exceptions of `ProcessRunner`."""
        self._connection.send(jobs)
        found: Sequence[tuple[Job, Tally]] | Exception = self._connection.recv()
        if isinstance(found, Exception):
            raise found
        return found

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended."""
        return self._process.poll() is not None

    def end(self) -> None:
        """Kill the process."""
        self._connection.close()
        self._process.kill()
        self._process.wait()


_idle: dict[Shipment, list[ChunkProcess]] = {}
"""The processes without chunks. Each thread of a worker takes one, and puts it back."""

_idle_lock: Final = Lock()


def _play_beside(shipment: Shipment, jobs: Sequence[Job]) -> Sequence[tuple[Job, Tally]]:
    """Play chunks in a process beside this one. If it dies, by itself or by the system, another one plays them."""
    for _ in range(MAX_DEATHS):
        process = _take(shipment)
        try:
            tallies = process.play(jobs)
        except (EOFError, ConnectionError):
            process.end()
        except BaseException:
            process.end()
            raise
        else:
            with _idle_lock:
                _idle.setdefault(shipment, []).append(process)
            return tallies
    raise ClusterError(f"the process beside it died {MAX_DEATHS} times")


def _take(shipment: Shipment) -> ChunkProcess:
    """A process that has no chunks, started if necessary. Those that have ended are removed."""
    with _idle_lock:
        for key, processes in [*_idle.items()]:
            processes[:] = [process for process in processes if not process.has_ended]
            if not processes:
                del _idle[key]
        if shipment in _idle:
            return _idle[shipment].pop()
    return ChunkProcess(shipment)


def serve_chunks(descriptor: int) -> None:
    """The main function of a `ChunkProcess`. `descriptor` is its connection to the worker, with which it ends.

    What bots print goes to standard error.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all processes of the terminal; the worker decides
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with Connection(descriptor) as connection, TemporaryDirectory() as folder, suppress(EOFError, OSError):
        plan = unpack(connection.recv(), Path(folder))
        with ProcessRunner(plan, 1) as runner:
            while connection.poll(IDLE_SECONDS):
                jobs = connection.recv()
                try:
                    tallies = [*runner.run(jobs)]
                except Exception as error:
                    connection.send(error)
                    return
                connection.send(tallies)


def unpack(shipment: Shipment, folder: Path) -> Plan:
    """The plan, with the files of the bots in folders of their own in `folder`."""
    bots = []
    for index, (text, content) in enumerate(zip(shipment.plan.bots, shipment.files, strict=True)):
        file = BotFile.parse(text)
        if content is None or file is None:
            bots.append(text)
            continue
        path = folder / str(index) / file.path.name
        path.parent.mkdir()
        path.write_bytes(content)
        bots.append(str(file._replace(path=path)))
    return replace(shipment.plan, bots=tuple(bots))


def _installed_version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
