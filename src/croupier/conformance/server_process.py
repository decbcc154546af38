"""A server under test that the tester has started, and starts again after its end."""

import asyncio
from typing import Final

from croupier.conformance.diagnosis.cause import Cause
from croupier.conformance.program import ProgramUnderTest
from croupier.core.session import Address

START_TIMEOUT_SECONDS: Final = 10.0
"""Seconds a server may take to start, in addition to its answer timeout."""

DEATH_SECONDS: Final = 0.1
"""How long a server may take to end after it has closed a connection without a reason, or has lost its client."""


class ServerProcess:
    """The process of a server that listens at `address`; it may take `start_seconds` to start.

    If it ends whenever a client leaves, `leaving_cause` says so, and each client gets a new process; None otherwise.
    """

    def __init__(self, program: ProgramUnderTest, address: Address, start_seconds: float) -> None:
        self.program = program
        self.address = address
        self.start_seconds = start_seconds
        self.leaving_cause: Cause | None = None
        self._reviving = asyncio.Lock()
        self._is_fresh = True

    async def wait_listening(self) -> None:
        """Wait until it listens for the first time. Raises ProgramError if it does not."""
        await self.program.wait_listening(*self.address, self.start_seconds)

    async def restart(self) -> None:
        """Start it again, at an address of its own. Raises ProgramError if it does not start."""
        port = await self.program.restart_server(self.address[0], self.start_seconds)
        self.address = (self.address[0], port)
        self._is_fresh = True

    async def address_for_client(self) -> Address:
        """Return its address for the next client, after a restart if it has ended with the last one."""
        async with self._reviving:
            if self.leaving_cause is not None and not self._is_fresh and await self.has_ended():
                await self.restart()
            self._is_fresh = False
        return self.address

    async def has_ended(self) -> bool:
        """Whether it has ended, or does so in a moment."""
        return await self.program.wait_ended(DEATH_SECONDS) is not None
