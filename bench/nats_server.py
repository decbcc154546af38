"""Private NATS server with JetStream for tests and benchmarks."""

import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Self

TIMEOUT_SECONDS = 20.0


class NatsServer:
    """Context manager that runs a server on a free port of this machine, with its files in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self.port = _free_port()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """The address of the server, for `--bus`."""
        return f"nats://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start the server, with the keys that it had, and wait until it listens."""
        arguments = ["-a", "127.0.0.1", "-p", str(self.port), "-js", "-sd", str(self._folder)]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen([program(), *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        end = time.monotonic() + TIMEOUT_SECONDS
        while True:
            try:
                return socket.create_connection(("127.0.0.1", self.port), 1.0).close()
            except OSError:
                if self._process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError((self._folder / "log").read_text()) from None
                time.sleep(0.01)

    def stop(self) -> None:
        """Kill the server."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def program() -> str:
    """The path of nats-server: beside this interpreter, or on the path."""
    beside = Path(sys.executable).with_name("nats-server")
    found = str(beside) if beside.exists() else shutil.which("nats-server")
    assert found is not None, "nats-server is missing; it is in the group dev"
    return found


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
