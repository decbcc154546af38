"""A program under test: started in its own process group, its output captured, and stopped with all its children."""

import asyncio
import os
import re
import signal
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from croupier.conformance.containment.launch import Callbacks, LaunchedProgram, LaunchError
from croupier.conformance.containment.policy import current_containment
from croupier.conformance.listening import is_listening
from croupier.conformance.timeouts import wait_first
from croupier.core.command_line import describe_exit, split_command
from croupier.core.session import Address
from croupier.net.addresses import format_address
from croupier.net.event_loop import wait_set

FIRST_POLL_SECONDS: Final = 0.01
"""The first pause between two checks whether a server listens; each further pause is half as long again."""

MAX_POLL_SECONDS: Final = 0.1

EOF_TIMEOUT_SECONDS: Final = 0.5
"""How long to wait for end of file on the pipes of an ended program: an unrelated process may hold them open."""

KILL_TIMEOUT_SECONDS: Final = 5.0
"""How long the kernel may take to end killed processes."""

LIMIT_SIGNALS: Final[Mapping[int, str]] = {
    signal.SIGXCPU: "has used more processor time than allowed",
    signal.SIGXFSZ: "has written a larger file than allowed",
}
"""The signals of the kernel at a limit, and the predicates of sentences about them."""


ERROR_PATTERN: Final = re.compile(r"(?:error|exception|fatal|panic|panicked)\b", re.IGNORECASE)
"""What programs write in the line that says why they end."""

CANCELLED_PATTERN: Final = re.compile(r"\bCancelledError\b")
"""What asyncio writes of tasks that it cancels at the end, after the reason for the end."""

MAX_EXCERPT_BYTES: Final = 2000
"""How much of the end of its standard error is quoted of a program that cannot be used."""

MAX_ERROR_CHARS: Final = 200
"""How much of such a line is quoted in a sentence."""


def error_suffix(stderr: bytes) -> str:
    """The line of standard error that says why a program has ended, to be appended to a sentence; empty without one.

    It is the last one that names an error, or else the last one: Rust, Java and Node write others after that of the
    error.
    """
    lines = stderr.decode(errors="backslashreplace").strip().splitlines()
    errors = [line for line in lines if ERROR_PATTERN.search(line)]
    reasons = [line for line in errors if not CANCELLED_PATTERN.search(line)] or errors or lines
    return f": {reasons[-1].strip()[:MAX_ERROR_CHARS]}" if reasons else ""


class ProgramError(Exception):
    """The program under test cannot be used: it does not start, ends too early, or accepts no connections."""


class StartError(ProgramError):
    """The program under test cannot be started."""


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


