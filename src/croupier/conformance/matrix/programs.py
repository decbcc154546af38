"""The two programs of a cell: how they are started, and the server that is started again when it has ended."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Protocol, Self

from msgspec import Struct

from croupier.conformance.listening import HOST
from croupier.conformance.program import ProgramError, ProgramUnderTest, free_port
from croupier.core.room import HouseRoom

CLOSE_TIMEOUT_SECONDS: Final = 2.0
"""How long a program may take to end after its conversation."""

STOP_TIMEOUT_SECONDS: Final = 0.3
"""How long a program may take to end after SIGTERM."""

MAX_STARTS: Final = 2
"""A server that ends instead of listening is started again: another program may have taken its port."""


class PairingTerms(Struct, frozen=True, kw_only=True):
    """The settings of a cell: `conversations` are played.

    `timeout_seconds` limits the start of a server, and one conversation of a client. At most `max_output_bytes` bytes
    of the output of a program are kept. `known_options` is what is known of the options of the client. All luck of our
    own programs follows from `seed`, which is also `{seed}` in commands.
    """

    room: HouseRoom
    conversations: int = 3
    timeout_seconds: float = 10.0
    max_output_bytes: int = 1 << 20
    known_options: Any = None
    strict: bool = False
    seed: int = 1

    @property
    def answer_timeout(self) -> float:
        """How long either end may be silent when it has to act, in seconds."""
        return min(5.0, self.timeout_seconds / 2)


class Program(Protocol):
    """A program that was started. See `ProgramUnderTest`."""

    @property
    def status(self) -> int | None: ...  # noqa: D102 -- see the class

    @property
    def end_description(self) -> str: ...  # noqa: D102 -- see the class

    @property
    def has_written_too_much(self) -> bool: ...  # noqa: D102 -- see the class

    async def wait_listening(self, host: str, port: int, seconds: float) -> None: ...  # noqa: D102 -- see the class

    async def wait_ended(self, seconds: float) -> int | None: ...  # noqa: D102 -- see the class

    def stderr_excerpt(self) -> str: ...  # noqa: D102 -- see the class

    async def stop(self, grace: float = 1.0) -> None: ...  # noqa: D102 -- see the class


type StartProgram = Callable[[int, int], Awaitable[Program]]
"""Starts a server or client: `start(port, seed)`. Raises ProgramError."""


def process_starter(command: str, folder: Path | None, terms: PairingTerms) -> StartProgram:
    """Return what starts a submitted program."""

    async def start(port: int, seed: int) -> Program:
        values = {"host": HOST, "port": port, "seed": seed}
        return await ProgramUnderTest.start(command, values, folder=folder, max_output_bytes=terms.max_output_bytes)

    return start


class ServerRun:
    """The server of a cell: started on demand, again when it has ended, and each time on a new port."""

    def __init__(self, start: StartProgram, terms: PairingTerms) -> None:
        self.port = 0
        self._start = start
        self._terms = terms
        self._program: Program | None = None

    async def open(self, seed: int) -> bool:
        """Start the server unless it runs; return whether it was started. Raises ProgramError if it does not listen."""
        if self._program is not None and self._program.status is None:
            return False
        for starts_left in reversed(range(MAX_STARTS)):
            await self.close()
            self.port = await free_port(HOST)
            self._program = await self._start(self.port, seed)
            try:
                await self._program.wait_listening(HOST, self.port, self._terms.timeout_seconds)
            except ProgramError:
                if not starts_left or self._program.status is None:
                    raise
            else:
                break
        return True

    @property
    def status(self) -> int | None:
        """Its exit status, None while it runs."""
        return None if self._program is None else self._program.status

    @property
    def end_description(self) -> str:
        """How it has ended, in words; empty while it runs."""
        return "" if self._program is None else self._program.end_description

    @property
    def has_written_too_much(self) -> bool:
        """Whether its output was longer than what is kept."""
        return self._program is not None and self._program.has_written_too_much

    @property
    def stderr_excerpt(self) -> str:
        """The end of its standard error."""
        return "" if self._program is None else self._program.stderr_excerpt()

    async def wait_ended(self, seconds: float) -> int | None:
        """Wait at most `seconds` for its end; return its exit status, None while it runs."""
        return None if self._program is None else await self._program.wait_ended(seconds)

    async def close(self) -> None:
        """Stop it."""
        if self._program is not None:
            await self._program.stop(STOP_TIMEOUT_SECONDS)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
