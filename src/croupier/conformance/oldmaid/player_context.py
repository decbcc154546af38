"""The context of a player case: our ends of the program's connections, and how the program is started."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from croupier.conformance.case import Case
from croupier.conformance.oldmaid.endpoints import ProgramEndpoints, RunningProgram, StartProgram
from croupier.core.session import Address

PROGRAM_NICK: Final = "me"
"""The value of `{nick}`."""


@dataclass(frozen=True, kw_only=True)
class PlayerContext:
    """The context of one case. `endpoints` is the last of `all_endpoints`; `programs` are those started so far.

    The program has `start_timeout` seconds to start and join, and then `timeout` seconds for each message.
    """

    all_endpoints: list[ProgramEndpoints]
    start: StartProgram
    seed: int
    timeout: float
    start_timeout: float
    strict: bool
    programs: list[RunningProgram] = field(default_factory=list)

    @property
    def endpoints(self) -> ProgramEndpoints:
        """The current ends of the program's connections."""
        return self.all_endpoints[-1]

    def with_new_endpoints(self) -> "PlayerContext":
        """Add endpoints for one more program and return self."""
        self.all_endpoints.append(
            ProgramEndpoints(dialect=self.endpoints.dialect, detected_dialect=self.endpoints.detected_dialect)
        )
        return self

    @asynccontextmanager
    async def run_program(self, table: Address) -> AsyncIterator[RunningProgram]:
        """Run the program with the table's address; at the end close our connections and stop it."""
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
    """A case for a player. `failure_is_choice`: only rulings of the project decide it."""

    play: Callable[[PlayerContext], Awaitable[None]]
    failure_is_choice: bool = False
