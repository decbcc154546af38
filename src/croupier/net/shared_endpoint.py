"""A table that many share, behind a switchboard: it may be closed as soon as nothing is played there any more."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final, Protocol

from croupier.core.codec import Codec
from croupier.core.session import Effect, Event, Observer
from croupier.logs import Logger
from croupier.net.endpoint import Endpoint, EndpointLimits

HANG_UP_GRACE_SECONDS: Final = 2.0
"""So many seconds are enough for who is out to ask once more how his game stands."""


class SharedTable(Protocol):
    """A session that many share, and that knows whether they play."""

    @property
    def playing(self) -> bool:
        """Whether a game is running."""
        ...

    @property
    def deadline(self) -> float | None: ...  # noqa: D102 -- as in Session

    def on(self, event: Event[Any], now: float) -> Sequence[Effect[Any]]: ...  # noqa: D102 -- as in Session


class SharedEndpoint(Endpoint):
    """The switchboard of a shared table: when its games are over it is empty, whoever may still be connected."""

    def __init__(
        self,
        table: SharedTable,
        codec_factory: Callable[[], Codec[Any, Any]],
        log: Logger,
        *,
        taps: Sequence[Observer] = (),
        limits: EndpointLimits = EndpointLimits(),
        refusal: Sequence[Any] = (),
    ) -> None:
        super().__init__(table, codec_factory, log, taps=taps, limits=limits, refusal=refusal)
        self._table = table
        self._games_over = asyncio.Event()
        self._final = False

    def halt(self, *, final: bool) -> None:
        """Take no more connections, and tell the table that the room closes."""
        self._final = final
        self.observers.add(self._check_playing)
        super().halt(final=final)

    async def wait_drained(self) -> None:
        """Wait until nothing is played any more, and after the final halt until nobody is connected any more.

        Who is connected when the last game ends has a moment to hang up by himself.
        """
        if self._final:
            await super().wait_drained()
        elif self._table.playing:
            await self._games_over.wait()
            with suppress(TimeoutError):
                async with asyncio.timeout(HANG_UP_GRACE_SECONDS):
                    await super().wait_drained()

    def _check_playing(self, event: Event[Any], effects: Sequence[Effect[Any]], now: float) -> None:  # noqa: ARG002 -- a Tap
        if not self._table.playing:
            self._games_over.set()
