"""A server that the tester has started, and starts again after its end; each time on a new port."""

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Final, Protocol, Self

from croupier.conformance.diagnosis.cause import Cause
from croupier.conformance.listening import HOST, is_listening
from croupier.conformance.program import ProgramError
from croupier.core.session import Address
from croupier.net.reserved_port import ReservedPort

START_TIMEOUT_SECONDS: Final = 10.0
"""Seconds a server may take to start, in addition to its answer timeout."""

DEATH_SECONDS: Final = 0.1
"""How long a server may take to end after it has closed a connection without a reason, or has lost its client."""

CLOSING_SECONDS: Final = 1.0
"""How long a server that does not listen any more may take to end: a busy machine is slow to report it."""

SLOWEST_END_FACTOR: Final = 3
"""A server that ends whenever a client leaves has this multiple of its slowest end to do so."""

MAX_STARTS: Final = 2
"""A server that ends instead of listening is started again: another program may have taken its port."""

MAX_STDERR_BYTES: Final = 4000
"""How much of the end of a program's standard error is reported."""


class Program(Protocol):
    """A program that was started. See `ProgramUnderTest`."""

    @property
    def status(self) -> int | None: ...  # noqa: D102 -- see the class

    @property
    def end_description(self) -> str: ...  # noqa: D102 -- see the class

    @property
    def stderr(self) -> bytes: ...  # noqa: D102 -- see the class

    @property
    def has_written_too_much(self) -> bool: ...  # noqa: D102 -- see the class

    async def wait_listening(self, host: str, port: int, seconds: float) -> None: ...  # noqa: D102 -- see the class

    async def wait_ended(self, seconds: float) -> int | None: ...  # noqa: D102 -- see the class

    def stderr_excerpt(self) -> str: ...  # noqa: D102 -- see the class

    async def stop(self, grace: float = 1.0) -> None: ...  # noqa: D102 -- see the class


type StartProgram = Callable[[int, int], Awaitable[Program]]
"""Starts a server or client: `start(port, seed)`. Raises ProgramError."""


class ServerProcess:
    """A server that is started by `start`, and listens at `address` after at most `start_seconds`.

    If it ends whenever a client leaves, `leaving_cause` says so, and each client gets a new process; None otherwise.
    """

    def __init__(self, start: StartProgram, start_seconds: float, host: str = HOST) -> None:
        self.address: Address = (host, 0)
        self.leaving_cause: Cause | None = None
        self._start = start
        self._start_seconds = start_seconds
        self._port: ReservedPort | None = None
        self._program: Program | None = None
        self._earlier_stderr = b""
        self._reviving = asyncio.Lock()
        self._is_fresh = True
        self._slowest_end_seconds = 0.0

    async def open(self, seed: int = 0) -> bool:
        """Start it unless it runs; return whether it was started. Raises ProgramError if it does not listen."""
        if self._program is not None and self._program.status is None:
            return False
        await self.restart(seed)
        return True

    async def restart(self, seed: int = 0) -> None:
        """Stop it and start it, on a new port: the old one may not be free yet. Raises ProgramError."""
        host, _ = self.address
        for starts_left in reversed(range(MAX_STARTS)):
            await self.close()
            self._earlier_stderr = self.stderr[-MAX_STDERR_BYTES:]
            self._port = await ReservedPort.open(host)
            self.address = (host, self._port.number)
            self._program = await self._start(self.address[1], seed)
            try:
                await self._program.wait_listening(*self.address, self._start_seconds)
            except ProgramError:
                if not starts_left or self._program.status is None:
                    raise
            else:
                break
        self._is_fresh = True

    async def address_for_client(self) -> Address:
        """Return its address for the next client, after a restart if it has ended with the last one."""
        async with self._reviving:
            if self.leaving_cause is not None and not self._is_fresh:
                await self.restart_if_ended()
            self._is_fresh = False
        return self.address

    @property
    def program(self) -> Program:
        """Its last process."""
        assert self._program is not None, "it was opened"
        return self._program

    @property
    def stderr(self) -> bytes:
        """The standard error of all its processes."""
        return self._earlier_stderr + (b"" if self._program is None else self._program.stderr)

    async def restart_if_ended(self) -> None:
        """Start it again if it has ended, or does so in a moment. Raises ProgramError."""
        if await self.has_ended(max(DEATH_SECONDS, SLOWEST_END_FACTOR * self._slowest_end_seconds)):
            await self.restart()

    async def has_ended(self, seconds: float = DEATH_SECONDS) -> bool:
        """Whether it has ended, or does so in a moment, or if it listens no longer, then in `CLOSING_SECONDS` more."""
        clock = asyncio.get_running_loop().time
        started_at = clock()
        if await self.program.wait_ended(seconds) is None and not await is_listening(*self.address):
            await self.program.wait_ended(CLOSING_SECONDS)
        if self.program.status is None:
            return False
        self._slowest_end_seconds = max(self._slowest_end_seconds, clock() - started_at)
        return True

    async def close(self, grace: float = 1.0) -> None:
        """Stop it, and give its port back. See `ProgramUnderTest.stop`."""
        try:
            if self._program is not None:
                await self._program.stop(grace)
        finally:
            if self._port is not None:
                self._port.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
