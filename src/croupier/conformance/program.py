"""A program under test: started in its own process group, its output captured, and stopped with all its children."""

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
"""A name in braces. Any other text in braces is passed to the program as it is."""

LISTEN_STATE: Final = "0A"
"""The state of a listening socket in /proc/net/tcp."""

PROC_NET_FILES: Final = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))

FIRST_POLL_SECONDS: Final = 0.01
"""The first pause between two checks whether a server listens; each further pause is half as long again."""

MAX_POLL_SECONDS: Final = 0.1

EOF_TIMEOUT_SECONDS: Final = 0.5
"""How long to wait for end of file on the pipes of an ended program: an unrelated process may hold them open."""


class ProgramError(Exception):
    """The program under test cannot be used: it does not start, ends too early, or accepts no connections."""


def split_command(command: str, values: Mapping[str, object]) -> list[str]:
    """Split a command line as a POSIX shell does, with `{host}` and the like filled in; nothing else is expanded.

    Raises ValueError on an empty command, an unclosed quote, and a name in braces that is not in `values`.

    Example:
        >>> split_command("./server --port {port}", {"port": 1212})
        ['./server', '--port', '1212']
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
    """Describe an exit status in words: the name of the signal if one ended the program.

    Example:
        >>> describe_exit(3), describe_exit(-11)
        ('exit status 3', 'SIGSEGV')
    """
    if status >= 0:
        return f"exit status {status}"
    try:
        return signal.Signals(-status).name
    except ValueError:  # a real-time signal
        return f"signal {-status}"


async def free_port(host: str = "127.0.0.1") -> int:
    """Return a port on which nothing listens at the moment."""
    server = await asyncio.get_running_loop().create_server(asyncio.Protocol, host, 0)
    port: int = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    return port


class OutputExcerpt:
    """The first and the last part of the data of a pipe, and its total size."""

    def __init__(self, size: int) -> None:
        self.total_bytes = 0
        self._first = bytearray()
        self._last = bytearray()
        self._max_bytes = size
        self._first_bytes = size // 2

    def add(self, data: bytes) -> None:
        """Append data."""
        self.total_bytes += len(data)
        room = self._first_bytes - len(self._first)
        self._first += data[:room]
        self._last += data[room:] if room < len(data) else b""
        if (excess := len(self._last) - (self._max_bytes - self._first_bytes)) > 0:
            del self._last[:excess]

    def __bytes__(self) -> bytes:
        return bytes(self._first + self._last)


class ProcessOutput(asyncio.SubprocessProtocol):
    """Collects the output of a process and notices its end."""

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
        """The process runs."""
        self.group = cast(asyncio.SubprocessTransport, transport).get_pid()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """The process has written data."""
        self.pipes[fd].add(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002 -- a pipe has one kind of end
        """The last writer of this pipe is gone."""
        self._open.discard(fd)
        if not self._open:
            self.output_ended.set()

    def process_exited(self) -> None:
        """The process has ended. Its remaining children are killed, unless it is being stopped in an orderly way."""
        if not self.is_stopping:
            self.kill(signal.SIGKILL)
        self.exited.set()

    def kill(self, signal_number: signal.Signals) -> None:
        """Send a signal to every process that is left in the group."""
        with suppress(ProcessLookupError, PermissionError):  # PermissionError: only zombies are left
            os.killpg(self.group, signal_number)


class ProgramUnderTest:
    """A running program in a process group of its own, without a shell and without a terminal.

    Its standard input is empty. At most `max_output_bytes` bytes of its output are kept: the first and the last of
    them. When it ends or is stopped, everything that it started and that is still in its group is stopped, too.
    """

    def __init__(
        self, command: str, transport: asyncio.SubprocessTransport, process_output: ProcessOutput, max_output_bytes: int
    ) -> None:
        self.command = command
        self._transport = transport
        self._process_output = process_output
        self._max_output_bytes = max_output_bytes

    @classmethod
    async def start(
        cls, command: str, values: Mapping[str, object], *, folder: Path | None = None, max_output_bytes: int = 1 << 20
    ) -> Self:
        """Start a program, in a folder if one is given. `values` maps the names in braces to their values.

        Raises ValueError on an invalid command line, and ProgramError if there is no such program.
        """
        words = split_command(command, values)
        try:
            transport, process_output = await asyncio.get_running_loop().subprocess_exec(
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
        return cls(command, transport, process_output, max_output_bytes)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    @property
    def pid(self) -> int:
        """The id of its process, which is also the id of its group."""
        return self._process_output.group

    @property
    def status(self) -> int | None:
        """Its exit status, −signal if a signal ended it; None while it runs."""
        return self._transport.get_returncode() if self._process_output.exited.is_set() else None

    @property
    def stdout(self) -> bytes:
        """Its standard output; the middle is left out if it was too long."""
        return bytes(self._process_output.pipes[1])

    @property
    def stderr(self) -> bytes:
        """Its standard error; the middle is left out if it was too long."""
        return bytes(self._process_output.pipes[2])

    @property
    def has_written_too_much(self) -> bool:
        """Whether its output was longer than `max_output_bytes`."""
        return sum(pipe.total_bytes for pipe in self._process_output.pipes.values()) > self._max_output_bytes

    async def wait_ended(self, seconds: float) -> int | None:
        """Wait at most `seconds` for its end. Returns its exit status (−signal), None while it runs."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._process_output.exited.wait()
        if self.status is not None:
            await self._wait_output(EOF_TIMEOUT_SECONDS)
        return self.status

    async def wait_listening(self, host: str, port: int, seconds: float) -> None:
        """Wait at most `seconds` until it accepts connections. Raises ProgramError if it does not.

        On Linux this reads /proc/net/tcp instead of connecting: a connection would be the first client that it serves.
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
        state = "runs" if self.status is None else f"has ended ({describe_exit(self.status)})"
        raise ProgramError(f"{self.command!r} {state} and takes no connections at {host}:{port}{self.stderr_excerpt()}")

    def stderr_excerpt(self, size: int = 2000) -> str:
        """The end of its standard error, to be appended to an error message; empty if it has written nothing."""
        excerpt = self.stderr[-size:].decode(errors="backslashreplace").strip()
        return f"; its stderr: {excerpt}" if excerpt else ""

    async def stop(self, grace: float = 1.0) -> None:
        """Stop it and everything that it has started, and reap it.

        Sends SIGTERM, waits at most `grace` seconds, then sends SIGKILL.
        """
        process_output = self._process_output
        with _closing_pipes(self._transport):
            try:
                if not process_output.exited.is_set():
                    process_output.is_stopping = True
                    process_output.kill(signal.SIGTERM)
                    with suppress(TimeoutError):
                        async with asyncio.timeout(grace):
                            await process_output.exited.wait()
                            await process_output.output_ended.wait()  # its children have the rest of the time
            finally:
                if process_output.is_stopping or not process_output.exited.is_set():
                    process_output.is_stopping = False
                    process_output.kill(signal.SIGKILL)
                await process_output.exited.wait()  # even if cancelled: closing the transport first loses the status
            await self._wait_output(EOF_TIMEOUT_SECONDS)

    async def _wait_output(self, seconds: float) -> None:
        """Wait at most `seconds` until all of its output has arrived."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._process_output.output_ended.wait()


@contextmanager
def _closing_pipes(transport: asyncio.SubprocessTransport) -> Iterator[None]:
    """Close the pipes of a program on exit."""
    try:
        yield
    finally:
        transport.close()


async def _listens(host: str, port: int) -> bool:
    """Whether a server accepts connections at this port."""
    try:
        return any(
            _is_listening(line, port)
            for table in PROC_NET_FILES
            for line in table.read_text(encoding="ascii").splitlines()
        )
    except OSError:  # not Linux
        pass
    try:
        _, writer = await asyncio.open_connection(host, port)
    except OSError:
        return False
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return True


def _is_listening(line: str, port: int) -> bool:
    """Whether a row of /proc/net/tcp is a socket that listens at a port."""
    _, local, _, state, *_ = line.split()
    return state == LISTEN_STATE and int(local.rpartition(":")[2], 16) == port
