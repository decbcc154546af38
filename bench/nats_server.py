"""Private NATS server with JetStream for tests and benchmarks."""

import secrets
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Self

from croupier.net.reserved_port import PORT_TRIES, SERVER_PORTS

TIMEOUT_SECONDS = 20.0


class NatsServer:
    """Context manager that runs a server on a free port of this machine, with its files in a folder.

    The system assigns its port to nothing else, so that it is still free when the server is started again.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self.port = 0

    def __enter__(self) -> Self:
        for tries_left in reversed(range(PORT_TRIES)):
            self.port = secrets.choice(SERVER_PORTS)
            try:
                self.start()
            except RuntimeError:
                if not tries_left:
                    raise
            else:
                break
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """The address of the server, for `--bus`."""
        return f"nats://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start the server, with the keys that it had, and wait until it listens.

        Raises RuntimeError if it ends, and TimeoutError if it does not listen in time.
        """
        files = ["-sd", str(self._folder), "--ports_file_dir", str(self._folder)]
        arguments = ["-a", "127.0.0.1", "-p", str(self.port), "-js", *files]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen([program(), *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        ports = self._folder / f"nats-server_{self._process.pid}.ports"  # the server writes it as soon as it listens
        end = time.monotonic() + TIMEOUT_SECONDS
        while not ports.exists():
            if self._process.poll() is not None:
                raise RuntimeError((self._folder / "log").read_text())
            if time.monotonic() > end:
                self.stop()
                raise TimeoutError((self._folder / "log").read_text())
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
