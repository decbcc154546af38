"""The hold'em room: an HTTP server, its journal and its shutdown, behind the interface of an open room."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from ssl import SSLContext
from typing import Any, Self

from croupier.core.logger import Logger
from croupier.core.session import Address, Effect, Event, Observer
from croupier.http.auth import Authenticator
from croupier.http.closed_accounts import ClosedAccountMonitor
from croupier.http.holdem_app import HoldemApp
from croupier.http.limits import ConnectionLimits, ServiceLimits
from croupier.http.stored_users import StoredUsers
from croupier.net.client_addresses import TrustedProxies
from croupier.recording.holdem_journal import HoldemJournal
from croupier.recording.promises import Promises
from croupier.rooms.holdem.house import House
from croupier.store.records import StoreUnavailable


class HttpRoom(HoldemApp):
    """The hold'em house served over HTTP, with its accounts.

    It is also an observer of its own house: that is how it notices, during a shutdown, that the last hand has ended.
    """

    def __init__(
        self,
        house: House,
        log: Logger,
        observers: Sequence[Observer],
        *,
        clock: Callable[[], float],
        journal: HoldemJournal | None = None,
        promises: Promises | None = None,
        proxies: TrustedProxies = TrustedProxies(),
    ) -> None:
        settings = house.settings if journal is None else journal.settings
        super().__init__(
            house,
            Authenticator(None if journal is None else StoredUsers(journal.store)),
            settings.dialect,
            clock=clock,
            log=log,
            observers=(*observers, self),
            limits=ServiceLimits(max_requests=settings.requests_per_minute),
            journal=journal,
            promises=promises,
            proxies=proxies,
        )
        self._journal = journal
        self._closed_accounts: ClosedAccountMonitor | None = None
        self._idle = asyncio.Event()
        self._is_halted = False
        self._stop_task: asyncio.Task[None] | None = None

    async def start(self, address: Address, ssl: SSLContext | None, connection_limits: ConnectionLimits) -> Self:
        """Listen on an address. Raises OSError if the address cannot be used.

        A store that is down does not prevent the start: requests that need it are answered with an error until it is
        back.
        """
        await self.listen(*address, ssl=ssl, limits=connection_limits)
        with suppress(StoreUnavailable):
            await self.service.open()
        if self._journal is not None:
            self._closed_accounts = ClosedAccountMonitor(self.service, self.authenticator)
        return self

    def __call__(self, event: Event[Any], effects: Sequence[Effect[Any]], now: float) -> None:  # noqa: ARG002 -- the signature of an Observer
        """Observe an event: during a shutdown, note when no hand is running any more."""
        if self._is_halted and not self.service.house.playing:
            self._idle.set()

    def halt(self, *, final: bool) -> None:
        """Start no new hands; if `final`, also void the running hands and disconnect all clients."""
        self._is_halted = True
        if final:
            if self._closed_accounts is not None:
                self._closed_accounts.stop()
            self._idle.set()
            self._stop_task = asyncio.get_running_loop().create_task(self.stop())
        else:
            super().halt(final=False)

    async def wait_drained(self) -> None:
        """Wait until no hand is running, and after the final halt until all connections and the store are closed."""
        await self._idle.wait()
        if self._stop_task is not None:
            await self._stop_task
            if self._journal is not None:
                await self._journal.store.close()
