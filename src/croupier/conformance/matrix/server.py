"""The server process of a row of the matrix: started on demand, and restarted when it has ended."""

from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from msgspec import Struct

from croupier.conformance.matrix.cells import ProgramEnd
from croupier.conformance.program import ProgramUnderTest, free_port
from croupier.core.room import HouseRoom

HOST: Final = "127.0.0.1"

CLOSE_TIMEOUT_SECONDS: Final = 2.0
"""How long a program may take to end after its conversation."""

LINGER_SECONDS: Final = 0.2
STOP_TIMEOUT_SECONDS: Final = 0.3
"""How long a connection may take to close, and a program to end after SIGTERM."""


class PairingTerms(Struct, frozen=True, kw_only=True):
    """The settings of a cell: `conversations` are played.

    `timeout_seconds` limits the start of a server, and one conversation of a client. At most `max_output_bytes` bytes
    of the output of a program are kept. `known_options` is what is known of the options of the client.
    """

    room: HouseRoom
    conversations: int = 3
    timeout_seconds: float = 10.0
    max_output_bytes: int = 1 << 20
    known_options: Any = None
    strict: bool = False

    @property
    def answer_timeout(self) -> float:
        """How long a house may take to answer, in seconds."""
        return min(5.0, self.timeout_seconds / 2)


class ServerProcess:
    """The server of a row. It is started on demand, each time on a new port."""

    def __init__(self, command: str, folder: Path | None, terms: PairingTerms) -> None:
        self.port = 0
        self._command = command
        self._folder = folder
        self._terms = terms
        self._program: ProgramUnderTest | None = None
        self._serves_several: bool | None = None
        self._has_listened = False
        self._failures = 0

    async def open(self) -> None:
        """Start the server unless it runs. Raises ProgramError if it does not listen."""
        if self._program is not None and self._program.status is None:
            return
        await self.close()
        self.port = await free_port(HOST)
        values = {"host": HOST, "port": self.port}
        self._program = await ProgramUnderTest.start(
            self._command, values, folder=self._folder, max_output_bytes=self._terms.max_output_bytes
        )
        self._failures += 1
        await self._program.wait_listening(HOST, self.port, self._terms.timeout_seconds)
        self._has_listened, self._failures = True, 0

    @property
    def has_stopped_listening(self) -> bool:
        """Whether a retry is useless: it has never listened, or has failed to the last two times."""
        return self._failures > self._has_listened

    async def end_state(self, seconds: float) -> ProgramEnd:
        """Return its state after giving it `seconds` to crash."""
        assert self._program is not None, "it was opened"
        return ProgramEnd(await self._program.wait_ended(seconds), self._program.has_written_too_much)

    async def has_survived(self) -> bool:
        """Return whether it has not crashed after a conversation.

        Many servers end after their first conversation. They must not be mistaken for servers that accept another one.
        """
        assert self._program is not None, "it was opened"
        if not self._serves_several:
            status = await self._program.wait_ended(
                LINGER_SECONDS if self._serves_several is None else CLOSE_TIMEOUT_SECONDS
            )
            self._serves_several = status is None
        return self._program.status in {None, 0}

    @property
    def stderr_excerpt(self) -> str:
        """The end of its standard error."""
        return self._program.stderr_excerpt() if self._program is not None else ""

    async def close(self) -> None:
        """Stop it."""
        if self._program is not None:
            await self._program.stop(STOP_TIMEOUT_SECONDS)
            self._program = None
            self._serves_several = self._serves_several and None  # a new process may crash after its first client

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
