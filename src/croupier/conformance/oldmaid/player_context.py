"""A case for a player as it is played: our ends of its connections, and how it is started."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from croupier.conformance.case import Case
from croupier.conformance.oldmaid.endpoints import ProgramEndpoints, RunningProgram, StartProgram
from croupier.core.session import Address

PROGRAM_NICK: Final = "me"
"""What `{nick}` stands for."""


@dataclass(frozen=True, kw_only=True)
class PlayerContext:
    """A case that is played: our ends of the connections, the last of `harbours`, the
    `programs` that were started, and what is known of the run.

    `patience` is how many seconds the program may take to say what it has to say.
    """

    all_endpoints: list[ProgramEndpoints]
    start: StartProgram
    seed: int
    timeout: float
    strict: bool
    programs: list[RunningProgram] = field(default_factory=list)

    @property
    def endpoints(self) -> ProgramEndpoints:
        """Our ends of the connections."""
        return self.all_endpoints[-1]

    def with_new_endpoints(self) -> "PlayerContext":
        """It, for one more program."""
        self.all_endpoints.append(
            ProgramEndpoints(dialect=self.endpoints.dialect, detected_dialect=self.endpoints.detected_dialect)
        )
        return self

    @asynccontextmanager
    async def run_program(self, table: Address) -> AsyncIterator[RunningProgram]:
        """The program, told where the table is; at the end our connections are closed, and it is stopped."""
        try:
            program = await self.start({"host": table[0], "port": table[1], "nick": PROGRAM_NICK})
            self.programs.append(program)
            try:
                yield program
            finally:
                await program.stop()
        finally:
            await self.endpoints.close()


@dataclass(frozen=True, kw_only=True)
class PlayerCase(Case):
    """A case that is played with the program. With `free` only rulings of the project decide it."""

    play: Callable[[PlayerContext], Awaitable[None]]
    failure_is_choice: bool = False
