"""Programs that join people in the web app: `croupier serve ROOM --bot 'COMMAND {host} {port}'`."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from itertools import count
from typing import Final

from croupier.clients.contestants import Contestant
from croupier.clients.programs import run_program
from croupier.core.command_line import describe_exit
from croupier.logs import get_logger

MAX_PROGRAMS: Final = 16
"""How many programs of a room run at a time; people who come then are joined by none."""


class BotPrograms:
    """The programs that play with people in a room. Their output is our standard error."""

    def __init__(self, room: str) -> None:
        self._log = get_logger(room=room)
        self._numbers: set[int] = set()  # of the programs that run

    async def play(
        self,
        contestant: Contestant,
        values: Callable[[int], Awaitable[Mapping[str, object]]],
        unwanted: "asyncio.Future[None]",
    ) -> None:
        """Run a program until it ends, or `unwanted` is done. A program that cannot play is logged.

        `values` returns the values of the placeholders for the number of the program, which no other one has meanwhile.
        """
        if len(self._numbers) >= MAX_PROGRAMS:
            self._log.warning("too many bots are running", bot=contestant.text, allowed=MAX_PROGRAMS)
            return
        number = next(number for number in count(1) if number not in self._numbers)
        self._numbers.add(number)
        try:
            status = await run_program(contestant.command(await values(number)), unwanted)
        except OSError as error:
            self._log.error("the bot has failed", bot=contestant.text, reason=str(error))
        else:
            if status:
                self._log.error("the bot has failed", bot=contestant.text, reason=describe_exit(status))
        finally:
            self._numbers.discard(number)
