"""The two programs of a cell: the settings of their conversations, and how they are started."""

from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from croupier.conformance.listening import HOST
from croupier.conformance.program import ProgramUnderTest
from croupier.conformance.server_process import StartProgram
from croupier.core.room import HouseRoom

CLOSE_TIMEOUT_SECONDS: Final = 2.0
"""How long a program may take to end after its conversation."""

STOP_TIMEOUT_SECONDS: Final = 0.3
"""How long a program may take to end after SIGTERM."""


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


def process_starter(command: str, folder: Path | None, terms: PairingTerms) -> StartProgram:
    """Return what starts a submitted program."""

    async def start(port: int, seed: int) -> ProgramUnderTest:
        values = {"host": HOST, "port": port, "seed": seed}
        return await ProgramUnderTest.start(command, values, folder=folder, max_output_bytes=terms.max_output_bytes)

    return start
