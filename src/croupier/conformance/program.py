"""A program under test: started with the address that it shall use, heard, and ended with all that it has started."""

import asyncio
import os
import re
import shlex
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self, cast

PLACEHOLDER_PATTERN: Final = re.compile(r"\{([A-Za-z_]\w*)\}")
"""A name in braces; whatever else stands in braces is the program's own."""

LISTEN_STATE: Final = "0A"
"""The state of a socket that takes connections, in /proc/net/tcp."""

PROC_NET_FILES: Final = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))

FIRST_POLL_SECONDS: Final = 0.01
"""After so many seconds it is looked for the first time whether a server listens; each pause is half as long again."""

MAX_POLL_SECONDS: Final = 0.1

EOF_TIMEOUT_SECONDS: Final = 0.5
"""What an ended program has written is there at once, unless a stranger holds its pipes: so many seconds for that."""


class ProgramError(Exception):
    """The program under test cannot be used: it does not start, ends too early, or takes no connections."""


def split_command(command: str, values: Mapping[str, object]) -> list[str]:
    """The words of a command line as a POSIX shell splits them, `{host}` and the like filled in; nothing is expanded.

    Raises ValueError on an empty command, an open quote, and a name in braces that is none of `values`.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ValueError(f"found {command!r} ({error}); allowed: a command line with every quote closed") from None
    if not words:
        raise ValueError("found an empty command; allowed: a program and its arguments")

    def value(name: re.Match[str]) -> str:
        if name[1] not in values:
            allowed = ", ".join(f"{{{known}}}" for known in values) or "no braces"
            raise ValueError(f"found {name[0]} in {command!r}; allowed: {allowed}")
        return str(values[name[1]])

    return [PLACEHOLDER_PATTERN.sub(value, word) for word in words]


def describe_exit(status: int) -> str:
    """An exit status in words: `exit status 3`, or `SIGSEGV` where a signal has ended the program."""
    if status >= 0:
        return f"exit status {status}"
    try:
        return signal.Signals(-status).name
    except ValueError:  # a real-time signal
        return f"signal {-status}"


async def free_port(host: str = "127.0.0.1") -> int:
    """A port at which nobody listens now."""
    server = await asyncio.get_running_loop().create_server(asyncio.Protocol, host, 0)
    port: int = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    return port


class OutputExcerpt:
    """The first and the last part of what a pipe has carried, and how much it was altogether."""

    def __init__(self, size: int) -> None:
        self.total_bytes = 0
        self._first = bytearray()
        self._last = bytearray()
        self._size = size
        self._head = size // 2

    def add(self, data: bytes) -> None:
        """More has come."""
        self.total_bytes += len(data)
        more = self._head - len(self._first)
        self._first += data[:more]
        self._last += data[more:] if more < len(data) else b""
        if (over := len(self._last) - (self._size - self._head)) > 0:
            del self._last[:over]

    def __bytes__(self) -> bytes:
        return bytes(self._first + self._last)


class ProcessOutput(asyncio.SubprocessProtocol):
    """Hears what a program writes, and when it ends."""

    def __init__(self, max_output_bytes: int) -> None:
        self.pipes = {
            1: OutputExcerpt(max_output_bytes - max_output_bytes // 2),
            2: OutputExcerpt(max_output_bytes // 2),
        }
        self.exited = asyncio.Event()
        self.output_ended = asyncio.Event()
        self.group = 0
        self.is_stopping = False
        self._open = set(self.pipes)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It runs."""
        self.group = cast(asyncio.SubprocessTransport, transport).get_pid()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """It has written something."""
        self.pipes[fd].add(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002 -- a pipe has one kind of end
        """Nobody can write to this pipe any more."""
        self._open.discard(fd)
        if not self._open:
            self.output_ended.set()

    def process_exited(self) -> None:
        """It has ended. What it leaves behind is of no use to anybody, unless it was asked to end in order."""
        if not self.is_stopping:
            self.kill(signal.SIGKILL)
        self.exited.set()

    def kill(self, signal_number: signal.Signals) -> None:
        """Send a signal to everything that is left of the group."""
        with suppress(ProcessLookupError, PermissionError):  # PermissionError: only zombies are left, on some systems
            os.killpg(self.group, signal_number)


class ProgramUnderTest:
    """A running program in a process group of its own, without a shell and without a terminal.

    Its input is empty. Of what it writes, `output` bytes are kept at the most: the first and the last of them. When it
    ends, or is stopped, so does everything that it has started and that is still in its group.
    """

    def __init__(
        self, command: str, transport: asyncio.SubprocessTransport, process_output: ProcessOutput, max_output_bytes: int
    ) -> None:
        self.command = command
        self._transport = transport
        self._process_output = process_output
        self._output = max_output_bytes

    @classmethod
    async def start(
        cls, command: str, values: Mapping[str, object], *, folder: Path | None = None, max_output_bytes: int = 1 << 20
    ) -> Self:
        """Start a program, in a folder if one is given. `values` has what stands for the names in braces.

        Raises ValueError on a command line that makes no sense, and ProgramError when there is no such program.
        """
        words = split_command(command, values)
        try:
            transport, ears = await asyncio.get_running_loop().subprocess_exec(
                lambda: ProcessOutput(max_output_bytes),
                *words,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=folder,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:  # ValueError: a NUL in a word
            reason = error.strerror if isinstance(error, OSError) else error
            raise ProgramError(f"{words[0]!r} cannot be started: {reason}") from error
        return cls(command, transport, ears, max_output_bytes)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    @property
    def pid(self) -> int:
        """The number of its process, and of its group."""
        return self._process_output.group

    @property
    def status(self) -> int | None:
        """Its exit status, that of a signal as −signal; None while it runs."""
        return self._transport.get_returncode() if self._process_output.exited.is_set() else None

    @property
    def stdout(self) -> bytes:
        """What it has written, the middle left out if it was too much."""
        return bytes(self._process_output.pipes[1])

    @property
    def stderr(self) -> bytes:
        """What it has written as its errors, the middle left out if it was too much."""
        return bytes(self._process_output.pipes[2])

    @property
    def has_written_too_much(self) -> bool:
        """Whether it has written more than the caller wants to keep."""
        return sum(pipe.total_bytes for pipe in self._process_output.pipes.values()) > self._output

    async def wait_ended(self, seconds: float) -> int | None:
        """Wait so many seconds for its end: its exit status (−signal), None while it runs."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._process_output.exited.wait()
        if self.status is not None:
            await self._wait_output(EOF_TIMEOUT_SECONDS)
        return self.status

    async def wait_listening(self, host: str, port: int, seconds: float) -> None:
        """Wait until it takes connections there. Raises ProgramError when it ends before, or the time is over.

        Where the system tells who listens nobody connects for that: it would be the first client that it serves.
        """
        pause = FIRST_POLL_SECONDS
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not await _listens(host, port):
                    if await self.wait_ended(pause) is not None:
                        break
                    pause = min(1.5 * pause, MAX_POLL_SECONDS)
                else:
                    return
        what = "runs" if self.status is None else f"has ended ({describe_exit(self.status)})"
        raise ProgramError(f"{self.command!r} {what} and takes no connections at {host}:{port}{self.stderr_excerpt()}")

    def stderr_excerpt(self, size: int = 2000) -> str:
        """The end of its errors, for a sentence about what went wrong; empty if it has written none."""
        said = self.stderr[-size:].decode(errors="backslashreplace").strip()
        return f"; its stderr: {said}" if said else ""

    async def stop(self, grace: float = 1.0) -> None:
        """End it and all that it has started: SIGTERM, so many seconds to obey, then SIGKILL. It is always reaped."""
        ears = self._process_output
        with _held(self._transport):
            try:
                if not ears.exited.is_set():
                    ears.is_stopping = True
                    ears.kill(signal.SIGTERM)
                    with suppress(TimeoutError):
                        async with asyncio.timeout(grace):
                            await ears.exited.wait()
                            await ears.output_ended.wait()  # its children, too, have the time that is left
            finally:
                if ears.is_stopping or not ears.exited.is_set():
                    ears.is_stopping = False
                    ears.kill(signal.SIGKILL)
                await ears.exited.wait()  # a transport that is closed sooner, if this is cancelled, loses the status
            await self._wait_output(EOF_TIMEOUT_SECONDS)

    async def _wait_output(self, seconds: float) -> None:
        """Wait until all that it has written is here."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._process_output.output_ended.wait()


@contextmanager
def _held(transport: asyncio.SubprocessTransport) -> Iterator[None]:
    """Let go of a program's pipes in the end, whatever happens."""
    try:
        yield
    finally:
        transport.close()


async def _listens(host: str, port: int) -> bool:
    """Whether somebody takes connections at this port."""
    try:
        return any(
            _waits(line, port) for table in PROC_NET_FILES for line in table.read_text(encoding="ascii").splitlines()
        )
    except OSError:  # no Linux
        pass
    try:
        _, writer = await asyncio.open_connection(host, port)
    except OSError:
        return False
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return True


def _waits(line: str, port: int) -> bool:
    """Whether a line of a table tells of a socket that takes connections at a port."""
    _, local, _, state, *_ = line.split()
    return state == LISTEN_STATE and int(local.rpartition(":")[2], 16) == port
