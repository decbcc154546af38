"""The context of a player case: our ends of the program's connections, and how the program is started."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

from croupier.conformance.channel.delivery import WHOLE, Delivery
from croupier.conformance.oldmaid.endpoints import ProgramEndpoints, StartProgram
from croupier.conformance.oldmaid.outcomes import Failed, NeverConnected
from croupier.conformance.program import ProgramUnderTest
from croupier.conformance.suite import Config, absence_note
from croupier.core.session import Address
from croupier.rooms.oldmaid.wire import Dialect

PROGRAM_NICK: Final = "me"
"""The value of `{nick}`."""

type SharedRuns = dict[Hashable, tuple["PlayerContext", asyncio.Task[Any]]]
"""The program runs that several cases share, by what they do: each with its context."""


@dataclass(kw_only=True)
class PlayerContext:
    """The context of one try of a case.

    The program has `start_timeout` seconds to start and connect, and then to join, and `timeout` seconds for each later
    message; after the last one it is observed for `quiet_seconds`. What it is sent is delivered as `delivery` says,
    with a line end after each message if it `ends_lines`.
    `endpoints` are our ends of the connections of the program that was started last, and `stderr` is what that one has
    written.
    """

    config: Config
    start: StartProgram
    seed: int
    start_timeout: float
    timeout: float
    quiet_seconds: float
    shared_runs: SharedRuns
    delivery: Delivery = WHOLE
    ends_lines: bool = False
    endpoints: ProgramEndpoints = field(init=False)
    stderr: bytes = b""

    def __post_init__(self) -> None:
        self.endpoints = self.new_endpoints()

    def new_endpoints(self) -> ProgramEndpoints:
        """Return endpoints for one more program, and show their dialogue from now on."""
        self.endpoints = ProgramEndpoints(
            delivery=self.delivery,
            ends_lines=self.ends_lines,
            dialect=cast(Dialect, self.config.known_dialect()),
            detected_dialect=self.config.dialect,
        )
        return self.endpoints

    @asynccontextmanager
    async def run_program(self, opening: Awaitable[Address]) -> AsyncIterator[ProgramUnderTest]:
        """Open our ends, and run the program with the table's address; at the end close them and stop it.

        Raises NeverConnected in place of the failure of a program that has not connected.
        """
        endpoints = self.endpoints
        try:
            table = await opening
            program = await self.start({"host": table[0], "port": table[1], "nick": PROGRAM_NICK})
            try:
                yield program
            except Failed:
                if endpoints.has_connections:
                    raise
                raise NeverConnected(absence_note(program.end_description, program.stderr)) from None
            finally:
                await program.stop()
                self.stderr = program.stderr
        finally:
            await endpoints.close()

    def shared_results[T](self, kind: type[T]) -> Iterator[T]:
        """Yield the results of this kind of the shared runs that are over and have raised nothing."""
        for _, task in self.shared_runs.values():
            if task.done() and not task.cancelled() and task.exception() is None and isinstance(task.result(), kind):
                yield task.result()

    async def share[T](self, run: Callable[["PlayerContext"], Awaitable[T]], *values: Hashable) -> T:
        """Return the result of a run that `values` describe; the cases that need the same one share it.

        Raises what the run raises; then the next try of a case repeats the run.
        """
        key = (values, self.seed, self.delivery, self.timeout)
        if key not in self.shared_runs:
            context = replace(self)
            self.shared_runs[key] = context, asyncio.ensure_future(run(context))
        shared = context, task = self.shared_runs[key]
        try:
            return await asyncio.shield(task)
        except Exception:
            if self.shared_runs.get(key) is shared:
                del self.shared_runs[key]
            raise
        finally:
            self.endpoints, self.stderr = context.endpoints, context.stderr
