"""Harness of the server benchmarks: runs a server and a load on two cores and measures the server. Linux only."""

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
LOAD = HERE / "load"
BUILD = HERE / ".build"
READY = re.compile(r"((?:\d{1,3}\.){3}\d{1,3}|localhost|\[[0-9a-fA-F:]*\]):(\d{1,5})\b")
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
START_TIMEOUT_SECONDS = 30.0


class BenchError(Exception):
    """The measurement failed; the message says why."""


@dataclass(frozen=True)
class Cores:
    """The cores of the server and of the load; they are equal on a machine with one core."""

    server: int
    load: int

    @property
    def apart(self) -> bool:
        """Whether server and load run on different cores."""
        return self.server != self.load


@dataclass(frozen=True)
class Server:
    """A running server process and where it listens."""

    pid: int
    port: int

    def cpu_s(self) -> float:
        """User and system time used so far by the process and its children, to the clock tick (usually 10 ms)."""
        ticks = 0
        for pid in (self.pid, *Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / TICKS_PER_S

    def memory_bytes(self) -> int:
        """Proportional set size: private pages and its share of shared ones, but not the kernel's socket buffers."""
        rollup = Path(f"/proc/{self.pid}/smaps_rollup").read_text()
        found = re.search(r"^Pss:\s+(\d+) kB$", rollup, re.MULTILINE)
        if found is None:
            raise BenchError("no Pss in smaps_rollup: the kernel is too old")
        return int(found[1]) * 1024

    def open_files(self) -> int:
        """The number of open file descriptors: accepted connections, and about a dozen others."""
        return sum(1 for _ in Path(f"/proc/{self.pid}/fd").iterdir())


@dataclass(frozen=True)
class Load:
    """The options of the load program.

    `size` is the length of an echo's flights in bytes. `script` is the file with the HTTP requests, or several files
    separated by commas. `ahead` is 1 for a client that pipelines messages which do not depend on the answer, and 0 for
    one that waits for every answer. `turns`: of this number of echo connections, one at a time waits for an answer.
    `spin` is 1 for a load that polls without sleeping, so that the server need not wake it, and 0 for one that sleeps.
    """

    speak: str
    connections: int
    idle: int = 0
    seconds: float = 5.0
    warmup: float = 1.0
    size: int = 8
    ahead: int = 1
    script: str = ""
    turns: int = 1
    spin: int = 1


@dataclass(frozen=True)
class Result:
    """The measurements of the load and of the server process in one window. Times in µs are round trips of a flight."""

    seconds: float
    messages: int  # frames that were sent and answered
    messages_per_s: float
    flights: int
    flights_per_s: float
    bytes_sent: int
    bytes_received: int
    p50_us: float
    p99_us: float
    max_us: float
    load_cpu_share: float  # of the load's core: near 1, for it never sleeps
    server_cpu_s: float
    memory_bytes: int  # of the server, when the window opened
    open_files: int  # of the server, when the window opened
    acts: int = 0  # acts of players, where players play with each other
    hands: int = 0  # finished hands, likewise
    games: int = 0  # finished games, likewise

    @property
    def server_cpu_share(self) -> float:
        """The server's CPU time as a share of one core."""
        return self.server_cpu_s / self.seconds

    @property
    def bytes_a_flight(self) -> float:
        """The mean length of flights and replies, in bytes."""
        return (self.bytes_sent + self.bytes_received) / (2 * self.flights) if self.flights else 0.0

    @property
    def cpu_us_a_message(self) -> float:
        """The server's CPU time per message, in µs."""
        return self.server_cpu_s * 1e6 / self.messages if self.messages else 0.0


def pick_cores() -> Cores:
    """Return the first two cores this process may run on; print a warning if there is only one."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) == 1:
        print("only one core: the load and the server share it, so the figures are lower than the server's own")
    return Cores(server=cores[0], load=cores[-1] if len(cores) < 2 else cores[1])


def allow_open_files(count: int) -> None:
    """Raise the soft limit on open files to the hard limit; servers inherit it. Raises BenchError if it is too low."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if hard != resource.RLIM_INFINITY and hard < count + 100:
        raise BenchError(f"{count} connections need more open files than the hard limit of {hard}")


def compile_load() -> Path:
    """Compile the load program unless the binary is newer than its sources, and return its path."""
    sources, binary = sorted(LOAD.glob("*.c")), BUILD / "load"
    changed = max(file.stat().st_mtime for file in (*sources, *LOAD.glob("*.h")))
    if not binary.exists() or binary.stat().st_mtime < changed:
        BUILD.mkdir(exist_ok=True)
        compiler = os.environ.get("CC", "cc")
        flags = ["-std=c11", "-O2", "-Wall", "-Wextra"]
        try:
            subprocess.run([compiler, *flags, "-o", str(binary), *map(str, sources), "-lm"], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise BenchError(f"the load needs a C compiler ({compiler}): {error}") from error
    return binary


@contextmanager
def running(command: Sequence[str], *cores: int) -> Iterator[Server]:
    """Run a server on these cores, from its ready line (a line with HOST:PORT) to SIGTERM. It must serve 127.0.0.1."""
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        try:
            os.sched_setaffinity(process.pid, cores)
            port = _wait_for_port(process, output.fileno(), command)
            yield Server(process.pid, port)
            if process.poll() is not None:
                raise BenchError(f"{command} ended by itself:\n{_text(output.fileno())}")
        finally:
            _end(process)


def run_load(server: Server, load: Load, *cores: int) -> Result:
    """Run the load on these cores, and measure the server's CPU time between the start and the end of the window."""
    options = {"port": server.port, **vars(load)}
    command = [str(compile_load()), *(part for name, value in options.items() for part in (f"--{name}", str(value)))]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stderr is not None
    before = after = 0.0
    memory = open_files = 0
    errors = []
    try:
        os.sched_setaffinity(process.pid, cores)
        for line in process.stderr:
            match line.strip():
                case "measuring":
                    memory, open_files = server.memory_bytes(), server.open_files()
                    before = server.cpu_s()
                case "measured":
                    after = server.cpu_s()
                case error_line:
                    errors.append(error_line)
        report = process.stdout.read()
        if process.wait() != 0:
            raise BenchError("\n".join(errors) or f"the load ended with status {process.returncode}")
    finally:
        _end(process)
    seen = json.loads(report)
    return Result(
        **{name: seen[name] for name in Result.__dataclass_fields__ if name in seen},
        server_cpu_s=after - before,
        memory_bytes=memory,
        open_files=open_files,
    )


def verdict(met: bool) -> str:
    """Return whether a target is met, as text."""
    return "met" if met else "MISSED"


def fail(error: BenchError) -> int:
    """Print an error and return the exit status."""
    print(f"bench: {error}", file=sys.stderr)
    return 1


def _wait_for_port(process: subprocess.Popen[bytes], output: int, command: Sequence[str]) -> int:
    end = time.monotonic() + START_TIMEOUT_SECONDS
    while time.monotonic() < end:
        ended = process.poll() is not None
        if ready := READY.search(_text(output)):
            return int(ready[2])
        if ended:
            raise BenchError(f"{' '.join(command)} ended with status {process.returncode}:\n{_text(output)}")
        time.sleep(0.02)
    raise BenchError(f"{' '.join(command)} printed no host:port within {START_TIMEOUT_SECONDS:.0f} s:\n{_text(output)}")


def _text(file: int) -> str:
    return os.pread(file, 1 << 16, 0).decode(errors="replace")


def _end(process: subprocess.Popen[bytes] | subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
