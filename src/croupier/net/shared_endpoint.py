"""Endpoint of a table that many peers share: it may close as soon as its games are over."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final, Protocol

from croupier.core.session import Effect, Event, Session
from croupier.net.endpoint import Endpoint

HANG_UP_GRACE_SECONDS: Final = 2.0
"""Time for connected players to ask for the result after the last game, before the endpoint counts as drained."""


class SharedTable(Session[Any, Any], Protocol):
    """A session shared by many peers that reports whether a game is running."""

    @property
    def playing(self) -> bool:
        """Whether a game is running."""
        ...


class SharedEndpoint(Endpoint):
    """Endpoint of a shared table: it is drained when the games are over, even if peers are still connected."""

    def __init__(self, table: SharedTable, *codec_and_log: Any, **options: Any) -> None:
        super().__init__(table, *codec_and_log, **options)
        self._table = table
        self._games_over = asyncio.Event()
        self._final = False

    def halt(self, *, final: bool) -> None:
        """Accept no more connections and deliver Closing to the table."""
        self._final = final
        self.observers.add(self._check_playing)
        super().halt(final=final)

    async def wait_drained(self) -> None:
        """Wait until no game is running; after a final halt, until all connections are closed.

        After the last game, peers have HANG_UP_GRACE_SECONDS to close their connections themselves.
        """
        if self._final:
            await super().wait_drained()
        elif self._table.playing:
            await self._games_over.wait()
            with suppress(TimeoutError):
                async with asyncio.timeout(HANG_UP_GRACE_SECONDS):
                    await super().wait_drained()

    def _check_playing(self, event: Event[Any], effects: Sequence[Effect[Any]], now: float) -> None:  # noqa: ARG002 -- an Observer
        if not self._table.playing:
            self._games_over.set()
