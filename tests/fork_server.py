"""Starts `croupier` commands quickly: a process that has imported everything forks for each command.

`fork_croupier` gives the arguments, the environment and three descriptors to that process, which is started on first
use and serves all workers of pytest-xdist. Each command is a process of its own: it has its own standard streams,
receives signals, and ends with an exit status. Only the start of the interpreter and the imports are missing.

    python -m tests.fork_server        standard input is the socket that workers connect to
"""

import atexit
import fcntl
import gc
import io
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Self, TextIO

from cyclopts import App, ArgumentCollection

LENGTH_BYTES = 4
MAX_DESCRIPTOR = 4096
RUN_ON_IMPORT = "croupier.__main__"
IMPORTED_ON_FIRST_USE = ("choix", "highspy", "platformdirs.unix", "prompt_toolkit", "scipy.special", "uvloop")
WARM_UP = (("serve", "kuhn", "--help"), ("play", "holdem", "--help"), ("check", "--nonsense"))
"""Commands without effect: what the first one imports and caches, all forked processes have."""


class ForkedProcess:
    """A running command, with the part of the interface of `subprocess.Popen` that the tests use."""

    def __init__(self, pid: int, status: int, arguments: Sequence[str]) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._status = status
        self._arguments = arguments

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.wait()

    def poll(self) -> int | None:
        """The exit status, or None while the process runs."""
        return self._read_status(0.0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the exit status. Raises subprocess.TimeoutExpired after `timeout` seconds."""
        end = None if timeout is None else time.monotonic() + timeout
        while (found := self._read_status(None if end is None else max(0.0, end - time.monotonic()))) is None:
            if end is not None and end <= time.monotonic():
                raise subprocess.TimeoutExpired([*self._arguments], timeout or 0.0)
        return found

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it has ended, and its parent, the server, has just noticed
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _read_status(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self._status], [], [], timeout)[0]:
            line = os.read(self._status, 64)
            os.close(self._status)
            assert line, f"the fork server ended before {self._arguments}"
            self.returncode = int(line)
        return self.returncode


class ForkServer:
    """A connection to the process that forks; the first worker starts that process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket = socket.socket(socket.AF_UNIX)
        self._process: subprocess.Popen[bytes] | None = None
        run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
        path = Path(tempfile.gettempdir()) / f"croupier-{run}"
        with path.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            try:
                self._socket.connect(str(path))
            except (FileNotFoundError, ConnectionRefusedError):
                self._process = start_process(path)
                self._socket.connect(str(path))
        atexit.register(self._close)

    def _close(self) -> None:
        self._socket.close()  # the process ends when all connections have ended
        if self._process is not None:
            self._process.wait()

    def start(
        self,
        arguments: Sequence[str],
        streams: tuple[int, int, int],
        environment: Mapping[str, str],
        cwd: Path | None,
        *,
        new_session: bool,
    ) -> ForkedProcess:
        """Start a command with these descriptors as standard input, output and error."""
        status, far = os.pipe()
        try:
            request = json.dumps([[*arguments], {**environment}, str(cwd or Path.cwd()), new_session]).encode()
            with self._lock:
                socket.send_fds(self._socket, [len(request).to_bytes(LENGTH_BYTES)], [*streams, far])
                self._socket.sendall(request)
        finally:
            os.close(far)
        pid = b""
        while not pid.endswith(b"\n"):
            data = os.read(status, 1)
            assert data, "the fork server has ended"
            pid += data
        return ForkedProcess(int(pid), status, arguments)


def start_process(path: Path) -> subprocess.Popen[bytes]:
    """Start the process that forks, with a socket at this path."""
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        command = [sys.executable, "-m", "tests.fork_server"]
        return subprocess.Popen(command, stdin=listener, cwd=Path(__file__).parent.parent)


@cache
def fork_server() -> ForkServer:
    return ForkServer()


def fork_croupier(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    streams: tuple[int | None, int, int],
    cwd: Path | None = None,
    *,
    new_session: bool = False,
) -> ForkedProcess:
    """Start `croupier ARGUMENTS` in a forked process, with these descriptors; None as standard input is empty input."""
    stdin, stdout, stderr = streams
    with Path(os.devnull).open("rb") as empty:
        found = (empty.fileno() if stdin is None else stdin, stdout, stderr)
        return fork_server().start(arguments, found, environment, cwd, new_session=new_session)


@contextmanager
def tolerate_missing_extras() -> Iterator[None]:
    """Go on without a library of `requirements/interop.txt`, which `make test` does not install."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("croupier"):
            raise


def import_everything() -> None:
    """Import all modules of croupier and what they import on first use, and load the tables of hold'em."""
    import croupier

    for module in pkgutil.walk_packages(croupier.__path__, "croupier."):
        if module.name != RUN_ON_IMPORT:
            with tolerate_missing_extras():
                import_module(module.name)
    for name in IMPORTED_ON_FIRST_USE:
        import_module(name)
    import_module("croupier.rooms.holdem.engine.ranks").load_tables()


def command_words(app: App, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words of each command of an app, and of its subcommands."""
    for name in app:
        if not name.startswith("-"):
            command = app[name]
            if command.default_command is not None:
                yield (*words, name)
            yield from command_words(command, (*words, name))


def warm_up() -> None:
    """Run some commands without effect, and each one with an option that it has not, and print to nowhere."""
    arguments = sys.argv
    app = import_module("croupier.cli").app
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        for words in (*WARM_UP, *[(*words, "--nonsense") for words in command_words(app)]):
            sys.argv = ["croupier", *words]
            run_croupier()
    sys.argv = arguments


class PreparedArguments:
    """What commands can be called with, assembled in this process: that takes a quarter of the time of a short command.

    A command notes in its arguments what it has been called with, so what is prepared is used only once, after a fork.
    """

    def __init__(self) -> None:
        self._assemble = App.assemble_argument_collection
        self._prepared: dict[tuple[object, ...], ArgumentCollection] = {}

    def prepare(self) -> None:
        """Prepare the arguments of the commands that are run from now on."""

        def assemble(app: App, **options: Any) -> ArgumentCollection:
            self._prepared[self._key(app, options)] = self._assemble(app, **options)
            return self._assemble(app, **options)

        App.assemble_argument_collection = assemble  # type: ignore[assignment, method-assign]

    def use(self) -> None:
        """Use what is prepared from now on."""

        def take(app: App, **options: Any) -> ArgumentCollection:
            return self._prepared.pop(self._key(app, options), None) or self._assemble(app, **options)

        App.assemble_argument_collection = take  # type: ignore[assignment, method-assign]

    @staticmethod
    def _key(app: App, options: Mapping[str, Any]) -> tuple[object, ...]:
        return id(app), repr(app.app_stack.default_parameter), repr(options)


def open_stream(descriptor: int, mode: str, encoding: str, errors: str) -> TextIO:
    """Open a standard stream as the interpreter does."""
    raw = os.isatty(descriptor)
    stream = open(descriptor, f"{mode}b", closefd=False)  # noqa: SIM115 -- the stream of a process
    return io.TextIOWrapper(stream, encoding, errors, line_buffering=raw or descriptor == 2)


def become(arguments: Sequence[str], environment: Mapping[str, str], cwd: str, streams: Sequence[int]) -> None:
    """Turn this process, just forked, into one that was started with these arguments, environment and streams."""
    for target, descriptor in enumerate(streams):
        os.dup2(descriptor, target)
    os.closerange(3, MAX_DESCRIPTOR)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    encoding, _, errors = environment.get("PYTHONIOENCODING", "").partition(":")
    sys.stdin = open_stream(0, "r", encoding or "utf-8", errors or "strict")
    sys.stdout = open_stream(1, "w", encoding or "utf-8", errors or "strict")
    sys.stderr = open_stream(2, "w", encoding or "utf-8", "backslashreplace")
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr  # type: ignore[misc]
    sys.argv = ["croupier", *arguments]


def receive(client: socket.socket, length: int) -> bytes:
    found = b""
    while len(found) < length:
        data = client.recv(length - len(found))
        assert data, "a worker ended in the middle of a request"
        found += data
    return found


class Workers:
    """The connections of the workers of pytest-xdist."""

    def __init__(self, listener: socket.socket) -> None:
        self.listener = listener
        self.sockets: list[socket.socket] = []

    def read_request(self, ready: Collection[object]) -> tuple[list[Any], list[int]] | None:
        """Read a request and its descriptors, if one has arrived. Ends this process when all workers have ended."""
        if self.listener in ready:
            self.sockets.append(self.listener.accept()[0])
        for client in [each for each in self.sockets if each in ready]:
            length, descriptors, _, _ = socket.recv_fds(client, LENGTH_BYTES, 4)
            if length:
                return json.loads(receive(client, int.from_bytes(length))), descriptors
            client.close()
            self.sockets.remove(client)
            if not self.sockets:
                remove_socket(self.listener)
                sys.exit(0)
        return None


def remove_socket(listener: socket.socket) -> None:
    path = Path(listener.getsockname())
    path.unlink(missing_ok=True)
    path.with_suffix(".lock").unlink(missing_ok=True)


def next_request(workers: Workers, statuses: dict[int, int]) -> tuple[list[Any], list[int]]:
    """Wait for a request and its descriptors; meanwhile report the exit statuses of processes that end."""
    wake, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(woken)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    try:
        while True:
            report_ends(statuses)
            ready, _, _ = select.select([workers.listener, *workers.sockets, wake], [], [])
            if wake in ready:
                os.read(wake, 512)
            request = workers.read_request(ready)
            if request is not None:
                return request
    finally:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.close(wake)
        os.close(woken)


def report_ends(statuses: dict[int, int]) -> None:
    """Write the exit status of each process that has ended to its pipe."""
    while statuses:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        descriptor = statuses.pop(pid)
        with suppress(BrokenPipeError):  # the worker has ended
            os.write(descriptor, b"%d\n" % os.waitstatus_to_exitcode(status))
        os.close(descriptor)


def serve() -> None:
    """Fork for every request. Returns in the forked process only."""
    workers = Workers(socket.socket(fileno=os.dup(0)))
    statuses: dict[int, int] = {}
    while True:
        (arguments, environment, cwd, new_session), descriptors = next_request(workers, statuses)
        *streams, status = descriptors
        pid = os.fork()
        if pid == 0:
            if new_session:
                os.setsid()
            become(arguments, environment, cwd, streams)
            return
        for descriptor in streams:
            os.close(descriptor)
        statuses[pid] = status
        os.write(status, b"%d\n" % pid)


def run_croupier() -> int:
    """Run the command of `sys.argv`, and return the exit status that the interpreter would have."""
    try:
        runpy.run_module("croupier", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        sys.stderr.write(f"{end.code}\n")
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def main() -> None:
    import_everything()
    arguments = PreparedArguments()
    arguments.prepare()
    warm_up()
    arguments.use()
    import_module("tests.quick_hashes").hash_quickly()
    gc.collect()
    gc.freeze()  # a collection in a forked process does not touch, and so copy, the memory of the modules
    serve()
    status = run_croupier()
    for thread in threading.enumerate():
        if thread is not threading.main_thread() and not thread.daemon:
            thread.join()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # a normal exit would take apart, and so copy, the memory of all modules: 70 ms


if __name__ == "__main__":
    main()
