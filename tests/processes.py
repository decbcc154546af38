"""Runs `croupier` commands as separate processes, which are forked by a process that has imported everything."""

import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Self

from croupier.rooms import ROOMS
from tests.fork_server import ForkedProcess, fork_croupier

type Process = ForkedProcess | subprocess.Popen[bytes]

PATIENCE = 180.0
"""Seconds after which a wait fails the test; a busy machine is slow."""
MAX_OUTPUT_BYTES = 1 << 26
READY = re.compile(r"(\w+) (?:is open )?at (?:https?://)?\[?([\w.:]+?)\]?:(\d+)(/metrics)?( \(TLS\))?$")
COMMAND = (sys.executable, "-m", "croupier")
FREE_PORTS = {f"CROUPIER_SERVE_{room.upper()}_PORT": "0" for room in ROOMS}
"""Variables with which `croupier serve` opens all rooms on free ports."""
ROOT = Path(__file__).parent.parent


def environment(variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment without variables of make and with only these CROUPIER_ variables."""
    removed = ("CROUPIER_", "MAKE", "MFLAGS", "ARGS")
    return {name: value for name, value in os.environ.items() if not name.startswith(removed)} | {**(variables or {})}


class Background:
    """A `croupier` command that runs while the context is open. It is killed at the end.

    Its input is a pipe that contains `keys`, or empty.
    """

    def __init__(
        self,
        *arguments: object,
        variables: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        keys: str | None = None,
    ) -> None:
        self._words = [*map(str, arguments)]
        self._environment = environment(variables)
        self._cwd = cwd
        self._keys = keys

    def __enter__(self) -> Self:
        self._output = tempfile.TemporaryFile()
        self._errors = tempfile.TemporaryFile()
        typed = None if self._keys is None else filled_pipe(self._keys)
        try:
            streams = (typed, self._output.fileno(), self._errors.fileno())
            self._process = fork_croupier(self._words, self._environment, streams, self._cwd)
        finally:
            if typed is not None:
                os.close(typed)
        return self

    def __exit__(self, *error: object) -> None:
        self._process.kill()
        self._process.wait()
        self._output.close()
        self._errors.close()

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def end(self, timeout: float = PATIENCE) -> subprocess.CompletedProcess[str]:
        """Wait for the end of the command. Raises subprocess.TimeoutExpired after `timeout` seconds."""
        status = self._process.wait(timeout)
        return subprocess.CompletedProcess(self._words, status, whole(self._output), whole(self._errors))


def croupier(
    *arguments: object,
    variables: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    timeout: float = PATIENCE,
    keys: str | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a `croupier` command to its end."""
    with Background(*arguments, variables=variables, cwd=cwd, keys=keys) as process:
        return process.end(timeout)


def is_running(pid: int) -> bool:
    """Whether a process runs; one that has ended and that its parent has not asked for yet does not."""
    try:
        os.kill(pid, 0)
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return not Path("/proc/self").exists()


def filled_pipe(text: str) -> int:
    """The end of a pipe from which a text can be read, and then nothing more."""
    reading, writing = os.pipe()
    os.write(writing, text.encode())
    os.close(writing)
    return reading


def whole(file: IO[bytes]) -> str:
    """The whole text of a file that another process has written."""
    return os.pread(file.fileno(), MAX_OUTPUT_BYTES, 0).decode()


class Serving:
    """A running `croupier serve …`. `ports` has the ports of the rooms and of `metrics`.

    It starts with an empty data folder, unless `variables` set another one. A `command` that begins with COMMAND is
    started by the fork server.
    """

    def __init__(
        self,
        *arguments: object,
        ready: int = 1,
        variables: Mapping[str, str] | None = None,
        command: Sequence[str] = (*COMMAND, "serve"),
        cwd: Path | None = None,
    ) -> None:
        self.lines: list[str] = []
        self.ports: dict[str, int] = {}
        self.host = ""
        self._arguments = [*command, *map(str, arguments)]
        self._cwd = cwd
        self._ready = ready
        self._data = tempfile.TemporaryDirectory()
        self._environment = environment({"XDG_DATA_HOME": self._data.name, **(variables or {})})
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 -- closed in __exit__
        self._sockets: list[socket.socket] = []

    def __enter__(self) -> Self:
        self._output, output = os.pipe()
        try:
            self._process = self._start(output)
        finally:
            os.close(output)
        try:
            self._read_ready_lines()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self, output: int) -> Process:
        if tuple(self._arguments[: len(COMMAND)]) == COMMAND:
            streams = (None, output, self._log.fileno())
            return fork_croupier(self._arguments[len(COMMAND) :], self._environment, streams, self._cwd)
        return subprocess.Popen(
            self._arguments,
            stdout=output,
            stderr=self._log,
            stdin=subprocess.DEVNULL,
            env=self._environment,
            cwd=self._cwd,
        )

    def _read_ready_lines(self) -> None:
        found, end = b"", time.monotonic() + PATIENCE
        while found.count(b"\n") < self._ready:
            ready, _, _ = select.select([self._output], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"not ready after {PATIENCE:g} s: {found!r}; its log: {self.log!r}"
            data = os.read(self._output, 4096)
            assert data, f"ended before it was ready: {self.log!r}"
            found += data
        self.lines = found.decode().splitlines()
        for line in self.lines:
            match = READY.search(line)
            assert match, line
            self.host = match[2]
            self.ports[match[1]] = int(match[3])

    def __exit__(self, *error: object) -> None:
        for connection in self._sockets:
            connection.close()
        if self._process.poll() is None:
            self._process.terminate()  # make forwards the signal to its child processes
            try:
                self._process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        os.close(self._output)
        self._log.close()
        self._data.cleanup()

    @property
    def log(self) -> str:
        """The output on standard error so far."""
        self._log.flush()
        return os.pread(self._log.fileno(), 1 << 20, 0).decode()

    @property
    def entries(self) -> list[dict[str, Any]]:
        """The log entries: one JSON object per line, because standard error is not a terminal."""
        return [json.loads(line) for line in self.log.splitlines()]

    def wait_for_event(self, event: str, count: int = 1) -> None:
        """Wait until the log has `count` entries of an event."""
        end = time.monotonic() + PATIENCE
        while sum(entry["event"] == event for entry in self.entries) < count:
            assert time.monotonic() < end, f"{event!r} is not logged {count} times"
            time.sleep(0.005)

    def read_output(self) -> str:
        """Read the standard output after the ready lines, until the process ends."""
        found = b""
        while data := os.read(self._output, 1 << 16):
            found += data
        return found.decode()

    def call(self, room: str = "kuhn") -> socket.socket:
        """Open a connection to a room."""
        connection = socket.create_connection((self.host, self.ports[room]), timeout=PATIENCE)
        self._sockets.append(connection)
        return connection

    def talk(self, *parts: bytes, room: str = "kuhn") -> bytes:
        """Send all parts, close the sending direction, and return everything received."""
        with self.call(room) as connection:
            for part in parts:
                connection.sendall(part)
            connection.shutdown(socket.SHUT_WR)
            return rest(connection)

    @property
    def port(self) -> int:
        """The port of the first room."""
        return next(iter(self.ports.values()))

    @property
    def address(self) -> str:
        """The first room as HOST:PORT."""
        return f"{self.host}:{self.port}"

    def stop(self) -> int:
        """Stop the server with SIGTERM, and return the exit status."""
        self.signal()
        return self.end()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def signal(self, number: int = signal.SIGTERM) -> None:
        self._process.send_signal(number)

    def end(self) -> int:
        """Wait for the end of the process, and return the exit status."""
        return self._process.wait(PATIENCE)

    @property
    def running(self) -> bool:
        return self._process.poll() is None


def hear(connection: socket.socket, length: int) -> bytes:
    """Receive `length` bytes, or fewer if the connection ends before."""
    found = b""
    while len(found) < length and (data := connection.recv(length - len(found))):
        found += data
    return found


def rest(connection: socket.socket) -> bytes:
    """Receive everything until the other side closes."""
    found = b""
    while data := connection.recv(1 << 16):
        found += data
    return found
