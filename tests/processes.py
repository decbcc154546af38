"""Processes for tests: a croupier that is started, waited for, and stopped by its pid."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile

CROUPIER = [sys.executable, "-m", "croupier"]
ROOT = Path(__file__).parent.parent
READY = re.compile(r"(\w+) is open at (\S+):(\d+)")
PATIENCE = 30.0


class Serving:
    """A running server: where it listens, and all lines that it printed before it was ready."""

    def __init__(self, process: subprocess.Popen[str], lines: list[str], host: str, port: int) -> None:
        self.process = process
        self.lines = lines
        self.host = host
        self.port = port

    def stop(self, signal_number: int = signal.SIGTERM) -> int:
        """Send the signal, and wait for the exit status."""
        self.process.send_signal(signal_number)
        return self.process.wait(PATIENCE)


def environment(**variables: str) -> dict[str, str]:
    """This process's environment without croupier's variables, and with these."""
    return {name: value for name, value in os.environ.items() if not name.startswith("CROUPIER_")} | variables


@contextmanager
def serving(
    command: list[str], *, lines: int = 1, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> Iterator[Serving]:
    """Run a server; it has to print so many lines when it is ready."""
    with (
        TemporaryFile("w+") as log,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=log, text=True, cwd=cwd, env=env or environment()
        ) as process,
    ):
        assert process.stdout is not None
        try:
            said = [process.stdout.readline() for _ in range(lines)]
            ready = READY.search(said[0])
            if ready is None:
                log.seek(0)
                raise AssertionError(f"{command} is not ready: {said} {log.read()}")
            yield Serving(process, said, ready[2], int(ready[3]))
        finally:
            process.terminate()  # make hands this on to what it has started
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