class ProgramUnderTest:
    """A running program in a process group of its own, without a shell and without a terminal.

    Its standard input is empty, and its environment and limits are those of its `Containment`. At most
    `max_output_bytes` bytes of its output are kept: the first and the last of them. When it ends or is stopped,
    everything that it has started ends, too.
    """

    def __init__(self, command: str, max_output_bytes: int) -> None:
        self._command = command
        self._max_output_bytes = max_output_bytes
        self._stdout = OutputExcerpt(max_output_bytes - max_output_bytes // 2)
        self._stderr = OutputExcerpt(max_output_bytes // 2)
        self._launched: LaunchedProgram

    @classmethod
    async def start(
        cls,
        command: str,
        values: Mapping[str, object],
        *,
        folder: Path | None = None,
        max_output_bytes: int = 1 << 20,
    ) -> Self:
        """Start a program. `values` maps the names in braces to their values.

        It runs in `folder`, by default the folder of the tester, and is contained as `contained` says.

        Raises ValueError on an invalid command line, and StartError if there is no such program.
        """
        words = split_command(command, values)
        if any("\0" in word for word in words):
            raise StartError(f"{words[0]!r} cannot be started: a NUL in its command")
        program = cls(command, max_output_bytes)
        callbacks = Callbacks(program._stdout.add, program._stderr.add)
        where = folder or Path.cwd()
        try:
            program._launched = await LaunchedProgram.start(words, where, current_containment(), callbacks)
        except LaunchError as error:
            file = where / words[0]
            hint = "; chmod +x makes it executable" if file.is_file() and not os.access(file, os.X_OK) else ""
            raise StartError(f"{words[0]!r} cannot be started: {error}{hint}") from error
        return program

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    @property
    def pid(self) -> int:
        """The id of its process, which is also the id of its group, except in a sandbox."""
        return self._launched.pid

    @property
    def status(self) -> int | None:
        """Its exit status, −signal if a signal ended it; None while it runs."""
        return self._launched.exit_status

    @property
    def end_description(self) -> str:
        """How it has ended, in words, with the limit that it has exceeded, if any; "" while it runs."""
        if self.status is None:
            return ""
        reason = self._launched.exceeded or LIMIT_SIGNALS.get(-self.status, "")
        return f"{describe_exit(self.status)}: it {reason}" if reason else describe_exit(self.status)

    @property
    def stdout(self) -> bytes:
        """Its standard output; the middle is left out if it was too long."""
        return bytes(self._stdout)

    @property
    def stderr(self) -> bytes:
        """Its standard error; the middle is left out if it was too long."""
        return bytes(self._stderr)

    @property
    def has_written_too_much(self) -> bool:
        """Whether its output was longer than `max_output_bytes`."""
        return self._stdout.total_bytes + self._stderr.total_bytes > self._max_output_bytes

    async def wait_ended(self, seconds: float) -> int | None:
        """Wait at most `seconds` for its end. Returns its exit status (−signal), None while it runs."""
        await wait_set(self._launched.exited, seconds)
        if self.status is not None:
            await wait_set(self._launched.output_ended, EOF_TIMEOUT_SECONDS)
        return self.status

    async def wait_listening(self, host: str, port: int, seconds: float) -> None:
        """Wait at most `seconds` until it accepts connections. Raises ProgramError if it does not.

        On Linux this reads /proc/net/tcp instead of connecting: a connection would be the first client that it serves.
        """
        pause = FIRST_POLL_SECONDS
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not await is_listening(host, port):
                    if await self.wait_ended(pause) is not None:
                        break
                    pause = min(1.5 * pause, MAX_POLL_SECONDS)
                if self.status is None:  # otherwise another program listens
                    return
        hint = "; does it listen at another port than {port}?" if self.status is None else ""
        raise self._unusable(f"takes no connections at {format_address((host, port))}{hint}")

    async def wait_connected(self, connected: asyncio.Event, address: Address, seconds: float) -> None:
        """Wait at most `seconds` until it has connected to us. Raises ProgramError if it does not."""
        await wait_first(self.wait_ended(seconds), connected.wait())
        if connected.is_set():
            return
        within = f" within {seconds:g} seconds" if self.status is None else ""
        raise self._unusable(f"has not connected to {format_address(address)}{within}")

    def _unusable(self, reason: str) -> ProgramError:
        state = "runs" if self.status is None else f"has ended ({self.end_description})"
        return ProgramError(f"{self._command!r} {state} and {reason}{self.stderr_excerpt()}")

    def stderr_excerpt(self) -> str:
        """The end of its standard error, to be appended to an error message; empty if it has written nothing."""
        excerpt = self.stderr[-MAX_EXCERPT_BYTES:].decode(errors="backslashreplace").strip()
        return f"; its stderr: {excerpt}" if excerpt else ""

    async def stop(self, grace: float = 1.0) -> None:
        """Stop it and everything that it has started, and remove its temporary folders.

        Sends SIGTERM, waits at most `grace` seconds, then sends SIGKILL.
        """
        launched = self._launched
        try:
            if not launched.exited.is_set():
                launched.terminate()
                await wait_set(launched.ended, grace)  # its children have the rest of the time
        finally:
            await asyncio.shield(self._kill())  # even if cancelled

    async def _kill(self) -> None:
        """Kill what is left of it, and receive the rest of its output."""
        launched = self._launched
        launched.kill()
        try:
            await wait_set(launched.ended, KILL_TIMEOUT_SECONDS)
            await wait_set(launched.output_ended, EOF_TIMEOUT_SECONDS)
        finally:
            await launched.close()
