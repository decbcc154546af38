"""Starts programs through the launcher, and asks it for a sandbox."""

import asyncio
import atexit
import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import Final, NamedTuple, Self

from croupier.conformance.containment.launch_spec import (
    CONTROL_PIPE,
    EXITED,
    FAILED,
    HOME_FOLDER,
    KILL,
    LIMIT,
    PIPE_NAMES,
    STARTED,
    STATUS_PIPE,
    STDERR_PIPE,
    STDOUT_PIPE,
    TEMPORARY_FOLDER,
    TERMINATE,
    LaunchSpec,
    SandboxKind,
)
from croupier.conformance.containment.launcher import launcher_command
from croupier.conformance.containment.policy import Containment, program_environment
from croupier.conformance.containment.workspace import remove_tree

MAX_START_SECONDS: Final = 60.0
LAUNCHER_POLL_SECONDS: Final = 0.5
"""How long a program may take to start, and how often the launcher is looked at meanwhile."""

SUPERVISOR_LOST: Final = "has lost its supervisor"
"""The program can end its supervisor if it is not in a sandbox."""


class LaunchError(Exception):
    """The launcher could not start a program; the text is the reason."""


class Launcher:
    """The launcher process of this process: started on first use, and again if it has ended."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._lock = Lock()
        atexit.register(self.close)

    def send(self, spec: LaunchSpec) -> subprocess.Popen[bytes]:
        """Ask it to start a program; return the launcher's process. Raises OSError if there can be no launcher."""
        line = f"{spec.to_json()}\n".encode()
        with self._lock:
            try:
                return self._write(line)
            except BrokenPipeError:
                self._end()
                return self._write(line)

    def _write(self, line: bytes) -> subprocess.Popen[bytes]:
        if self._process is None or self._owner != os.getpid():  # a forked process has a launcher of its own
            self._process = subprocess.Popen(  # noqa: S603 -- our own interpreter
                launcher_command(),
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                bufsize=0,
                cwd="/",
                start_new_session=True,  # Ctrl-C reaches the tester, which stops the programs in order
            )
            self._owner = os.getpid()
        assert self._process.stdin is not None, "it is a pipe"
        while line:
            line = line[self._process.stdin.write(line) :]
        return self._process

    def _end(self) -> None:
        """Close the input of the launcher, which ends it, and wait for it."""
        if self._process is not None and self._owner == os.getpid():
            assert self._process.stdin is not None, "it is a pipe"
            self._process.stdin.close()
            self._process.wait()
        self._process = None

    def close(self) -> None:
        """End it."""
        with self._lock:
            self._end()


LAUNCHER: Final = Launcher()


class PipeReader(asyncio.Protocol):
    """Passes on the data of a pipe, and its end."""

    def __init__(self, on_data: Callable[[bytes], object], on_end: Callable[[], object]) -> None:
        self._on_data = on_data
        self._on_end = on_end

    def data_received(self, data: bytes) -> None:
        """Data has arrived."""
        self._on_data(data)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 -- a pipe has one kind of end
        """The last writer of the pipe is gone."""
        self._on_end()


class Callbacks(NamedTuple):
    """What to call with the standard output and the standard error of a program."""

    stdout: Callable[[bytes], object]
    stderr: Callable[[bytes], object]


