"""What the server benchmarks share: a server on one core, the load on another, and what the server used. Linux only."""

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
PATIENCE_S = 30.0


class BenchError(Exception):
    """The measurement could not be made; the text says why."""


@dataclass(frozen=True)
class Cores:
    """Where the server and the load run: two cores, or the same one if there is only one."""

    server: int
    load: int

    @property
    def apart(self) -> bool:
        """Whether the load leaves the server's core alone."""
        return self.server != self.load


@dataclass(frozen=True)
class Server:
    """A running server process and where it listens."""

    pid: int
    port: int

    def cpu_s(self) -> float:
        """User and system time used so far, of all threads, to the clock tick (usually 10 ms)."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS_PER_S

    def memory_bytes(self) -> int:
        """Proportional set size: private pages and its share of shared ones, but not the kernel's socket buffers."""
        rollup = Path(f"/proc/{self.pid}/smaps_rollup").read_text()
        found = re.search(r"^Pss:\s+(\d+) kB$", rollup, re.MULTILINE)
        if found is None:
            raise BenchError("no Pss in smaps_rollup: the kernel is too old")
        return int(found[1]) * 1024

    def open_files(self) -> int:
        """How many descriptors it holds: accepted connections, and a dozen others."""
        return sum(1 for _ in Path(f"/proc/{self.pid}/fd").iterdir())


@dataclass(frozen=True)
class Load:
    """What the load is asked to do; the fields are its options.

    `size` is the length of an echo's flights in bytes. `script` names what is asked over HTTP: a file, or files with
    commas between them. `ahead`: 1 for a client that says in one flight what the answer
    leaves no choice about, 0 for one that waits for every answer. `turns`: of so many connections of an echo one waits
    for it at a time. `spin`: 1 for a load that never sleeps, so that no server has to wake it, 0 for one that does.
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
    """What the load saw, and what the server's process used, in one window. Times in µs are round trips of a flight."""

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
    acts: int = 0  # of the players, where these play with one another
    hands: int = 0  # that were played to the end, there
    games: int = 0  # likewise

    @property
    def server_cpu_share(self) -> float:
        """The server's CPU time as a share of one core."""
        return self.server_cpu_s / self.seconds

    @property
    def bytes_a_flight(self) -> float:
        """The mean length of what is sent and what is received, of all flights and replies together."""
        return (self.bytes_sent + self.bytes_received) / (2 * self.flights) if self.flights else 0.0

    @property
    def cpu_us_a_message(self) -> float:
        """The server's CPU time a message, in µs."""
        return self.server_cpu_s * 1e6 / self.messages if self.messages else 0.0


def pick_cores() -> Cores:
    """Take the first two cores this process may run on, and say so if there is only one."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) == 1:
        print("only one core: the load and the server share it, so the figures are lower than the server's own")
    return Cores(server=cores[0], load=cores[-1] if len(cores) < 2 else cores[1])


def allow_open_files(count: int) -> None:
    """Raise the soft limit on open files to the hard one, for the servers to inherit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if hard != resource.RLIM_INFINITY and hard < count + 100:
        raise BenchError(f"{count} connections need more open files than the hard limit of {hard}")


def compile_load() -> Path:
    """Compile the load unless the binary is newer than all of its files."""
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
def running(command: Sequence[str], core: int) -> Iterator[Server]:
    """Run a server on one core from its ready line (any line with host:port) to SIGTERM; it must serve 127.0.0.1."""
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        try:
            os.sched_setaffinity(process.pid, {core})
            port = _wait_for_port(process, output.fileno(), command)
            yield Server(process.pid, port)
            if process.poll() is not None:
                raise BenchError(f"{command} ended by itself:\n{_text(output.fileno())}")
        finally:
            _end(process)


def run_load(server: Server, load: Load, core: int) -> Result:
    """Put the load on the server and read the server's CPU time at both edges of the window."""
    options = {"port": server.port, **vars(load)}
    command = [str(compile_load()), *(part for name, value in options.items() for part in (f"--{name}", str(value)))]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stderr is not None
    before = after = 0.0
    memory = open_files = 0
    complaints = []
    try:
        os.sched_setaffinity(process.pid, {core})
        for line in process.stderr:
            match line.strip():
                case "measuring":
                    memory, open_files = server.memory_bytes(), server.open_files()
                    before = server.cpu_s()
                case "measured":
                    after = server.cpu_s()
                case complaint:
                    complaints.append(complaint)
        report = process.stdout.read()
        if process.wait() != 0:
            raise BenchError("\n".join(complaints) or f"the load ended with status {process.returncode}")
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
    """Say whether a target is met."""
    return "met" if met else "MISSED"


def fail(error: BenchError) -> int:
    """Say why there is no measurement, and give the exit status."""
    print(f"bench: {error}", file=sys.stderr)
    return 1


def _wait_for_port(process: subprocess.Popen[bytes], output: int, command: Sequence[str]) -> int:
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        ended = process.poll() is not None
        if ready := READY.search(_text(output)):
            return int(ready[2])
        if ended:
            raise BenchError(f"{' '.join(command)} ended with status {process.returncode}:\n{_text(output)}")
        time.sleep(0.02)
    raise BenchError(f"{' '.join(command)} printed no host:port within {PATIENCE_S:.0f} s:\n{_text(output)}")


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
