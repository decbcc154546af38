"""A room that is asked over HTTP, from its opening to the last farewell."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from ssl import SSLContext
from typing import Any, Self

from croupier.core.session import Address, Effect, Event, Observer
from croupier.http.auth import Authenticator
from croupier.http.closed_accounts import ClosedAccountMonitor
from croupier.http.holdem_app import HoldemApp, HoldemServer, open_holdem_server
from croupier.http.limits import ConnectionLimits, ServiceLimits
from croupier.http.stored_users import StoredUsers
from croupier.logs import Logger
from croupier.net.client_addresses import TrustedProxies
from croupier.observers.counters import RoomCounters
from croupier.recording.holdem_journal import HoldemJournal
from croupier.recording.promises import Promises
from croupier.rooms.holdem.house import House
from croupier.store.records import StoreUnavailable


class HttpRoom:
    """The house of hold'em, open at `address`. As a tap it hears when the last hand is over."""

    _running_service: HoldemServer

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
        self._house = house
        self._journal = journal
        settings = house.settings if journal is None else journal.settings
        self._authenticator = Authenticator(None if journal is None else StoredUsers(journal.store))
        self._closed_accounts: ClosedAccountMonitor | None = None
        self._service = HoldemApp(
            house,
            self._authenticator,
            settings.dialect,
            clock=clock,
            log=log,
            taps=(*observers, self),
            limits=ServiceLimits(max_requests=settings.requests_per_minute),
            journal=journal,
            promises=promises,
            proxies=proxies,
        )
        self._idle = asyncio.Event()
        self._is_halted = False
        self._stop_task: asyncio.Task[None] | None = None

    async def open(self, address: Address, ssl: SSLContext | None, connection_limits: ConnectionLimits) -> Self:
        """Listen on an address. Raises OSError when it cannot be had; who asks while the store is down is told so."""
        self._running_service = await open_holdem_server(self._service, *address, ssl=ssl, limits=connection_limits)
        with suppress(StoreUnavailable):
            await self._service.service.open()
        if self._journal is not None:
            self._closed_accounts = ClosedAccountMonitor(self._service.service, self._authenticator)
        return self

    def __call__(self, event: Event[Any], effects: Sequence[Effect[Any]], now: float) -> None:  # noqa: ARG002 -- a Tap
        """Something has happened at the tables."""
        if self._is_halted and not self._house.playing:
            self._idle.set()

    @property
    def address(self) -> Address:
        """Where it listens."""
        return self._running_service.address

    @property
    def counts(self) -> RoomCounters:
        """What has happened since it was opened."""
        return self._service.counts

    @property
    def connection_count(self) -> int:
        """How many connections there are."""
        return self._running_service.connection_count

    @property
    def unavailable_reason(self) -> str | None:
        """Why nothing can be played here now; None if it can."""
        return self._service.service.unavailable_reason

    def halt(self, *, final: bool) -> None:
        """No new hands; when `final`, running ones are void, and everybody is seen off."""
        self._is_halted = True
        if final:
            if self._closed_accounts is not None:
                self._closed_accounts.stop()
            self._idle.set()
            self._stop_task = asyncio.get_running_loop().create_task(self._running_service.stop())
        else:
            self._service.halt(final=False)

    async def wait_drained(self) -> None:
        """Wait until no hand is running any more, and after the final halt until nobody is connected."""
        await self._idle.wait()
        if self._stop_task is not None:
            await self._stop_task
            if self._journal is not None:
                await self._journal.store.close()