class LaunchedProgram:
    """A program that the launcher has started, with all of its processes.

    `exited` is set when the program has ended, `output_ended` when nothing writes to its output any more, and `ended`
    when none of its processes is left. `exit_status` is −signal if a signal ended it; `exceeded` is the limit that it
    has exceeded, the predicate of a sentence, or "".
    """

    def __init__(self, folder: Path, callbacks: Callbacks) -> None:
        self.pid = 0
        self.exit_status: int | None = None
        self.exceeded = ""
        self.exited = asyncio.Event()
        self.output_ended = asyncio.Event()
        self.ended = asyncio.Event()
        self._folder = folder
        self._callbacks = callbacks
        self._started: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._status = b""
        self._control = -1
        self._open_outputs = 2
        self._transports: list[asyncio.BaseTransport] = []

    @classmethod
    async def start(
        cls,
        words: Sequence[str],
        cwd: Path,
        containment: Containment,
        callbacks: Callbacks,
        sandbox: SandboxKind | None = None,
    ) -> Self:
        """Start a program in a folder, by default in the sandbox that its containment demands. Raises LaunchError."""
        if sandbox is None:
            sandbox = (await find_sandbox()).kind if containment.is_sandboxed else "none"
        folder = Path(tempfile.mkdtemp(prefix="croupier-")).resolve()
        program = cls(folder, callbacks)
        try:
            home, temporary = folder / HOME_FOLDER, folder / TEMPORARY_FOLDER
            home.mkdir()
            temporary.mkdir()
            await program._open_pipes()
            spec = LaunchSpec(
                folder=str(folder),
                words=[*words],
                environment=program_environment(containment.variables, home, temporary),
                cwd=str(cwd.resolve()),
                limits=containment.limits,
                sandbox=sandbox,
                hidden_folders=[str(path.resolve()) for path in containment.hidden_folders],
            )
            await program._wait_started(LAUNCHER.send(spec))
        except BaseException as error:
            await program.close()
            if isinstance(error, OSError):
                raise LaunchError(error.strerror) from error
            raise
        return program

    async def _wait_started(self, launcher: subprocess.Popen[bytes]) -> None:
        """Wait until the program has started. Raises LaunchError, also if the launcher ends or too much time passes."""
        loop = asyncio.get_running_loop()
        waits_until = loop.time() + MAX_START_SECONDS
        while not self._started.done():
            await asyncio.wait([self._started], timeout=LAUNCHER_POLL_SECONDS)
            if launcher.poll() is not None:
                self._set_started(LaunchError("its launcher has ended"))
            elif loop.time() > waits_until:
                self._set_started(LaunchError(f"it has not started within {MAX_START_SECONDS:g} seconds"))
        await self._started

    async def _open_pipes(self) -> None:
        """Create the named pipes and read them."""
        for name in PIPE_NAMES:
            os.mkfifo(self._folder / name, 0o600)
        self._control = os.open(self._folder / CONTROL_PIPE, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        readers = {
            STDOUT_PIPE: (self._callbacks.stdout, self._output_ended),
            STDERR_PIPE: (self._callbacks.stderr, self._output_ended),
            STATUS_PIPE: (self._receive_status, self._has_ended),
        }
        loop = asyncio.get_running_loop()
        for name, callbacks in readers.items():
            descriptor = os.open(self._folder / name, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            transport, _ = await loop.connect_read_pipe(
                lambda callbacks=callbacks: PipeReader(*callbacks),  # type: ignore[misc]
                os.fdopen(descriptor, "rb", buffering=0),
            )
            self._transports.append(transport)

    def _output_ended(self) -> None:
        self._open_outputs -= 1
        if not self._open_outputs:
            self.output_ended.set()

    def _receive_status(self, data: bytes) -> None:
        *lines, self._status = (self._status + data).split(b"\n")
        for line in lines:
            word, _, text = line.decode(errors="backslashreplace").partition(" ")
            if word == STARTED:
                self.pid = int(text)
                self._set_started(None)
            elif word == FAILED:
                self._set_started(LaunchError(text))
            elif word == LIMIT:
                self.exceeded = text
            elif word == EXITED:
                self._set_exited(int(text))

    def _set_started(self, error: LaunchError | None) -> None:
        if self._started.done():
            return
        if error is None:
            self._started.set_result(None)
        else:
            self._started.set_exception(error)
            self._started.exception()  # after a cancellation nobody waits for it, and asyncio would complain

    def _has_ended(self) -> None:
        """The supervisor has ended, with all processes of the program."""
        self._set_started(LaunchError("its supervisor has failed"))
        if self.exit_status is None:
            self.exceeded = self.exceeded or SUPERVISOR_LOST
            self._set_exited(-signal.SIGKILL)
        self.ended.set()

    def _set_exited(self, status: int) -> None:
        self.exit_status = status
        self.exited.set()

    def terminate(self) -> None:
        """Send SIGTERM to all processes of the program."""
        self._command(TERMINATE)

    def kill(self) -> None:
        """Kill all processes of the program."""
        self._command(KILL)

    def _command(self, command: bytes) -> None:
        if self._control >= 0:
            os.write(self._control, command)

    async def close(self) -> None:
        """Close the pipes, which kills what is left, and remove the program's folders."""
        if self._control < 0:
            return
        os.close(self._control)
        self._control = -1
        for transport in self._transports:
            transport.close()
        try:
            for name in (HOME_FOLDER, TEMPORARY_FOLDER):
                (self._folder / name).rmdir()
            self._folder.rmdir()
        except OSError:
            await asyncio.to_thread(remove_tree, self._folder)


class Sandbox(NamedTuple):
    """The sandbox that this machine has, and why it has no better one ("" if it has the best one)."""

    kind: SandboxKind
    reason: str


_found: list[Sandbox] = []


async def find_sandbox() -> Sandbox:
    """Find out which sandbox this machine has, by building one, once for this process.

    Namespaces that the launcher itself makes come first: a program starts 15 ms faster in them than with bubblewrap.
    """
    if not _found:
        _found.append(await _try_sandboxes())
    return _found[0]


async def _try_sandboxes() -> Sandbox:
    reasons = []
    kinds: Sequence[SandboxKind] = ("namespaces", "bubblewrap")
    for kind in kinds:
        ignored = Callbacks(bytes, bytes)
        try:
            program = await LaunchedProgram.start([], Path("/"), Containment(), ignored, kind)
        except LaunchError as error:
            reasons.append(f"{kind}: {error}")
        else:
            await program.close()
            return Sandbox(kind, "; ".join(reasons))
    return Sandbox("none", "; ".join(reasons))
