"""A case for a player as it is played: our ends of its connections, and how it is started."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from croupier.conformance.case import Case
from croupier.conformance.oldmaid.endpoints import Harbour, Running, Start
from croupier.core.session import Address

NICK: Final = "me"
"""What `{nick}` stands for."""


@dataclass(frozen=True, kw_only=True)
class Try:
    """A case that is played: our ends of the connections, the last of `harbours`, the
    `programs` that were started, and what is known of the run.

    `patience` is how many seconds the program may take to say what it has to say.
    """

    harbours: list[Harbour]
    start: Start
    seed: int
    patience: float
    strict: bool
    programs: list[Running] = field(default_factory=list)

    @property
    def harbour(self) -> Harbour:
        """Our ends of the connections."""
        return self.harbours[-1]

    def fresh(self) -> "Try":
        """It, for one more program."""
        self.harbours.append(Harbour(dialect=self.harbour.dialect, spelling=self.harbour.spelling))
        return self

    @asynccontextmanager
    async def running(self, table: Address) -> AsyncIterator[Running]:
        """The program, told where the table is; at the end our connections are closed, and it is stopped."""
        try:
            program = await self.start({"host": table[0], "port": table[1], "nick": NICK})
            self.programs.append(program)
            try:
                yield program
            finally:
                await program.stop()
        finally:
            await self.harbour.close()


@dataclass(frozen=True, kw_only=True)
class PlayerCase(Case):
    """A case that is played with the program. With `free` only rulings of the project decide it."""

    play: Callable[[Try], Awaitable[None]]
    free: bool = False
