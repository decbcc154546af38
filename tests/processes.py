"""`croupier` as a process of its own, as a shell would start it."""

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
from typing import Any, Self

PATIENCE = 20.0
READY = re.compile(r"(\w+) (?:is open )?at (?:http://)?\[?([\w.:]+?)\]?:(\d+)(/metrics)?( \(TLS\))?$")
COMMAND = (sys.executable, "-m", "croupier")
ROOT = Path(__file__).parent.parent


def environment(variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment with only these CROUPIER_ variables, and without a trace of the make that runs it."""
    ours = ("CROUPIER_", "MAKE", "MFLAGS", "ARGS")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)} | {**(variables or {})}


def croupier(*arguments: object, variables: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        env=environment(variables),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        stdin=subprocess.DEVNULL,
    )


class Serving:
    """`croupier serve …`, from the moment it is ready. `ports` are those of the rooms, and of the `metrics`.

    Nothing was kept before, unless `variables` say where.
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
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 -- closed when the process has ended
        self._sockets: list[socket.socket] = []

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            self._arguments,
            stdout=subprocess.PIPE,
            stderr=self._log,
            stdin=subprocess.DEVNULL,
            env=self._environment,
            cwd=self._cwd,
        )
        try:
            self._read_ready_lines()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _read_ready_lines(self) -> None:
        told = self._process.stdout
        assert told is not None
        found, end = b"", time.monotonic() + PATIENCE
        while found.count(b"\n") < self._ready:
            assert select.select([told], [], [], end - time.monotonic())[0], f"not ready: {found!r}"
            data = os.read(told.fileno(), 4096)
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
            self._process.terminate()  # make hands this on to what it has started
            try:
                self._process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._log.close()
        self._data.cleanup()

    @property
    def log(self) -> str:
        """What is on standard error so far."""
        self._log.flush()
        return os.pread(self._log.fileno(), 1 << 20, 0).decode()

    @property
    def entries(self) -> list[dict[str, Any]]:
        """The log, which is one JSON object a line when it is no terminal."""
        return [json.loads(line) for line in self.log.splitlines()]

    def call(self, room: str = "kuhn") -> socket.socket:
        """A connection to a room."""
        connection = socket.create_connection((self.host, self.ports[room]), timeout=PATIENCE)
        self._sockets.append(connection)
        return connection

    def talk(self, *flights: bytes, room: str = "kuhn") -> bytes:
        """Everything that is heard by a client that says all this and then no more."""
        with self.call(room) as connection:
            for flight in flights:
                connection.sendall(flight)
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
        """Stop it as an operator would; the exit status."""
        self.signal()
        return self.end()

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def signal(self, number: int = signal.SIGTERM) -> None:
        self._process.send_signal(number)

    def end(self) -> int:
        """Wait for the end; the exit status."""
        return self._process.wait(PATIENCE)

    @property
    def running(self) -> bool:
        return self._process.poll() is None


def hear(connection: socket.socket, length: int) -> bytes:
    """So many bytes, or fewer when the connection ends before."""
    found = b""
    while len(found) < length and (data := connection.recv(length - len(found))):
        found += data
    return found


def rest(connection: socket.socket) -> bytes:
    """Everything until the other side closes."""
    found = b""
    while data := connection.recv(1 << 16):
        found += data
    return found
