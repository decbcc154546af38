"""The server of a row of the matrix: started when it is needed, and again when it is gone."""

from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from msgspec import Struct

from croupier.conformance.matrix.cells import ProgramEnd
from croupier.conformance.program import ProgramUnderTest, free_port
from croupier.core.room import HouseRoom

HOST: Final = "127.0.0.1"

CLOSE_TIMEOUT_SECONDS: Final = 2.0
"""So many seconds a program has for its own end when its conversation is over."""

LINGER_SECONDS: Final = 0.2
STOP_TIMEOUT_SECONDS: Final = 0.3
"""So many seconds an end of a connection has to close, and a program to obey."""


class PairingTerms(Struct, frozen=True, kw_only=True):
    """Under which terms is played: `conversations` in each cell.

    `seconds` are for a server to listen and for a client to play one conversation to its end; `output` is how many
    bytes of what a program writes are kept. `own` is what is known of the clients' options.
    """

    room: HouseRoom
    conversations: int = 3
    timeout_seconds: float = 10.0
    max_output_bytes: int = 1 << 20
    known_options: Any = None
    strict: bool = False

    @property
    def answer_timeout(self) -> float:
        """How long a house may take for an answer, in s."""
        return min(5.0, self.timeout_seconds / 2)


class ServerProcess:
    """The server of a row. It is started when it is needed, each time on a port of its own."""

    def __init__(self, command: str, folder: Path | None, terms: PairingTerms) -> None:
        self.port = 0
        self._command = command
        self._folder = folder
        self._terms = terms
        self._program: ProgramUnderTest | None = None
        self._serves_several: bool | None = None
        self._listened = False
        self._failures = 0

    async def open(self) -> None:
        """See to it that it listens. Raises ProgramError when it does not."""
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
        self._listened, self._failures = True, 0

    @property
    def has_stopped_listening(self) -> bool:
        """Whether it is of no use to try again: it has never listened, or did not the last two times."""
        return self._failures > self._listened

    async def end_state(self, seconds: float) -> ProgramEnd:
        """How it is, when it had so many seconds to crash."""
        assert self._program is not None, "it was opened"
        return ProgramEnd(await self._program.wait_ended(seconds), self._program.has_written_too_much)

    async def has_survived(self) -> bool:
        """A conversation is over: whether it has not crashed of that.

        Many a server ends with its first conversation. It must not be taken for one that takes the next.
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
        """The end of what it has written as its errors."""
        return self._program.stderr_excerpt() if self._program is not None else ""

    async def close(self) -> None:
        """End it."""
        if self._program is not None:
            await self._program.stop(STOP_TIMEOUT_SECONDS)
            self._program = None
            self._serves_several = (
                self._serves_several and None
            )  # another one shows anew whether it crashes when it is left

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
